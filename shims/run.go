package shims

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/spool"
	"safeshell/trash"
)

// Exit codes that safeshell itself gives (docs/design.md "Command line").
const (
	CodeStopped  = 126 // stopped by safeshell
	CodeNotFound = 127 // no such command
	CodeUsage    = 2
)

// Process is what a front sees of the process that it is.
type Process struct {
	Argv           []string
	Environ        []string
	Stdin          *os.File
	Stdout, Stderr io.Writer
	Identity       Identity
}

func (p Process) lookup(name string) (string, bool) {
	return gate.Env{Environ: p.Environ}.Lookup(name)
}

func (p Process) getenv(name string) string {
	v, _ := p.lookup(name)
	return v
}

// paths are safeshell's places: those of the link's home where it has one.
func (p Process) paths() (config.Paths, error) {
	getenv := p.getenv
	if h := p.Identity.Home; h != "" {
		getenv = func(n string) string {
			v := p.getenv(n)
			switch {
			case n == "SAFESHELL_HOME":
				return h
			case n == "HOME" && v == "" && filepath.Base(h) == ".safeshell":
				return filepath.Dir(h) // env -i: the trash is where it always is
			}
			return v
		}
	}
	return config.Locate(getenv)
}

func (p Process) gate(paths config.Paths) *gate.Gate {
	return gate.New(gate.Env{Environ: p.Environ, Paths: paths, Binary: Executable(), Stderr: p.Stderr, Now: time.Now})
}

func (p Process) errorf(format string, a ...any) {
	fmt.Fprintf(p.Stderr, "safeshell: %s\n", fmt.Sprintf(format, VisibleArgs(a)...))
}

// VisibleArgs makes the texts and errors among a format's arguments visible, so
// that a name or a path in them stays on its line and drives no terminal.
func VisibleArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch x := a.(type) {
		case string:
			a = spool.Visible(x)
		case error:
			a = spool.Visible(x.Error())
		}
		out[i] = a
	}
	return out
}

// workingDir returns the physical working directory; "" when it is gone.
func workingDir() string {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Getcwd(buf)
	if err != nil || n < 2 || buf[0] != '/' {
		return ""
	}
	return string(buf[:n-1])
}

// RunShim judges the command that the link stands for and execs the real one
// in place. It returns an exit code only if nothing was exec'd.
func RunShim(p Process) int {
	if p.Identity.Run != "" {
		return p.runDeclared()
	}
	name := p.Identity.Name
	f := newFinder(p.lookup)
	exe, entry := f.find(name, lastEntry(p.getenv(execVar), name, os.Getpid()))
	dir := workingDir()
	argv := append([]string{name}, tail(p.Argv)...)
	depth, n := nextDepth(p.getenv(depthVar), argv, dir)
	if n >= maxDepth {
		p.errorf("%s started itself %d times through PATH and was stopped; another tool's shim calls back: run `safeshell doctor`", name, n)
		return CodeStopped
	}
	paths, err := p.paths()
	if err != nil {
		p.errorf("%s: %v", name, err)
		return CodeStopped
	}
	g := p.gate(paths)
	Follow(p, g)
	v := g.Judge(context.Background(), gate.Request{Layer: gate.Shim, Argv: argv, Dir: dir, Exe: exe, PutsInTrash: true})
	p.warn(v)
	switch v.Kind {
	case gate.Stop:
		io.WriteString(p.Stderr, v.Text)
		return CodeStopped
	case gate.Replace:
		return p.replace(g, f, v, exe, entry, depth)
	}
	return p.exec(exe, entry, name, p.findable(exe), depth)
}

// findable returns argv for exe. It is the caller's own, but for Python, which
// looks argv[0] up in PATH to know where it is installed: it would take the
// shims directory for its home, miss an active virtual environment, and write
// the shim into new environments and installed scripts.
func (p Process) findable(exe string) []string {
	if len(p.Argv) == 0 || exe == "" || !isPython(p.Identity.Name) {
		return p.Argv
	}
	if a := p.Argv[0]; strings.Contains(a, "/") && filepath.Base(filepath.Dir(a)) != "shims" {
		return p.Argv
	}
	return append([]string{exe}, p.Argv[1:]...)
}

// isPython reports whether a name is that of a Python interpreter: python,
// python3, python3.13t, pypy3.
func isPython(name string) bool {
	rest, ok := strings.CutPrefix(name, "python")
	if !ok {
		rest, ok = strings.CutPrefix(name, "pypy")
	}
	return ok && strings.Trim(rest, "0123456789.td") == ""
}

func tail(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	return argv[1:]
}

func (p Process) warn(v gate.Verdict) {
	for _, w := range v.Warnings {
		p.errorf("%s", w)
	}
}

