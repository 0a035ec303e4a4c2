package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/agents"
	"safeshell/gate"
	"safeshell/permit"
	"safeshell/permit/ts"
	"safeshell/script"
	"safeshell/shims"
	"safeshell/spool"
)

// Scripts runs scripts with what they declare, and says what they may declare:
// `safeshell run` and `permit check`. Its methods print what is to be said and
// return the exit code.
type Scripts struct {
	P shims.Process
	G *gate.Gate

	said []string // warnings, for what goes on in another process
}

// ScriptOptions are those of `safeshell run`.
type ScriptOptions struct {
	Limit time.Duration // 0: none
	JSON  bool          // what is blocked, on standard output
}

// runScript takes --time-limit D, --json, --, a script and its arguments; or the
// --keeper that a run starts for itself.
func runScript(p shims.Process, args []string) (int, bool) {
	if len(args) == 2 && args[0] == "--keeper" && filepath.IsAbs(args[1]) {
		return failed(p, permit.Keep(args[1])), true
	}
	if len(args) == 2 && args[0] == "--apart" && filepath.IsAbs(args[1]) {
		return permit.ExecApart(p, args[1]), true
	}
	var o ScriptOptions
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
		value, isLimit := strings.CutPrefix(args[0], "--time-limit=")
		if args[0] == "--time-limit" && len(args) > 1 {
			value, isLimit, args = args[1], true, args[1:]
		}
		switch {
		case isLimit && o.Limit == 0:
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return 0, false
			}
			o.Limit = d
		case args[0] == "--json":
			o.JSON = true
		default:
			return 0, false
		}
		args = args[1:]
	}
	s, args, ok := scripts(p, args)
	if !ok {
		return 0, false
	}
	return s.Run(args[0], args[1:], o), true
}

// scripts returns what serves these operands; ok is false when the command line
// is to do it.
func scripts(p shims.Process, args []string) (s *Scripts, operands []string, ok bool) {
	if operands, ok = positional(args); !ok {
		return nil, nil, false
	}
	g, err := open(p)
	return &Scripts{P: p, G: g}, operands, err == nil
}

// positional drops the -- in front of the first argument that is no option. ok is
// false where it takes the command line to say what is meant.
func positional(args []string) (rest []string, ok bool) {
	dashes := len(args) > 0 && args[0] == "--"
	if dashes {
		args = args[1:]
	}
	return args, len(args) > 0 && args[0] != "" && args[0] != "--" && (dashes || args[0][0] != '-')
}

// failed prints an error, if there is one, and returns the exit code for it.
func failed(p shims.Process, err error) int {
	switch {
	case err == nil, IsBrokenPipe(err):
		return 0
	}
	Complain(p.Stderr, err)
	return 1
}

func (s *Scripts) note(format string, args ...any) { Note(s.P.Stderr, format, args...) }

// stop prints an error and returns code.
func (s *Scripts) stop(code int, err error) int {
	if !IsBrokenPipe(err) {
		Complain(s.P.Stderr, err)
	}
	return code
}

// WarnAll says what stops nothing.
func (s *Scripts) WarnAll(warnings []string) {
	for _, w := range warnings {
		s.note("safeshell: %s", w)
	}
	s.said = append(s.said, warnings...)
}

// Env is what decisions depend on, for this process. The error says that the
// working directory is gone.
func (s *Scripts) Env() (permit.Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return permit.Env{}, errors.New("the working directory is gone; change to one that is there: cd ~")
	}
	if err := s.G.ConfigError(); err != nil {
		s.WarnAll([]string{s.G.Paths().Unreadable(err)})
	}
	return permit.Env{Paths: s.G.Paths(), Config: s.G.Config().Permissions, Environ: s.P.Environ, Dir: dir, Session: s.G.Caller().Session}, nil
}

// Set loads what is permitted and says what does not count.
func (s *Scripts) Set() (permit.Env, *permit.Set, error) {
	env, err := s.Env()
	if err != nil {
		return env, nil, err
	}
	set, err := permit.Load(env)
	if err != nil {
		return env, nil, err
	}
	s.WarnAll(set.Warnings)
	return env, set, nil
}

// Read returns a script's text. It is judged as `cat FILE` first, since errors
// speak of what is in it. If it cannot be read, that was said, and code is the
// exit code; it is 0 otherwise.
func (s *Scripts) Read(file string) (text []byte, code int) {
	if dir, err := os.Getwd(); err == nil {
		name := file
		if strings.HasPrefix(name, "-") {
			name = "./" + name // no option of cat
		}
		v := s.G.Judge(context.Background(), gate.Request{Layer: gate.Exec, Argv: []string{"cat", name}, Dir: dir})
		if v.Kind == gate.Stop {
			_, _ = io.WriteString(s.P.Stderr, v.Text)
			return nil, shims.CodeStopped
		}
	}
	text, err := permit.ReadScript(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.stop(shims.CodeNotFound, fmt.Errorf("%w; see: ls -l %s", err, script.Quote([]string{filepath.Dir(file)})))
	}
	if err != nil {
		return nil, s.stop(shims.CodeStopped, err)
	}
	return text, 0
}

