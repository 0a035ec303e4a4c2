package spool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"rm -rf 'a b' \\n":         "rm -rf 'a b' \\n",
		"häuser/日本語 👍":             "häuser/日本語 👍",
		"ls\nrm -rf ~":             "ls␊rm -rf ~",
		"a\tb\r\x00\x1b[2J\x7f":    "a␉b␍␀␛[2J␡",
		"x\u202ecod.exe":           "x<U+202E>cod.exe",
		"a\u200bb\u2066c\ufeffd":   "a<U+200B>b<U+2066>c<U+FEFF>d",
		"a\u00a0b\u3000c\u2028d":   "a<U+00A0>b<U+3000>c<U+2028>d",
		"\u3164\u2800\ufe0f\u115f": "<U+3164><U+2800><U+FE0F><U+115F>",
		"\x80\xff\xc3":             "<0x80><0xFF><0xC3>",
		"\u0085\u009b31m":          "<U+0085><U+009B>31m",
		"\U000e0041\ue000":         "<U+E0041><U+E000>",
		"\ufffd":                   "\ufffd",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"a\nb", "\xff\u202e", "ok"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x202a && r <= 0x202e }) {
			t.Errorf("%q became %q", s, got)
		}
		if Visible(got) != got {
			t.Errorf("%q changes again", got)
		}
	})
}

func TestLookOut(t *testing.T) {
	for in, want := range map[string]string{
		"rm -rf x\n\ty":    "",
		"Привет мир":       "",
		"p\u0430ypal":      "letters that look like others: а (U+0430)",
		"a\u202eb":         "1 hidden character made visible: U+202E",
		"\x1b\x1b\u200b":   "3 hidden characters made visible: U+001B, U+200B",
		"\xff":             "1 hidden character made visible: bytes that are not UTF-8",
		"\uff52\uff4d":     "letters that look like others: ｒ (U+FF52), ｍ (U+FF4D)",
		"p\u200b\u0430y":   "1 hidden character made visible: U+200B; letters that look like others: а (U+0430)",
		"rm \u05d0/\u05d1": "right-to-left letters: your terminal may show them in another order",
	} {
		if got := strings.Join(LookOut(nil, in), "; "); got != want {
			t.Errorf("LookOut(%q) = %q, want %q", in, got, want)
		}
	}
}
