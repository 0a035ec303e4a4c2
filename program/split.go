//go:build split && linux

// Package program is how the lean front reaches the rest of safeshell: the
// command line, the monitor, the agents' set-up. What those link costs time at
// the start of every process, and a shim must not pay it.
//
// In a plain build the rest is linked in and called. With the build tag split
// (the Makefile's way) it is a second program inside the binary, and is run
// from memory.
package program

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/shims"
)

//go:embed safeshell-whole
var whole string

// Run replaces this process by the whole program. It returns an exit code only
// if that fails.
func Run(p shims.Process) int {
	// Ours first: of two of a name the first counts, and the caller may have set one.
	env := append([]string{shims.BinaryVar + "=" + shims.Executable()}, slices.DeleteFunc(slices.Clone(p.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, shims.BinaryVar+"=")
	})...)
	argv := append([]string{"safeshell"}, p.Argv[1:]...)
	err := fromMemory(argv, env)
	if err != nil {
		// Memory that may not be executed (vm.memfd_noexec): from a file then.
		err = fromFile(argv, env)
	}
	do := "free some memory, or make TMPDIR a directory that may hold programs"
	if errors.Is(err, unix.EFBIG) {
		do = config.MendFile("", err)
	}
	fmt.Fprintf(p.Stderr, "safeshell: the program cannot be started: %v; %s\n", err, do)
	return shims.CodeStopped
}

func fromMemory(argv, env []string) error {
	fd, err := unix.MemfdCreate("safeshell", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b := unsafe.Slice(unsafe.StringData(whole), len(whole))
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return unix.Exec("/proc/self/fd/"+strconv.Itoa(fd), argv, env)
}

// fromFile starts the program from a file of its own that is unlinked before
// it runs.
func fromFile(argv, env []string) error {
	dir, err := os.MkdirTemp("", "safeshell")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "safeshell")
	if err := os.WriteFile(path, []byte(whole), 0o700); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	os.RemoveAll(dir)
	return unix.Exec("/proc/self/fd/"+strconv.Itoa(fd), argv, env)
}
