// Package shims is the lean front of safeshell: it tells as what the program
// was started, resolves the real command behind a shim, judges in-process and
// execs in place, and keeps the directory of shims in step with the rules.
package shims

import (
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Role is as what the one binary was started.
type Role uint8

// The roles.
const (
	CLI     Role = iota // safeshell itself
	Shim                // a link in a shims directory, named after a command
	Wrapper             // a shell: safeshell -c, safeshell-wrapper, shell/bash
	Declare             // initcmds in a script of `safeshell run`
)

// Identity is the answer to "as what was I started?".
type Identity struct {
	Role Role
	// Name is the command that a Shim stands for, or the shell that a Wrapper
	// was called as (bash, zsh, sh); empty for the configured delegate.
	Name string
	// Link is the path that was executed, absolute; empty when not known.
	Link string
	// Home is safeshell's home that the link belongs to; empty for the CLI.
	// The place of a shim decides which rules it obeys: an environment variable
	// in front of a command cannot point it elsewhere.
	Home string
	// Run is the directory of the `safeshell run` that the link belongs to;
	// empty for all others.
	Run string
}

// Identify looks at how the process was started. argv[0] may be anything
// (exec -a, login shells), so the path given to execve counts first.
func Identify(argv []string) Identity {
	link := execFn()
	if link == "" || strings.HasPrefix(link, "/dev/fd/") || strings.HasPrefix(link, "/proc/") {
		if len(argv) == 0 {
			return Identity{}
		}
		link = strings.TrimPrefix(argv[0], "-")
	}
	base := filepath.Base(link)
	id := Identity{}
	if strings.Contains(link, "/") {
		if abs, err := filepath.Abs(link); err == nil {
			id.Link = abs
		}
	}
	switch base {
	case "safeshell":
		if len(argv) > 1 && isShellFlags(argv[1]) {
			id.Role = Wrapper
		}
		return id
	case "safeshell-wrapper":
		id.Role = Wrapper
		return id
	}
	dir := filepath.Dir(id.Link)
	switch {
	case id.Link != "" && filepath.Base(dir) == "shell":
		id.Role, id.Name, id.Home = Wrapper, base, filepath.Dir(dir)
	case strings.HasPrefix(base, "safeshell"):
		// A renamed copy (safeshell-1.2) is safeshell itself.
	case runOf(id.Link) != "":
		id.Role, id.Name, id.Run = Shim, base, runOf(id.Link)
		id.Home = filepath.Dir(filepath.Dir(id.Run))
		if base == InitCommand {
			id.Role = Declare
		}
	default:
		id.Role, id.Name = Shim, base
		if id.Link != "" && filepath.Base(dir) == "shims" {
			id.Home = filepath.Dir(dir)
		}
	}
	return id
}

// isShellFlags reports whether an argument is one that is passed to shells
// (-c, -lc, -l, -i, -x, +o) rather than an option of safeshell.
func isShellFlags(a string) bool {
	if len(a) < 2 || (a[0] != '-' && a[0] != '+') || a[1] == '-' {
		return false
	}
	switch a {
	case "-h", "-V", "-v":
		return false
	}
	for _, r := range a[1:] {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}

// execFn returns the path given to execve (AT_EXECFN), "" where the system
// does not tell.
func execFn() string {
	const atExecFn = 31
	aux, err := unix.Auxv()
	if err != nil {
		return ""
	}
	for _, kv := range aux {
		if kv[0] == atExecFn && kv[1] != 0 {
			addr := kv[1]
			// The kernel put the string on this process's own stack.
			p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
			return unix.BytePtrToString((*byte)(p))
		}
	}
	return ""
}
