package eval

import (
	"regexp"
	"testing"
)

// The short forms mean what the regexp means.
func TestPatterns(t *testing.T) {
	srcs := []string{
		"a", "abc", "^a", "a$", "^a$", "^(a|b|cc)$", "(a|b)", "^(?:a|b)", "(x|yz)$", `a\.b`, `^\$x$`, `\$`, "a|b", "^a|b$",
		"", "^$", "^", "$", "a.c", "[ab]", "a+", "(?i)abc", "(a|b)c", `^\s+`, "^a(b)?$", `^(main|master|develop)$`, `(|a)`, `^(a|)$`,
		"(?i)kilo", "(?i)(secret|token)", "x(?:a|b){2}y", "(ab)+", "(ab)*", "a{0,3}b", `\bfoo\b`, "(?i)straße", `[[:alpha:]]x`, "(?s).*z",
		"^--(help|version)$", `(^|/)\.env$`, `(?i)^core\.hookspath=`, "é", "(a|b(c|d))e",
	}
	texts := []string{
		"", "a", "b", "c", "ab", "abc", "ABC", "aBc", "xabcx", "cc", "yz", "x", "a.b", "axb", "$x", "$", "main", "mainx", "xmain", "master\n", "develop",
		"  x", "kilo", "KILO", "\u212Ailo", "SECRET", "my_Token", "\u017Fecret", "xaby", "xaay", "abab", "b", "aaab", "a foo b", "STRASSE", "straße", "zx", "1x", "line\nz",
		"--help", "--version", "--helpx", ".env", "a/.env", "core.hooksPath=/dev/null", "é", "ae", "bce", "bde",
	}
	for _, src := range srcs {
		p, err := newPattern(src)
		if err != nil {
			t.Fatal(err)
		}
		re := regexp.MustCompile(src)
		for _, s := range texts {
			if got, want := p.match(s), re.MatchString(s); got != want {
				t.Errorf("%q on %q: %v, want %v (kind %d, words %q, need %q)", src, s, got, want, p.kind, p.words, p.need)
			}
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("^(a|b)$", "a")
	f.Add("(?i)tok.n", "TOKEN")
	f.Fuzz(func(t *testing.T, src, s string) {
		re, err := regexp.Compile(src)
		p, perr := newPattern(src)
		if (err == nil) != (perr == nil) {
			t.Fatalf("%q: %v, %v", src, err, perr)
		}
		if err == nil && p.match(s) != re.MatchString(s) {
			t.Fatalf("%q on %q: %v", src, s, p.match(s))
		}
	})
}
