package agents

import "time"

// A Tag says how well a fact is known: M measured with the real program, S its
// source or the strings in it, D its documentation, T third parties only.
type Tag string

// Ability says whether an agent's hook can do a thing.
type Ability string

// The abilities.
const (
	Yes     Ability = "yes"
	No      Ability = "no"
	Partly  Ability = "partly" // Agent.Limits says when
	Unknown Ability = "?"
)

// HookKind is the shape in which an agent takes a hook.
type HookKind string

// The kinds.
const (
	NoHook     HookKind = "none"   // PATH shims or the shell only
	Manual     HookKind = "manual" // a hook exists, but its file's format is not certain enough to write
	Nested     HookKind = "nested" // event -> groups with a matcher -> hooks
	Flat       HookKind = "flat"   // event -> hooks
	TOMLTables HookKind = "toml"   // [[hooks]]
	Plugin     HookKind = "plugin" // a JavaScript file
	Script     HookKind = "script" // an executable file
)

// A Marker is an environment variable that commands of an agent carry.
// Anybody can set it: tighten and attribute by it, never relax.
type Marker struct {
	Name    string
	Value   string // exact; ending in * it is a prefix; empty means any but ""
	Session string // the variable that holds the session's id
	// AndName with AndValue must hold too where Name alone proves nothing.
	AndName, AndValue string
	Tag               Tag
}

// An Agent is what is known of one tool. Paths beginning with ~/ lie in the
// user's home directory, others in the project.
type Agent struct {
	Name    string // on the command line, in the journal, in Call.Agent
	Display string
	Aliases []string
	Tag     Tag // of the row as a whole
	// Measured is the version that Tag M (or S) speaks of, Minimum the oldest
	// one with which the hook guards as described.
	Measured, Minimum string

	Binaries []string // programs that show that it is here; the first is asked for its version
	Dirs     []string // directories that show it

	Hook        HookKind
	Events      []string // as written in the configuration
	Matcher     string   // empty: no matcher, or one per event
	UserFile    string   // empty: cannot be installed for the user
	ProjectFile string   // empty: cannot be installed for a project
	BaseVar     string   // environment variable that replaces Base in UserFile
	Base        string
	OwnFile     bool // the file is ours alone
	Comments    Ability
	HookShell   []string // what runs a command in text form; nil: unknown, /bin/sh -c

	Deny    string // how, in words
	Ask     Ability
	Rewrite Ability
	Limits  string // what the abilities do not cover

	DefaultTimeout time.Duration // the agent's own; 0: none or unknown
	Timeout        time.Duration // ours: what Install writes, and what the hook counts on
	FixedTimeout   bool          // cannot be configured
	Failure        string        // what happens when the hook fails
	FailClosed     string        // the option that Install sets against it

	Markers   []Marker
	Processes []string // names of its processes, for a look at the ancestors
}

const (
	hookTime    = 330 * time.Second // 300 s for a person, and room to answer
	unknownTime = 30 * time.Second  // the shortest default known anywhere
)

