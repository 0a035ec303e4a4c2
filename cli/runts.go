package cli

import (
	"context"
	"errors"
	"fmt"

	"safeshell/permit"
	"safeshell/permit/ts"
	"safeshell/shims"
)

// runModule is `safeshell run` for a TypeScript file: what it declares is
// settled before Deno starts.
func (a *app) runModule(c *runCmd, file string, text []byte, args []string) error {
	env, set, err := a.permitSet()
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	decl, err := ts.Parse(file, text)
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	caller := a.g.Caller()
	stopped := permit.Retry{
		Kind: permit.Module, Commands: decl.First, Script: text, File: file, Args: args, Dir: env.Dir, Environ: env.Environ,
		Limit: c.TimeLimit, Session: caller.Session, Agent: caller.Agent, Context: string(caller.Context),
	}
	if c.Explain {
		return a.explainModule(env, set, decl, stopped)
	}
	// Nobody is asked about a script that cannot run.
	if _, err := ts.Find(a.lookup); err != nil {
		return a.noDeno(file, err)
	}
	q := permit.Question{Paths: a.paths, Approval: a.g.Config().Approval, Caller: caller, Dir: env.Dir, File: file, Stderr: a.err}
	o := permit.Settle(context.Background(), set, set.Check(decl.First), q, stopped, permit.AskHuman)
	a.warnAll(o.Warnings)
	if !o.OK {
		return a.stopped(o, c.JSON)
	}
	return a.launchModule(env, set, stopped, o.Once)
}

func (a *app) planModule(env permit.Env, set *permit.Set, s permit.Retry, once []string) (permit.Launch, permit.Plan, error) {
	decl, err := ts.Parse(s.File, s.Script)
	if err != nil {
		return permit.Launch{}, permit.Plan{}, err
	}
	l := permit.Launch{
		Env: env, Set: set, Decl: decl, Caller: a.g.Caller(), File: s.File, Text: s.Script, Args: s.Args,
		Limit: s.Limit, Binary: self(), Once: once, Said: a.said,
	}
	plan, err := ts.Plan(&l)
	return l, plan, err
}

// launchModule replaces this process by Deno with the script. All that it
// declares is permitted.
func (a *app) launchModule(env permit.Env, set *permit.Set, s permit.Retry, once []string) error {
	l, plan, err := a.planModule(env, set, s, once)
	if errors.Is(err, ts.ErrNoDeno) {
		return a.noDeno(s.File, err)
	}
	if err != nil {
		return exitWith(a, shims.CodeStopped, fmt.Errorf("%s has not run: %w", visible(s.File), err))
	}
	run, err := ts.Start(l, plan)
	if err != nil {
		return exitWith(a, shims.CodeStopped, fmt.Errorf("%s has not run: %w", visible(s.File), err))
	}
	return exitError(run.Exec(a.p))
}

func (a *app) noDeno(file string, err error) error {
	a.note("safeshell: %s has not run: %v", visible(file), err)
	return exitError(shims.CodeNotFound)
}

func (a *app) explainModule(env permit.Env, set *permit.Set, decl permit.Declaration, s permit.Retry) error {
	_, plan, err := a.planModule(env, set, s, nil)
	if errors.Is(err, ts.ErrNoDeno) {
		return a.noDeno(s.File, err)
	}
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	if err := a.printf("script:   %s\ndeno:     %s\nproject:  %s\ndeclared:\n", visible(s.File), visible(plan.Shell), visible(set.Area().Root)); err != nil {
		return err
	}
	for _, d := range plan.Commands {
		word := map[permit.Status]string{permit.Allowed: fmt.Sprintf("permitted (%s)", d.Scope), permit.NotFound: "not found: " + d.Detail, permit.NotAllowed: "not permitted: you would be asked"}[d.Status]
		if err := a.printf("  %s  %s  %s\n", permit.Show(d.Command), word, visible(d.Path)); err != nil {
			return err
		}
	}
	if len(decl.First) == 0 {
		if err := a.printf("  nothing\n"); err != nil {
			return err
		}
	}
	says, _ := permit.KernelSays()
	if err := a.printf("deno enforces: starting only these; no network; reading and writing only in the project and temporary directories\nthe kernel enforces: %s\n", says); err != nil {
		return err
	}
	if !plan.Commands.OK() {
		return exitError(1)
	}
	return nil
}
