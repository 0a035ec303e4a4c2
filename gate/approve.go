package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/eval"
	"safeshell/script"
	"safeshell/spool"
)

// approve finds out whether a human lets the request run: by a remembered
// answer, by one given to a higher layer or after an earlier try gave up, or
// by asking now.
func (g *Gate) approve(ctx context.Context, req Request, v Verdict, d eval.Decision, j judgement, start time.Time) Verdict {
	caller := g.callerOf(req)
	key := g.keyOf(req, v, caller)
	e := entry{decision: d, rule: v.Rule, source: v.Source, reason: v.Message, start: start}
	grant := func(action, by string) Verdict {
		if v.Kind != Replace {
			v.Kind = Run
		}
		e.action, e.by = action, by
		g.journal(req, e)
		return v
	}

	g.tracer.flush() // a person may take minutes
	grants, err := spool.OpenGrants(g.env.Paths.Grants)
	if err == nil {
		if found := granted(grants, v, key); found != nil {
			g.passDown(req, j, caller)
			e.choice, e.reason = found.Choice, found.Reason
			return grant("granted", found.By)
		}
	}
	s, err := spool.Open(g.env.Paths.Spool)
	if err != nil {
		return g.cannotAsk(req, v, e, err)
	}
	if g.passed(s, req, j, caller) {
		g.passDown(req, j, caller)
		return grant("passed", "answered above")
	}
	if dec, ok := s.TakeLateAnswer(key); ok {
		return g.obey(req, v, e, j, caller, key, grants, dec)
	}

	v.losses(j)
	if !s.MonitorAlive() && caller.Context == eval.Human && g.NotHuman() == "" {
		if t, ok := OpenTerminal(); ok {
			defer t.Close()
			dec := g.askHere(ctx, t, req, v)
			return g.obey(req, v, e, j, caller, key, grants, dec)
		}
	}
	r := g.request(req, v, caller, key)
	limit := g.patience(req, caller)
	ctx, stop := spool.WithSignals(ctx)
	dec, err := s.Ask(ctx, r, spool.AskOptions{
		Timeout:        limit,
		WaitForMonitor: g.Config().Approval.WaitForMonitor,
		Waiting: func(r spool.Request) {
			if !req.Quiet {
				fmt.Fprint(g.env.Stderr, waitingText(r.ID, limit.String(), req, v))
			}
			g.journal(req, entry{kind: spool.KindRequest, id: r.ID, action: "asked", rule: v.Rule, reason: v.Message, start: g.env.Now()})
		},
	})
	defer spool.Reraise(ctx)
	stop()
	if err != nil {
		return g.cannotAsk(req, v, e, err)
	}
	return g.obey(req, v, e, j, caller, key, grants, dec)
}

// obey carries out a decision.
func (g *Gate) obey(req Request, v Verdict, e entry, j judgement, caller Caller, key spool.Key, grants *spool.Grants, dec spool.Decision) Verdict {
	e.by, e.id = dec.By, dec.ID
	e.choice = dec.Choice
	if dec.Choice != 0 {
		e.reason = dec.Reason
	}
	switch dec.Verdict {
	case spool.Allowed:
		if v.Kind != Replace {
			v.Kind = Run
		}
		if grants != nil && (dec.Choice == spool.Session || dec.Choice == spool.Always) {
			if err := g.remember(grants, req, v, key, dec); err != nil {
				v.Warnings = append(v.Warnings, "the answer could not be remembered: "+err.Error())
			}
		}
		g.passDown(req, j, caller)
		e.action = "asked-allow"
	case spool.Denied:
		v.Kind, v.Text, e.action = Stop, userDeniedText(dec.Reason, v), "asked-deny"
	case spool.TimedOut:
		v.Kind, v.Text, e.action = Stop, timedOutText(g.patience(req, caller).String(), req, v), "timeout"
	case spool.NoMonitor:
		if g.Config().FailOpen() {
			if v.Kind != Replace {
				v.Kind = Run
			}
			v.Warnings = append(v.Warnings, fmt.Sprintf("rule %s asks for approval, but no monitor is running (safeshell watch); unreachable_behavior is fail_open, so the command runs", strings.Join(v.rules(), ", ")))
			e.action = "fail-open"
			break
		}
		v.Kind, v.Text, e.action = Stop, noMonitorText(req, v), "nomonitor"
	default:
		v.Kind, v.Text, e.action = Stop, cancelledText(req, v), "cancelled"
	}
	g.journal(req, e)
	return v
}

