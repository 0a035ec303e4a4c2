package supervise

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run is the process between the server and one script: argv is started
// in a session of its own, with the standard files of this process. It
// returns this process's exit code.
func Run(argv, env []string) int {
	say := reporter()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		say(Report{Code: 126, Error: "PR_SET_CHILD_SUBREAPER: " + err.Error()})
		return 1
	}
	pipes := pipeIDs(1, 2)
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, 1, 2},
		// Without a terminal: a prompt on /dev/tty fails instead of waiting.
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		say(Report{Code: 126, Error: argv[0] + ": " + err.Error()})
		return 1
	}
	// The supervisor itself must not hold the output open.
	if null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			_ = unix.Dup2(null, fd)
		}
	}
	s := supervisor{pipes: pipes, alone: make(chan struct{})}
	go s.obey(os.NewFile(orderFD, "orders"))
	for {
		var st unix.WaitStatus
		got, err := unix.Wait4(-1, &st, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			// ECHILD: all have ended, and nobody is left to start more.
			close(s.alone)
			select {} // for orders
		}
		if got == pid {
			say(ended(syscall.WaitStatus(st)))
		}
	}
}

type supervisor struct {
	pipes map[string]bool // the script's output, as /proc/PID/fd names it
	alone chan struct{}   // closed when no descendant is left, all reported
}

// obey carries out the server's orders. When they end, so does the tree.
func (s *supervisor) obey(orders *os.File) {
	b := make([]byte, 1)
	for {
		if n, err := orders.Read(b); err != nil || n == 0 {
			b[0] = OrderEnd
		}
		switch b[0] {
		case OrderLeave:
			os.Exit(0)
		case OrderHolders:
			s.end(func(pid int) bool { return holds(pid, s.pipes) })
		case OrderEnd:
			s.end(func(int) bool { return true })
			select {
			case <-s.alone:
			case <-time.After(time.Second): // what may not be killed (sudo)
			}
			os.Exit(0)
		}
	}
}

// end ends the descendants that which selects: politely first.
func (s *supervisor) end(which func(pid int) bool) {
	send := func(sig syscall.Signal) (left int) {
		for _, pid := range descendants(os.Getpid(), sig == syscall.SIGKILL) {
			if which(pid) {
				left++
				_ = unix.Kill(pid, sig)
				if sig == syscall.SIGTERM {
					_ = unix.Kill(pid, syscall.SIGCONT) // stopped, it would not see it
				}
			}
		}
		return left
	}
	if send(syscall.SIGTERM) == 0 {
		return
	}
	for deadline := time.Now().Add(Grace); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if send(0) == 0 {
			return
		}
	}
	// Who forks faster than it is killed is stopped first: a pass that finds
	// nobody running has them all.
	for range 200 {
		if send(syscall.SIGSTOP) == 0 {
			return
		}
		send(syscall.SIGKILL)
		time.Sleep(5 * time.Millisecond)
	}
}

// descendants returns the processes below pid; with zombies also those whose
// first thread has ended, as others of them may live.
func descendants(pid int, zombies bool) []int {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, state := parentOf(p); parent > 0 && (zombies || state != 'Z' && state != 'X') {
			children[parent] = append(children[parent], p)
		}
	}
	var out []int
	todo := []int{pid}
	for len(todo) > 0 {
		c := children[todo[0]]
		todo = append(todo[1:], c...)
		out = append(out, c...)
	}
	return out
}

// parentOf reads /proc/PID/stat; 0 when the process is gone.
func parentOf(pid int) (parent int, state byte) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	// The name is in parentheses and may hold any character.
	i := strings.LastIndexByte(string(b), ')')
	if i < 0 {
		return 0, 0
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 2 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(f[1])
	return parent, f[0][0]
}

// pipeIDs names the pipes behind descriptors of this process.
func pipeIDs(fds ...int) map[string]bool {
	out := map[string]bool{}
	for _, fd := range fds {
		if l, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && strings.HasPrefix(l, "pipe:") {
			out[l] = true
		}
	}
	return out
}

// holds reports whether a process has one of the pipes open.
func holds(pid int, pipes map[string]bool) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if l, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && pipes[l] {
			return true
		}
	}
	return false
}
