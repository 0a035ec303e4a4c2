// Package testdir gives tests a scratch directory that real programs work in.
package testdir

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// New returns a directory of the test's own, its symbolic links resolved. At
// the end of the test what still runs in it is killed and it is removed, in
// this order: a process that outlives the command which started it (a keeper, a
// server, a monitor set apart) would else write into what is being removed, and
// testing.T.TempDir fails the test for that. A process counts as the
// directory's if its working directory, its arguments or its environment name
// it, which is known on Linux alone.
func New(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", name(t))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		deadline := time.Now().Add(time.Minute)
		for {
			for end(dir) > 0 && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
			err := os.RemoveAll(dir)
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("the scratch directory cannot be removed: %v", err)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return dir
}

// name is short, for sockets, and needs no quoting in a shell.
func name(t testing.TB) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, t.Name())
	return s[:min(len(s), 30)]
}

// end kills the processes of dir and returns how many it found.
func end(dir string) int {
	found := 0
	all, _ := os.ReadDir("/proc")
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == os.Getppid() || !isOf(pid, dir) {
			continue
		}
		found++
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	return found
}

// isOf says that the process names dir, as itself or what is below it.
func isOf(pid int, dir string) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	if cwd, err := os.Readlink(proc + "/cwd"); err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/") || cwd == dir+" (deleted)") {
		return true
	}
	for _, file := range []string{"/environ", "/cmdline"} {
		if text, err := os.ReadFile(proc + file); err == nil && bytes.Contains(text, []byte(dir)) {
			return true
		}
	}
	return false
}

// WriteFile is os.WriteFile for a program that other goroutines may run at once:
// while it is open for writing no process is started, which would hold it open
// until its own exec and make that of the program fail with ETXTBSY
// (https://go.dev/issue/22315).
func WriteFile(name string, data []byte, perm os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(name, data, perm)
}