func (g *Gate) cannotAsk(req Request, v Verdict, e entry, err error) Verdict {
	// An answer in doubt is a denial; only what could not be asked may run open.
	if g.Config().FailOpen() && !errors.Is(err, spool.ErrTampered) && !errors.Is(err, spool.ErrGone) {
		if v.Kind != Replace {
			v.Kind = Run
		}
		v.Warnings = append(v.Warnings, fmt.Sprintf("rule %s asks for approval, but the request could not be made (%v); unreachable_behavior is fail_open, so the command runs", strings.Join(v.rules(), ", "), err))
		e.action = "fail-open"
	} else {
		v.Kind, v.Text, e.action = Stop, cannotAskText(err.Error(), req, v), "deny"
		e.reason = "nobody could be asked: " + err.Error()
	}
	g.journal(req, e)
	return v
}

// callerOf is the process's caller, but for what the layer knows better.
func (g *Gate) callerOf(req Request) Caller {
	c := Caller{Context: req.Context, Agent: req.Agent, Session: req.Session}
	if c.Context == "" {
		c.Context = g.caller.Context()
	}
	if c.Agent == "" {
		c.Agent = g.caller.Agent()
	}
	if c.Session == "" {
		c.Session = g.caller.Session()
	}
	return c
}

func (g *Gate) keyOf(req Request, v Verdict, c Caller) spool.Key {
	k := spool.Key{UID: os.Geteuid(), Session: c.Session, Dir: req.Dir, Exe: req.Exe, Rules: spool.JoinRules(v.rules())}
	// No word holds a NUL, so nobody's words are those of a command with aliases.
	var aliases []string
	for _, al := range v.Aliases {
		aliases = append(aliases, "\x00"+al.Name, al.Text)
	}
	if req.Argv != nil {
		k.ArgvSHA = spool.ArgvSHA(slices.Concat(req.Argv, aliases))
	} else {
		k.ArgvSHA = spool.LineSHA(req.Line + strings.Join(aliases, "\x00"))
	}
	return k
}

// passKey binds what a higher layer has asked to the lower layer's argv. It
// leaves out the executable, which a text does not tell, and names the command
// by its base name, since a shell may call the same one by path or not.
func (g *Gate) passKey(req Request, c Caller) spool.Key {
	k := spool.Key{UID: os.Geteuid(), Session: passSession(c), Dir: req.Dir}
	if req.Argv != nil {
		k.ArgvSHA = spool.ArgvSHA(baseArgv(req.Argv))
	} else {
		k.ArgvSHA = spool.LineSHA(req.Line)
	}
	return k
}

// passSession is the session as both a hook and the commands below it can name
// it: agents whose commands do not carry a session id are told by name alone.
func passSession(c Caller) string {
	if c.Agent != "" && !carriesSession(c.Agent) {
		return c.Agent
	}
	return c.Session
}

func baseArgv(argv []string) []string {
	out := append([]string{}, argv...)
	if len(out) > 0 {
		out[0] = filepath.Base(out[0])
	}
	return out
}

// passTTL is how long an answer given above serves the layer below.
const passTTL = 60 * time.Second

// passDown lets the commands of an answered line pass the layers below once
// each: those whose argv is wholly known and that would be asked again.
func (g *Gate) passDown(req Request, j judgement, caller Caller) {
	s, err := spool.Open(g.env.Paths.Spool)
	if err != nil {
		return
	}
	asked, _ := g.askedCommands(req, j, caller)
	for _, c := range asked {
		if c.below {
			_ = s.PutPass(c.key, c.rules, passTTL)
		}
	}
}

// askedCommand is a command that a human has to allow, as the layer below will
// know it.
type askedCommand struct {
	key   spool.Key
	rules string // all that stop it
	below bool   // it is not the request itself
}

// maxPassed bounds how many commands of one answer pass the layers below; what is
// behind them is asked again.
const maxPassed = 200

