package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/budget"
)

// endComments makes comments end where shells end them: a backslash before the
// line's end does not continue a comment, but the parser joins the next line to
// the command in front of it. Only such backslashes are replaced, each by a
// blank, so that all offsets stay.
func endComments(text string, d Dialect, work *budget.Budget) string {
	if !strings.Contains(text, "\\\n") || !strings.Contains(text, "#") {
		return text
	}
	for range 100 {
		f, _ := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(variant(d))).Parse(&textReader{text: text, budget: work}, "")
		if f == nil {
			return text
		}
		b := []byte(text)
		found := false
		mend := func(c *syntax.Comment) {
			end := int(c.End().Offset())
			if strings.HasSuffix(c.Text, "\\\n") && end >= 2 && end <= len(b) && b[end-2] == '\\' && b[end-1] == '\n' {
				b[end-2], found = ' ', true
			}
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.Comment); ok {
				mend(c)
			}
			return true
		})
		if !found {
			return text
		}
		text = string(b)
	}
	return text
}
