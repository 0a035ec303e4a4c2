package monitor

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// plainText is a text without our own styles.
func plainText(s string) string { return ansi.Strip(s) }

// harmless reports the first character of a text that a terminal would act on
// or that draws nothing.
func harmless(s string) (rune, bool) {
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && !strings.ContainsRune(s, utf8.RuneError) ||
			unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Variation_Selector, r) {
			return r, false
		}
	}
	return 0, utf8.ValidString(s)
}

func TestVisible(t *testing.T) {
	c := charset{}
	for in, want := range map[string]string{
		"":                              "",
		"plain text":                    "plain text",
		"é ü 漢字 עברית":                  "é ü 漢字 עברית",
		"a\x1b[31mb":                    "a<ESC>[31mb",
		"a\nb\tc\rd\x7f":                "a<LF>b<TAB>c<CR>d<DEL>",
		"\u009b31m":                     "<U+009B>31m",
		"\x9b\xff":                      "<0x9B><0xFF>",
		"a\u202eb\u2066c\u200bd\ufeffe": "a<U+202E>b<U+2066>c<U+200B>d<U+FEFF>e",
		"a\u00a0b\u3000c\u2028d":        "a<U+00A0>b<U+3000>c<U+2028>d",
		"x\ufe0f\U000e0041\u115f\u2800": "x<U+FE0F><U+E0041><U+115F><U+2800>",
		"e\u0301":                       "e\u0301",
		"e\u0301\u0301\u0301\u0301":     "e\u0301\u0301\u0301<U+0301>",
		" \u0301":                       " <U+0301>",
		"\u0301":                        "<U+0301>",
		"\ue000\U0010ffff":              "<U+E000><U+10FFFF>",
	} {
		if got := c.line(in); got != want {
			t.Errorf("line(%q) = %q, want %q", in, got, want)
		}
	}
	if got := (charset{ascii: true}).line("é漢a"); got != "<U+00E9><U+6F22>a" {
		t.Errorf("ascii: %q", got)
	}
}

func TestVisibleProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "s")
		c := charset{ascii: rapid.Bool().Draw(t, "ascii")}
		for _, out := range append([]string{c.line(s), c.word(s)}, c.lines(s)...) {
			if r, ok := harmless(out); !ok {
				t.Fatalf("%q shows %U", s, r)
			}
			if c.line(out) != out {
				t.Fatalf("line is not stable on %q", out)
			}
		}
		w := rapid.IntRange(1, 30).Draw(t, "w")
		lines := wrap(c.line(s), w)
		if strings.Join(lines, "") != c.line(s) {
			t.Fatalf("wrap lost something of %q: %q", s, lines)
		}
		for _, l := range lines {
			if width(l) > w && utf8.RuneCountInString(l) > 1 {
				t.Fatalf("%q is wider than %d", l, w)
			}
		}
		if got := c.pad(s, w); c.line(s) == s && width(got) != w && w > 1 {
			t.Fatalf("pad(%q, %d) has %d cells", s, w, width(got))
		}
	})
}

// The words of a command are bash's own: what is shown, read by bash, is the
// argument again.
func TestWordsAreReadBackByBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	args := []string{
		"", "a b", "it's", `back\slash`, `\x41`, "$HOME", "`id`", "~", "*", "a\nb", "tab\t", "\x1b[31m", "\u202eabc", "\x9b", "\xff\xfe",
		"\U0001f600", "\U000e0041x", "'\x1b'", `\'` + "\x01", "a\x1bcdef", "é\u0301\u0301\u0301\u0301", "{}", "a=b", "-rf", "#x", "!h", "\u0430b",
		"\x7f", "\u00a0", "\r", "a\\", "\x1b\\", "\\\x1b0",
	}
	script := "printf '%s\\0' " + strings.Join(charset{}.words(args), " ")
	cmd := exec.Command(bash, "--norc", "-c", script)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=/nonexistent"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !slices.Equal(got, args) {
		t.Errorf("bash reads %q\nwant %q\nfrom %s", got, args, script)
	}
}

func TestCharsetOf(t *testing.T) {
	for _, c := range []struct {
		kv    []string
		ascii bool
	}{
		{[]string{"LANG", ""}, false},
		{[]string{"LANG", "C"}, true},
		{[]string{"LANG", "de_DE.UTF-8"}, false},
		{[]string{"LANG", "de_DE.utf8"}, false},
		{[]string{"LANG", "de_DE.UTF-8", "LC_ALL", "POSIX"}, true},
		{[]string{"LANG", "C", "LC_CTYPE", "C.UTF-8"}, false},
	} {
		if got := charsetOf(env(c.kv...)).ascii; got != c.ascii {
			t.Errorf("%v: ascii %v", c.kv, got)
		}
	}
}
