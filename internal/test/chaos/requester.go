package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// invocation is one guarded command and what became of it.
type invocation struct {
	n       int
	pid     int
	layer   string // shim, exec or wrapper
	word    string // its argument
	own     bool   // nobody else uses the word
	start   time.Time
	end     time.Time
	stopped time.Duration // by SIGSTOP
	kill    bool          // it was sent SIGKILL
	signal  syscall.Signal
	code    int            // exit code; -1: by a signal
	died    syscall.Signal // which
	said    string         // the header of its refusal
}

// plan is what a requester does next. It depends on the seed alone.
type plan struct {
	layer, word, session string
	own                  bool
	sig                  syscall.Signal // 0: none
	after, stop          time.Duration
	rest                 time.Duration
}

func nextPlan(rnd *rand.Rand, actor, i int) plan {
	p := plan{
		layer: "shim", word: fmt.Sprintf("only-%d-%d", actor, i), own: true,
		session: fmt.Sprint("s", rnd.IntN(3)), after: ms(rnd, 2500), stop: 100*time.Millisecond + ms(rnd, 2500), rest: ms(rnd, 150),
	}
	switch rnd.IntN(20) {
	case 0, 1, 2, 3:
		p.word, p.own = fmt.Sprint("again-", rnd.IntN(12)), false
	case 4:
		p.word, p.own = fmt.Sprint("kept-", rnd.IntN(40)), false
	}
	switch rnd.IntN(8) {
	case 0:
		p.layer = "exec"
	case 1:
		if p.own {
			p.layer = "wrapper"
		}
	}
	switch rnd.IntN(20) {
	case 0, 1, 2:
		p.sig = syscall.SIGKILL
	case 3:
		p.sig = syscall.SIGTERM
	case 4:
		p.sig = syscall.SIGINT
	case 5:
		p.sig = syscall.SIGHUP
	case 6, 7, 8:
		p.sig = syscall.SIGSTOP
	}
	if rnd.IntN(4) == 0 { // while it starts
		p.after /= 100
	}
	return p
}

// command is what the plan starts.
func (s *scene) command(p plan, n int) *exec.Cmd {
	var c *exec.Cmd
	switch p.layer {
	case "exec":
		c = exec.Command(s.r.binary, "exec", "--", "mark", p.word)
	case "wrapper":
		c = exec.Command(s.r.binary, "-c", "mark "+p.word)
	default:
		c = exec.Command(s.shim("mark"), p.word)
	}
	c.Dir = s.path("work")
	c.Env = s.env(fmt.Sprint("CHAOS_N=", n), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+p.session)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.WaitDelay = 10 * time.Second
	return c
}

// ask runs one guarded command through its plan. Whoever still waits long
// after the deadline is a violation, and is killed.
func (s *scene) ask(p plan, n int, deadline time.Duration) (*invocation, error) {
	c := s.command(p, n)
	var said head
	c.Stderr = &said
	v := &invocation{n: n, layer: p.layer, word: p.word, own: p.own, start: time.Now()}
	if err := c.Start(); err != nil {
		return nil, err
	}
	v.pid = c.Process.Pid
	over, cancel := context.WithCancel(context.Background())
	hurt := make(chan struct{})
	go func() {
		defer close(hurt)
		if p.sig == 0 {
			return
		}
		if pause(over, p.after); over.Err() != nil {
			return
		}
		_ = c.Process.Signal(p.sig)
		switch p.sig {
		case syscall.SIGKILL:
			v.kill = true
		case syscall.SIGSTOP:
			at := time.Now()
			pause(s.r.ctx, p.stop)
			_ = c.Process.Signal(syscall.SIGCONT)
			v.stopped = time.Since(at)
		default:
			v.signal = p.sig
		}
	}()
	late := time.AfterFunc(deadline+p.stop+deadlineMargin, func() {
		s.r.violate("invocation %d (%s %s) lives %s past its deadline", n, p.layer, p.word, deadlineMargin)
		_ = c.Process.Kill()
	})
	err := c.Wait()
	late.Stop()
	cancel()
	<-hurt
	v.end, v.said = time.Now(), said.header()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		v.code = exit.ExitCode()
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			v.died = ws.Signal()
		}
	default:
		v.code = -1
		s.r.count("waits without an end of output", 1)
	}
	return v, nil
}

// deadlineMargin is for a slow machine, not for the protocol.
const deadlineMargin = 45 * time.Second

// head keeps the start of what is written to it.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	if room := 4096 - len(h.b); room > 0 {
		h.b = append(h.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// header is the last "[SafeShell] WORDS" line: the first may be that it waits.
func (h *head) header() string {
	found := ""
	for l := range strings.Lines(string(h.b)) {
		if w, ok := strings.CutPrefix(strings.TrimSpace(l), "[SafeShell] "); ok {
			found = w
		}
	}
	return found
}

// outcome is the invocation's end in a word.
func (v *invocation) outcome() string {
	switch {
	case v.died != 0:
		return "ended by " + v.died.String()
	case v.code == 0:
		return "ran"
	case v.said != "":
		return strings.ToLower(v.said)
	}
	return fmt.Sprint("exit ", v.code)
}
