package gate

import (
	"fmt"
	"os"
	"time"

	"safeshell/eval"
	"safeshell/spool"
)

// entry is what the gate knows of a decision when it journals it.
type entry struct {
	kind     spool.Kind // decision when empty
	id       string
	action   string
	decision eval.Decision
	rule     string
	source   string
	reason   string
	choice   spool.Choice
	by       string
	start    time.Time
}

// journal writes one line. A journal that cannot be written never stops a
// command; doctor and status say so.
func (g *Gate) journal(req Request, e entry) {
	if req.Layer == Check {
		return
	}
	now := g.env.Now()
	if e.kind == "" {
		e.kind = spool.KindDecision
	}
	if e.rule == "" {
		e.rule = e.decision.Rule
	}
	if e.source == "" {
		e.source = e.decision.Source
	}
	if e.reason == "" && e.choice == 0 {
		e.reason = e.decision.Message
	}
	je := spool.Entry{
		Time: now, Kind: e.kind, ID: e.id, Action: e.action, Rule: e.rule, Source: e.source,
		Command: displayOf(req), Dir: req.Dir, Layer: string(req.Layer),
		Context: string(req.Context), Agent: req.Agent, Session: req.Session,
		PID: os.Getpid(), By: e.by, Reason: e.reason,
		Waited: now.Sub(e.start).Seconds(), Notes: e.decision.Notes, Choice: e.choice,
	}
	if je.Context == "" && e.action != "allow" {
		_ = g.caller.Context()
	}
	if je.Context == "" {
		je.Context, je.Agent, je.Session = g.caller.cheap()
	}
	_ = spool.OpenJournal(g.env.Paths.Journal).Append(je)
}

// trashing returns Verdict.Trashing.
func (g *Gate) trashing(req Request, e entry) func(refused string) {
	done := false
	return func(refused string) {
		if done {
			return
		}
		if done = true; refused != "" {
			e.action, e.reason = "deny", refused
		}
		g.journal(req, e)
	}
}

// JournalTrash notes which group of the trash the last redirected rm made, so
// that it can be found again.
func (g *Gate) JournalTrash(group string, n int) {
	if n == 0 {
		return
	}
	g.Debug("DEBUG", "Trash: %d put there, group %s", n, group)
	_ = spool.OpenJournal(g.env.Paths.Journal).Append(spool.Entry{
		Time: g.env.Now(), Kind: spool.KindTrash, Action: "trashed", PID: os.Getpid(),
		Notes: []string{fmt.Sprintf("%d to the trash; back with: safeshell trash restore --group %s", n, group)},
	})
}
