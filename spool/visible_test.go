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
