package agents

// gooseForm is Goose's protocol. Silence allows; {} and every other answer
// that is not documented counts as a failed hook, which on_failure blocks.
type gooseForm struct{ base }

func (gooseForm) read(e *event) request {
	r := request{
		name: e.str(e.root, "event"),
		tool: e.str(e.root, "tool_name"),
		args: e.value(e.root, "tool_input"),
	}
	if r.name == "" {
		e.fail("%w: it has no event", errNotAnEvent)
		return r
	}
	if r.name != "PreToolUse" {
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
	e.take(&r, e.first(e.root, "working_dir", "cwd"), "command")
	return r
}

func (gooseForm) deny(_ *event, _ request, msg string) reply { return blockDecision(msg) }
