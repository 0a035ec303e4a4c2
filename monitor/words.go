package monitor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"safeshell/spool"
)

// choices are the answers in the order of their numbers.
var choices = []spool.Choice{spool.Once, spool.Session, spool.Always, spool.Refuse}

// label says what a choice does, for the human who makes it.
func label(c spool.Choice, late bool) string {
	switch c {
	case spool.Once:
		if late {
			return "allow its next try, once"
		}
		return "allow once"
	case spool.Session:
		return "allow for this session"
	case spool.Always:
		return "always allow this command here"
	}
	if late {
		return "deny its next try"
	}
	return "deny"
}

// outcome says in words what a verdict means: "allowed once", "denied".
func outcome(v spool.Verdict, c spool.Choice) string {
	switch v {
	case spool.Allowed:
		switch c {
		case spool.Once:
			return "allowed once"
		case spool.Session:
			return "allowed for the session"
		case spool.Always:
			return "always allowed"
		}
		return "allowed"
	case spool.Denied:
		return "denied"
	case spool.TimedOut:
		return "gave up"
	case spool.NoMonitor:
		return "no monitor"
	case spool.Cancelled:
		return "cancelled"
	}
	return "ended"
}

// who says who made a decision that was not made here.
func who(d spool.Decision) string {
	switch d.By {
	case spool.ByMonitor, spool.ByLate, "":
		if n := len(d.MonitorID); n > 0 {
			return "monitor " + d.MonitorID[max(n-4, 0):] // its random end
		}
		return "another monitor"
	case spool.ByCLI:
		return "safeshell approve or deny"
	case spool.ByTTY:
		return "the person at its terminal"
	case spool.ByRequester:
		return "the asking side"
	}
	return d.By
}

// byWords says who decided. What ended without an answer nobody did.
func byWords(by string) string {
	switch by {
	case spool.ByRequester:
		return "nobody"
	case spool.ByCLI:
		return "approve or deny"
	case spool.ByTTY:
		return "the terminal"
	case spool.ByLate:
		return "a late answer"
	}
	return by
}

// verdictBy puts outcome, author and reason into one phrase: "denied by
// monitor 3f2a (not on Fridays)".
func verdictBy(d spool.Decision) string {
	s := outcome(d.Verdict, d.Choice)
	switch d.Verdict {
	case spool.Allowed, spool.Denied:
		s += " by " + who(d)
	}
	if d.Reason != "" {
		s += " (" + d.Reason + ")"
	}
	return s
}

// asker names who asks.
func asker(r spool.Request) string {
	switch {
	case r.Agent != "":
		return r.Agent
	case r.Context == "human":
		return "a person"
	}
	return "an agent"
}

// command is a request's command as one line.
func (c charset) command(r spool.Request) string {
	if len(r.Argv) == 0 {
		return strings.Join(c.lines(r.Line), " <LF> ")
	}
	return c.text(r)
}

// text is a request's command as text: the script as it is, or the words.
func (c charset) text(r spool.Request) string {
	if len(r.Argv) == 0 {
		return r.Line
	}
	return strings.Join(c.words(r.Argv), " ")
}

// briefLength bounds a command where it is one of many, in bytes before
// anything is spelled out.
const briefLength = 400

// brief is a command as one line of bounded length, its end marked if more
// follows. What is approved is shown by commandLines instead, whole.
func (c charset) brief(r spool.Request) string {
	more := len(r.Line) > briefLength
	if more {
		r.Line = strings.ToValidUTF8(r.Line[:briefLength], "")
	}
	n := 0
	for i, a := range r.Argv {
		if n += len(a); n > briefLength {
			r.Argv = slices.Clone(r.Argv[:i+1])
			r.Argv[i] = strings.ToValidUTF8(a[:len(a)-(n-briefLength)], "")
			more = true
			break
		}
	}
	s := c.command(r)
	if more {
		s += " ..."
	}
	return s
}

// clockTime is a time of day.
func clockTime(t time.Time) string { return t.Local().Format("15:04:05") }

// countdown is a time left, as minutes and seconds: "4:07".
func countdown(d time.Duration) string {
	s := max(int((d+time.Second-1)/time.Second), 0)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// lasted is a length of time in its largest fitting unit: "3 s", "12 min".
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	}
	return fmt.Sprintf("%d h", int(d/time.Hour))
}

// ago is a length of time as one in the past: "just now", "3 s ago".
func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return lasted(d) + " ago"
}

// field is one labelled line or paragraph about a request.
type field struct {
	label, text string
	loud        bool // what must not be overlooked
	must        bool // what must have been read before anything can be allowed
}

// warnings are what a reader of a request must know before all else, one line
// each.
func (c charset) warnings(p spool.Pending) []string {
	var out []string
	if p.Late {
		out = append(out, lateNotice)
	}
	if p.Cut > 0 {
		out = append(out, fmt.Sprintf("%s of the command, the middle of it, cannot be shown: too long", number(p.Cut, "byte")))
	}
	return append(out, p.LookOut(c.drawn)...)
}

// fields are what a request says beside its command, the most important
// first. Texts are not cleaned yet.
func (c charset) fields(p spool.Pending, now time.Time) []field {
	var out []field
	add := func(label, text string, loud bool) {
		if strings.TrimSpace(text) != "" {
			out = append(out, field{label: label, text: text, loud: loud})
		}
	}
	parts := p.Shown()
	one := len(parts) == 1
	for i, q := range parts {
		if !one {
			add(fmt.Sprintf("Part %d of %d", i+1, len(parts)), cmp.Or(q.What(), "the command as a whole"), false)
		}
		add("Would lose", q.Loss, true)
		add("Why", q.Reason, false)
		if !one {
			add("Rule", q.Rule, false)
			out[len(out)-1].must = true
			add("Instead", q.Suggest, false)
		}
	}
	add("Directory", p.Dir, false)
	agent := asker(p.Request)
	if p.Layer != "" {
		agent += ", through the " + p.Layer
	}
	if !p.Created.IsZero() {
		agent += ", " + ago(now.Sub(p.Created))
	}
	add("Agent", agent, false)
	if one {
		add("Rule", parts[0].Rule, false)
		add("Instead", parts[0].Suggest, false)
	}
	if len(p.Argv) > 0 {
		add("Runs", p.Exe, false)
	}
	add("Session", p.Session, false)
	return out
}

// lateNotice explains a request that gave up.
const lateNotice = "It gave up waiting. Your answer serves its next try of exactly this command."
