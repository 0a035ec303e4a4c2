package monitor

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
	"safeshell/spool"
)

var update = flag.Bool("update", false, "write the golden files anew")

// session is a monitor on a real pseudo-terminal that answers no queries.
type session struct {
	t      *testing.T
	tty    *os.File // our end
	scr    *screen
	src    *fake
	clock  *clock
	ctx    context.Context
	cancel context.CancelFunc
	done   chan error
}

// env is an environment for the monitor.
func env(kv ...string) func(string) string {
	m := map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return func(k string) string { return m[k] }
}

// watch starts a monitor of w by h cells.
func watch(t *testing.T, w, h int, src *fake, change func(*Options)) *session {
	t.Helper()
	ptm, pts, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	if err := pty.Setsize(ptm, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, tty: ptm, scr: newScreen(w, h), src: src, clock: src.clock, done: make(chan error, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	o := Options{
		Source: src, In: pts, Out: pts, Getenv: env(), Now: src.clock.now, Notify: []string{"bell"},
		Version: "0.1.0", Spool: "/home/u/.safeshell/spool",
	}
	if change != nil {
		change(&o)
	}
	go func() {
		s.done <- Run(s.ctx, o)
	}()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := ptm.Read(buf)
			s.scr.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.cancel()
		select {
		case <-s.done:
		case <-time.After(time.Minute):
			t.Error("the monitor did not stop")
		}
		pts.Close()
		ptm.Close()
	})
	return s
}

// until waits for a condition of the screen, with no clock of its own but a
// bound that only a hang reaches.
func (s *session) until(what string, ok func(text string) bool) string {
	s.t.Helper()
	for range 6000 {
		if text := s.scr.text(); ok(text) {
			return text
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("never seen: %s; the screen is:\n%s", what, s.scr.text())
	return ""
}

// shows waits for a text.
func (s *session) shows(text string) string {
	s.t.Helper()
	return s.until(text, func(scr string) bool { return strings.Contains(scr, text) })
}

// open lets the half second pass.
func (s *session) open() {
	s.t.Helper()
	s.shows("keys open in")
	s.clock.add(quiet)
	s.until("open keys", func(scr string) bool { return !strings.Contains(scr, "keys open in") })
}

// keys types.
func (s *session) keys(k string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(k); err != nil {
		s.t.Fatal(err)
	}
}

// golden waits for the screen to be that of a file of testdata: a frame comes
// in several writes, and what is between them is not to be seen.
func (s *session) golden(name string) {
	s.t.Helper()
	want, _ := os.ReadFile(filepath.Join("testdata", name+".golden"))
	got := s.scr.text()
	for i := 0; i < 500 && (*update && i < 30 || !*update && got != string(want)); i++ {
		time.Sleep(10 * time.Millisecond)
		got = s.scr.text()
	}
	golden(s.t, name, got)
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run: go test ./monitor -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./monitor -update writes it anew); got:\n%s\nwant:\n%s", path, got, want)
	}
}

var sizes = []struct {
	name string
	w, h int
}{{"80x24", 80, 24}, {"200x50", 200, 50}, {"40x15", 40, 15}, {"20x6", 20, 6}}

func TestGoldenScreens(t *testing.T) {
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			src := newFake(newClock())
			src.past = past()
			s := watch(t, size.w, size.h, src, nil)
			s.shows("Nothing waits")
			if size.w >= 80 {
				s.shows("not this week")
			}
			s.golden("idle-" + size.name)
			src.ask(full("r1"), req("r2", "terraform", "apply"))
			s.shows("keys open in")
			s.golden("shut-" + size.name)
			s.open()
			s.shows("1-4")
			s.golden("approval-" + size.name)
			if len(s.scr.odd) > 0 {
				t.Errorf("sequences the emulator does not know: %q", s.scr.odd)
			}
		})
	}
}

func TestGoldenKinds(t *testing.T) {
	for name, p := range map[string]spool.Pending{"evil": evil(""), "script": multi(""), "long": long("")} {
		t.Run(name, func(t *testing.T) {
			src := newFake(newClock())
			src.queue = []spool.Pending{p}
			s := watch(t, 100, 40, src, nil)
			s.open()
			s.golden(name + "-100x40")
			if name == "evil" { // the size that most have: what is hidden is said, and the rest can be scrolled to
				s := watch(t, 80, 24, src, nil)
				s.open()
				s.golden(name + "-80x24")
				if len(s.scr.odd) > 0 {
					t.Errorf("sequences the emulator does not know: %q", s.scr.odd)
				}
			}
		})
	}
}

func TestGoldenWithoutUTF8(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{req("r1", "rm", "-rf", "Prüfung", "a\u202eb")}
	s := watch(t, 80, 24, src, func(o *Options) { o.Getenv = env("LANG", "C", "NO_COLOR", "1") })
	s.open()
	s.golden("ascii-80x24")
	for _, r := range s.scr.text() {
		if r > 0x7e {
			t.Fatalf("%U on a terminal that has only ASCII", r)
		}
	}
}

