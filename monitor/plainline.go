package monitor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"safeshell/spool"
)

// line acts on one line of input; true means quit. A line that was read before
// its request was shown, or less than half a second after, was not meant for
// it and is not taken.
func (p *plain) line(t typed) (quit bool) {
	words := strings.Fields(t.text)
	if len(words) == 0 {
		return false
	}
	switch strings.ToLower(words[0]) {
	case "quit", "q", "exit":
		return true
	case "help", "h", "?":
		p.print(plainHelp)
		return false
	case "list", "l":
		p.list()
		return false
	}
	if p.refuse != "" {
		p.print("Not taken: " + p.cs.line(p.refuse) + ".")
		return false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(words[0], "#"), ":"))
	if err != nil {
		p.print("Not understood: " + p.cs.cut(p.cs.line(strings.TrimSpace(t.text)), 60) + ". Type help for what can be typed.")
		return false
	}
	one := p.open[n]
	switch {
	case one == nil && n > 0 && n <= p.count:
		p.print(fmt.Sprintf("Request %d is no longer open. Type list for those that are.", n))
		return false
	case one == nil || one.shown.IsZero():
		p.print(fmt.Sprintf("There is no request %d. Type list for those that wait.", n))
		return false
	case t.at.Before(one.shown.Add(quiet)):
		p.print(fmt.Sprintf("Not taken: that line was typed before request %d could be read. Type it again.", n))
		return false
	case one.sending:
		p.print(fmt.Sprintf("Request %d: your answer is still on its way.", n))
		return false
	}
	c, ok := spool.Choice(0), false
	if len(words) > 1 {
		c, ok = parseChoice(words[1])
	}
	if !ok {
		p.print(fmt.Sprintf("Request %d needs a choice: %d 1 once, %d 2 session, %d 3 always, %d 4 deny.", n, n, n, n, n))
		return false
	}
	reason := strings.Join(words[2:], " ")
	if r := []rune(reason); len(r) > maxReason {
		p.print(fmt.Sprintf("Not taken: the reason is longer than %d characters.", maxReason))
		return false
	}
	reason = charset{}.line(reason)
	one.sending = true
	p.begin(func() func() {
		d, err := p.o.Source.Answer(one.p.ID, c, reason)
		return func() { p.answered(one, c, d, err) }
	})
	return false
}

// parseChoice reads a choice by number or name.
func parseChoice(s string) (spool.Choice, bool) {
	s = strings.ToLower(s)
	for _, c := range choices {
		if s == c.String() || s == strconv.Itoa(int(c)) {
			return c, true
		}
	}
	return 0, false
}

// answered says what the spool said to an answer.
func (p *plain) answered(one *plainOne, c spool.Choice, d spool.Decision, err error) {
	one.sending = false
	v := spool.Allowed
	if c == spool.Refuse {
		v = spool.Denied
	}
	switch {
	case err == nil:
		s := outcome(v, c)
		if d.Late {
			s += ", for its next try"
		}
		p.event(fmt.Sprintf("Request %d: you %s.", one.n, s))
	case errors.Is(err, spool.ErrDecided) && d.Verdict != "":
		p.event(fmt.Sprintf("Request %d was answered elsewhere: %s.", one.n, p.cs.line(verdictBy(d))))
	case errors.Is(err, spool.ErrDecided):
		p.event(fmt.Sprintf("Request %d was answered elsewhere before you.", one.n))
	case errors.Is(err, spool.ErrGone):
		p.event(fmt.Sprintf("Request %d is gone: its command ended before your answer.", one.n))
	default:
		p.event(fmt.Sprintf("Request %d: nothing was decided: %s. Answer again.", one.n, p.cs.line(cause(err))))
		return
	}
	one.done = true
	delete(p.open, one.n)
}

// list prints one line for each open request.
func (p *plain) list() {
	any := false
	for _, one := range p.sorted() {
		if one.done || one.shown.IsZero() {
			continue
		}
		any = true
		state := "waits"
		switch {
		case one.p.Late:
			state = "gave up, may still be answered"
		case !one.p.NotAfter.IsZero():
			state = lasted(max(one.p.NotAfter.Sub(p.o.Now()), 0)) + " left"
		}
		p.print(fmt.Sprintf("Request %d, %s: %s", one.n, state, p.cs.brief(one.p.Request)))
	}
	if !any {
		p.print("Nothing waits.")
	}
}
