package shims

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/gate"
	"safeshell/trash"
)

// A run of `safeshell run` has a directory R under SAFESHELL_HOME/run:
//
//	R/bin/NAME    links to safeshell, one for each declared command: the PATH
//	R/real/NAME   links to the executables that were found at declaration
//	R/sock        where the run's keeper judges
//
// Its commands may be confined by the kernel, so that they can neither write
// safeshell's own files nor start the programs that conditions of rules use.
// Therefore the keeper, which stands beside the script and outside of the
// confinement, judges for them.

// InitCommand is the name under which a script declares commands at run time.
const InitCommand = "initcmds"

// RunPrefix begins the name of each run's directory.
const RunPrefix = "r-"

// runOf returns the run that a link belongs to; "" when it is none of a run.
func runOf(link string) string {
	bin := filepath.Dir(link)
	run := filepath.Dir(bin)
	name := filepath.Base(run)
	if link == "" || filepath.Base(bin) != "bin" || filepath.Base(filepath.Dir(run)) != "run" ||
		len(name) != len(RunPrefix)+16 || !strings.HasPrefix(name, RunPrefix) {
		return ""
	}
	return run
}

// KeeperRequest is one question to a run's keeper. []byte holds any bytes.
type KeeperRequest struct {
	Argv    [][]byte   `json:"argv,omitempty"` // to be judged
	Exe     []byte     `json:"exe,omitempty"`
	Declare [][]byte   `json:"declare,omitempty"` // or: commands to be permitted
	IsDecl  bool       `json:"is_decl,omitempty"`
	Trashed *TrashNote `json:"trashed,omitempty"` // or: what went to the trash
	PID     int        `json:"pid"`
	Dir     []byte     `json:"dir"`
	Env     [][]byte   `json:"env,omitempty"`
}

// TrashNote tells the keeper what to journal, as the shim cannot.
type TrashNote struct {
	Group string `json:"group"`
	Moved int    `json:"moved"`
}

