package eval

import (
	"os"
	"os/exec"
	"path/filepath"
	"safeshell/internal/files"
	"strings"
	"testing"
	"time"
)

// What a condition that cannot be judged counts as.
func TestUnjudged(t *testing.T) {
	needs1(t, "bash")
	for _, c := range []struct {
		action string
		open   bool
		want   Action
	}{
		{"deny", false, Deny}, {"require_approval", false, RequireApproval}, {"redirect", false, Allow}, {"allow", false, Allow},
		{"deny", true, Allow}, {"require_approval", true, Allow},
	} {
		w := newWorld(t)
		more := ""
		if c.action == "redirect" {
			more = ", redirect_to: y"
		}
		w.user("rules:\n" + one("r", "x", c.action, more+", conditions: ['sleep 1000']"))
		w.open = func(o *Options) {
			o.Settings = func() (time.Duration, bool) { return 200 * time.Millisecond, c.open }
		}
		d := w.argv("x")
		if d.Action != c.want {
			t.Errorf("%s, fail open %v: %v", c.action, c.open, d.Action)
		}
		if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "could not be judged") {
			t.Errorf("%s: notes %q", c.action, d.Notes)
		}
	}
}

// A milder verdict that is certain stays when a stricter rule does not hold.
func TestConditionsAndOthers(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	w.user("rules:\n" + one("no", "x", "deny", ", conditions: [false]") + one("yes", "x", "require_approval", ", conditions: [true, true]") + one("plain", "x", "redirect", ", redirect_to: y"))
	if d := w.argv("x"); d.Rule != "yes" {
		t.Errorf("%+v", d)
	}
	// Conditions that cannot change the verdict are not run.
	w.user("rules:\n" + one("plain", "x", "deny", "") + one("cond", "x", "deny", ", conditions: ['touch ran']") + one("ask", "x", "require_approval", ", conditions: ['touch ran']"))
	if d := w.argv("x"); d.Rule != "plain" {
		t.Errorf("%+v", d)
	}
	// Nor when another key does not hold.
	w.user("rules:\n  - {name: c, commands: [x], match: {flags: [-f]}, conditions: ['touch ran'], action: deny, message: m}\n")
	w.argv("x")
	if files.Exists(filepath.Join(w.proj, "ran")) {
		t.Error("a condition ran for nothing")
	}
	// All must hold, in order; the first that fails ends it.
	w.user("rules:\n  - {name: c, commands: [x], conditions: [true, false, 'touch ran'], action: deny, message: m}\n")
	if d := w.argv("x"); d.Action != Allow || files.Exists(filepath.Join(w.proj, "ran")) {
		t.Errorf("%+v", d)
	}
}

// Conditions never run the shims.
func TestConditionsAvoidShims(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	shims := w.paths.Shims
	w.mkdir(shims)
	os.WriteFile(filepath.Join(shims, "probe"), []byte("#!/bin/sh\nexit 0\n"), 0o755)
	other := filepath.Join(w.root, "othershims") // of another home: links to the running program
	w.mkdir(other)
	self, _ := os.Executable()
	os.Symlink(self, filepath.Join(other, "rm"))
	os.WriteFile(filepath.Join(other, "probe"), []byte("#!/bin/sh\nexit 0\n"), 0o755)
	link := filepath.Join(w.root, "link")
	os.Symlink(shims, link)
	w.env = []string{"PATH=" + shims + "/:" + other + ":" + link + ":.:/usr/bin:/bin", "HOME=" + w.home}
	w.user("rules:\n" + one("r", "x", "deny", ", conditions: [probe]"))
	if d := w.argv("x"); d.Action != Allow {
		t.Errorf("a shim was run: %+v", d)
	}
}

// $CMD and $ARGS read by bash give the words again.
func TestQuoteEqualsBash(t *testing.T) {
	needs1(t, "bash")
	for _, s := range []string{"plain", "", "a b", "it's", "new\nline", "tab\t", "\x01\x7f", "é", "\xff\xfe", `\`, "$x", "`", "~", "#", "=", "a=b", "{a,b}", "*", "!", "-n", "a\r", "'\n'", "\u202e"} {
		q := quote(s)
		if strings.ContainsAny(q, "\n\r") {
			t.Errorf("%q: not one line: %q", s, q)
		}
		if got := bash(t, "printf '%s' "+q); got != s {
			t.Errorf("%q: %s gives %q", s, q, got)
		}
	}
}

func bash(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-c", text)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("bash: %v\n%s\n%s", err, text, out)
	}
	return string(out)
}
