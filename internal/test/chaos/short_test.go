package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/faulttest"
	"safeshell/internal/test/testbinary"
	"safeshell/internal/test/testdir"
)

func TestMain(m *testing.M) {
	faulttest.Begin()
	os.Exit(testbinary.Apart(m.Run))
}

// testBinary is the real program, as `make build` makes it.
func testBinary(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	if b := os.Getenv("SAFESHELL_TEST_BINARY"); b != "" {
		return b
	}
	b := filepath.Join(testdir.New(t), "safeshell")
	c := exec.Command("go", "build", "-o", b, "safeshell")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return b
}

func newRun(t *testing.T, r row) *run {
	work := testdir.New(t)
	t.Cleanup(func() { reap(work) })
	return &run{ctx: context.Background(), row: r, binary: testBinary(t), seed: 1, work: work, counts: map[string]int{}}
}

// The short form of `make chaos`, without what other packages' tests do anyway:
// no row finds a violation.
func TestShort(t *testing.T) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err == nil {
		tty.Close()
	}
	noCommandLine := err == nil // safeshell lets nobody answer who shares a terminal with the asking command
	for _, row := range []row{approvalRow, spoolGoneRow, crowdRow, rateRow, waitingRow, trashProgramRow} {
		t.Run(row.name, func(t *testing.T) {
			r := newRun(t, row)
			r.duration, r.short = 2*time.Second, true
			r.noCommandLine = noCommandLine
			r.seed = uint64(time.Now().UnixNano())
			if testing.Short() {
				r.duration = time.Second
			}
			if err := row.run(r); err != nil {
				t.Fatal(err)
			}
			t.Logf("seed %d, %d tried, %d violations", r.seed, r.tries, r.violations)
			for _, s := range r.remarks() {
				t.Log(s)
			}
			for _, s := range r.first {
				t.Error(s)
			}
		})
	}
}

// A row that is a go test counts what that test says that it tried.
func TestRowOfATest(t *testing.T) {
	r := &run{ctx: t.Context(), row: trashFaultsRow, seed: 1, each: time.Millisecond, counts: map[string]int{}}
	t.Chdir("../../..")
	if err := r.sweepTest("^TestFaults$/^put_a_file$"); err != nil {
		t.Fatal(err)
	}
	if len(r.notes) > 0 {
		t.Skip("this row cannot run here: ", r.notes)
	}
	if r.tries == 0 || r.counts["put a file"] != r.tries || r.violations != 0 {
		t.Errorf("%d tried, %v, %q", r.tries, r.counts, r.first)
	}
}

// A monitor ends at a signal, whenever that comes: while it lives on, asking
// commands wait for it.
func TestMonitorEndsAtSignal(t *testing.T) {
	r := newRun(t, approvalRow)
	s, err := newScene(r, "home", "approval: {notify: []}\n")
	if err != nil {
		t.Fatal(err)
	}
	litter := filepath.Join(s.home, "cache", ".new-1") // of a process that was killed long ago
	long := time.Now().Add(-24 * time.Hour)
	if err := errors.Join(os.MkdirAll(filepath.Dir(litter), 0o700), os.WriteFile(litter, nil, 0o600), os.Chtimes(litter, long, long)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := os.Stat(litter); err == nil {
			t.Errorf("no monitor swept %s", litter)
		}
	}()
	rnd := r.rnd("test")
	for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		args := []string{"watch"}
		if i == 7 {
			args = append(args, "--plain")
		}
		m, err := s.inTerminal(nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		for {
			m.mu.Lock()
			drawn := !m.last.IsZero()
			m.mu.Unlock()
			if drawn {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(ms(rnd, 150))
		_ = m.c.Process.Signal(sig)
		kill := time.AfterFunc(30*time.Second, func() { _ = m.c.Process.Kill() })
		m.wait()
		if !kill.Stop() {
			t.Errorf("a monitor (%v) did not end at %v", args, sig)
		}
	}
}

// What the checks are for: they find what is wrong.
func TestChecksFind(t *testing.T) {
	r := newRun(t, approvalRow)
	s, err := newScene(r, "home", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(s.journal()), 0o700); err != nil {
		t.Fatal(err)
	}
	line := func(action, id, pid, word string) string {
		return fmt.Sprintf(`{"v":1,"time":%q,"kind":"decision","action":%q,"id":%q,"pid":%s,"command":"mark %s"}`+"\n",
			time.Now().UTC().Format(time.RFC3339Nano), action, id, pid, word)
	}
	journal := line("asked-allow", "x", "11", "a") + line("asked-allow", "x", "12", "b") + line("timeout", "y", "13", "c") + "half a li"
	for name, text := range map[string]string{s.journal(): journal, s.ran: "1 11\n2 12\n3 13\n4 14\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	e := &evidence{s: s, spoolLost: true}
	for i, word := range []string{"a", "b", "c"} {
		e.invocations = append(e.invocations, &invocation{n: i + 1, pid: 11 + i, layer: "shim", word: word, own: true, start: now, end: now})
	}
	if err := e.read(watchJournal(t.Context(), s.journal())); err != nil {
		t.Fatal(err)
	}
	e.check()
	// A torn line (seen twice), an approval used twice, a run without an
	// approval, and one that nobody started.
	if r.violations != 5 {
		t.Errorf("%d violations: %q", r.violations, r.first)
	}
}
