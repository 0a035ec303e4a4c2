package agents

// copilotForm is the Copilot CLI's own protocol (event preToolUse). Hooks that
// are configured in Claude's nested form get Claude's payload instead, which
// is copilotClaude.
//
// Claude's hookSpecificOutput and decision are ignored here and the command
// runs; with a non-zero exit it is denied, but the text is lost (measured with
// 1.0.102). So failures of ours answer in JSON as soon as the form is known.
type copilotForm struct{ base }

// copilotClaude is Copilot running a hook of Claude's form.
func copilotClaude() protocol { return claudeForm{asks: true, rewrites: true} }

func (copilotForm) read(e *event) request {
	r := request{tool: e.str(e.root, "toolName"), args: e.value(e.root, "toolArgs")}
	if name := e.first(e.root, "hookEventName", "hook_event_name"); e.root.has("toolResult") ||
		name != "" && name != "preToolUse" && name != "PreToolUse" {
		r.skip = true // another event
		return r
	}
	if r.tool == "" {
		e.fail("%w: it has no toolName", errNotAnEvent)
		return r
	}
	if !e.ours(&r) {
		return r
	}
	r.call.Session = e.str(e.root, "sessionId")
	cwd := e.str(e.root, "cwd")
	if s, ok := r.args.text(); ok && !patchTool(r.tool) {
		// Some versions send the arguments as JSON inside a string.
		inner, err := parseJSON([]byte(s), strictJSON, false)
		if err != nil {
			e.fail("toolArgs: %v", err)
			return r
		}
		e.src, r.args = inner.src, inner.root
	}
	e.take(&r, cwd, "command")
	r.ask, r.write = true, r.rewritable()
	return r
}

func copilotDecision(decision, msg string) reply {
	return jsonReply(`{"permissionDecision":` + quoteJSON(decision) +
		`,"permissionDecisionReason":` + quoteJSON(msg) + `}`)
}

func (copilotForm) deny(_ *event, _ request, msg string) reply { return copilotDecision("deny", msg) }

func (copilotForm) ask(_ *event, r request, msg string) (reply, bool) {
	return copilotDecision("ask", msg), r.ask
}

func (copilotForm) rewrite(e *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	return jsonReply(`{"modifiedArgs":` + e.replaced(r, lines[0]) + `}`), true
}

func (p copilotForm) fail(e *event, r *request, msg string) reply {
	if r == nil {
		return exit2(msg)
	}
	return p.deny(e, *r, msg)
}
