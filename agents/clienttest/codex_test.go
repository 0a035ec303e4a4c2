package clienttest

import (
	"strings"
	"testing"
)

func codexWorld(t *testing.T) *World {
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
	return w
}

// codex runs a script of the model by `codex exec` and returns its results.
func codex(w *World, name string, turns []Turn, args ...string) ([]Result, Output) {
	w.T.Helper()
	w.Model.Script(name, turns...)
	argv := append([]string{"codex", "exec", "--skip-git-repo-check"}, args...)
	out := w.Run(w.Repo, append(argv, "[play "+name+"]")...)
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

func sh(cmd string) Turn { return Do("exec_command", map[string]any{"cmd": cmd}) }

func TestCodexVerdicts(t *testing.T) {
	w := codexWorld(t)
	t.Log(w.Safeshell("agents", "install", "codex", "--trust-codex"))
	w.Write(w.Repo+"/build/out", "x\n")
	res, out := codex(w, "verdicts", []Turn{
		sh("ls"),
		sh("git commit --allow-empty -m x"),
		sh("cat ~/.ssh/id_rsa"),
		sh("rm -rf build && ls"),
		sh("git push --force"),
		Do("apply_patch", map[string]any{"": "*** Begin Patch\n*** Add File: " + w.Home + "/.safeshell/rules.yaml\n+rules: []\n*** End Patch\n"}),
		sh("env; type rm; command -v git; cat /proc/$$/cmdline | tr '\\0' '\\n' | head -50"),
	}, "--dangerously-bypass-approvals-and-sandbox")
	for _, r := range res {
		t.Logf("%v %v\n%s\n", r.IsError, r.Call, r.Text)
	}
	t.Log(out)
	t.Log(strings.Join(w.Model.Requests(), "\n"))
}
