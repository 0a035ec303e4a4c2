package agents

import "strings"

// grokForm is Grok Build's protocol. It cuts long inputs and says so: what was
// cut cannot be judged.
type grokForm struct{ base }

func (grokForm) read(e *event) request {
	r := request{
		name: e.first(e.root, "hookEventName", "hook_event_name"),
		tool: e.first(e.root, "toolName", "tool_name"),
	}
	if r.name != "" && !strings.EqualFold(strings.ReplaceAll(r.name, "_", ""), "PreToolUse") {
		r.skip = true
		return r
	}
	if r.tool == "" {
		e.fail("%w: it has no toolName", errNotAnEvent)
		return r
	}
	if r.args = e.value(e.root, "toolInput"); r.args == nil {
		r.args = e.value(e.root, "tool_input")
	}
	if !e.ours(&r) {
		return r
	}
	r.call.Session = e.first(e.root, "sessionId", "session_id")
	if cut := e.value(e.root, "toolInputTruncated"); cut != nil && cut.kind != 'f' {
		e.fail("the tool's input was cut short before it came here; use a shorter one")
		return r
	}
	e.take(&r, e.first(e.root, "cwd", "workspaceRoot"), "command")
	return r
}

func (grokForm) deny(_ *event, _ request, msg string) reply { return denyDecision(msg) }
