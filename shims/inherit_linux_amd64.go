package shims

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Set by entry, before the Go runtime runs: bit n of closedAtStart is set when
// file n was closed, bit n of ignoredAtStart when signal n was ignored. Both
// are zero in a build without that entry. addedAtStart is 1 when the runtime was
// started with GOMAXPROCS=1, which is not the user's.
var closedAtStart, ignoredAtStart, addedAtStart uint64

// apartAtStart is 1 where entry ran, 2 where it took the process apart (a user
// namespace and a mount namespace of its own), as ApartVar asked.
var apartAtStart uint64

// MayStartApart says that this program, started anew with ApartVar in front of
// its environment, may be apart.
func MayStartApart() bool { return apartAtStart > 0 }

// StartedApart says that it is.
func StartedApart() bool { return apartAtStart == 2 }

//nolint:unused // the linker starts the program there
func entry()

func growStack()

// Begin is what main does first: it makes the environment that of the caller
// again, and the stack large enough for judging a command while it is still
// empty. Growing it step by step would copy it four times, and each copy reads
// the tables of every function on it.
func Begin() {
	if addedAtStart == 1 {
		_ = os.Unsetenv("GOMAXPROCS")
	}
	growStack()
}

// restoreInherited gives the next program what this process was started with
// and the Go runtime has changed: it opens /dev/null for closed standard files
// and installs handlers for ignored signals, which exec turns into the default.
func restoreInherited() {
	for sig := uintptr(1); sig < 32; sig++ {
		if ignoredAtStart&(1<<sig) == 0 {
			continue
		}
		act := struct {
			handler, flags, restorer, mask uintptr
		}{handler: 1}
		// A signal that cannot be set stays as it is.
		_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&act)), 0, 8, 0, 0)
	}
	for fd := 0; fd < 3; fd++ {
		if closedAtStart&(1<<fd) != 0 {
			_ = unix.Close(fd)
		}
	}
}
