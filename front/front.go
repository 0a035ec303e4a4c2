// Package front serves what agents and shells call all the time without the
// whole program: an agent's hook, `exec`, `trash put`, `run`, `permit check`, and
// the script of `init -` where safeshell is set up. It does what the command line does, by
// the same code, for exactly the forms that it knows; everything else is left
// to the command line. It links what a shim links, and little more.
package front

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/initscript"
	"safeshell/mcp/supervise"
	"safeshell/shims"
)

// Run serves the command line of p if it is one of the frequent forms. served
// is false when nothing was done.
func Run(p shims.Process) (code int, served bool) {
	args := p.Argv
	if len(args) < 3 {
		return 0, false
	}
	switch args[1] {
	case "hook":
		return hook(p, args[2:])
	case "exec":
		rest, judge := args[2:], shims.RunExec
		if rest[0] == "--builtin" {
			rest, judge = rest[1:], shims.JudgeBuiltin
		}
		if len(rest) < 2 || rest[0] != "--" || rest[1] == "" || rest[1] == "--" {
			return 0, false
		}
		return judge(p, rest[1:]), true
	case "trash":
		if args[2] != "put" || len(args) < 4 {
			return 0, false
		}
		g, err := open(p)
		if err != nil {
			return 0, false
		}
		return shims.PutInTrash(p, g, args[3:]), true
	case "init":
		return printInit(p, args[2:])
	case "run":
		return runScript(p, args[2:])
	case "permit":
		return permitted(p, args[2:])
	case "mcp": // between its server and a script
		if len(args) < 5 || args[2] != "--supervise" || args[3] != "--" {
			return 0, false
		}
		return supervise.Run(args[4:], p.Environ), true
	}
	return 0, false
}

func environ(p shims.Process) gate.Env { return gate.Env{Environ: p.Environ} }

func open(p shims.Process) (*gate.Gate, error) {
	paths, err := config.Locate(environ(p).Getenv)
	if err != nil {
		return nil, err
	}
	return gate.New(gate.Env{Environ: p.Environ, Paths: paths, Binary: shims.Executable(), Stderr: p.Stderr}), nil
}

// hook takes AGENT, and --timeout=N or --timeout N around it.
func hook(p shims.Process, args []string) (int, bool) {
	agent, limit := "", time.Duration(0)
	for i := 0; i < len(args); i++ {
		value, isTimeout := strings.CutPrefix(args[i], "--timeout=")
		if args[i] == "--timeout" && i+1 < len(args) {
			i++
			value, isTimeout = args[i], true
		}
		switch {
		case isTimeout:
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return 0, false
			}
			limit = time.Duration(n) * time.Second
		case agent == "" && args[i] != "" && args[i][0] != '-':
			agent = args[i]
		default:
			return 0, false
		}
	}
	if agent == "" {
		return 0, false
	}
	return Hook(p, agent, limit), true
}

// printInit takes "-", and --shell=S or --shell S around it. A home that is not
// complete is made by the command line.
func printInit(p shims.Process, args []string) (int, bool) {
	script, shell := false, ""
	for i := 0; i < len(args); i++ {
		value, isShell := strings.CutPrefix(args[i], "--shell=")
		switch {
		case isShell && value != "":
			shell = value
		case args[i] == "--shell" && i+1 < len(args) && args[i+1] != "" && args[i+1][0] != '-':
			i++
			shell = args[i]
		case args[i] == "-" && !script:
			script = true
		default:
			return 0, false
		}
	}
	if !script {
		return 0, false
	}
	g, err := open(p)
	if err != nil || !complete(g.Paths()) {
		return 0, false
	}
	if shell == "" {
		shell = initscript.Detect(environ(p).Getenv, ParentName())
	}
	shims.Follow(p, g)
	line, note, err := initscript.Line(shell, InitParams(g))
	if err != nil {
		return 0, false
	}
	if note != "" {
		io.WriteString(p.Stderr, note+"\n")
	}
	_, err = io.WriteString(p.Stdout, line)
	return failed(p, err), true
}

// complete reports whether home is there, private, and leads to this binary.
func complete(paths config.Paths) bool {
	fi, err := os.Stat(paths.Home)
	if err != nil || fi.Mode().Perm()&0o022 != 0 {
		return false
	}
	if !leadsTo(shims.Link(paths.Home), shims.Executable()) {
		return false
	}
	for _, f := range []string{
		filepath.Join(paths.Shims, "safeshell-wrapper"), paths.Shell, paths.Trust, paths.Grants, paths.Cache,
		filepath.Dir(paths.Journal), filepath.Join(paths.Spool, "VERSION"),
	} {
		if _, err := os.Lstat(f); err != nil {
			return false
		}
	}
	return true
}

func leadsTo(link, binary string) bool {
	to, err := os.Stat(link)
	own, ownErr := os.Stat(binary)
	return err == nil && ownErr == nil && os.SameFile(to, own)
}

// InitParams are what the scripts of `init` are made from.
func InitParams(g *gate.Gate) initscript.Params {
	r, _ := g.Rules()
	// The built-in packs judge builtins in texts only: a function in front of echo
	// would cost every prompt.
	names := r.UserNames(Dir())
	paths := g.Paths()
	return initscript.Params{Binary: shims.Link(paths.Home), Home: paths.Home, UserHome: paths.User, Builtins: names}
}

// Dir is the physical working directory; "" when it is gone.
func Dir() string {
	d, err := os.Getwd()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(d); err == nil {
		return real
	}
	return d
}

// ParentName is the name of the process that called this one, "" when not
// known.
func ParentName() string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
