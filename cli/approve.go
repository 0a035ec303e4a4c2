package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"safeshell/gate"
	"safeshell/script"
	"safeshell/shims"
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
	a.sayNewer(s)
	short := shortIDs(list)
	if c.JSON {
		for i, p := range list {
			p.Nonce = "" // an answer needs it, and nobody who reads this does
			if err := a.printJSON(struct {
				Short string `json:"short"`
				spool.Pending
			}{short[i], p}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		if len(s.Newer()) == 0 {
			a.note("nothing waits for an answer")
		}
		return nil
	}
	for i, p := range list {
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
		if err := a.printf("%s  %s\n%s", short[i], state, pendingText(p, who)); err != nil {
			return err
		}
	}
	return nil
}

// pendingText says what a request asks about: every rule, with its part.
func pendingText(p spool.Pending, who string) string {
	var b strings.Builder
	add := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", label, visible(text))
		}
	}
	add("command:", requestText(p.Request))
	add("directory:", p.Dir)
	add("asked by:", who+" ("+p.Layer+")")
	parts := p.Shown()
	for i, q := range parts {
		if len(parts) > 1 {
			add(fmt.Sprintf("part %d:", i+1), cmp.Or(q.What(), "the command as a whole"))
		}
		add("rule:", q.Rule)
		add("why:", q.Reason)
		for l := range strings.Lines(q.Loss) {
			add("loses:", strings.TrimSpace(l))
		}
		add("instead:", q.Suggest)
	}
	add("look out:", strings.Join(p.LookOut(nil), "; "))
	return b.String()
}

func requestText(r spool.Request) string {
	if len(r.Argv) > 0 {
		return script.Quote(r.Argv)
	}
	return r.Line
}

type approveCmd struct {
	ID      string `arg:"" optional:"" complete:"pending" help:"The request (safeshell pending); not needed where only one waits."`
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
	return a.answer("approve", c.ID, choice, c.Reason)
}

type denyCmd struct {
	ID     string `arg:"" optional:"" complete:"pending" help:"The request (safeshell pending); not needed where only one waits."`
	Reason string `help:"Why, for the agent: it is told not to retry and what you say here."`
}

func (c *denyCmd) Run(a *app) error { return a.answer("deny", c.ID, spool.Refuse, c.Reason) }

func (a *app) answer(verb, id string, choice spool.Choice, reason string) error {
	if err := a.open(); err != nil {
		return err
	}
	if _, err := os.Lstat(a.paths.Spool); id == "" && errors.Is(err, os.ErrNotExist) {
		return errNothingWaits
	}
	s, err := a.spool()
	if err != nil {
		return err
	}
	list, err := s.Pending()
	if err != nil {
		return err
	}
	a.sayNewer(s)
	r, unclear := a.choose(list, verb, id)
	if unclear != nil && id == "" { // what waits is no secret
		return unclear
	}
	if why := a.g.MayNotAnswer(r); why != "" {
		fmt.Fprint(a.err, gate.Blocked(fmt.Sprintf("the asking side cannot answer itself: %s. Answer in `safeshell watch` or in a terminal of your own.", why), "self-protection-answer"))
		return exitError(126)
	}
	if unclear != nil {
		return unclear
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
	var notes []string
	if r.Late {
		notes = []string{spool.LateNote}
	}
	g := a.g.Journal(spool.Entry{
		Time: time.Now(), Kind: spool.KindAnswer, ID: r.ID, Action: answered(choice), Choice: choice, Rule: r.Rule,
		Command: requestText(r.Request), Dir: r.Dir, Layer: r.Layer, Context: r.Context, Agent: r.Agent,
		Session: r.Session, PID: os.Getpid(), By: "cli", Reason: reason, Notes: notes,
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

// sayNewer names what waits and cannot be answered by this version.
func (a *app) sayNewer(s *spool.Spool) {
	for _, id := range s.Newer() {
		a.note("safeshell: request %s is of a newer safeshell; this one (%s, %s) can neither show nor answer it: update it, or use the one that asks", id, Version, self())
	}
}

// errNothingWaits: there is no request that could have been meant.
var errNothingWaits = usageError{errors.New("nothing waits for an answer")}

// choose returns the request that id means: its first or last characters, as few
// as tell it from the others; without an id the only one that waits.
func (a *app) choose(list []spool.Pending, verb, id string) (spool.Pending, error) {
	var found, live []spool.Pending
	for _, p := range list {
		if p.ID == id {
			return p, nil
		}
		if strings.HasPrefix(p.ID, id) || strings.HasSuffix(p.ID, id) {
			found = append(found, p)
			if !p.Late {
				live = append(live, p)
			}
		}
	}
	if id == "" && len(live) == 1 {
		return live[0], nil
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && id == "":
		return spool.Pending{}, errNothingWaits
	case len(found) == 0:
		return spool.Pending{}, fmt.Errorf("no request %q waits for an answer; see `safeshell pending`", id)
	case id == "":
		a.note("safeshell: %d requests wait for an answer; say which:", len(found))
	default:
		a.note("safeshell: %d requests begin or end with %q; say which:", len(found), id)
	}
	short := shortIDs(list)
	for i, p := range list {
		if slices.ContainsFunc(found, func(f spool.Pending) bool { return f.ID == p.ID }) {
			a.note("  safeshell %s %s   # %s", verb, short[i], requestText(p.Request))
		}
	}
	return spool.Pending{}, exitError(shims.CodeUsage)
}

// shortIDs are the ends of the requests' ids, which are random (they begin with
// the time), as long as it takes to tell each from the others.
func shortIDs(list []spool.Pending) []string {
	n := spool.ShortID
	same := func() bool {
		seen := map[string]bool{}
		for _, p := range list {
			end := p.ID[max(len(p.ID)-n, 0):]
			if seen[end] {
				return true
			}
			seen[end] = true
		}
		return false
	}
	for n < 26 && same() {
		n++
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.ID[max(len(p.ID)-n, 0):]
	}
	return out
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
