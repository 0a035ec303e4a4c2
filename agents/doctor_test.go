package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test program itself be the hook that Doctor probes: called
// as safeshell hook AGENT it serves with a judge that knows one rule.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "hook" {
		os.Exit(Serve(HookOptions{
			Agent: os.Args[2], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
			Judge: func(_ context.Context, c Call) (Outcome, error) {
				if home := os.Getenv("SAFESHELL_HOME"); os.Getenv("TEST_JUDGE") == "broken" || home != "" && os.Getenv("TEST_JUDGE") != "blind" {
					return Outcome{}, fmt.Errorf("the rules file is unreadable")
				}
				for _, l := range c.Lines {
					if l == probeCommand && os.Getenv("TEST_JUDGE") != "allow" {
						return Outcome{Kind: Deny, Message: "[SafeShell] BLOCKED\nReason: deletes everything\nRule: rm-root"}, nil
					}
				}
				return Outcome{}, nil
			},
		}))
	}
	syscall.Umask(0o022) // modes are compared
	os.Exit(m.Run())
}

// guarded is an environment in which the test program is safeshell.
func guarded(t *testing.T) Env {
	t.Helper()
	env := testEnv(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(env.Home, "bin", "safeshell")
	if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, bin); err != nil {
		t.Fatal(err)
	}
	env.Binary = bin
	env.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + env.Home} }
	return env
}

// agentProgram puts a program into the PATH of env.
func agentProgram(t *testing.T, env *Env, name, script string) {
	t.Helper()
	path := filepath.Join(env.Home, "bin", name)
	write(t, path, "#!/bin/sh\n"+script)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	before := env.LookPath
	env.LookPath = func(n string) (string, error) {
		if n == name {
			return path, nil
		}
		return before(n)
	}
}

func texts(fs []Finding, l Level) []string {
	var out []string
	for _, f := range fs {
		if f.Level == l {
			out = append(out, f.Text)
		}
	}
	return out
}

func has(fs []Finding, l Level, part string) bool {
	for _, t := range texts(fs, l) {
		if strings.Contains(t, part) {
			return true
		}
	}
	return false
}

// TestDoctorAfterInstall: what Install writes is found sound, and its live
// probe is denied, for the user and for a project.
func TestDoctorAfterInstall(t *testing.T) {
	needs(t, "bash")
	for _, a := range hooked() {
		if a.Hook == Manual {
			continue
		}
		for _, project := range []bool{false, true} {
			if project && a.ProjectFile == "" {
				continue
			}
			env := guarded(t)
			o := InstallOptions{Binary: env.Binary, Project: project, TrustCodex: true}
			file := a.UserFile
			if project {
				file = a.ProjectFile
			}
			if strings.Contains(file, "*") {
				p, _ := env.path(a, file)
				write(t, strings.Replace(p, "*", "one", 1), "{}")
			}
			if _, err := Install(env, a, o); err != nil {
				t.Fatal(err)
			}
			if project && a.Name == "gemini" {
				write(t, filepath.Join(env.Home, ".gemini/trustedFolders.json"), `{"`+env.ProjectDir+`":"TRUST_FOLDER"}`)
			}
			before := tree(t, filepath.Dir(env.Home))
			got := Doctor(env, a)
			if bad := texts(got, Fail); len(bad) > 0 {
				t.Errorf("%s, project %v: %q", a.Name, project, bad)
			}
			if warn := texts(got, Warn); len(warn) > 0 && !(a.Name == "copilot" && project) {
				t.Errorf("%s, project %v: %q", a.Name, project, warn)
			}
			if sound, why := Guard(env, a, project); !sound {
				t.Errorf("%s, project %v: not guarded: %+v", a.Name, project, why)
			}
			if !has(got, OK, "denies \"rm -rf /\" as it must, lets \"echo ok\" pass, and stops all while no rules can be read") {
				t.Errorf("%s: not probed: %+v", a.Name, got)
			}
			sameTree(t, a.Name+": Doctor", before, tree(t, filepath.Dir(env.Home)), "")
		}
	}
}

