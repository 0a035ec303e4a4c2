package eval

import (
	"os"
	"strings"
	"testing"
)

// eachLine calls f with the lines of a file that are no comment.
func eachLine(t *testing.T, file string, f func(line string)) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			f(line)
		}
	}
}

// TestProtected: however a change of safeshell's own files, of the agents' hooks
// or of the start-up files is spelled, an agent is stopped; lines that only look
// alike pass. Nothing is executed.
func TestProtected(t *testing.T) {
	w := corpusWorld(t)
	r, _ := w.rules()
	judge := func(line string) Decision { return w.judgeWith(r, strings.ReplaceAll(line, "/home/dev", w.home)) }
	spellings := 0
	eachLine(t, "testdata/protected.txt", func(line string) {
		spellings++
		if d := judge(line); d.Action < RequireApproval {
			t.Errorf("passes (%v): %s", d.Action, line)
		}
	})
	if spellings < 500 {
		t.Errorf("only %d spellings", spellings)
	}
	eachLine(t, "testdata/protected-everyday.txt", func(line string) {
		if d := judge(line); d.Action >= RequireApproval {
			t.Errorf("stopped (%v, %s: %v): %s", d.Action, d.Rule, d.Matched, line)
		}
	})
}

// TestProtectedElsewhere: files that SAFESHELL_HOME puts elsewhere are the same,
// and so is the home that a user's name stands for.
func TestProtectedElsewhere(t *testing.T) {
	w := corpusWorld(t)
	w.paths.Home = w.root + "/opt/ss"
	w.paths.Spool = w.root + "/run/spool"
	w.mkdir(w.paths.Home + "/grants")
	w.env[1] = "USER=someone"
	r, _ := w.rules()
	for _, line := range []string{
		"echo x > /ROOT/opt/ss/config.yaml", "gio trash /ROOT/opt/ss", "rm -rf /ROOT/opt", "cd /ROOT/opt && rm -rf s*", "touch /ROOT/run/spool/x",
		"chmod -R a-w /ROOT/opt", "grep -rl x /ROOT/opt/ss | xargs sed -i s/a/b/", "sd a b /ROOT/opt/ss/config.yaml", "make -C /ROOT/opt/ss",
		"find /ROOT/opt -name config.yaml -exec sed -i s/a/b/ {} +", "cp x ~someone/.safeshell/config.yaml",
	} {
		if d := w.judgeWith(r, strings.ReplaceAll(line, "/ROOT", w.root)); d.Action < RequireApproval {
			t.Errorf("passes (%v): %s", d.Action, line)
		}
	}
}
