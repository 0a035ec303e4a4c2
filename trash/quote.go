package trash

import (
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote quotes a file name as GNU programs do in messages (gnulib's
// shell-escape-always): in single quotes, in double ones if it holds an
// apostrophe and nothing special, with $'...' for what cannot be printed. With
// utf8Locale printable characters beyond ASCII stay as they are, else their
// bytes are escaped. The result, given to bash, is the name again.
func Quote(name string, utf8Locale bool) string {
	if strings.Contains(name, "'") && plainInDoubleQuotes(name, utf8Locale) {
		return `"` + name + `"`
	}
	var b strings.Builder
	b.Grow(len(name) + 2)
	b.WriteByte('\'')
	inEscape := false // within $'...'
	escape := func() {
		if !inEscape {
			b.WriteString(`'$'`)
			inEscape = true
		}
		b.WriteByte('\\')
	}
	for i := 0; i < len(name); {
		c := name[i]
		n := 1
		printable := c >= ' ' && c < 0x7f
		if c >= utf8.RuneSelf && utf8Locale {
			var r rune
			r, n = utf8.DecodeRuneInString(name[i:])
			printable = (r != utf8.RuneError || n > 1) && printableRune(r)
			if r == utf8.RuneError && n == 1 {
				n = truncatedRune(name[i:])
			}
		}
		switch {
		case c == '\'':
			if inEscape {
				// gnulib closes the escape with what it stores here.
				inEscape = false
			}
			b.WriteString(`'\''`)
		case printable:
			if inEscape {
				b.WriteString(`''`)
				inEscape = false
			}
			b.WriteString(name[i : i+n])
		default:
			if e := strings.IndexByte("\a\b\f\n\r\t\v", c); e >= 0 {
				escape()
				b.WriteByte("abfnrtv"[e])
				break
			}
			for _, c := range []byte(name[i : i+n]) {
				escape()
				b.Write([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7})
			}
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// plainInDoubleQuotes: nothing in the name means anything inside double quotes
// (gnulib's all_c_and_shell_quote_compat).
func plainInDoubleQuotes(name string, utf8Locale bool) bool {
	for i, r := range name {
		switch {
		case r >= utf8.RuneSelf:
			if !utf8Locale || !printableRune(r) {
				return false
			}
			if r == utf8.RuneError && !strings.HasPrefix(name[i:], "\uFFFD") {
				return false
			}
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		case strings.ContainsRune("%+,-./:]_ @'", r):
		case (r == '#' || r == '~') && i == 0: // as gnulib has it, though it is there that they are special
		default:
			return false
		}
	}
	return true
}

// truncatedRune is how many bytes of an invalid sequence count as one unit:
// all that is left when the name ends within a character, else one.
func truncatedRune(s string) int {
	if !utf8.FullRuneInString(s) {
		return len(s)
	}
	return 1
}

// printableRune follows glibc's iswprint: all that is assigned but controls
// and the line and paragraph separators.
func printableRune(r rune) bool {
	switch {
	case r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cs, r):
		return false
	case unicode.IsGraphic(r):
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

// Show makes a path fit to stand in a line on a terminal: unchanged when all
// of it is printable, else quoted as Quote does, with control, invisible and
// bidirectional characters escaped as well.
func Show(path string) string {
	if path != "" && printable(path) {
		return path
	}
	if path != "" && !strings.ContainsFunc(path, hidden) && utf8.ValidString(path) {
		return path
	}
	if !strings.ContainsFunc(path, func(r rune) bool { return r >= utf8.RuneSelf && hidden(r) }) {
		return Quote(path, true)
	}
	return Quote(path, false)
}

// printable: ASCII, and no control character.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func hidden(r rune) bool {
	switch {
	case r == utf8.RuneError, !unicode.IsPrint(r), unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0, r == 0x1d159:
		return true // drawn as nothing
	}
	return false
}

// utf8Locale reports whether LC_CTYPE is an UTF-8 locale that exists here;
// setlocale falls back to C for one that does not.
func (e Env) utf8Locale() bool {
	name := e.getenv("LC_ALL")
	if name == "" {
		name = e.getenv("LC_CTYPE")
	}
	if name == "" {
		name = e.getenv("LANG")
	}
	base, charset, _ := strings.Cut(name, ".")
	charset, _, _ = strings.Cut(charset, "@")
	switch strings.ToLower(charset) {
	case "utf-8", "utf8":
	default:
		return false
	}
	if base == "C" || strings.ContainsRune(name, '/') {
		return base == "C"
	}
	for _, p := range []string{
		"/usr/lib/locale/locale-archive",
		"/usr/lib/locale/" + name,
		"/usr/lib/locale/" + base + ".utf8",
		"/usr/share/locale/" + name + "/LC_CTYPE", // macOS
	} {
		if _, err := os.Stat(p); err == nil {
			return true
		}
	}
	return false
}
