package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"safeshell/eval"
	"safeshell/front"
	"safeshell/permit"
	"safeshell/shims"
	"safeshell/spool"
)

type permitCmd struct {
	Check  permitCheckCmd  `cmd:"" help:"Say which of these commands a script may not declare, all at once; run nothing, ask nobody."`
	Allow  permitAllowCmd  `cmd:"" help:"Permit commands to the scripts of this project (a person at a terminal)."`
	Revoke permitRevokeCmd `cmd:"" help:"Take back what was answered for this project."`
	List   permitListCmd   `cmd:"" help:"List what is permitted here, and by which list."`
	Retry  permitRetryCmd  `cmd:"" help:"Go on with what was stopped, after the user's choice."`
}

// scripts is what runs declared scripts, for this process.
func (a *app) scripts() (*front.Scripts, error) {
	if err := a.open(); err != nil {
		return nil, err
	}
	return &front.Scripts{P: a.p, G: a.g}, nil
}

// permitSet loads what is permitted and says what does not count.
func (a *app) permitSet() (permit.Env, *permit.Set, error) {
	s, err := a.scripts()
	if err != nil {
		return permit.Env{}, nil, err
	}
	return s.Set()
}

// checkKernel says what the kernel enforces on scripts of `safeshell run`.
func checkKernel() finding {
	says, ok := permit.KernelSays()
	if !ok {
		return finding{"warn", "scripts of `safeshell run`: the kernel enforces " + says, "cat /sys/kernel/security/lsm (it must name landlock)"}
	}
	return finding{"ok", "scripts of `safeshell run`: the kernel enforces what they declare (" + says + ")", ""}
}

func (a *app) encode(v any) error { return a.printed(front.Encode(a.out, v)) }

type permitCheckCmd struct {
	JSON     bool     `help:"Print one JSON object." name:"json"`
	Commands []string `arg:"" complete:"commands" help:"Commands as a script would declare them: names or paths."`
}

func (c *permitCheckCmd) Run(a *app) error {
	s, err := a.scripts()
	if err != nil {
		return exitWith(a, 2, err)
	}
	return codeError(s.Check(c.Commands, c.JSON))
}

type permitAllowCmd struct {
	Session  bool     `help:"For this terminal's session only."`
	Always   bool     `help:"For all scripts of this project (the default)."`
	Commands []string `arg:"" complete:"commands" help:"Names or paths."`
}

