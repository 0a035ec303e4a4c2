package monitor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"safeshell/spool"
)

// plain is `watch --plain`: labelled lines out, lines of answers in. It suits
// dumb terminals, screen readers and logs.
type plain struct {
	o       Options
	cs      charset
	att     *attention
	refuse  string // why answers are not taken; empty: they are
	started time.Time

	count int                  // requests shown
	open  map[int]*plainOne    // those that may be answered, by number
	byID  map[string]*plainOne // those in the last scan
	known map[string]bool      // ids ever shown: the journal's word on them is not repeated
	last  string               // last error shown

	// begin runs something that may block; what it returns comes back to the
	// loop and is called there.
	begin func(func() (then func()))
}

// plainOne is a request that was printed.
type plainOne struct {
	n        int
	p        spool.Pending
	shown    time.Time
	reminded bool
	sending  bool // an answer is under way
	done     bool // answered here
}

// typed is a line of input and when it was read.
type typed struct {
	text string
	at   time.Time
	err  error
}

// plainHelp explains the input.
const plainHelp = `Answer with the request's number, your choice and, if you like, a reason:
  7 1            allow request 7 once
  7 2            allow it for this session
  7 3            always allow this command in this directory
  7 4 not today  deny, and tell the agent why
Other lines: list (what waits), help, quit. An answer typed before its request
is shown, or within half a second after, is not taken.`

// runPlain watches line by line until ctx ends or the human quits.
func runPlain(ctx context.Context, o Options) error {
	p := newPlain(o)
	if p.refuse == "" && !isTerminal(o.In) {
		p.refuse = "the input is not a terminal; run `safeshell watch --plain` in one"
	}
	return p.run(ctx)
}

func newPlain(o Options) *plain {
	return &plain{
		o: o, cs: charsetOf(o.Getenv), att: newAttention(o), refuse: o.Refuse, started: o.Now(),
		open: map[int]*plainOne{}, byID: map[string]*plainOne{}, known: map[string]bool{},
	}
}

// run is the loop. Everything that touches the spool runs beside it.
func (p *plain) run(ctx context.Context) error {
	p.print("safeshell watch: requests in " + p.cs.line(p.o.Spool) + " appear here. Keep this running.")
	if p.refuse != "" {
		p.print("Answers are not taken here: " + p.cs.line(p.refuse) + ".")
	} else {
		p.print(plainHelp)
	}
	results := make(chan func())
	p.begin = func(work func() func()) {
		go func() {
			then := work()
			select {
			case results <- then:
			case <-ctx.Done():
			}
		}()
	}
	scanning, dirty := false, false
	var again <-chan time.Time
	scan := func() {
		if scanning {
			dirty = true
			return
		}
		scanning, dirty = true, false
		p.begin(func() func() {
			msg := read(p.o.Source)
			return func() {
				scanning = false
				if dirty {
					again = time.After(scanGap)
				}
				p.scanned(msg)
			}
		})
	}
	scan()
	in := make(chan typed)
	go p.read(ctx, in)
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	changes, warnings := p.o.Source.Changes(), p.o.Source.Warnings()
	for {
		select {
		case <-ctx.Done():
			return nil
		case then := <-results:
			then()
		case <-tick.C:
			p.remind()
			scan()
		case <-again:
			again = nil
			scan()
		case _, ok := <-changes:
			if !ok {
				changes = nil
			}
			scan()
		case s, ok := <-warnings:
			if !ok {
				warnings = nil
				continue
			}
			p.event("Warning: " + p.cs.line(s))
		case line := <-in:
			switch {
			case line.err == nil:
				if p.line(line) {
					return nil
				}
			case p.refuse == "":
				p.print("The input has ended. Requests are still shown.")
			}
		}
	}
}

// read passes on lines with the time at which each was read.
func (p *plain) read(ctx context.Context, out chan<- typed) {
	send := func(t typed) bool {
		select {
		case out <- t:
			return true
		case <-ctx.Done():
			return false
		}
	}
	in := bufio.NewReader(p.o.In)
	for {
		s, err := in.ReadString('\n')
		if s != "" && !send(typed{text: s, at: p.o.Now()}) {
			return
		}
		if err != nil {
			send(typed{err: err})
			return
		}
	}
}

// print writes one line or block.
func (p *plain) print(s string) { fmt.Fprintln(p.o.Out, s) }

// event writes a line with its time.
func (p *plain) event(s string) { p.print("[" + clockTime(p.o.Now()) + "] " + s) }

