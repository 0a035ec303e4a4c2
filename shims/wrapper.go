package shims

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"safeshell/gate"
	"safeshell/script"
)

// shellCall is a shell's command line, taken apart.
type shellCall struct {
	args        []string // without argv[0]
	commandAt   int      // index of the -c text in args; -1 without -c
	login       bool
	interactive bool
}

// parseShellCall reads a shell's options as bash, zsh and dash do: options may
// follow -c, and the text is the first operand behind all of them.
func parseShellCall(args []string) shellCall {
	c := shellCall{args: args, commandAt: -1}
	hasC := false
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		if a == "--" || a == "-" {
			i++
			break
		}
		if strings.HasPrefix(a, "--") {
			switch a {
			case "--rcfile", "--init-file", "--emulate":
				i++
			case "--login":
				c.login = true
			}
			continue
		}
		if len(a) < 2 || (a[0] != '-' && a[0] != '+') {
			break
		}
		for _, r := range a[1:] {
			switch {
			case r == 'c' && a[0] == '-':
				hasC = true
			case r == 'l' && a[0] == '-':
				c.login = true
			case r == 'i' && a[0] == '-':
				c.interactive = true
			case r == 'o' || r == 'O':
				i++ // each takes the next argument
			}
		}
	}
	if hasC && i < len(args) {
		c.commandAt = i
	}
	return c
}

// isPrefixed: the one argument is a whole command line, as Claude Code passes it
// to CLAUDE_CODE_SHELL_PREFIX (2.1.330), and not the name of a script.
func (c shellCall) isPrefixed() bool {
	if c.commandAt >= 0 || len(c.args) != 1 || strings.HasPrefix(c.args[0], "-") || !strings.ContainsAny(c.args[0], " \t\n;&|") {
		return false
	}
	_, err := os.Stat(c.args[0])
	return err != nil
}

// RunWrapper is a shell: it judges the -c text and execs the delegate shell. A
// call without -c (a script file, an interactive shell) is passed on with the
// shims first in PATH. It returns an exit code only if nothing was exec'd.
func RunWrapper(p Process) int {
	paths, err := p.paths()
	if err != nil {
		p.errorf("%v", err)
		return CodeStopped
	}
	g := p.gate(paths)
	Follow(p, g)
	f := newFinder(p.lookup)
	shell := p.delegate(g, f)
	if shell == "" {
		p.errorf("no shell to delegate to: %s is not there; set delegate_shell in %s", g.Config().DelegateShell, paths.Config)
		return CodeNotFound
	}
	call := parseShellCall(tail(p.Argv))
	if p.Identity.Name == "" && call.isPrefixed() {
		call = parseShellCall([]string{"-c", call.args[0]})
	}
	args := append([]string{}, call.args...)
	if call.commandAt >= 0 {
		line := args[call.commandAt]
		v := g.Judge(context.Background(), gate.Request{
			Layer: gate.Wrapper, Line: line, Dialect: dialectOf(shell), Dir: workingDir(),
		})
		p.warn(v)
		switch v.Kind {
		case gate.Stop:
			io.WriteString(p.Stderr, v.Text)
			return CodeStopped
		case gate.Replace:
			line = v.Line
		}
		if zsh := dialectOf(shell) == script.Zsh; call.login || call.interactive || p.getenv("BASH_ENV") != "" || zsh && !g.StartKeepsPath("zsh", false, false) {
			// Start-up files may put other directories in front of the shims.
			line = shimsFirst(paths.Shims) + line
		}
		line = afterSnapshot(line, paths.Shims)
		args[call.commandAt] = line
	}
	env := setenv(p.Environ, "PATH", prependPath(p.getenv("PATH"), paths.Shims))
	argv0 := shell
	if len(p.Argv) > 0 && strings.HasPrefix(p.Argv[0], "-") {
		argv0 = "-" + filepath.Base(shell)
	}
	return p.execve(shell, append([]string{argv0}, args...), env)
}

