package agents

import "strings"

// crushForm is Crush's protocol. updated_input is merged into the input and
// needs no decision; an explicit allow would skip Crush's own prompt.
type crushForm struct{ base }

func (crushForm) read(e *event) request {
	r := request{
		name: e.str(e.root, "event"),
		tool: e.str(e.root, "tool_name"),
		args: e.value(e.root, "tool_input"),
	}
	if r.name == "" {
		e.fail("%w: it has no event", errNotAnEvent)
		return r
	}
	if !strings.EqualFold(strings.ReplaceAll(r.name, "_", ""), "PreToolUse") {
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
	e.take(&r, e.str(e.root, "cwd"), "command", "working_dir")
	r.write = r.rewritable()
	return r
}

func (crushForm) deny(_ *event, _ request, msg string) reply {
	return jsonReply(`{"version":1,"decision":"deny","reason":` + quoteJSON(msg) + `}`)
}

func (crushForm) rewrite(_ *event, r request, lines []string) (reply, bool) {
	return jsonReply(`{"version":1,"updated_input":{"command":` + quoteJSON(lines[0]) + `}}`), r.write
}