// scanned prints what is new and what ended.
func (p *plain) scanned(msg scanMsg) {
	text := ""
	if err := errors.Join(msg.errs...); err != nil {
		if text = p.cs.line(err.Error()); text != p.last {
			p.event("Warning: " + text)
		}
	}
	p.last = text
	for _, r := range msg.records {
		switch {
		case r.Note != "":
			p.event("Note: " + p.cs.line(r.Note))
		case !r.At.Before(p.started) && !p.known[r.ID]:
			p.event(p.cs.line(fmt.Sprintf("%s by %s: %s (rule %s)", r.Outcome, r.By, r.Command, r.Rule)))
		}
	}
	if !msg.known {
		return // not known is not gone
	}
	here := map[string]bool{}
	var fresh []spool.Pending
	live := 0
	for _, q := range msg.pending {
		here[q.ID] = true
		if !q.Late {
			live++
		}
		one := p.byID[q.ID]
		switch {
		case one == nil:
			p.count++
			one = &plainOne{n: p.count, p: q}
			p.byID[q.ID], p.open[one.n], p.known[q.ID] = one, one, true
			if !q.Late {
				fresh = append(fresh, q)
			}
		case one.done:
		case q.Late && !one.p.Late:
			p.event(fmt.Sprintf("Request %d: %s", one.n, lateNotice))
		}
		one.p = q
	}
	for _, one := range p.sorted() {
		switch {
		case !here[one.p.ID]:
			p.gone(one)
		case one.shown.IsZero():
			p.print(p.block(one, live))
			one.shown = p.o.Now()
		}
	}
	if len(fresh) > 0 {
		p.call(fresh, live)
	}
}

// sorted are all known requests by number.
func (p *plain) sorted() []*plainOne {
	out := slices.Collect(maps.Values(p.byID))
	slices.SortFunc(out, func(a, b *plainOne) int { return a.n - b.n })
	return out
}

// gone forgets a request that is no longer pending and says what became of it.
func (p *plain) gone(one *plainOne) {
	if one.sending {
		return // the answer's result tells
	}
	delete(p.byID, one.p.ID)
	delete(p.open, one.n)
	if one.done {
		return
	}
	p.begin(func() func() {
		d, ok := p.o.Source.Outcome(one.p.ID)
		return func() {
			switch {
			case !ok:
				p.event(fmt.Sprintf("Request %d is gone: its command ended before an answer.", one.n))
			case d.Verdict == spool.Allowed, d.Verdict == spool.Denied:
				p.event(fmt.Sprintf("Request %d was answered elsewhere: %s.", one.n, p.cs.line(verdictBy(d))))
			default:
				p.event(fmt.Sprintf("Request %d ended: %s.", one.n, p.cs.line(verdictBy(d))))
			}
		}
	})
}

// block is a request as labelled lines. Every line of a command or a text
// stands behind a label or is indented, so none can pass for another label.
func (p *plain) block(one *plainOne, live int) string {
	var b strings.Builder
	q := one.p
	fmt.Fprintf(&b, "\nRequest %d: %s asks for approval\n", one.n, p.cs.line(asker(q.Request)))
	for _, s := range p.cs.warnings(q) {
		fmt.Fprintf(&b, "  Look out: %s\n", s)
	}
	if len(q.Argv) == 0 && strings.Contains(strings.TrimRight(q.Line, "\n"), "\n") {
		lines := p.cs.lines(q.Line)
		fmt.Fprintf(&b, "  Command: a script of %d lines\n", len(lines))
		for i, l := range lines {
			fmt.Fprintf(&b, "    line %d: %s\n", i+1, l)
		}
	} else {
		fmt.Fprintf(&b, "  Command: %s\n", p.cs.command(q.Request))
	}
	now := p.o.Now()
	for _, f := range p.cs.fields(q, now) {
		fmt.Fprintf(&b, "  %s: %s\n", f.label, strings.Join(p.cs.lines(f.text), "\n    "))
	}
	if !q.Late && !q.NotAfter.IsZero() {
		fmt.Fprintf(&b, "  Time left: %s\n", lasted(max(q.NotAfter.Sub(now), 0)))
	}
	if live > 1 {
		fmt.Fprintf(&b, "  Waiting in all: %d\n", live)
	}
	if p.refuse == "" {
		fmt.Fprintf(&b, "  Answer: type %d 1 (once), %d 2 (session), %d 3 (always) or %d 4 (deny)", one.n, one.n, one.n, one.n)
	} else {
		fmt.Fprintf(&b, "  Answer: in another terminal, safeshell watch")
	}
	return b.String()
}

// remind says once when a request's time is nearly over.
func (p *plain) remind() {
	now := p.o.Now()
	for _, one := range p.sorted() {
		left := one.p.NotAfter.Sub(now)
		if !one.p.Late && !one.done && !one.reminded && !one.shown.IsZero() && left > 0 && left <= 30*time.Second &&
			now.Sub(one.shown) > left {
			one.reminded = true
			p.event(fmt.Sprintf("Request %d waits only %s more.", one.n, lasted(left)))
		}
	}
}

// call rings and notifies.
func (p *plain) call(fresh []spool.Pending, live int) {
	if p.att.bell && p.att.terminal && p.o.Getenv("TERM") != "" {
		fmt.Fprint(p.o.Out, "\a")
	}
	if p.att.desktop {
		p.begin(func() func() {
			if _, argv := p.att.compose(fresh[0], live); argv != nil {
				p.att.run(argv, p.att.environ())
			}
			return func() {}
		})
	}
}
