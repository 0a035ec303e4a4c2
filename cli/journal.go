package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"safeshell/front"
	"safeshell/spool"
)

type logCmd struct {
	Follow bool   `help:"Go on as decisions come." short:"f"`
	JSON   bool   `help:"Print the journal's own lines." name:"json"`
	Since  string `help:"Only from then on: 2h, 3d, 2026-11-21, 2026-11-21T08:30." placeholder:"T"`
	Last   int    `help:"Only the last N." short:"n" placeholder:"N"`
}

func (c *logCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if c.Last < 0 {
		return usageError{fmt.Errorf("--last %d is negative; for example: safeshell log --last 20", c.Last)}
	}
	since, err := parseSince(c.Since, time.Now())
	if err != nil {
		return usageError{err}
	}
	j := spool.OpenJournal(a.paths.Journal)
	opts := spool.ReadOptions{Since: since, Limit: c.Last}
	if c.Follow {
		return c.follow(a, j, opts)
	}
	entries, err := j.Read(opts)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.print(a, e); err != nil {
			return err
		}
	}
	switch {
	case len(entries) > 0 || c.JSON:
	case !since.IsZero():
		a.note("the journal has no entries since %s (%s)", since.Local().Format("2006-01-02 15:04:05"), a.paths.Journal)
	default:
		a.note("the journal has no entries yet (%s)", a.paths.Journal)
	}
	return nil
}

func (c *logCmd) follow(a *app, j *spool.Journal, opts spool.ReadOptions) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	for e := range j.Tail(ctx, opts) {
		if err := c.print(a, e); err != nil {
			return err
		}
	}
	return nil
}

func (c *logCmd) print(a *app, e spool.Entry) error {
	if !c.JSON && e.Kind == spool.KindAnswer && len(e.Notes) == 0 {
		return nil // the decision that it led to follows
	}
	if c.JSON {
		return a.printJSON(e)
	}
	return a.printf("%s\n", logLine(e))
}

// logLine is one decision on one line: time, what became of it, the command,
// the rule, who, and how long it took.
func logLine(e spool.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-9s %s", e.Time.Local().Format("2006-01-02 15:04:05"), actionWord(e), visible(e.Command))
	if e.Kind == spool.KindTrash && e.Command == "" {
		b.WriteString(visible(strings.Join(e.Notes, "; ")))
		return b.String()
	}
	var facts []string
	add := func(label, v string) {
		if v != "" {
			facts = append(facts, label+visible(v))
		}
	}
	add("rule ", e.Rule)
	who := e.Agent
	if who == "" {
		who = e.Context
	}
	add("", who)
	add("", e.Layer)
	add("by ", e.By)
	if e.Waited >= 0.1 {
		add("", time.Duration(e.Waited*float64(time.Second)).Round(100*time.Millisecond).String())
	}
	label := "why: "
	if e.Choice != 0 {
		label = "said: "
	}
	add(label, e.Reason)
	add("in ", e.Dir)
	for _, n := range e.Notes {
		add("note: ", n)
	}
	if len(facts) > 0 {
		b.WriteString("  [" + strings.Join(facts, "; ") + "]")
	}
	return b.String()
}

// parseSince reads an age (90m, 2h, 3d) or a local date or time.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if n, ok := strings.CutSuffix(s, "d"); ok {
		if days, err := strconv.ParseFloat(n, 64); err == nil && days >= 0 {
			return now.Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write an age (90m, 2h, 3d) or a date (2026-11-21, 2026-11-21T08:30)", s)
}

type grantsCmd struct {
	List   grantsListCmd   `cmd:"" help:"List remembered answers." default:"1"`
	Revoke grantsRevokeCmd `cmd:"" help:"Forget remembered answers, so that they are asked again."`
}

type grantsListCmd struct {
	JSON bool `help:"Print one JSON object a line." name:"json"`
}

func (c *grantsListCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	gs, err := spool.OpenGrants(a.paths.Grants)
	if err != nil {
		return err
	}
	list, err := gs.List()
	for _, g := range list {
		if c.JSON {
			if err := a.printJSON(g); err != nil {
				return err
			}
			continue
		}
		scope := "always"
		if g.Choice == spool.Session {
			scope = "session " + g.Session
			if !g.Until.IsZero() {
				scope += ", until " + g.Until.Local().Format("2006-01-02 15:04")
			}
		}
		if err := a.printf("%s  %s\n  command:   %s\n  directory: %s\n  rule:      %s\n  given:     %s by %s\n", g.ID, visible(scope), visible(g.Command), visible(g.Dir), visible(g.Rule), g.At.Local().Format("2006-01-02 15:04"), visible(g.By)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(list) == 0 && !c.JSON {
		a.note("no answers are remembered")
	}
	return nil
}

type grantsRevokeCmd struct {
	IDs []string `arg:"" optional:"" name:"id" complete:"grants list" help:"Which (safeshell grants list)."`
	All bool     `help:"All of them."`
}

func (c *grantsRevokeCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if c.All == (len(c.IDs) > 0) {
		return usageError{errors.New("name what to revoke, or give --all; see `safeshell grants list`")}
	}
	if err := a.mustBeHuman("changing remembered answers"); err != nil {
		return err
	}
	gs, err := spool.OpenGrants(a.paths.Grants)
	if err != nil {
		return err
	}
	ids := c.IDs
	if c.All {
		list, err := gs.List()
		if err != nil {
			front.Complain(a.err, err)
		}
		for _, g := range list {
			ids = append(ids, g.ID)
		}
	}
	for _, id := range ids {
		if err := gs.Revoke(id); err != nil {
			return err
		}
		if err := a.printf("revoked %s\n", visible(id)); err != nil {
			return err
		}
	}
	return nil
}

// actionWord is what became of a command, in a word.
func actionWord(e spool.Entry) string {
	switch e.Action {
	case "asked-allow":
		return "approved"
	case "asked-deny":
		return "refused"
	case "":
		return string(e.Kind)
	}
	return e.Action
}
