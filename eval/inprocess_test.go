package eval

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Conditions as people write them. Those that are not taken need what is outside
// the subset.
var realisticConditions = []struct {
	text  string
	taken bool
}{
	{`echo '$CMD' | grep -qE '^git\s+commit'`, true},
	{`git branch --show-current | grep -qE '^(main|master|develop)$'`, true},
	{`echo '$CMD' | grep -qE '\.ssh'`, true},
	{`echo "$CMD" | grep -q -- --force`, true},
	{`echo "$ARGS" | grep -qE '(^|[[:space:]])(-f|--force)([[:space:]]|$)'`, true},
	{`[ "$(git branch --show-current)" = main ]`, true},
	{`[[ "$(git branch --show-current)" =~ ^(main|master)$ ]]`, true},
	{`[[ $(git rev-parse --abbrev-ref HEAD) == release/* ]]`, true},
	{`git rev-parse --is-inside-work-tree >/dev/null 2>&1`, true},
	{`! git rev-parse --is-inside-work-tree &>/dev/null`, true},
	{`[[ '$CMD' == *"--no-verify"* ]]`, true},
	{`[[ "$CMD" =~ rm.*-rf ]]`, true},
	{`case "$CMD" in *prod*) true;; *) false;; esac`, true},
	{`echo '$CMD' | grep -qi 'drop table'`, true},
	{`echo '$CMD' | grep -qvE -- '--dry-run'`, true},
	{`grep -q 'terraform destroy' <<< "$CMD"`, true},
	{`printf '%s\n' "$CMD" | grep -qF 'sudo'`, true},
	{`[ -f package.json ]`, true},
	{`[ -f package.json ] && grep -q '"private": true' package.json`, true},
	{`[[ -d .git ]]`, true},
	{`[ -e "$PWD/.env" ]`, true},
	{`[[ "$PWD" == "$HOME"/src/* ]]`, true},
	{`[ "$PWD" = "$HOME" ]`, true},
	{`pwd | grep -qE '/(prod|production)(/|$)'`, true},
	{`[ -n "$CI" ]`, true},
	{`[ -z "${ALLOW_PUSH:-}" ]`, true},
	{`[ "${NODE_ENV:-development}" = production ]`, true},
	{`test "$USER" != root`, true},
	{`[[ -n $KUBECONFIG && "$CMD" == *delete* ]]`, true},
	{`echo "$CMD" | grep -qE 'push.*(origin|upstream)\s+(main|master)\b'`, true},
	{`echo "$CMD" | grep -qw prod`, true},
	{`echo "$CMD" | grep -E 'kubectl|helm' | grep -qE 'delete|uninstall'`, true},
	{`branch=$(git branch --show-current); [ "$branch" = main ] || [ "$branch" = master ]`, true},
	{`branch=$(git rev-parse --abbrev-ref HEAD 2>/dev/null); [[ $branch == main || $branch == master ]]`, true},
	{`if [ -f .nopush ]; then true; else false; fi`, true},
	{`{ [ -f Cargo.toml ] || [ -f go.mod ]; } && echo "$CMD" | grep -q publish`, true},
	{`[[ "$ARGS" =~ (^| )-[a-zA-Z]*r ]]`, true},
	{`echo "$ARGS" | grep -qE '(^| )/( |$)'`, true},
	{`echo '$ARGS' | grep -qE 'https?://[^ ]+\.internal'`, true},
	{`echo '$CMD' | grep -q '^npm publish'`, true},
	{`echo '$CMD' | grep -qE "^docker (rm|rmi|system prune)"`, true},
	{`[ "${PWD##*/}" = infra ]`, true},
	{`[[ ${CMD,,} == *"delete from"* ]]`, true},
	{`! echo "$CMD" | grep -q -e '-m' -e '--message'`, true},
	{`true`, true},
	{`[ ${#ARGS} -gt 2000 ]`, true},
	{`[ -w /etc/passwd ]`, true},
	{`(echo "$CMD"; git branch --show-current) | grep -q main`, true},
	{`echo "$CMD" | grep -qE '(\s|^)(\.env|\.aws/credentials)(\s|$)'`, true},
	{`git status --porcelain | grep -q .`, false},
	{`[ -n "$(git status --porcelain)" ]`, false},
	{`git diff --cached --name-only | grep -q '\.env$'`, false},
	{`git log -1 --format=%an | grep -q bot`, false},
	{`[ "$(date +%u)" -gt 5 ]`, false},
	{`echo "$CMD" | awk '{print $2}' | grep -q push`, false},
	{`echo "$CMD" | grep -qP '(?<!dry-)run'`, false},
	{`[ "$(id -u)" -eq 0 ]`, false},
	{`for f in *.pem; do [ -e "$f" ] && exit 0; done; exit 1`, false},
	{`kubectl config current-context | grep -q prod`, false},
	{`[ "$(wc -l < notes.txt)" -gt 100 ]`, false},
}