// Kept is the script in the form that retries and launches have, without its
// commands.
func (s *Scripts) Kept(env permit.Env, file string, text []byte, args []string, limit time.Duration) permit.Retry {
	caller := s.G.Caller()
	kind := permit.Shell
	if ts.Handles(file) {
		kind = permit.Module
	}
	return permit.Retry{
		Kind: kind, Script: text, File: file, Args: args, Dir: env.Dir, Environ: env.Environ,
		Limit: limit, Session: caller.Session, Agent: caller.Agent, Context: string(caller.Context),
	}
}

// Run settles what a script declares and replaces this process by its shell, or
// by Deno.
func (s *Scripts) Run(file string, args []string, o ScriptOptions) int {
	text, code := s.Read(file)
	if code != 0 {
		return code
	}
	env, set, err := s.Set()
	if err != nil {
		return s.stop(shims.CodeStopped, err)
	}
	stopped := s.Kept(env, file, text, args, o.Limit)
	decl, err := Declared(stopped)
	if err != nil {
		return s.stop(shims.CodeStopped, err)
	}
	stopped.Commands = decl.First
	if stopped.Kind == permit.Module {
		// Nobody is asked about a script that cannot run.
		if _, err := ts.Find(environ(s.P).Lookup); err != nil {
			return s.NoDeno(file, err)
		}
	} else if err := set.CheckCalls(file, decl); err != nil {
		_, _ = io.WriteString(s.P.Stderr, err.Error())
		return shims.CodeStopped
	}
	q := permit.Question{Paths: env.Paths, Approval: s.G.Config().Approval, Caller: s.G.Caller(), Dir: env.Dir, File: file, Stderr: s.P.Stderr}
	out := permit.Settle(context.Background(), set, set.Check(decl.First), q, stopped, permit.AskHuman)
	s.WarnAll(out.Warnings)
	if !out.OK {
		return s.Stopped(out, o.JSON)
	}
	return s.Launch(env, set, stopped, out.Once)
}

// Declared reads what a script says about itself.
func Declared(r permit.Retry) (permit.Declaration, error) {
	if r.Kind == permit.Module {
		return ts.Parse(r.File, r.Script)
	}
	return permit.ParseScript(r.File, r.Script)
}

// Plan works out how a script will be run; once are the keys that were permitted
// for this run.
func (s *Scripts) Plan(env permit.Env, set *permit.Set, r permit.Retry, once []string) (permit.Launch, permit.Plan, error) {
	decl, err := Declared(r)
	if err != nil {
		return permit.Launch{}, permit.Plan{}, err
	}
	l := permit.Launch{
		Env: env, Set: set, Decl: decl, Caller: s.G.Caller(), File: r.File, Text: r.Script, Args: r.Args,
		Limit: r.Limit, Binary: shims.Executable(), Once: once, Said: s.said,
		Guard: append(agents.ProtectedPaths(), permit.FileName, filepath.Join(filepath.Dir(permit.FileName), "rules.yaml")),
	}
	if r.Kind == permit.Module {
		p, err := ts.Plan(&l)
		return l, p, err
	}
	// A retry may permit more than the first declaration names.
	for _, c := range r.Commands {
		if !slices.Contains(decl.First, c) && !slices.Contains(decl.Later, c) {
			l.Decl.Later = append(l.Decl.Later, c)
		}
	}
	p, err := l.Plan()
	return l, p, err
}

// Launch replaces this process by the script's shell, or by Deno. All that the
// script declares first is permitted.
func (s *Scripts) Launch(env permit.Env, set *permit.Set, r permit.Retry, once []string) int {
	notRun := func(err error) int {
		return s.stop(shims.CodeStopped, fmt.Errorf("%s has not run: %w", spool.Visible(r.File), err))
	}
	l, plan, err := s.Plan(env, set, r, once)
	if errors.Is(err, ts.ErrNoDeno) {
		return s.NoDeno(r.File, err)
	}
	if r.Kind == permit.Module {
		if err != nil {
			return notRun(err)
		}
		run, err := ts.Start(l, plan)
		if err != nil {
			return notRun(err)
		}
		return run.Exec(s.P)
	}
	if err != nil {
		return s.stop(shims.CodeStopped, err)
	}
	for _, n := range plan.Notes {
		if strings.Contains(n, "looks up in PATH") || strings.Contains(n, "confinement prevents") {
			s.note("safeshell: %s", n)
		}
	}
	if l.Decl.Shell == "sh" || l.Decl.Shell == "dash" {
		// These shells cannot be taught to say it when it happens.
		for _, u := range l.Decl.Undeclared {
			if !permit.LikeCommand(u.Name) {
				continue
			}
			s.note("safeshell: %s:%d: %s is called but not declared; add it: %s %s", r.File, u.Line, permit.Show(u.Name), permit.InitCommand, permit.Show(u.Name))
		}
	}
	run, err := l.Start(plan)
	if err != nil {
		return notRun(err)
	}
	return run.Exec(s.P)
}

// NoDeno says that TypeScript cannot be run here.
func (s *Scripts) NoDeno(file string, err error) int {
	s.note("safeshell: %s has not run: %v", file, err)
	return shims.CodeNotFound
}

// Stopped says why a declaration was stopped.
func (s *Scripts) Stopped(o permit.Outcome, asJSON bool) int {
	if asJSON && o.Blocked != nil {
		if err := Encode(s.P.Stdout, o.Blocked); err != nil && !IsBrokenPipe(err) {
			return failed(s.P, err)
		}
		return o.Code
	}
	_, _ = io.WriteString(s.P.Stderr, o.Text)
	return o.Code
}
