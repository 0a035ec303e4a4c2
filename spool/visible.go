package spool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s as one line on which nothing is hidden: what a human
// approves must look like what runs.
//
// Control characters become their Unicode pictures (␊ newline, ␉ tab, ␛
// escape), because a written \n could not be told from a backslash and an n.
// Everything else that a terminal would swallow, reorder or show as a plain
// space (bidirectional and zero-width characters, odd spaces, fillers,
// unassigned code points, more marks on a letter than it can carry) becomes
// <U+202E>, an invalid byte <0xFF>.
func Visible(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	marks := maxMarks // how many the character before carries; none may begin a text
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.M, r) && marks < maxMarks && Drawn(r) {
			marks++
			b.WriteString(s[i : i+n])
			continue
		}
		marks = maxMarks
		if unicode.IsLetter(r) {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r < ' ':
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case !Drawn(r) || unicode.Is(unicode.M, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(s[i : i+n])
		}
	}
	return b.String()
}

// maxMarks is how many combining marks one letter may carry; more would cover
// the lines around it.
const maxMarks = 3

// Drawn reports whether a terminal draws r as itself, in one place, and draws
// something: no control or format character (bidirectional, zero width), no odd
// space, no filler that Unicode counts as printable.
func Drawn(r rune) bool {
	switch {
	case !unicode.IsPrint(r), unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0, r == 0x1d159:
		return false
	}
	return true
}

// VisibleJSON returns a JSON text with the same value in which strings hold no
// character that is not drawn: JSON itself escapes controls below space only.
func VisibleJSON(data []byte) []byte {
	i := 0
	for i < len(data) && data[i] < 0x7f {
		i++
	}
	if i == len(data) {
		return data
	}
	out := append(make([]byte, 0, len(data)+64), data[:i]...)
	for i < len(data) {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r < 0x7f, r == utf8.RuneError && n == 1, Drawn(r):
			out = append(out, data[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, "\\u%04x\\u%04x", hi, lo)
		default:
			out = fmt.Appendf(out, "\\u%04x", r)
		}
		i += n
	}
	return out
}
