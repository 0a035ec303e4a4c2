package agents

import (
	"strings"
	"time"
)

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
	Matcher     string   // %s stands for the tools' names, All puts them in; empty: no matcher, or one per event
	Tools       Tools
	UserFile    string // empty: cannot be installed for the user
	ProjectFile string // empty: cannot be installed for a project
	BaseVar     string // environment variable that replaces Base in UserFile
	Base        string
	OwnFile     bool // the file is ours alone
	Comments    Ability
	HookShell   []string // what runs a command in text form; nil: unknown, /bin/sh -c

	Deny    string // how, in words
	Ask     Ability
	Rewrite Ability
	// SamePath: the shell that it starts has the PATH that its hooks have [M].
	SamePath bool
	// PlainWords: its own rules read a line only while there is no assignment, no
	// variable and no ~ in it [M].
	PlainWords bool
	Limits     string // what the abilities do not cover

	DefaultTimeout time.Duration // the agent's own; 0: none or unknown
	Timeout        time.Duration // ours: what Install writes, and what the hook counts on
	FixedTimeout   bool          // cannot be configured
	Failure        string        // what happens when the hook fails
	FailClosed     string        // the option that Install sets against it

	Markers   []Marker
	Processes []string // names of its processes, for a look at the ancestors
}

// closes says that a hook which cannot be run blocks.
func (a Agent) closes() bool {
	return a.FailClosed != "" || !strings.HasPrefix(a.Failure, "open") || strings.Contains(a.Failure, "exit 2, which blocks") || a.Hook == Script
}

const (
	hookTime    = 330 * time.Second // 300 s for a person, and room to answer
	unknownTime = 30 * time.Second  // the shortest default known anywhere
)

// All returns every known agent, in the order of the overview.
func All() []Agent {
	all := table()
	for i := range all {
		if a := &all[i]; a.Matcher != "" {
			a.Matcher = strings.Replace(a.Matcher, "%s", strings.Join(a.Tools.Matched(), "|"), 1)
		}
	}
	return all
}

