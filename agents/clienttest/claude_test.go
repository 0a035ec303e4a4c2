package clienttest

import (
	"strings"
	"testing"
)

func claudeWorld(t *testing.T) *World {
	w := New(t, "claude")
	for k, v := range map[string]string{
		"ANTHROPIC_BASE_URL": w.Model.URL, "ANTHROPIC_API_KEY": "sk-none", "IS_SANDBOX": "1",
		"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
	} {
		w.Env[k] = v
	}
	return w
}

// claude runs a script of the model headless and returns its results.
func claude(w *World, name string, turns []Turn, args ...string) ([]Result, Output) {
	w.T.Helper()
	w.Model.Script(name, turns...)
	argv := append([]string{"claude", "-p", "[play " + name + "]", "--dangerously-skip-permissions"}, args...)
	out := w.Run(w.Repo, argv...)
	res := w.Model.Results(name)
	calls := 0
	for _, t := range turns {
		calls += len(t.Calls)
	}
	if len(res) != calls {
		w.T.Fatalf("%d of %d calls were answered\nrequests %q\nexit %d\n%s%s", len(res), calls, w.Model.Requests(), out.Code, out.Stdout, out.Stderr)
	}
	return res, out
}

func bash(cmd string) Turn { return Do("Bash", map[string]any{"command": cmd, "description": "d"}) }

func TestClaudeVerdicts(t *testing.T) {
	w := claudeWorld(t)
	t.Log(w.Safeshell("agents", "install", "claude-code"))
	w.Write(w.Repo+"/build/out", "x\n")
	res, out := claude(w, "verdicts", []Turn{
		bash("ls"),
		bash("git commit --allow-empty -m x"),
		bash("cat ~/.ssh/id_rsa"),
		bash("rm -rf build && ls"),
		bash("git push --force"),
		Do("Write", map[string]any{"file_path": w.Home + "/.safeshell/rules.yaml", "content": "rules: []\n"}),
		Do("Read", map[string]any{"file_path": w.Home + "/.ssh/id_rsa"}),
		bash("env; type rm; command -v git; cat /proc/$$/cmdline | tr '\\0' '\\n' | head -50"),
	})
	for _, r := range res {
		t.Logf("%v %v\n%s\n", r.IsError, r.Call, r.Text)
	}
	t.Log(out)
	t.Log(strings.Join(w.Model.Requests(), "\n"))
}
