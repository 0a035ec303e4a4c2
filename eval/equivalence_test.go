package eval

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/script"
)

// around are texts that run the same command in another dress.
var around = map[string]func(line string) string{
	"true;":          func(l string) string { return "true; " + l },
	"true &&":        func(l string) string { return "true && " + l },
	"cd . &&":        func(l string) string { return "cd . && " + l },
	"subshell":       func(l string) string { return "( " + l + "\n)" },
	"group":          func(l string) string { return "{ " + l + "\n}" },
	"if":             func(l string) string { return "if true; then " + l + "\nfi" },
	"loop":           func(l string) string { return "for i in 1; do " + l + "\ndone" },
	"function":       func(l string) string { return "f() { " + l + "\n}; f" },
	"then something": func(l string) string { return l + "\necho done" },
	"bash -c":        func(l string) string { return "bash -c " + script.Quote([]string{l}) },
	"bash -lc":       func(l string) string { return "bash -lc " + script.Quote([]string{l}) },
	"bash -c -l":     func(l string) string { return "bash -c -l " + script.Quote([]string{l}) },
	"eval":           func(l string) string { return "eval " + script.Quote([]string{l}) },
	"timeout sh":     func(l string) string { return "timeout 9 bash -c " + script.Quote([]string{l}) },
	"agent's text": func(l string) string {
		return "shopt -u extglob 2>/dev/null || true && eval " + script.Quote([]string{l}) + " < /dev/null && pwd -P >| /tmp/claude-1-cwd"
	},
}

// means are lines whose meaning depends on what is around them: the shell's own
// $0, $@ and standard input. Another dress changes what they run.
var means = []string{`$0`, `$@`, `/dev/stdin`, `/dev/fd/`, `python3 -`, `$1`, "mkfifo", "cat | bash"}

// asData are texts that only mention a command.
var asData = map[string]func(line string) string{
	"echo":           func(l string) string { return "echo " + script.Quote([]string{l}) },
	"printf":         func(l string) string { return "printf '%s\\n' " + script.Quote([]string{l}) },
	"grep":           func(l string) string { return "grep -rn -e " + script.Quote([]string{l}) + " src" },
	"commit message": func(l string) string { return "git commit -m " + script.Quote([]string{l}) },
	"comment":        func(l string) string { return "ls # " + strings.ReplaceAll(l, "\n", " ") },
	"here-document":  func(l string) string { return "cat > docs/new.md <<'END_OF_TEXT'\n" + l + "\nEND_OF_TEXT\n" },
}

// A dress never lowers a verdict, and what only mentions a command is no
// command. Nothing is executed.
func TestEquivalence(t *testing.T) {
	lines := readCorpus(t)
	w := corpusWorld(t)
	r, problems := w.rules()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	all := os.Getenv("SAFESHELL_CORPUS") != ""
	judged, lowered, raised := 0, 0, 0
	for i, l := range lines {
		if !all && i%3 != 0 {
			continue // a third of them; all with SAFESHELL_CORPUS=all
		}
		cmd := strings.ReplaceAll(l.Command, "/home/dev", w.home)
		if _, err := parser.Parse(strings.NewReader(cmd), ""); err != nil || strings.Contains(cmd, "\x00") || !utf8.ValidString(cmd) {
			continue
		}
		first := w.judgeWith(r, cmd)
		base := first.Action
		if slices.ContainsFunc(means, func(m string) bool { return strings.Contains(cmd, m) }) {
			base = Allow // only as data, below
		}
		for name, f := range around {
			if base < RequireApproval {
				break
			}
			if name == "agent's text" && first.Rule == "remote-code-interactive-shell" || strings.HasPrefix(cmd, "-") {
				continue // with nothing to read, a bare shell ends; a dash is an option of bash
			}
			judged++
			if got := w.judgeWith(r, f(cmd)).Action; got < base && (got < RequireApproval || base == Deny && l.Class == "catastrophic") {
				lowered++
				t.Logf("%s: %s becomes %s: %s", name, base, got, clip(cmd))
			}
		}
		for name, f := range asData {
			judged++
			if d := w.judgeWith(r, f(cmd)); d.Action >= RequireApproval {
				raised++
				t.Logf("as data, %s: %s by %s: %s", name, d.Action, d.Rule, clip(cmd))
			}
		}
	}
	t.Logf("%d judged, %d lowered, %d raised", judged, lowered, raised)
	if lowered > 0 || raised > 0 {
		t.Errorf("%d verdicts lowered, %d raised", lowered, raised)
	}
}
