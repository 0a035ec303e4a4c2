package agents

// sender finds who really sent an event. Agents run hooks out of each other's
// files (VS Code, Cursor, Devin, Copilot and Grok read Claude's), so the name
// on the command line is only a hint; the payload decides where it can.
//
// named is empty when the command line names nobody known; the answer is empty
// when nothing tells.
func sender(root *node, named string, getenv func(string) string) string {
	text := func(key string) string { s, _ := root.get(key).text(); return s }
	hook := text("hook_event_name")
	tool := text("tool_name")
	one := func(list ...string) bool {
		for _, n := range list {
			if n == named {
				return true
			}
		}
		return false
	}
	keep := func(fallback string, family ...string) string {
		if one(family...) {
			return named
		}
		return fallback
	}
	switch {
	case root.has("agent_action_name"):
		return "windsurf"
	case root.has("hookName"):
		if pre := root.get("preToolUse"); !root.has("tool_call") && pre.is('{') {
			if t, _ := pre.get("toolName").text(); t != "run_commands" {
				return "cline-vscode"
			}
		}
		return "cline"
	case root.has("toolCall"):
		return "antigravity"
	case root.has("toolInput") || root.has("toolInputTruncated"):
		return "grok"
	case root.has("toolName"):
		return "copilot"
	case root.has("tool") && root.has("args"):
		return keep("opencode", "opencode", "kilo", "pi", "amp")
	case root.has("conversation_id"):
		return "cursor"
	case root.has("event") && root.has("working_dir"):
		return "goose"
	case root.has("event"):
		return keep("crush", "crush", "goose")
	case hook == "BeforeTool":
		return "gemini"
	case root.has("turn_id"):
		return "codex"
	case named != "kimi" && root.has("tool_call_id") && root.has("tool_use_id"):
		return "qwen"
	case root.has("hookEventName"), tool == "run_in_terminal", tool == "runInTerminal":
		return keep("vscode", "droid")
	case tool == "exec":
		return "devin"
	case hook == "preToolUse" || tool == "execute_bash":
		return keep("kiro", "kiro", "kiro-cli", "amazon-q", "cursor")
	case tool == "Execute":
		return "droid"
	case hook != "PreToolUse":
		return named // another event, or none at all
	case one("codex", "vscode", "devin", "kimi", "droid", "copilot"):
		return named // Claude's shape, and its tool names are understood
	case !claudeShell(tool) && one("qwen", "kiro", "kiro-cli", "amazon-q", "cursor"):
		return named
	case getenv("DEVIN_PROJECT_DIR") != "":
		return "devin"
	case root.has("timestamp") && (getenv("COPILOT_CLI") != "" || getenv("CLAUDECODE") == ""):
		return "copilot" // Claude Code sends no timestamp, and marks its hooks
	}
	return "claude-code"
}

// protocolFor returns the protocol of the real sender; nil for one without.
func protocolFor(real, named string, root *node) protocol {
	switch real {
	case "claude-code":
		return claudeCode()
	case "codex":
		return codex()
	case "copilot":
		if root != nil && !root.has("toolName") {
			return copilotClaude()
		}
		return copilotForm{}
	case "vscode":
		return vscode()
	case "cursor":
		return cursorForm{foreign: named != "cursor"}
	case "gemini":
		return geminiForm{}
	case "qwen":
		return qwen()
	case "opencode", "kilo", "pi":
		return pluginForm{rewrites: true}
	case "amp":
		return pluginForm{}
	case "cline", "cline-vscode":
		return clineForm{}
	case "windsurf":
		return windsurfForm{}
	case "devin":
		return devin()
	case "goose":
		return gooseForm{}
	case "kiro", "kiro-cli", "amazon-q":
		return kiroForm{}
	case "crush":
		return crushForm{}
	case "kimi":
		return kimi()
	case "droid":
		return droid()
	case "grok":
		return grokForm{}
	case "antigravity":
		return antigravityForm{}
	}
	return nil
}
