package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// one is a rule without conditions for cmd.
func one(name, cmd, action, more string) string {
	return "  - {name: " + name + ", commands: [" + cmd + "], action: " + action + ", message: of " + name + more + "}\n"
}

func TestStrictestWins(t *testing.T) {
	actions := []string{"allow", "redirect", "require_approval", "deny"}
	extra := func(a string) string {
		if a == "redirect" {
			return ", redirect_to: other"
		}
		return ""
	}
	for i, a := range actions {
		for k, b := range actions {
			w := newWorld(t)
			w.user("rules:\n" + one("first", "x", a, extra(a)) + one("second", "x", b, extra(b)))
			want := "first"
			if k > i {
				want = "second"
			}
			if d := w.argv("x"); d.Rule != want || d.Action != Action(max(i, k)) {
				t.Errorf("%s, %s: %v by %s, want %s", a, b, d.Action, d.Rule, want)
			}
		}
	}
}

// A deny that a human may lift is milder than one that nobody may.
func TestHardDenyWins(t *testing.T) {
	w := newWorld(t)
	w.user("rules:\n" + one("soft", "x", "deny", ", allow_override: true") + one("hard", "x", "deny", ""))
	if d := w.argv("x"); d.Rule != "hard" || d.AllowOverride {
		t.Errorf("%+v", d)
	}
	w.user("rules:\n" + one("soft", "x", "deny", ", allow_override: true") + one("ask", "x", "require_approval", ""))
	if d := w.argv("x"); d.Rule != "soft" || !d.AllowOverride {
		t.Errorf("%+v", d)
	}
}

func TestSourcesAdd(t *testing.T) {
	w := newWorld(t)
	w.write(w.paths.System, "rules:\n"+one("system", "x", "deny", ""))
	w.user("rules:\n" + one("user", "x", "deny", "") + one("user-y", "y", "require_approval", ""))
	w.mkdir(filepath.Join(w.proj, ".git"))
	w.mkdir(filepath.Join(w.proj, "a", "b"))
	w.write(".safeshell/rules.yaml", "rules:\n"+one("root", "x", "deny", "")+one("root-y", "y", "deny", "")+one("root-z", "z", "deny", ""))
	w.write("a/.safeshell/rules.yaml", "rules:\n"+one("a-z", "z", "deny", "")+one("a-q", "q", "deny", ""))
	for _, c := range []struct{ dir, cmd, rule string }{
		{"", "x", "system"},
		{"", "y", "root-y"}, // stricter than the user's
		{"", "z", "root-z"},
		{"", "q", ""},
		{"a", "q", "a-q"},
		{"a/b", "q", "a-q"},
		{"a/b", "z", "root-z"}, // loaded first
	} {
		r, problems := w.rules()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		a := w.parse("cd " + filepath.Join(w.proj, c.dir) + " && " + c.cmd)
		if d := strictest(r, &a); d.Rule != c.rule {
			t.Errorf("%s in %q: %q, want %q", c.cmd, c.dir, d.Rule, c.rule)
		}
	}
}

// The user's own file is not read again as a repository's, and a nested
// repository has rules of its own only.
func TestRepositoryBounds(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.home, ".git"))
	w.user("packs: []\nrules:\n" + one("user", "x", "deny", ""))
	r, _ := w.rules()
	if got := r.repoSources(w.proj); len(got) != 0 {
		t.Errorf("the user's rules count twice: %v", got[0].path)
	}
	// Not a repository: only the directory itself.
	w2 := newWorld(t)
	w2.write(".safeshell/rules.yaml", "rules:\n"+one("here", "x", "deny", ""))
	w2.mkdir(filepath.Join(w2.proj, "sub"))
	r2, _ := w2.rules()
	if got := r2.repoSources(w2.proj); len(got) != 1 {
		t.Errorf("%d sources in the directory itself", len(got))
	}
	if got := r2.repoSources(filepath.Join(w2.proj, "sub")); len(got) != 0 {
		t.Errorf("%d sources below it", len(got))
	}
}

