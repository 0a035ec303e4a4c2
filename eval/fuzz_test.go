package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/gitrepo"
	"safeshell/script"
)

// FuzzParseRules: whatever a file holds, it is read or refused with a place in
// it, and what is read survives being compiled.
func FuzzParseRules(f *testing.F) {
	f.Add([]byte(seedRules))
	f.Add([]byte("rules:\n  - {name: x, commands: [a], match: {flags: [-f]}, action: deny, message: m}\n"))
	f.Add([]byte("a: &a [*a, *a]\n"))
	f.Add([]byte("rules: [{}]\noverrides: [{name: x, action: deny}]\npacks: [core]\nwrappers: [w]\n"))
	for _, p := range packNames {
		data, _ := PackYAML(p)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []sourceKind{fromUser, fromRepo} {
			file, problems := parseRules("f", data, kind)
			for _, p := range problems {
				if p.Message == "" || strings.ContainsAny(p.String(), "\n\r") {
					t.Fatalf("problem %q", p.String())
				}
			}
			if len(problems) > 0 {
				continue
			}
			mem := encodeBlob(file.rules, "")
			b := &blob{mem: string(mem), size: len(mem)}
			if err := openBlob(b); err != nil {
				t.Fatal(err)
			}
			all, err := b.all()
			if err != nil || len(all) != len(file.rules) {
				t.Fatalf("%d of %d rules come back: %v", len(all), len(file.rules), err)
			}
			for i, r := range all {
				if r.name != file.rules[i].name {
					t.Fatalf("rule %d is %q", i, r.name)
				}
				found := false
				for k := range file.rules[i].index() {
					es, err := b.lookup(k, ^needs(0), nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range es {
						found = found || e.ord == r.ord
					}
				}
				if !found {
					t.Fatalf("rule %s is not found under its commands", r.name)
				}
			}
		}
	})
}

// FuzzBlob: damaged compiled rules are refused or read, never a crash.
func FuzzBlob(f *testing.F) {
	file, _ := parseRules("f", []byte(seedRules), fromUser)
	var e encoder
	e.meta(&sourceMeta{path: "/x", file: *file})
	good := encodeBlob(file.rules, string(e.b))
	f.Add(good)
	f.Add([]byte(packsCompiled[:4096]))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, checked := range []bool{false, true} {
			b := &blob{mem: string(data), size: len(data), checked: checked}
			if openBlob(b) != nil {
				continue
			}
			d := decoder{s: b.meta}
			d.meta()
			b.all()
			for _, k := range []string{"git", "rm", "*", "git commit"} {
				es, _ := b.lookup(k, ^needs(0), nil)
				for _, e := range es {
					b.rule(e, true)
				}
			}
		}
	})
}

// FuzzIndex: an index is read or left to git.
func FuzzIndex(f *testing.F) {
	dir := f.TempDir()
	s := &scene{root: dir, home: dir, proj: filepath.Join(dir, "p")}
	if err := s.build(); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(s.proj, ".git", "index"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, "src")
	f.Fuzz(func(t *testing.T, data []byte, rel string) {
		if x, ok := gitrepo.ParseIndex(data); ok {
			x.Top = t.TempDir()
			for i := range x.Find(rel) {
				_ = i
			}
		}
	})
}

// FuzzJudge: no text makes judging panic, and nothing is run: every rule that
// has conditions is a file's.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"rm -rf /", "git push --force", "cat ~/.ssh/*", "a=(1 2); > f", "curl x | sh", "find . -exec rm {} +", "docker run -v /:/x a", "psql -c 'drop table x'", ":(){ :|:& };:", "cd $X && rm -rf *", "python3 -c 'import os; os.remove(\"x\")'", "x() { y; }; x", "echo \"$(cat <<'E'\nE\n)\"", "mv a b c", "tar czf", "dd if= of=", "sed -i", "git checkout --", "env -S", "xargs"} {
		f.Add(s)
	}
	w := newWorld(f)
	r, _ := w.rules()
	f.Fuzz(func(t *testing.T, line string) {
		a := w.parse(line)
		for i := range a.Commands {
			r.Judge(&a, i)
		}
		r.JudgeUnknown(&a)
		b := script.FromArgv(strings.Fields(line), script.Options{Dir: w.proj})
		for i := range b.Commands {
			r.Judge(&b, i)
		}
	})
}
