package clienttest

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// An other is one of the agents that speak OpenAI's or Google's API, and how it
// is made to play a script of the fake model without a person.
type other struct {
	agent, bin string
	file       string // below the home, where install writes
	setup      func(w *World)
	argv       func(prompt string) []string
	shell      func(cmd string) Turn
	read       func(path string) Turn
	write      func(path string) Turn
	rewrites   bool // rm goes to the trash, the shims being in PATH; else it is refused
	// closed: with safeshell gone the command does not run.
	closed bool
	// aborts: a hook that fails ends the run, and nothing is reported.
	aborts bool
}

var clients = []other{
	{
		agent: "gemini", bin: "gemini", file: ".gemini/settings.json", rewrites: true, closed: true,
		setup: func(w *World) {
			w.Env["GEMINI_API_KEY"], w.Env["GOOGLE_GEMINI_BASE_URL"] = "none", w.Model.URL
			w.Env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
			w.Write(w.Home+"/.gemini/settings.json", "{\n  // mine\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n  \"telemetry\": {\"enabled\": false}\n}\n")
		},
		argv: func(p string) []string { return []string{"gemini", "-m", "gemini-2.5-pro", "--yolo", "-p", p} },
		shell: func(cmd string) Turn {
			return Do("run_shell_command", map[string]any{"command": cmd, "description": "d"})
		},
		read: func(p string) Turn { return Do("read_file", map[string]any{"file_path": p}) },
		write: func(p string) Turn {
			return Do("write_file", map[string]any{"file_path": p, "content": "rules: []\n"})
		},
	},
	{
		agent: "opencode", bin: "opencode", file: ".config/opencode/plugin/safeshell.js", rewrites: true, closed: true,
		setup: func(w *World) { opencodeSetup(w, "OPENCODE_CONFIG_CONTENT") },
		argv:  func(p string) []string { return []string{"opencode", "run", "-m", "fake/fake", p} },
		shell: func(cmd string) Turn { return Do("bash", map[string]any{"command": cmd, "description": "d"}) },
		read:  func(p string) Turn { return Do("read", map[string]any{"filePath": p}) },
		write: func(p string) Turn {
			return Do("write", map[string]any{"filePath": p, "content": "rules: []\n"})
		},
	},
	{
		agent: "kilo", bin: "kilo", file: ".config/kilo/plugin/safeshell.js", rewrites: true, closed: true,
		setup: func(w *World) { opencodeSetup(w, "KILO_CONFIG_CONTENT") },
		argv:  func(p string) []string { return []string{"kilo", "run", "--auto", "-m", "fake/fake", p} },
		shell: func(cmd string) Turn { return Do("bash", map[string]any{"command": cmd, "description": "d"}) },
		read:  func(p string) Turn { return Do("read", map[string]any{"filePath": p}) },
		write: func(p string) Turn {
			return Do("write", map[string]any{"filePath": p, "content": "rules: []\n"})
		},
	},
	{
		agent: "qwen", bin: "qwen", file: ".qwen/settings.json", rewrites: true, closed: true,
		setup: func(w *World) {
			w.Env["OPENAI_BASE_URL"], w.Env["OPENAI_API_KEY"], w.Env["OPENAI_MODEL"] = w.Model.URL+"/v1", "none", "fake"
			w.Write(w.Home+"/.qwen/settings.json", "{\n  // mine\n  \"telemetry\": {\"enabled\": false}\n}\n")
		},
		argv: func(p string) []string { return []string{"qwen", "--auth-type", "openai", "--yolo", "-p", p} },
		shell: func(cmd string) Turn {
			return Do("run_shell_command", map[string]any{"command": cmd, "description": "d", "is_background": false})
		},
		read: func(p string) Turn { return Do("read_file", map[string]any{"file_path": p}) },
		write: func(p string) Turn {
			return Do("write_file", map[string]any{"file_path": p, "content": "rules: []\n"})
		},
	},
	{
		agent: "copilot", bin: "copilot", file: ".copilot/hooks/safeshell.json", rewrites: true, closed: true,
		setup: func(w *World) {
			for k, v := range map[string]string{
				"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": w.Model.URL + "/v1", "COPILOT_PROVIDER_TYPE": "openai",
				"COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "fake",
			} {
				w.Env[k] = v
			}
		},
		argv:  func(p string) []string { return []string{"copilot", "--allow-all-tools", "-p", p} },
		shell: func(cmd string) Turn { return Do("bash", map[string]any{"command": cmd, "description": "d"}) },
		read:  func(p string) Turn { return Do("view", map[string]any{"path": p}) },
		write: func(p string) Turn { return Do("create", map[string]any{"path": p, "file_text": "rules: []\n"}) },
	},
	{
		agent: "cline", bin: "cline", file: ".cline/hooks/PreToolUse", rewrites: true, closed: true,
		setup: func(w *World) {
			w.must(w.Repo, "cline", "auth", "-p", "openai", "-k", "none", "-m", "fake", "-b", w.Model.URL+"/v1")
		},
		argv:  func(p string) []string { return []string{"cline", "--auto-approve", "true", p} },
		shell: func(cmd string) Turn { return Do("run_commands", map[string]any{"commands": []string{cmd}}) },
		read: func(p string) Turn {
			return Do("read_files", map[string]any{"files": []map[string]any{{"path": p}}})
		},
		write: func(p string) Turn {
			return Do("editor", map[string]any{"path": p, "new_text": "rules: []\n"})
		},
	},
	{
		agent: "pi", bin: "pi", file: ".pi/agent/extensions/safeshell.ts", rewrites: true, closed: true,
		setup: func(w *World) {
			w.Write(w.Home+"/.pi/agent/models.json", `{"providers":{"fake":{"baseUrl":"`+w.Model.URL+`/v1","api":"openai-completions","apiKey":"none","models":[{"id":"fake","name":"fake","reasoning":false,"input":["text"],"contextWindow":100000,"maxTokens":1000,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`)
			w.Env["PI_OFFLINE"] = "1"
		},
		argv:  func(p string) []string { return []string{"pi", "--provider", "fake", "--model", "fake", "-p", p} },
		shell: func(cmd string) Turn { return Do("bash", map[string]any{"command": cmd}) },
		read:  func(p string) Turn { return Do("read", map[string]any{"path": p}) },
		write: func(p string) Turn {
			return Do("write", map[string]any{"path": p, "content": "rules: []\n"})
		},
	},
	{
		agent: "crush", bin: "crush", file: ".config/crush/crush.json", rewrites: true,
		setup: func(w *World) {
			w.Write(w.Home+"/.config/crush/crush.json", `{"options":{"disable_metrics":true,"disable_provider_auto_update":true},"providers":{"fake":{"type":"openai-compat","base_url":"`+w.Model.URL+`/v1","api_key":"none","models":[{"id":"fake","name":"fake","context_window":100000,"default_max_tokens":1000}]}},"models":{"large":{"model":"fake","provider":"fake"},"small":{"model":"fake","provider":"fake"}}}`+"\n")
		},
		argv:  func(p string) []string { return []string{"crush", "run", "-q", p} },
		shell: func(cmd string) Turn { return Do("bash", map[string]any{"command": cmd, "description": "d"}) },
		read:  func(p string) Turn { return Do("view", map[string]any{"file_path": p}) },
		write: func(p string) Turn {
			return Do("write", map[string]any{"file_path": p, "content": "rules: []\n"})
		},
	},
}

