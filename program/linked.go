//go:build !split

// Package program is how the lean front reaches the rest of safeshell: the
// command line, the monitor, the agents' set-up. What those link costs time at
// the start of every process, and a shim must not pay it.
//
// In a plain build the rest is linked in and called. With the build tag split
// (the Makefile's way) it is a second program inside the binary, and is run
// from memory.
package program

import (
	"safeshell/cli"
	"safeshell/shims"
)

// Run does what a command line asks for, and returns the exit code.
func Run(p shims.Process) int { return cli.Run(p) }
