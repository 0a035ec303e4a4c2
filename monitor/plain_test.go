package monitor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"safeshell/spool"
)

// plainRig drives plain mode without a loop: what it begins is done at once.
type plainRig struct {
	t   *testing.T
	src *fake
	out *bytes.Buffer
	*plain
}

func newPlainRig(t *testing.T, ps ...spool.Pending) *plainRig {
	t.Helper()
	src := newFake(newClock())
	src.queue = ps
	out := &bytes.Buffer{}
	p := newPlain(Options{Source: src, Out: out, Getenv: env(), Now: src.clock.now, Spool: "/s"})
	p.begin = func(work func() func()) { work()() }
	r := &plainRig{t, src, out, p}
	r.scan()
	return r
}

func (r *plainRig) scan() { r.scanned(read(r.src)) }

// types gives a line of input that was read now, and returns what was printed.
func (r *plainRig) types(s string) string {
	r.out.Reset()
	r.line(typed{text: s + "\n", at: r.src.clock.now()})
	return r.out.String()
}

func (r *plainRig) says(got, want string) {
	r.t.Helper()
	if !strings.Contains(got, want) {
		r.t.Errorf("printed %q, want %q in it", got, want)
	}
}

func TestPlainGolden(t *testing.T) {
	late := req("r5", "make", "deploy")
	late.Late = true
	r := newPlainRig(t, full("r1"), evil(""), multi(""), late)
	r.types("list")
	block := &bytes.Buffer{}
	r2 := newPlainRig(t, full("r1"), evil(""), multi(""), late)
	block.Write(r2.out.Bytes())
	golden(t, "plain", block.String()+"\n"+r.out.String())
}

func TestPlainAnswers(t *testing.T) {
	for line, want := range map[string]string{
		"1 1": "r1 1", "1 2": "r1 2", "1 3": "r1 3", "1 4": "r1 4", "1 once": "r1 1", "1 DENY": "r1 4",
		"#1 4 not today, 2 late": "r1 4 not today, 2 late", " 1:  4   a   b ": "r1 4 a b",
		"1 4 esc\x1b[2J": "r1 4 esc<ESC>[2J",
	} {
		r := newPlainRig(t, full("r1"))
		r.src.clock.add(quiet)
		r.says(r.types(line), "Request 1: you ")
		if got := r.src.given(); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
		r.says(r.types(line), "Request 1 is no longer open")
	}
}

func TestPlainTakesNothingTypedAhead(t *testing.T) {
	r := newPlainRig(t, full("r1"))
	r.says(r.types("1 1"), "Not taken: that line was typed before request 1 could be read")
	r.src.clock.add(quiet - time.Millisecond)
	r.says(r.types("1 1"), "Not taken")
	// A line that was read early and is acted upon late.
	r.src.clock.add(time.Hour)
	r.out.Reset()
	r.line(typed{text: "1 1\n", at: start.Add(-time.Second)})
	r.says(r.out.String(), "Not taken")
	if got := r.src.given(); len(got) > 0 {
		t.Errorf("answers %q", got)
	}
}

func TestPlainRefusesWhatItDoesNotUnderstand(t *testing.T) {
	r := newPlainRig(t, full("r1"))
	r.src.clock.add(quiet)
	for line, want := range map[string]string{
		"1":                               "Request 1 needs a choice",
		"1 5":                             "Request 1 needs a choice",
		"1 11":                            "Request 1 needs a choice",
		"2 1":                             "There is no request 2",
		"0 1":                             "There is no request 0",
		"-1 1":                            "There is no request -1",
		"yes\x1b[2J":                      "Not understood: yes<ESC>[2J",
		"99999999999999999999 1":          "Not understood",
		"1 4 " + strings.Repeat("x", 501): "longer than 500",
	} {
		r.says(r.types(line), want)
	}
	r.says(r.types("help"), "7 4 not today")
	r.says(r.types("list"), "Request 1, 4 min left: git push --force origin main")
	if out := r.types("   "); out != "" {
		t.Errorf("an empty line prints %q", out)
	}
	if got := r.src.given(); len(got) > 0 {
		t.Errorf("answers %q", got)
	}
	if !r.line(typed{text: "quit\n"}) {
		t.Error("quit does not quit")
	}
}

