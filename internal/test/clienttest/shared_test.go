package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A client is how one agent is driven in the tests that all share.
type client struct {
	*World
	agent string
	run   func(name string, turns ...Turn) []Result
	shell func(cmd string) Turn
}

// finished demands that each call of a script was answered.
func finished(w *World, name string, turns []Turn, out Output) []Result {
	w.T.Helper()
	res, calls := w.Model.Results(name), 0
	for _, t := range turns {
		calls += len(t.Calls)
	}
	if len(res) != calls {
		w.T.Fatalf("%d of %d calls were answered\nrequests %q\nexit %d\n%s%s", len(res), calls, w.Model.Requests(), out.Code, out.Stdout, out.Stderr)
	}
	return res
}

// says demands texts in a result.
func says(t *testing.T, r Result, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if !strings.Contains(r.Text, s) {
			t.Errorf("%v: the model was not told %q:\n%s", r.Call, s, r.Text)
		}
	}
}

// refused demands what a refusal by a rule must say.
func refused(t *testing.T, r Result, rule string, texts ...string) {
	t.Helper()
	says(t, r, append(texts, "[SafeShell] ", "Reason: ", "Rule: "+rule)...)
}

// remote gives the repository one, to which it was pushed.
func (w *World) remote() {
	w.T.Helper()
	w.must(w.Root, "git", "init", "-q", "--bare", "remote.git")
	w.must(w.Repo, "git", "remote", "add", "origin", w.Root+"/remote.git")
	w.must(w.Repo, "git", "push", "-q", "-u", "origin", "main")
}

// verdicts: allow, deny, redirect with restore, nobody to ask, a key.
func (c client) verdicts() {
	t := c.T
	c.Write(c.Repo+"/build/out", "kept\n")
	rm := "rm -rf build && ls"
	if c.agent == "codex" { // which itself refuses rm -f
		rm = "rm -r build && ls"
	}
	res := c.run("verdicts", c.shell("ls"), c.shell("git commit -q --allow-empty -m x"), c.shell("cat ~/.ssh/id_rsa"),
		c.shell(rm), c.shell("git push --force"))
	says(t, res[0], "README", "build")
	refused(t, res[1], "block-commit-protected", "[SafeShell] BLOCKED", "Instead: git switch -c BRANCH")
	if c.agent == "codex" { // which appends the command to our last line
		says(t, res[1], "git switch -c BRANCH\n\nNot run. Command: git commit")
	}
	refused(t, res[2], "block-read-ssh", "[SafeShell] BLOCKED", "Instead: ssh-add -l")
	says(t, res[3], "README")
	if strings.Contains(res[3].Text, "build") || c.Exists(c.Repo+"/build") {
		t.Errorf("build is still there:\n%s", res[3].Text)
	}
	c.Safeshell("trash", "restore", "build")
	if c.Read(c.Repo+"/build/out") != "kept\n" {
		t.Error("build did not come back")
	}
	refused(t, res[4], "git-push-force", "[SafeShell] NO MONITOR", "safeshell watch", "Instead: git push")
	if log := c.must(c.Repo, "git", "log", "--oneline").Stdout; strings.Count(log, "\n") != 1 {
		t.Errorf("a refused commit was made:\n%s", log)
	}
}

// approval: granted once for hook and shim together, denied, timed out. The
// client's own calls of git raise no question.
func (c client) approval() {
	t := c.T
	c.remote()
	m := c.Watch("1")
	res := c.run("granted", c.shell("command -v git; git push --force origin main"))
	says(t, res[0], ".safeshell/shims/git", "up-to-date")
	if n := c.Questions(); n != 1 {
		t.Errorf("%d questions for one command\n%s", n, m.Screen())
	}
	m.Stop()
	m = c.Watch("4 use a branch, please")
	refused(t, c.run("denied", c.shell("git push --force"))[0], "git-push-force", "USER DENIED", "Reason: use a branch, please", "Do not retry")
	m.Stop()
	c.Write(c.Home+"/.safeshell/config.yaml", "approval: {timeout_seconds: 2}\n")
	m = c.Watch("")
	refused(t, c.run("timeout", c.shell("git push --force"))[0], "git-push-force", "APPROVAL TIMED OUT", "exactly the same command again")
	m.Stop()
	if n := c.Questions(); n != 3 {
		t.Errorf("%d questions in all, want 3\n%s", n, c.Safeshell("log"))
	}
}

// broken runs one command with a hook whose program has become script ("": it
// is gone) and returns what came of it.
func (c client) broken(script string, install ...string) Result {
	c.T.Helper()
	b, err := os.ReadFile(c.Bin)
	if err != nil {
		c.T.Fatal(err)
	}
	c.Bin = filepath.Join(c.Root, "b", "safeshell")
	c.Write(c.Bin, string(b))
	if err := os.Chmod(c.Bin, 0o700); err != nil {
		c.T.Fatal(err)
	}
	c.Safeshell(append([]string{"agents", "install", c.agent}, install...)...)
	if err := os.Remove(c.Bin); err != nil {
		c.T.Fatal(err)
	}
	if script != "" {
		c.Write(c.Bin, script)
		if err := os.Chmod(c.Bin, 0o700); err != nil {
			c.T.Fatal(err)
		}
	}
	c.Env["PATH"] = strings.TrimPrefix(c.Env["PATH"], c.Home+"/.safeshell/shims:")
	res := c.run("broken", c.shell("printf 'it has %s' run"))
	return res[0]
}

var brokenHooks = map[string]string{"gone": "", "fails": "#!/bin/sh\necho oops >&2\nexit 1\n", "killed": "#!/bin/sh\nkill -9 $$\n"}

// doctor demands that everything which agents doctor says of a sound
// installation is good, the live probe too.
func (c client) doctor(version string) {
	c.T.Helper()
	out := c.Safeshell("agents", "doctor", c.agent)
	for l := range strings.Lines(out) {
		if strings.HasPrefix(l, "warn") || strings.HasPrefix(l, "fail") {
			c.T.Errorf("doctor says: %s", l)
		}
	}
	for _, s := range []string{version, "finds the shims first", `denies "rm -rf /" as it must`} {
		if strings.Count(out, s) != 1 {
			c.T.Errorf("doctor does not say %q once:\n%s", s, out)
		}
	}
	for l := range strings.Lines(c.Safeshell("agents", "list")) {
		if f := strings.Fields(l); f[0] == c.agent && (f[1] != "yes" || f[2] != "yes") {
			c.T.Errorf("agents list says: %s", l)
		}
	}
}

// note runs a command that a rule of the repository is for, which waits for
// trust: it runs, and what the client sends to its model next names the rule.
func (c client) note() {
	c.T.Helper()
	c.Write(c.Repo+"/.safeshell/rules.yaml", "rules:\n- {name: waits-for-trust, commands: [touch], conditions: ['true'], action: deny, message: m}\n")
	c.run("note", c.shell("touch "+c.Root+"/ran"))
	if !c.Exists(c.Root + "/ran") {
		c.T.Error("a note stopped the command")
	}
}
