package agents

// geminiForm is the Gemini CLI's protocol (event BeforeTool). Claude's
// permissionDecision is ignored, and a question hangs where nobody sits, so
// none is asked (measured with 0.61.0).
type geminiForm struct{ base }

func (geminiForm) read(e *event) request {
	r := request{
		name: e.str(e.root, "hook_event_name"),
		tool: e.str(e.root, "tool_name"),
		args: e.value(e.root, "tool_input"),
	}
	if r.name == "" {
		e.fail("%w: it has no hook_event_name", errNotAnEvent)
		return r
	}
	if r.name != "BeforeTool" {
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
	e.take(&r, e.str(e.root, "cwd"), "command", "dir_path", "directory")
	r.write = r.rewritable()
	return r
}

func (geminiForm) deny(_ *event, _ request, msg string) reply { return denyDecision(msg) }

// denyDecision is the answer of Gemini, Grok Build and Antigravity.
func denyDecision(msg string) reply {
	return jsonReply(`{"decision":"deny","reason":` + quoteJSON(msg) + `}`)
}

// rewrite is merged into the input by Gemini, so only the command is sent.
func (geminiForm) rewrite(_ *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	return jsonReply(`{"systemMessage":` + quoteJSON(rewriteNote) + `,"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":` +
		quoteJSON(lines[0]) + `}}}`), true
}
