package trash

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// rmQuotes has rm quote names that do not exist.
func rmQuotes(t *testing.T, locale string, names []string) []string {
	t.Helper()
	var got []string
	dir := t.TempDir()
	for len(names) > 0 {
		n := min(len(names), 2000)
		cmd := exec.Command(gnuRm(t), append([]string{"--"}, names[:n]...)...)
		cmd.Dir, cmd.Env = dir, []string{"LC_ALL=" + locale}
		cmd.Args[0] = "rm"
		var b bytes.Buffer
		cmd.Stderr = &b
		cmd.Run()
		for l := range strings.Lines(b.String()) {
			l = strings.TrimPrefix(strings.TrimSuffix(l, "\n"), "rm: cannot remove ")
			got = append(got, strings.TrimSuffix(l, ": No such file or directory"))
		}
		names = names[n:]
	}
	return got
}

// quoteNames are all bytes alone and in company, and random mixtures.
func quoteNames() []string {
	names := []string{"a b", "it's", "it's $x", "''", "'", "a'\n", "'\n'", "\xff'", "é'", "'é\xff", "x\xe2\x82", "x\xe2\x82y", "\xe2\x82\xac'", "~'", "a~'", "#'", "a#'", "{'}", "-x", "\n", "a\nb\tc", "\ud7ff", "\ufffd", "\ufffd'", "\xef\xbf"}
	for c := 1; c < 256; c++ {
		if c == '/' {
			continue
		}
		for _, f := range []string{"%", "a%b", "'%", "%'", "%\n%", "é%", "%%"} {
			names = append(names, strings.ReplaceAll(f, "%", string([]byte{byte(c)})))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	bits := []string{"a", "'", "\n", "\xff", "é", "\u200b", " ", "$", "\t", "\x01", "€", "\xe2\x82", "\"", "\\", "~", "#", "\u00ad"}
	for range 1500 {
		var b strings.Builder
		for range 1 + r.IntN(7) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		names = append(names, b.String())
	}
	keep := names[:0]
	for _, n := range names {
		if n != "." && n != ".." {
			keep = append(keep, n)
		}
	}
	return keep
}

func TestQuoteIsRms(t *testing.T) {
	names := quoteNames()
	for _, l := range []string{"C", "C.UTF-8"} {
		got := rmQuotes(t, l, names)
		if len(got) != len(names) {
			t.Fatalf("%s: %d lines for %d names", l, len(got), len(names))
		}
		for i, n := range names {
			if strings.Contains(n, "'") && strings.Contains(Quote(n, l != "C"), "$'") {
				// coreutils up to 9.1 at least misplace the $'...' in some of these.
				continue
			}
			if q := Quote(n, l != "C"); q != got[i] {
				t.Errorf("%s: %q: rm %s, ours %s", l, n, got[i], q)
			}
		}
	}
}

// TestQuoteEveryRune compares all of Unicode. The C library and Go know
// different versions of it, so some characters that only one knows may differ.
func TestQuoteEveryRune(t *testing.T) {
	var names []string
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && (r < 0x30000 || r >= 0xe0000 && r < 0xe0200) {
			names = append(names, string(r))
		}
	}
	got := rmQuotes(t, "C.UTF-8", names)
	if len(got) != len(names) {
		t.Fatalf("%d lines for %d names", len(got), len(names))
	}
	differ := 0
	for i, n := range names {
		if Quote(n, true) == got[i] {
			continue
		}
		differ++
		if r, _ := utf8.DecodeRuneInString(n); r < 0x500 {
			t.Errorf("%U: rm %s, ours %s", r, got[i], Quote(n, true))
		}
	}
	t.Logf("%d of %d differ", differ, len(names))
	if differ > 5000 {
		t.Errorf("%d of %d differ", differ, len(names))
	}
}

func TestQuoteIsTheNameAgain(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	names := quoteNames()
	for _, utf := range []bool{false, true} {
		var script strings.Builder
		script.WriteString("printf '%s\\0'")
		for _, n := range names {
			script.WriteString(" " + Quote(n, utf))
		}
		cmd := exec.Command(bash, "-s")
		cmd.Env = []string{"LC_ALL=C"}
		cmd.Stdin = strings.NewReader(script.String())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if got != names[i] {
				t.Errorf("%q: quoted %s, bash reads %q", names[i], Quote(names[i], utf), got)
			}
		}
	}
}

func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		"/a b/é":            "/a b/é",
		"":                  "''",
		"a\nb":              `'a'$'\n''b'`,
		"\x1b[31m":          `''$'\033''[31m'`,
		"x\u202etxt.exe":    `'x'$'\342\200\256''txt.exe'`,
		"zero\u200bwidth":   `'zero'$'\342\200\213''width'`,
		"\xff":              `''$'\377'`,
		"c1\u009bm":         `'c1'$'\302\233''m'`,
		"nbsp\u00a0":        `'nbsp'$'\302\240'`,
		"é\n":               `'é'$'\n'`,
		"replacement\ufffd": `'replacement'$'\357\277\275'`,
	} {
		if got := Show(in); got != want {
			t.Errorf("Show(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestLocale(t *testing.T) {
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"", false}, {"LANG=C", false}, {"LANG=C.UTF-8", true}, {"LC_ALL=C LANG=C.UTF-8", false},
		{"LC_CTYPE=C.utf8 LANG=C", true}, {"LC_ALL=POSIX", false}, {"LC_ALL=../../x.UTF-8", false}, {"LC_ALL=/x.UTF-8", false},
		{"LC_ALL=C.ISO-8859-1", false},
	} {
		e := Env{Getenv: func(k string) string {
			for _, kv := range strings.Fields(c.env) {
				if v, ok := strings.CutPrefix(kv, k+"="); ok {
					return v
				}
			}
			return ""
		}}
		if got := e.utf8Locale(); got != c.want {
			t.Errorf("%q: %v", c.env, got)
		}
	}
	if _, err := os.Stat("/usr/lib/locale/locale-archive"); err != nil {
		if (Env{Getenv: func(string) string { return "xx_YY.UTF-8" }}).utf8Locale() {
			t.Error("a locale that is not installed counts")
		}
	}
}
