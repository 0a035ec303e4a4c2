package eval

import (
	"path/filepath"
	"safeshell/internal/files"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.proj, ".git"))
	w.user("rules:\n" + one("mine", "cat, frob", "deny", "") + "overrides:\n  - {name: redirect-rm-to-trash, disabled: true}\n")
	w.write(".safeshell/rules.yaml", "rules:\n"+one("ours", "repo-tool", "deny", ""))
	r, _ := w.rules()
	names := map[string]bool{}
	last := ""
	for _, n := range r.Names(w.proj) {
		if n.Name <= last {
			t.Errorf("%q after %q", n.Name, last)
		}
		last = n.Name
		names[n.Name] = true
		if want := n.Name == "cat" || n.Name == "frob" || n.Name == "repo-tool"; n.FromUser != want {
			t.Errorf("%s: from the user %v", n.Name, n.FromUser)
		}
	}
	for _, n := range []string{"git", "rm", "dd", "unlink", "terraform", "docker", "cat", "frob", "repo-tool", "find"} {
		if !names[n] {
			t.Errorf("%s has no shim", n)
		}
	}
	for _, n := range []string{"*", "sh", "bash", "python3", "grep", "sed", "echo", "cp", "ls", "make"} {
		if names[n] {
			t.Errorf("%s has a shim", n)
		}
	}
	w.user("packs: []\n")
	r, _ = w.rules()
	if got := r.Names(w.home); len(got) != 0 {
		t.Errorf("without packs and rules: %v", got)
	}
}

func TestListAndShow(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.proj, ".git"))
	w.user("rules:\n" + one("mine", "x", "deny", "") + "packs: [core, git]\noverrides:\n  - {name: git-push-force, action: deny}\n  - {name: git-clean, disabled: true}\n")
	w.write(".safeshell/rules.yaml", "rules:\n"+one("waits", "x", "deny", ", conditions: [true]"))
	r, _ := w.rules()
	got := map[string]RuleInfo{}
	for _, i := range r.List(w.proj) {
		got[i.Name] = i
	}
	for name, c := range map[string]struct{ action, source, disabled string }{
		"mine":             {"deny", w.paths.Rules, ""},
		"git-push-force":   {"deny", "built-in:git", ""},
		"git-clean":        {"require_approval", "built-in:git", "disabled by an override"},
		"cloud-aws":        {"require_approval", "built-in:cloud", "its pack is off"},
		"waits":            {"deny", filepath.Join(w.proj, ".safeshell", "rules.yaml"), "waits for trust"},
		"core-delete-root": {"deny", "built-in:core", ""},
	} {
		i := got[name]
		if i.Action != c.action || i.Source != c.source || !strings.Contains(i.Disabled, c.disabled) || (c.disabled == "") != (i.Disabled == "") {
			t.Errorf("%s: %+v", name, i)
		}
	}
	if text, ok := r.Show(w.proj, "git-push-force"); !ok || !strings.Contains(text, "subcommand: [push") || strings.Contains(text, "git-push-delete") {
		t.Errorf("show: %s", text)
	}
	if _, ok := r.Show(w.proj, "no-such"); ok {
		t.Error("a rule that does not exist is shown")
	}
}

// `rules test` reports what does not hold, and executes no example.
func TestExamplesFail(t *testing.T) {
	w := newWorld(t)
	w.user(`
packs: []
rules:
  - {name: good, commands: [x], action: deny, message: m, examples: {match: [x, "touch ran; x"], no_match: [y]}}
  - {name: bad-match, commands: [x], match: {flags: [-f]}, action: deny, message: m, examples: {match: [x]}}
  - {name: bad-no-match, commands: [x], action: deny, message: m, examples: {no_match: ["x a"]}}
  - {name: bad-suggestion, commands: [z], action: deny, message: m, suggest: "x b", examples: {match: [z]}}
  - {name: branch, commands: [git], match: {branch: '^main$'}, action: deny, message: m, examples: {match: [{run: git x, branch: main}], no_match: [git x]}}
  - {name: condition, commands: [q], conditions: ["echo '$ARGS' | grep -q yes"], action: deny, message: m, examples: {match: [q yes], no_match: [q no]}}
`)
	r, problems := w.rules()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	rep := r.Test()
	var names []string
	for _, f := range rep.Failures {
		for _, n := range []string{"good", "bad-match", "bad-no-match", "bad-suggestion", "branch", "condition"} {
			if strings.Contains(f, "rule "+n+" ") {
				names = append(names, n)
			}
		}
		if strings.Contains(f, "suggestion") {
			names = append(names, "suggestion")
		}
	}
	if got := strings.Join(names, " "); got != "bad-match bad-no-match bad-suggestion suggestion" {
		t.Errorf("failures %q: %v", got, rep.Failures)
	}
	if rep.Rules != 6 || rep.Examples != 11 {
		t.Errorf("%d rules, %d examples", rep.Rules, rep.Examples)
	}
	if files.Exists(filepath.Join(w.proj, "ran")) {
		t.Error("an example was executed")
	}
}

func TestReadCorpus(t *testing.T) {
	lines, err := ReadCorpus(strings.NewReader("# c\n\n# class: everyday\nallow\tls -l\nask|deny\t$'a\\n\\t\\x41\\u00e9\\'\\\\'\n"), "f")
	if err != nil || len(lines) != 2 || lines[1].Command != "a\n\tAé'\\" || !lines[1].Accepts("deny") || lines[0].Accepts("ask") || lines[0].Class != "everyday" || lines[1].Line != 5 {
		t.Errorf("%+v %v", lines, err)
	}
	for _, bad := range []string{"allow ls\n", "maybe\tls\n", "deny\t$'x\n", "deny\t$'\\q'\n", "deny\t$'\\x4'\n"} {
		if _, err := ReadCorpus(strings.NewReader(bad), "f"); err == nil || !strings.HasPrefix(err.Error(), "f:1: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
