package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"safeshell/front"
	"safeshell/permit"
	"safeshell/permit/ts"
	"safeshell/shims"
)

type runCmd struct {
	TimeLimit time.Duration `help:"End the script and all that it started after this time, for example 90s or 10m." placeholder:"D"`
	Explain   bool          `help:"Say what is declared, what permits it and what the kernel enforces; run nothing."`
	JSON      bool          `help:"Print what is blocked as one JSON object on standard output." name:"json"`
	Keeper    string        `hidden:"" placeholder:"DIR"`
	Command   []string      `arg:"" optional:"" passthrough:"partial" name:"file" complete:"files" help:"The script, whose first command is initcmds, and its arguments."`
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
	s, err := a.scripts()
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	if c.Explain {
		return c.explain(a, s, args[0], args[1:])
	}
	return codeError(s.Run(args[0], args[1:], front.ScriptOptions{Limit: c.TimeLimit, JSON: c.JSON}))
}

// explain says what would be done.
func (c *runCmd) explain(a *app, s *front.Scripts, file string, args []string) error {
	text, code := s.Read(file)
	if code != 0 {
		return exitError(code)
	}
	env, set, err := s.Set()
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	kept := s.Kept(env, file, text, args, c.TimeLimit)
	decl, err := front.Declared(kept)
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	kept.Commands = decl.First
	l, plan, err := s.Plan(env, set, kept, nil)
	if errors.Is(err, ts.ErrNoDeno) {
		return exitError(s.NoDeno(file, err))
	}
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	if kept.Kind == permit.Module {
		return explainModule(a, file, set, decl, plan)
	}
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("script:   %s", visible(file))
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
			if !permit.LikeCommand(u.Name) {
				continue
			}
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
		if len(plan.Confine.Keep) > 0 {
			p("  but never:")
			for _, w := range plan.Confine.Keep {
				p("    %s", visible(w))
			}
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

// dashDash drops the -- that ends options.
func dashDash(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func explainModule(a *app, file string, set *permit.Set, decl permit.Declaration, plan permit.Plan) error {
	if err := a.printf("script:   %s\ndeno:     %s\nproject:  %s\ndeclared:\n", visible(file), visible(plan.Shell), visible(set.Area().Root)); err != nil {
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
