package monitor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"safeshell/spool"
)

const (
	pastEntries  = 500 // of the journal are read at the start
	outcomeTries = 5   // looks for how a request ended
	outcomeEvery = 300 * time.Millisecond
)

// Live is the Source over the real spool and journal. While it is open,
// requesters see a monitor. It is safe for concurrent use.
type Live struct {
	sp       *spool.Spool
	mon      *spool.Monitor
	journal  *spool.Journal
	guard    Guard
	started  time.Time
	stop     context.CancelFunc
	changes  chan struct{}
	warnings chan string

	mu       sync.Mutex
	requests map[string]spool.Pending // as last listed: what an answer's journal line tells
	answered map[string]bool          // here
	records  []Record
	past     map[string]spool.Decision // of the last look at ended requests
	looked   time.Time
	debug    debugTail
}

// Guard says who sits at a monitor. The zero value trusts whoever does.
type Guard struct {
	// Present reports whether there is somebody to answer; requesters see the
	// monitor only then. It is asked each second.
	Present func() bool
	// MayNotAnswer says why an answer to a request is not taken; "" if it is.
	MayNotAnswer func(spool.Pending) string
}

// Open begins to watch the spool and to follow the journal, in which it says
// so. It may take a second (see spool.Watch) and fails where requesters could
// not see a monitor. Close it after Run.
func Open(ctx context.Context, sp *spool.Spool, journal *spool.Journal) (*Live, error) {
	return Guard{}.Open(ctx, sp, journal)
}

// Open is Open for whom g describes.
func (g Guard) Open(ctx context.Context, sp *spool.Spool, journal *spool.Journal) (*Live, error) {
	mon, err := sp.WatchWhile(ctx, g.Present)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	l := &Live{
		sp: sp, mon: mon, journal: journal, started: time.Now(), stop: stop,
		changes: make(chan struct{}, 1), warnings: make(chan string, 16),
		requests: map[string]spool.Pending{}, answered: map[string]bool{}, guard: g,
		debug: debugTail{path: spool.DebugPath(journal.Path())},
	}
	go l.forward(ctx)
	go l.follow(ctx)
	l.note("joined")
	return l, nil
}

// Close ends watching.
func (l *Live) Close() error {
	l.stop()
	l.note("left")
	return l.mon.Close()
}

// note tells the other monitors, through the journal, that this one comes or
// goes.
func (l *Live) note(what string) {
	l.append(spool.Entry{Kind: spool.KindNote, Action: "monitor-" + what, By: spool.ByMonitor})
}

// append journals; that this failed changes no decision and is said.
func (l *Live) append(e spool.Entry) {
	if err := l.journal.Append(e); err != nil {
		l.warn(err.Error())
	}
}

func (l *Live) warn(s string) {
	select {
	case l.warnings <- s:
	default:
	}
}

func (l *Live) hint() {
	select {
	case l.changes <- struct{}{}:
	default:
	}
}

// forward passes on what the spool's monitor reports.
func (l *Live) forward(ctx context.Context) {
	changes, warnings := l.mon.Changes(), l.mon.Warnings()
	for changes != nil || warnings != nil {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-changes:
			if !ok {
				changes = nil
			}
			l.hint()
		case s, ok := <-warnings:
			if ok {
				l.warn(s)
			} else {
				warnings = nil
			}
		}
	}
}

// follow collects the journal's records.
func (l *Live) follow(ctx context.Context) {
	for e := range l.journal.Tail(ctx, spool.ReadOptions{Limit: pastEntries}) {
		l.mu.Lock()
		if r, ok := l.record(e); ok {
			l.records = append(l.records, r)
			if n := len(l.records) - keepLines; n > 0 {
				l.records = slices.Delete(l.records, 0, n)
			}
		}
		l.mu.Unlock()
		l.hint()
	}
}

// Pending implements Source.
func (l *Live) Pending() ([]spool.Pending, error) {
	ps, err := l.sp.Pending()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		clear(l.requests)
	}
	for _, p := range ps {
		l.requests[p.ID] = p
	}
	for _, id := range l.sp.Newer() {
		if !l.answered[id] { // said once
			l.answered[id] = true
			l.warn(fmt.Sprintf("request %s is of a newer safeshell and cannot be shown: update this one, then start safeshell watch again", id))
		}
	}
	return ps, err
}

