package agents

// pluginForm is spoken between safeshell and its own plugins in opencode, Kilo,
// Pi and Amp: {"tool","args","cwd","sessionID","ui"} in, and out nothing (the
// agent's rules decide), {"command"} (run this), {"ask"} (put this to the
// person) or exit 2 with the reason on stderr.
type pluginForm struct {
	base
	rewrites bool
}

func (p pluginForm) read(e *event) request {
	r := request{tool: e.str(e.root, "tool"), args: e.value(e.root, "args")}
	if r.tool == "" {
		e.fail("%w: it has no tool", errNotAnEvent)
		return r
	}
	if !e.ours(&r) {
		return r
	}
	r.call.Session = e.str(e.root, "sessionID")
	if ui := e.value(e.root, "ui"); ui != nil {
		r.ask = ui.kind == 't'
	}
	e.take(&r, e.str(e.root, "cwd"), "command", "workdir")
	r.write = r.rewritable() && p.rewrites
	return r
}

func (p pluginForm) ask(_ *event, r request, msg string) (reply, bool) {
	return jsonReply(`{"ask":` + quoteJSON(msg) + `}`), r.ask
}

func (p pluginForm) rewrite(_ *event, r request, lines []string) (reply, bool) {
	return jsonReply(`{"command":` + quoteJSON(lines[0]) + `}`), r.write
}
