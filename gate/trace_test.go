package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/spool"
)

// TestDebugTrace: with log_level debug each judgement says what was looked at and
// what came of it; else nothing is written.
func TestDebugTrace(t *testing.T) {
	w := newWorld(t)
	judge := func(req Request) { w.gate().Judge(context.Background(), req) }
	judge(w.line("true"))
	log := spool.DebugPath(w.paths.Journal)
	if _, err := os.Stat(log); err == nil {
		t.Error("a debug log without log_level debug")
	}
	w.write(w.paths.Config, "log_level: DEBUG\n")
	judge(w.line("env A=1 git push --force; curl -u me:hunter2secret https://h"))
	judge(w.argv("rm", "-rf", "/"))
	w.gate().Debug("INFO", "the trash was %s", "cleaned")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Evaluating: env A=1 git push --force", "[by way of env]", "Rule ", "Result: ", "rules looked at: ", "Decided: it is stopped (deny)", "the trash was cleaned"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "hunter2secret") {
		t.Errorf("a password in\n%s", b)
	}
}

// TestUntrustedIsSaidOnce: a repository's rule that waits for trust is named at the
// command that it is for, once a session and content.
func TestUntrustedIsSaidOnce(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.dir, ".safeshell", "rules.yaml")
	for _, d := range []string{filepath.Join(w.dir, ".git"), filepath.Dir(file)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	rule := "- {name: NAME, commands: [make], conditions: ['true'], action: deny, message: m}\n"
	w.write(file, "rules:\n"+strings.ReplaceAll(rule, "NAME", "one"))
	notes := func(session, line string) string {
		req := w.line(line)
		req.Session = session
		v := w.gate().Judge(context.Background(), req)
		return strings.Join(append(v.Notes, v.Warnings...), "\n")
	}
	if got := notes("s1", "ls"); got != "" {
		t.Errorf("at another command: %s", got)
	}
	if got := notes("s1", "make"); !strings.Contains(got, "rule one of ") || !strings.Contains(got, "ask the user whether to trust it") {
		t.Errorf("not said: %q", got)
	}
	if got := notes("s1", "make"); got != "" {
		t.Errorf("said twice: %s", got)
	}
	if got := notes("s2", "make"); got == "" {
		t.Error("not said to another session")
	}
	w.write(file, "rules:\n"+strings.ReplaceAll(rule, "NAME", "one")+strings.ReplaceAll(rule, "NAME", "two"))
	if got := notes("s1", "make"); !strings.Contains(got, "rules one, two of ") {
		t.Errorf("not said of other content: %q", got)
	}
}