// askedCommands returns the commands of a request that are asked about. all is
// false when one is not among them, as its words or directory are not wholly
// known.
func (g *Gate) askedCommands(req Request, j judgement, caller Caller) (out []askedCommand, all bool) {
	all = !j.unknown.Stops()
	for i, jd := range j.all {
		if jd.Decision.Asked() == eval.RequireApproval {
			c := askedCommand{below: req.Argv == nil || i > 0}
			if len(out) == maxPassed {
				return out, false
			}
			if !c.below {
				c.key = g.passKey(req, caller)
			} else {
				argv, known := knownArgv(jd.Command)
				dir, ok := jd.Command.Dir.Text()
				if !known || !ok {
					all = false
					continue
				}
				c.key = g.passKey(Request{Argv: argv, Dir: dir}, caller)
			}
			var rules []string
			for _, f := range jd.Decision.Findings() {
				rules = append(rules, f.Rule)
			}
			c.rules = spool.JoinRules(rules)
			out = append(out, c)
		}
		if m, ok := j.cannot[i]; ok {
			// It may run elsewhere, where no layer sees its words as arguments.
			key := spool.Key{UID: os.Geteuid(), Session: passSession(caller), ArgvSHA: spool.LineSHA(jd.Command.Remote + "\x00" + m.Part)}
			out = append(out, askedCommand{key: key, rules: m.Rule, below: true})
		}
	}
	return out, all
}

// passed takes what a higher layer has left for this request: a pass for every
// command that would be asked about, given for the rules that stop it here. A
// hook, the wrapper and a shim see different texts around the same commands.
func (g *Gate) passed(s *spool.Spool, req Request, j judgement, caller Caller) bool {
	commands, all := g.askedCommands(req, j, caller)
	if !all || len(commands) == 0 {
		return false
	}
	for i, c := range commands {
		if rules, ok := s.TakePass(c.key); !ok || !spool.HasRules(rules, c.rules) {
			for _, back := range commands[:i] {
				_ = s.PutPass(back.key, back.rules, passTTL)
			}
			return false
		}
	}
	return true
}

// granted returns the first of the remembered answers for a request, nil where
// there is not one for every rule that stops it.
func granted(grants *spool.Grants, v Verdict, key spool.Key) (first *spool.Grant) {
	for _, rule := range v.rules() {
		found, err := grants.Find(rule, key)
		if err != nil || found == nil {
			return nil
		}
		first = cmp.Or(first, found)
	}
	return first
}

func knownArgv(c script.Command) ([]string, bool) {
	if len(c.Argv) == 0 || c.Remote != "" {
		return nil, false
	}
	out := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		t, ok := w.Text()
		if !ok {
			return nil, false
		}
		out[i] = t
	}
	return out, true
}

// remember keeps an answer for each rule that was shown.
func (g *Gate) remember(grants *spool.Grants, req Request, v Verdict, key spool.Key, dec spool.Decision) error {
	for _, rule := range v.rules() {
		if err := grants.Add(spool.NewGrant(rule, key, dec, displayOf(req))); err != nil {
			return err
		}
	}
	return nil
}

// request is what is published for the human.
func (g *Gate) request(req Request, v Verdict, c Caller, key spool.Key) spool.Request {
	now := g.env.Now()
	limit := g.patience(req, c)
	pid := g.env.PID
	if pid == 0 {
		pid = os.Getpid()
	}
	return spool.Request{
		UID: os.Geteuid(), Session: c.Session, Agent: c.Agent, Context: string(c.Context),
		Layer: string(req.Layer), PID: pid, Dir: req.Dir, Exe: req.Exe,
		Argv: req.Argv, Line: req.Line, ArgvSHA: key.ArgvSHA,
		Created: now, NotAfter: now.Add(limit),
	}.WithParts(v.Rule, v.parts(req))
}

// patience is how long to wait for a human: as configured, but never longer
// than what the agent that asks will wait itself.
func (g *Gate) patience(req Request, c Caller) time.Duration {
	t := g.Config().Approval.Timeout
	if c.Context == eval.AI && req.Layer != Hook && req.Layer != MCP && t > patience {
		t = patience
	}
	if req.MaxWait > 0 && t > req.MaxWait {
		t = req.MaxWait
	}
	return t
}

// displayOf is the command as one line of text.
func displayOf(req Request) string {
	if req.Argv != nil {
		return script.Quote(req.Argv)
	}
	return req.Line
}