// KeeperReply is one line of the keeper's answer. The last has Done.
type KeeperReply struct {
	Done     bool      `json:"done,omitempty"`
	Stderr   []byte    `json:"stderr,omitempty"` // to be shown at once
	Stdout   []byte    `json:"stdout,omitempty"`
	Code     int       `json:"code,omitempty"` // exit code of a declaration
	Kind     gate.Kind `json:"kind,omitempty"`
	Rule     string    `json:"rule,omitempty"`
	Source   string    `json:"source,omitempty"`
	Text     []byte    `json:"text,omitempty"`
	Argv     [][]byte  `json:"new_argv,omitempty"`
	Trash    bool      `json:"trash,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// ErrNoKeeper says that nobody judges for this run any more.
var ErrNoKeeper = errors.New("its keeper is gone")

// AskKeeper sends one question to the keeper of a run and returns its last
// line. It waits as long as the keeper does, for a human at the most.
func AskKeeper(run string, q KeeperRequest, stdout, stderr io.Writer) (KeeperReply, error) {
	f, err := dial(run)
	if err != nil {
		return KeeperReply{}, fmt.Errorf("%w (%w)", ErrNoKeeper, err)
	}
	defer f.Close()
	q.PID = os.Getpid()
	if err := json.NewEncoder(f).Encode(q); err != nil {
		return KeeperReply{}, fmt.Errorf("%w (%w)", ErrNoKeeper, err)
	}
	dec := json.NewDecoder(bufio.NewReader(f))
	for {
		var r KeeperReply
		if err := dec.Decode(&r); err != nil {
			return KeeperReply{}, fmt.Errorf("%w (%w)", ErrNoKeeper, err)
		}
		if len(r.Stdout) > 0 {
			_, _ = stdout.Write(r.Stdout)
		}
		if len(r.Stderr) > 0 {
			_, _ = stderr.Write(r.Stderr)
		}
		if r.Done {
			return r, nil
		}
	}
}

// dial connects to R/sock through a descriptor of R, since the path may be
// longer than a socket's address.
func dial(run string) (*os.File, error) {
	dir, err := unix.Open(run, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(s)
	addr := fmt.Sprintf("/proc/self/fd/%d/sock", dir)
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		addr = filepath.Join(run, "sock") // no /proc: the address must fit
	}
	for {
		err = unix.Connect(s, &unix.SockaddrUnix{Name: addr})
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		unix.Close(s)
		return nil, err
	}
	return os.NewFile(uintptr(s), "keeper"), nil
}

// Bytes turns strings into what a KeeperRequest holds.
func Bytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

// Strings is the reverse of Bytes.
func Strings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

// runDeclared is RunShim for a command of a run: the keeper judges, and what was
// found at declaration is exec'd.
func (p Process) runDeclared() int {
	name, run := p.Identity.Name, p.Identity.Run
	exe, err := os.Readlink(filepath.Join(run, "real", name))
	if err != nil {
		p.errorf("%s is not declared by this script; add it to the script's first command: %s %s", name, InitCommand, name)
		return CodeNotFound
	}
	dir := workingDir()
	argv := append([]string{name}, tail(p.Argv)...)
	depth, n := nextDepth(p.getenv(depthVar), argv, dir)
	if n >= maxDepth {
		p.errorf("%s started itself %d times through PATH and was stopped; declare the program that it looks for, by its path", name, n)
		return CodeStopped
	}
	v, err := AskKeeper(run, KeeperRequest{Argv: Bytes(argv), Exe: []byte(exe), Dir: []byte(dir), Env: Bytes(p.Environ)}, p.Stderr, p.Stderr)
	if err != nil {
		p.errorf("%s has not run: nobody can judge it, as the run that it belongs to has ended: %v; start the script again", name, err)
		return CodeStopped
	}
	for _, w := range v.Warnings {
		p.errorf("%s", w)
	}
	switch v.Kind {
	case gate.Run:
		return p.exec(exe, "", name, p.Argv, depth)
	case gate.Replace:
		return p.replaceDeclared(v, exe, depth)
	}
	_, _ = p.Stderr.Write(v.Text)
	return CodeStopped
}

// replaceDeclared runs what a declared command was redirected to; that must be
// declared too.
func (p Process) replaceDeclared(v KeeperReply, exe, depth string) int {
	name, run := p.Identity.Name, p.Identity.Run
	argv := Strings(v.Argv)
	if v.Trash {
		paths, err := p.paths()
		if err != nil {
			p.errorf("%s: %v", name, err)
			return CodeStopped
		}
		g := p.gate(paths)
		res := trash.Put(TrashEnv(p, g), trashConfig(g), name, argv, exe)
		if len(res.Moved) > 0 {
			// The journal is the keeper's to write; without it the trash still tells.
			_, _ = AskKeeper(run, KeeperRequest{Trashed: &TrashNote{res.Group, len(res.Moved)}, Env: Bytes(p.Environ)}, io.Discard, io.Discard)
		}
		if !res.ExecReal {
			return res.Code
		}
		return p.exec(exe, "", name, append([]string{name}, tail(p.Argv)...), depth)
	}
	if len(argv) == 0 {
		p.errorf("%s is redirected to nothing (rule %s); mend redirect_to in %s", name, v.Rule, v.Source)
		return CodeStopped
	}
	target := filepath.Base(argv[0])
	if target != name {
		var err error
		if exe, err = os.Readlink(filepath.Join(run, "real", target)); err != nil {
			p.errorf("%s is redirected to %s (rule %s), which this script does not declare; add it: %s %s", name, target, v.Rule, InitCommand, target)
			return CodeNotFound
		}
	}
	return p.exec(exe, "", target, argv, depth)
}

// RunDeclare is `initcmds CMD...` in a running script: it asks the run's keeper
// to permit further commands. It returns the exit code: 0 all are permitted,
// 126 some are not, 127 some were not found.
func RunDeclare(p Process) int {
	dir := workingDir()
	v, err := AskKeeper(p.Identity.Run, KeeperRequest{IsDecl: true, Declare: Bytes(tail(p.Argv)), Dir: []byte(dir), Env: Bytes(p.Environ)}, p.Stdout, p.Stderr)
	if err != nil {
		p.errorf("%s: nothing was permitted, as the run that it belongs to has ended: %v; start the script again", InitCommand, err)
		return CodeStopped
	}
	return v.Code
}

// Execve replaces this process as a shim would. It returns an exit code, and
// has said why, only if that fails.
func (p Process) Execve(exe string, argv, env []string) int { return p.execve(exe, argv, env) }
