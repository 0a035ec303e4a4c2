package permit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/shims"
)

// Launch is a script that is to be run with what it declared.
type Launch struct {
	Env    Env
	Set    *Set        // what is permitted, with what was answered for this run
	Decl   Declaration // what the text says
	Caller gate.Caller
	File   string // the script, as it is to be called ($0)
	Text   []byte // its text as it was checked
	Args   []string
	Limit  time.Duration // 0: none
	Binary string        // safeshell itself, absolute
	Once   []string      // keys that were permitted for this run
	Said   []string      // warnings that the caller has printed
	Guard  []string      // files below the project that rule agents and safeshell
}

// Plan is what will be run, worked out without making anything.
type Plan struct {
	Shell    string   // the interpreter, absolute
	Options  []string // in front of the script
	Commands Result   // what is declared first
	Later    Result   // what is declared further down, as far as it is known
	Confine  Confinement
	// Notes are lines about what will not work as one might expect.
	Notes []string
}

// Plan works out how to run a script, and whether all that it declares is
// permitted.
func (l Launch) Plan() (Plan, error) {
	var p Plan
	shell, err := l.shell()
	if err != nil {
		return p, err
	}
	p.Shell = shell
	if l.Decl.Option != "" {
		p.Options = []string{l.Decl.Option}
	}
	p.Commands = l.Set.Check(l.Decl.First)
	p.Later = l.Set.Check(slices.DeleteFunc(slices.Clone(l.Decl.Later), func(c string) bool { return slices.Contains(l.Decl.First, c) }))
	getenv := func(n string) string { v, _ := l.Env.lookup(n); return v }
	p.Confine.Write = writable(l.Set.Area(), l.Env.Paths, getenv, l.Set.Writable())
	git := l.Decl.Dynamic > 0
	for _, d := range slices.Concat(p.Commands, p.Later) {
		git = git || strings.HasPrefix(filepath.Base(d.Command), "git") || filepath.Base(d.Command) == "hub"
	}
	p.Confine.keep(l.Set.Area(), l.Env.Paths, getenv, git, l.Guard)
	if l.Decl.Dynamic > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("line %d declares what is known only when it runs, so the kernel does not restrict what is executed; to have that, declare every command by name", l.Decl.Dynamic))
	} else {
		p.Confine.Exec = l.executables(p)
	}
	if _, ok := KernelSays(); ok {
		for _, d := range p.Commands {
			if d.Path != "" && setsID(d.Path) {
				p.Notes = append(p.Notes, fmt.Sprintf("%s changes the user that it runs as, which the kernel's confinement prevents; run it outside of `safeshell run`", Show(d.Command)))
			}
		}
	}
	names := linkNames(slices.Concat(p.Commands, p.Later))
	for _, d := range p.Commands {
		if t := through(d.Path); t != "" && d.Status == Allowed && names[filepath.Base(t)] == "" {
			p.Notes = append(p.Notes, fmt.Sprintf("%s is run by %s, which it looks up in PATH; declare that too: %s %s", Show(d.Command), Show(t), InitCommand, Show(t)))
		}
	}
	return p, nil
}

// shell is the real interpreter of the script.
func (l Launch) shell() (string, error) {
	name := l.Decl.Interp
	if name == "" {
		name = l.Decl.Shell
	}
	if filepath.IsAbs(name) {
		if executable(name) == nil && !isBinary(name, l.Binary) {
			return name, nil
		}
		name = filepath.Base(name)
	}
	p := shims.Which(name, l.Env.lookup)
	if p == "" {
		for _, d := range []string{"/bin", "/usr/bin", "/usr/local/bin"} {
			if c := filepath.Join(d, name); executable(c) == nil && !isBinary(c, l.Binary) {
				p = c
				break
			}
		}
	}
	if p == "" {
		return "", fmt.Errorf("%s:1: there is no %s to run it with; install it, or change the first line", Show(l.File), Show(name))
	}
	return filepath.Abs(p)
}

func isBinary(path, binary string) bool { return binary != "" && sameFile(path, binary) }

