package eval

import (
	"path/filepath"
	"safeshell/eval/condition"
	"strings"
	"testing"
)

func TestLint(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	for name, c := range map[string]struct{ text, says string }{
		"good":               {"rules:\n" + one("r", "x", "deny", ", conditions: [true], match: {flags: [-f]}, unless: {flags: [-n]}"), ""},
		"allow":              {"rules:\n" + one("r", "x", "allow", ""), "never changes a verdict"},
		"excepted":           {"rules:\n" + one("r", "x", "deny", ", match: {flags: [-f], args: a}, unless: {flags: [-f]}"), "can never match"},
		"excepted in part":   {"rules:\n" + one("r", "x", "deny", ", match: [{flags: [-f]}, {flags: [-g]}], unless: {flags: [-f]}"), ""},
		"operands":           {"rules:\n" + one("r", "x", "deny", ", match: {operands: none, operand: a}"), "can never match"},
		"not git":            {"rules:\n" + one("r", "x", "deny", ", match: {existing_branch: true}"), "can never match"},
		"relative":           {"rules:\n" + one("r", "x", "deny", ", directory: '^work'"), "absolute path"},
		"absolute":           {"rules:\n" + one("r", "x", "deny", ", directory: 'work'"), ""},
		"unknown override":   {"overrides: [{name: git-push-forse, disabled: true}]\n", "no built-in rule is called git-push-forse"},
		"broken":             {"rules: [\n", "not valid YAML"},
		"redirect to a list": {"rules:\n" + one("r", "x", "redirect", ", redirect_to: 'a; b'"), "2 commands, not one"},
	} {
		w.user(c.text)
		problems := Lint(w.paths, w.paths.Rules)
		if (c.says == "") != (len(problems) == 0) {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		if len(problems) > 0 && (!strings.Contains(problems[0].String(), c.says) || problems[0].Line == 0) {
			t.Errorf("%s: %v", name, problems[0])
		}
	}
	if p := Lint(w.paths, filepath.Join(w.home, "none.yaml")); len(p) != 1 || !strings.Contains(p[0].Message, "no such file") {
		t.Error(p)
	}
	repo := w.write(".safeshell/rules.yaml", "packs: []\n")
	if p := Lint(w.paths, repo); len(p) != 1 || !strings.Contains(p[0].Message, "not allowed in a repository") {
		t.Error(p)
	}
	// Text that our parser takes and bash does not.
	if condition.Refused("echo a; )") == "" || condition.Refused("true") != "" {
		t.Error("bash is not asked")
	}
}

// The packs themselves.
func TestLintPacks(t *testing.T) {
	packs, err := parsePacks()
	if err != nil {
		t.Fatal(err)
	}
	for i := range packs {
		for _, p := range lintRule("packs", &packs[i]) {
			t.Error(p)
		}
	}
}
