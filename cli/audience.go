package cli

import (
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// audience tells whether anybody can still see a monitor. Its terminal goes
// without a word where nobody passes SIGHUP on: below su, under nohup, in a
// session that outlives its login.
type audience struct {
	terminals []*os.File // that have to be there: the controlling one, and those that it reads and writes
	out       *os.File
	stalled   atomic.Int32 // looks in a row at which out took nothing
}

// stallLimit is how many looks, one a second, a terminal may take nothing (a
// connection that is gone, Ctrl-S) before requesters no longer count on it.
const stallLimit = 10

func newAudience(in, out *os.File) *audience {
	a := &audience{out: out}
	for _, f := range []*os.File{in, out} {
		if term.IsTerminal(int(f.Fd())) {
			a.terminals = append(a.terminals, f)
		}
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
		a.terminals = append(a.terminals, tty)
	}
	return a
}

// gone reports whether one of the terminals was hung up, or nobody reads the
// pipe that the output goes to.
func (a *audience) gone() bool {
	for _, f := range append(a.terminals, a.out) {
		fds := []unix.PollFd{{Fd: int32(f.Fd())}}
		if _, err := unix.Poll(fds, 0); err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
			return true
		}
	}
	return false
}

// present reports whether what is written now can be seen.
func (a *audience) present() bool {
	if a.gone() {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(a.out.Fd()), Events: unix.POLLOUT}}
	if n, err := unix.Poll(fds, 0); err != nil || n > 0 {
		a.stalled.Store(0)
		return true
	}
	return a.stalled.Add(1) < stallLimit
}

// end calls leave when nobody can see the monitor any more, and ends the process
// a while later if that did not: a write to a dead terminal may hang.
func (a *audience) end(leave func()) {
	for !a.gone() {
		time.Sleep(time.Second)
	}
	leave()
	time.Sleep(3 * time.Second)
	os.Exit(129) // as SIGHUP would
}
