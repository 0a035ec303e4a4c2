package spool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

// What can go wrong and what must come of it, most of it with real
// processes: this test binary in another role.

// inRole is this binary in a role, with nothing else in its environment than env
// and where .ci/cover wants its counters.
func inRole(role string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{roleVar + "=" + role, "GOCOVERDIR=" + os.Getenv("SAFESHELL_COVERDIR")}, env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// child starts this binary in a role. It is killed at the end of the test.
func child(t testing.TB, s *Spool, role string, env ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := inRole(role, append(env, "SPOOL_TEST_DIR="+s.Dir())...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

func line(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("the child ended: %v", err)
	}
	return strings.TrimSpace(s)
}

// requesterRole asks, prints the id when it waits and then the verdict, and
// makes the marker file in place of an exec.
func requesterRole() int {
	s, err := Open(os.Getenv("SPOOL_TEST_DIR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := WithSignals(context.Background())
	d, err := s.Ask(ctx, request("x"), AskOptions{Timeout: time.Minute, NoMonitorGrace: 200 * time.Millisecond, Waiting: func(r Request) {
		fmt.Println(r.ID)
	}})
	stop()
	fmt.Println(d.Verdict)
	if d.Verdict == Allowed && err == nil {
		os.WriteFile(os.Getenv("SPOOL_TEST_MARKER"), nil, 0o600)
		return 0
	}
	Reraise(ctx)
	return 126
}

// monitorRole is there and does nothing.
func monitorRole() int {
	s, err := Open(os.Getenv("SPOOL_TEST_DIR"))
	if err == nil {
		var m *Monitor
		if m, err = s.Watch(context.Background()); err == nil {
			fmt.Println("ready")
			for range m.Changes() {
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// hogRole holds monitor.lock for itself until its stdin ends.
func hogRole() int {
	f, err := os.OpenFile(os.Getenv("SPOOL_TEST_DIR")+"/monitor.lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil || flock(f, unix.LOCK_EX) != nil {
		return 1
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
	f.Close()
	return 0
}

func TestRequesterKilled(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	marker := filepath.Join(testdir.New(t), "marker")
	cmd, out := child(t, s, "requester", "SPOOL_TEST_MARKER="+marker)
	id := line(t, out)
	if p, err := s.Lookup(id[len(id)-6:]); err != nil || p.ID != id || p.PID != cmd.Process.Pid {
		t.Fatalf("got %+v, %v", p, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if all, err := s.Pending(); err != nil || len(all) != 0 {
		t.Errorf("the prompt stays: %+v, %v", all, err)
	}
	if d, err := s.Answer(id, Once, "", ByMonitor); !errors.Is(err, ErrGone) {
		t.Errorf("answered the dead: %+v, %v", d, err)
	}
	if names := listing(t, s, "req"); len(names) != 0 {
		t.Errorf("left in req: %v", names)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("it ran")
	}
}

// Answer finds out by itself that the requester is dead.
func TestAnswerToTheDead(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	cmd, out := child(t, s, "requester")
	id := line(t, out)
	cmd.Process.Kill()
	cmd.Wait()
	if d, err := s.Answer(id, Once, "", ByMonitor); !errors.Is(err, ErrGone) {
		t.Errorf("got %+v, %v", d, err)
	}
}

// The tests may be run by who ignores hangups (nohup make test).
func TestRequesterSignalled(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	testdir.DefaultSignals()
	s := newSpool(t)
	watched(t, s)
	for sig, again := range map[syscall.Signal]bool{syscall.SIGTERM: true, syscall.SIGHUP: true, syscall.SIGINT: false} {
		marker := filepath.Join(testdir.New(t), "marker")
		cmd, out := child(t, s, "requester", "SPOOL_TEST_MARKER="+marker)
		id := line(t, out)
		cmd.Process.Signal(sig)
		if v := line(t, out); v != string(Cancelled) {
			t.Errorf("%v: %s", sig, v)
		}
		cmd.Wait()
		if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != sig {
			t.Errorf("%v: ended with %v", sig, cmd.ProcessState)
		}
		d, err := s.readDecision(s.path("done", id))
		if err != nil || d.Verdict != Cancelled || d.Again != again {
			t.Errorf("%v: recorded %+v, %v", sig, d, err)
		}
		if _, err := os.Lstat(marker); err == nil {
			t.Errorf("%v: it ran", sig)
		}
	}
}

// A signal that was ignored at the start (nohup) stays ignored.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	cmd := exec.Command("/bin/sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0])
	cmd.Env = []string{roleVar + "=requester", "SPOOL_TEST_DIR=" + s.Dir(), "SPOOL_TEST_MARKER=" + filepath.Join(testdir.New(t), "m")}
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	out := bufio.NewReader(pipe)
	id := line(t, out)
	cmd.Process.Signal(syscall.SIGHUP)
	if _, err := s.Answer(id, Once, "", ByMonitor); err != nil {
		t.Error(err)
	}
	if v := line(t, out); v != string(Allowed) {
		t.Errorf("got %s", v)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestMonitorKilled(t *testing.T) {
	s := newSpool(t)
	cmd, out := child(t, s, "monitor")
	line(t, out)
	d := ask(t, s, request("x"), AskOptions{Timeout: time.Minute, NoMonitorGrace: 50 * time.Millisecond, Waiting: func(Request) {
		cmd.Process.Kill()
		cmd.Wait()
	}})
	if d.Verdict != NoMonitor {
		t.Errorf("got %+v", d)
	}
	// Another one in time: nothing is lost.
	cmd, out = child(t, s, "monitor")
	line(t, out)
	d = ask(t, s, request("x"), AskOptions{Timeout: time.Minute, NoMonitorGrace: time.Minute, Waiting: func(r Request) {
		cmd.Process.Kill()
		cmd.Wait()
		go func() {
			watched(t, s)
			s.Answer(r.ID, Once, "", ByMonitor)
		}()
	}})
	if d.Verdict != Allowed {
		t.Errorf("got %+v", d)
	}
}

// A stopped monitor looks alive; the requester's own clock ends the wait.
func TestMonitorStopped(t *testing.T) {
	s := newSpool(t)
	cmd, out := child(t, s, "monitor")
	line(t, out)
	cmd.Process.Signal(syscall.SIGSTOP)
	if d := ask(t, s, request("x"), AskOptions{Timeout: 50 * time.Millisecond, NoMonitorGrace: time.Millisecond}); d.Verdict != TimedOut {
		t.Errorf("got %+v", d)
	}
}

func TestLockHeldByAnother(t *testing.T) {
	s := newSpool(t)
	cmd, out := child(t, s, "hog")
	line(t, out)
	if !s.MonitorAlive() {
		t.Error("looks dead")
	}
	if d := ask(t, s, request("x"), AskOptions{Timeout: 50 * time.Millisecond}); d.Verdict != TimedOut {
		t.Errorf("got %+v", d)
	}
	m := watched(t, s)
	w := <-m.Warnings()
	for strings.Contains(w, "file events are not to be had") { // others have all of the machine's
		w = <-m.Warnings()
	}
	if !strings.Contains(w, "monitor.lock") {
		t.Errorf("warned %q", w)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for !s.probe() { // it gets the lock as soon as it can
		time.Sleep(10 * time.Millisecond)
	}
}

func TestTimeoutAndAnswerAtOnce(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	var wins, late, timeouts int
	for i := range 150 {
		delay := time.Duration(rnd.IntN(9000)) * time.Microsecond
		type result struct {
			d   Decision
			err error
		}
		answered := make(chan result, 1)
		d := ask(t, s, request("x", fmt.Sprint(i)), AskOptions{Timeout: 8 * time.Millisecond, Waiting: func(r Request) {
			go func() {
				time.Sleep(delay)
				d, err := s.Answer(r.ID, Once, "", ByMonitor)
				answered <- result{d, err}
			}()
		}})
		a := <-answered
		switch {
		case a.err != nil:
			t.Fatalf("Answer: %v", a.err)
		case a.d.Late:
			late++
			if d.Verdict != TimedOut {
				t.Fatalf("late %+v, obeyed %+v", a.d, d)
			}
		case d.Verdict != Allowed:
			t.Fatalf("won %+v, obeyed %+v", a.d, d)
		default:
			wins++
		}
		if d.Verdict == TimedOut {
			timeouts++
		}
	}
	t.Logf("%d in time, %d late, %d timeouts", wins, late, timeouts)
}

func TestSpoolRemovedWhileWaiting(t *testing.T) {
	for name, f := range map[string]func(s *Spool, r Request){
		"request": func(s *Spool, r Request) { os.RemoveAll(s.path("req", r.ID)) },
		"moved":   func(s *Spool, r Request) { os.Rename(s.path("req", r.ID), s.path("tmp", r.ID)) },
		"all":     func(s *Spool, r Request) { os.RemoveAll(s.Dir()) },
	} {
		s := newSpool(t)
		watched(t, s)
		removed := make(chan bool)
		d, err := s.Ask(context.Background(), request("x"), answering(func(r Request) {
			f(s, r)
			close(removed)
		}))
		<-removed
		if !errors.Is(err, ErrGone) || d.Verdict != Denied || errors.Is(err, ErrUnusable) {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
		if _, err := Open(s.Dir()); err != nil {
			t.Error(err)
		}
	}
}

func TestSpoolRecreated(t *testing.T) {
	s := newSpool(t)
	m := watched(t, s)
	os.RemoveAll(s.Dir())
	for !s.probe() { // the monitor makes it anew within a second or so
		<-m.Changes()
	}
	d := ask(t, s, request("x"), answering(func(r Request) {
		for range m.Changes() {
			if p, _ := s.Lookup(r.ID); p.ID == r.ID {
				s.Answer(r.ID, Once, "", ByMonitor)
				return
			}
		}
	}))
	if d.Verdict != Allowed {
		t.Errorf("got %+v", d)
	}
	if w := <-m.Warnings(); !strings.Contains(w, "replaced") {
		t.Errorf("warned %q", w)
	}
}

// The spool is removed between Open and Ask: it is made anew.
func TestSpoolRemovedBeforeAsking(t *testing.T) {
	s := newSpool(t)
	os.RemoveAll(s.Dir())
	d := ask(t, s, request("x"), AskOptions{WaitForMonitor: time.Minute, Waiting: func(r Request) {
		go s.Answer(r.ID, Once, "", ByCLI)
	}})
	if d.Verdict != Allowed {
		t.Errorf("got %+v", d)
	}
}

func TestRequestInDoubtIsNotShown(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	change := func(r Request, f func(path string, data []byte)) {
		path := s.path("req", r.ID, "request")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		f(path, data)
	}
	for name, f := range map[string]func(path string, data []byte){
		"empty": func(path string, data []byte) { os.Truncate(path, 0) },
		"cut":   func(path string, data []byte) { os.Truncate(path, int64(len(data)/2)) },
		"no end": func(path string, data []byte) {
			os.WriteFile(path, bytes.Replace(data, []byte(`"end":true`), []byte(`"end":false`), 1), 0o600)
		},
		"version": func(path string, data []byte) {
			os.WriteFile(path, bytes.Replace(data, []byte(`"v":1`), []byte(`"v":2`), 1), 0o600)
		},
		"mode":  func(path string, data []byte) { os.Chmod(path, 0o606) },
		"links": func(path string, data []byte) { os.Link(path, path+"2") },
	} {
		var id string
		d := ask(t, s, request("x"), AskOptions{Timeout: 100 * time.Millisecond, Waiting: func(r Request) {
			id = r.ID
			change(r, f)
			if all, err := s.Pending(); err != nil || len(all) != 0 {
				t.Errorf("%s: shown %+v, %v", name, all, err)
			}
			if d, err := s.Answer(r.ID, Once, "", ByCLI); err == nil {
				t.Errorf("%s: answered %+v", name, d)
			}
		}})
		if d.Verdict != TimedOut {
			t.Errorf("%s: got %+v", name, d)
		}
		os.RemoveAll(s.path("done", id))
	}
	// A request that is changed while it waits gets an answer to the changed
	// one, which the requester does not take for its own.
	d, err := s.Ask(context.Background(), request("x"), answering(func(r Request) {
		change(r, func(path string, data []byte) {
			os.WriteFile(path, bytes.Replace(data, []byte(`because`), []byte(`no harm`), 1), 0o600)
		})
		s.Answer(r.ID, Once, "", ByCLI)
	}))
	if !errors.Is(err, ErrTampered) || d.Verdict != Denied {
		t.Errorf("got %+v, %v", d, err)
	}
}

// Requesters that probe at one moment see each other's lock; the second probe
// keeps that from looking like a monitor.
func TestProbeCollisions(t *testing.T) {
	s := newSpool(t)
	watched(t, s).Close()
	var wg sync.WaitGroup
	var alive, n int
	var mu sync.Mutex
	for range 8 {
		wg.Go(func() {
			for range 50 {
				a := s.MonitorAlive()
				mu.Lock()
				n++
				if a {
					alive++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d of %d probes saw a monitor that was not there", alive, n)
	if alive > n/4 {
		t.Error("too many")
	}
}
