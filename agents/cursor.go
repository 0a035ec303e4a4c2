package agents

import "strings"

// cursorForm is Cursor's protocol. It fires beforeShellExecution, which can
// ask, and preToolUse, which can rewrite but does not enforce a question. With
// failClosed, which Install sets, an empty answer blocks, so allowing is said.
//
// foreign is Cursor running a hook out of Claude's settings: only exit 2 is
// documented for both, and silence passes, as failClosed is not set there.
type cursorForm struct {
	base
	foreign bool
}

func (p cursorForm) read(e *event) request {
	r := request{name: e.str(e.root, "hook_event_name")}
	if r.name == "" {
		e.fail("%w: it has no hook_event_name", errNotAnEvent)
		return r
	}
	r.call.Session = e.str(e.root, "conversation_id")
	cwd := e.str(e.root, "cwd")
	if cwd == "" {
		if roots := e.value(e.root, "workspace_roots"); roots.is('[') && len(roots.elems) > 0 {
			cwd, _ = roots.elems[0].text()
		}
	}
	switch {
	case r.name == "beforeShellExecution":
		r.args, r.kind = e.root, runsTool
		e.take(&r, cwd, "command")
		r.ask = !p.foreign
	case r.name == "beforeReadFile":
		r.args, r.kind = e.root, readsTool
		e.take(&r, cwd, "")
	case strings.EqualFold(r.name, "preToolUse"):
		r.tool, r.args = e.str(e.root, "tool_name"), e.value(e.root, "tool_input")
		if r.tool == "" {
			e.fail("%w: it has no tool_name", errNotAnEvent)
			return r
		}
		if e.ours(&r) {
			e.take(&r, cwd, "command", "working_directory")
			r.write = r.rewritable() && !p.foreign
		}
	default:
		r.skip = true
	}
	return r
}

func (p cursorForm) pass(*event, request) reply {
	if p.foreign {
		return reply{}
	}
	return jsonReply(`{"permission":"allow"}`)
}

func cursorDecision(decision, msg string) reply {
	q := quoteJSON(msg)
	return jsonReply(`{"permission":` + quoteJSON(decision) + `,"user_message":` + q + `,"agent_message":` + q + `}`)
}

func (p cursorForm) deny(_ *event, _ request, msg string) reply {
	if p.foreign {
		return exit2(msg)
	}
	return cursorDecision("deny", msg)
}

func (p cursorForm) ask(_ *event, r request, msg string) (reply, bool) {
	return cursorDecision("ask", msg), r.ask
}

func (p cursorForm) rewrite(e *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	return jsonReply(`{"permission":"allow","updated_input":` + e.replaced(r, lines[0]) + `}`), true
}
