package spool

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bootNow is the time since boot with suspend counted, the same for every
// process of the machine.
func bootNow() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	}
	return time.Duration(ts.Nano())
}

// bootID names this boot; empty when it is not to be had, and then nothing
// that must not outlive the boot is accepted.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// identify fills in the asking process (proc(5), /proc/pid/stat): the one that
// the request names, if it lives, else this one.
func identify(r *Request) {
	r.PIDNS, _ = os.Readlink("/proc/self/ns/pid")
	var stat []byte
	err := os.ErrNotExist
	if r.PID > 0 {
		stat, err = os.ReadFile("/proc/" + strconv.Itoa(r.PID) + "/stat")
	}
	if err != nil {
		r.PID = os.Getpid()
		stat, err = os.ReadFile("/proc/self/stat")
	}
	if err != nil {
		return
	}
	// The name in parentheses may hold spaces and parentheses.
	i := bytes.LastIndexByte(stat, ')')
	f := strings.Fields(string(stat[i+1:])) // f[0] is field 3
	if len(f) < 20 {
		return
	}
	r.SID, _ = strconv.Atoi(f[3])
	r.StartTicks, _ = strconv.ParseUint(f[19], 10, 64)
	if r.TTY == "" {
		dev, _ := strconv.ParseInt(f[4], 10, 64)
		r.TTY = ttyName(uint64(uint32(dev)))
	}
}

// ttyName is the terminal of a tty_nr of proc(5), empty for other devices.
func ttyName(dev uint64) string {
	major, minor := unix.Major(dev), unix.Minor(dev)
	switch {
	case major >= 136 && major <= 143:
		return fmt.Sprintf("/dev/pts/%d", (major-136)<<20+minor)
	case major == 4 && minor > 0 && minor < 64:
		return fmt.Sprintf("/dev/tty%d", minor)
	case major == 4 && minor >= 64:
		return fmt.Sprintf("/dev/ttyS%d", minor-64)
	}
	return ""
}

// Random fills b from the kernel's generator. (crypto/rand would cost every shim
// the start of a generator of its own.) Like crypto/rand it does not return
// without.
func Random(b []byte) {
	for off := 0; off < len(b); {
		n, err := unix.Getrandom(b[off:], 0)
		switch {
		case err == nil:
			off += n
		case err != unix.EINTR:
			f, err := os.Open("/dev/urandom")
			if err == nil {
				_, err = io.ReadFull(f, b)
				f.Close()
			}
			if err != nil {
				panic("safeshell: the kernel gives no random bytes: " + err.Error())
			}
			return
		}
	}
}

// dieWithUs has the kernel kill cmd when the calling thread ends, which must
// live as long as cmd is meant to: lock it.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
