package script

import "strings"

// String is the word for people and JSON: its text as far as it is known, with
// what is not known written as a shell would write it.
func (w Word) String() string {
	if t, ok := w.Text(); ok {
		return t
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case Literal, Glob:
			b.WriteString(p.Text)
		case Variable:
			b.WriteString("$" + p.Name)
		case Output:
			b.WriteString("$(" + p.Name + ")")
		case TempPath:
			b.WriteString("$(mktemp)")
		case Operand:
			if p.Name != "" {
				b.WriteString("$" + p.Name)
			} else {
				b.WriteString("{}")
			}
		}
	}
	return b.String()
}
