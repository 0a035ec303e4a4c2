package agents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

func needs(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("%s is not installed", tool)
	}
	return path
}

// fakeBinary is a program that keeps its input and answers as told.
func fakeBinary(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(testdir.New(t), "safe'shell \"x\"")
	if err := testdir.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// drivers call a plugin as its host does and print what came of it.
var drivers = map[string]string{
	"opencode": `
const hooks = await plugin.Safeshell({ directory: "/proj" })
const output = { args: call.args }
let result
try {
  result = { value: (await hooks["tool.execute.before"]({ tool: call.tool, sessionID: "ses", callID: "c" }, output)) ?? null }
} catch (error) { result = { thrown: error.message } }
console.log(JSON.stringify({ ...result, args: output.args }))`,
	"pi": `
let handler
plugin.default({ on: (name, fn) => { if (name === "tool_call") handler = fn } })
const event = { type: "tool_call", toolName: call.tool, toolCallId: "c", input: call.args }
const ctx = { cwd: "/proj", hasUI: call.ui, ui: { confirm: async (title, text) => { asked = text; return call.yes } } }
let asked = null, result
try { result = { value: (await handler(event, ctx)) ?? null } } catch (error) { result = { thrown: error.message } }
console.log(JSON.stringify({ ...result, args: event.input, asked }))`,
	"amp": `
let handler
plugin.default({
  on: (name, fn) => { if (name === "tool.call") handler = fn },
  system: { workspaceRoot: "file:///my%20proj" },
  helpers: { shellCommandFromToolCall: (e) => {
    if (e.tool === "broken") throw new Error("helper")
    return e.tool === "bash" ? { command: e.input.command, dir: { fsPath: "/proj" } } : null } },
})
let result
try { result = { value: await handler({ tool: call.tool, input: call.args, thread: { id: "T-1" } }, {}) } } catch (error) { result = { thrown: error.message } }
console.log(JSON.stringify({ ...result, args: call.args }))`,
}

type pluginResult struct {
	Thrown string
	Value  struct {
		Block                   bool
		Reason, Action, Message string
	}
	Args  map[string]any
	Asked string
}

func (r pluginResult) refusal() string {
	switch {
	case r.Thrown != "":
		return r.Thrown
	case r.Value.Block:
		return r.Value.Reason
	case r.Value.Action == "reject-and-continue":
		return r.Value.Message
	}
	return ""
}

// runPlugin installs an agent's plugin and lets node call it.
func runPlugin(t *testing.T, agent, binary string, limit time.Duration, call string) pluginResult {
	t.Helper()
	node := needs(t, "node")
	a := mustFind(t, agent)
	text, err := pluginText(a, binary, limit, "help")
	if err != nil {
		t.Fatal(err)
	}
	dir := testdir.New(t)
	file := filepath.Join(dir, "plugin.mjs")
	driver := drivers[agent]
	if agent == "kilo" {
		driver = drivers["opencode"]
	}
	main := "import * as plugin from " + quoteJSON("file://"+file) + "\nconst call = " + call + "\n" + driver
	for name, text := range map[string]string{"plugin.mjs": text, "main.mjs": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, filepath.Join(dir, "main.mjs"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KEEP=" + filepath.Join(dir, "event")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", agent, err, out)
	}
	var r pluginResult
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%s: %v in %s", agent, err, out)
	}
	return r
}

func TestPluginsParse(t *testing.T) {
	node := needs(t, "node")
	for _, a := range All() {
		if a.Hook != Plugin {
			continue
		}
		text, err := pluginText(a, testBinary, a.Timeout, "help")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(testdir.New(t), "plugin.mjs")
		write(t, file, text)
		if out, err := exec.Command(node, "--check", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", a.Name, out)
		}
		if strings.Contains(text, "@") {
			t.Errorf("%s: a placeholder is left", a.Name)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "import ") && !strings.Contains(line, `"node:`) || strings.Contains(line, "require(") {
				t.Errorf("%s depends on something: %s", a.Name, line)
			}
		}
		if got := pluginCall(text); len(got) != 3 || got[0] != testBinary || !ours(a, got) {
			t.Errorf("%s: read back %q", a.Name, got)
		}
	}
}

