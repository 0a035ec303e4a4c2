package clienttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// codex drives `codex exec`; with no arguments, without its sandbox.
func codex(t *testing.T, args ...string) client {
	w := New(t, "codex")
	w.Env["FAKE_KEY"] = "sk-none"
	w.Write(w.Home+"/.codex/config.toml", `model = "gpt-5.5"
model_provider = "fake"

[model_providers.fake]
name = "fake"
base_url = "`+w.Model.URL+`/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
`)
	w.Safeshell("init", "--yes") // Codex takes PATH from a login shell
	if len(args) == 0 {
		args = []string{"--dangerously-bypass-approvals-and-sandbox"}
	}
	return client{World: w, agent: "codex",
		shell: func(cmd string) Turn { return Do("exec_command", map[string]any{"cmd": cmd}) },
		run: func(name string, turns ...Turn) []Result {
			w.T.Helper()
			w.Model.Script(name, turns...)
			argv := append([]string{"codex", "exec", "--skip-git-repo-check"}, args...)
			out := w.Run(w.Repo, append(argv, "[play "+name+"]")...)
			return finished(w, name, turns, out)
		}}
}

func TestCodexVerdicts(t *testing.T) {
	c := codex(t)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.verdicts()
	if n := c.Questions(); n != 0 {
		t.Errorf("%d questions where nobody could be asked", n)
	}
}

// A note with a call that runs does no harm.
func TestCodexNote(t *testing.T) {
	c := codex(t)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.note()
}

func TestCodexApproval(t *testing.T) {
	c := codex(t)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.approval()
}

// Patches: by the tool, and in a shell command, which Codex carries out itself.
func TestCodexPatches(t *testing.T) {
	c := codex(t)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	rules := c.Home + "/.safeshell/rules.yaml"
	patch := func(path string) string {
		return "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch\n"
	}
	res := c.run("patches",
		Do("apply_patch", map[string]any{"": patch(rules)}),
		c.shell("apply_patch <<'EOF'\n"+patch(rules)+"EOF\n"),
		c.shell("cd "+c.Home+" && apply_patch <<'EOF'\n"+patch(".safeshell/rules.yaml")+"EOF\n"),
		Do("apply_patch", map[string]any{"": patch(c.Repo + "/new")}),
		c.shell("apply_patch <<'EOF'\n"+patch("newer")+"EOF\n"))
	for _, r := range res[:3] {
		refused(t, r, "self-protection-files")
	}
	if c.Exists(rules) {
		t.Error("a patch has written safeshell's rules")
	}
	if c.Read(c.Repo+"/new") != "x\n" || c.Read(c.Repo+"/newer") != "x\n" {
		t.Errorf("a harmless patch was not applied: %v %v", res[3], res[4])
	}
}

// Newer models call all tools from JavaScript; each call has its event.
func TestCodexCodeMode(t *testing.T) {
	c := codex(t, "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-6-sol")
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	js := func(code string) Turn { return Do("exec", map[string]any{"": code}) }
	c.Write(c.Repo+"/build/out", "x\n")
	res := c.run("code",
		js(`text(await tools.exec_command({cmd: "echo fine"}))`),
		js(`text(await tools.exec_command({cmd: "git commit -q --allow-empty -m x"}))`),
		js(`text(await tools.exec_command({cmd: "rm -r build && ls"}))`),
		js(`text(await tools.exec_command({cmd: "bash --norc", tty: true, yield_time_ms: 500}))`))
	says(t, res[0], "fine")
	refused(t, res[1], "block-commit-protected")
	if c.Exists(c.Repo+"/build") || !strings.Contains(c.Safeshell("trash", "list"), c.Repo+"/build") {
		t.Errorf("not in the trash: %s", res[2].Text)
	}
	refused(t, res[3], "remote-code-interactive-shell")
}

func TestCodexSubAgent(t *testing.T) {
	c := codex(t, "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-6-sol")
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.Model.Script("sub", Do("exec", map[string]any{"": `text(await tools.exec_command({cmd: "git commit -q --allow-empty -m x"}))`}))
	c.run("main",
		Do("collaboration.spawn_agent", map[string]any{"task_name": "t", "message": "[play sub]", "fork_turns": "none"}),
		Do("collaboration.wait_agent", map[string]any{"timeout_ms": 60000}))
	res := c.Model.Results("sub")
	if len(res) != 1 {
		t.Fatalf("the sub-agent made %d calls", len(res))
	}
	refused(t, res[0], "block-commit-protected")
}

// In the sandbox, which makes the work tree a mount of its own: the trash is in
// it and is found from outside; where nothing can be written, nothing is lost.
func TestCodexSandbox(t *testing.T) {
	if dir, err := os.MkdirTemp("/var/tmp", "safeshell-client"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		t.Setenv("TMPDIR", dir) // Codex lets a sandbox write anywhere below /tmp
	}
	c := codex(t, "-s", "workspace-write")
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	probe := c.run("probe", c.shell("touch inside; touch ~/outside || echo kept in"))
	if !c.Exists(c.Repo+"/inside") || !strings.Contains(probe[0].Text, "kept in") {
		t.Skip("codex: its sandbox does not work here: " + probe[0].Text)
	}
	c.verdicts()
	says(t, c.run("status", c.shell("git status --short"))[0], "inside")
	if strings.Contains(c.must(c.Repo, "git", "status", "--short").Stdout, "Trash") {
		t.Error("the trash would be committed")
	}
	// What only the shim sees, from in there: it cannot write a request, and says so.
	c.Write(c.Repo+"/s.py", "import subprocess\nsubprocess.run(['git', 'push', '--force'])\n")
	m := c.Watch("1")
	r := c.run("inside", c.shell("python3 s.py"))[0]
	refused(t, r, "git-push-force")
	m.Stop()
	c = codex(t, "-s", "read-only")
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.Write(c.Repo+"/build/out", "kept\n")
	says(t, c.run("readonly", c.shell("rm -r build || ls"))[0], "cannot remove", "build")
	if c.Read(c.Repo+"/build/out") != "kept\n" {
		t.Error("lost")
	}
}

