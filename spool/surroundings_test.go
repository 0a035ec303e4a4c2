package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

// What the system around the spool can do to it: foreign files, a full disk,
// no descriptors, another user.

// smallDisk mounts a tmpfs of 64 KiB on a directory of the test, as root only.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := testdir.New(t)
	os.Chmod(dir, 0o700)
	mount, err := exec.LookPath("mount")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and mount")
	}
	if out, err := exec.Command(mount, "-t", "tmpfs", "-o", "size=64k,mode=700", "none", dir).CombinedOutput(); err != nil {
		t.Skipf("needs mount, which cannot be used here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}

func TestForeignEntries(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	id, elsewhere := newID(time.Now()), testdir.New(t)
	precious := []string{"request", "decision", "late", "used", id}
	for _, name := range precious {
		os.WriteFile(filepath.Join(elsewhere, name), nil, 0o600)
		os.Chtimes(filepath.Join(elsewhere, name), time.Time{}, time.Now().Add(-time.Hour))
	}
	os.Symlink(elsewhere, s.path("tmp", id))
	os.Symlink(elsewhere, s.path("pass", ArgvSHA(nil)))
	for _, dir := range []string{"req", "done"} {
		os.WriteFile(s.path(dir, "README"), nil, 0o600)
		os.Symlink(elsewhere, s.path(dir, id))
		os.Mkdir(s.path(dir, ".git"), 0o700)
		os.Mkdir(s.path(dir, newID(time.Now())), 0o700)
		fifo := s.path(dir, newID(time.Now()))
		os.Mkdir(fifo, 0o700)
		unix.Mkfifo(fifo+"/request", 0o600)
		unix.Mkfifo(fifo+"/decision", 0o600)
	}
	if all, err := s.Pending(); err != nil || len(all) != 0 {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := s.History(); err != nil {
		t.Error(err)
	}
	s.Answer(id, Once, "", ByCLI)
	for _, age := range []time.Duration{0, time.Hour} {
		if err := s.GC(time.Now().Add(age)); err != nil {
			t.Error(err)
		}
	}
	if names := mustGlob(t, elsewhere+"/*"); len(names) != len(precious) {
		t.Errorf("removed behind a link: only %v is left", names)
	}
	if d := ask(t, s, request("x"), answering(func(r Request) { s.Answer(r.ID, Once, "", ByCLI) })); d.Verdict != Allowed {
		t.Errorf("got %+v", d)
	}
}

func TestDiskFull(t *testing.T) {
	s, err := Open(smallDisk(t) + "/spool")
	if err != nil {
		t.Fatal(err)
	}
	watched(t, s)
	fill := func() {
		f, err := os.Create(s.path("ballast"))
		if err != nil {
			return // not even an inode
		}
		defer f.Close()
		for size := 4096; size >= 1; {
			if _, err := f.Write(make([]byte, size)); err != nil {
				size /= 2
			}
		}
	}
	// At the request: denied, and it says why.
	fill()
	d, err := s.Ask(context.Background(), request("x"), AskOptions{Timeout: time.Minute})
	if !errors.Is(err, ErrUnusable) || !errors.Is(err, syscall.ENOSPC) || d.Verdict != Denied || !strings.Contains(err.Error(), "df -h") {
		t.Errorf("got %+v, %v", d, err)
	}
	if err := s.PutPass(Key{}, "r", 0); !errors.Is(err, ErrUnusable) {
		t.Errorf("got %v", err)
	}
	// Before anybody asks: a monitor that starts says so, and Check.
	if err := s.Check(); !errors.Is(err, ErrUnusable) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "df -h") {
		t.Errorf("got %v", err)
	}
	m, err := s.Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if w := <-m.Warnings(); !strings.Contains(w, "no request arrives: ") || !strings.Contains(w, "df -h") {
		t.Errorf("the monitor warns %q", w)
	}
	m.Close()
	// At the decision: the monitor says so, the requester's clock denies.
	os.Remove(s.path("ballast"))
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	d = ask(t, s, request("x"), AskOptions{Timeout: 200 * time.Millisecond, Waiting: func(r Request) {
		fill()
		if d, err := s.Answer(r.ID, Once, "", ByMonitor); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("answered %+v, %v", d, err)
		}
	}})
	if d.Verdict != TimedOut {
		t.Errorf("got %+v", d)
	}
	if names := listing(t, s, "req"); len(names) != 0 {
		t.Errorf("left in req: %v", names)
	}
}

// starvedRole asks with no descriptor left.
func starvedRole() int {
	s, err := Open(os.Getenv("SPOOL_TEST_DIR"))
	if err != nil {
		return 1
	}
	unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 16, Max: 16})
	for {
		if _, err := os.Open("/dev/null"); err != nil {
			break
		}
	}
	d, err := s.Ask(context.Background(), request("x"), AskOptions{Timeout: time.Minute})
	fmt.Println(d.Verdict, errors.Is(err, ErrUnusable), errors.Is(err, syscall.EMFILE))
	return 0
}

func TestNoDescriptorsLeft(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	_, out := child(t, s, "starved")
	if got := line(t, out); got != "deny true true" {
		t.Errorf("got %s", got)
	}
}

// strangerRole is another user.
func strangerRole() int {
	if err := syscall.Setuid(65534); err != nil {
		return 1
	}
	_, err := Open(os.Getenv("SPOOL_TEST_DIR"))
	fmt.Println(errors.Is(err, ErrUnusable), err)
	_, err = OpenGrants(os.Getenv("SPOOL_TEST_DIR"))
	fmt.Println(err != nil)
	fmt.Println(OpenJournal(os.Getenv("SPOOL_TEST_DIR")+"/VERSION").Append(Entry{Kind: KindNote}) != nil)
	return 0
}

func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	s := newSpool(t)
	_, out := child(t, s, "stranger")
	for _, want := range []string{"true", "true", "true"} {
		if got := line(t, out); !strings.HasPrefix(got, want) {
			t.Errorf("got %s", got)
		}
	}
}
