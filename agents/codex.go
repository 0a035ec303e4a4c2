package agents

import (
	"regexp"
	"strings"
)

// codexForm is the Codex CLI's protocol: Claude's event, but the answer must
// have exactly the documented keys, or it is invalid and the command runs. It
// cannot ask, and a rewrite must carry allow (both measured with 0.169.0).
type codexForm struct{ claudeForm }

func codex() protocol { return codexForm{claudeForm{shell: isBash, rewrites: true}} }

func (p codexForm) read(e *event) request {
	r := p.claudeForm.read(e)
	if r.tool == "Bash" && len(r.call.Lines) == 1 {
		e.shellPatch(&r, r.call.Lines[0])
	}
	return r
}

// Codex carries out a shell command that is nothing but apply_patch with a here
// document itself, without a shell and without an event for the patch (measured
// with 0.169.0).
var codexPatch = regexp.MustCompile(`(?s)\A\s*(?:cd\s+('[^']*'|"[^"]*"|[^\s;&|'"]+)\s*&&\s*)?apply_?patch\b`)

// shellPatch adds the files of a patch that stands in a shell command.
func (e *event) shellPatch(r *request, line string) {
	m := codexPatch.FindStringSubmatch(line)
	if m == nil {
		return
	}
	dir := r.call.Dir
	if m[1] != "" {
		dir = e.dir(dir, strings.Trim(m[1], `'"`))
	}
	for _, p := range patchPaths(line) {
		r.call.Files = append(r.call.Files, FileAccess{Path: e.abs(dir, p), Write: true})
	}
}

func isBash(tool string) bool { return tool == "Bash" }

// deny ends with a line of its own: Codex itself appends ". Command: …", which
// would else read as a part of our last line, often the safer command.
func (p codexForm) deny(_ *event, _ request, msg string) reply {
	return claudeDecision("deny", msg+codexEnd)
}

func (p codexForm) fail(_ *event, _ *request, msg string) reply { return exit2(msg + codexEnd) }

const codexEnd = "\n\nNot run"

func (p codexForm) rewrite(_ *event, r request, lines []string) (reply, bool) {
	if !r.write {
		return reply{}, false
	}
	return jsonReply(claudeHead + `"permissionDecision":"allow","updatedInput":{"command":` +
		quoteJSON(lines[0]) + `}}}`), true
}