// TestPluginsJudge: deny refuses with the reason, a rewrite is taken over,
// silence runs, and whatever breaks refuses.
func TestPluginsJudge(t *testing.T) {
	const call = `{ tool: "bash", args: { command: "rm -rf x", timeout: 5 } }`
	for _, agent := range []string{"opencode", "kilo", "pi", "amp"} {
		t.Run(agent, func(t *testing.T) {
			keep := filepath.Join(testdir.New(t), "event")
			bin := fakeBinary(t, "cat > '"+keep+"'; printf '%s\\n' \"$*\" > '"+keep+".args'\n")
			r := runPlugin(t, agent, bin, time.Minute, call)
			if r.refusal() != "" || r.Args["command"] != "rm -rf x" {
				t.Errorf("silence: %+v", r)
			}
			wantArgs := "hook " + agent + " --timeout 60\n"
			if agent == "amp" { // its limit cannot be set
				wantArgs = "hook amp\n"
			}
			if got := read(t, keep+".args"); got != wantArgs {
				t.Errorf("called with %q", got)
			}
			// What the plugin sends is what Serve understands.
			got := serveCase(t, agent, read(t, keep), nil, func(Call) (Outcome, error) { return Outcome{}, nil })
			wantDir := "/proj"
			if got.call == nil || got.call.Lines[0] != "rm -rf x" || got.call.Dir != wantDir || got.call.Agent != agent {
				t.Errorf("sent %s: %+v", read(t, keep), got.call)
			}

			r = runPlugin(t, agent, fakeBinary(t, "cat >/dev/null; echo '[SafeShell] BLOCKED: it is mine' >&2; exit 2\n"), time.Minute, call)
			if r.refusal() != "[SafeShell] BLOCKED: it is mine" {
				t.Errorf("deny: %+v", r)
			}
			r = runPlugin(t, agent, fakeBinary(t, `echo '{"command":"safeshell exec -- rm '"'"'a b'"'"'"}'`+"\n"), time.Minute, call)
			if agent == "amp" {
				if !strings.Contains(r.refusal(), "Run this instead:\nsafeshell exec -- rm 'a b'") {
					t.Errorf("rewrite: %+v", r)
				}
			} else if r.refusal() != "" || r.Args["command"] != "safeshell exec -- rm 'a b'" || r.Args["timeout"] != 5.0 {
				t.Errorf("rewrite: %+v", r)
			}

			for name, script := range map[string]string{
				"exit without text": "exit 3\n",
				"killed":            "kill -9 $$\n",
				"no JSON":           "echo hello\n",
				"half JSON":         "printf '{\"command\":\"x'\n",
				"foreign JSON":      "echo '{\"decision\":\"deny\"}'\n",
				"null":              "echo null\n",
				"list":              "echo '[]'\n",
				"number":            "echo '{\"command\":5}'\n",
			} {
				if r := runPlugin(t, agent, fakeBinary(t, script), time.Minute, call); !strings.Contains(r.refusal(), "BLOCKED") || r.Args["command"] != "rm -rf x" {
					t.Errorf("%s: %+v", name, r)
				}
			}
			if r := runPlugin(t, agent, filepath.Join(testdir.New(t), "missing"), time.Minute, call); !strings.Contains(r.refusal(), "cannot be started") {
				t.Errorf("missing: %+v", r)
			}
			notExec := filepath.Join(testdir.New(t), "plain")
			write(t, notExec, "x")
			if r := runPlugin(t, agent, notExec, time.Minute, call); !strings.Contains(r.refusal(), "cannot be started") {
				t.Errorf("not executable: %+v", r)
			}
			if r := runPlugin(t, agent, fakeBinary(t, "exec sleep 30\n"), 200*time.Millisecond, call); !strings.Contains(r.refusal(), "did not answer in time") {
				t.Errorf("hanging: %+v", r)
			}
			// A tool that is none of ours does not even start the program.
			if r := runPlugin(t, agent, filepath.Join(testdir.New(t), "missing"), time.Minute, `{ tool: "todowrite", args: {} }`); r.refusal() != "" {
				t.Errorf("another tool: %+v", r)
			}
		})
	}
	// Pi asks where it has a screen.
	ask := fakeBinary(t, `echo '{"ask":"really?"}'`+"\n")
	if r := runPlugin(t, "pi", ask, time.Minute, `{ tool: "bash", args: { command: "x" }, ui: true, yes: true }`); r.refusal() != "" || r.Asked != "really?" {
		t.Errorf("yes: %+v", r)
	}
	if r := runPlugin(t, "pi", ask, time.Minute, `{ tool: "bash", args: { command: "x" }, ui: true, yes: false }`); !strings.Contains(r.refusal(), "The user said no") {
		t.Errorf("no: %+v", r)
	}
	if r := runPlugin(t, "opencode", ask, time.Minute, `{ tool: "bash", args: { command: "x" } }`); r.refusal() != "really?" {
		t.Errorf("opencode cannot ask: %+v", r)
	}
	if r := runPlugin(t, "amp", ask, time.Minute, `{ tool: "broken", args: {} }`); r.refusal() != "helper" {
		t.Errorf("a helper that throws: %+v", r)
	}
}

