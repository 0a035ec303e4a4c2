package agents

// codexForm is the Codex CLI's protocol: Claude's event, but the answer must
// have exactly the documented keys, or it is invalid and the command runs. It
// cannot ask, and a rewrite must carry allow (both measured with 0.169.0).
type codexForm struct{ claudeForm }

func codex() protocol { return codexForm{claudeForm{shell: isBash, rewrites: true}} }

func isBash(tool string) bool { return tool == "Bash" }

func (p codexForm) rewrite(_ *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	return jsonReply(claudeHead + `"permissionDecision":"allow","updatedInput":{"command":` +
		quoteJSON(lines[0]) + `}}}`), true
}
