package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

// A requester without a file watch is woken through its FIFO, and GC leaves
// nothing of it.
func TestWakeThroughFIFO(t *testing.T) {
	s := newSpool(t)
	s.newWatcher = noWatcher
	watched(t, s)
	made := ""
	d := ask(t, s, request("x"), answering(func(r Request) {
		made = s.path("req", r.ID) + wakeName
		if fi, err := os.Lstat(made); err != nil || fi.Mode() != fs.ModeNamedPipe|0o600 {
			t.Errorf("no FIFO of ours: %v, %v", fi, err)
		}
		if _, err := s.Answer(r.ID, Once, "", ByMonitor); err != nil {
			t.Error(err)
		}
	}))
	if d.Verdict != Allowed {
		t.Fatalf("got %+v", d)
	}
	if err := s.GC(time.Now().Add(s.keep + time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(s.path("done")); len(left) > 0 {
		t.Errorf("GC left %v", left)
	}
}

// One FIFO, one event for each time that it is written to, until it is closed.
func TestFIFOEvents(t *testing.T) {
	s := newSpool(t)
	dir := testdir.New(t)
	e := s.newFIFO(dir)
	if e == nil {
		t.Skip("no FIFO in ", dir)
	}
	for range 3 {
		s.wake(dir)
		if _, ok := <-e.events; !ok {
			t.Fatal("the FIFO ended")
		}
	}
	e.close()
	for range e.events { // ends
	}
	s.wake(dir) // nobody reads: no wait, no signal
	if s.newFIFO(dir) != nil {
		t.Error("a name that is taken gave a FIFO")
	}
}

// What somebody else put under the FIFO's name is not written to.
func TestWakeWritesToNothingElse(t *testing.T) {
	s := newSpool(t)
	outside := filepath.Join(testdir.New(t), "precious")
	for name, plant := range map[string]func(at string) error{
		"file":     func(at string) error { return os.WriteFile(at, []byte("precious"), 0o600) },
		"symlink":  func(at string) error { return os.Symlink(outside, at) },
		"hardlink": func(at string) error { return os.Link(outside, at) },
		"directory": func(at string) error {
			return os.Mkdir(at, 0o700)
		},
		"link to a FIFO": func(at string) error {
			if err := unix.Mkfifo(at+"2", 0o600); err != nil {
				return err
			}
			return os.Symlink(at+"2", at)
		},
	} {
		if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := testdir.New(t)
		at := dir + wakeName
		if err := plant(at); err != nil {
			t.Fatal(name, err)
		}
		s.wake(dir)
		for _, f := range []string{outside, at} {
			if fi, err := os.Stat(f); err == nil && !fi.Mode().IsRegular() {
				continue // reading a FIFO would wait
			}
			b, err := os.ReadFile(f)
			if err != nil || string(b) != "precious" {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
	}
}

// Without a watch and without a FIFO there is the poll.
func TestWithoutAnyEvents(t *testing.T) {
	s := newSpool(t)
	s.newWatcher, s.mkfifo = noWatcher, noFIFO
	watched(t, s)
	d := ask(t, s, request("x"), answering(func(r Request) {
		if _, err := os.Lstat(s.path("req", r.ID) + wakeName); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a FIFO: %v", err)
		}
		time.Sleep(30 * time.Millisecond)
		if _, err := s.Answer(r.ID, Once, "", ByMonitor); err != nil {
			t.Error(err)
		}
	}))
	if d.Verdict != Allowed {
		t.Fatalf("got %+v", d)
	}
}
