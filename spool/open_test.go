package spool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

func TestOpen(t *testing.T) {
	dir := filepath.Join(testdir.New(t), "a", "b", "spool")
	old := syscall.Umask(0o277) // takes away even our own rights
	s, err := Open(dir)
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"", "tmp", "req", "done", "grant", "pass"} {
		fi, err := os.Lstat(s.path(d))
		if err != nil || fi.Mode() != os.ModeDir|0o700 {
			t.Errorf("%q: %v, %v", d, fi, err)
		}
	}
	if v, _ := os.ReadFile(s.path("VERSION")); string(v) != "1\n" {
		t.Errorf("VERSION %q", v)
	}
	if _, err := Open(dir); err != nil {
		t.Error(err)
	}
}

func TestOpenAtOnce(t *testing.T) {
	dir := filepath.Join(testdir.New(t), "x", "spool")
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := Open(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestOpenRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		f    func(dir string) string // returns what to open
		want string                  // in the message
	}{
		"relative":    {func(dir string) string { return "spool" }, "absolute"},
		"symlink":     {func(dir string) string { os.Symlink(dir, dir+".link"); return dir + ".link" }, "symbolic link"},
		"file":        {func(dir string) string { os.WriteFile(dir+".f", nil, 0o600); return dir + ".f" }, "mv "},
		"group":       {func(dir string) string { os.Chmod(dir, 0o710); return dir }, "chmod 700"},
		"others":      {func(dir string) string { os.Chmod(dir, 0o701); return dir }, "chmod 700"},
		"subdir mode": {func(dir string) string { os.Chmod(dir+"/req", 0o777); return dir }, "chmod 700"},
		"subdir link": {func(dir string) string {
			os.Remove(dir + "/done")
			os.Symlink(os.TempDir(), dir+"/done")
			return dir
		}, "symbolic link"},
		"version":    {func(dir string) string { os.WriteFile(dir+"/VERSION", []byte("2\n"), 0o600); return dir }, "update safeshell"},
		"no version": {func(dir string) string { os.WriteFile(dir+"/VERSION", nil, 0o600); return dir }, "update safeshell"},
		"parent":     {func(dir string) string { return dir + "/VERSION/spool" }, ""},
	} {
		s := newSpool(t)
		if _, err := Open(tt.f(s.Dir())); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if os.Geteuid() == 0 {
		s := newSpool(t)
		os.Chown(s.Dir(), 65534, 65534)
		if _, err := Open(s.Dir()); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), "chown") {
			t.Errorf("foreign: got %v", err)
		}
	}
}

func TestIDs(t *testing.T) {
	seen := make(map[string]bool)
	last := ""
	for i := range 2000 {
		id := newID(time.UnixMilli(1700000000000 + int64(i)))
		if !ValidID(id) || seen[id] || id <= last {
			t.Fatalf("%q after %q", id, last)
		}
		seen[id], last = true, id
	}
	for _, id := range []string{"", ".", "..", strings.Repeat("a", 25), strings.Repeat("a", 27), strings.Repeat("A", 26), "../" + strings.Repeat("a", 23), strings.Repeat("a", 25) + "\x00"} {
		if ValidID(id) {
			t.Errorf("%q is valid", id)
		}
	}
}

func TestSelfTest(t *testing.T) {
	s := newSpool(t)
	if err := s.SelfTest(); err != nil {
		t.Error(err)
	}
	if names := listing(t, s, "tmp"); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

func TestGC(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	r := request("x")
	s.Answer(giveUp(t, s, r), Once, "", ByMonitor)
	ask(t, s, r, AskOptions{Timeout: 1}) // takes it
	s.Answer(giveUp(t, s, request("y")), Once, "", ByMonitor)
	s.PutPass(r.Key(), "r", 0)
	s.TakePass(r.Key())
	s.PutPass(r.Key(), "r", 0)
	litter := newID(time.Now())
	os.Mkdir(s.path("tmp", litter), 0o700)
	os.WriteFile(s.path("tmp", litter, "request"), []byte("{"), 0o600)
	os.WriteFile(s.path("tmp", "d-"+litter), nil, 0o600)
	os.Mkdir(s.path("req", newID(time.Now())), 0o700)
	for _, foreign := range []string{"tmp/x", "done/y", "req/z", "grant/a", "pass/b"} {
		os.WriteFile(s.path(foreign), nil, 0o600)
	}
	now := time.Now()
	counts := func() (n int) {
		for _, dir := range []string{"tmp", "req", "done", "grant", "pass"} {
			n += len(listing(t, s, dir))
		}
		return n
	}
	before := counts()
	if err := s.GC(now); err != nil || counts() != before {
		t.Errorf("removed %d of %d at once, %v", before-counts(), before, err)
	}
	if err := s.GC(now.Add(2 * time.Minute)); err != nil || len(listing(t, s, "tmp")) != 1 || len(listing(t, s, "req")) != 1 {
		t.Errorf("after two minutes: %v %v, %v", listing(t, s, "tmp"), listing(t, s, "req"), err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.GC(now.Add(Keep + time.Minute)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if counts() != 5 { // what is not ours
		for _, dir := range []string{"tmp", "req", "done", "grant", "pass"} {
			t.Errorf("left in %s: %v", dir, listing(t, s, dir))
		}
	}
}

// gc keeps off what is staged by a living process, however old.
func TestGCSparesTheLiving(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	_, done, err := s.stage([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	answered := make(chan bool)
	d := ask(t, s, request("x"), answering(func(r Request) {
		defer close(answered)
		if err := s.GC(time.Now().Add(24 * time.Hour)); err != nil {
			t.Error(err)
		}
		s.Answer(r.ID, Once, "", ByMonitor)
	}))
	<-answered
	if d.Verdict != Allowed || len(listing(t, s, "tmp")) != 1 {
		t.Errorf("got %+v, %v", d, listing(t, s, "tmp"))
	}
}

// A monitor that is killed during its self-test leaves no process that holds
// the tested file.
func TestSelfTestKilled(t *testing.T) {
	s := newSpool(t)
	for i := range 16 {
		cmd := inRole("monitor", "SPOOL_TEST_DIR="+s.Dir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(300 * time.Millisecond); len(listing(t, s, "tmp")) == 0 && time.Now().Before(deadline); {
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Duration(i%8) * 300 * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for range 100 {
			empty := true
			for _, name := range listing(t, s, "tmp") {
				if s.lockSeen(s.path("tmp", name)) {
					empty = false
				} else {
					os.Remove(s.path("tmp", name))
				}
			}
			if empty {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if left := listing(t, s, "tmp"); len(left) != 0 {
			t.Fatalf("still locked 5 s after its monitor was killed: %v", left)
		}
	}
}

// A self-test whose file is removed under it says nothing about locks.
func TestSelfTestFileRemoved(t *testing.T) {
	s := newSpool(t)
	stop, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for removed := 0; removed < 3; { // of the five tries
			select {
			case <-stop:
				return
			default:
			}
			entries, _ := os.ReadDir(s.path("tmp"))
			for _, e := range entries {
				if os.Remove(s.path("tmp", e.Name())) == nil {
					removed++
				}
			}
		}
	}()
	if err := s.SelfTest(); err != nil {
		t.Error(err)
	}
	close(stop)
	<-done
}