// Codex would run the command after a failed hook; an untrusted one it skips,
// and then only doctor says so.
func TestCodexFailsClosed(t *testing.T) {
	for name, script := range brokenHooks {
		c := codex(t)
		if r := c.broken(script, "--trust-codex"); strings.Contains(r.Text, "it has run") || !strings.Contains(r.Text, "the hook failed. Tell the user to look with: ") {
			t.Errorf("%s: %s", name, r.Text)
		}
	}
	c := codex(t)
	if out := c.Safeshell("agents", "install", "codex"); !strings.Contains(out, "until you accept it") {
		t.Errorf("install does not say that the hook must be trusted:\n%s", out)
	}
	says(t, c.run("untrusted", c.shell("echo it has run"))[0], "it has run")
	if out := c.Run(c.Repo, c.Bin, "agents", "doctor", "codex"); out.Code == 0 || !strings.Contains(out.Stdout, "skips it without a word") {
		t.Errorf("doctor does not see that the hook is not trusted:\n%s", out.Stdout)
	}
}

func TestCodexResumed(t *testing.T) {
	c := codex(t)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.run("first", c.shell("true"))
	c.Model.Script("again", c.shell("git commit -q --allow-empty -m x"))
	c.must(c.Repo, "codex", "exec", "resume", "--last", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "[play again]")
	res := c.Model.Results("again")
	if len(res) != 1 {
		t.Fatalf("%d results", len(res))
	}
	refused(t, res[0], "block-commit-protected")
}

func TestCodexDoctor(t *testing.T) {
	c := codex(t)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	c.doctor("Codex CLI 0.")
}

// Install, use, uninstall: both files are as before, but for what Codex itself
// has written into config.toml since.
func TestCodexConfigAsBefore(t *testing.T) {
	c := codex(t)
	config, hooks := filepath.Join(c.Home, ".codex/config.toml"), filepath.Join(c.Home, ".codex/hooks.json")
	before := c.Read(config)
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	installed := c.Read(config)
	refused(t, c.run("one", c.shell("git commit -q --allow-empty -m x"))[0], "block-commit-protected")
	used := c.Read(config)
	c.Safeshell("agents", "uninstall", "codex")
	if used == installed && c.Read(config) != before {
		t.Errorf("not as before:\n%s", c.Read(config))
	}
	c.Safeshell("agents", "install", "codex", "--trust-codex")
	trust := "\n[projects.\"" + c.Repo + "\"]\ntrust_level = \"trusted\"\n" // as Codex appends it
	c.Write(config, c.Read(config)+trust)
	c.Safeshell("agents", "uninstall", "codex")
	if now := c.Read(config); strings.TrimSpace(now) != strings.TrimSpace(before+trust) || strings.Contains(now, "hooks") {
		t.Errorf("not only ours was removed:\n%s", now)
	}
	if c.Exists(hooks) {
		t.Errorf("hooks.json is still there:\n%s", c.Read(hooks))
	}
}

// Codex's own check of rm -f and its rules (execpolicy) keep their word.
func TestCodexOwnRules(t *testing.T) {
	for i, rule := range []struct{ text, cmd string }{
		{"", "rm -rf build"},
		{"", "/bin/rm -rf build"},
		{`prefix_rule(pattern=["rm"], decision="forbidden")`, "rm -r build"},
		{`prefix_rule(pattern=["rm", "-r"], decision="forbidden")`, "cd . && rm -r build"},
		{`prefix_rule(pattern=["rm"], decision="prompt")`, "rm -r build"},
		{`prefix_rule(pattern=["/bin/rm"], decision="forbidden")`, "/bin/rm -r build"},
		{`prefix_rule(pattern=["rm"], decision="allow")`, "rm -r build"},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			c := codex(t)
			if rule.text != "" {
				c.Write(c.Home+"/.codex/rules/own.rules", rule.text+"\n")
			}
			try := func(name string) (stopped bool) {
				c.Write(c.Repo+"/build/out", "kept\n")
				text := c.run(name, c.shell(rule.cmd))[0].Text
				if _, instead, ok := strings.Cut(text, "Run this instead:\n"); ok {
					instead, _, _ = strings.Cut(instead, "\n")
					text = c.run(name+"2", c.shell(instead))[0].Text
				}
				t.Log(text)
				return c.Exists(c.Repo + "/build/out")
			}
			without := try("without")
			c.Safeshell("agents", "install", "codex", "--trust-codex")
			if with := try("with"); with != without {
				t.Errorf("%s: %s: stopped without safeshell: %t, with it: %t", rule.text, rule.cmd, without, with)
			}
			if !without {
				c.Safeshell("trash", "restore", "build")
			}
		})
	}
}
