package script

import (
	"strings"
	"testing"
)

// TestInterpreterCodeIsBounded: code whose every token looks at all the others
// is given up, and said to be unknown. Without the bound, this test takes many minutes.
func TestInterpreterCodeIsBounded(t *testing.T) {
	const n = 30_000
	for _, lang := range []string{"python3 -c", "perl -e", "ruby -e", "node -e", "php -r", "awk", "lua -e"} {
		argv := strings.Fields(lang)
		for name, code := range map[string]string{
			"names":       strings.Repeat("a ", n),
			"calls":       strings.Repeat("a(", n),
			"calls, shut": strings.Repeat("a(", n/2) + strings.Repeat(")", n/2),
			"brackets":    "x = " + strings.Repeat("(", n) + strings.Repeat(")", n),
			"operands":    "x = " + strings.Repeat("a+(", n/2) + strings.Repeat(")", n/2),
			"assigned":    strings.Repeat("a=", n),
			"assigned2":   assignments(n / 4),
			"members":     strings.Repeat("a.", n) + "rm()",
			"members2":    strings.Repeat("a.b().", n/4) + "rm()",
			"pipes":       strings.Repeat("print a|", n/2),
			"lists":       "system(" + strings.Repeat("[", n) + strings.Repeat("]", n) + ")",
			"strings":     strings.Repeat("'a' ", n),
			"backquotes":  strings.Repeat("`a` ", n/4),
			"commas":      "system(" + strings.Repeat("a,", n) + "a)",
			"paths":       "open(" + strings.Repeat("a/", n) + "a, 'w')",
			"ends":        strings.Repeat("} ", n) + strings.Repeat("; ", n),
		} {
			a := FromArgv(append(argv[:len(argv):len(argv)], code), Options{})
			if len(a.Commands) == 0 {
				t.Errorf("%s, %s: no command", lang, name)
			}
		}
	}
}

func assignments(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("v")
		for i > 0 {
			b.WriteByte(byte('a' + i%26))
			i /= 26
		}
		b.WriteString(" = (")
	}
	return b.String()
}