// delegate returns the path of the shell that does the work: the real one of
// the name that the wrapper was called by, or the configured one.
func (p Process) delegate(g *gate.Gate, f finder) string {
	if n := p.Identity.Name; n != "" {
		if exe, _ := f.find(n, ""); exe != "" {
			return exe
		}
		for _, d := range []string{"/bin", "/usr/bin", "/usr/local/bin"} {
			if exe := f.candidate(d, n); exe != "" {
				return exe
			}
		}
		return ""
	}
	s := g.Config().DelegateShell
	if !strings.Contains(s, "/") {
		exe, _ := f.find(s, "")
		return exe
	}
	return f.candidate(filepath.Dir(s), filepath.Base(s))
}

func dialectOf(shell string) script.Dialect {
	switch filepath.Base(shell) {
	case "bash":
		return script.Bash
	case "zsh":
		return script.Zsh
	case "sh", "dash", "ash":
		return script.POSIX
	}
	return script.AnyDialect
}

// prependPath puts dir in front of path and removes its other occurrences.
func prependPath(path, dir string) string {
	out := dir
	if path == "" {
		path = defaultPath
	}
	for _, e := range strings.Split(path, ":") {
		if e != dir {
			out += ":" + e
		}
	}
	return out
}

// shimsFirst is text for the shell itself that puts the shims in front again.
func shimsFirst(dir string) string {
	q := script.Quote([]string{dir})
	return "case $PATH in " + q + ":*) ;; *) PATH=" + q + ":$PATH; export PATH ;; esac; "
}

// afterSnapshot puts the shims in front again behind the snapshot that Claude
// Code's lines begin with: its last line sets PATH to the client's own (2.1.330).
func afterSnapshot(line, dir string) string {
	const eval = " && eval "
	at := strings.Index(line, eval)
	if !strings.HasPrefix(line, "source ") || at < 0 || !strings.Contains(line[:at], "/shell-snapshots/") {
		return line
	}
	return line[:at] + " && { " + shimsFirst(dir) + "}" + line[at:]
}

// RunExec judges one argv and runs it in place, looked up in PATH behind the
// shims (`safeshell exec -- cmd args...`).
func RunExec(p Process, argv []string) int {
	paths, err := p.paths()
	if err != nil {
		p.errorf("%v", err)
		return CodeStopped
	}
	g := p.gate(paths)
	Follow(p, g)
	f := newFinder(p.lookup)
	p.Identity.Name = filepath.Base(argv[0])
	exe, entry := argv[0], ""
	if strings.Contains(argv[0], "/") {
		if fi, err := os.Stat(exe); err != nil || fi.IsDir() {
			exe = ""
		} else if os.SameFile(fi, selfInfo()) {
			exe, entry = f.find(p.Identity.Name, "")
		}
	} else {
		exe, entry = f.find(argv[0], "")
	}
	p.Argv = argv
	v := g.Judge(context.Background(), gate.Request{Layer: gate.Exec, Argv: argv, Dir: workingDir(), Exe: exe, PutsInTrash: true})
	p.warn(v)
	switch v.Kind {
	case gate.Stop:
		io.WriteString(p.Stderr, v.Text)
		return CodeStopped
	case gate.Replace:
		return p.replace(g, f, v, exe, entry, "")
	}
	return p.exec(exe, entry, p.Identity.Name, p.findable(exe), "")
}

func selfInfo() os.FileInfo {
	fi, _ := os.Stat("/proc/self/exe")
	return fi
}

// JudgeBuiltin judges a shell builtin for the init script: 0 lets the shell go
// on, 126 stops it with the message on stderr.
func JudgeBuiltin(p Process, argv []string) int {
	paths, err := p.paths()
	if err != nil {
		p.errorf("%v", err)
		return CodeStopped
	}
	v := p.gate(paths).Judge(context.Background(), gate.Request{Layer: gate.Builtin, Argv: argv, Dir: workingDir()})
	p.warn(v)
	if v.Kind == gate.Stop {
		io.WriteString(p.Stderr, v.Text)
		return CodeStopped
	}
	return 0
}
