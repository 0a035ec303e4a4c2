package ts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/permit"
)

// Shell is what stands for Deno in permit.Declaration.Shell.
const Shell = "deno"

// Parse is permit.ParseScript for TypeScript: the declaration of a script, read
// without running it. file is for errors alone.
func Parse(file string, text []byte) (permit.Declaration, error) {
	names, err := Declared(text)
	if err != nil {
		return permit.Declaration{}, fmt.Errorf("%s:%w", permit.Show(file), err)
	}
	return permit.Declaration{Shell: Shell, First: names, Line: max(1, declaredLine(text))}, nil
}

// declaredLine is about where the declaration stands; for people.
func declaredLine(text []byte) int {
	i := bytes.Index(text, []byte("initCmds("))
	return bytes.Count(text[:max(i, 0)], []byte("\n")) + 1
}

// Plan is permit.Launch.Plan for a script of Parse. It finds Deno: without it
// the error is ErrNoDeno.
func Plan(l *permit.Launch) (permit.Plan, error) {
	lookup := func(n string) (string, bool) { return lookup(l.Env.Environ, n) }
	deno, err := Find(lookup)
	if err != nil {
		return permit.Plan{}, err
	}
	if deno, err = program(deno, l.Env.Environ); err != nil {
		return permit.Plan{}, err
	}
	l.Decl.Interp = deno
	plan, err := l.Plan()
	if err != nil {
		return plan, err
	}
	// Deno's cache of what it has compiled: without it each start takes longer.
	if dir := cacheDir(lookup); dir != "" && os.MkdirAll(dir, 0o755) == nil {
		plan.Confine.Write = append(plan.Confine.Write, dir)
	}
	return plan, nil
}

// Start is permit.Launch.Start for a plan of Plan: the run's directory and its
// keeper are made, and Exec replaces this process by Deno.
func Start(l permit.Launch, plan permit.Plan) (*permit.Run, error) {
	run, err := l.Start(plan)
	if err != nil {
		return nil, err
	}
	calls, err := callsOf(run, plan.Commands)
	if err != nil {
		return nil, err
	}
	if len(run.Argv) < 2+len(plan.Options) {
		return nil, errors.New("the script's name is not known")
	}
	file := run.Argv[1+len(plan.Options)]
	if !filepath.IsAbs(file) {
		file = filepath.Join(l.Env.Dir, file)
	}
	area := l.Set.Area()
	write := append([]string{area.Root, "/tmp", "/var/tmp"}, area.GitDirs...)
	write = append(write, l.Set.Writable()...)
	for _, dir := range plan.Confine.Write {
		// permit has decided whether an exported TMPDIR counts.
		if t, _ := lookup(l.Env.Environ, "TMPDIR"); t != "" {
			if real, err := filepath.EvalSymlinks(t); err == nil && real == dir {
				write = append(write, dir, filepath.Clean(t))
			}
		}
	}
	argv, env, err := Run{
		Deno: plan.Shell, File: file, Args: l.Args, Calls: calls,
		Read: []string{l.Env.Dir}, Write: write, Deny: []string{l.Env.Paths.Home, l.Env.Paths.Spool}, Keep: slices.Concat(plan.Confine.Keep, plan.Confine.Guarded),
		Cache: l.Env.Paths.Cache, Environ: run.Environ,
	}.Command()
	if err != nil {
		return nil, err
	}
	run.Argv, run.Environ = argv, env
	return run, nil
}

// callsOf finds the run's link for each declared command.
func callsOf(run *permit.Run, commands permit.Result) (map[string]string, error) {
	calls := map[string]string{}
	for _, d := range commands {
		name := filepath.Base(d.Command)
		real, err := os.Readlink(filepath.Join(run.Dir, "real", name))
		switch {
		case d.Path == "":
			return nil, fmt.Errorf("%s is a builtin of shells, so a TypeScript script cannot start it; remove it from initCmds", permit.Show(d.Command))
		case err != nil:
			return nil, fmt.Errorf("%s is safeshell's own and cannot be declared; remove it from initCmds", permit.Show(d.Command))
		case real != d.Path:
			return nil, fmt.Errorf("%s and %s have the same name, so only one of them can be declared; call one through a script of another name", permit.Show(d.Path), permit.Show(real))
		}
		calls[d.Command] = filepath.Join(run.Dir, "bin", name)
	}
	return calls, nil
}

// program returns the real Deno behind a script that starts it, such as npm's or
// a version manager's: those need programs that the run's PATH does not have.
func program(deno string, environ []string) (string, error) {
	f, err := os.Open(deno)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var head [2]byte
	if n, _ := f.Read(head[:]); n < 2 || string(head[:]) != "#!" {
		return filepath.EvalSymlinks(deno)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, deno, "eval", "--no-config", "console.log(Deno.execPath())")
	c.Env = append(slices.Clone(environ), "DENO_NO_UPDATE_CHECK=1", "NO_COLOR=1")
	c.Dir = "/"
	out, err := c.Output()
	path := strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s is a script that does not tell where Deno is (%w); try it: %s --version", permit.Show(deno), err, permit.Show(deno))
	}
	return filepath.EvalSymlinks(path)
}

// cacheDir is where Deno keeps what it has compiled and fetched.
func cacheDir(lookup func(string) (string, bool)) string {
	if d, _ := lookup("DENO_DIR"); filepath.IsAbs(d) {
		return d
	}
	if d, _ := lookup("XDG_CACHE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "deno")
	}
	if h, _ := lookup("HOME"); filepath.IsAbs(h) {
		return filepath.Join(h, ".cache", "deno")
	}
	return ""
}

func lookup(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}
