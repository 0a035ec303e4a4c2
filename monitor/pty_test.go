package monitor

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
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
		case <-time.After(10 * time.Second):
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
	for range 1000 {
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
}{{"80x24", 80, 24}, {"200x50", 200, 50}, {"40x15", 40, 15}}

func TestGoldenScreens(t *testing.T) {
	t.Setenv("TZ", "UTC")
	for _, size := range sizes {
		t.Run(size.name, func(t *testing.T) {
			src := newFake(newClock())
			src.past = past()
			s := watch(t, size.w, size.h, src, nil)
			s.shows("Nothing waits")
			if size.w >= 80 {
				s.shows("not this week")
			}
			golden(t, "idle-"+size.name, s.scr.text())
			src.ask(full("r1"), req("r2", "terraform", "apply"))
			s.shows("keys open in")
			golden(t, "shut-"+size.name, s.scr.text())
			s.open()
			golden(t, "approval-"+size.name, s.shows("1-4"))
			if len(s.scr.odd) > 0 {
				t.Errorf("sequences the emulator does not know: %q", s.scr.odd)
			}
		})
	}
}
