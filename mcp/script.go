package mcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/permit"
	"safeshell/permit/ts"
)

// defaultLimit is the time limit of a run that names none.
const defaultLimit = 120 * time.Second

// job is a script that is asked for, with all that a run depends on.
type job struct {
	kind     permit.Kind
	code     []byte
	file     string // where the code came from; empty: from the call
	args     []string
	dir      string
	env      []string
	commands []string           // declared
	decl     permit.Declaration // of a shell script
	limit    time.Duration      // in force; 0: none
	asked    time.Duration      // as the call gave it
}

// source reads the script of a call; what may also be "commands", in messages.
func source(code, language, file, dir string) (job, error) {
	j := job{dir: dir}
	switch {
	case code != "" && file != "":
		return j, errors.New("give code or file, not both; nothing has run")
	case len(code) > permit.MaxScript:
		return j, fmt.Errorf("code has %d bytes, and at most %d can be run; write what it carries to a file and read it from there; nothing has run", len(code), permit.MaxScript)
	case file != "":
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		b, err := readScript(file)
		if err != nil {
			return j, fmt.Errorf("%w; nothing has run", err)
		}
		j.code, j.file = b, file
	case strings.TrimSpace(code) == "":
		return j, errors.New("give the script as code, or name its file; nothing has run")
	default:
		j.code = []byte(code)
	}
	switch strings.ToLower(language) {
	case "":
		j.kind = permit.Shell
		if j.file != "" && ts.Handles(j.file) {
			j.kind = permit.Module
		}
	case "shell", "sh", "bash":
		j.kind = permit.Shell
	case "typescript", "ts", "javascript", "js":
		j.kind = permit.Module
	default:
		return j, fmt.Errorf("language %q is not known; it is shell or typescript; nothing has run", language)
	}
	return j, j.declare()
}

// readScript reads a regular file, without waiting for a pipe or a device.
func readScript(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case fi.Size() > permit.MaxScript:
		return nil, fmt.Errorf("%s has %d bytes, and at most %d can be run", path, fi.Size(), permit.MaxScript)
	}
	return io.ReadAll(io.LimitReader(f, permit.MaxScript))
}

// name is what messages call the script.
func (j job) name() string {
	if j.file != "" {
		return j.file
	}
	return "code"
}

// declare reads the declaration, without running anything.
func (j *job) declare() (err error) {
	if j.kind == permit.Module {
		if j.commands, err = ts.Declared(j.code); err != nil {
			return fmt.Errorf("%s:%w; nothing has run", j.name(), err)
		}
		return nil
	}
	if j.decl, err = permit.ParseScript(j.name(), j.code); err != nil {
		return fmt.Errorf("%w; nothing has run", err)
	}
	j.commands = j.decl.All()
	return nil
}

// environOf is a call's environment. What says where safeshell's files are and
// who asks is not a call's to change.
func (s *server) environOf(more map[string]string) ([]string, error) {
	env := s.environ()
	for name, value := range more {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("env: %q cannot be a variable; nothing has run", name)
		case strings.HasPrefix(name, "SAFESHELL_"):
			return nil, fmt.Errorf("env: %s is safeshell's own; leave it out; nothing has run", name)
		}
		env = set(env, name, value)
	}
	// HOME may be changed, agents' markers may be emptied: these hold.
	env = set(env, "SAFESHELL_HOME", s.o.Paths.Home)
	env = set(env, "SAFESHELL_SPOOL", s.o.Paths.Spool)
	return set(env, "SAFESHELL_CONTEXT", "ai"), nil
}

// judged is what the lists say of a job's commands.
type judged struct {
	set    *permit.Set
	result permit.Result
	caller gate.Caller
	cfg    config.Config
	// warnings are what does not count and why.
	warnings []string
}

// judge checks commands as `safeshell run` will do again.
func (s *server) judge(commands, env []string, dir string) (judged, error) {
	cfg, cfgErr := config.Load(s.o.Paths.Config)
	j := judged{cfg: cfg, caller: gate.New(gate.Env{Environ: env, Paths: s.o.Paths}).Caller()}
	if cfgErr != nil {
		j.warnings = append(j.warnings, s.o.Paths.Unreadable(cfgErr))
	}
	set, err := permit.Load(permit.Env{Paths: s.o.Paths, Config: cfg.Permissions, Environ: env, Dir: dir, Session: j.caller.Session})
	if err != nil {
		return j, err
	}
	j.set, j.result = set, set.Check(commands)
	j.warnings = append(j.warnings, set.Warnings...)
	return j, nil
}

// keep writes a script that came as text to a file that lives as long as the
// session, or until remove is called.
func (s *server) keep(j job) (file string, remove func(), err error) {
	s.mu.Lock()
	s.files++
	n := s.files
	s.mu.Unlock()
	dir := filepath.Join(s.scratch(), fmt.Sprint(n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	name := "code.sh"
	if j.kind == permit.Module {
		name = "code.ts"
	}
	file = filepath.Join(dir, name)
	return file, func() { os.RemoveAll(dir) }, os.WriteFile(file, j.code, 0o600)
}