// Answer implements Source. Only what was decided is journaled.
func (l *Live) Answer(id string, c spool.Choice, reason string) (spool.Decision, error) {
	l.mu.Lock()
	r := l.requests[id]
	l.mu.Unlock()
	if l.guard.MayNotAnswer != nil && r.ID != "" {
		if why := l.guard.MayNotAnswer(r); why != "" {
			return spool.Decision{}, fmt.Errorf("the answer is not taken: %s", why)
		}
	}
	l.mu.Lock()
	l.answered[id] = true // before its asker journals it
	l.mu.Unlock()
	d, err := l.sp.Answer(id, c, reason, spool.ByMonitor)
	if err != nil {
		l.mu.Lock()
		delete(l.answered, id)
		l.mu.Unlock()
		return d, err
	}
	e := spool.Entry{
		Kind: spool.KindAnswer, ID: id, Time: d.At, Action: "asked-allow", Rule: r.Rule, Command: charset{}.text(r.Request),
		Dir: r.Dir, Layer: r.Layer, Context: r.Context, Agent: r.Agent, Session: r.Session,
		Choice: c, By: d.By, Reason: d.Reason,
	}
	if d.Verdict != spool.Allowed {
		e.Action = "asked-deny"
	}
	if !r.Created.IsZero() {
		e.Waited = max(d.At.Sub(r.Created).Seconds(), 0)
	}
	if d.Late {
		e.Notes = []string{lateNote}
	}
	l.append(e)
	return d, nil
}

// Outcome implements Source. A decision is made a moment before its request is
// retired, so it looks more than once.
func (l *Live) Outcome(id string) (spool.Decision, bool) {
	for i := range outcomeTries {
		if i > 0 {
			time.Sleep(outcomeEvery)
		}
		if d, ok := l.lookup(id); ok {
			return d, true
		}
	}
	return spool.Decision{}, false
}

// lookup finds an ended request; many at once share one look.
func (l *Live) lookup(id string) (spool.Decision, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d, ok := l.past[id]; ok {
		return d, true
	}
	if time.Since(l.looked) < outcomeEvery {
		return spool.Decision{}, false
	}
	ended, err := l.sp.History()
	l.looked = time.Now()
	if err != nil {
		return spool.Decision{}, false
	}
	l.past = make(map[string]spool.Decision, len(ended))
	for _, p := range ended {
		l.past[p.ID] = *p.Decision
	}
	d, ok := l.past[id]
	return d, ok
}

// Records implements Source.
func (l *Live) Records() ([]Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := append(l.records, l.debug.read()...)
	l.records = nil
	return out, nil
}

// Changes implements Source.
func (l *Live) Changes() <-chan struct{} { return l.changes }

// Warnings implements Source.
func (l *Live) Warnings() <-chan string { return l.warnings }

// record is a journal entry as it is shown; false for those that are not.
func (l *Live) record(e spool.Entry) (Record, bool) {
	r := Record{
		ID: e.ID, At: e.Time, Command: e.Command, Dir: e.Dir, Rule: e.Rule, Agent: e.Agent, By: e.By, Reason: e.Reason,
		Waited: time.Duration(e.Waited * float64(time.Second)),
	}
	switch e.Kind {
	case spool.KindDecision, spool.KindAnswer:
		if e.Action == "allow" && e.Rule == "" {
			return r, false // nothing had to be decided
		}
		r.Outcome, r.Verdict = actionWords(e.Action, e.Choice)
		if r.By == "" {
			r.By = "rule"
		}
		if l.answered[e.ID] && e.By == spool.ByMonitor {
			r.By = "you"
		}
		if e.Kind == spool.KindAnswer {
			if slices.Contains(e.Notes, lateNote) {
				r.ID, r.Outcome = "", strings.Fields(r.Outcome)[0]+" later" // its own line
			}
		}
		return r, true
	case spool.KindRequest:
		return r, false // seen in the spool
	}
	if e.Time.Before(l.started) || e.PID == os.Getpid() && strings.HasPrefix(e.Action, "monitor-") {
		return r, false
	}
	r.Note = noteWords(e)
	return r, true
}

// lateNote marks the journal's line of an answer that serves the next try.
const lateNote = spool.LateNote

// actionWords says in few words what a journaled action means.
func actionWords(action string, c spool.Choice) (string, spool.Verdict) {
	switch action {
	case "allow":
		return "allowed", spool.Allowed
	case "redirect":
		return "redirected", spool.Allowed
	case "deny":
		return "denied", spool.Denied
	case "asked-allow":
		if c == spool.Session || c == spool.Always {
			return "allowed " + c.String(), spool.Allowed
		}
		return "allowed once", spool.Allowed
	case "asked-deny":
		return "denied", spool.Denied
	case "timeout":
		return "gave up", spool.TimedOut
	case "nomonitor":
		return "no monitor", spool.NoMonitor
	case "fail-open":
		return "ran unasked", spool.NoMonitor
	}
	return action, spool.Cancelled
}

// noteWords is a line of the log for what is no decision.
func noteWords(e spool.Entry) string {
	switch e.Action {
	case "monitor-joined":
		return fmt.Sprintf("another monitor joined (process %d)", e.PID)
	case "monitor-left":
		return fmt.Sprintf("another monitor left (process %d)", e.PID)
	}
	var parts []string
	for _, s := range append([]string{string(e.Kind), e.Action, e.Command}, e.Notes...) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}
