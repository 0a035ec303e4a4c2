package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// terminal is a program in a terminal of its own.
type terminal struct {
	c    *exec.Cmd
	f    *os.File
	done chan struct{} // its output has ended

	mu   sync.Mutex
	fed  func([]byte)
	last time.Time // of output
}

// inTerminal starts safeshell with args; fed gets its output.
func (s *scene) inTerminal(fed func([]byte), args ...string) (*terminal, error) {
	c := exec.Command(s.r.binary, args...)
	c.Env, c.Dir = s.env(), s.path("work")
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 160})
	if err != nil {
		return nil, err
	}
	t := &terminal{c: c, f: f, fed: fed, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		buf := make([]byte, 8192)
		for {
			n, err := f.Read(buf)
			if n > 0 {
				t.mu.Lock()
				t.last = time.Now()
				if t.fed != nil {
					t.fed(buf[:n])
				}
				t.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}()
	return t, nil
}

// wait returns when the program has ended and all output is read.
func (t *terminal) wait() {
	_ = t.c.Wait()
	select {
	case <-t.done:
	case <-time.After(5 * time.Second): // somebody else holds the terminal
	}
	t.f.Close()
}

// monitorLife is how one monitor ends.
type monitorLife struct {
	tui        bool
	life, rest time.Duration
	sig        syscall.Signal
	stop       time.Duration
}

func nextLife(rnd *rand.Rand, i int) monitorLife {
	l := monitorLife{
		tui: i%6 == 5, life: 200*time.Millisecond + ms(rnd, 9000), rest: ms(rnd, 800),
		sig: syscall.SIGKILL, stop: 200*time.Millisecond + ms(rnd, 3000),
	}
	switch rnd.IntN(6) {
	case 0:
		l.sig = syscall.SIGTERM
	case 1, 2:
		l.sig = syscall.SIGSTOP
	}
	return l
}

// watch runs one monitor to its planned end or that of ctx.
func (s *scene) watch(ctx context.Context, rnd *rand.Rand, l monitorLife) error {
	args := []string{"watch"}
	if !l.tui {
		args = append(args, "--plain")
	}
	h := &human{rnd: rnd, began: time.Now()}
	t, err := s.inTerminal(h.read, args...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.life)
	defer cancel()
	for ctx.Err() == nil {
		pause(ctx, 20*time.Millisecond)
		if l.tui {
			h.press(t.f)
		} else {
			h.answer(t.f, s.r)
		}
	}
	_ = t.c.Process.Signal(l.sig)
	switch l.sig {
	case syscall.SIGSTOP:
		pause(s.r.ctx, l.stop)
		_ = t.c.Process.Kill()
		s.r.count("monitors stopped, then killed", 1)
	case syscall.SIGTERM:
		kill := time.AfterFunc(40*time.Second, func() {
			s.r.violate("a monitor (%v) did not end within 40 s of SIGTERM", args)
			_ = t.c.Process.Kill()
		})
		defer kill.Stop()
		s.r.count("monitors told to end", 1)
	default:
		s.r.count("monitors killed", 1)
	}
	t.wait()
	s.r.count("answers printed by monitors", h.said)
	return nil
}

// human answers what a monitor shows.
type human struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	began time.Time
	part  []byte
	todo  []typing
	said  int // "Request 7: you ..."
}

// typing is a line that is to be typed at a time.
type typing struct {
	at   time.Time
	line string
}

var (
	asksLine  = regexp.MustCompile(`^Request (\d+): .* asks for approval`)
	youLine   = regexp.MustCompile(`Request \d+: you (allowed|denied)`)
	keptWords = regexp.MustCompile(`\bkept-\d+`)
	againLine = regexp.MustCompile(`^(Request (\d+) needs|Not taken: that line was typed before request (\d+) could)`)
)

// read looks for new requests in what the plain monitor prints.
func (h *human) read(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.part = append(h.part, b...)
	for {
		i := bytes.IndexByte(h.part, '\n')
		if i < 0 {
			break
		}
		line := bytes.TrimRight(h.part[:i], "\r")
		if youLine.Match(line) {
			h.said++
		}
		if m := asksLine.FindSubmatch(line); m != nil && h.rnd.IntN(3) > 0 { // others never answer
			h.plan(string(m[1]), 550*time.Millisecond+ms(h.rnd, 1200))
		} else if m := againLine.FindSubmatch(line); m != nil {
			h.plan(string(m[2])+string(m[3]), 600*time.Millisecond)
		} else if keptWords.Match(line) && len(h.todo) > 0 && h.rnd.IntN(2) == 0 {
			t := &h.todo[len(h.todo)-1]
			n, _, _ := bytes.Cut([]byte(t.line), []byte(" "))
			t.line = fmt.Sprintf("%s %d kept\n", n, 2+h.rnd.IntN(2))
		}
		h.part = h.part[i+1:]
	}
	if len(h.part) > 64<<10 {
		h.part = nil // the other monitor draws pictures
	}
}

func (h *human) plan(number string, in time.Duration) {
	choice := []string{"1", "1", "1", "4 not now"}[h.rnd.IntN(4)]
	h.todo = append(h.todo, typing{time.Now().Add(in), number + " " + choice + "\n"})
}

// answer types what is due.
func (h *human) answer(f io.Writer, r *run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, rest := time.Now(), h.todo[:0]
	for _, t := range h.todo {
		if now.Before(t.at) {
			rest = append(rest, t)
			continue
		}
		_, _ = io.WriteString(f, t.line)
		r.count("answers typed", 1)
	}
	h.todo = rest
}

// press plays on the keys of the other monitor: once for it to be shown, and
// then one key at a time.
func (h *human) press(f io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.began) > 1500*time.Millisecond && h.rnd.IntN(12) == 0 {
		_, _ = io.WriteString(f, []string{"1", "1", "4", "\r", "\x1b[B", "\t", "x"}[h.rnd.IntN(7)])
	}
}

// answered is what a command line said of its answer.
type answered struct {
	id   string
	word string // approved, denied
}

var saidLine = regexp.MustCompile(`(?m)^(approved|denied)[^\n]*: `)

// answerOne picks a waiting request and answers it from another terminal.
func (s *scene) answerOne(rnd *rand.Rand) (*answered, error) {
	entries, err := os.ReadDir(s.spoolDir() + "/req")
	if err != nil || len(entries) == 0 {
		return nil, nil
	}
	id := entries[rnd.IntN(len(entries))].Name()
	verb := "approve"
	if rnd.IntN(3) == 0 {
		verb = "deny"
	}
	var out bytes.Buffer
	t, err := s.inTerminal(func(b []byte) { out.Write(b) }, verb, id)
	if err != nil {
		return nil, err
	}
	if rnd.IntN(6) == 0 {
		after := ms(rnd, 60)
		time.AfterFunc(after, func() { _ = t.c.Process.Kill() })
	}
	t.wait()
	if m := saidLine.FindSubmatch(out.Bytes()); m != nil {
		return &answered{id, string(m[1])}, nil
	}
	if bytes.Contains(out.Bytes(), []byte("[SafeShell] BLOCKED")) || bytes.Contains(out.Bytes(), []byte("USAGE")) {
		return nil, fmt.Errorf("safeshell %s %s: %s", verb, id, strconv.Quote(out.String()))
	}
	return nil, nil
}