func TestRealisticConditions(t *testing.T) {
	needs1(t, "bash", "grep", "git")
	w := newWorld(t)
	w.git(w.proj, "init", "-q", "-b", "main")
	w.git(w.proj, "commit", "-q", "--allow-empty", "-m", "x")
	w.write("package.json", "{\n  \"private\": true\n}\n")
	taken := 0
	for _, v := range []commandValues{{"git", "commit -m 'a — “b” é'", w.proj}, {"kubectl", "delete ns prod", w.proj}, {"rm", "-rf / .env", w.root}} {
		s := judgeScene{&bashJudge{environ: w.env}, v}
		var list []string
		for _, c := range realisticConditions {
			script, _, err := compileCondition(c.text)
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			if _, ok := s.j.inProcess(script, s.v); ok != c.taken && (isASCII(v.args) || ok) {
				t.Errorf("%s: taken %v, want %v", c.text, ok, c.taken)
			}
			if c.taken {
				list = append(list, c.text)
			}
		}
		taken = max(taken, s.compare(t, list))
	}
	t.Logf("%d of %d realistic conditions are judged in process", taken, len(realisticConditions))
}

// What once was judged otherwise than by bash, and what must be left to it.
func TestInProcessKeptCases(t *testing.T) {
	needs1(t, "bash", "grep", "git")
	w := newWorld(t)
	dirs := places(t, w)
	for _, c := range []struct {
		text string
		v    commandValues
		env  string
		left bool // to bash
	}{
		// A backslash before a letter is bash's own: \s is an s.
		{`[[ "$CMD" =~ ^g.t\s ]]`, commandValues{name: "git", args: "commit"}, "", true},
		{`[[ ! "$CMD" =~ \bgit\b ]]`, commandValues{name: "git", args: "commit"}, "", true},
		{`[[ $CMD =~ a\.b ]]`, commandValues{name: "axb"}, "", false},
		// The C library takes this for one character.
		{`echo "$CMD" | grep -qx '^[^]a]'`, commandValues{name: "\xf4\x90\x80\x80"}, "LANG=C.UTF-8", true},
		{"[[ $CMD =~ '\n'^ ]]", commandValues{name: "a\nb"}, "", true},
		// Bash wants the parenthesis closed, the parser does not.
		{`[[ "$CMD" =~ (*\{git{1,}main$ && a =~ ^git ]]; true`, commandValues{name: "x"}, "", true},
		{`echo "$CMD" | grep -qi '[--a]$'`, commandValues{name: "k"}, "LANG=C.UTF-8", true},
		{`[[ $CMD == ]] ]]`, commandValues{}, "", true},
		// GNU's matchers do not agree about anchors inside.
		{`echo "$CMD" | grep -qEx '^$a'`, commandValues{name: "a"}, "LANG=en_US.UTF-8", true},
		{`echo "$CMD" | grep -qEx '(^$)_'`, commandValues{name: "_"}, "", true},
		{`[[ "$CMD" =~ .*(^)b ]]`, commandValues{name: "a\nb"}, "", true},
		{`echo $CMD`, commandValues{name: "*"}, "", true},
		{`echo $CMD | grep -q '^x'`, commandValues{name: "-n", args: "x"}, "", false},
		{`echo -e "$CMD" | grep -q '^b'`, commandValues{name: `a\nb`}, "", false},
		{`echo "$CMD" | grep -q '\(a\)\1'`, commandValues{name: "aa"}, "", true},
		{`echo "$CMD" | grep -q '['`, commandValues{name: "["}, "", true},
		{`echo "$CMD" | grep -qE '[a-z]'`, commandValues{name: "é"}, "LANG=en_US.UTF-8", true},
		{`echo "$CMD" | grep -qi i`, commandValues{name: "I"}, "LANG=tr_TR.UTF-8", true},
		{`echo "$CMD" | grep -qi k`, commandValues{name: "\u212a"}, "LANG=C.UTF-8", true},
		{`echo "$CMD" | grep -q '^.$'`, commandValues{name: "é"}, "LANG=C.UTF-8", true}, // C.UTF-8 may not be there
		{`echo "$CMD" | grep -qE '^git\s+commit'`, commandValues{name: "git", args: "commit é\xff"}, "LANG=de_DE.UTF-8", false},
		{`echo "$CMD" | grep -q git`, commandValues{name: "git"}, "LANG=ja_JP.SJIS", true},
		{`echo "$CMD" | { grep -q a; grep -q b; }`, commandValues{name: "ab"}, "", true},
		{`[ "$CMD" -eq 8 ]`, commandValues{name: "08"}, "", true},
		{`! true | false`, commandValues{}, "", false},
		{`echo x >/tmp/never-written`, commandValues{}, "", true},
		{`echo "$SHLVL"`, commandValues{}, "", true},
		{`f() { true; }; f`, commandValues{}, "", true},
		{`true || while :; do :; done`, commandValues{}, "", true},
		{`[[ $CMD == @(a|b) ]]`, commandValues{name: "a"}, "", true},
		{`git branch --show-current | grep -q main`, commandValues{}, "GIT_DIR=/nowhere", true},
		{`git branch --show-current | grep -q main`, commandValues{}, "GIT_SSL_CAINFO=/x", false},
	} {
		s := judgeScene{&bashJudge{environ: append([]string{"PATH=/usr/bin:/bin", "HOME=/"}, strings.Fields(c.env)...)}, c.v}
		s.v.dir = dirs["main"]
		script, _, err := compileCondition(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if _, ok := s.j.inProcess(script, s.v); ok == c.left {
			t.Errorf("%s with %q, %s: taken %v", c.text, c.v.name, c.env, ok)
		}
		s.compare(t, []string{c.text})
	}
}

// Which repositories are understood, and that what is said of them is git's.
func TestInProcessRepositories(t *testing.T) {
	needs1(t, "bash", "grep", "git")
	w := newWorld(t)
	var questions []string
	for _, q := range []string{"git branch --show-current", "git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel", "git rev-parse --is-inside-work-tree"} {
		questions = append(questions, q)
		for _, p := range []string{"^main$", "^master$", "^develop$", "^side$", "^feature/x-1$", "^HEAD$", "^heads/main$", "^true$", "/deep$", "/tree$", "."} {
			questions = append(questions, q+" | grep -q '"+p+"'")
		}
		questions = append(questions, `[ "$(`+q+`)" = "$PWD" ]`)
	}
	want := map[string]bool{"main": true, "feature": true, "detached": true, "packed": true, "withtree": true, "tree": true, "deep": true, "none": true, "unborn": true, "ambiguous": true, "unicode": true}
	for name, dir := range places(t, w) {
		s := judgeScene{&bashJudge{environ: w.env}, commandValues{name: "git", dir: dir}}
		if n := s.compare(t, questions); (n > 0) != want[name] {
			t.Errorf("%s: %d of %d taken", name, n, len(questions))
		}
	}
}

// Where PATH leads to another grep or git, that one is asked.
func TestInProcessLeavesWrappers(t *testing.T) {
	w := newWorld(t)
	bin := filepath.Join(w.root, "bin")
	w.mkdir(bin)
	for _, name := range []string{"grep", "git"} {
		w.write(filepath.Join(bin, name), "#!/bin/sh\nexit 0\n")
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	j := &bashJudge{environ: []string{"PATH=" + bin + ":/usr/bin:/bin"}}
	for _, c := range []string{`echo a | grep -q b`, `git branch --show-current`} {
		if _, ok := j.inProcess(c, commandValues{dir: w.proj}); ok {
			t.Errorf("%s was judged in process", c)
		}
	}
}

// Long values are judged in linear time and with bounded memory.
func TestInProcessLongValues(t *testing.T) {
	needs1(t, "grep", "git")
	w := newWorld(t)
	for _, filler := range []string{"a", "é", "a b ", "x\n"} {
		v := commandValues{name: "git", args: "commit -m " + strings.Repeat(filler, 1<<20/len(filler)) + "end", dir: w.proj}
		s := judgeScene{&bashJudge{environ: w.env}, v}
		s.compare(t, []string{
			`echo '$CMD' | grep -qE '^git\s+commit'`, `echo "$CMD" | grep -qE '(a|aa)*b$'`, `echo "$CMD" | grep -q 'a.*a.*a.*z'`, `echo "$CMD" | grep -qv x`,
			`[[ $CMD == *end ]]`, `[[ $CMD == *a*a*a*z* ]]`, `[[ "$CMD" == *"$ARGS"* ]]`, `[ "$CMD" = "$ARGS" ]`, `case $CMD in git*) true;; esac`, `echo "$CMD$CMD" | grep -qF end`,
		})
	}
	x := strings.Repeat(`"$CMD$CMD$CMD$CMD"`, 60)
	j := &bashJudge{environ: w.env}
	if _, ok := j.inProcess("echo "+x, commandValues{name: strings.Repeat("a", 1<<20), dir: w.proj}); ok {
		t.Error("240 MB were produced")
	}
}

// A rule that bash has to judge does not keep the others from being judged here,
// and the order of the rules decides.
func TestInProcessOrder(t *testing.T) {
	needs1(t, "bash", "grep")
	w := newWorld(t)
	of := func(conditions ...string) *rule {
		r := &rule{}
		for _, c := range conditions {
			script, _, err := compileCondition(c)
			if err != nil {
				t.Fatal(err)
			}
			r.conditions = append(r.conditions, condition{c, script})
		}
		return r
	}
	no, yes := of("false"), of("true", "[ 1 -eq 1 ]")
	bashNo, bashYes, slow := of("exit 1"), of("true", "exit 0"), of("sleep 9")
	for _, c := range []struct {
		rules     []*rule
		holds, at int
		failed    bool
	}{
		{[]*rule{no, no}, -1, 2, false},
		{[]*rule{no, yes, bashYes}, 1, 3, false},
		{[]*rule{no, bashNo, yes}, 2, 3, false},
		{[]*rule{no, bashYes, yes}, 1, 0, false},
		{[]*rule{bashNo, no, bashNo}, -1, 3, false},
		{[]*rule{no, bashNo, slow, yes}, -1, 2, true},
	} {
		j := &bashJudge{environ: w.env, timeout: DefaultConditionTimeout / 2}
		holds, at, err := j.first(c.rules, commandValues{name: "x", dir: w.proj})
		if holds != c.holds || (err != nil) != c.failed || holds < 0 && at != c.at {
			t.Errorf("%d rules: holds %d at %d %v, want %d %d", len(c.rules), holds, at, err, c.holds, c.at)
		}
	}
	// Without a directory, what does not look at it can still be judged.
	j := &bashJudge{environ: w.env}
	if holds, _, err := j.first([]*rule{of("[ -f x ] && false"), yes}, commandValues{name: "x"}); holds != -1 || err == nil {
		t.Errorf("a file without a directory: %d %v", holds, err)
	}
	if holds, _, err := j.first([]*rule{of(`echo "$CMD" | grep -q y`), of(`echo "$CMD" | grep -q x`)}, commandValues{name: "x"}); holds != 1 || err != nil {
		t.Errorf("text without a directory: %d %v", holds, err)
	}
}

const seedCondition1, seedCondition2 = `echo '$CMD' | grep -qE '^git\s+commit'`, `git branch --show-current | grep -qE '^(main|master|develop)$'`

// The documented conditions start no process.
func TestSeedConditionsStartNothing(t *testing.T) {
	if dir := os.Getenv("SAFESHELL_TEST_SEED"); dir != "" {
		j := &bashJudge{environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=en_US.UTF-8"}}
		var r rule
		for _, c := range []string{seedCondition1, seedCondition2} {
			script, _, _ := compileCondition(c)
			r.conditions = append(r.conditions, condition{c, script})
		}
		if holds, _, err := j.first([]*rule{&r}, commandValues{"git", "commit -m x", dir}); holds != 0 || err != nil {
			t.Fatalf("%d %v", holds, err)
		}
		return
	}
	needs1(t, "strace", "git", "grep")
	w := newWorld(t)
	w.git(w.proj, "init", "-q", "-b", "main")
	trace := filepath.Join(w.root, "trace")
	cmd := exec.Command("strace", "-f", "-qq", "-e", "trace=execve,execveat,fork,vfork", "-o", trace, os.Args[0], "-test.run=^TestSeedConditionsStartNothing$")
	cmd.Env = []string{"SAFESHELL_TEST_SEED=" + w.proj, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	log, readErr := os.ReadFile(trace)
	if readErr != nil || strings.Contains(string(out), "ptrace") || !strings.Contains(string(log), "execve") {
		t.Skipf("strace cannot trace here: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(log), "exec") + strings.Count(string(log), "fork("); n != 1 {
		t.Errorf("processes were started:\n%s", log)
	}
}

func BenchmarkSeedConditions(b *testing.B) {
	dir := b.TempDir()
	if err := exec.Command("git", "init", "-q", "-b", "main", dir).Run(); err != nil {
		b.Skip("git is not installed")
	}
	v := commandValues{"git", "commit -m 'a message of usual length'", dir}
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LANG=en_US.UTF-8"}
	for _, c := range []struct{ name, text string }{{"echo-grep", seedCondition1}, {"branch-grep", seedCondition2}} {
		script, _, err := compileCondition(c.text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) { // as a shim does: once per process
			for b.Loop() {
				j := &bashJudge{environ: env}
				if status, ok := j.inProcess(script, v); status != 0 || !ok {
					b.Fatal(status, ok)
				}
			}
		})
		b.Run(c.name+"-bash", func(b *testing.B) {
			j := &bashJudge{environ: env, timeout: time.Minute}
			r := []*rule{{conditions: []condition{{c.text, script}}}}
			for b.Loop() {
				if holds, _, err := j.firstInBash(r, v); holds != 0 || err != nil {
					b.Fatal(holds, err)
				}
			}
		})
	}
}

// No text makes the translator of patterns fail, and what it takes is found as
// grep finds it.
func FuzzGrepPattern(f *testing.F) {
	for _, p := range []string{`^git\s+commit`, `(a|b){2,3}$`, `[[:alpha:]_]*`, `\<a\>`, `[^]a-]`, "a\nb", `a\{1,\}`, `é+`, `[:a:]`, `()`} {
		for kind := range uint8(4) {
			f.Add(p, "a git commit é\xff", kind, kind%2 == 0)
		}
	}
	grep, _ := exec.LookPath("grep")
	f.Fuzz(func(t *testing.T, pattern, line string, kind uint8, fold bool) {
		key := matcherKey{text: pattern, kind: reKind(kind % 4), fold: fold && kind%4 < 3}
		env := []string{"LC_ALL=C.UTF-8"}
		if kind&4 != 0 {
			env[0] = "LC_ALL=C"
		}
		m := newMatcher(key, localeOf(env))
		if m == nil || !m.affordable(len(line)) {
			return
		}
		got := m.line(line)
		if got == maybe || grep == "" || key.kind == bashExpression || strings.ContainsAny(line, "\n\x00") || strings.ContainsRune(pattern, 0) {
			return
		}
		flags := "-a" + []string{"G", "E", "F"}[key.kind] + "n"
		if key.fold {
			flags += "i"
		}
		if want := grepSelects(t, env, flags, pattern, line+"\n"); want == nil || want[1] != (got == sure) {
			t.Errorf("grep %s %q in %s on %q: grep %v, here %v", flags, pattern, env[0], line, want, got == sure)
		}
	})
}
