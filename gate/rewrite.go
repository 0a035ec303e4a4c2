package gate

import (
	"strings"

	"safeshell/eval"
	"safeshell/script"
)

// rewriteSpans replaces a command's word by the path of its shim (where there is
// none, by the redirect's words in front of the arguments), so that every argument
// stays byte for byte. It returns why that cannot be done, "" on success.
func (g *Gate) rewriteSpans(a *script.Analysis, c script.Command, d eval.Decision, req Request) ([]script.Edit, string) {
	before, after := g.command(d.RedirectBefore), d.RedirectAfter
	// The shim has the command's own name, by which an agent's rules know it.
	if shim := g.shimFor(c.Name(), req.Layer); shim != "" && req.Dialect != script.PowerShell {
		before, after = []string{shim}, nil
	}
	head := c.Argv[0].Span
	if len(before) == 0 || head.End <= head.Start {
		return nil, "some of its words are not known before it runs"
	}
	if !g.facts.oneWord(a, c.Argv[0]) {
		return nil, "the word that names the command stands for more than that"
	}
	edits := []script.Edit{{Span: head, New: script.Quote(before)}}
	// Copilot's permissions refuse an absolute path outside of the project, and let
	// the same file pass below ~ (measured with 1.0.102).
	if rel, in := strings.CutPrefix(before[0], g.env.Paths.User+"/"); in && len(before) == 1 && req.Layer == Hook && !req.PlainWords && !strings.Contains(a.Text, "HOME") {
		edits[0].New = "~/" + script.Quote([]string{rel})
	}
	if strings.ContainsAny(edits[0].New+script.Quote(after), "`\\") && strings.Contains(a.Text[:head.Start], "`") {
		return nil, "the command to run instead cannot be written inside backquotes"
	}
	if len(after) > 0 {
		last := c.Argv[len(c.Argv)-1].Span
		// Operands that xargs or find add come behind every word of the text.
		if last.End < head.End || len(c.Via) > 0 {
			return nil, "what belongs behind its arguments cannot be put there"
		}
		edits = append(edits, script.Edit{Span: script.Span{Start: last.End, End: last.End}, New: " " + script.Quote(after)})
	}
	return edits, ""
}
