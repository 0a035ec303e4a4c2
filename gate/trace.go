package gate

import (
	"fmt"
	"strings"
	"time"

	"safeshell/config"
	"safeshell/eval"
	"safeshell/script"
	"safeshell/spool"
	"safeshell/spool/mask"
)

// tracer gathers what a judgement looks at and writes it to the debug log. It is
// nil where log_level is not debug: then nothing is gathered.
type tracer struct {
	path  string
	now   func() time.Time
	start time.Time
	lines strings.Builder
	rules int // looked at
}

// trace returns the tracer of one judgement.
func (g *Gate) trace() *tracer {
	if !config.Debugging(g.env.Paths.Config, g.env.Paths.Cache) {
		return nil
	}
	return &tracer{path: spool.DebugPath(g.env.Paths.Journal), now: g.env.Now, start: g.env.Now()}
}

// Debug adds a line to the debug log, where log_level is debug: what a layer did
// beside judging.
func (g *Gate) Debug(level, format string, args ...any) {
	if t := g.trace(); t != nil {
		t.say(level, format, args...)
		t.flush()
	}
}

func (t *tracer) say(level, format string, args ...any) {
	if t != nil {
		t.lines.WriteString(spool.DebugLine(t.now(), level, fmt.Sprintf(format, args...)))
	}
}

// flush writes what was gathered: before a person is waited for, and at the end.
// A debug log that cannot be written stops nothing.
func (t *tracer) flush() {
	if t != nil && t.lines.Len() > 0 {
		_ = spool.AppendDebug(t.path, t.lines.String())
		t.lines.Reset()
	}
}

func (t *tracer) evaluating(req Request, who Caller) {
	if t == nil {
		return
	}
	name := string(who.Context)
	if who.Agent != "" {
		name = who.Agent
	}
	t.say("INFO", "Evaluating: %s  [%s; %s; in %s]", mask.Text(displayOf(req)), req.Layer, name, req.Dir)
}

// command names the next command whose rules are looked at.
func (t *tracer) command(c script.Command) {
	if t == nil {
		return
	}
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		var known bool
		if words[i], known = w.Text(); !known {
			words[i] = "?"
		}
	}
	via := ""
	if len(c.Via) > 0 {
		via = "  [by way of " + strings.Join(c.Via, ", ") + "]"
	}
	t.say("DEBUG", "Command: %s%s", script.Quote(mask.Argv(words)), via)
}

func (t *tracer) rule(name, outcome string) {
	t.rules++
	t.say("DEBUG", "Rule %s %s", name, outcome)
}

// judged says what the rules came to, and what that has cost.
func (t *tracer) judged(v eval.Decision, commands int) {
	if t == nil {
		return
	}
	by := "no rule"
	if v.Rule != "" {
		by = "rule " + v.Rule + " of " + v.Source
	}
	for _, n := range v.Notes {
		t.say("DEBUG", "Note: %s", n)
	}
	for _, p := range v.Problems {
		t.say("WARN", "Problem: %s", p.String())
	}
	t.say("DEBUG", "Result: %s by %s  [commands: %d; rules looked at: %d; %.2f ms]", v.Action, by, commands, t.rules, float64(t.now().Sub(t.start).Microseconds())/1000)
}

// done says what happens now.
func (t *tracer) done(v Verdict) {
	if t == nil {
		return
	}
	what := map[Kind]string{Run: "it runs", Replace: "it is replaced", Stop: "it is stopped", AskAgent: "the agent asks its user"}[v.Kind]
	for _, w := range v.Warnings {
		t.say("WARN", "%s", w)
	}
	t.say("INFO", "Decided: %s (%s) after %.2f ms", what, v.Action, float64(t.now().Sub(t.start).Microseconds())/1000)
	t.flush()
}