func (c *permitAllowCmd) Run(a *app) error {
	if c.Session && c.Always {
		return usageError{errors.New("--session and --always exclude each other")}
	}
	env, set, err := a.permitSet()
	if err != nil {
		return err
	}
	if err := a.mustBeHuman("permitting commands"); err != nil {
		return err
	}
	choice, word := spool.Always, "always, for scripts of "+visible(set.Area().Main)
	if c.Session {
		choice, word = spool.Session, "for this terminal's session, in "+visible(set.Area().Main)
	}
	var todo permit.Result
	for _, d := range set.Check(c.Commands) {
		switch {
		case d.Status == permit.NotFound && (d.Path == "" && strings.Contains(d.Command, "/") || d.Command == ""):
			return fmt.Errorf("%s cannot be permitted: %s; nothing was changed", permit.Show(d.Command), d.Detail)
		case d.Status == permit.Allowed && d.Scope != permit.Session && d.Scope != permit.Always:
			a.note("%s is permitted already (%s)", permit.Show(d.Command), d.Scope)
		default:
			if d.Path == "" {
				a.note("%s is not in PATH now; it is permitted for when it is", permit.Show(d.Command))
			}
			d.Status = permit.NotAllowed
			todo = append(todo, d)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	ans := permit.Answer{Choice: choice, By: spool.ByCLI}
	if err := set.Apply(todo, ans); err != nil {
		// There is no run that the answer could hold for.
		return fmt.Errorf("nothing was permitted: %w", cmp.Or(errors.Unwrap(err), err))
	}
	q := permit.Question{Paths: env.Paths, Caller: a.g.Caller(), Dir: env.Dir, Blocked: todo}
	if err := q.Journal("allow", ans); err != nil {
		a.note("safeshell: permitted, but the journal could not be written: %v", err)
	}
	for _, d := range todo {
		if err := a.printf("permitted %s: %s\n", word, permit.Show(d.Key)); err != nil {
			return err
		}
	}
	return nil
}

type permitRevokeCmd struct {
	Commands []string `arg:"" complete:"permits" help:"Names or paths, as permit list shows them."`
}

func (c *permitRevokeCmd) Run(a *app) error {
	env, set, err := a.permitSet()
	if err != nil {
		return err
	}
	if err := a.mustBeHuman("revoking a permission"); err != nil {
		return err
	}
	keys := slices.Clone(c.Commands)
	for _, d := range set.Check(c.Commands) {
		if !slices.Contains(keys, d.Key) {
			keys = append(keys, d.Key)
		}
	}
	mem, err := permit.OpenRemembered(env.Paths, set.Area())
	if err != nil {
		return err
	}
	gone, err := mem.Remove(env.Session, keys)
	for _, g := range gone {
		if err := a.printf("no longer permitted by an answer: %s\n", permit.Show(g)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		q := permit.Question{Paths: env.Paths, Caller: a.g.Caller(), Dir: env.Dir}
		_ = q.Journal("revoke", permit.Answer{By: spool.ByCLI, Reason: "revoked: " + strings.Join(gone, ", ")})
	}
	after, err := permit.Load(env)
	if err != nil {
		return err
	}
	missed := false
	for _, cmd := range c.Commands {
		d := after.Decide(cmd)
		switch {
		case d.Status == permit.Allowed && d.Scope == permit.User:
			a.note("%s is still permitted by %s; take it out there", permit.Show(cmd), visible(env.Paths.Config))
		case d.Status == permit.Allowed && d.Scope == permit.Project:
			a.note("%s is still permitted by %s; to end that: safeshell untrust %s", permit.Show(cmd), permit.FileName, shellWord(set.Area().Root))
		case d.Status == permit.Allowed:
			a.note("%s is still permitted (%s)", permit.Show(cmd), d.Scope)
		case len(gone) == 0:
			missed = true
			a.note("%s was not permitted by an answer; see: safeshell permit list", permit.Show(cmd))
		}
	}
	if missed {
		return exitError(1)
	}
	return nil
}

type permitListCmd struct {
	JSON bool `help:"Print one JSON object a line." name:"json"`
}

func (c *permitListCmd) Run(a *app) error {
	_, set, err := a.permitSet()
	if err != nil {
		return err
	}
	list := set.List()
	if c.JSON {
		for _, l := range list {
			if err := a.encode(struct {
				permit.Listed
				Project string `json:"project"`
			}{l, set.Area().Main}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := a.printf("project: %s\n", visible(set.Area().Main)); err != nil {
		return err
	}
	for i, l := range list {
		if i == 0 || list[i-1].Scope != l.Scope {
			if err := a.printf("%s:\n", l.Scope); err != nil {
				return err
			}
		}
		if err := a.printf("  %s\n", permit.Show(l.Command)); err != nil {
			return err
		}
	}
	return nil
}

type permitRetryCmd struct {
	ID     string `arg:"" complete:"retries" help:"The retry id: rt1, rt2, ..."`
	Choice int    `help:"The user's choice for all blocked commands: 1 once, 2 session, 3 always, 4 deny." placeholder:"N" default:"0"`
	JSON   bool   `help:"Print what is still blocked as one JSON object." name:"json"`
}

func (c *permitRetryCmd) Run(a *app) error {
	if c.Choice < 0 || c.Choice > 4 {
		return usageError{fmt.Errorf("%d is no choice, so nothing runs: 1 once, 2 session, 3 always, 4 deny", c.Choice)}
	}
	s, err := a.scripts()
	if err != nil {
		return err
	}
	store := permit.OpenRetries(a.paths)
	kept, err := store.Peek(c.ID)
	if err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	caller := a.g.Caller()
	person := a.g.NotHuman() == ""
	q := permit.Question{Paths: a.paths, Approval: a.g.Config().Approval, Caller: caller, Dir: kept.Dir, File: kept.File, Claim: spool.Choice(c.Choice), Stderr: a.err}
	if c.Choice == int(spool.Refuse) {
		if _, err := store.Take(c.ID, permit.UserDeny); err != nil {
			return exitWith(a, shims.CodeStopped, err)
		}
		_ = q.Journal("asked-deny", permit.Answer{Choice: spool.Refuse, By: who(person)})
		fmt.Fprint(a.err, permit.DeniedText(permit.Answer{Reason: fmt.Sprintf("choice 4: %s is refused and runs nothing, now or later", c.ID)}))
		return exitError(shims.CodeStopped)
	}
	if caller.Context == eval.AI && caller.Session != "" {
		// An agent's session is the one that goes on: the one that was stopped may
		// have ended. A person answers for what was stopped.
		kept.Session = caller.Session
	}
	env := permit.KeptEnvironment(kept, a.paths, a.g.Config().Permissions)
	set, err := permit.Load(env) // before the id is used up: the directory may be gone
	if err != nil {
		return exitWith(a, shims.CodeStopped, fmt.Errorf("%s has not run and can be tried again: %w", c.ID, err))
	}
	s.WarnAll(set.Warnings)
	r := set.Check(kept.Commands)

	if c.Choice == 0 && r.OK() {
		a.note("safeshell: all its commands are permitted by now, but no choice was given, so nothing has run; to go on: safeshell permit retry %s --choice 1", c.ID)
		return exitError(shims.CodeStopped)
	}
	if c.Choice == 0 {
		sp, serr := spool.Open(a.paths.Spool)
		if serr != nil || !sp.MonitorAlive() {
			// Nobody to ask: the choices are said again, and the id stays good.
			b := permit.NewBlocked(r, c.ID, "")
			if c.JSON {
				_ = a.encode(b)
			} else {
				fmt.Fprintf(a.err, "safeshell: no choice was given, so nothing has run.\n%s", b.Text())
			}
			return exitError(shims.CodeStopped)
		}
	}
	// An answer uses the id up: a question that nobody answers does not.
	choose := a.chooser(c.Choice, person)
	o := permit.Settle(context.Background(), set, r, q, kept, func(ctx context.Context, q permit.Question) (permit.Answer, error) {
		ans, err := choose(ctx, q)
		if err != nil {
			return ans, err
		}
		state := permit.UsedUp
		if ans.Choice == spool.Refuse {
			state = permit.UserDeny
		}
		_, err = store.Take(c.ID, state)
		return ans, err
	})
	if r.OK() {
		if _, err := store.Take(c.ID, permit.UsedUp); err != nil {
			return exitWith(a, shims.CodeStopped, err)
		}
	}
	s.WarnAll(o.Warnings)
	if !o.OK {
		return codeError(s.Stopped(o, c.JSON))
	}
	if kept.Kind == permit.CheckOnly {
		for _, d := range o.Result {
			if err := a.printf("%s: permitted (%s)\n", permit.Show(d.Command), d.Scope); err != nil {
				return err
			}
		}
		if c.Choice == int(spool.Once) {
			a.note("once: there is no script to run, so nothing is kept; to keep it choose 2 or 3")
		}
		return nil
	}
	if err := os.Chdir(kept.Dir); err != nil {
		return exitWith(a, shims.CodeStopped, err)
	}
	s.P.Environ = kept.Environ
	return codeError(s.Launch(env, set, kept, o.Once))
}

func who(person bool) string {
	if person {
		return spool.ByCLI
	}
	return "agent"
}

// chooser is whom a retry asks: a living monitor always, unless a person gives
// the choice themselves; without one the caller's choice counts, as on the MCP
// server (docs/design.md "Upfront permission"), and that is said and journaled.
func (a *app) chooser(choice int, person bool) permit.Asker {
	given := permit.Answer{Choice: spool.Choice(choice), By: who(person)}
	return func(ctx context.Context, q permit.Question) (permit.Answer, error) {
		if person && choice != 0 {
			return given, nil
		}
		ans, err := permit.Ask(ctx, q)
		if !errors.Is(err, permit.ErrNobody) || choice == 0 {
			return ans, err
		}
		if a.g.Caller().Context == eval.AI {
			a.note("safeshell: no monitor is running, so the choice %d (%s) that the agent passed on counts; it is in the journal", choice, spool.Choice(choice))
		}
		return given, nil
	}
}