// replace runs what a command was redirected to.
func (p Process) replace(g *gate.Gate, f finder, v gate.Verdict, exe, entry, depth string) int {
	name := p.Identity.Name
	if v.Trash {
		env := TrashEnv(p, g)
		if v.Trashing != nil { // not where it was asked about
			env.Begin = func() { v.Trashing("") }
		}
		res := trash.Put(env, trashConfig(g), name, v.Argv, exe)
		if v.Trashing != nil {
			v.Trashing(strings.Join(res.Refused, "; "))
		}
		g.JournalTrash(res.Group, len(res.Moved))
		p.cleanTrash(res)
		if !res.ExecReal {
			return res.Code
		}
		// rm names itself in its messages: by its own name, not by the shim's path.
		return p.exec(exe, entry, name, append([]string{name}, tail(p.Argv)...), depth)
	}
	target := v.Argv[0]
	if target == name && exe != "" {
		// A redirect to the same command with other arguments.
		return p.exec(exe, entry, name, append([]string{p.Argv[0]}, v.Argv[1:]...), depth)
	}
	texe, tentry := target, ""
	if !strings.Contains(target, "/") {
		texe, tentry = f.find(target, "")
	}
	if texe == "" {
		p.errorf("%s is redirected to %s (rule %s), but there is no such command in PATH; mend redirect_to in %s", name, target, v.Rule, v.Source)
		return CodeNotFound
	}
	return p.exec(texe, tentry, filepath.Base(target), v.Argv, depth)
}

// PutInTrash is `safeshell trash put args...`: rm's command line, named as a user
// knows it in messages. It returns the exit code.
func PutInTrash(p Process, g *gate.Gate, args []string) int {
	exe, entry := newFinder(p.lookup).find("rm", "")
	res := trash.Put(TrashEnv(p, g), trashConfig(g), "rm", args, exe)
	p.cleanTrash(res)
	if !res.ExecReal {
		return res.Code
	}
	return p.exec(exe, entry, "rm", append([]string{"rm"}, args...), "")
}

// cleanTrash has what the trash has kept long enough deleted, where that is due,
// by a process for which nobody waits.
func (p Process) cleanTrash(res trash.Result) {
	if !res.EvictDue || p.getenv("SAFESHELL_RUN") != "" { // a confined script's would be confined
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries { // this process ends: nobody shall wait for the other's
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 2 {
			unix.CloseOnExec(n)
		}
	}
	fd := null.Fd()
	_, _ = syscall.ForkExec(Executable(), []string{"safeshell", "trash", "clean"}, &syscall.ProcAttr{
		Dir: "/", Env: p.Environ, Files: []uintptr{fd, fd, fd}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// TrashEnv is the trash's view of this process.
func TrashEnv(p Process, g *gate.Gate) trash.Env {
	paths := g.Paths()
	return trash.Env{
		Getenv: p.getenv, Environ: p.Environ, Dir: workingDir(), Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr,
		StdinTTY: isTerminal(p.Stdin), Now: time.Now, UID: os.Geteuid(), Home: paths.User,
		SafeshellHome: paths.Home, Session: g.SessionHint(),
	}
}

func trashConfig(g *gate.Gate) trash.Config {
	c := g.Config().Trash
	return trash.Config{KeepDays: c.KeepDays, MaxBytes: c.MaxBytes}
}

func isTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

// exec replaces this process by the real command. It returns only on failure.
func (p Process) exec(exe, entry, name string, argv []string, depth string) int {
	if exe == "" {
		given := strings.Join(argv[:min(1, len(argv))], "")
		if fi, err := os.Stat(given); strings.Contains(given, "/") && p.Identity.Role != Shim && err == nil && fi.IsDir() {
			p.errorf("%s: is a directory", spool.Visible(given))
			return CodeStopped // as shells do
		}
		switch argv0 := spool.Visible(given); {
		case strings.Contains(argv0, "/") && p.Identity.Role != Shim:
			p.errorf("%s: no such command; see: ls -l %s", argv0, argv0)
		case p.Identity.Role != Shim:
			p.errorf("%s: command not found", spool.Visible(name))
		default:
			p.errorf("%s: command not found (only safeshell's shim is in PATH); if it was removed: safeshell refresh", spool.Visible(name))
		}
		return CodeNotFound
	}
	env := p.Environ
	if entry != "" {
		env = setenv(env, execVar, fmt.Sprintf("%d:%s:%s", os.Getpid(), name, entry))
	}
	if depth != "" {
		env = setenv(env, depthVar, depth)
	}
	if len(argv) == 0 {
		argv = []string{name}
	}
	return p.execve(exe, argv, env)
}

// execve is exec(2), with execvp's rule for scripts without a first line. It
// returns only on failure.
func (p Process) execve(exe string, argv, env []string) int {
	restoreInherited()
	err := unix.Exec(exe, argv, env)
	if errors.Is(err, unix.ENOEXEC) {
		err = unix.Exec("/bin/sh", append([]string{"sh", exe}, argv[1:]...), env)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		p.errorf("%s: %v (is its interpreter there? see its first line)", exe, err)
		return CodeNotFound
	case errors.Is(err, unix.E2BIG):
		p.errorf("%s: the arguments and the environment are too long for the system (%v)", exe, err)
		return CodeStopped
	}
	p.errorf("%s: %v", exe, err)
	return CodeStopped
}
