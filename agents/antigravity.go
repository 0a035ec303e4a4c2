package agents

// antigravityForm is the Antigravity CLI's protocol, known from third parties:
// silence leaves the call to its own rules, {} and anything unreadable block.
type antigravityForm struct{ base }

func (antigravityForm) read(e *event) request {
	call := e.value(e.root, "toolCall")
	if !call.is('{') {
		e.fail("%w: it has no toolCall", errNotAnEvent)
		return request{}
	}
	r := request{tool: e.str(call, "name"), args: e.value(call, "args")}
	if name := e.first(e.root, "hookEventName", "hook_event_name", "event"); name != "" && name != "PreToolUse" {
		r.skip = true
		return r
	}
	if r.tool == "" {
		e.fail("%w: the call has no name", errNotAnEvent)
		return r
	}
	if !e.ours(&r) {
		return r
	}
	r.call.Session = e.first(e.root, "conversationId", "sessionId", "session_id")
	e.take(&r, e.first(e.root, "cwd", "workspaceRoot"), "CommandLine", "Cwd")
	return r
}

func (antigravityForm) deny(_ *event, _ request, msg string) reply { return denyDecision(msg) }

func (p antigravityForm) fail(e *event, _ *request, msg string) reply {
	return p.deny(e, request{}, msg)
}
