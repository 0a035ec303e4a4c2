package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"safeshell/eval"
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
	refuse := a.g.NotWatcher()
	if refuse != "" && !c.Plain {
		return a.mustNot(refuse, "the monitor")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	seen := newAudience(os.Stdin, os.Stdout)
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go seen.end(leave)
	guard := monitor.Guard{MayNotAnswer: a.g.MayNotAnswer, Present: seen.present}
	if a.g.Caller().Context == eval.AI {
		guard.Present = func() bool { return false } // it shows, and answers nothing
	}
	live, err := guard.Open(ctx, s, spool.OpenJournal(a.paths.Journal))
	if err != nil {
		return err
	}
	defer func() { _ = live.Close() }()
	diag := a.diagnostics(io.Discard)
	diag.Info("Monitor opened", "spool", s.Dir(), "version", Version)
	defer diag.Info("Monitor closed")
	go func() {
		a.sweepOld()
		for ; ctx.Err() == nil; time.Sleep(time.Hour) {
			if trash.EvictDue(a.trashEnv()) {
				a.cleanTrash()
			}
		}
	}()
	return monitor.Run(ctx, monitor.Options{
		Source: live, In: os.Stdin, Out: os.Stdout, Getenv: a.getenv, Notify: a.g.Config().Approval.Notify,
		Plain: c.Plain, Refuse: refuse, Version: Version, Spool: s.Dir(), LogLevel: a.g.Config().LogLevel,
	})
}

// cleanTrash deletes what the trash has kept long enough, and says so in the
// journal, which the monitor shows.
func (a *app) cleanTrash() {
	env := a.trashEnv()
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
