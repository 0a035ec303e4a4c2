package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"safeshell/monitor"
	"safeshell/spool"
	"safeshell/trash"
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
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	live, err := monitor.Open(ctx, s, spool.OpenJournal(a.paths.Journal))
	if err != nil {
		return err
	}
	defer func() { _ = live.Close() }()
	go func() {
		a.sweepOld()
		a.cleanTrash()
	}()
	return monitor.Run(ctx, monitor.Options{
		Source: live, In: os.Stdin, Out: os.Stdout, Getenv: a.getenv, Notify: a.g.Config().Approval.Notify,
		Plain: c.Plain, Refuse: refuse, Version: Version, Spool: s.Dir(),
	})
}

// cleanTrash deletes what the trash has kept long enough, at most once a day,
// and says so in the journal, which the monitor shows.
func (a *app) cleanTrash() {
	env := a.trashEnv()
	if !trash.EvictDue(env) {
		return
	}
	c := a.g.Config().Trash
	ev := trash.Evict(env, trash.Config{KeepDays: c.KeepDays, MaxBytes: c.MaxBytes})
	var notes []string
	for what, list := range map[string][]trash.Outcome{"kept its time": ev.Expired, "made room": ev.Quota} {
		for _, o := range list {
			if o.Err == nil {
				notes = append(notes, what+": "+trash.Show(o.Item.Path))
			}
		}
	}
	for _, err := range ev.Errs {
		notes = append(notes, err.Error())
	}
	if ev.Over > 0 {
		notes = append(notes, "the trash holds "+bytesText(ev.Over)+" more than max_bytes allows, all of it younger than a day; to choose: safeshell trash list --size")
	}
	if len(notes) > 0 {
		_ = a.g.Journal(spool.Entry{Time: time.Now(), Kind: spool.KindTrash, Action: "trash-cleaned", Notes: notes})
	}
}
