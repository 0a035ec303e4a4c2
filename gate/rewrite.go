package gate

import (
	"strings"

	"safeshell/eval"
	"safeshell/script"
)

// rewriteSpans replaces a command's word by the redirect's words in front of
// the arguments, so that every argument stays byte for byte. It returns why
// that cannot be done, "" on success.
func (g *Gate) rewriteSpans(a *script.Analysis, c script.Command, d eval.Decision) ([]script.Edit, string) {
	before, after := d.RedirectBefore, d.RedirectAfter
	head := c.Argv[0].Span
	if len(before) == 0 || head.End <= head.Start {
		return nil, "some of its words are not known before it runs"
	}
	if !oneWord(a, c.Argv[0]) {
		return nil, "the word that names the command stands for more than that"
	}
	edits := []script.Edit{{Span: head, New: script.Quote(g.command(before))}}
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

// oneWord reports whether the text of w is that word wherever it is read, and
// nothing else: not several words ({rm,-f}, $X), not one per turn of a loop, and
// no command inside it ($(rm x; echo rm)).
func oneWord(a *script.Analysis, w script.Word) bool {
	name, ok := w.Text()
	if !ok {
		return false
	}
	for i := range a.Commands {
		c := &a.Commands[i]
		if c.Nested {
			continue
		}
		if c.Span.Start >= w.Span.Start && c.Span.End <= w.Span.End && c.Span.End > c.Span.Start && c.Span != w.Span {
			return false
		}
		n := 0
		for _, x := range c.Argv {
			if x.Span != w.Span {
				continue
			}
			if t, ok := x.Text(); !ok || t != name {
				return false
			}
			n++
		}
		if n > 1 {
			return false
		}
	}
	return true
}
