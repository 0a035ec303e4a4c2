package agents

import (
	"runtime"
	"strings"
)

// clineForm is Cline's protocol, in its command line (several commands, which
// can be overridden) and in VS Code (one command, cancel only). Exit codes and
// stderr mean nothing to either, so every answer is JSON.
//
// Cancelling aborts the whole run of the command line, and neither the model
// nor the user reads why. So a denial overrides the commands by one that
// prints the reason and exits 126 (measured with 3.0.65).
type clineForm struct{ base }

func (clineForm) read(e *event) request {
	r := request{name: e.str(e.root, "hookName")}
	r.call.Session = e.str(e.root, "taskId")
	switch r.name {
	case "":
		e.fail("%w: it has no hookName", errNotAnEvent)
		return r
	case "tool_call", "PreToolUse":
	default:
		r.skip = true
		return r
	}
	cwd := ""
	if roots := e.value(e.root, "workspaceRoots"); roots.is('[') && len(roots.elems) > 0 {
		cwd, _ = roots.elems[0].text()
	}
	call := e.value(e.root, "tool_call")
	pre := e.value(e.root, "preToolUse")
	switch {
	case call.is('{'):
		r.tool, r.args = e.str(call, "name"), e.value(call, "input")
		r.write = true // only the command line sends tool_call
	case pre.is('{'):
		r.tool, r.args = e.first(pre, "toolName", "tool"), e.value(pre, "parameters")
	default:
		e.fail("%w: it has neither tool_call nor preToolUse", errNotAnEvent)
		return r
	}
	if r.tool == "" {
		e.fail("%w: the call has no tool name", errNotAnEvent)
		return r
	}
	if !e.ours(&r) {
		return r
	}
	if r.kind != runsTool {
		r.write = false
		e.take(&r, cwd, "")
		return r
	}
	r.call.Dir = e.dir(cwd, "")
	e.clineCommands(&r, r.args, 0)
	if len(r.call.Lines) == 0 {
		e.fail("the tool %q came without a command", r.tool)
	}
	return r
}

// clineCommands takes the commands out of every shape in which Cline sends
// them: a string, a list, {"commands"}, {"command"}, {"cmd"}, and elements of
// the form {"command":"ls","args":["-l"]}.
func (e *event) clineCommands(r *request, n *node, depth int) {
	if n == nil || depth > 4 {
		return
	}
	switch n.kind {
	case '"':
		// Parameters repeat the list as JSON inside a string.
		if t := strings.TrimSpace(n.str); depth == 1 && strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") {
			if inner, err := parseJSON([]byte(t), strictJSON, false); err == nil && allStrings(inner.root) {
				e.clineCommands(r, inner.root, depth+1)
				return
			}
		}
		e.line(r, n.str)
	case '[':
		for _, el := range n.elems {
			e.clineCommands(r, el, depth+1)
		}
	case '{':
		if n.has("args") && n.has("command") {
			// The program is not quoted: it may be a command line by itself.
			words := []string{e.str(n, "command")}
			args := e.value(n, "args")
			if args != nil && args.kind != '[' {
				e.fail("args holds %s where a list is due", args.kindName())
				return
			}
			if args != nil {
				for _, a := range args.elems {
					s, ok := a.text()
					if !ok {
						e.fail("args holds %s where a string is due", a.kindName())
						return
					}
					words = append(words, shellQuote(s))
				}
			}
			e.line(r, strings.Join(words, " "))
			return
		}
		for _, key := range []string{"commands", "command", "cmd"} {
			if v := e.value(n, key); v != nil {
				e.clineCommands(r, v, depth+1)
			}
		}
	default:
		e.fail("a command holds %s where a string is due", n.kindName())
	}
}

func allStrings(n *node) bool {
	for _, el := range n.elems {
		if el.kind != '"' {
			return false
		}
	}
	return n.kind == '['
}

func (clineForm) pass(*event, request) reply { return jsonReply(`{}`) }

func clineCancel(msg string) reply {
	return jsonReply(`{"cancel":true,"errorMessage":` + quoteJSON(msg) + `}`)
}

func (p clineForm) deny(e *event, r request, msg string) reply {
	if r.call.Agent == "cline" && len(r.paths) > 0 && len(r.call.Lines) == 0 && runtime.GOOS != "windows" {
		return clineNowhere(e, r, msg)
	}
	if !r.write {
		return clineCancel(msg)
	}
	return p.override(e, r, []string{clineSays(msg)})
}

// clineSays is the command that says why another is not run.
func clineSays(msg string) string { return "printf '%s\\n' " + shellQuote(msg) + " >&2; exit 126" }

// clineNowhere sends a file tool to a path that no file can have, and that says
// why: the model reads it in the tool's error. Cancelling would end the whole
// run, with the reason read by nobody.
func clineNowhere(e *event, r request, msg string) reply {
	msg = strings.Join(strings.Fields(strings.ReplaceAll(msg, "/", "\u2215")), " ")
	parts := make([]edit, 0, len(r.paths))
	for _, n := range r.paths {
		parts = append(parts, edit{off: n.start, old: string(n.raw(e.src)), with: quoteJSON("/dev/null/" + clip(msg, 1500))})
	}
	return jsonReply(`{"overrideInput":` + splice(e.src, r.args, parts) + `}`)
}

func (p clineForm) rewrite(e *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	return p.override(e, r, lines), true
}

// override sends the commands in the shape that was measured, with whatever
// else the input held.
func (clineForm) override(e *event, r request, lines []string) reply {
	var b strings.Builder
	b.WriteString(`{"overrideInput":{"commands":` + quoteList(lines))
	if r.args.is('{') {
		for _, m := range r.args.members {
			switch m.key.str {
			case "commands", "command", "cmd", "args":
				continue
			}
			b.WriteByte(',')
			b.Write(m.key.raw(e.src))
			b.WriteByte(':')
			b.Write(m.val.raw(e.src))
		}
	}
	b.WriteString(`}}`)
	return jsonReply(b.String())
}

func (p clineForm) fail(e *event, r *request, msg string) reply {
	if r == nil {
		return clineCancel(msg)
	}
	return p.deny(e, *r, msg)
}
