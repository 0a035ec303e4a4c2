package agents

// claudeForm is Claude Code's protocol: the event's fields are hook_event_name,
// tool_name, tool_input and cwd, the answer is hookSpecificOutput. Copilot (for
// hooks in Claude's nested form), VS Code, Qwen Code and Factory Droid speak
// it too, each with its own omissions.
//
// An answer without hookEventName is ignored and the command runs (measured
// with 2.1.329), so it is always there.
type claudeForm struct {
	base
	dirKeys  []string // keys of the input that change the directory
	asks     bool
	rewrites bool
	notes    bool // a call that runs may carry a note
	says     bool // tells the user and the model of a rewrite
	skills   bool // texts with commands in them are loaded by the tool Skill
}

// claudeShell says that a tool's name is one of Claude Code's shells.
func claudeShell(tool string) bool {
	switch tool {
	case "Bash", "PowerShell", "Monitor":
		return true
	}
	return false
}

func claudeCode() protocol {
	return claudeForm{asks: true, rewrites: true, notes: true, says: true, skills: true}
}

func (p claudeForm) read(e *event) request {
	r := request{
		name: e.first(e.root, "hook_event_name", "hookEventName"),
		tool: e.str(e.root, "tool_name"),
		args: e.value(e.root, "tool_input"),
	}
	if r.name == "" {
		e.fail("%w: it has no hook_event_name", errNotAnEvent)
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
	if r.tool == "Skill" && p.skills {
		return p.skill(e, r)
	}
	if !e.ours(&r) {
		return r
	}
	r.call.Session = e.first(e.root, "session_id", "sessionId")
	e.take(&r, e.str(e.root, "cwd"), "command", p.dirKeys...)
	// dontAsk turns every question into a refusal that does not say why.
	r.ask = p.asks && e.str(e.root, "permission_mode") != "dontAsk"
	r.write = r.rewritable() && p.rewrites
	r.note = p.notes
	return r
}

// skill judges what loading a skill runs by itself; a replacement has no place.
func (p claudeForm) skill(e *event, r request) request {
	r.call.Dir = e.dir(e.str(e.root, "cwd"), "")
	name, _ := r.args.get("skill").text()
	args, _ := r.args.get("args").text()
	for _, l := range e.skillLines(r.call.Dir, name, args) {
		e.line(&r, l)
	}
	r.skip = len(r.call.Lines) == 0
	r.call.Session = e.first(e.root, "session_id", "sessionId")
	r.ask = p.asks && e.str(e.root, "permission_mode") != "dontAsk"
	return r
}

// note tells the user and the model, and decides nothing.
func (p claudeForm) note(_ *event, _ request, msg string) reply {
	return jsonReply(`{"systemMessage":` + quoteJSON(msg) + "," + claudeHead[1:] + `"additionalContext":` + quoteJSON(msg) + `}}`)
}

const claudeHead = `{"hookSpecificOutput":{"hookEventName":"PreToolUse",`

func claudeDecision(decision, msg string) reply {
	return jsonReply(claudeHead + `"permissionDecision":` + quoteJSON(decision) +
		`,"permissionDecisionReason":` + quoteJSON(msg) + `}}`)
}

func (p claudeForm) deny(_ *event, _ request, msg string) reply { return claudeDecision("deny", msg) }

func (p claudeForm) ask(_ *event, r request, msg string) (reply, bool) {
	return claudeDecision("ask", msg), r.ask
}

// rewrite leaves the decision out: the new command then meets the agent's own
// rules. updatedInput replaces the whole input, so all of it is sent back.
func (p claudeForm) rewrite(e *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	doc := claudeHead + `"updatedInput":` + e.replaced(r, lines[0])
	if p.says { // both reach their reader where Claude then refuses the new command (2.1.330)
		doc = `{"systemMessage":` + quoteJSON(rewriteNote) + `,` + doc[1:] + `,"additionalContext":` + quoteJSON(rewriteNote)
	}
	return jsonReply(doc + `}}`), true
}