func TestNoColor(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	s := watch(t, 80, 24, src, func(o *Options) { o.Getenv = env("NO_COLOR", "1") })
	s.open()
	s.scr.mu.Lock()
	defer s.scr.mu.Unlock()
	for _, m := range regexp.MustCompile("\x1b\\[([0-9;]*)m").FindAllStringSubmatch(string(s.scr.raw), -1) {
		for _, n := range strings.Split(m[1], ";") {
			if len(n) == 2 && n[0] >= '3' && n != "39" && n != "49" {
				t.Fatalf("colour %q in spite of NO_COLOR", m[0])
			}
		}
	}
}

// A real terminal (tmux) shows the same as the emulator of these tests.
func TestEmulatorAgreesWithTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := testdir.New(t)
	run := func(args ...string) string {
		cmd := exec.Command(tmux, append([]string{"-S", filepath.Join(dir, "sock"), "-f", "/dev/null", "-u"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TERM=xterm-256color", "TZ=UTC", "SHELL=/bin/sh"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("new-session", "-d", "-x", "80", "-y", "24", "SAFESHELL_MONITOR_DEMO=still "+self)
	t.Cleanup(func() { exec.Command(tmux, "-S", filepath.Join(dir, "sock"), "kill-server").Run() })
	want, err := os.ReadFile("testdata/shut-80x24.golden")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for range 500 {
		if got = run("capture-pane", "-p"); got == string(want) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got != string(want) {
		t.Fatalf("tmux shows:\n%s\nwant:\n%s", got, want)
	}
	// Resizing a running monitor.
	run("resize-window", "-x", "40", "-y", "15")
	want, _ = os.ReadFile("testdata/shut-40x15.golden")
	for range 500 {
		if got = run("capture-pane", "-p"); got == string(want) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got != string(want) {
		t.Fatalf("tmux shows after resizing:\n%s\nwant:\n%s", got, want)
	}
	if title := run("display-message", "-p", "#{pane_title}"); strings.TrimSpace(title) != "(2) safeshell: approval waiting" {
		t.Errorf("title %q", title)
	}
	for _, size := range []string{"20x6", "1x1", "300x90", "19x5", "80x24"} {
		w, h, _ := strings.Cut(size, "x")
		run("resize-window", "-x", w, "-y", h)
	}
	run("send-keys", "q")
	if dead := run("display-message", "-p", "#{pane_dead}"); strings.TrimSpace(dead) == "1" {
		t.Error("the monitor died")
	}
}

// The terminal of these tests never answers a query, so this is the time that
// matters: what is waiting is on the screen without it.
func TestASilentTerminalDoesNotStallTheStart(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	s := watch(t, 80, 24, src, nil)
	s.shows("git push --force origin main")
	s.scr.mu.Lock()
	defer s.scr.mu.Unlock()
	// Queries whose answers would come as input with digits in it: only the
	// keyboard's is sent, which the library cannot be kept from.
	for _, q := range []string{"\x1b[c", "\x1b[6n", "\x1b]11;?", "\x1b]10;?", "\x1b[?2026$p", "\x1b[?2027$p", "\x1b[>q"} {
		if strings.Contains(string(s.scr.raw), q) {
			t.Errorf("the terminal is asked %q", q)
		}
	}
}

func TestKeysOnATerminal(t *testing.T) {
	src := newFake(newClock())
	s := watch(t, 80, 24, src, nil)
	s.shows("Nothing waits")
	s.keys("111?") // typed before there was a request; help shows that they were read
	s.shows("any key closes")
	src.ask(full("r1"))
	s.shows("keys open in")
	for _, k := range []string{"1", "\r", "1"} {
		s.clock.add(300 * time.Millisecond)
		s.shows("keys open in 0.2 s")
		s.keys(k)
		s.shows("keys open in 0.5 s")
	}
	s.open()
	if got := src.given(); len(got) > 0 {
		t.Fatalf("answered by keys typed ahead: %q", got)
	}
	s.keys("\t")
	s.shows("Enter sends: 4 deny")
	s.keys("not 1 or 2")
	s.shows("Reason: not 1 or 2")
	s.keys("\x1b[A")
	s.shows("Enter sends: 3 always")
	s.keys("\x1b[B\r")
	s.shows("you denied: git push --force origin main")
	if got := src.given(); len(got) != 1 || got[0] != "r1 4 not 1 or 2" {
		t.Errorf("answers %q", got)
	}
	src.ask(req("r2", "ls"))
	s.open()
	if s.scr.title != "(1) safeshell: approval waiting" || s.scr.bells != 1 {
		t.Errorf("title %q, bells %d", s.scr.title, s.scr.bells)
	}
	s.keys("1")
	s.shows("you allowed once: ls")
	s.keys("q")
	s.clock.add(time.Second)
	select {
	case err := <-s.done:
		if err != nil {
			t.Error(err)
		}
		s.done <- nil
	case <-time.After(time.Minute):
		t.Error("q does not quit")
	}
}

func TestBracketedPasteOnATerminal(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	s := watch(t, 80, 24, src, nil)
	s.open()
	s.keys("\x1b[200~1\r1\r\x1b[201~")
	s.shows("keys open in")
	if got := src.given(); len(got) > 0 {
		t.Fatalf("answered by a paste: %q", got)
	}
}

func TestElsewhereClosesThePrompt(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	s := watch(t, 80, 24, src, nil)
	s.open()
	src.elsewhere("r1", spool.Decision{Verdict: spool.Allowed, Choice: spool.Session, By: "monitor", MonitorID: "k3f9"})
	s.shows("Nothing waits")
	s.shows("answered elsewhere: allowed for the session by monitor k3f9")
}

// Whatever a request holds, the terminal gets nothing of it but text: no
// sequence that we do not send for a harmless one, no control, no bidi.
func TestNothingOfARequestReachesTheTerminalRaw(t *testing.T) {
	for _, size := range sizes {
		for _, plain := range []bool{false, true} {
			src := newFake(newClock())
			src.queue = []spool.Pending{evil("")}
			src.past = []Record{{At: start, Command: "c\x1b[2J\u202e", Dir: "\x1b", Rule: "r\a\x1b]0;t\a", Agent: "\x9b", Outcome: "o\x1b[8m", By: "b\r", Reason: "x\x1bc\u2066"}}
			src.warnings <- "w\x1b[31m\u202e\a"
			s := watch(t, size.w, size.h, src, func(o *Options) {
				o.Plain = plain
				o.Spool = "/s\x1b]0;x\a"
				o.Version = "1\x1b[5m"
				o.Notify = []string{"desktop"}
				o.Getenv = env("TERM", "rxvt-unicode")
			})
			if plain {
				s.until("the block's end", func(scr string) bool { return strings.Contains(scr, "deny)") || strings.Contains(scr, "4 (") })
			} else {
				s.open()
				s.keys("\x1b[6~")
				s.keys("\x1bOR") // F3
				s.keys("\x1bOS")
				src.elsewhere("evil", spool.Decision{Verdict: spool.Denied, By: "m\x1b[1m", Reason: "\x1b]0;no\a\u202e"})
				s.shows("answered els")
			}
			s.scr.mu.Lock()
			raw := string(s.scr.raw)
			s.scr.mu.Unlock()
			for _, bad := range []string{"\u202e", "\u2066", "\u200b", "\u009b", "\u0085", "\x9b31m", "\x1b]52", "\x1bP", "\x1b[31mred", "owned\a", "\x1b[5m", "\x1b[8m", "\x1bc", "\xff"} {
				if strings.Contains(raw, bad) {
					t.Errorf("%s plain=%v: %q reaches the terminal", size.name, plain, bad)
				}
			}
			if s.scr.title != "" && !strings.Contains(s.scr.title, "safeshell") {
				t.Errorf("the title is %q", s.scr.title)
			}
			for _, c := range s.scr.osc {
				if !strings.HasPrefix(c, "777;notify;safeshell: approval waiting;") {
					t.Errorf("sequence %q", c)
				}
			}
			if len(s.scr.odd) > 0 {
				t.Errorf("odd: %q", s.scr.odd)
			}
		}
	}
}

func TestFiveHundredRequestsOnATerminal(t *testing.T) {
	src := newFake(newClock())
	for i := range 500 {
		src.queue = append(src.queue, req(fmt.Sprintf("r%03d", i), "rm", fmt.Sprint("file", i)))
	}
	s := watch(t, 80, 24, src, nil)
	s.open()
	for i := range 20 {
		s.shows(fmt.Sprintf("rm file%d ", i))
		s.keys("4")
		s.shows(fmt.Sprintf("%d waiting", 499-i))
		s.open()
	}
	if s.scr.bells != 1 {
		t.Errorf("%d bells for one crowd", s.scr.bells)
	}
}

func TestHungDiskOnATerminal(t *testing.T) {
	src := newFake(newClock())
	src.queue = []spool.Pending{full("r1")}
	s := watch(t, 80, 24, src, nil)
	s.open()
	hang := make(chan struct{})
	src.mu.Lock()
	src.hang = hang
	src.mu.Unlock()
	s.keys("\tstill typing")
	s.shows("Reason: still typing")
	s.keys("\r")
	s.shows("Sending your answer")
	s.keys("\x1bOP") // F1
	s.shows("any key closes")
	close(hang)
	s.keys("x")
	s.shows("you denied")
}
