// Package shims is the lean front of safeshell: it tells as what the program
// was started, resolves the real command behind a shim, judges in-process and
// execs in place, and keeps the directory of shims in step with the rules.
package shims

import (
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"safeshell/gate"
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
	if link == "" || strings.HasPrefix(link, "/dev/fd/") || strings.HasPrefix(link, "/proc/") || isScript(link) {
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
		// The link in safeshell's own home, which agents' hooks call.
		if home := filepath.Dir(filepath.Dir(id.Link)); filepath.Base(filepath.Dir(id.Link)) == "bin" && isLink(id.Link) && isLink(filepath.Join(home, "shims", "safeshell-wrapper")) {
			id.Home = home
		}
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
	case strings.HasPrefix(base, "safeshell") && base != gate.ProbeName:
		// A renamed copy (safeshell-1.2) is safeshell itself.
	case runOf(id.Link) != "":
		id.Role, id.Name, id.Run = Shim, base, runOf(id.Link)
		id.Home = filepath.Dir(filepath.Dir(id.Run))
		if base == InitCommand {
			id.Role = Declare
		}
	default:
		id.Role, id.Name = Shim, base
		if shim := shimBehind(id.Link); shim != "" {
			id.Name, id.Home = filepath.Base(shim), filepath.Dir(filepath.Dir(shim))
		}
	}
	return id
}

// isScript reports whether the executed file is not this program: then it is a
// script whose first line names one of our links, and the kernel has put that
// link into argv[0].
func isScript(link string) bool {
	var self, st unix.Stat_t
	if unix.Stat("/proc/self/exe", &self) != nil || unix.Stat(link, &st) != nil {
		return false
	}
	return self.Dev != st.Dev || self.Ino != st.Ino
}

// shimBehind returns the link in a shims directory to which link leads, or link
// itself if it lies in one: `ln -s "$(which python3)" ~/bin/py` and a virtual
// environment's bin/python lead to a shim by another name. "" if there is none.
func shimBehind(link string) string {
	for range 8 {
		if link == "" {
			break
		}
		if filepath.Base(filepath.Dir(link)) == "shims" {
			return link
		}
		var buf [unix.PathMax]byte
		n, err := unix.Readlink(link, buf[:])
		if err != nil || n <= 0 || n >= len(buf) {
			break
		}
		to := string(buf[:n])
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(link), to)
		}
		link = to
	}
	return ""
}

func isLink(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode()&os.ModeSymlink != 0
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
