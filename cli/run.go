package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/permit"
	"safeshell/permit/ts"
	"safeshell/shims"
)

type runCmd struct {
	TimeLimit time.Duration `help:"End the script and all that it started after this time, for example 90s or 10m." placeholder:"D"`
	Explain   bool          `help:"Say what is declared, what permits it and what the kernel enforces; run nothing."`
	JSON      bool          `help:"Print what is blocked as one JSON object on standard output." name:"json"`
	Keeper    string        `hidden:"" placeholder:"DIR"`
	Command   []string      `arg:"" optional:"" passthrough:"partial" name:"file" help:"The script, whose first command is initcmds, and its arguments."`
}

func (c *runCmd) Run(a *app) error {
	if c.Keeper != "" {
		return permit.Keep(c.Keeper)
	}
	args := dashDash(c.Command)
	if len(args) == 0 {
		return usageError{errors.New("no script given; for example: safeshell run ./deploy.sh")}
	}
	if c.TimeLimit < 0 {
		return usageError{fmt.Errorf("--time-limit %s is negative", c.TimeLimit)}
	}
	file := args[0]
	text, err := permit.ReadScript(file)
	if errors.Is(err, fs.ErrNotExist) {
		return exitWith(a, shims.CodeNotFound, fmt.Errorf("%w; see: ls -l %s", err, shellWord(filepath.Dir(file))))
	}
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	if ts.Handles(file) {
		return a.runModule(c, file, text, args[1:])
	}
	env, set, err := a.permitSet()
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	caller := a.g.Caller()
	stopped := permit.Retry{
		Kind: permit.Shell, Script: text, File: file, Args: args[1:], Dir: env.Dir, Environ: env.Environ,
		Limit: c.TimeLimit, Session: caller.Session, Agent: caller.Agent, Context: string(caller.Context),
	}
	decl, err := permit.ParseScript(file, text)
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	stopped.Commands = decl.First
	if c.Explain {
		return c.explain(a, env, set, decl, stopped)
	}
	if err := set.CheckCalls(file, decl); err != nil {
		_, _ = io.WriteString(a.err, err.Error())
		return exitError(shims.CodeStopped)
	}
	q := permit.Question{Paths: a.paths, Approval: a.g.Config().Approval, Caller: caller, Dir: env.Dir, File: file, Stderr: a.err}
	o := permit.Settle(context.Background(), set, set.Check(decl.First), q, stopped, permit.AskHuman)
	a.warnAll(o.Warnings)
	if !o.OK {
		return a.stopped(o, c.JSON)
	}
	return a.launch(env, set, stopped, o.Once)
}

func (a *app) plan(env permit.Env, set *permit.Set, s permit.Retry, once []string) (permit.Launch, permit.Plan, error) {
	decl, err := permit.ParseScript(s.File, s.Script)
	if err != nil {
		return permit.Launch{}, permit.Plan{}, err
	}
	// A retry may permit more than the first declaration names.
	for _, c := range s.Commands {
		if !slices.Contains(decl.First, c) && !slices.Contains(decl.Later, c) {
			decl.Later = append(decl.Later, c)
		}
	}
	l := permit.Launch{
		Env: env, Set: set, Decl: decl, Caller: a.g.Caller(), File: s.File, Text: s.Script, Args: s.Args,
		Limit: s.Limit, Binary: self(), Once: once, Said: a.said,
	}
	p, err := l.Plan()
	return l, p, err
}

// launch replaces this process by the script's shell. All that its first
// declaration names is permitted.
func (a *app) launch(env permit.Env, set *permit.Set, s permit.Retry, once []string) error {
	l, plan, err := a.plan(env, set, s, once)
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	for _, n := range plan.Notes {
		if strings.Contains(n, "looks up in PATH") || strings.Contains(n, "confinement prevents") {
			a.note("safeshell: %s", n)
		}
	}
	if l.Decl.Shell == "sh" || l.Decl.Shell == "dash" {
		// These shells cannot be taught to say it when it happens.
		for _, u := range l.Decl.Undeclared {
			a.note("safeshell: %s:%d: %s is called but not declared; add it: %s %s", visible(s.File), u.Line, permit.Show(u.Name), permit.InitCommand, permit.Show(u.Name))
		}
	}
	run, err := l.Start(plan)
	if err != nil {
		return exitWith(a, shims.CodeStopped, fmt.Errorf("%s has not run: %w", visible(s.File), err))
	}
	return exitError(run.Exec(a.p))
}

// explain says what would be done.
func (c *runCmd) explain(a *app, env permit.Env, set *permit.Set, decl permit.Declaration, s permit.Retry) error {
	l, plan, err := a.plan(env, set, s, nil)
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("script:   %s", visible(s.File))
	p("shell:    %s", visible(strings.Join(append([]string{plan.Shell}, plan.Options...), " ")))
	p("project:  %s", visible(set.Area().Root))
	p("declared in line %d:", decl.Line)
	show := func(r permit.Result) {
		for _, d := range r {
			switch d.Status {
			case permit.Allowed:
				p("  %s  permitted (%s)  %s", permit.Show(d.Command), d.Scope, visible(cmpOr(d.Path, d.Detail)))
			case permit.NotFound:
				p("  %s  not found: %s", permit.Show(d.Command), d.Detail)
			default:
				p("  %s  not permitted: you would be asked  %s", permit.Show(d.Command), visible(d.Path))
			}
		}
	}
	show(plan.Commands)
	if len(plan.Commands) == 0 {
		p("  nothing")
	}
	if len(plan.Later) > 0 {
		p("declared further down, asked about when it runs:")
		show(plan.Later)
	}
	if len(decl.Undeclared) > 0 {
		p("called but not declared:")
		for _, u := range decl.Undeclared {
			p("  %s  (line %d)", permit.Show(u.Name), u.Line)
		}
	}
	says, ok := permit.KernelSays()
	p("the kernel enforces: %s", says)
	if ok {
		if len(plan.Confine.Exec) > 0 {
			p("  executing only:")
			for _, e := range plan.Confine.Exec {
				p("    %s", visible(e))
			}
		}
		p("  writing only below:")
		for _, w := range plan.Confine.Write {
			p("    %s", visible(w))
		}
	}
	if l.Limit > 0 {
		p("time limit: %s", l.Limit)
	}
	for _, n := range plan.Notes {
		p("note: %s", visible(n))
	}
	if err := a.printf("%s", b.String()); err != nil {
		return err
	}
	if !plan.Commands.OK() {
		return exitError(1)
	}
	return nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
