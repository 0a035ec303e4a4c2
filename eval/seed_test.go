package eval

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// The rules that people copy from the documentation, word for word.
const seedRules = `
rules:
  - name: block-commit-protected
    commands: ["git"]
    conditions:
      - "echo '$CMD' | grep -qE '^git\\s+commit'"
      - "git branch --show-current | grep -qE '^(main|master|develop)$'"
    action: deny
    message: "Cannot commit to protected branch. Create a feature branch."
  - name: redirect-rm-to-trash
    commands: ["rm"]
    action: redirect
    redirect_to: "trash $ARGS"
    message: "Redirecting to trash for safety"
  - name: block-read-ssh
    commands: ["cat", "less", "head", "tail"]
    conditions:
      - "echo '$CMD' | grep -qE '\\.ssh'"
    action: deny
    message: "Cannot read SSH keys"
packs: []
`

func needs1(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// git runs real git in dir, with a configuration of its own.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(w.env[:len(w.env):len(w.env)],
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestSeedRules(t *testing.T) {
	needs1(t, "git", "bash", "grep")
	w := newWorld(t)
	w.user(seedRules)
	w.git(w.proj, "init", "-q", "-b", "main")
	for _, who := range []Context{AI, Human} {
		w.who = who
		for _, c := range []struct {
			argv []string
			want Action
			rule string
		}{
			{[]string{"git", "commit", "-m", "x"}, Deny, "block-commit-protected"},
			{[]string{"/usr/bin/git", "commit"}, Deny, "block-commit-protected"},
			{[]string{"git", "status"}, Allow, ""},
			{[]string{"git", "log", "--grep", "x\ngit commit"}, Allow, ""},
			{[]string{"rm", "-rf", "a b", "'"}, Redirect, "redirect-rm-to-trash"},
			{[]string{"cat", "/home/u/.ssh/id_rsa"}, Deny, "block-read-ssh"},
			{[]string{"less", "a'.ssh"}, Deny, "block-read-ssh"},
			{[]string{"cat", "README"}, Allow, ""},
			{[]string{"cat", "xssh"}, Allow, ""},
			{[]string{"grep", ".ssh"}, Allow, ""},
		} {
			d := w.argv(c.argv...)
			if d.Action != c.want || d.Rule != c.rule {
				t.Errorf("%s %q: %v %q, want %v %q (notes %q)", who, c.argv, d.Action, d.Rule, c.want, c.rule, d.Notes)
			}
		}
	}
	if d := w.argv("rm", "-rf", "a b", "'"); !reflect.DeepEqual(d.Redirect, []string{"trash", "-rf", "a b", "'"}) {
		t.Errorf("redirect %q", d.Redirect)
	}
	w.git(w.proj, "checkout", "-q", "-b", "feature")
	if d := w.argv("git", "commit", "-m", "x"); d.Action != Allow {
		t.Errorf("on a feature branch: %v %s", d.Action, d.Rule)
	}
}

// A value is never code, whatever it holds.
func TestNoInjection(t *testing.T) {
	needs1(t, "bash", "grep")
	w := newWorld(t)
	w.user(seedRules)
	for _, evil := range []string{
		`'; touch pwned; '`, `"; touch pwned; "`, "`touch pwned`", `$(touch pwned)`, `'"$(touch pwned)"'`,
		"\n touch pwned\n", `\'; touch pwned; \'`, `a[$(touch pwned)]`, `' | touch pwned #`, `'$(touch pwned)'`,
		`{touch,pwned}`, `-e`, `-n`, `--`, `*`, `~`, `$CMD`, `${CMD}`, `!!`, "\x01\xff", "é'", "\\",
	} {
		w.argv("git", "commit", "-m", evil)
		w.argv("cat", evil, ".ssh")
		w.argv(evil)
		if _, err := os.Stat(filepath.Join(w.proj, "pwned")); err == nil {
			t.Fatalf("%q was executed", evil)
		}
	}
}
