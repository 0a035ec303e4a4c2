package agents

import "strings"

// kiroForm is the protocol of Kiro and, unchanged, of Amazon Q: a non-zero exit
// blocks with the text on stderr (2.x and Q: only exit 2 does), and stdout
// would go to the model.
type kiroForm struct{ base }

func (kiroForm) read(e *event) request {
	r := request{
		name: e.str(e.root, "hook_event_name"),
		tool: e.str(e.root, "tool_name"),
		args: e.value(e.root, "tool_input"),
	}
	if r.name == "" {
		e.fail("%w: it has no hook_event_name", errNotAnEvent)
		return r
	}
	if !strings.EqualFold(r.name, "preToolUse") {
		r.skip = true
		return r
	}
	if r.tool == "" {
		e.fail("%w: it has no tool_name", errNotAnEvent)
		return r
	}
	if !e.ours(&r) {
		return r
	}
	r.call.Session = e.str(e.root, "session_id")
	e.take(&r, e.str(e.root, "cwd"), "command")
	return r
}