// TestClineScript: the hook file cancels whenever safeshell gives no answer.
func TestClineScript(t *testing.T) {
	for _, sh := range []string{"dash", "bash", "busybox"} {
		path, err := exec.LookPath(sh)
		if err != nil {
			t.Logf("%s is not installed", sh)
			continue
		}
		for name, c := range map[string]struct{ script, want string }{
			"answer":  {"cat >/dev/null; echo '{\"cancel\":true,\"errorMessage\":\"é '\"'\"'\"}'\n", `{"cancel":true,"errorMessage":"é '"}`},
			"pass":    {"echo '{}'\n", "{}"},
			"silent":  {"exit 0\n", "cancel"},
			"failing": {"echo '{}'; exit 1\n", "cancel"},
			"killed":  {"kill -9 $$\n", "cancel"},
			"missing": {"", "cancel"},
		} {
			for _, agent := range []string{"cline", "cline-vscode"} {
				bin := fakeBinary(t, c.script)
				if c.script == "" {
					os.Remove(bin)
				}
				a := mustFind(t, agent)
				text, err := pluginText(a, bin, a.Timeout, "safeshell is gone")
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(testdir.New(t), "PreToolUse")
				write(t, file, text)
				args := []string{file}
				if sh == "busybox" {
					args = []string{"sh", file}
				}
				cmd := exec.Command(path, args...)
				cmd.Stdin = strings.NewReader(goldenEvent(t, agent, "deny"))
				out, err := cmd.Output()
				if err != nil {
					t.Errorf("%s, %s: %v", sh, name, err)
				}
				var v map[string]any
				if err := json.Unmarshal(out, &v); err != nil {
					t.Errorf("%s, %s: %v in %q", sh, name, err, out)
				}
				got := strings.TrimSpace(string(out))
				if c.want == "cancel" {
					if h := hear(agent, reply{stdout: got}); h.kind != Deny || !strings.Contains(h.text, "the hook failed. safeshell is gone") || v["cancel"] == (agent == "cline") {
						t.Errorf("%s, %s, %s: %s", sh, agent, name, got)
					}
				} else if got != c.want {
					t.Errorf("%s, %s: %s", sh, name, got)
				}
				if got := pluginCall(text); len(got) != 3 || got[0] != bin || !ours(a, got, bin) {
					t.Errorf("read back %q", got)
				}
			}
		}
	}
	if path, err := exec.LookPath("shellcheck"); err == nil {
		text, _ := pluginText(mustFind(t, "cline"), testBinary, 0, "safeshell is gone")
		cmd := exec.Command(path, "-s", "sh", "-")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s", out)
		}
	}
}

// TestSplitShell: the words are those of a real shell.
func TestSplitShell(t *testing.T) {
	sh := needs(t, "sh")
	for _, s := range []string{
		`a b  c`, `'a b' c`, `"a \"b\" \$x \q" d`, `a\ b`, `'it'\''s'`, `''`, `a'b'"c"d`, "\ta\tb ", `"" x ''`,
	} {
		out, err := exec.Command(sh, "-c", `for w in `+s+`; do printf '%s\0' "$w"; done`).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		got := splitShell(s)
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", s, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %q, want %q", s, got, want)
			}
		}
	}
	for _, s := range []string{"", "a", "a b", "it's", "$x`y`\"\\", "-n", "ü", "a\nb"} {
		out, err := exec.Command(sh, "-c", "printf %s "+shellQuote("x"+s)).Output()
		if err != nil || string(out) != "x"+s {
			t.Errorf("quoting %q gave %q (%v)", s, out, err)
		}
	}
}
