package permit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/script"
	"safeshell/spool"
)

// Rule is the name under which declarations are asked about and journaled.
const Rule = "upfront-permission"

// agentPatience is how long an agent's command may wait for a human before the
// agent gives up on it: below the shortest default of the agents measured.
const agentPatience = 100 * time.Second

// ErrNobody says that no monitor is alive, so nobody was asked.
var ErrNobody = errors.New("no monitor is running")

// Question is what a human is asked about a declaration.
type Question struct {
	Paths    config.Paths
	Approval config.Approval
	Caller   gate.Caller
	Dir      string
	File     string // the script; empty for a bare list of commands
	Blocked  Result
	// Claim is the choice that the caller says its user made; 0: none. A human
	// at the monitor sees it and decides.
	Claim spool.Choice
	// PID is the process that asks, where another one asks for it; 0: this one.
	PID int
	// Stderr gets a word while the question waits.
	Stderr io.Writer
}

// Answer is a human's.
type Answer struct {
	Choice spool.Choice
	By     string // monitor, cli, tty, agent
	Reason string // the human's words
	ID     string // of the request
}

// Ask asks in the monitor, out of the reach of the asking side. Without one it
// returns ErrNobody at once (or after wait_for_monitor_seconds). A human's no is
// an Answer with choice 4; a timeout or an interruption is an error.
func Ask(ctx context.Context, q Question) (Answer, error) {
	s, err := spool.Open(q.Paths.Spool)
	if err != nil {
		return Answer{}, err
	}
	limit := q.Approval.Timeout
	if q.Caller.Context == "ai" {
		limit = min(limit, agentPatience)
	}
	what := q.words()
	r := spool.Request{
		Session: q.Caller.Session, Agent: q.Caller.Agent, Context: string(q.Caller.Context),
		Layer: "permit", PID: q.PID, Dir: q.Dir, Line: q.line(), Rule: Rule, Reason: what,
		Suggest: "once: this run; session: also later ones of this session; always: every script of this project",
	}
	ctx, stop := spool.WithSignals(ctx)
	dec, err := s.Ask(ctx, r, spool.AskOptions{
		Timeout: limit, WaitForMonitor: q.Approval.WaitForMonitor,
		Waiting: func(r spool.Request) {
			if q.Stderr != nil {
				fmt.Fprintf(q.Stderr, "[SafeShell] APPROVAL REQUIRED\nReason: %s\nRule: %s\nRequest: %s\n\nTell the user to answer in `safeshell watch`. Waiting up to %s.\n",
					spool.Visible(what), Rule, r.ID, limit)
			}
			_ = journal(q, spool.Entry{Kind: spool.KindRequest, ID: r.ID, Action: "asked", Reason: what})
		},
	})
	defer spool.Reraise(ctx)
	stop()
	a := Answer{By: dec.By, Reason: dec.Reason, ID: dec.ID}
	switch {
	case err != nil:
		return a, err
	case dec.Verdict == spool.NoMonitor:
		return a, ErrNobody
	case dec.Verdict == spool.TimedOut:
		err = fmt.Errorf("nobody answered within %s; the question stays open for ten minutes: tell the user to answer it in `safeshell watch`, then try again", limit)
	case dec.Verdict == spool.Cancelled:
		err = errors.New("interrupted while waiting for an answer; nothing has run")
	case dec.Verdict == spool.Denied:
		a.Choice = spool.Refuse
	case dec.Verdict == spool.Allowed && dec.Choice >= spool.Once && dec.Choice <= spool.Always:
		a.Choice = dec.Choice
	default:
		a.Choice = spool.Refuse // in doubt
	}
	return a, err
}

// words say what is asked, in one line.
func (q Question) words() string {
	var names []string
	for _, d := range q.Blocked.Permittable() {
		names = append(names, Show(d.Command))
	}
	who := "a script"
	if q.File != "" {
		who = "the script " + Show(q.File)
	}
	s := fmt.Sprintf("%s declares %d command(s) that are not permitted yet: %s", who, len(names), strings.Join(names, ", "))
	if q.Claim != 0 {
		s += fmt.Sprintf(" (the agent says that you chose %d, %s)", q.Claim, q.Claim)
	}
	return s
}

// line is what the answer is bound to: exactly these commands for this file.
func (q Question) line() string {
	words := []string{InitCommand}
	for _, d := range q.Blocked.Permittable() {
		w := d.Command
		if d.Path != "" && strings.Contains(w, "/") {
			w = d.Path
		}
		words = append(words, w)
	}
	line := script.Quote(words)
	if q.File != "" {
		line += "  # " + Show(q.File)
	}
	return line
}

// Apply carries out a choice about what is blocked: it permits for this run, and
// remembers a session's or a lasting answer. The choice 4 permits nothing. The
// error says that the answer holds for this run but could not be kept.
func (s *Set) Apply(blocked Result, a Answer) error {
	if a.Choice < spool.Once || a.Choice > spool.Always {
		return nil
	}
	var keys []string
	for _, d := range blocked.Permittable() {
		keys = append(keys, d.Key)
	}
	s.Permit(keys...)
	scope := map[spool.Choice]Scope{spool.Session: Session, spool.Always: Always}[a.Choice]
	if scope == "" || len(keys) == 0 {
		return nil
	}
	r, err := OpenRemembered(s.env.Paths, s.project)
	if err == nil {
		err = r.Add(scope, s.env.Session, a.By, keys)
	}
	if err != nil {
		return fmt.Errorf("the answer holds for this run, but could not be kept: %w", err)
	}
	return nil
}

// Journal writes what became of a declaration: action is allow, asked-allow,
// asked-deny, deny or agent-chose.
func (q Question) Journal(action string, a Answer) error {
	kind := spool.KindDecision
	return journal(q, spool.Entry{Kind: kind, ID: a.ID, Action: action, Choice: a.Choice, By: a.By, Reason: cmpOr(a.Reason, q.words())})
}

func journal(q Question, e spool.Entry) error {
	e.Rule, e.Command, e.Dir, e.Layer = Rule, q.line(), q.Dir, "permit"
	e.Context, e.Agent, e.Session = string(q.Caller.Context), q.Caller.Agent, q.Caller.Session
	return spool.OpenJournal(q.Paths.Journal).Append(e)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
