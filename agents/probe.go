package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/config"
)

// probeCommand is denied by the built-in rules for everyone, harmlessCommand by
// none. They are only ever text inside an event; nothing runs them.
const (
	probeCommand    = "rm -rf /"
	harmlessCommand = "echo ok"
)

// probeTime bounds one run of a hook.
const probeTime = 15 * time.Second

// Probe hands each configured hook events exactly as the agent would, and checks
// what the agent would make of the answers: a command that must be denied, one
// that must not, and one while there are no rules that can be read. It changes
// nothing.
func Probe(env Env, a Agent) []Finding {
	var out []Finding
	for _, h := range env.configured(a) {
		if h.err == nil {
			out = append(out, env.probe(a, h)...)
		}
	}
	if len(out) == 0 {
		out = append(out, Finding{Level: Fail, Text: fmt.Sprintf("%s has no hook to be probed", a.Display), Fix: "safeshell agents install " + a.Name})
	}
	return out
}

func (env Env) probe(a Agent, h hook) []Finding {
	where, install := h.file, "safeshell agents install "+a.Name
	if h.event != "" {
		where += " (" + h.event + ")"
	}
	fail := func(fix, format string, args ...any) []Finding {
		return []Finding{{Level: Fail, Text: "the hook in " + where + " " + fmt.Sprintf(format, args...), Fix: fix}}
	}
	got, said, err := env.fire(a, h, probeCommand)
	switch {
	case err != nil:
		return fail(env.mend(err, install), "cannot be run: %v", err)
	case got.kind != Deny:
		why := got.why
		if why == "" {
			why = "the answer does not deny"
		}
		if said != "" {
			why += "; it said: " + clip(strings.TrimSpace(said), 200)
		}
		return fail(install, "lets %q run: %s", probeCommand, why)
	}
	if !strings.Contains(got.text, "[SafeShell]") {
		return []Finding{{Level: Warn, Text: fmt.Sprintf("the hook in %s denies, but not in safeshell's words: %s", where, clip(oneLine(got.text), 200)), Fix: install}}
	}
	allowed, _, err := env.fire(a, h, harmlessCommand)
	if err != nil {
		return fail(env.mend(err, install), "cannot be run: %v", err)
	}
	if allowed.kind == Deny || allowed.kind == Ask {
		fix := "safeshell doctor"
		for _, f := range env.Rules {
			fix = f.Fix
		}
		return fail(fix, "refuses everything, even %q: %s", harmlessCommand, clip(oneLine(allowed.text), 300))
	}
	also := ""
	if home, err := brokenHome(); err == nil && !env.FailOpen {
		also = ", and stops all while no rules can be read"
		defer os.RemoveAll(home)
		blind, _, err := env.fire(a, h, harmlessCommand, "SAFESHELL_HOME="+home)
		if err != nil || blind.kind != Deny {
			return fail(install, "lets %q run while no rules can be read: %s", harmlessCommand, blind.why)
		}
	}
	return []Finding{{Level: OK, Text: fmt.Sprintf("the hook in %s denies %q as it must, lets %q pass%s", where, probeCommand, harmlessCommand, also)}}
}

// fire runs a hook with the event that the agent would send for a command, and
// returns what the agent makes of the answer and what stands on stderr.
func (env Env) fire(a Agent, h hook, command string, environ ...string) (heard, string, error) {
	dir := env.ProjectDir
	if !filepath.IsAbs(dir) {
		dir = env.Home
	}
	if env.Environ != nil {
		before := env.Environ
		env.Environ = func() []string { return append(before(), environ...) }
	}
	r, err := env.runLimited(h.argv(a), dir, probeEvent(a, h.event, dir, command), probeTime)
	if err != nil {
		return heard{}, "", err
	}
	return hear(a.Name, r), r.stderr, nil
}

// brokenHome makes a home of safeshell in which the rules cannot be read.
func brokenHome() (string, error) {
	home, err := os.MkdirTemp("", "safeshell-probe-")
	if err != nil {
		return "", err
	}
	return home, os.WriteFile(filepath.Join(home, "rules.yaml"), []byte("rules: [\n"), 0o600)
}

