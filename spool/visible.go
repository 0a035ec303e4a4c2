package spool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as one line on which nothing is hidden: what a human
// approves must look like what runs.
//
// Control characters become their Unicode pictures (␊ newline, ␉ tab, ␛
// escape), because a written \n could not be told from a backslash and an n.
// Everything else that a terminal would swallow, reorder or show as a plain
// space (bidirectional and zero-width characters, odd spaces, fillers,
// unassigned code points) becomes <U+202E>, an invalid byte <0xFF>.
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
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r < ' ':
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case !unicode.IsPrint(r) || unseen(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteString(s[i : i+n])
		}
	}
	return b.String()
}

// unseen are characters that Unicode counts as printable but that show
// nothing: fillers, the braille blank, variation selectors, joiners.
func unseen(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r == 0x2800, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
