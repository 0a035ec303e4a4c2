package spool

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// roleVar makes the test binary play another process: see chaos_test.go,
// journal_test.go and failures_test.go.
const roleVar = "SAFESHELL_SPOOL_TEST_ROLE"

var roles = map[string]func() int{
	"requester":       requesterRole,
	"answerer":        answererRole,
	"monitor":         monitorRole,
	"hog":             hogRole,
	"stranger":        strangerRole,
	"starved":         starvedRole,
	"keeper":          keeperRole,
	"journal-writer":  journalWriter,
	"chaos-requester": chaosRequester,
	"chaos-monitor":   chaosMonitor,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		f, ok := roles[role]
		if !ok {
			os.Exit(99)
		}
		runtime.LockOSThread() // strace counts the calls of each thread
		os.Exit(f())
	}
	syscall.Umask(0o022)
	testdir.DefaultSignals()
	os.Exit(m.Run())
}

// newSpool opens a spool in a temporary directory.
func newSpool(t testing.TB) *Spool {
	t.Helper()
	s, err := Open(filepath.Join(testdir.New(t), "home", "spool"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// watched opens a monitor on s for the length of the test.
func watched(t testing.TB, s *Spool) *Monitor {
	t.Helper()
	m, err := s.Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func request(argv ...string) Request {
	return Request{
		Session: "s1", Agent: "claude-code", Context: "ai", Layer: "shim", Dir: "/tmp/project", Exe: "/usr/bin/x",
		Argv: argv, Rule: "some-rule", Reason: "because",
	}
}

// answering returns options whose Waiting hook calls f in another goroutine.
func answering(f func(Request)) AskOptions {
	return AskOptions{Timeout: time.Minute, Waiting: func(r Request) { go f(r) }}
}

func ask(t testing.TB, s *Spool, r Request, o AskOptions) Decision {
	t.Helper()
	d, err := s.Ask(context.Background(), r, o)
	if err != nil {
		t.Fatalf("Ask: %v", err)
	}
	return d
}

func listing(t testing.TB, s *Spool, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(s.path(dir))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
