package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"safeshell/monitor"
	"safeshell/spool"
)

type watchCmd struct {
	Plain bool `help:"Lines instead of panes: for dumb terminals, screen readers and logs."`
}

func (c *watchCmd) Run(a *app) error {
	s, err := a.spool()
	if err != nil {
		return err
	}
	if err := a.makeHome(); err != nil {
		return err
	}
	refuse := a.g.NotHuman()
	if refuse != "" && !c.Plain {
		return a.mustBeHuman("the monitor")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	live, err := monitor.Open(ctx, s, spool.OpenJournal(a.paths.Journal))
	if err != nil {
		return err
	}
	defer live.Close()
	return monitor.Run(ctx, monitor.Options{
		Source: live, In: os.Stdin, Out: os.Stdout, Getenv: a.getenv, Notify: a.g.Config().Approval.Notify,
		Plain: c.Plain, Refuse: refuse, Version: Version, Spool: s.Dir(),
	})
}
