package gate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/spool"
)

// person is a terminal at which somebody types a line once they are asked.
type person struct {
	tty  *os.File
	mu   sync.Mutex
	seen bytes.Buffer
}

func newPerson(t *testing.T, line string) *person {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal is to be had: ", err)
	}
	p := &person{tty: tty}
	go func() {
		buf := make([]byte, 4096)
		for typed := false; ; {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			p.mu.Lock()
			p.seen.Write(buf[:n])
			asked := strings.Contains(p.seen.String(), "[4]: ")
			p.mu.Unlock()
			if asked && !typed && line != "" {
				typed = true
				_, _ = master.WriteString(line)
			}
		}
	}()
	t.Cleanup(func() {
		_, _ = master.WriteString("\n") // ends a read that nobody waits for
		tty.Close()
		master.Close()
	})
	return p
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.seen.String(), "\r\n", "\n")
}

// Anything but a clear yes is a no.
func TestAskTerminal(t *testing.T) {
	for line, want := range map[string]spool.Choice{
		"1\n": spool.Once, " 2 \n": spool.Session, "3\n": spool.Always, "4\n": spool.Refuse, "\n": spool.Refuse, "y\n": spool.Refuse, "12\n": spool.Refuse,
	} {
		p := newPerson(t, line)
		got, err := AskTerminal(t.Context(), p.tty, "May it?\n", " in this project", time.Minute)
		if got != want || err != nil {
			t.Errorf("%q: %v %v, want %v", line, got, err, want)
		}
		if s := p.screen(); !strings.HasPrefix(s, "May it?\n1 once, 2 for this session, 3 always in this project, 4 deny [4]: ") {
			t.Errorf("screen: %q", s)
		}
	}
	p := newPerson(t, "")
	if got, err := AskTerminal(t.Context(), p.tty, "", "", 20*time.Millisecond); got != spool.Refuse || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("no answer: %v %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p = newPerson(t, "")
	if got, err := AskTerminal(ctx, p.tty, "", "", time.Minute); got != spool.Refuse || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v %v", got, err)
	}
}

// What was typed before the question was shown is no answer to it.
func TestTypedAhead(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no terminal is to be had: ", err)
	}
	defer master.Close()
	defer tty.Close()
	if _, err := master.WriteString("1\n"); err != nil {
		t.Fatal(err)
	}
	got, err := AskTerminal(t.Context(), tty, "", "", 50*time.Millisecond)
	_, _ = master.WriteString("\n")
	if got != spool.Refuse || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v %v", got, err)
	}
}

func TestAskHere(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	req := w.argv("ask-me", "p\u0430y\x1b[2J")
	v := Verdict{Message: "ask first", Rule: "ask", Suggest: "ls"}
	p := newPerson(t, "1\n")
	if dec := g.askHere(t.Context(), p.tty, req, v); dec.Verdict != spool.Allowed || dec.Choice != spool.Once || dec.By != spool.ByTTY {
		t.Errorf("yes: %+v", dec)
	}
	s := p.screen()
	for _, want := range []string{"[SafeShell] APPROVAL REQUIRED\nReason: ask first\nRule: ask\nCommand: ask-me ", "Directory: " + w.dir + "\n", "Look out: ", "letters that look like others: \u0430 (U+0430)", "Instead: ls\n"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in %q", want, s)
		}
	}
	if strings.Contains(s, "\x1b") {
		t.Errorf("the terminal was driven: %q", s)
	}
	p = newPerson(t, "4\n")
	if dec := g.askHere(t.Context(), p.tty, req, v); dec.Verdict != spool.Denied || dec.Reason != "answered at the terminal" {
		t.Errorf("no: %+v", dec)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p = newPerson(t, "")
	if dec := g.askHere(ctx, p.tty, req, v); dec.Verdict != spool.Denied || dec.Reason != "no answer at the terminal" {
		t.Errorf("interrupted: %+v", dec)
	}
}

// A process at a terminal of its own is a person; one without any is not.
func TestOpenTerminal(t *testing.T) {
	if os.Getenv("GATE_TEST_CHILD") != "" {
		tty, ok := OpenTerminal()
		if ok {
			tty.Close()
		}
		w := newWorld(t)
		g := w.gate()
		g.caller.proc = fakeProc(t, "bash", "sshd: me")
		self(t, g.caller.proc)
		w.write(filepath.Join(g.caller.proc, strconv.Itoa(os.Getpid()), "environ"), "A=b\x00")
		t.Logf("opened %v, not human: %q", ok, g.NotHuman())
		return
	}
	child := func() *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^TestOpenTerminal$", "-test.v")
		if dir := os.Getenv("SAFESHELL_COVERDIR"); dir != "" && testing.CoverMode() != "" {
			c.Args = append(c.Args, "-test.gocoverdir="+dir)
		}
		c.Env = append(os.Environ(), "GATE_TEST_CHILD=1")
		return c
	}
	f, err := pty.Start(child())
	if err != nil {
		t.Skip("no terminal is to be had: ", err)
	}
	defer f.Close()
	var out bytes.Buffer
	_, _ = out.ReadFrom(f)
	if !strings.Contains(out.String(), `opened true, not human: ""`) {
		t.Errorf("at a terminal: %s", out.String())
	}
	c := child()
	c.SysProcAttr = newSession()
	got, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(got), `opened false, not human: "this has no terminal of its own"`) {
		t.Errorf("without one: %v\n%s", err, got)
	}
}

func TestNotHuman(t *testing.T) {
	w := newWorld(t, "CLAUDECODE=1")
	if why := w.gate().NotHuman(); why != "this runs under an agent (claude-code)" {
		t.Errorf("a mark of its own: %q", why)
	}
	belowInit(t)
	// The mark was taken out of the environment; a parent still has it.
	w = newWorld(t)
	g := w.gate()
	g.caller.proc = fakeProc(t, "bash", "sh")
	self(t, g.caller.proc)
	w.write(filepath.Join(g.caller.proc, strconv.Itoa(os.Getpid()), "environ"), "A=b\x00")
	w.write(filepath.Join(g.caller.proc, "50000", "environ"), "A=b\x00CODEX_CI=1\x00")
	if why := g.NotHuman(); why != "this runs under an agent, whose mark process 50000 (sh) carries" {
		t.Errorf("a parent's mark: %q", why)
	}
}
