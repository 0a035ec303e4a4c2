package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/internal/test/testdir"
)

func TestDoctorSeesThePathOfTheAgentsShell(t *testing.T) {
	if _, err := exec.LookPath("/bin/bash"); err != nil {
		t.Skip("/bin/bash is not there")
	}
	env := guarded(t)
	env.Shims = filepath.Join(env.Home, ".safeshell", "shims")
	env.Shadowed = func(dir, path string) map[string]string {
		if !strings.HasPrefix(path, dir) {
			return map[string]string{"rm": "/usr/bin/rm", "git": "/usr/bin/git"}
		}
		return nil
	}
	vars := map[string]string{}
	env.Getenv = func(k string) string { return vars[k] }
	claude, codex := mustFind(t, "claude-code"), mustFind(t, "codex")
	for _, a := range []Agent{claude, codex} {
		if _, err := Install(env, a, InstallOptions{Binary: env.Binary, TrustCodex: true}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(a Agent, l Level, part string) {
		t.Helper()
		if fs := Doctor(env, a); !has(fs, l, part) {
			t.Errorf("%s: no %s %q in %v", a.Name, l, part, fs)
		}
	}
	vars["PATH"] = "/usr/bin:/bin"
	check(claude, Warn, "do not find the shims")
	vars["PATH"] = "/usr/bin:" + env.Shims
	check(claude, Warn, "find /usr/bin/git before the shim (and 1 more like it)")
	vars["PATH"] = env.Shims + ":/usr/bin"
	check(claude, OK, "finds the shims first")
	// settings.json has the last word on Claude's PATH, the login files on Codex's.
	write(t, filepath.Join(env.Home, ".claude", "settings.local.json"), "{}")
	data := read(t, filepath.Join(env.Home, ".claude", "settings.json"))
	write(t, filepath.Join(env.Home, ".claude", "settings.json"), strings.Replace(data, "{", `{"env":{"PATH":"/usr/bin"},`, 1))
	check(claude, Warn, "do not find the shims")
	write(t, filepath.Join(env.Home, ".profile"), "PATH=/usr/bin:/bin\n")
	check(codex, Warn, "do not find the shims")
	write(t, filepath.Join(env.Home, ".bashrc"), "echo noise; PATH="+env.Shims+":$PATH\n")
	check(codex, OK, "finds the shims first")
	write(t, filepath.Join(env.Home, ".profile"), "exit 3\n")
	check(codex, Warn, "is not known")
	_ = os.Remove(filepath.Join(env.Home, ".profile"))
}

func TestCodexHooksInTwoFiles(t *testing.T) {
	env := guarded(t)
	a := mustFind(t, "codex")
	file := filepath.Join(env.Home, ".codex", "config.toml")
	for text, want := range map[string]bool{
		"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"true\"\n": true,
		"[hooks.state.\"x:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n":            false,
		"model = \"m\"\n": false, "[broken": false,
	} {
		write(t, file, text)
		res, err := Install(env, a, InstallOptions{Binary: env.Binary})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(res.Notes, "\n"), "holds hooks too"); got != want {
			t.Errorf("%q: said %v", text, got)
		}
	}
}

// What the shell of Codex makes of a hook that is missing, crashes or refuses.
func TestFailClosedCommand(t *testing.T) {
	if _, err := exec.LookPath("/bin/bash"); err != nil {
		t.Skip("/bin/bash is not there")
	}
	a := mustFind(t, "codex")
	dir := testdir.New(t)
	bin := filepath.Join(dir, "safe shell's")
	for script, want := range map[string]reply{
		"":                           {code: 2, stderr: "the hook failed"},
		"kill -9 $$":                 {code: 2, stderr: "the hook failed"},
		"exit 1":                     {code: 2, stderr: "the hook failed"},
		"echo mine >&2; exit 2":      {code: 2, stderr: "mine\n"},
		"echo '{}'; cat >/dev/null;": {stdout: "{}\n"},
	} {
		_ = os.Remove(bin)
		if script != "" {
			write(t, bin, "#!/bin/sh\n"+script+"\n")
			if err := os.Chmod(bin, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Env{}.runLimited([]string{"/bin/bash", "-c", failClosed(a, hookCommand(a, bin, 0), "help")}, dir, "event", probeTime)
		if err != nil || r.code != want.code || r.stdout != want.stdout || !strings.Contains(r.stderr, want.stderr) ||
			strings.Contains(want.stderr, "mine") && r.stderr != want.stderr {
			t.Errorf("%q: %+v %v", script, r, err)
		}
	}
}
