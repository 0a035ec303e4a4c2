package spool

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// contained is child in PID and mount namespaces of its own, where the spool
// has another path.
func contained(t *testing.T, s *Spool, role string, env ...string) (kill func(), out *bufio.Reader) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root for namespaces")
	}
	mount := `mount --make-rprivate / && mount --bind "$SPOOL_TEST_DIR" "$AT" && echo "pid $$" && SPOOL_TEST_DIR=$AT exec "$0"`
	cmd := exec.Command("/bin/sh", "-c", mount, os.Args[0])
	cmd.Env = append(inRole(role, env...).Env, "SPOOL_TEST_DIR="+s.Dir(), "AT="+testdir.New(t), "PATH="+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if errors.Is(err, syscall.EPERM) {
		t.Skip("needs namespaces: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	out = bufio.NewReader(pipe)
	if got, err := out.ReadString('\n'); got != "pid 1\n" {
		t.Skip("needs namespaces and mount: ", got, err)
	}
	return kill, out
}

// A requester in other namespaces, where its process id means another process
// or none, and under another path: it is seen, answered and missed all the same.
func TestRequesterInOtherNamespaces(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	marker := filepath.Join(testdir.New(t), "marker")
	_, out := contained(t, s, "requester", "SPOOL_TEST_MARKER="+marker)
	id := line(t, out)
	if _, err := s.Lookup(id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Answer(id, Once, "", ByMonitor); err != nil {
		t.Fatal(err)
	}
	if got := line(t, out); got != string(Allowed) {
		t.Errorf("got %s", got)
	}
	kill, out := contained(t, s, "requester", "SPOOL_TEST_MARKER="+marker)
	id = line(t, out)
	if _, err := s.Lookup(id); err != nil {
		t.Fatal(err)
	}
	kill()
	if all, err := s.Pending(); err != nil || len(all) != 0 {
		t.Errorf("the prompt stays: %+v, %v", all, err)
	}
	if _, err := s.Answer(id, Once, "", ByMonitor); !errors.Is(err, ErrGone) {
		t.Errorf("answered the dead: %v", err)
	}
}

// A monitor in other namespaces is waited for as long as it lives.
func TestMonitorInOtherNamespaces(t *testing.T) {
	s := newSpool(t)
	kill, out := contained(t, s, "monitor")
	if got := line(t, out); got != "ready" {
		t.Fatal(got)
	}
	d, err := s.Ask(context.Background(), request("x"), AskOptions{Timeout: time.Minute, NoMonitorGrace: 50 * time.Millisecond, Waiting: func(Request) { kill() }})
	if err != nil || d.Verdict != NoMonitor {
		t.Errorf("got %+v, %v", d, err)
	}
}
