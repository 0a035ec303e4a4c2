package permit

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// TestFirstThreadGone: a process lives as long as any of its threads, also while
// it execs from another than its first.
func TestFirstThreadGone(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	cmd := exec.Command(python, "-c", `
import ctypes, os, sys, threading
go = threading.Event()
threading.Thread(target=lambda: (go.wait(), sys.stdin.read(), os._exit(0))).start()
print("ready", flush=True)
go.set()
libc = ctypes.CDLL(None)
libc.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	start := startOf(cmd.Process.Pid)
	for range 100 {
		if state, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat"); bytes.Contains(state, []byte(") Z ")) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := startOf(cmd.Process.Pid); got == 0 || got != start {
		t.Errorf("started %d, then %d", start, got)
	}
	// And a real zombie is gone.
	in.Close()
	for range 500 {
		if startOf(cmd.Process.Pid) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("an ended process counts as alive")
}