func TestOverrides(t *testing.T) {
	w := newWorld(t)
	if d := w.judge("unlink notes.txt"); d.Action != Allow {
		t.Fatalf("a file that is not there: %v", d.Rule)
	}
	w.write("notes.txt", "x")
	if d := w.judge("unlink notes.txt"); d.Rule != "core-delete-unrecoverable" {
		t.Fatalf("%v %s", d.Action, d.Rule)
	}
	w.user("overrides:\n  - {name: core-delete-unrecoverable, disabled: true}\n")
	if d := w.judge("unlink notes.txt"); d.Action != Allow {
		t.Errorf("disabled: %v %s", d.Action, d.Rule)
	}
	w.user("overrides:\n  - {name: core-delete-unrecoverable, action: deny, message: no, suggest: ls, allow_override: true}\n")
	if d := w.judge("unlink notes.txt"); d.Action != Deny || d.Message != "no" || d.Suggest != "ls" || !d.AllowOverride {
		t.Errorf("changed: %+v", d)
	}
	w.user("overrides:\n  - {name: core-delete-unrecoverable, context: human_only}\n")
	if d := w.judge("unlink notes.txt"); d.Action != Allow {
		t.Errorf("context changed: %v", d.Rule)
	}
	w.who = Human
	if d := w.judge("unlink notes.txt"); d.Action != RequireApproval {
		t.Errorf("context changed, human: %v", d.Action)
	}
}

func TestPacksOff(t *testing.T) {
	w := newWorld(t)
	w.user("packs: [git]\n")
	if d := w.judge("rm x"); d.Action != Allow {
		t.Errorf("core is on: %s", d.Rule)
	}
	if d := w.judge("git push -f"); d.Action != RequireApproval {
		t.Errorf("git is off")
	}
	w.write(w.paths.System, "packs: [core]\n")
	if d := w.judge("rm x"); d.Action != Allow {
		t.Errorf("the user's list does not replace the system's")
	}
	os.Remove(w.paths.Rules)
	if d := w.judge("rm x"); d.Action != Redirect {
		t.Errorf("the system's list does not count")
	}
}

func TestContext(t *testing.T) {
	w := newWorld(t)
	w.user("rules:\n" + one("ai", "x", "deny", ", context: ai_only") + one("human", "y", "deny", ", context: human_only") + one("all", "z", "deny", ""))
	for _, c := range []struct {
		who  Context
		stop string
	}{{AI, "xz"}, {Human, "yz"}} {
		w.who = c.who
		for _, cmd := range []string{"x", "y", "z"} {
			if got := w.argv(cmd).Action == Deny; got != strings.Contains(c.stop, cmd) {
				t.Errorf("%s, %s: denied %v", c.who, cmd, got)
			}
		}
	}
	asked := 0
	o := Options{Paths: w.paths, Context: func() Context { asked++; return AI }}
	r, _ := Open(o)
	defer r.Close()
	for _, line := range []string{"ls", "z"} {
		a := w.parse(line)
		r.Judge(&a, 0)
	}
	if asked != 0 {
		t.Errorf("the context was asked for commands that do not depend on it")
	}
	for range 3 {
		a := w.parse("x")
		r.Judge(&a, 0)
	}
	if asked != 1 {
		t.Errorf("the context was asked %d times", asked)
	}
}

// A rule that names its redirect's words.
func TestRedirects(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		to   string
		want []string
	}{
		{`trash $ARGS`, []string{"trash", "-f", "a b", ""}},
		{`trash "$ARGS" --end`, []string{"trash", "-f", "a b", "", "--end"}},
		{`log '$CMD'`, []string{"log", "x -f 'a b' ''"}},
		{`at "$PWD" ${CMD}`, []string{"at", w.proj, "x -f 'a b' ''"}},
		{`~/bin/y a\ b`, []string{w.home + "/bin/y", "a b"}},
	} {
		w.user("rules:\n  - {name: r, commands: [x], action: redirect, message: m, redirect_to: '" + strings.ReplaceAll(c.to, "'", "''") + "'}\n")
		d := w.argv("x", "-f", "a b", "")
		if d.Action != Redirect || strings.Join(d.Redirect, "\x00") != strings.Join(c.want, "\x00") {
			t.Errorf("%s: %q, want %q", c.to, d.Redirect, c.want)
		}
	}
	w.user("rules:\n  - {name: r, commands: [x], action: redirect, message: m, redirect_to: 'trash $ARGS'}\n")
	d := w.judge(`x "$UNKNOWN"`)
	if d.Action != Redirect || d.Redirect != nil || strings.Join(d.RedirectBefore, " ") != "trash" {
		t.Errorf("unknown words: %+v", d)
	}
}
