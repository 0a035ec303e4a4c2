//go:build !linux

package gate

import "golang.org/x/sys/unix"

// discardInput drops what was typed and not yet read (1 is FREAD).
func discardInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) }