// All returns every known tool, in the order of the overview.
func All() []Agent {
	sh := []string{"/bin/sh", "-c"}
	bash := []string{"bash", "-c"}
	return []Agent{
		{
			Name: "claude-code", Display: "Claude Code", Aliases: []string{"claude"}, Tag: "M",
			Measured: "2.1.330", Minimum: "2.1.295",
			Binaries: []string{"claude"}, Dirs: []string{"~/.claude"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher:  "Bash|PowerShell|Monitor|Read|Edit|MultiEdit|Write|NotebookEdit|Skill",
			UserFile: "~/.claude/settings.json", ProjectFile: ".claude/settings.local.json",
			BaseVar: "CLAUDE_CONFIG_DIR", Base: "~/.claude",
			Comments: No, HookShell: sh,
			Deny: "JSON", Ask: Yes, Rewrite: Yes,
			Limits:         "an ask in -p is a deny; find and grep are functions inside Claude and meet no shim",
			DefaultTimeout: 600 * time.Second, Timeout: hookTime,
			Failure: "open", FailClosed: `"onFailure": "block"`,
			Markers: []Marker{
				{Name: "CLAUDECODE", Session: "CLAUDE_CODE_SESSION_ID", Tag: "M"},
				{Name: "CLAUDE_CODE_CHILD_SESSION", Session: "CLAUDE_CODE_SESSION_ID", Tag: "M"},
				{Name: "AI_AGENT", Value: "claude-code*", Session: "CLAUDE_CODE_SESSION_ID", Tag: "M"},
			},
			Processes: []string{"claude"},
		},
		{
			Name: "codex", Display: "Codex CLI", Aliases: []string{"codex-cli"}, Tag: "M",
			Measured: "0.169.0",
			Binaries: []string{"codex"}, Dirs: []string{"~/.codex"},
			Hook: Nested, Events: []string{"PreToolUse"}, Matcher: "^(Bash|apply_patch)$",
			UserFile: "~/.codex/hooks.json", ProjectFile: ".codex/hooks.json",
			BaseVar: "CODEX_HOME", Base: "~/.codex",
			Comments: No, HookShell: []string{"/bin/bash", "-c"},
			Deny: "JSON", Ask: No, Rewrite: Yes,
			Limits:         "a rewrite needs the word allow; text sent to an open terminal (write_stdin) fires no hook",
			DefaultTimeout: 600 * time.Second, Timeout: hookTime,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run, and a hook that is not trusted is skipped without a word",
			Markers: []Marker{
				{Name: "CODEX_CI", Session: "CODEX_SESSION_ID", Tag: "M"},
				{Name: "CODEX_THREAD_ID", Session: "CODEX_SESSION_ID", Tag: "M"},
				{Name: "CODEX_SESSION_ID", Session: "CODEX_SESSION_ID", Tag: "M"},
				{Name: "CODEX_SANDBOX", Session: "CODEX_SESSION_ID", Tag: "S"},
			},
			Processes: []string{"codex"},
		},
		{
			Name: "copilot", Display: "GitHub Copilot CLI", Aliases: []string{"copilot-cli"}, Tag: "M",
			Measured: "1.0.102",
			Binaries: []string{"copilot"}, Dirs: []string{"~/.copilot"},
			Hook: Flat, Events: []string{"preToolUse"},
			Matcher:  "bash|powershell|view|create|edit|str_replace_editor|apply_patch",
			UserFile: "~/.copilot/hooks/safeshell.json", ProjectFile: ".github/hooks/safeshell.json",
			BaseVar: "COPILOT_HOME", Base: "~/.copilot",
			OwnFile: true, Comments: No, HookShell: []string{"/bin/bash", "--norc", "--noprofile", "-c"},
			Deny: "JSON", Ask: Yes, Rewrite: Yes,
			Limits:         "an ask without a person is a deny; project hooks run in trusted folders only",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure: "closed; a timeout is open",
			Markers: []Marker{
				{Name: "COPILOT_CLI", Session: "COPILOT_AGENT_SESSION_ID", Tag: "M"},
				{Name: "COPILOT_AGENT_SESSION_ID", Session: "COPILOT_AGENT_SESSION_ID", Tag: "M"},
			},
			Processes: []string{"copilot"},
		},
		{
			Name: "vscode", Display: "VS Code agent mode", Aliases: []string{"vs-code"}, Tag: "D",
			Binaries: []string{"code"}, Dirs: []string{"~/.vscode"},
			Hook: Flat, Events: []string{"PreToolUse"},
			UserFile: "~/.copilot/hooks/safeshell-vscode.json", ProjectFile: ".github/hooks/safeshell-vscode.json",
			OwnFile: true, Comments: No, HookShell: sh,
			Deny: "JSON", Ask: Yes, Rewrite: Yes,
			Limits:         "matchers are not applied: the hook sees every tool and is silent for those it does not know",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure: "open",
			Markers: []Marker{{Name: "GIT_PAGER", Value: "cat", AndName: "TERM_PROGRAM", AndValue: "vscode", Tag: "T"}},
		},
		{
			Name: "cursor", Display: "Cursor", Aliases: []string{"cursor-agent"}, Tag: "D",
			Binaries: []string{"cursor-agent", "cursor"}, Dirs: []string{"~/.cursor"},
			Hook: Flat, Events: []string{"beforeShellExecution", "preToolUse"}, Matcher: "Shell|Read|Write|Delete",
			UserFile: "~/.cursor/hooks.json", ProjectFile: ".cursor/hooks.json",
			Comments: Unknown, HookShell: nil,
			Deny: "JSON", Ask: Partly, Rewrite: Partly,
			Limits:         "asks in beforeShellExecution, rewrites in preToolUse; both fire for one command",
			DefaultTimeout: 0, Timeout: hookTime,
			Failure: "open; invalid JSON blocks", FailClosed: `"failClosed": true`,
			Markers: []Marker{
				{Name: "CURSOR_AGENT", Session: "CURSOR_TRACE_ID", Tag: "T"},
				{Name: "CURSOR_TRACE_ID", Session: "CURSOR_TRACE_ID", Tag: "T"},
			},
			Processes: []string{"cursor-agent"},
		},
		{
			Name: "gemini", Display: "Gemini CLI", Aliases: []string{"gemini-cli"}, Tag: "M",
			Measured: "0.61.0",
			Binaries: []string{"gemini"}, Dirs: []string{"~/.gemini"},
			Hook: Nested, Events: []string{"BeforeTool"},
			Matcher:  "^(run_shell_command|read_file|read_many_files|write_file|replace)$",
			UserFile: "~/.gemini/settings.json", ProjectFile: ".gemini/settings.json",
			Comments: Yes, HookShell: bash,
			Deny: "JSON", Ask: No, Rewrite: Yes,
			Limits:         "an ask would hang without a person, so it is never sent; the rewritten command runs without your git configuration when headless",
			DefaultTimeout: 60 * time.Second, Timeout: hookTime,
			Failure:   "mostly open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
			Markers:   []Marker{{Name: "GEMINI_CLI", Tag: "M"}},
			Processes: []string{"gemini"},
		},
		{
			Name: "qwen", Display: "Qwen Code", Aliases: []string{"qwen-code"}, Tag: "M",
			Measured: "0.24.4",
			Binaries: []string{"qwen"}, Dirs: []string{"~/.qwen"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher:  "^(run_shell_command|read_file|read_many_files|write_file|edit)$",
			UserFile: "~/.qwen/settings.json", ProjectFile: ".qwen/settings.json",
			Comments: Yes, HookShell: sh,
			Deny: "JSON", Ask: Yes, Rewrite: No,
			Limits:         "updatedInput has no effect, against its documentation: the hook denies and names the command to run",
			DefaultTimeout: 60 * time.Second, Timeout: hookTime,
			Failure:   "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
			Markers:   []Marker{{Name: "QWEN_CODE", Session: "QWEN_CODE_SESSION_ID", Tag: "M"}},
			Processes: []string{"qwen"},
		},
		{
			Name: "opencode", Display: "opencode", Tag: "M",
			Measured: "1.18.33",
			Binaries: []string{"opencode"}, Dirs: []string{"~/.config/opencode"},
			Hook: Plugin, Events: []string{"tool.execute.before"},
			UserFile: "~/.config/opencode/plugin/safeshell.js", ProjectFile: ".opencode/plugin/safeshell.js",
			BaseVar: "XDG_CONFIG_HOME", Base: "~/.config",
			OwnFile: true, Comments: No,
			Deny: "the plugin throws", Ask: No, Rewrite: Yes,
			Limits:  "a plugin that cannot be loaded is silent",
			Timeout: hookTime,
			Failure: "closed; a plugin that does not load is open",
			Markers: []Marker{
				{Name: "OPENCODE", Tag: "M"},
				{Name: "OPENCODE_PID", Tag: "M"},
			},
			Processes: []string{"opencode"},
		},
		{
			Name: "kilo", Display: "Kilo CLI", Tag: "T",
			Binaries: []string{"kilo"}, Dirs: []string{"~/.config/kilo"},
			Hook: Plugin, Events: []string{"tool.execute.before"},
			UserFile: "~/.config/kilo/plugin/safeshell.js", ProjectFile: ".kilo/plugin/safeshell.js",
			BaseVar: "XDG_CONFIG_HOME", Base: "~/.config",
			OwnFile: true, Comments: No,
			Deny: "the plugin throws", Ask: No, Rewrite: Yes,
			Limits:    "a fork of opencode; its paths are known from third parties only",
			Timeout:   hookTime,
			Failure:   "closed; a plugin that does not load is open",
			Processes: []string{"kilo"},
		},
		{
			Name: "cline", Display: "Cline CLI", Tag: "M",
			Measured: "3.0.65",
			Binaries: []string{"cline"}, Dirs: []string{"~/.cline"},
			Hook: Script, Events: []string{"PreToolUse"},
			UserFile: "~/.cline/hooks/PreToolUse", ProjectFile: ".cline/hooks/PreToolUse",
			OwnFile: true, Comments: No,
			Deny: "overrideInput with a command that prints the reason and exits 126", Ask: No, Rewrite: Yes,
			Limits:         "exit codes mean nothing; a cancelled call aborts the run and nobody reads why; review runs at once under auto-approve",
			DefaultTimeout: 120 * time.Second, Timeout: 120 * time.Second, FixedTimeout: true,
			Failure:   "open",
			Markers:   []Marker{{Name: "CLINE_CONNECTOR_CLI_LAUNCH", Tag: "M"}},
			Processes: []string{"cline"},
		},
		{
			Name: "cline-vscode", Display: "Cline in VS Code", Tag: "S",
			Dirs: []string{"~/Documents/Cline"},
			Hook: Script, Events: []string{"PreToolUse"},
			UserFile: "~/Documents/Cline/Hooks/PreToolUse", ProjectFile: ".clinerules/hooks/PreToolUse",
			OwnFile: true, Comments: No,
			Deny: "cancel with errorMessage", Ask: No, Rewrite: No,
			Limits:         "Cline CLI reads this directory too",
			DefaultTimeout: 30 * time.Second, Timeout: 30 * time.Second, FixedTimeout: true,
			Failure: "open",
			Markers: []Marker{{Name: "CLINE_ACTIVE", Tag: "S"}},
		},
		{
			Name: "windsurf", Display: "Windsurf Cascade", Aliases: []string{"cascade"}, Tag: "D",
			Binaries: []string{"windsurf"}, Dirs: []string{"~/.codeium/windsurf", "~/.windsurf"},
			Hook: Flat, Events: []string{"pre_run_command", "pre_read_code", "pre_write_code"},
			UserFile: "~/.codeium/windsurf/hooks.json", ProjectFile: ".devin/hooks.json",
			Comments: Unknown, HookShell: bash,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:  "no hooks in restricted mode; the time limit is not documented",
			Timeout: unknownTime, FixedTimeout: true,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
			Markers: []Marker{{Name: "CODEIUM_EDITOR_APP_ROOT", Tag: "T"}},
		},
		{
			Name: "devin", Display: "Devin CLI and Devin Local", Tag: "D",
			Binaries: []string{"devin"}, Dirs: []string{"~/.config/devin"},
			Hook: Nested, Events: []string{"PreToolUse"}, Matcher: "exec|edit",
			UserFile: "~/.config/devin/config.json", ProjectFile: ".devin/hooks.v1.json",
			Comments: Unknown, HookShell: sh,
			Deny: "JSON", Ask: No, Rewrite: Yes,
			Limits:  "whether it can ask is not documented: a question is a deny",
			Timeout: hookTime,
			Failure: "open", Processes: []string{"devin"},
		},
		{
			Name: "goose", Display: "Goose", Tag: "D",
			Binaries: []string{"goose"}, Dirs: []string{"~/.config/goose"},
			Hook: Nested, Events: []string{"PreToolUse"}, Matcher: "developer__(shell|text_editor|write|edit)",
			UserFile: "~/.agents/plugins/safeshell/hooks/hooks.json", ProjectFile: ".agents/plugins/safeshell/hooks/hooks.json",
			OwnFile: true, Comments: No, HookShell: sh,
			Deny: "JSON", Ask: No, Rewrite: No,
			Limits:         "allowing must be silence: {} counts as a failure",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure: "open", FailClosed: `"on_failure": "block"`,
			Markers:   []Marker{{Name: "GOOSE_TERMINAL", Tag: "T"}},
			Processes: []string{"goose", "goosed"},
		},
		{
			Name: "kiro", Display: "Kiro 1.x and Kiro CLI 3.x", Tag: "D",
			Dirs: []string{"~/.kiro"},
			Hook: Flat, Events: []string{"PreToolUse"},
			Matcher:  "^(shell|execute_bash|execute_cmd|read|write|fs_read|fs_write)$",
			UserFile: "~/.kiro/hooks/safeshell.json", ProjectFile: ".kiro/hooks/safeshell.json",
			OwnFile: true, Comments: No, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			DefaultTimeout: 60 * time.Second, Timeout: hookTime,
			Failure: "closed; a timeout: ?",
		},
		{
			Name: "kiro-cli", Display: "Kiro CLI 2.x", Tag: "S",
			Binaries: []string{"kiro-cli"}, Dirs: []string{"~/.kiro/agents"},
			Hook: Flat, Events: []string{"preToolUse"}, Matcher: "execute_bash",
			UserFile: "~/.kiro/agents/*.json", ProjectFile: ".kiro/agents/*.json",
			Comments: No, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:         "per agent file: the built-in default agent has none; on 2.19.2 exit 2 reportedly did not stop fs_write",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure:   "open",
			Processes: []string{"kiro-cli"},
		},
		{
			Name: "amazon-q", Display: "Amazon Q Developer CLI", Aliases: []string{"q"}, Tag: "S",
			Binaries: []string{"q", "qchat"}, Dirs: []string{"~/.aws/amazonq"},
			Hook: Flat, Events: []string{"preToolUse"}, Matcher: "execute_bash",
			UserFile: "~/.aws/amazonq/cli-agents/*.json", ProjectFile: ".amazonq/cli-agents/*.json",
			Comments: No, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:         "per agent file: the built-in default agent has none",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure:   "open",
			Processes: []string{"qchat"},
		},
		{
			Name: "crush", Display: "Crush", Tag: "S",
			Measured: "0.96",
			Binaries: []string{"crush"}, Dirs: []string{"~/.config/crush"},
			Hook: Flat, Events: []string{"PreToolUse"}, Matcher: "^(bash|view|edit|multiedit|write)$",
			UserFile: "~/.config/crush/crush.json", ProjectFile: "crush.json",
			BaseVar: "XDG_CONFIG_HOME", Base: "~/.config",
			Comments: Unknown, HookShell: nil,
			Deny: "JSON", Ask: No, Rewrite: Yes,
			Limits:         "calls of the agents that it starts itself fire no hook; hooks run in its embedded shell",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure: "open",
			Markers: []Marker{
				{Name: "CRUSH", Tag: "S"},
				{Name: "AGENT", Value: "crush", Tag: "S"},
				{Name: "AI_AGENT", Value: "crush", Tag: "S"},
			},
			Processes: []string{"crush"},
		},
		{
			Name: "amp", Display: "Amp", Tag: "T",
			Binaries: []string{"amp"}, Dirs: []string{"~/.config/amp"},
			Hook: Plugin, Events: []string{"tool.call"},
			UserFile: "~/.config/amp/plugins/safeshell.ts", ProjectFile: ".amp/plugins/safeshell.ts",
			OwnFile: true, Comments: No,
			Deny: "the plugin returns reject-and-continue", Ask: No, Rewrite: No,
			Limits:  "known from third parties only; no symbolic links in its plugin directory",
			Timeout: unknownTime, FixedTimeout: true,
			Failure: "?",
			Markers: []Marker{
				{Name: "AMP_CURRENT_THREAD_ID", Session: "AMP_CURRENT_THREAD_ID", Tag: "T"},
				{Name: "AGENT", Value: "amp", Session: "AMP_CURRENT_THREAD_ID", Tag: "T"},
			},
			Processes: []string{"amp"},
		},
		{
			Name: "pi", Display: "Pi", Tag: "M",
			Measured: "0.73.1",
			Binaries: []string{"pi"}, Dirs: []string{"~/.pi"},
			Hook: Plugin, Events: []string{"tool_call"},
			UserFile: "~/.pi/agent/extensions/safeshell.ts", ProjectFile: ".pi/extensions/safeshell.ts",
			OwnFile: true, Comments: No,
			Deny: "the extension returns block", Ask: Partly, Rewrite: Yes,
			Limits:  "asks only where Pi has a screen",
			Timeout: hookTime,
			Failure: "closed",
			Markers: []Marker{
				{Name: "PI_CODING_AGENT", Tag: "M"},
				{Name: "AI_AGENT", Value: "pi", Tag: "S"},
			},
			Processes: []string{"pi"},
		},
		{
			Name: "kimi", Display: "Kimi Code", Aliases: []string{"kimi-code"}, Tag: "D",
			Binaries: []string{"kimi"}, Dirs: []string{"~/.kimi-code"},
			Hook: TOMLTables, Events: []string{"PreToolUse"}, Matcher: "^(Bash|Read|Write|Edit)$",
			UserFile: "~/.kimi-code/config.toml",
			BaseVar:  "KIMI_CODE_HOME", Base: "~/.kimi-code",
			Comments: Yes, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:  "an ask counts as allow, so it is never sent",
			Timeout: hookTime,
			Failure: "open", Processes: []string{"kimi"},
		},
		{
			Name: "droid", Display: "Factory Droid", Aliases: []string{"factory", "factory-droid"}, Tag: "T",
			Binaries: []string{"droid"}, Dirs: []string{"~/.factory"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher:  "Execute|Read|Create|Edit|MultiEdit|Write|ApplyPatch",
			UserFile: "~/.factory/hooks.json", ProjectFile: ".factory/hooks.json",
			Comments: Unknown, HookShell: sh,
			Deny: "JSON", Ask: No, Rewrite: No,
			Limits:  "Claude's schema; asking and rewriting are not proven, so they are not used",
			Timeout: hookTime,
			Failure: "open", Processes: []string{"droid"},
		},
		{
			Name: "grok", Display: "Grok Build", Tag: "T",
			Binaries: []string{"grok"}, Dirs: []string{"~/.grok"},
			Hook: Nested, Events: []string{"PreToolUse"},
			UserFile: "~/.grok/hooks/safeshell.json", ProjectFile: ".grok/hooks/safeshell.json",
			OwnFile: true, Comments: No, HookShell: sh,
			Deny: "JSON", Ask: No, Rewrite: No,
			Limits:         "runs hooks found in Claude's and Cursor's files too; an event cut short is denied",
			DefaultTimeout: 5 * time.Second, Timeout: hookTime,
			Failure: "open", Processes: []string{"grok"},
		},
		{
			Name: "antigravity", Display: "Antigravity CLI", Aliases: []string{"agy"}, Tag: "T",
			Binaries: []string{"agy"},
			Hook:     Manual, Events: []string{"PreToolUse"}, Matcher: "run_command",
			Comments: Unknown,
			Deny:     "JSON", Ask: No, Rewrite: No,
			Limits:  "reports disagree on where it looks for hooks, so nothing is written",
			Timeout: unknownTime, FixedTimeout: true,
			Failure:   "closed, as far as is known",
			Markers:   []Marker{{Name: "ANTIGRAVITY_AGENT", Tag: "T"}},
			Processes: []string{"agy"},
		},
		{
			Name: "aider", Display: "Aider", Tag: "S",
			Binaries: []string{"aider"}, Hook: NoHook, Comments: Unknown,
			Ask: No, Rewrite: No,
			Limits:    "no hook: it starts $SHELL -i -c with a terminal and /bin/sh -c without",
			Processes: []string{"aider"},
		},
		{
			Name: "zed", Display: "Zed", Tag: "D",
			Binaries: []string{"zed"}, Dirs: []string{"~/.config/zed"}, Hook: NoHook, Comments: Yes,
			Ask: No, Rewrite: No,
			Limits:  "no hook: fixed patterns in settings.json, else PATH shims",
			Markers: []Marker{{Name: "TERM_PROGRAM", Value: "zed", AndName: "PAGER", AndValue: "cat", Tag: "T"}},
		},
		{
			Name: "continue", Display: "Continue CLI", Tag: "M",
			Measured: "1.5.47",
			Binaries: []string{"cn"}, Hook: NoHook, Comments: Unknown,
			Ask: No, Rewrite: No,
			Limits:    "holds a hook engine that nothing calls; it starts $SHELL -l -c",
			Processes: []string{"cn"},
		},
		{
			Name: "augment", Display: "Auggie", Aliases: []string{"auggie"}, Tag: "T",
			Binaries: []string{"auggie"}, Hook: NoHook, Comments: Unknown,
			Ask: No, Rewrite: No,
			Limits:    "whether it has hooks is not known",
			Markers:   []Marker{{Name: "AUGMENT_AGENT", Tag: "T"}},
			Processes: []string{"auggie"},
		},
	}
}

// Find returns the tool of that name or alias.
func Find(name string) (Agent, bool) {
	for _, a := range All() {
		if a.Name == name {
			return a, true
		}
		for _, alias := range a.Aliases {
			if alias == name {
				return a, true
			}
		}
	}
	return Agent{}, false
}

// Names returns all names, for messages and completion.
func Names() []string {
	var out []string
	for _, a := range All() {
		out = append(out, a.Name)
	}
	return out
}
