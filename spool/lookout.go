package spool

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LookOut says in words what in the given texts could deceive a reader
// although it is made visible: hidden characters, letters of one alphabet that
// pass for another's, and right-to-left letters, which some terminals put in
// another order. Newlines and tabs do not count. It is empty for a plain text.
// shown tells which letters the reader's screen has; nil means all.
func LookOut(shown func(rune) bool, texts ...string) []string {
	var hidden, alike, rtl []rune
	count := 0
	add := func(set *[]rune, r rune) {
		if !slices.Contains(*set, r) {
			*set = append(*set, r)
		}
	}
	for _, s := range texts {
		latin, other := false, []rune(nil)
		flush := func() {
			if latin {
				for _, r := range other {
					add(&alike, r)
				}
			}
			latin, other = false, nil
		}
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			i += n
			switch {
			case r == '\n' || r == '\t':
			case r == utf8.RuneError && n == 1, !Drawn(r):
				count++
				add(&hidden, r)
				continue // a hidden character does not end the word it hides in
			case r >= 0xFF01 && r <= 0xFF5E, unicode.Is(unicode.Cherokee, r) || unicode.Is(unicode.Lisu, r):
				add(&alike, r) // full-width forms of ASCII, letters shaped like capitals
			case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko):
				add(&rtl, r)
			case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian):
				other = append(other, r)
				continue
			case unicode.Is(unicode.Latin, r):
				latin = true
				continue
			}
			flush()
		}
		flush()
	}
	if shown == nil {
		shown = Drawn
	}
	var out []string
	if count > 0 {
		out = append(out, fmt.Sprintf("%s made visible: %s", hiddenChars(count), nameRunes(hidden, nil)))
	}
	if len(alike) > 0 {
		out = append(out, "letters that look like others: "+nameRunes(alike, shown))
	}
	if len(rtl) > 0 {
		out = append(out, "right-to-left letters: your terminal may show them in another order")
	}
	return out
}

// nameRunes lists up to five characters by code point, with themselves if shown.
func nameRunes(set []rune, shown func(rune) bool) string {
	var parts []string
	for i, r := range set {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d more", len(set)-i))
			break
		}
		switch {
		case r == utf8.RuneError:
			parts = append(parts, "bytes that are not UTF-8")
		case shown != nil && shown(r):
			parts = append(parts, fmt.Sprintf("%c (U+%04X)", r, r))
		default:
			parts = append(parts, fmt.Sprintf("U+%04X", r))
		}
	}
	return strings.Join(parts, ", ")
}

func hiddenChars(n int) string {
	if n == 1 {
		return "1 hidden character"
	}
	return fmt.Sprintf("%d hidden characters", n)
}

// LookOut is LookOut of what a person sees of a request before deciding.
func (r *Request) LookOut(shown func(rune) bool) []string {
	return LookOut(shown, append([]string{r.Line, r.Dir}, r.Argv...)...)
}
