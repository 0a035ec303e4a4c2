package monitor

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"safeshell/spool"
)

// Everything that is shown passes this file: what a command, a path or a
// reason holds reaches the terminal only as characters that draw themselves.
// All others are spelled out, so that a prompt shows what would run and cannot
// move the cursor, change colours, reorder or hide text.

// charset says what the terminal can draw.
type charset struct {
	ascii bool // not a UTF-8 locale: spell out all that is not ASCII
}

// charsetOf reads the locale as setlocale does: LC_ALL, LC_CTYPE, LANG. With
// none set UTF-8 is taken, as every current terminal emulator does.
func charsetOf(getenv func(string) string) charset {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return charset{ascii: !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")}
		}
	}
	return charset{}
}

// maxMarks is how many combining marks one letter may carry; more would cover
// the lines around it.
const maxMarks = 3

// drawn tells whether r draws itself, and only itself, in one place.
func (c charset) drawn(r rune) bool {
	switch {
	case r < 0x20 || r == 0x7f:
		return false
	case r < 0x7f:
		return true
	}
	return !c.ascii && spool.Drawn(r)
}

// spell is how a character is written that does not draw itself.
func spell(r rune) string {
	switch r {
	case '\n':
		return "<LF>"
	case '\r':
		return "<CR>"
	case '\t':
		return "<TAB>"
	case 0x1b:
		return "<ESC>"
	case 0x7f:
		return "<DEL>"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// line returns s as one line of drawable characters; every other is spelled
// out. The result of line passed through line again is unchanged.
func (c charset) line(s string) string {
	return c.escape(s, spell, func(b byte) string { return fmt.Sprintf("<0x%02X>", b) })
}

// escape replaces what does not draw itself: runes by rune, bytes that are not
// UTF-8 by raw. A combining mark draws itself only on a letter that carries
// few.
func (c charset) escape(s string, spellRune func(rune) string, raw func(byte) string) string {
	clean := true
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	marks := maxMarks // how many the character before carries; none may begin a text
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(raw(s[i]))
			marks = maxMarks
		case !c.drawn(r):
			b.WriteString(spellRune(r))
			marks = maxMarks
		case unicode.Is(unicode.M, r):
			if marks >= maxMarks {
				b.WriteString(spellRune(r))
				break
			}
			marks++
			b.WriteRune(r)
		default:
			b.WriteRune(r)
			marks = maxMarks
			if unicode.IsLetter(r) {
				marks = 0
			}
		}
		i += n
	}
	return b.String()
}

// lines returns a text's lines, each as line does; tabs become spaces, as they
// separate words either way.
func (c charset) lines(s string) []string {
	s = strings.ReplaceAll(strings.TrimRight(s, "\n"), "\r\n", "\n")
	out := strings.Split(s, "\n")
	for i, l := range out {
		out[i] = c.line(strings.ReplaceAll(l, "\t", "    "))
	}
	return out
}

// bareWord are the characters that mean themselves anywhere in a shell word.
const bareWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// word writes one argument as bash would read it back: bare, in single quotes,
// or in $'...' where something does not draw itself. So no two different
// arguments look the same, nor does one look like two.
func (c charset) word(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(bareWord, r) }) < 0 {
		return s
	}
	if c.line(s) == s {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	// The argument's own backslashes and quotes first, so that they differ
	// from those of the escapes.
	s = strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
	return "$'" + c.escape(s, ansiC, func(b byte) string { return fmt.Sprintf(`\x%02x`, b) }) + "'"
}

// ansiC is a rune as it is written within $'...'.
func ansiC(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// words are all arguments, each as word does.
func (c charset) words(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = c.word(a)
	}
	return out
}

// number writes n things: "1 hidden character", "3 hidden characters".
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// width is how many cells a text takes on the screen; our own styles in it
// take none.
func width(s string) int { return ansi.StringWidthWc(s) }

// wrap breaks a text into lines of at most w cells (at least one character
// each). It loses nothing: spaces stay at the end of the line before the
// break. It breaks after a space where one lies in the second half of the
// line, else anywhere.
func wrap(s string, w int) []string {
	w = max(w, 1)
	var out []string
	start, space, cells, spaceCells := 0, -1, 0, 0
	for i, r := range s {
		rw := width(string(r))
		if cells+rw > w && i > start {
			cut, rest := i, 0
			if space > start && spaceCells*2 >= w {
				cut, rest = space, cells-spaceCells
			}
			out = append(out, s[start:cut])
			start, cells, space = cut, rest, -1
		}
		cells += rw
		if r == ' ' {
			space, spaceCells = i+1, cells
		}
	}
	if start < len(s) || len(out) == 0 {
		out = append(out, s[start:])
	}
	return out
}

// hang wraps a text whose first line has so many cells less and whose others
// are indented by so many.
func hang(text string, w, less, indent int) []string {
	first := wrap(text, w-less)[0]
	out := []string{first}
	if rest := text[len(first):]; rest != "" {
		out = append(out, wrap(rest, w-indent)...)
	}
	return out
}

// cut shortens a one-line text to w cells and marks it with an ellipsis.
func (c charset) cut(s string, w int) string {
	if width(s) <= w {
		return s
	}
	dots := "…"
	if c.ascii {
		dots = "~"
	}
	if w <= 0 {
		return ""
	}
	return ansi.TruncateWc(s, w, dots)
}

// pad fills a line with spaces up to w cells, and cuts what is over.
func (c charset) pad(s string, w int) string {
	s = c.cut(s, w)
	if n := w - width(s); n > 0 {
		s += strings.Repeat(" ", n)
	}
	return s
}
