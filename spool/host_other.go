//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package spool

import (
	"crypto/rand"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// bootNow is the time since boot, the same for every process of the machine.
// On macOS CLOCK_MONOTONIC counts on in sleep (clock_gettime(3)).
func bootNow() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}

// bootID names this boot; empty when it is not to be had, and then nothing
// that must not outlive the boot is accepted.
func bootID() string {
	name := "kern.boot_id" // FreeBSD 14.1
	if runtime.GOOS == "darwin" {
		name = "kern.bootsessionuuid"
	}
	id, err := unix.Sysctl(name)
	if err != nil {
		return ""
	}
	return id
}

// identify fills in the asking process.
func identify(r *Request) {
	r.PID = os.Getpid()
	r.SID, _ = unix.Getsid(0)
}

// Random fills b from the system's generator.
func Random(b []byte) { _, _ = rand.Read(b) } // never fails (crypto/rand)
// dieWithUs is not to be had here.
func dieWithUs(*exec.Cmd) {}
