package eval

import (
	"strings"

	"safeshell/script"
)

// input is the command's standard input, as far as it is known.
func (v *view) input() (string, bool) {
	if v.c.Stdin == nil {
		return "", false
	}
	if s, ok := v.c.Stdin.Text(); ok {
		return s, true
	}
	var b strings.Builder
	for _, p := range v.c.Stdin.Parts {
		if p.Kind == script.Literal || p.Kind == script.Glob {
			b.WriteString(p.Text)
		} else {
			b.WriteByte('?')
		}
	}
	return b.String(), b.Len() > 0
}

// showsVariable returns the name of a variable that matches and whose value is
// among the arguments. What is known of a text like ${#X} or ${X:+set} is not
// the value.
func (v *view) showsVariable(names pattern) string {
	for _, w := range v.words(1) {
		for _, p := range w.Parts {
			if p.Kind != script.Variable || strings.HasPrefix(p.Name, "#") || !names.match(p.Name) {
				continue
			}
			if !v.c.Nested && w.Span.Start >= 0 && w.Span.End <= len(v.a.Text) && w.Span.Start < w.Span.End {
				written := v.a.Text[w.Span.Start:w.Span.End]
				if strings.Contains(written, "${#"+p.Name) || strings.Contains(written, "${"+p.Name+":+") || strings.Contains(written, "${"+p.Name+"+") {
					continue
				}
			}
			return p.Name
		}
	}
	return ""
}
