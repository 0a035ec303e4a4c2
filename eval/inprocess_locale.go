package eval

import (
	"strings"
	"unicode/utf8"
)

// inLocale is what is known about the locale of bash and its programs. Whether
// the named one is installed is not known, so the C locale is always possible
// too; what is judged must come out the same under each.
type inLocale struct {
	known   bool
	utf8    bool // may be UTF-8
	order   bool // characters are ordered by their numbers
	dotless bool // i and I may be two letters
}

func (m *inProcess) locale() inLocale {
	env := func(name string) string { return m.environ[name] }
	for _, n := range [...]string{"LC_ALL", "LC_CTYPE", "LC_COLLATE", "LANG"} {
		if m.twice[n] {
			return inLocale{}
		}
	}
	pick := func(name string) string {
		for _, v := range [...]string{env("LC_ALL"), env(name), env("LANG")} {
			if v != "" {
				return v
			}
		}
		return "C"
	}
	ctype, collate := pick("LC_CTYPE"), pick("LC_COLLATE")
	l := inLocale{known: env("LOCPATH") == "" && plainLocale(collate), order: plainC(collate) || isCUTF8(collate)}
	if plainC(ctype) {
		return l
	}
	l.utf8 = true
	l.known = l.known && plainLocale(ctype)
	switch lang, _, _ := strings.Cut(ctype, "_"); lang {
	case "tr", "az", "crh", "ku", "tt", "ber":
		l.dotless = true
	}
	return l
}

func plainC(name string) bool { return name == "C" || name == "POSIX" }

func isCUTF8(name string) bool {
	switch strings.ToLower(name) {
	case "c.utf-8", "c.utf8":
		return name[0] == 'C'
	}
	return false
}

// plainLocale says that the locale is C or one whose characters are UTF-8.
func plainLocale(name string) bool {
	if plainC(name) {
		return true
	}
	name, _, _ = strings.Cut(strings.ToLower(name), "@")
	_, codeset, _ := strings.Cut(name, ".")
	return (codeset == "utf-8" || codeset == "utf8") && !strings.Contains(name, "/")
}

// wordRune says whether a character beyond ASCII is a letter or digit to the C
// library: sure and never for blocks on which its versions agree.
func wordRune(r rune) certainty {
	switch {
	case r == 0xD7 || r == 0xF7:
		return never
	case 0xC0 <= r && r <= 0x24F, 0x391 <= r && r <= 0x3A1, 0x3A3 <= r && r <= 0x3C9, 0x410 <= r && r <= 0x44F,
		0x3041 <= r && r <= 0x3094, 0x30A1 <= r && r <= 0x30FA, 0x4E00 <= r && r <= 0x9FA5, 0xAC00 <= r && r <= 0xD7A3:
		return sure
	case 0xA1 <= r && r <= 0xA9, 0xAB <= r && r <= 0xB1, r == 0xB4, 0xB6 <= r && r <= 0xB8, r == 0xBB, r == 0xBF,
		0x2010 <= r && r <= 0x2027, 0x2030 <= r && r <= 0x205E, 0x2190 <= r && r <= 0x23FF, 0x2500 <= r && r <= 0x2775,
		0x2794 <= r && r <= 0x27BF, 0x1F300 <= r && r <= 0x1F64F, 0x1F680 <= r && r <= 0x1F6C5:
		return never
	}
	return maybe
}

// spaceRune says whether a character beyond ASCII is a blank to the C library.
func spaceRune(r rune) certainty {
	switch {
	case r == 0x85, r == 0xA0, r == 0x1680, r == 0x180E, 0x2000 <= r && r <= 0x200F, 0x2028 <= r && r <= 0x202F,
		0x205F <= r && r <= 0x206F, r == 0x3000, r == 0xFEFF:
		return maybe
	}
	return never
}

// badByte stands for a byte that is no UTF-8.
const badByte rune = -1

func decodeAt(s string, i int, wide bool) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf || !wide {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && n == 1 {
		return badByte, 1
	}
	return r, n
}
