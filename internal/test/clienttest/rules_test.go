package clienttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An ownRule is a rule in a client's own configuration about cmd, which removes
// build.
type ownRule struct {
	name  string
	deny  bool
	setup func(w *World)
	args  []string // before the prompt; nil: as everywhere
	cmd   string   // empty: rm -rf build
}

// ownRules are those of each client, in all places where it reads them.
var ownRules = map[string][]ownRule{
	"claude-code": {
		{"--disallowedTools", true, nil, []string{"--dangerously-skip-permissions", "--disallowedTools", "Bash(rm:*)"}, ""},
		{"deny, the user's", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(rm:*)"]`), nil, ""},
		{"deny, the project's", true, claudeRule(".claude/settings.json", `"deny": ["Bash(rm *)"]`), nil, ""},
		{"deny, local", true, claudeRule(".claude/settings.local.json", `"deny": ["Bash(rm -rf:*)"]`), nil, ""},
		{"ask, nobody there", true, claudeRule("~/.claude/settings.json", `"ask": ["Bash(rm:*)"]`), nil, ""},
		{"--allowedTools", false, nil, []string{"--allowedTools", "Bash(rm:*)"}, ""},
		{"allow, the user's", false, claudeRule("~/.claude/settings.json", `"allow": ["Bash(rm:*)"]`), []string{"--permission-mode", "default"}, ""},
		{"allow all", false, nil, []string{"--allowedTools", "Bash"}, ""},
		{"deny, a chain", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(rm:*)"]`), nil, "cd . && rm -rf build"},
		{"deny, exact", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(rm -rf build)"]`), nil, ""},
		{"deny, a pattern", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(*-rf *)"]`), nil, ""},
		{"deny, a path", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(/bin/rm:*)"]`), nil, "/bin/rm -rf build"},
		{"deny, command -p", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(command -p rm:*)"]`), nil, "command -p rm -rf build"},
		{"deny, sudo rm", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(sudo rm:*)"]`), nil, "sudo rm -rf build"},
		{"deny rm, sudo", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(rm:*)"]`), nil, "sudo rm -rf build"},
		{"deny, env rm", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(env rm:*)"]`), nil, "env rm -rf build"},
		{"deny, find", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(find:*)"]`), nil, "find . -name build -exec /bin/rm -rf {} +"},
		{"ask, sudo rm", true, claudeRule("~/.claude/settings.json", `"ask": ["Bash(sudo rm:*)"]`), nil, "sudo rm -rf build"},
		{"deny, acceptEdits", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(rm:*)"]`), []string{"--permission-mode", "acceptEdits"}, ""},
		{"acceptEdits", false, nil, []string{"--permission-mode", "acceptEdits"}, ""},
		{"allow, exact", false, claudeRule("~/.claude/settings.json", `"allow": ["Bash(rm -rf build)"]`), []string{"--permission-mode", "default"}, ""},
		{"allow, sudo", false, claudeRule("~/.claude/settings.json", `"allow": ["Bash(sudo rm:*)"]`), []string{"--permission-mode", "default"}, "sudo rm -rf build"},
		{"deny, a redirect of one's own", true, claudeRule("~/.claude/settings.json", `"deny": ["Bash(zap:*)"]`), nil, "zap build"},
	},
	"copilot": {
		{"--deny-tool", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(rm)"}, ""},
		{"--deny-tool with words", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(rm:*)"}, ""},
		{"--allow-tool", false, nil, []string{"--allow-tool", "shell(rm)"}, ""},
		{"--allow-all-tools", false, nil, []string{"--allow-all-tools"}, ""},
		{"deny, a chain", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(rm)"}, "cd . && rm -rf build"},
		{"deny, a path", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(/bin/rm)"}, "/bin/rm -rf build"},
		{"deny, exact", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(rm -rf build)"}, ""},
		{"deny, sudo rm", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(sudo rm:*)"}, "sudo rm -rf build"},
		{"deny, command -p", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(command -p:*)"}, "command -p rm -rf build"},
		{"deny, a redirect of one's own", true, nil, []string{"--allow-all-tools", "--deny-tool", "shell(zap)"}, "zap build"},
		{"allow, sudo", false, nil, []string{"--allow-all-tools"}, "sudo rm -rf build"},
	},
	"opencode": {
		{"deny", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","rm *":"deny"}}`), nil, ""},
		{"ask, nobody there", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","rm *":"ask"}}`), nil, ""},
		{"allow", false, opencodeRule(`{"*":"allow","bash":{"*":"deny","rm *":"allow"}}`), nil, ""},
		{"deny, a chain", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","rm *":"deny"}}`), nil, "cd . && rm -rf build"},
		{"deny, exact", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","rm -rf build":"deny"}}`), nil, ""},
		{"deny, a path", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","/bin/rm *":"deny"}}`), nil, "/bin/rm -rf build"},
		{"deny, sudo rm", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","sudo rm *":"deny"}}`), nil, "sudo rm -rf build"},
		{"deny, command -p", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","command -p rm *":"deny"}}`), nil, "command -p rm -rf build"},
		{"deny, an agent's", true, opencodeAgent(`{"bash":{"*":"allow","sudo rm *":"deny"}}`), nil, "sudo rm -rf build"},
		{"ask, a path", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","/bin/rm *":"ask"}}`), nil, "/bin/rm -rf build"},
		{"deny, a redirect of one's own", true, opencodeRule(`{"*":"allow","bash":{"*":"allow","zap *":"deny"}}`), nil, "zap build"},
	},
	"qwen": {
		{"deny", true, qwenDeny("Bash(rm *)"), nil, ""},
		{"deny, by the tool's name", true, qwenDeny("run_shell_command(rm)"), nil, ""},
		{"deny, sudo rm", true, qwenDeny("Bash(sudo rm *)"), nil, "sudo rm -rf build"},
	},
	"gemini": {
		{"policy deny", true, geminiRule("deny"), nil, ""},
		{"policy allow", false, geminiRule("allow"), []string{}, ""},
		{"policy ask, nobody there", true, geminiRule("ask_user"), []string{}, ""},
		{"policy deny, a chain", true, geminiRule("deny"), nil, "cd . && rm -rf build"},
		{"policy deny, sudo rm", true, geminiPrefix("sudo rm", "deny"), nil, "sudo rm -rf build"},
		{"policy deny, a path", true, geminiPrefix("/bin/rm", "deny"), nil, "/bin/rm -rf build"},
		{"policy deny, command -p", true, geminiPrefix("command -p rm", "deny"), nil, "command -p rm -rf build"},
		{"policy deny, a redirect of one's own", true, geminiPrefix("zap", "deny"), nil, "zap build"},
		{"policy deny, a regular expression", true, geminiRegexp(`/bin/rm.*`), nil, "/bin/rm -rf build"},
	},
}

func claudeRule(file, rule string) func(w *World) {
	return func(w *World) {
		file := strings.Replace(file, "~", w.Home, 1)
		if file[0] != '/' {
			file = w.Repo + "/" + file
		}
		w.Write(file, `{"permissions": {`+rule+`}}`)
	}
}

func opencodeRule(permission string) func(w *World) {
	return func(w *World) {
		w.Env["OPENCODE_CONFIG_CONTENT"] = strings.Replace(w.Env["OPENCODE_CONFIG_CONTENT"], `"permission":{"*":"allow"}`, `"permission":`+permission, 1)
	}
}

func opencodeAgent(permission string) func(w *World) {
	return func(w *World) {
		w.Env["OPENCODE_CONFIG_CONTENT"] = strings.TrimSuffix(w.Env["OPENCODE_CONFIG_CONTENT"], "}") + `,"agent":{"build":{"permission":` + permission + `}}}`
	}
}

func qwenDeny(rule string) func(w *World) {
	return func(w *World) {
		w.Write(w.Home+"/.qwen/settings.json", `{"permissions": {"deny": ["`+rule+`"]}}`)
	}
}

func geminiRule(decision string) func(w *World) { return geminiPrefix("rm", decision) }

func geminiPrefix(prefix, decision string) func(w *World) {
	return geminiPolicy(`commandPrefix = "`+prefix+`"`, decision)
}

func geminiRegexp(re string) func(w *World) { return geminiPolicy(`commandRegex = "`+re+`"`, "deny") }

func geminiPolicy(which, decision string) func(w *World) {
	return func(w *World) {
		w.Write(w.Home+"/.gemini/policies/p.toml", "[[rule]]\ntoolName = \"run_shell_command\"\n"+which+"\ndecision = \""+decision+"\"\npriority = 900\n")
	}
}

// player makes a world for a client with a rule; run plays one command and returns
// all that the client said of it, to whomever.
func (r ownRule) player(t *testing.T, agent string) (w *World, run func(cmd string) string) {
	say := func(w *World, shell func(string) Turn, argv func(p string) []string) func(string) string {
		return func(cmd string) string {
			w.Model.Script("own", shell(cmd))
			out := w.Run(w.Repo, argv("[play own]")...)
			text := out.Stdout + out.Stderr + w.Model.LastBody()
			for _, res := range w.Model.Results("own") {
				text = res.Text + "\n" + text
			}
			return text
		}
	}
	if agent == "claude-code" {
		c := claude(t)
		args := r.args
		if args == nil {
			args = []string{"--dangerously-skip-permissions"}
		}
		return c.World, say(c.World, c.shell, func(p string) []string { return append([]string{"claude", "-p", p}, args...) })
	}
	for _, c := range clients {
		if c.agent != agent {
			continue
		}
		w := New(t, c.bin)
		c.setup(w)
		argv := c.argv
		switch {
		case r.args == nil:
		case agent == "gemini":
			argv = func(p string) []string {
				return append([]string{"gemini", "-m", "gemini-2.5-pro"}, append(r.args, "-p", p)...)
			}
		default:
			argv = func(p string) []string { return append([]string{c.bin}, append(r.args, "-p", p)...) }
		}
		return w, say(w, c.shell, argv)
	}
	t.Fatalf("no client %s", agent)
	return nil, nil
}

// What a rule of the client's own stops without safeshell is stopped with it. What
// one lets through runs, or is held up with safeshell being named.
func TestOwnRulesKeepTheirWord(t *testing.T) {
	for _, agent := range []string{"claude-code", "copilot", "opencode", "gemini", "qwen"} {
		for _, r := range ownRules[agent] {
			for _, shims := range []bool{true, false} {
				if shims && r.cmd != "" {
					continue // the hook changes it whatever PATH is
				}
				name := agent + "/" + r.name + map[bool]string{true: "/shims in PATH", false: "/hook alone"}[shims]
				t.Run(name, func(t *testing.T) { r.try(t, agent, shims) })
			}
		}
	}
}

func (r ownRule) try(t *testing.T, agent string, shims bool) {
	w, run := r.player(t, agent)
	if r.setup != nil {
		r.setup(w)
	}
	if !shims {
		w.Env["PATH"] = strings.TrimPrefix(w.Env["PATH"], w.Home+"/.safeshell/shims:")
	}
	for _, name := range []string{"sudo", "zap"} { // zap is redirected by a rule of the user's
		tool := filepath.Join(w.Root, "tools", name)
		w.Write(tool, map[string]string{"sudo": "#!/bin/sh\nexec \"$@\"\n", "zap": "#!/bin/sh\nexec /bin/rm -rf \"$@\"\n"}[name])
		if err := os.Chmod(tool, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(w.Home+"/.safeshell/rules.yaml", "rules:\n- {name: zap, commands: [zap], action: redirect, redirect_to: trash $ARGS, message: m}\n")
	w.Env["PATH"] += ":" + filepath.Join(w.Root, "tools")
	w.Safeshell("refresh")
	cmd := r.cmd
	if cmd == "" {
		cmd = "rm -rf build"
	}
	file := w.Repo + "/build/out"
	try := func() (said string, gone bool) {
		w.Write(file, "kept\n")
		said = run(cmd)
		return said, !w.Exists(file)
	}
	// With safeshell first: opencode starts slowly where it has run without plugins.
	w.Safeshell("agents", "install", agent)
	said, gone := try()
	switch {
	case r.deny && gone:
		t.Errorf("the rule is undone:\n%.600s", said)
	case !r.deny && !gone:
		if shims && r.cmd == "" || !strings.Contains(said, "safeshell runs this command") {
			t.Errorf("held up:\n%.600s", said)
		}
	case gone:
		w.Safeshell("trash", "restore", "build")
		if w.Read(file) != "kept\n" {
			t.Error("it did not come back")
		}
	}
	w.Safeshell("agents", "uninstall", agent)
	w.Env["PATH"] = strings.TrimPrefix(w.Env["PATH"], w.Home+"/.safeshell/shims:")
	if said, gone := try(); gone == r.deny {
		t.Fatalf("without safeshell the rule does another thing: gone %v\n%.600s", gone, said)
	}
}
