package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"safeshell/spool"
)

func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// self adds this process to a fake /proc, below its parent.
func self(t *testing.T, proc string) {
	t.Helper()
	dir := filepath.Join(proc, strconv.Itoa(os.Getpid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stat := fmt.Sprintf("%d (me) S %d 1 %d 34816 1 0 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0", os.Getpid(), os.Getppid(), os.Getpid())
	for name, text := range map[string]string{"stat": stat, "environ": "SAFESHELL_CONTEXT=ai\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Who asks and who answers may not hang below one process of a terminal.
func TestSharesAncestry(t *testing.T) {
	belowInit(t)
	g := newWorld(t).gate()
	g.caller.proc = fakeProc(t, "bash", "tmux")
	self(t, g.caller.proc)
	parent := os.Getppid()
	if why := g.SharesAncestry(parent, 1000, ""); why != fmt.Sprintf("it shares process %d (bash) with the command that asks", parent) {
		t.Errorf("a parent that asks: %q", why)
	}
	// A multiplexer has no terminal: what is below it may be apart.
	stat := filepath.Join(g.caller.proc, "50000", "stat")
	b, err := os.ReadFile(stat)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stat, []byte(strings.Replace(string(b), " 34816 ", " 0 ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if why := g.SharesAncestry(50000, 1001, ""); why != "" {
		t.Errorf("below one multiplexer: %q", why)
	}
}

// The session of an agent that tells none is its process: the one above all
// that carry its mark.
func TestSessionByMark(t *testing.T) {
	belowInit(t)
	env := map[string]string{"SAFESHELL_CONTEXT": "ai"}
	getenv := func(n string) string { return env[n] }
	f := newCallerFinder(getenv)
	f.proc = fakeProc(t, "sh", "theagent", "bash")
	self(t, f.proc)
	if err := os.WriteFile(filepath.Join(f.proc, strconv.Itoa(os.Getppid()), "environ"), []byte("SAFESHELL_CONTEXT=ai\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := f.Session(); got != "agent:50000-1001" {
		t.Errorf("by its mark: %q", got)
	}
	env["SAFESHELL_SESSION"] = "mine"
	f = newCallerFinder(getenv)
	f.proc = fakeProc(t, "sh", "theagent")
	if got := f.Session(); got != "agent:mine" {
		t.Errorf("said: %q", got)
	}
}

func TestHasMarker(t *testing.T) {
	for env, want := range map[string]bool{
		"": false, "A=b\x00": false, "SAFESHELL_CONTEXT=ai\x00": true, "SAFESHELL_CONTEXT=human\x00": false,
		"HOME=/\x00CLAUDECODE=1\x00": true, "CLAUDECODE=\x00": false, "noequals\x00AI_AGENT=x\x00": true,
	} {
		if agent, _ := markOf(lookupIn([]byte(env))); (agent != "") != want {
			t.Errorf("%q: %q", env, agent)
		}
	}
}

func TestSessionHint(t *testing.T) {
	w := newWorld(t, "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=abc")
	if got := w.gate().SessionHint(); got != "claude-code:abc" {
		t.Errorf("with a mark: %q", got)
	}
	if got := newWorld(t).gate().SessionHint(); got != "" {
		t.Errorf("a person's: %q", got)
	}
}

// A broken config.yaml is told, and the defaults hold.
func TestConfigError(t *testing.T) {
	w := newWorld(t)
	if err := w.gate().ConfigError(); err != nil {
		t.Errorf("none: %v", err)
	}
	w.write(w.paths.Config, "approval: {timeout_seconds: soon}\n")
	g := w.gate()
	if err := g.ConfigError(); err == nil || !strings.Contains(err.Error(), "config.yaml") {
		t.Errorf("a broken one: %v", err)
	}
	if g.Config().Approval.Timeout <= 0 {
		t.Error("the defaults do not hold")
	}
}

func TestOthersEntries(t *testing.T) {
	w := newWorld(t)
	if err := w.gate().Journal(spool.Entry{Kind: spool.KindAnswer, ID: "x", Action: "asked-allow"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.paths.Journal)
	if err != nil || !strings.Contains(string(b), `"action":"asked-allow"`) {
		t.Errorf("%v %s", err, b)
	}
	if got := Blocked("why", "rule"); got != "[SafeShell] BLOCKED\nReason: why\nRule: rule\n"+blockedEnd {
		t.Errorf("%q", got)
	}
}