// opencodeSetup names the fake model in a configuration given by a variable.
func opencodeSetup(w *World, variable string) {
	w.Env[variable] = `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + w.Model.URL +
		`/v1","apiKey":"none"},"models":{"fake":{"name":"fake","tool_call":true}}}},"model":"fake/fake","small_model":"fake/fake","autoupdate":false,"share":"disabled","permission":{"*":"allow"}}`
	w.Env["npm_config_fetch_retries"] = "0"
	w.Env["OPENCODE_DISABLE_AUTOUPDATE"] = "1"
	w.Env["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
}

// play runs a script headless and returns what came of its calls.
func (c other) play(w *World, name string, turns ...Turn) []Result {
	w.T.Helper()
	w.Model.Script(name, turns...)
	out := w.Run(w.Repo, c.argv("[play "+name+"]")...)
	res := w.Model.Results(name)
	calls := 0
	for _, t := range turns {
		calls += len(t.Calls)
	}
	for i := range res {
		// Cline reports JSON inside its text.
		res[i].Text = strings.ReplaceAll(res[i].Text, `\n`, "\n")
	}
	if len(res) != calls && !(c.aborts && name == "broken") {
		w.T.Fatalf("%d of %d calls were answered: %+v\nrequests %q\nexit %d\n%s%s", len(res), calls, res, w.Model.Requests(), out.Code, out.Stdout, out.Stderr)
	}
	return res
}

// ownBinary gives the world a safeshell that may be taken away.
func ownBinary(w *World) {
	data, err := os.ReadFile(w.Bin)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Bin = filepath.Join(w.Root, "opt", "safeshell")
	w.Write(w.Bin, string(data))
	if err := os.Chmod(w.Bin, 0o755); err != nil {
		w.T.Fatal(err)
	}
	w.must(w.Root, w.Bin, "refresh")
}

// listen lets the installed hook go through a script that keeps each event in
// the file events, until deaf. file is the one that install has written.
func listen(w *World, file string) (events string, deaf func()) {
	events = filepath.Join(w.Root, "events")
	ear := filepath.Join(w.Root, "ear", "safeshell")
	w.Write(ear, fmt.Sprintf("#!/bin/bash\nevent=$(/bin/cat); printf '%%s\\n' \"$event\" >> %q\nprintf '%%s' \"$event\" | %q \"$@\"\n", events, w.Bin))
	if err := os.Chmod(ear, 0o755); err != nil {
		w.T.Fatal(err)
	}
	was := w.Read(file)
	swap := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil { // keeps its mode
			w.T.Fatal(err)
		}
	}
	swap(strings.NewReplacer(w.Bin, ear, filepath.Join(w.Home, ".safeshell", "bin", "safeshell"), ear).Replace(was))
	return events, func() { swap(was) }
}

