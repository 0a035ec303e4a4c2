package script

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Quote returns argv as one line of bash that evaluates to exactly argv.
// Bytes that no shell word can hold (NUL) are left out.
func Quote(argv []string) string {
	var b strings.Builder
	for i, arg := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		q, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			q, err = syntax.Quote(strings.ReplaceAll(arg, "\x00", ""), syntax.LangBash)
		}
		if err != nil || strings.HasPrefix(q, `"`) || strings.ContainsAny(q, "!^") && q[0] != '\'' || strings.HasPrefix(q, "$") {
			// Single quotes keep ! out of history expansion, and every byte
			// as it is.
			q = "'" + strings.ReplaceAll(strings.ReplaceAll(arg, "\x00", ""), "'", `'\''`) + "'"
		}
		b.WriteString(q)
	}
	return b.String()
}

// Edit replaces the bytes of Span by New.
type Edit struct {
	Span Span
	New  string
}

// Rewrite returns text with the edits made, and every other byte as it was.
// Edits may come in any order. One that overlaps an earlier one in the text,
// or lies outside it, is left out.
func Rewrite(text string, edits []Edit) string {
	sorted := make([]Edit, 0, len(edits))
	for _, e := range edits {
		if e.Span.Start < 0 || e.Span.End < e.Span.Start || e.Span.End > len(text) {
			continue
		}
		sorted = append(sorted, e)
	}
	slices.SortStableFunc(sorted, func(x, y Edit) int { return x.Span.Start - y.Span.Start })
	var b strings.Builder
	at := 0
	for _, e := range sorted {
		if e.Span.Start < at {
			continue
		}
		b.WriteString(text[at:e.Span.Start])
		b.WriteString(e.New)
		at = e.Span.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// ansi appends the text of $'...'.
func (e *expander) ansi(s string) {
	if e.c.src.encoded {
		for _, r := range s {
			if h := e.c.src.hole(r); h != nil {
				e.add(*h)
				return
			}
		}
	}
	t := ansiC(e.c.src.decode(s), e.c.src.lang != Zsh)
	if strings.IndexByte(t, 0) >= 0 {
		// zsh keeps the NUL; a program sees what is before it in the word.
		e.add(Part{Kind: Variable, Name: "'" + s + "'"})
		return
	}
	e.text(t)
}

// ansiC decodes the escapes of $'...'. With cut, a NUL ends the text, as in
// bash.
func ansiC(s string, cut bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		switch c {
		case 'a':
			b.WriteByte('\a')
		case 'b':
			b.WriteByte('\b')
		case 'e', 'E':
			b.WriteByte(0x1b)
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte('\v')
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		case 'c':
			if i+1 < len(s) {
				i++
				if s[i] == '\\' && i+1 < len(s) && s[i+1] == '\\' {
					i++
				}
				if s[i] == '?' {
					b.WriteByte(0x7f)
				} else {
					b.WriteByte(s[i] & 0x1f)
				}
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := digits(s[i:], 8, 3)
			i += n - 1
			if byte(v) == 0 && cut {
				return b.String()
			}
			b.WriteByte(byte(v))
		case 'x', 'u', 'U':
			most := 2
			if c == 'u' {
				most = 4
			} else if c == 'U' {
				most = 8
			}
			v, n := digits(s[i+1:], 16, most)
			if n == 0 {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			i += n
			switch {
			case v == 0 && cut:
				return b.String()
			case c == 'x':
				b.WriteByte(byte(v))
			default:
				b.Write(utf8.AppendRune(nil, rune(v)))
			}
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// digits reads up to most digits of a base and returns value and length.
func digits(s string, base, most int) (v, n int) {
	for n < most && n < len(s) {
		d := 99
		switch c := s[n]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c >= 'a' && c <= 'f':
			d = int(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = int(c-'A') + 10
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