func TestPlainTellsHowARequestEnds(t *testing.T) {
	r := newPlainRig(t, full("r1"), req("r2", "a"), req("r3", "b"), req("r4", "c"))
	r.out.Reset()
	r.src.elsewhere("r1", spool.Decision{Verdict: spool.Allowed, Choice: spool.Once, By: "monitor", MonitorID: "k3f9"})
	r.src.elsewhere("r2", spool.Decision{Verdict: spool.Cancelled, By: "requester"})
	r.src.queue = r.src.queue[1:] // r3 dies
	r.src.queue[0].Late = true    // r4 gives up
	r.scan()
	out := r.out.String()
	r.says(out, "Request 1 was answered elsewhere: allowed once by monitor k3f9.")
	r.says(out, "Request 2 ended: cancelled.")
	r.says(out, "Request 3 is gone: its command ended before an answer.")
	r.says(out, "Request 4: It gave up waiting.")
	r.out.Reset()
	r.scan()
	if r.out.Len() > 0 {
		t.Errorf("said again: %q", r.out.String())
	}
	r.src.clock.add(quiet)
	r.says(r.types("4 1"), "Request 4: you allowed once")
	r.src.outcomes["r5"] = spool.Decision{Verdict: spool.Denied, By: "cli"}
	r.src.queue = []spool.Pending{req("r5", "d")}
	r.scan()
	r.src.clock.add(quiet)
	r.says(r.types("5 1"), "Request 5 was answered elsewhere: denied by safeshell approve or deny.")
}

func TestPlainKeepsARequestWhoseAnswerFailed(t *testing.T) {
	r := newPlainRig(t, full("r1"))
	r.src.clock.add(quiet)
	r.src.err = errDisk
	r.says(r.types("1 1"), "nothing was decided: write decision: no space left on device. Answer again.")
	r.src.err = nil
	r.says(r.types("1 1"), "you allowed once")
}

func TestPlainReminds(t *testing.T) {
	r := newPlainRig(t, full("r1"))
	r.out.Reset()
	r.remind()
	r.src.clock.add(4*time.Minute + 40*time.Second)
	r.remind()
	r.remind()
	if got := r.out.String(); strings.Count(got, "Request 1 waits only 20 s more.") != 1 {
		t.Errorf("printed %q", got)
	}
}

func TestPlainWarnsOnce(t *testing.T) {
	r := newPlainRig(t, full("r1"))
	r.out.Reset()
	r.src.pendErr, r.src.queue = errDisk, nil
	r.scan()
	r.scan()
	if got := r.out.String(); strings.Count(got, "no space left") != 1 || strings.Contains(got, "gone") {
		t.Errorf("printed %q", got)
	}
}

// lockedBuffer is output that a test reads while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Who has no terminal sees the requests and answers none.
func TestPlainWithoutATerminalTakesNoAnswers(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out := &lockedBuffer{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- Run(ctx, Options{Source: src, In: in, Out: out, Getenv: env(), Now: src.clock.now, Spool: "/s"})
	}()
	until := func(want string) {
		t.Helper()
		for range 1000 {
			if strings.Contains(out.String(), want) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("never printed %q: %s", want, out.String())
	}
	until("Request 1: claude-code asks for approval")
	until("Answers are not taken here: the input is not a terminal")
	src.clock.add(time.Minute)
	fmt.Fprintln(feed, "1 1")
	until("Not taken: the input is not a terminal")
	feed.Close()
	src.ask(req("r2", "ls"))
	until("Request 2")
	if got := src.given(); len(got) > 0 {
		t.Errorf("answers %q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// On a dumb terminal plain mode comes by itself, and answers.
func TestPlainOnADumbTerminal(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	s := watch(t, 80, 50, src, func(o *Options) { o.Getenv = env("TERM", "dumb") })
	s.shows("Request 1: claude-code asks for approval")
	s.keys("1 1\n")
	s.shows("Not taken: that line was typed before request 1")
	s.clock.add(quiet)
	s.keys("1 4 no, thanks\n")
	s.shows("Request 1: you denied.")
	s.scr.mu.Lock()
	defer s.scr.mu.Unlock()
	if strings.ContainsRune(string(s.scr.raw), 0x1b) {
		t.Errorf("sequences on a dumb terminal: %q", s.scr.raw)
	}
	if got := src.given(); len(got) != 1 || got[0] != "r1 4 no, thanks" {
		t.Errorf("answers %q", got)
	}
}