// executables are all files that the kernel must let the script execute.
func (l Launch) executables(p Plan) []string {
	var out []string
	more := []string{p.Shell, l.Binary}
	for _, d := range slices.Concat(p.Commands, p.Later) {
		if d.Path != "" && d.Status != NotFound {
			more = append(more, d.Path)
		}
	}
	for _, m := range more {
		for _, n := range Needs(m) {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// Run is a script that is ready: its directory is made and its keeper started.
type Run struct {
	ID      string
	Dir     string // SAFESHELL_HOME/run/ID
	Shell   string
	Argv    []string
	Environ []string
	confine Confinement
	dir     *runDir
	binary  string
}

// Start makes the run's directory and starts its keeper. Call Exec next, from
// the same process: its pid is the script's. All commands of plan.Commands must
// be permitted.
func (l Launch) Start(plan Plan) (run *Run, err error) {
	if !plan.Commands.OK() {
		return nil, errors.New("not all declared commands are permitted")
	}
	if l.Binary == "" || !filepath.IsAbs(l.Binary) {
		return nil, errors.New("safeshell's own file is not known; start it by its path")
	}
	CleanRuns(l.Env.Paths.Home)
	d, err := newRunDir(l.Env.Paths.Home)
	if err != nil {
		return nil, fmt.Errorf("the run's directory cannot be made: %w", err)
	}
	defer func() {
		if err != nil {
			d.remove()
			d.lock.Close()
		}
	}()
	names := linkNames(plan.Commands)
	for name, exe := range names {
		if err := d.link(name, exe, l.Binary); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"safeshell", InitCommand} {
		if err := symlink(l.Binary, filepath.Join(d.path, "bin", name)); err != nil {
			return nil, err
		}
	}
	if err := d.startFiles(l.File, l.Binary, l.Decl.First); err != nil {
		return nil, err
	}
	file, err := l.scriptFile(d)
	if err != nil {
		return nil, err
	}
	_, confined := KernelSays()
	pid := os.Getpid()
	m := Manifest{
		PID: pid, Start: startOf(pid), Paths: l.Env.Paths, Binary: l.Binary, Caller: l.Caller, LimitNS: int64(l.Limit),
		File: []byte(l.File), Shell: l.Decl.Shell, Exec: toBytes(plan.Confine.Exec), Confined: confined, Once: toBytes(l.Once),
		Script: l.Text, Args: toBytes(l.Args), Dir: []byte(l.Env.Dir), Environ: toBytes(l.Env.Environ), First: toBytes(l.Decl.First),
		Said: toBytes(l.Said), Kept: plan.Confine.state(), Root: []byte(l.Set.Area().Root), Repositories: toBytes(plan.Confine.Repositories),
	}
	if err := d.save(m); err != nil {
		return nil, err
	}
	run = &Run{ID: d.id, Dir: d.path, Shell: plan.Shell, Environ: d.environ(l.Env.Environ), confine: plan.Confine, dir: d, binary: l.Binary}
	run.Argv = slices.Concat([]string{plan.Shell}, plan.Options, []string{file}, l.Args)
	if err := startKeeper(d, l.Binary); err != nil {
		return nil, fmt.Errorf("the run's keeper cannot be started: %w", err)
	}
	return run, nil
}

// scriptFile is what the shell reads: the script itself while it is what was
// checked, else a copy of what was checked.
func (l Launch) scriptFile(d *runDir) (string, error) {
	path := l.File
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(l.Env.Dir, path)
	}
	if data, err := readScript(path); err == nil && string(data) == string(l.Text) {
		if strings.HasPrefix(l.File, "-") {
			return "./" + l.File, nil // no option of the shell
		}
		if !strings.Contains(l.File, "/") {
			// Shells look a bare name up in the working directory first, as meant,
			// but dash only there where it has a slash.
			return "./" + l.File, nil
		}
		return l.File, nil
	}
	dir := filepath.Join(d.path, "script")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Base(l.File)
	if l.File == "" || name == "." || name == "/" {
		name = "script"
	}
	path = filepath.Join(dir, name)
	return path, os.WriteFile(path, l.Text, 0o600)
}

// keeperVar marks a keeper.
const keeperVar = "SAFESHELL_KEEPER"

// startKeeper starts the keeper beside this process. The socket is listening and
// the lock held before it runs, so that nothing has to wait for it.
func startKeeper(d *runDir, binary string) error {
	if os.Getenv(keeperVar) != "" {
		// A binary that is not safeshell's would start itself for ever.
		return errors.New("a keeper starts no scripts")
	}
	sock, err := d.listen()
	if err != nil {
		return err
	}
	defer sock.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	// Through a shell that ends at once: were the keeper a child of the script,
	// a program that waits for all its children would wait for it.
	c := exec.Command("/bin/sh", "-c", `"$@" &`, "sh", binary, "run", "--keeper", d.path)
	c.Env = append(os.Environ(), keeperVar+"="+d.id)
	c.Stdin, c.Stdout, c.Stderr = null, null, null
	messages := null // nobody waits for the end of a file, as of a pipe
	if fi, err := os.Stderr.Stat(); err == nil && fi.Mode().IsRegular() {
		messages = os.Stderr
	}
	c.ExtraFiles = []*os.File{sock, d.lock, messages}
	c.Dir = "/"
	return c.Run()
}

// Exec confines this process and replaces it by the script's shell. It returns
// an exit code, and has said why, only if that fails.
func (r *Run) Exec(p shims.Process) int {
	runtime.LockOSThread() // the confinement is this thread's, and exec keeps it
	r.execApart(p)
	return r.exec(p)
}

// exec is Exec in this process.
func (r *Run) exec(p shims.Process) int {
	// Where the kernel lets nothing be held, the keeper puts it back.
	// The file is opened before the run's directory may not be written to.
	f, err := os.OpenFile(filepath.Join(r.Dir, heldFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if held := r.confine.holdMounts(); held == nil && err == nil {
		_, _ = f.WriteString("held\n")
	}
	f.Close()
	if _, err := r.confine.apply(); err != nil {
		fmt.Fprintf(p.Stderr, "safeshell: the script has not run: the kernel's confinement cannot be set up: %v\n", err)
		return shims.CodeStopped
	}
	return p.Execve(r.Shell, r.Argv, r.Environ)
}

// readScript reads a script whole; only a regular file.
func readScript(path string) ([]byte, error) { return ReadScript(path) }

// ReadScript returns the text of a script file. A pipe, a directory or a file of
// more than MaxScript bytes is an error that says so.
func ReadScript(path string) ([]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Show(path), bare(err))
	}
	switch {
	case fi.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a script in it", Show(path))
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file; a script is checked before it runs, so write it to a file first", Show(path))
	case fi.Size() > MaxScript:
		return nil, fmt.Errorf("%s has more than %d bytes; split it", Show(path), MaxScript)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Show(path), bare(err))
	}
	if len(data) > MaxScript {
		return nil, fmt.Errorf("%s has more than %d bytes; split it", Show(path), MaxScript)
	}
	return data, nil
}

// KeptEnvironment returns the environment of a retry in the form Env wants.
func KeptEnvironment(r Retry, paths config.Paths, perms config.Permissions) Env {
	return Env{Paths: paths, Config: perms, Environ: r.Environ, Dir: r.Dir, Session: r.Session}
}