func table() []Agent {
	sh := []string{"/bin/sh", "-c"}
	bash := []string{"bash", "-c"}
	return []Agent{
		{
			Name: "claude-code", Display: "Claude Code", Aliases: []string{"claude"}, Tag: "M",
			Measured: "2.1.330", Minimum: "2.1.295",
			Binaries: []string{"claude"}, Dirs: []string{"~/.claude"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher: "%s",
			Tools: Tools{
				Runs:     "Bash PowerShell Monitor",
				Reads:    "Read NotebookRead LSP Artifact SendUserFile SendFile PublishPlugin DesignSync ClaudeDesign Projects",
				Writes:   "Write",
				Edits:    "Edit MultiEdit NotebookEdit",
				Searches: "Grep",
				Loads:    "Skill",
				Nothing:  "Agent Task ListAgents ReportFindings ScheduleWakeup ToolSearch Workflow DeferredToolPlaceholder CronCreate CronDelete CronList EnterWorktree ExitWorktree SendMessage TaskStop TaskOutput TaskCreate TaskGet TaskUpdate TaskList WebFetch WebSearch Glob LS TodoWrite TodoRead AskUserQuestion EnterPlanMode ExitPlanMode BashOutput KillShell KillBash ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool RefreshMcpTools RemoteTrigger PushNotification ReadNotifications ProposeSkills ProposeGoal TeamCreate TeamDelete Sleep StructuredOutput SendFeedback SendToProject SendToProjectContext SendUserMessage EndConversation FetchInboxMessage GetTask GetGoal SetGoal PauseGoal ListConnectors McpTaskResumePolling OfferChromeSetup Poll ReadWidgetContext SearchMcpRegistry ShareOnboardingGuide ShowOnboardingRolePicker SubagentHandback SuggestConnectors SuggestPluginInstall SuggestSkills WaitForMcpServers WrapUp Yield propose_skills memory_list memory_read memory_write",
				Unheard:  "REPL AppifactRepl Config",
			},
			UserFile: "~/.claude/settings.json", ProjectFile: ".claude/settings.local.json",
			BaseVar: "CLAUDE_CONFIG_DIR", Base: "~/.claude",
			Comments: No, HookShell: sh,
			Deny: "JSON", Ask: Yes, Rewrite: Yes, SamePath: true,
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
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher: "^(%s)$",
			Tools: Tools{
				Runs:    "Bash",
				Edits:   "apply_patch",
				Nothing: "request_user_input get_goal create_goal update_goal tool_search web_search update_plan spawn_agent send_input send_message wait_agent close_agent resume_agent list_agents followup_task interrupt_agent list_mcp_resources list_mcp_resource_templates read_mcp_resource get_context_remaining new_context clock__curr_time clock__sleep",
				Behind:  "exec_command shell shell_command local_shell exec wait",
				Unheard: "write_stdin view_image",
			},
			UserFile: "~/.codex/hooks.json", ProjectFile: ".codex/hooks.json",
			BaseVar: "CODEX_HOME", Base: "~/.codex",
			Comments: No, HookShell: []string{"/bin/bash", "-c"},
			Deny: "JSON", Ask: No, Rewrite: Partly, PlainWords: true,
			Limits:         "a rewrite needs the word allow, which passes by Codex's own rules and questions, so it is made only where there are none; else the command to run is named; text sent to an open terminal (write_stdin) fires no hook",
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
			Matcher: "%s",
			Tools: Tools{
				Runs:     "bash powershell",
				Types:    "write_bash write_powershell",
				Reads:    "view show_file",
				Writes:   "create",
				Edits:    "edit str_replace_editor apply_patch",
				Searches: "grep rg",
				Nothing:  "read_bash stop_bash list_bash read_powershell stop_powershell list_powershell fetch_copilot_cli_documentation skill sql session_store_sql read_agent list_agents write_agent glob task web_fetch web_search report_intent update_todo ask_user exit_plan_mode task_complete store_memory",
			},
			UserFile: "~/.copilot/hooks/safeshell.json", ProjectFile: ".github/hooks/safeshell.json",
			BaseVar: "COPILOT_HOME", Base: "~/.copilot",
			OwnFile: true, Comments: No, HookShell: []string{"/bin/bash", "--norc", "--noprofile", "-c"},
			Deny: "JSON", Ask: Yes, Rewrite: Yes, SamePath: true,
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
			Tools: Tools{
				Runs:     "run_in_terminal runInTerminal",
				Types:    "send_to_terminal",
				Reads:    "read_file readFile read_notebook_cell_output copilot_readFile view_image get_errors",
				Writes:   "create_file createFile",
				Edits:    "replace_string_in_file multi_replace_string_in_file insert_edit_into_file apply_patch edit_notebook_file editFiles",
				Searches: "grep_search findTextInFiles",
				Nothing:  "file_search semantic_search list_dir get_terminal_output terminal_last_command terminal_selection fetch_webpage github_repo manage_todo_list runSubagent get_changed_files test_failure get_vscode_api get_search_view_results open_simple_browser create_directory vscode_askQuestions memory",
				Unheard:  "create_and_run_task run_task run_notebook_cell runTests run_vscode_command",
			},
			UserFile: "~/.copilot/hooks/safeshell-vscode.json", ProjectFile: ".github/hooks/safeshell-vscode.json",
			OwnFile: true, Comments: No, HookShell: sh,
			Deny: "JSON", Ask: Yes, Rewrite: Yes,
			Limits:         "matchers are not applied: the hook sees every tool and is silent for those it does not know",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
			Markers: []Marker{{Name: "GIT_PAGER", Value: "cat", AndName: "TERM_PROGRAM", AndValue: "vscode", Tag: "T"}},
		},
		{
			Name: "cursor", Display: "Cursor", Aliases: []string{"cursor-agent"}, Tag: "D",
			Binaries: []string{"cursor-agent", "cursor"}, Dirs: []string{"~/.cursor"},
			Hook: Flat, Events: []string{"beforeShellExecution", "preToolUse"},
			Matcher: "%s",
			Tools: Tools{
				Runs:     "Shell",
				Reads:    "Read",
				Writes:   "Write",
				Edits:    "Edit StrReplace EditNotebook",
				Deletes:  "Delete",
				Searches: "Grep",
				Nothing:  "Glob LS SemanticSearch WebSearch WebFetch Task TodoWrite ReadLints FetchMcpResource",
				Unheard:  "TabRead TabWrite",
			},
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
			Matcher: "^(%s)$",
			Tools: Tools{
				Runs:     "run_shell_command",
				Reads:    "read_file read_many_files",
				Writes:   "write_file",
				Edits:    "replace",
				Searches: "grep_search search_file_content",
				Nothing:  "list_directory glob web_fetch google_web_search write_todos enter_plan_mode exit_plan_mode invoke_agent activate_skill update_topic list_background_processes read_background_output ask_user complete_task get_internal_docs save_memory tracker_create_task tracker_update_task tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize read_mcp_resource list_mcp_resources take_snapshot",
			},
			UserFile: "~/.gemini/settings.json", ProjectFile: ".gemini/settings.json",
			BaseVar: "GEMINI_CLI_HOME", Base: "~",
			Comments: Yes, HookShell: bash,
			Deny: "JSON", Ask: No, Rewrite: Yes, SamePath: true,
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
			Matcher: "^(%s)$",
			Tools: Tools{
				Runs:     "run_shell_command monitor",
				Reads:    "read_file read_many_files zoom_image display_image lsp artifact",
				Writes:   "write_file",
				Edits:    "edit replace notebook_edit",
				Searches: "grep_search search_file_content",
				Nothing:  "todo_write save_memory agent task skill exit_plan_mode enter_plan_mode web_fetch web_search image_gen glob list_directory ask_user_question cron_create cron_list cron_delete loop_wakeup create_sub_session list_agents task_stop task_create task_update task_list team_create team_delete team_plan_approval request_shutdown send_message structured_output tool_search read_mcp_resource enter_worktree exit_worktree workflow record_artifact record_source report_findings get_goal update_goal propose_goal",
				Behind:   "exec tool_call",
				Unheard:  "omni_downsample_image omni_downscale_video omni_downsample_audio omni_extract_keyframes omni_extract_audio omni_clip_video omni_convert_image omni_transcribe_audio omni_clip_image omni_clip_audio omni_caption_image omni_caption_audio omni_ocr_image omni_understand_video_segments omni_recall_media_memory",
			},
			UserFile: "~/.qwen/settings.json", ProjectFile: ".qwen/settings.json",
			BaseVar: "QWEN_HOME", Base: "~/.qwen",
			Comments: Yes, HookShell: sh,
			Deny: "JSON", Ask: Yes, Rewrite: No, SamePath: true,
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
			Tools: Tools{
				Runs:     "bash shell",
				Reads:    "read lsp",
				Writes:   "write",
				Edits:    "edit multiedit patch apply_patch",
				Searches: "grep",
				Nothing:  "glob list ls skill task todowrite todoread webfetch websearch codesearch question plan_exit plan_enter invalid list_mcp_resources list_mcp_resource_templates read_mcp_resource",
				Unheard:  "batch execute",
			},
			UserFile: "~/.config/opencode/plugin/safeshell.js", ProjectFile: ".opencode/plugin/safeshell.js",
			BaseVar: "XDG_CONFIG_HOME", Base: "~/.config",
			OwnFile: true, Comments: No,
			Deny: "the plugin throws", Ask: No, Rewrite: Yes, SamePath: true,
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
			Tools: Tools{
				Runs:     "bash shell",
				Reads:    "read lsp",
				Writes:   "write",
				Edits:    "edit multiedit patch apply_patch",
				Searches: "grep",
				Nothing:  "glob list ls skill task todowrite todoread webfetch websearch codesearch question plan_exit plan_enter invalid codebase_search",
				Unheard:  "batch execute",
			},
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
			Tools: Tools{
				Runs:     "run_commands execute_command bash",
				Reads:    "read_files read_file",
				Writes:   "write_to_file",
				Edits:    "editor apply_patch replace_in_file",
				Searches: "search_codebase search_files",
				Nothing:  "fetch_web_content ask_question spawn_agent skills submit_and_exit team_spawn_teammate team_shutdown_teammate team_status team_task team_run_task team_cancel_run team_list_runs team_await_runs team_send_message team_broadcast team_read_mailbox team_mission_log team_cleanup team_create_outcome team_attach_outcome_fragment team_review_outcome_fragment team_finalize_outcome team_list_outcomes",
			},
			UserFile: "~/.cline/hooks/PreToolUse", ProjectFile: ".cline/hooks/PreToolUse",
			OwnFile: true, Comments: No,
			Deny: "overrideInput with a command that prints the reason and exits 126", Ask: No, Rewrite: Yes, SamePath: true,
			Limits:         "exit codes mean nothing; a cancelled call aborts the run and nobody reads why; review runs at once under auto-approve",
			DefaultTimeout: 120 * time.Second, Timeout: 120 * time.Second, FixedTimeout: true,
			Failure:   "open; safeshell's file makes a refusal of a missing or crashed safeshell",
			Markers:   []Marker{{Name: "CLINE_CONNECTOR_CLI_LAUNCH", Tag: "M"}},
			Processes: []string{"cline"},
		},
		{
			Name: "cline-vscode", Display: "Cline in VS Code", Tag: "S",
			Dirs: []string{"~/Documents/Cline"},
			Hook: Script, Events: []string{"PreToolUse"},
			Tools: Tools{
				Runs:     "execute_command run_commands",
				Reads:    "read_file read_files",
				Writes:   "write_to_file new_rule",
				Edits:    "replace_in_file apply_patch editor",
				Searches: "search_files search_codebase",
				Nothing:  "list_files list_code_definition_names ask_followup_question attempt_completion new_task plan_mode_respond act_mode_respond web_fetch web_search browser_action access_mcp_resource load_mcp_documentation condense summarize_task report_bug use_skill use_subagents focus_chain generate_explanation",
				Unheard:  "use_mcp_tool",
			},
			UserFile: "~/Documents/Cline/Hooks/PreToolUse", ProjectFile: ".clinerules/hooks/PreToolUse",
			OwnFile: true, Comments: No,
			Deny: "cancel with errorMessage", Ask: No, Rewrite: No,
			Limits:         "Cline CLI reads this directory too",
			DefaultTimeout: 30 * time.Second, Timeout: 30 * time.Second, FixedTimeout: true,
			Failure: "open; safeshell's file makes a refusal of a missing or crashed safeshell",
			Markers: []Marker{{Name: "CLINE_ACTIVE", Tag: "S"}},
		},
		{
			Name: "windsurf", Display: "Windsurf Cascade", Aliases: []string{"cascade"}, Tag: "D",
			Binaries: []string{"windsurf"}, Dirs: []string{"~/.codeium/windsurf", "~/.windsurf"},
			Hook: Flat, Events: []string{"pre_run_command", "pre_read_code", "pre_write_code"},
			Tools: Tools{
				Runs:    "pre_run_command",
				Reads:   "pre_read_code",
				Edits:   "pre_write_code",
				Nothing: "post_run_command post_read_code post_write_code pre_user_prompt post_cascade_response",
				Unheard: "pre_mcp_tool_use grep_search",
			},
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
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher: "%s",
			Tools: Tools{
				Runs:     "exec",
				Types:    "write_to_process",
				Reads:    "read",
				Writes:   "write",
				Edits:    "edit multi_edit notebook_edit apply_patch",
				Searches: "grep",
				Nothing:  "glob todo_write web_search webfetch skill ask_user_question get_output run_subagent read_subagent kill_shell mcp_list_tools mcp_list_servers mcp_read_resource",
				Unheard:  "mcp_call_tool",
			},
			UserFile: "~/.config/devin/config.json", ProjectFile: ".devin/hooks.v1.json",
			Comments: Unknown, HookShell: sh,
			Deny: "JSON", Ask: No, Rewrite: Yes,
			Limits:  "whether it can ask is not documented: a question is a deny",
			Timeout: hookTime,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run", Processes: []string{"devin"},
		},
		{
			Name: "goose", Display: "Goose", Tag: "D",
			Binaries: []string{"goose"}, Dirs: []string{"~/.config/goose"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher: "%s",
			Tools: Tools{
				Runs:     "developer__shell",
				Reads:    "developer__read_file developer__read developer__view developer__read_image",
				Writes:   "developer__write",
				Edits:    "developer__text_editor developer__edit",
				Searches: "developer__search",
				Nothing:  "developer__tree developer__list_windows developer__screen_capture developer__image_processor developer__analyze todo__todo_write",
				Unheard:  "computercontroller__automation_script computercontroller__computer_control computercontroller__pdf_tool computercontroller__docx_tool computercontroller__xlsx_tool computercontroller__cache code_execution__execute",
			},
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
			Matcher: "^(%s)$",
			Tools: Tools{
				Runs:     "shell execute_bash execute_cmd executeBash execute_pwsh executePwsh controlBashProcess control_bash_process",
				Reads:    "read fs_read readFile read_file readMultipleFiles read_files readCode read_code",
				Writes:   "fsWrite write_file",
				Edits:    "write fs_write strReplace str_replace fsAppend fs_append editCode edit_code",
				Deletes:  "deleteFile delete_file",
				Searches: "grep grepSearch grep_search",
				Nothing:  "glob fileSearch file_search listDirectory list_directory web_search web_fetch todo_list subagent invokeSubAgent thinking introspect session report_issue knowledge getDiagnostics get_diagnostics remote_web_search listProcesses getProcessOutput userInput kiroPowers taskStatus",
				Unheard:  "aws use_aws code delegate semanticRename smartRelocate",
			},
			UserFile: "~/.kiro/hooks/safeshell.json", ProjectFile: ".kiro/hooks/safeshell.json",
			OwnFile: true, Comments: No, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			DefaultTimeout: 60 * time.Second, Timeout: hookTime,
			Failure: "closed; a timeout: ?",
		},
		{
			Name: "kiro-cli", Display: "Kiro CLI 2.x", Tag: "S",
			Binaries: []string{"kiro-cli"}, Dirs: []string{"~/.kiro/agents"},
			Hook: Flat, Events: []string{"preToolUse"},
			Tools: Tools{
				Runs:     "execute_bash shell execute_cmd",
				Reads:    "fs_read read",
				Edits:    "fs_write write",
				Searches: "grep",
				Nothing:  "glob thinking introspect report_issue knowledge todo_list session web_search web_fetch",
				Unheard:  "use_aws aws code delegate use_subagent",
			},
			UserFile: "~/.kiro/agents/*.json", ProjectFile: ".kiro/agents/*.json",
			Comments: No, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:         "per agent file: the built-in default agent has none; on 2.19.2 exit 2 reportedly did not stop fs_write",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure:   "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
			Processes: []string{"kiro-cli"},
		},
		{
			Name: "amazon-q", Display: "Amazon Q Developer CLI", Aliases: []string{"q"}, Tag: "S",
			Binaries: []string{"q", "qchat"}, Dirs: []string{"~/.aws/amazonq"},
			Hook: Flat, Events: []string{"preToolUse"},
			Tools: Tools{
				Runs:    "execute_bash execute_cmd",
				Reads:   "fs_read",
				Edits:   "fs_write",
				Nothing: "thinking introspect report_issue gh_issue knowledge todo_list",
				Unheard: "use_aws delegate",
			},
			UserFile: "~/.aws/amazonq/cli-agents/*.json", ProjectFile: ".amazonq/cli-agents/*.json",
			Comments: No, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:         "per agent file: the built-in default agent has none",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure:   "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
			Processes: []string{"qchat"},
		},
		{
			Name: "crush", Display: "Crush", Tag: "S",
			Measured: "0.96",
			Binaries: []string{"crush"}, Dirs: []string{"~/.config/crush"},
			Hook: Flat, Events: []string{"PreToolUse"},
			Matcher: "^(%s)$",
			Tools: Tools{
				Runs:     "bash",
				Reads:    "view",
				Writes:   "write download",
				Edits:    "edit multiedit",
				Searches: "grep",
				Nothing:  "job_output job_kill glob ls agent agentic_fetch fetch sourcegraph diagnostics lsp_diagnostics lsp_references lsp_restart todos list_mcp_resources read_mcp_resource web_search web_fetch crush_info crush_logs",
			},
			UserFile: "~/.config/crush/crush.json", ProjectFile: "crush.json",
			BaseVar: "XDG_CONFIG_HOME", Base: "~/.config",
			Comments: Unknown, HookShell: nil,
			Deny: "JSON", Ask: No, Rewrite: Yes,
			Limits:         "calls of the agents that it starts itself fire no hook; hooks run in its embedded shell",
			DefaultTimeout: 30 * time.Second, Timeout: hookTime,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run",
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
			Tools: Tools{
				Runs:     "Bash shell_command",
				Reads:    "Read read_file look_at view_media",
				Writes:   "create_file Write",
				Edits:    "edit_file Edit apply_patch format_file undo_edit",
				Deletes:  "delete_file",
				Searches: "Grep",
				Nothing:  "glob finder list_directory read_web_page web_search todo_write todo_read Task librarian read_thread find_thread mermaid get_diagnostics skill handoff painter chart code_review",
				Unheard:  "oracle repl",
			},
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
			Tools: Tools{
				Runs:     "bash",
				Reads:    "read",
				Writes:   "write",
				Edits:    "edit",
				Searches: "grep",
				Nothing:  "find ls",
			},
			UserFile: "~/.pi/agent/extensions/safeshell.ts", ProjectFile: ".pi/extensions/safeshell.ts",
			OwnFile: true, Comments: No,
			Deny: "the extension returns block", Ask: Partly, Rewrite: Yes, SamePath: true,
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
			Hook: TOMLTables, Events: []string{"PreToolUse"},
			Matcher: "^(%s)$",
			Tools: Tools{
				Runs:     "Bash Shell",
				Reads:    "Read ReadFile ReadMediaFile",
				Writes:   "Write WriteFile",
				Edits:    "Edit StrReplaceFile",
				Searches: "Grep",
				Nothing:  "Glob Task Agent AgentSwarm Skill WebSearch SearchWeb FetchURL TodoList SetTodoList AskUserQuestion EnterPlanMode ExitPlanMode TaskList TaskOutput TaskStop Think SendDMail CronCreate CronList CronDelete",
			},
			UserFile: "~/.kimi-code/config.toml",
			BaseVar:  "KIMI_CODE_HOME", Base: "~/.kimi-code",
			Comments: Yes, HookShell: sh,
			Deny: "exit 2", Ask: No, Rewrite: No,
			Limits:  "an ask counts as allow, so it is never sent",
			Timeout: hookTime,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run", Processes: []string{"kimi"},
		},
		{
			Name: "droid", Display: "Factory Droid", Aliases: []string{"factory", "factory-droid"}, Tag: "T",
			Binaries: []string{"droid"}, Dirs: []string{"~/.factory"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Matcher: "%s",
			Tools: Tools{
				Runs:     "Execute",
				Reads:    "Read",
				Writes:   "Create Write",
				Edits:    "Edit MultiEdit ApplyPatch",
				Searches: "Grep",
				Nothing:  "Glob LS TodoWrite WebSearch FetchUrl Task Skill ExitSpecMode AskUser GenerateDroid slack_post_message",
			},
			UserFile: "~/.factory/hooks.json", ProjectFile: ".factory/hooks.json",
			Comments: Unknown, HookShell: sh,
			Deny: "JSON", Ask: No, Rewrite: No,
			Limits:  "Claude's schema; asking and rewriting are not proven, so they are not used",
			Timeout: hookTime,
			Failure: "open; safeshell's command turns a missing or crashed hook into exit 2, which blocks; a timeout lets the command run", Processes: []string{"droid"},
		},
		{
			Name: "grok", Display: "Grok Build", Tag: "T",
			Binaries: []string{"grok"}, Dirs: []string{"~/.grok"},
			Hook: Nested, Events: []string{"PreToolUse"},
			Tools: Tools{
				Runs:     "run_terminal_command run_terminal_cmd",
				Types:    "send_command_input",
				Reads:    "read_file",
				Writes:   "write write_file",
				Edits:    "search_replace str_replace edit_file",
				Deletes:  "delete_file",
				Searches: "grep grep_search",
				Nothing:  "list_dir glob web_search web_fetch todo_write task get_command_output kill_command ask_user_question",
			},
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
			Hook:     Manual, Events: []string{"PreToolUse"},
			Matcher: "%s",
			Tools: Tools{
				Runs:     "run_command",
				Types:    "send_command_input",
				Reads:    "view_file view_file_outline view_code_item view_content_chunk",
				Writes:   "write_to_file",
				Edits:    "replace_file_content multi_replace_file_content",
				Searches: "grep_search search_in_file",
				Nothing:  "find_by_name list_dir codebase_search command_status read_terminal read_url_content search_web browser_subagent generate_image task_boundary notify_user list_resources read_resource",
			},
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