// mend is the command against an error of a file of safeshell's own; else the
// one for an error of another kind.
func (env Env) mend(err error, other string) string {
	if errors.Is(err, fs.ErrPermission) {
		if do := config.Mend(err); do != "" {
			return do
		}
	}
	return other
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// probeEvent is the event that the agent would send for a command.
func probeEvent(a Agent, event, dir, command string) string {
	cmd, cwd := quoteJSON(command), quoteJSON(dir)
	const session = `"safeshell-doctor"`
	claude := func(tool, more string) string {
		return `{"session_id":` + session + `,"cwd":` + cwd + more + `,"hook_event_name":"PreToolUse","tool_name":"` + tool +
			`","tool_input":{"command":` + cmd + `}}` + "\n"
	}
	switch a.Name {
	case "codex":
		return claude("Bash", `,"turn_id":`+session)
	case "qwen":
		return claude("run_shell_command", `,"tool_use_id":"t","tool_call_id":"t"`)
	case "vscode":
		return `{"sessionId":` + session + `,"cwd":` + cwd + `,"hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{"command":` + cmd + `}}` + "\n"
	case "copilot":
		return `{"sessionId":` + session + `,"timestamp":0,"cwd":` + cwd + `,"toolName":"bash","toolArgs":{"command":` + cmd + `}}` + "\n"
	case "cursor":
		head := `{"conversation_id":` + session + `,"generation_id":"g","workspace_roots":[` + cwd + `],"cwd":` + cwd
		if event == "preToolUse" {
			return head + `,"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":` + cmd + `,"working_directory":` + cwd + `}}` + "\n"
		}
		return head + `,"hook_event_name":"beforeShellExecution","command":` + cmd + `}` + "\n"
	case "gemini":
		return `{"session_id":` + session + `,"cwd":` + cwd + `,"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":` + cmd + `}}` + "\n"
	case "opencode", "kilo", "pi", "amp":
		return `{"tool":"bash","sessionID":` + session + `,"args":{"command":` + cmd + `},"cwd":` + cwd + `}` + "\n"
	case "cline":
		return `{"taskId":` + session + `,"workspaceRoots":[` + cwd + `],"hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":[` + cmd + `]}}}` + "\n"
	case "cline-vscode":
		return `{"taskId":` + session + `,"workspaceRoots":[` + cwd + `],"hookName":"PreToolUse","preToolUse":{"toolName":"execute_command","parameters":{"command":` + cmd + `}}}` + "\n"
	case "windsurf":
		return `{"agent_action_name":"pre_run_command","trajectory_id":` + session + `,"tool_info":{"command_line":` + cmd + `,"cwd":` + cwd + `}}` + "\n"
	case "devin":
		return claude("exec", `,"prompt_id":"p"`)
	case "goose":
		return `{"event":"PreToolUse","session_id":` + session + `,"tool_name":"developer__shell","tool_input":{"command":` + cmd + `},"working_dir":` + cwd + `}` + "\n"
	case "kiro", "kiro-cli", "amazon-q":
		return `{"hook_event_name":"preToolUse","session_id":` + session + `,"cwd":` + cwd + `,"tool_name":"execute_bash","tool_input":{"command":` + cmd + `}}` + "\n"
	case "crush":
		return `{"event":"PreToolUse","session_id":` + session + `,"cwd":` + cwd + `,"tool_name":"bash","tool_input":{"command":` + cmd + `}}` + "\n"
	case "droid":
		return claude("Execute", "")
	case "grok":
		return `{"hookEventName":"pre_tool_use","sessionId":` + session + `,"cwd":` + cwd + `,"workspaceRoot":` + cwd + `,"toolName":"run_terminal_command","toolInput":{"command":` + cmd + `},"toolInputTruncated":false}` + "\n"
	case "antigravity":
		return `{"conversationId":` + session + `,"toolCall":{"name":"run_command","args":{"CommandLine":` + cmd + `,"Cwd":` + cwd + `}}}` + "\n"
	}
	return claude("Bash", "")
}

// A hook is one configured hook of ours, or a file that cannot be read (err).
type hook struct {
	entry
	project bool
	target  target
	program string // a script that is the hook itself
	err     error
}

// argv is how the agent starts the hook.
func (h hook) argv(a Agent) []string {
	switch {
	case h.program != "":
		return []string{h.program}
	case h.exec != nil:
		return h.exec
	}
	shell := a.HookShell
	if shell == nil {
		shell = []string{"/bin/sh", "-c"}
	}
	return append(append([]string{}, shell...), h.text)
}

// configured finds our hooks in the user's and the project's files.
func (env Env) configured(a Agent) []hook {
	var out []hook
	var users []os.FileInfo
	for _, project := range []bool{false, true} {
		if project && !filepath.IsAbs(env.ProjectDir) {
			continue
		}
		ts, err := targets(env, a, InstallOptions{Project: project, Binary: env.Binary})
		if err != nil {
			continue // nowhere to look
		}
		for _, t := range ts {
			if filepath.Base(t.path) == "plugin.json" {
				continue // Goose's manifest holds no hook
			}
			if fi, err := os.Stat(t.path); err == nil && !project {
				users = append(users, fi)
			} else if err == nil && slices.ContainsFunc(users, func(u os.FileInfo) bool { return os.SameFile(u, fi) }) {
				continue // called in the home directory
			}
			data, found, err := readConfig(t.path)
			if err != nil {
				out = append(out, hook{entry: entry{file: t.path}, project: project, target: t, err: err})
			}
			if err != nil || !found {
				continue
			}
			rec := env.loadRecord(a.Name, t.path)
			if t.kind == wholeTarget {
				if !env.oursWhole(a, t, data, rec) {
					continue
				}
				h := hook{entry: entry{file: t.path, exec: pluginCall(string(data))}, project: project, target: t}
				if a.Hook == Script {
					h.program = t.path
				}
				out = append(out, h)
				continue
			}
			entries, err := entriesIn(a, t.path, t.kind, data, binariesOf(InstallOptions{Binary: env.Binary}, rec)...)
			if err != nil {
				out = append(out, hook{entry: entry{file: t.path}, project: project, target: t, err: err})
				continue
			}
			for _, e := range entries {
				h := hook{entry: e, project: project, target: t}
				if probeable(a, e) {
					out = append(out, h)
				}
			}
		}
	}
	return out
}

// probeable leaves out the entries of one file that stand for the same hook on
// file tools.
func probeable(a Agent, e entry) bool {
	switch a.Name {
	case "kiro-cli", "amazon-q":
		return e.matcher == "" || e.matcher == "execute_bash" || e.matcher == "*"
	case "windsurf":
		return e.event == "pre_run_command"
	}
	return true
}

// executable says whether a file can be run, and why not.
func executable(path string) error {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !fi.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case fi.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}
