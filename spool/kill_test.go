package spool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// Death at each system call that touches a file, one after the other, by
// strace's fault injection: nothing runs without an allow, nothing is decided
// twice, nothing is lost and nothing is left over.

// killPoints calls f with each call and its number, 1 and up, until f reports
// that the process lived; f is called last with one that is never made.
func killPoints(t *testing.T, f func(call string, n int) (lived bool)) {
	points := 0
	for _, call := range []string{"openat", "mkdirat", "renameat", "linkat", "unlinkat", "flock", "write", "fchmod", "fchmodat", "close", "inotify_add_watch"} {
		for n := 1; !f(call, n); n++ {
			if points++; points > 1000 {
				t.Fatal("it never ends")
			}
		}
	}
	t.Logf("killed at %d points", points)
	if points < 15 {
		t.Error("too few")
	}
}

// answererRole answers one request.
func answererRole() int {
	s, err := Open(os.Getenv("SPOOL_TEST_DIR"))
	if err == nil {
		_, err = s.Answer(os.Getenv("SPOOL_TEST_ID"), Once, "", ByMonitor)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killedAt runs a role and kills it when it enters this call for the nth time.
// It reports whether the process lived to its end.
func killedAt(t *testing.T, s *Spool, call string, n int, role string, env ...string) (lived bool) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	cmd := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call,
		"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), os.Args[0])
	cmd.Env = append([]string{roleVar + "=" + role, "SPOOL_TEST_DIR=" + s.Dir(), "GOMAXPROCS=1"}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled(),
		errors.As(err, &exit) && exit.ExitCode() == 128+9:
		return false
	}
	t.Skipf("strace cannot be used: %v %s", err, stderr.String())
	return true
}

func TestRequesterKilledAtEachCall(t *testing.T) {
	s := newSpool(t)
	m := watched(t, s)
	answered := make(map[string]bool)
	done := make(chan bool)
	go func() {
		defer close(done)
		for range m.Changes() {
			all, err := s.Pending()
			if err != nil {
				t.Error(err)
			}
			for _, p := range all {
				if _, err := s.Answer(p.ID, Once, "", ByMonitor); err == nil && !p.Late {
					answered[p.ID] = true
				}
			}
		}
	}()
	marker := filepath.Join(testdir.New(t), "marker")
	ran := 0
	killPoints(t, func(call string, n int) bool {
		lived := killedAt(t, s, call, n, "requester", "SPOOL_TEST_MARKER="+marker)
		err := os.Remove(marker)
		if err == nil {
			ran++
		} else if lived {
			t.Errorf("%s %d: it lived but did not run", call, n)
		}
		return lived
	})
	m.Close()
	<-done
	t.Logf("%d answered, %d ran", len(answered), ran)
	if ran == 0 || ran > len(answered) {
		t.Errorf("%d ran, %d answered", ran, len(answered))
	}
	empty(t, s)
}

// empty demands that one gc of any age leaves nothing.
func empty(t *testing.T, s *Spool) {
	t.Helper()
	if err := s.GC(time.Now().Add(Keep + time.Minute)); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"tmp", "req", "done", "grant", "pass"} {
		if names := listing(t, s, dir); len(names) != 0 {
			t.Errorf("left in %s: %v", dir, names)
		}
	}
}

func TestMonitorKilledAtEachCall(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	killPoints(t, func(call string, n int) (lived bool) {
		var second error
		d, err := s.Ask(context.Background(), request("x"), AskOptions{Timeout: time.Minute, Waiting: func(r Request) {
			lived = killedAt(t, s, call, n, "answerer", "SPOOL_TEST_ID="+r.ID)
			_, second = s.Answer(r.ID, Refuse, "", ByCLI)
		}})
		switch {
		case err != nil:
			t.Fatalf("%s %d: %v", call, n, err)
		case second == nil && d.Verdict != Denied, errors.Is(second, ErrDecided) && d.Verdict != Allowed:
			t.Errorf("%s %d: obeyed %+v, the second answer got %v", call, n, d, second)
		case second != nil && !errors.Is(second, ErrDecided):
			t.Errorf("%s %d: %v", call, n, second)
		}
		return lived
	})
	empty(t, s)
}

func TestLateMonitorKilledAtEachCall(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	r := request("x")
	key := s.prepare(r, AskOptions{}).KeySHA
	killPoints(t, func(call string, n int) bool {
		id := giveUp(t, s, r)
		lived := killedAt(t, s, call, n, "answerer", "SPOOL_TEST_ID="+id)
		open := lateIDs(t, s) // makes good what was cut short
		_, second := s.Answer(id, Refuse, "", ByCLI)
		d, ok := s.takeLate(key)
		switch {
		case !ok:
			t.Errorf("%s %d: the answer is lost (second: %v)", call, n, second)
		case len(open) == 1 && (second != nil || d.Verdict != Denied):
			t.Errorf("%s %d: listed as open, but took %+v (second: %v)", call, n, d, second)
		case len(open) == 0 && (!errors.Is(second, ErrDecided) || d.Verdict != Allowed):
			t.Errorf("%s %d: listed as answered, but took %+v (second: %v)", call, n, d, second)
		}
		if _, ok := s.takeLate(key); ok {
			t.Errorf("%s %d: taken twice", call, n)
		}
		return lived
	})
	empty(t, s)
}

// keeperRole keeps an answer for always and writes one to the journal.
func keeperRole() int {
	g, err := OpenGrants(filepath.Join(os.Getenv("SPOOL_TEST_DIR"), "grants"))
	if err == nil {
		err = g.Add(NewGrant("r", grantKey, Decision{Choice: Always}, "x"))
	}
	if err == nil {
		err = OpenJournal(filepath.Join(os.Getenv("SPOOL_TEST_DIR"), "journal.jsonl")).Append(Entry{Kind: KindAnswer})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// What must outlive a power cut is on disk, in order: a lasting answer before its
// name and the name after it, an answer's line in the journal. Requests and
// decisions need not be.
func TestWhatIsSynced(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace")
	}
	synced := func(role string, env ...string) string {
		t.Helper()
		dir := testdir.New(t)
		out := filepath.Join(dir, "calls")
		cmd := exec.Command(strace, "-f", "-qq", "-y", "-o", out, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", os.Args[0])
		cmd.Env = append([]string{roleVar + "=" + role, "SPOOL_TEST_DIR=" + dir}, env...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("strace cannot be used: %v %s", err, said)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var calls []string
		for _, m := range regexp.MustCompile(`(?m)^\d+ +(f\w*sync\(\d+<[^>]*/([^/>]+)>|rename)`).FindAllStringSubmatch(string(b), -1) {
			calls = append(calls, cmp.Or(regexp.MustCompile(`\.new-\d+`).ReplaceAllString(m[2], "new"), m[1]))
		}
		return strings.Join(calls, " ")
	}
	if got := synced("keeper"); got != "new rename grants journal.jsonl" {
		t.Errorf("synced: %s", got)
	}
	s := newSpool(t)
	m := watched(t, s)
	go func() {
		for range m.Changes() {
			all, _ := s.Pending()
			for _, p := range all {
				_, _ = s.Answer(p.ID, Once, "", ByMonitor)
			}
		}
	}()
	if got := synced("requester", "SPOOL_TEST_DIR="+s.Dir(), "SPOOL_TEST_MARKER="+filepath.Join(testdir.New(t), "m")); got == "" || strings.Trim(strings.ReplaceAll(got, "rename", ""), " ") != "" {
		t.Errorf("synced by a requester: %s", got)
	}
}
