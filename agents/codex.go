package agents

import (
	"path/filepath"
	"regexp"
	"strings"
)

// codexForm is the Codex CLI's protocol: Claude's event, but the answer must
// have exactly the documented keys, or it is invalid and the command runs. It
// cannot ask, and a rewrite must carry allow (both measured with 0.169.0).
type codexForm struct{ claudeForm }

func codex() protocol { return codexForm{claudeForm{rewrites: true, notes: true}} }

func (p codexForm) read(e *event) request {
	r := p.claudeForm.read(e)
	r.write = r.write && e.str(e.root, "permission_mode") == "bypassPermissions" && !e.codexRules(r.call.Dir)
	if r.tool == "Bash" && len(r.call.Lines) == 1 {
		e.shellPatch(&r, r.call.Lines[0])
	}
	return r
}

// codexRules reports whether Codex has rules of its own about commands. The allow
// that a rewrite must carry would pass them by (measured with 0.169.0), as it passes
// by the question of every mode but bypassPermissions.
func (e *event) codexRules(dir string) bool {
	dirs := []string{"/etc/codex"}
	if home := e.getenv("CODEX_HOME"); home != "" {
		dirs = append(dirs, home)
	} else {
		dirs = append(dirs, filepath.Join(e.getenv("HOME"), ".codex"))
	}
	for ; dir != "" && dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		dirs = append(dirs, filepath.Join(dir, ".codex"))
	}
	for _, d := range dirs {
		if found, err := filepath.Glob(filepath.Join(d, "rules", "*.rules")); err != nil || len(found) > 0 {
			return true
		}
	}
	return false
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
	e.patch(r, dir, line)
}

// deny ends with a line of its own: Codex itself appends ". Command: …", which
// would else read as a part of our last line, often the safer command.
func (p codexForm) deny(_ *event, _ request, msg string) reply {
	return claudeDecision("deny", msg+codexEnd)
}

func (p codexForm) note(_ *event, _ request, msg string) reply {
	return jsonReply(`{"systemMessage":` + quoteJSON(msg) + `}`)
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
