//go:build !linux

package supervise

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Run is the process between the server and one script. Where the system
// has no reaper of descendants, it ends the script's process group; what has
// left the group goes on.
func Run(argv, env []string) int {
	say := reporter()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		say(Report{Code: 126, Error: argv[0] + ": " + err.Error()})
		return 1
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		f.Close()
	}
	done := make(chan struct{})
	go func() {
		var st syscall.WaitStatus
		for {
			got, err := syscall.Wait4(pid, &st, 0, nil)
			if err == syscall.EINTR {
				continue
			}
			if err == nil && got == pid {
				say(ended(st))
			}
			close(done)
			return
		}
	}()
	end := func() {
		if unix.Kill(-pid, unix.SIGTERM) != nil {
			return
		}
		for deadline := time.Now().Add(Grace); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if unix.Kill(-pid, 0) != nil {
				return
			}
		}
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
	orders := os.NewFile(orderFD, "orders")
	b := make([]byte, 1)
	for {
		if n, err := orders.Read(b); err != nil || n == 0 {
			b[0] = OrderEnd
		}
		switch b[0] {
		case OrderLeave:
			return 0
		case OrderHolders:
			end()
		case OrderEnd:
			end()
			select {
			case <-done:
			case <-time.After(time.Second):
			}
			return 0
		}
	}
}
