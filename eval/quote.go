package eval

import (
	"strings"
	"unicode/utf8"

	"safeshell/eval/condition"
	"safeshell/script"
)

// quote returns the word as the shell would have to be given it: plain words
// as they are, others in single quotes, those with control characters or
// broken UTF-8 as $'...' so that the result is one line of text.
func quote(s string) string {
	if s == "" {
		return "''"
	}
	plain, ansi := true, !utf8.ValidString(s)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c < ' ' || c == 0x7f:
			plain, ansi = false, true
		case c >= 0x80 || isWordByte(c) || strings.IndexByte("@%+=:,./-", c) >= 0:
		default:
			plain = false
		}
	}
	switch {
	case ansi:
		return ansiQuote(s)
	case plain:
		return s
	}
	return condition.Quote(s)
}

func ansiQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		c := s[i]
		switch {
		case r == utf8.RuneError && size <= 1 || c < ' ' || c == 0x7f:
			switch c {
			case '\n':
				b.WriteString(`\n`)
			case '\t':
				b.WriteString(`\t`)
			case '\r':
				b.WriteString(`\r`)
			default:
				b.WriteString(`\`)
				b.WriteByte('0' + c>>6)
				b.WriteByte('0' + c>>3&7)
				b.WriteByte('0' + c&7)
			}
			size = 1
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	b.WriteByte('\'')
	return b.String()
}

// shown returns a word for $CMD: quoted when it is known, else as written in
// the text, else by its parts.
func shown(text string, w script.Word, nested bool) string {
	if s, ok := w.Text(); ok {
		return quote(s)
	}
	if !nested && w.Span.Start >= 0 && w.Span.Start < w.Span.End && w.Span.End <= len(text) {
		return oneLine(text[w.Span.Start:w.Span.End])
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case script.Literal:
			b.WriteString(quote(p.Text))
		case script.Glob:
			b.WriteString(p.Text)
		case script.Variable:
			b.WriteString("$" + p.Name)
		case script.Output:
			b.WriteString("$(" + p.Name + ")")
		case script.TempPath:
			b.WriteString("/tmp" + freshName)
		case script.Operand:
			b.WriteString("{}")
		}
	}
	return oneLine(b.String())
}

// oneLine keeps an unknown word's text from beginning a line of its own.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r") {
		return s
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(s)
}

// CommandText is a command of an analysis as people are shown it: as written,
// or by its words where it stands inside of another one's text.
func CommandText(a *script.Analysis, c *script.Command) string {
	if !c.Nested && c.Span.Start >= 0 && c.Span.Start < c.Span.End && c.Span.End <= len(a.Text) {
		end := c.Span.End
		for _, r := range c.Redirects {
			if r.Span.Start >= end && r.Span.End <= len(a.Text) && strings.Trim(a.Text[end:r.Span.Start], " \t") == "" {
				end = r.Span.End
			}
		}
		return oneLine(a.Text[c.Span.Start:end])
	}
	words := make([]string, 0, len(c.Argv))
	for _, w := range c.Argv {
		words = append(words, shown(a.Text, w, c.Nested))
	}
	for _, r := range c.Redirects {
		words = append(words, r.Op, shown(a.Text, r.Target, c.Nested))
	}
	return strings.Join(words, " ")
}