// ours is what install writes: the file, and every other in the home that
// speaks of safeshell. A client writes files of its own whenever it is asked for
// its version.
func ours(t *testing.T, w *World, file string) string {
	t.Helper()
	all := []string{"the file:\n" + w.Read(filepath.Join(w.Home, file))}
	err := filepath.WalkDir(w.Home, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".safeshell" || d.Name() == "node_modules") {
			return filepath.SkipDir // the journal grows
		}
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if data := w.Read(p); strings.Contains(p+data, "safeshell") {
			all = append(all, p+"\n"+data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(all)
	return strings.Join(all, "\n")
}

// TestClients tries each client that is installed.
func TestClients(t *testing.T) {
	for _, c := range clients {
		t.Run(c.agent, func(t *testing.T) { c.test(t) })
	}
}

func (c other) test(t *testing.T) {
	w := New(t, c.bin)
	ownBinary(w)
	c.setup(w)
	before := ours(t, w, c.file)
	t.Log(w.Safeshell("agents", "install", c.agent))
	installed := ours(t, w, c.file)
	w.Safeshell("agents", "install", c.agent)
	if ours(t, w, c.file) != installed {
		t.Error("a second install changed something")
	}
	doctor := w.Run(w.Repo, w.Bin, "agents", "doctor", c.agent)
	t.Logf("doctor: exit %d\n%s%s", doctor.Code, doctor.Stdout, doctor.Stderr)
	w.Safeshell("agents", "uninstall", c.agent)
	if after := ours(t, w, c.file); after != before {
		t.Errorf("uninstall left a difference:\n%s\nwas\n%s", after, before)
	}
	w.Safeshell("agents", "install", c.agent)

	events, deaf := listen(w, filepath.Join(w.Home, c.file))
	c.verdicts(t, w)
	deaf()
	c.approvals(t, w)
	c.broken(t, w)
	t.Logf("events:\n%s", strings.NewReplacer(w.Root, "@ROOT@").Replace(w.Read(events)))
}

func (c other) verdicts(t *testing.T, w *World) {
	w.Write(w.Repo+"/build/out", "x\n")
	w.Write(w.Repo+"/deploy/id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\n")
	res := c.play(w, "verdicts",
		c.shell("echo hello; ls"),
		c.shell("git commit --allow-empty -m x"),
		c.shell("cat ~/.ssh/id_rsa"),
		c.shell("rm -rf build && ls && sleep 0.3"), // Qwen loses what a short command prints
		c.shell("git push --force"),
		// Both inside the repository: outside, Gemini refuses by itself.
		c.write(w.Repo+"/.safeshell/rules.yaml"),
		c.read(w.Repo+"/deploy/id_rsa"),
		c.shell("env; tr '\\0' '\\n' < /proc/$$/cmdline | head -20; type rm"),
	)
	for _, r := range res {
		t.Logf("%v %v\n%s\n", r.IsError, r.Call, r.Text)
	}
	for i, want := range []string{
		"hello",
		"[SafeShell] BLOCKED\nReason: ",
		"[SafeShell] BLOCKED\nReason: ",
		map[bool]string{true: "README", false: "Run this instead:\n"}[c.rewrites],
		"[SafeShell] NO MONITOR\nReason: ",
		"[SafeShell] ",
		"[SafeShell] ",
		"",
	} {
		if !strings.Contains(res[i].Text, want) {
			t.Errorf("%v: %q lacks %q", res[i].Call, res[i].Text, want)
		}
		text := strings.ReplaceAll(res[i].Text, "\n", " ") // a path that says it, in Cline
		if i != 0 && i != 3 && i != 7 && (!strings.Contains(text, " Rule: ") || !strings.Contains(text, " Do not attempt to work around this restriction.")) {
			t.Errorf("%v: the message is not whole: %q", res[i].Call, res[i].Text)
		}
	}
	if out := w.Run(w.Repo, "git", "log", "--oneline"); strings.Count(out.Stdout, "\n") != 1 {
		t.Errorf("a refused commit was made:\n%s", out.Stdout)
	}
	if w.Exists(w.Repo + "/.safeshell/rules.yaml") {
		t.Error("the refused file was written")
	}
	if c.rewrites == w.Exists(w.Repo+"/build") {
		t.Errorf("build is there: %t", !c.rewrites)
	}
	if c.rewrites {
		if list := w.Safeshell("trash", "list"); !strings.Contains(list, "build") {
			t.Errorf("build is not in the trash: %s", list)
		}
	}
}

func (c other) approvals(t *testing.T, w *World) {
	asked := w.Questions()
	mon := w.Watch("1")
	res := c.play(w, "granted", c.shell("git push --force"))
	if !strings.Contains(res[0].Text, "push destination") && !strings.Contains(res[0].Text, "fatal: ") {
		t.Errorf("granted, yet: %q", res[0].Text)
	}
	if n := w.Questions() - asked; n != 1 {
		t.Errorf("%d questions for one command\n%s", n, mon.Screen())
	}
	mon.Stop()
	mon = w.Watch("4 not today")
	res = c.play(w, "denied", c.shell("git push --force"))
	mon.Stop()
	if !strings.Contains(res[0].Text, "[SafeShell] USER DENIED\n") || !strings.Contains(res[0].Text, "not today") {
		t.Errorf("denied, yet: %q", res[0].Text)
	}
}

// broken takes safeshell away.
func (c other) broken(t *testing.T, w *World) {
	if err := os.Rename(w.Bin, w.Bin+".gone"); err != nil {
		t.Fatal(err)
	}
	w.Env["PATH"] = strings.TrimPrefix(w.Env["PATH"], filepath.Join(w.Home, ".safeshell", "shims")+":")
	res := c.play(w, "broken", c.shell("echo made > made"))
	if ran := w.Exists(w.Repo + "/made"); ran == c.closed {
		t.Errorf("with safeshell gone the command ran: %t; %+v", ran, res)
	}
	t.Logf("broken: %+v", res)
	if doctor := w.Run(w.Repo, w.Bin+".gone", "agents", "doctor", c.agent); doctor.Code == 0 {
		t.Errorf("the doctor sees nothing:\n%s%s", doctor.Stdout, doctor.Stderr)
	}
	if err := os.Rename(w.Bin+".gone", w.Bin); err != nil {
		t.Fatal(err)
	}
}