// TestProbeEvents: each probe is an event that Serve takes for the command.
func TestProbeEvents(t *testing.T) {
	for _, a := range hooked() {
		for _, event := range append(a.Events, "") {
			got := serveCase(t, a.Name, probeEvent(a, event, "/some dir", probeCommand), nil, func(Call) (Outcome, error) { return Outcome{}, nil })
			if got.call == nil || len(got.call.Lines) != 1 || got.call.Lines[0] != probeCommand || got.call.Agent != a.Name || got.call.Dir != "/some dir" {
				t.Errorf("%s, %s: %+v", a.Name, event, got.call)
			}
		}
	}
}

// TestDoctorFinds: each way of being off is found and named.
func TestDoctorFinds(t *testing.T) {
	needs(t, "bash")
	type c struct {
		name, agent string
		spoil       func(t *testing.T, env *Env, path string)
		level       Level
		want        string
		fix         string
	}
	replace := func(old, new string) func(*testing.T, *Env, string) {
		return func(t *testing.T, _ *Env, path string) {
			text := read(t, path)
			if !strings.Contains(text, old) {
				t.Fatalf("%q is not in %s", old, text)
			}
			write(t, path, strings.Replace(text, old, new, -1))
		}
	}
	at := func(file, text string) func(*testing.T, *Env, string) {
		return func(t *testing.T, env *Env, _ string) {
			dir := env.Home
			if strings.HasPrefix(file, "project/") {
				dir = filepath.Dir(env.ProjectDir)
			}
			if strings.HasPrefix(file, "/") {
				dir = env.Root
			}
			write(t, filepath.Join(dir, file), strings.ReplaceAll(text, "PROJECT", env.ProjectDir))
		}
	}
	setenv := func(name, value string) func(*testing.T, *Env, string) {
		return func(t *testing.T, env *Env, _ string) {
			env.Getenv = func(k string) string {
				if k == name {
					return value
				}
				return ""
			}
		}
	}
	for _, c := range []c{
		{"no hook", "claude-code", func(t *testing.T, env *Env, path string) { os.Remove(path) }, Fail, "has no safeshell hook", "safeshell agents install claude-code"},
		{"broken file", "claude-code", at(".claude/settings.json", "{"), Fail, "settings.json:1:1: this { is never closed", ""},
		{"comment in a strict file", "claude-code", replace("{\n", "{ // x\n"), Fail, "a comment, which is not allowed here", ""},
		{"not fail-closed", "claude-code", replace(`"onFailure": "block",`, ""), Fail, `lacks "onFailure": "block"`, "safeshell agents install claude-code"},
		{"not fail-closed", "cursor", replace(`"failClosed": true`, `"failClosed": false`), Fail, `lacks "failClosed": true`, "safeshell agents install cursor"},
		{"not fail-closed", "goose", replace(`"on_failure": "block"`, `"x": 1`), Fail, `lacks "on_failure": "block"`, ""},
		{"matcher", "claude-code", replace(`"Bash|PowerShell`, `"PowerShell`), Fail, "does not match the shell tool Bash", ""},
		{"broken matcher", "copilot", replace(`"bash|`, `"bash(|`), Fail, "is not a regular expression", ""},
		{"short limit", "claude-code", replace(`"timeout": 330`, `"timeout": 10`), Fail, "ends the hook after 10s, but the hook counts on 5m30s", ""},
		{"limit in seconds", "gemini", replace("330000", "330"), Fail, "ends the hook after 330ms", ""},
		{"no limit", "gemini", replace(",\n            \"timeout\": 330000", ""), Fail, "ends the hook after 1m0s", ""},
		{"person needs longer", "claude-code", func(t *testing.T, env *Env, _ string) { env.Approval = 20 * time.Minute }, Warn, "a person has 5m0s to answer, not 20m0s", "safeshell agents install claude-code --timeout 1320"},
		{"fixed limit", "cline", func(*testing.T, *Env, string) {}, OK, "a person has 1m48s to answer under Cline CLI, not 5m0s", ""},
		{"another hook first", "claude-code", replace("\"PreToolUse\": [\n", "\"PreToolUse\": [\n {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]},\n"), Warn, "another hook stands before", ""},
		{"relative program", "gemini", replace("command\": \"", "command\": \"cd / && "), Fail, "has no safeshell hook", ""},
		{"missing program", "codex", func(t *testing.T, env *Env, _ string) { os.Remove(env.Binary) }, Fail, "cannot be run", ""},
		{"other program", "codex", func(t *testing.T, env *Env, _ string) {
			env.Binary = filepath.Join(env.Home, "bin", "safeshell2")
			write(t, env.Binary, "")
		}, Warn, "and this is", "safeshell agents install codex"},
		{"async", "codex", replace(`"type": "command",`, `"type": "command", "async": true,`), Fail, "runs in the background", ""},
		{"not trusted", "codex", func(t *testing.T, env *Env, _ string) { os.Remove(filepath.Join(env.Home, ".codex/config.toml")) }, Fail, "has not been told to trust", "safeshell agents install codex --trust-codex"},
		{"trust is stale", "codex", replace(`"statusMessage": "safeshell"`, `"statusMessage": "x"`), Fail, "has changed since Codex was told to trust it", ""},
		{"moved", "codex", replace("\"PreToolUse\": [\n", "\"PreToolUse\": [\n {\"hooks\": []},\n"), Fail, "has not been told to trust", ""},
		{"features off", "codex", at(".codex/config.toml", "[features]\nhooks = false\n"), Fail, "config.toml:2 sets features.hooks = false", ""},
		{"managed only", "codex", at("/etc/codex/requirements.toml", "allow_managed_hooks_only = true\n"), Fail, "allow_managed_hooks_only = true", ""},
		{"disableAllHooks, user", "claude-code", replace("{\n", "{\n\"disableAllHooks\": true,\n"), Fail, "sets disableAllHooks", ""},
		{"disableAllHooks, project", "claude-code", at("project/.claude/settings.json", `{"disableAllHooks": true}`), Fail, "sets disableAllHooks", ""},
		{"managed only", "claude-code", at("/etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`), Fail, "allowManagedHooksOnly", ""},
		{"simple", "claude-code", setenv("CLAUDE_CODE_SIMPLE", "1"), Fail, "CLAUDE_CODE_SIMPLE is set", "unset CLAUDE_CODE_SIMPLE"},
		{"disableAllHooks", "copilot", at(".copilot/settings.json", `{"disableAllHooks": true}`), Fail, "sets disableAllHooks", ""},
		{"hooks off", "gemini", replace("{\n", "{\n\"hooksConfig\": {\"enabled\": false},\n"), Fail, "sets hooksConfig.enabled to false", ""},
		{"hook off", "gemini", replace("{\n", "{\n\"hooksConfig\": {\"disabled\": [\"safeshell\"]},\n"), Fail, "lists safeshell in hooksConfig.disabled", ""},
		{"disableAllHooks", "qwen", replace("{\n", "{\n\"disableAllHooks\": true,\n"), Fail, "sets disableAllHooks", ""},
		{"hooks off, system", "gemini", at("/etc/gemini-cli/settings.json", `{"hooksConfig": {"enabled": false}}`), Fail, "sets hooksConfig.enabled to false", ""},
		{"hooks off, project", "gemini", at("project/.gemini/settings.json", `{"hooks": {"disabled": ["safeshell"]}}`), Fail, "lists safeshell in hooks.disabled", ""},
		{"disableAllHooks, project", "qwen", at("project/.qwen/settings.json", `{"disableAllHooks": true}`), Fail, "sets disableAllHooks", ""},
		{"managed part", "claude-code", at("/etc/claude-code/managed-settings.d/x.json", `{"disableAllHooks": true}`), Fail, "sets disableAllHooks", ""},
		{"features off, project", "codex", at("project/.codex/config.toml", "[features]\nhooks = false\n"), Fail, "sets features.hooks = false", ""},
		{"pure", "opencode", setenv("OPENCODE_PURE", "1"), Fail, "loads no plugins", "unset OPENCODE_PURE"},
		{"hooks off", "vscode", at(".config/Code/User/settings.json", "{\n// mine\n\"chat.useHooks\": false,\n}"), Fail, "sets chat.useHooks to false", ""},
		{"disabled", "kiro", replace(`"enabled": true`, `"enabled": false`), Fail, `has "enabled": false`, ""},
		{"hooks off", "droid", at(".factory/settings.json", `{"hooksDisabled": true}`), Fail, "sets hooksDisabled", ""},
		{"one event", "cursor", replace("preToolUse", "postToolUse"), Warn, "the event preToolUse has no hook", ""},
		{"edited plugin", "pi", replace("if (!mayAct", "return; if (!mayAct"), Warn, "differs from what this version would write", "safeshell agents install pi"},
		{"not executable", "cline", func(t *testing.T, _ *Env, path string) { os.Chmod(path, 0o644) }, Fail, "is not executable", "safeshell agents install cline"},
		{"rules broken", "claude-code", func(t *testing.T, env *Env, _ string) {
			before := env.Environ
			env.Environ = func() []string { return append(before(), "TEST_JUDGE=broken") }
		}, Fail, "refuses everything", "safeshell doctor"},
		{"open without rules", "claude-code", func(t *testing.T, env *Env, _ string) {
			before := env.Environ
			env.Environ = func() []string { return append(before(), "TEST_JUDGE=blind") }
		}, Fail, `lets "echo ok" run while no rules can be read`, ""},
		{"rules allow", "claude-code", func(t *testing.T, env *Env, _ string) {
			before := env.Environ
			env.Environ = func() []string { return append(before(), "TEST_JUDGE=allow") }
		}, Fail, `lets "rm -rf /" run`, ""},
		{"noise on stdout", "gemini", replace("command\": \"", "command\": \"/usr/bin/printf noise; "), Fail, "has no safeshell hook", ""},
		{"old version", "claude-code", func(t *testing.T, env *Env, _ string) {
			agentProgram(t, env, "claude", "echo '2.1.211 (Claude Code)'\n")
		}, Fail, "2.1.211 is too old: from 2.1.295", ""},
		{"good version", "claude-code", func(t *testing.T, env *Env, _ string) {
			agentProgram(t, env, "claude", "[ -t 0 ] || read x; echo '2.1.400 (Claude Code)'\n")
		}, OK, "Claude Code 2.1.400", ""},
		{"no version", "gemini", func(t *testing.T, env *Env, _ string) { agentProgram(t, env, "gemini", "exit 1\n") }, Warn, "does not tell its version", ""},
		{"twice", "claude-code", func(t *testing.T, env *Env, _ string) {
			if _, err := Install(*env, mustFind(t, "claude-code"), InstallOptions{Binary: env.Binary, Project: true}); err != nil {
				t.Fatal(err)
			}
		}, Warn, "each command is judged twice", "safeshell agents uninstall claude-code --project"},
	} {
		t.Run(c.agent+"/"+c.name, func(t *testing.T) {
			env, a := guarded(t), mustFind(t, c.agent)
			if err := os.MkdirAll(filepath.Join(env.Home, strings.TrimPrefix(a.Dirs[0], "~/")), 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := Install(env, a, InstallOptions{Binary: env.Binary, TrustCodex: true}); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, &env, configPath(t, env, a))
			got := Doctor(env, a)
			found := false
			for _, f := range got {
				if f.Level == c.level && strings.Contains(f.Text, c.want) {
					found = true
					if c.fix != "" && f.Fix != c.fix {
						t.Errorf("fix %q, want %q", f.Fix, c.fix)
					}
				}
				if strings.Contains(f.Text, "\n") {
					t.Errorf("more than one line: %q", f.Text)
				}
			}
			if !found {
				t.Errorf("no %s %q in %+v", c.level, c.want, got)
			}
			// What only a process tells is for Doctor alone.
			live := strings.HasPrefix(c.name, "rules ") || c.name == "open without rules" || c.name == "old version"
			sound, why := Guard(env, a, false)
			if bad := c.level == Fail && !live; sound == bad {
				t.Errorf("guarded: %v, %+v", sound, why)
			} else if bad && why.Text == "" && !strings.Contains(c.want, "has no safeshell hook") {
				t.Error("not guarded, and it does not say why")
			}
		})
	}
}

func TestDoctorElsewhere(t *testing.T) {
	env := testEnv(t)
	if got := Doctor(env, mustFind(t, "codex")); len(got) != 1 || got[0].Level != OK || !strings.Contains(got[0].Text, "is not on this machine") {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"aider", "zed", "antigravity"} {
		got := Doctor(env, mustFind(t, name))
		if len(got) == 0 || got[len(got)-1].Level != Warn || !strings.Contains(got[len(got)-1].Text, "docs/agents/"+name+".md") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := Probe(env, mustFind(t, "codex")); len(got) != 1 || got[0].Level != Fail {
		t.Errorf("%+v", got)
	}
	if got := Doctor(Env{}, mustFind(t, "codex")); len(got) == 0 {
		t.Error("an empty environment")
	}
	env = testEnv(t)
	if err := os.MkdirAll(filepath.Join(env.Home, ".kiro/agents"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Doctor(env, mustFind(t, "kiro-cli")); !has(got, Warn, "make an agent there") {
		t.Errorf("%+v", got)
	}
}

// In the home directory the project's file is the user's: one hook, not two.
func TestDoctorAtHome(t *testing.T) {
	for _, name := range []string{"codex", "cursor", "gemini"} {
		env := guarded(t)
		env.ProjectDir = env.Home
		a := mustFind(t, name)
		if _, err := Install(env, a, InstallOptions{Binary: env.Binary, TimeoutSeconds: 330}); err != nil {
			t.Fatal(err)
		}
		for _, f := range Doctor(env, a) {
			if strings.Contains(f.Text, "judged twice") || strings.Contains(f.Text, "runs a project's hooks") {
				t.Errorf("%s: %s", name, f.Text)
			}
		}
	}
}

// TestRunLimited: a program that hangs, or leaves a child that holds its
// output, does not hold us.
func TestRunLimited(t *testing.T) {
	sh := needs(t, "sh")
	env := testEnv(t)
	env.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH")} }
	if _, err := env.runLimited([]string{sh, "-c", "sleep 60"}, "", "", 50*time.Millisecond); err != errTooSlow {
		t.Errorf("got %v", err)
	}
	r, err := env.runLimited([]string{sh, "-c", "sleep 60 & echo x"}, "", "", time.Minute)
	if err != nil || r.stdout != "x\n" || r.code != 0 {
		t.Errorf("%+v %v", r, err)
	}
	r, err = env.runLimited([]string{sh, "-c", "kill -9 $$"}, "", "", time.Minute)
	if err != nil || r.code == 0 || r.code == 2 {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := env.runLimited([]string{"/nonexistent"}, "", "", time.Minute); err == nil {
		t.Error("a missing program ran")
	}
	r, err = env.runLimited([]string{sh, "-c", "head -c 3000000 /dev/zero; cat >&2; exit 7"}, "/", "in", time.Minute)
	if err != nil || len(r.stdout) != 1<<20 || r.stderr != "in" || r.code != 7 {
		t.Errorf("%d %q %d %v", len(r.stdout), r.stderr, r.code, err)
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"2.1.329 (Claude Code)": "2.1.329", "codex-cli 0.169.0": "0.169.0", "v1.2\n": "1.2", "none": "", "12": "",
		"1.0.102-beta.3": "1.0.102", "Node 20, 3.4.": "3.4",
	} {
		if got := version(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"2.1.294", "2.1.295", true}, {"2.1.295", "2.1.295", false}, {"2.10", "2.9.9", false}, {"2.1", "2.1.1", true}, {"3", "2.9", false}} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("older(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
