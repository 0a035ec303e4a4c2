package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"safeshell/gate"
	"safeshell/script"
	"safeshell/spool"
)

type pendingCmd struct {
	JSON bool `help:"Print one JSON object a line." name:"json"`
}

func (c *pendingCmd) Run(a *app) error {
	s, err := a.spool()
	if err != nil {
		return err
	}
	list, err := s.Pending()
	if err != nil {
		return err
	}
	if c.JSON {
		for _, p := range list {
			p.Nonce = "" // an answer needs it, and nobody who reads this does
			if err := a.printJSON(p); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.note("nothing waits for an answer")
		return nil
	}
	for _, p := range list {
		state := "waits"
		if p.Late {
			state = "gave up waiting; an answer serves its next try"
		} else if left := time.Until(p.NotAfter); left > 0 {
			state = fmt.Sprintf("waits, %s left", left.Round(time.Second))
		}
		who := p.Agent
		if who == "" {
			who = p.Context
		}
		if err := a.printf("%s  %s\n  command:   %s\n  directory: %s\n  asked by:  %s (%s)\n  rule:      %s\n  why:       %s\n", p.ID, state,
			visible(requestText(p.Request)), visible(p.Dir), visible(who), p.Layer, visible(p.Rule), visible(p.Reason)); err != nil {
			return err
		}
		if out := p.LookOut(nil); len(out) > 0 {
			if err := a.printf("  look out:  %s\n", strings.Join(out, "; ")); err != nil {
				return err
			}
		}
		if p.Suggest != "" {
			if err := a.printf("  instead:   %s\n", visible(p.Suggest)); err != nil {
				return err
			}
		}
	}
	return nil
}

func requestText(r spool.Request) string {
	if len(r.Argv) > 0 {
		return script.Quote(r.Argv)
	}
	return r.Line
}

type approveCmd struct {
	ID      string `arg:"" complete:"pending" help:"The request (safeshell pending); its first characters suffice."`
	Session bool   `help:"Also for the rest of the session."`
	Always  bool   `help:"Also for ever, for exactly this command in this directory."`
	Reason  string `help:"A word for the journal."`
}

func (c *approveCmd) Run(a *app) error {
	choice := spool.Once
	switch {
	case c.Session && c.Always:
		return usageError{errors.New("--session and --always exclude each other")}
	case c.Session:
		choice = spool.Session
	case c.Always:
		choice = spool.Always
	}
	return a.answer(c.ID, choice, c.Reason)
}

type denyCmd struct {
	ID     string `arg:"" complete:"pending" help:"The request (safeshell pending); its first characters suffice."`
	Reason string `help:"Why, for the agent: it is told not to retry and what you say here."`
}

func (c *denyCmd) Run(a *app) error { return a.answer(c.ID, spool.Refuse, c.Reason) }

func (a *app) answer(id string, choice spool.Choice, reason string) error {
	s, err := a.spool()
	if err != nil {
		return err
	}
	if err := a.mustBeHuman("answering a request"); err != nil {
		return err
	}
	r, err := findPending(s, id)
	if err != nil {
		return err
	}
	if why := a.g.SharesAncestry(r.PID, r.StartTicks, r.BootID); why != "" && !r.Late {
		fmt.Fprint(a.err, gate.Blocked(fmt.Sprintf("the asking side cannot answer itself: %s. Answer in `safeshell watch` or in a terminal of your own.", why), "self-protection-answer"))
		return exitError(126)
	}
	dec, err := s.Answer(r.ID, choice, reason, "cli")
	switch {
	case errors.Is(err, spool.ErrDecided):
		return fmt.Errorf("%s was already decided: %s by %s", r.ID, dec.Verdict, visible(dec.By))
	case errors.Is(err, spool.ErrGone):
		return fmt.Errorf("%s is gone: its command was interrupted or has given up", r.ID)
	case err != nil:
		return err
	}
	g := a.g.Journal(spool.Entry{
		Time: time.Now(), Kind: spool.KindAnswer, ID: r.ID, Action: answered(choice), Choice: choice, Rule: r.Rule,
		Command: requestText(r.Request), Dir: r.Dir, Layer: r.Layer, Context: r.Context, Agent: r.Agent,
		Session: r.Session, PID: os.Getpid(), By: "cli", Reason: reason,
	})
	if g != nil {
		a.note("safeshell: the answer stands, but the journal could not be written: %v", g)
	}
	word := map[spool.Choice]string{spool.Once: "approved once", spool.Session: "approved for the session", spool.Always: "approved always", spool.Refuse: "denied"}[choice]
	if r.Late {
		word += ", for its next try within ten minutes"
	}
	return a.printf("%s: %s\n", word, visible(requestText(r.Request)))
}

// findPending returns the one waiting request whose id starts with prefix.
func findPending(s *spool.Spool, prefix string) (spool.Pending, error) {
	list, err := s.Pending()
	if err != nil {
		return spool.Pending{}, err
	}
	var found []spool.Pending
	for _, p := range list {
		if p.ID == prefix {
			return p, nil
		}
		if prefix != "" && strings.HasPrefix(p.ID, prefix) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return spool.Pending{}, fmt.Errorf("no request %q waits for an answer; see `safeshell pending`", prefix)
	case 1:
		return found[0], nil
	}
	return spool.Pending{}, fmt.Errorf("%d requests start with %q; give more characters (safeshell pending)", len(found), prefix)
}

func (a *app) spool() (*spool.Spool, error) {
	if err := a.open(); err != nil {
		return nil, err
	}
	return spool.Open(a.paths.Spool)
}

// answered is an answer's action in the journal.
func answered(c spool.Choice) string {
	if c == spool.Refuse {
		return "asked-deny"
	}
	return "asked-allow"
}
