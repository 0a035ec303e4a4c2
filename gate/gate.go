// Package gate is the one way through: a command line or an argv comes in, is
// judged by the rules, asked about where they say so, journaled, and leaves as
// a verdict. The shims, the -c wrapper, the agents' hooks, `exec`, `run` and
// the MCP server all call it and add nothing to its decisions.
package gate

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"safeshell/budget"
	"safeshell/config"
	"safeshell/eval"
	"safeshell/script"
	"safeshell/spool"
)

// Layer names the door through which a command came.
type Layer string

// The layers.
const (
	Shim    Layer = "shim"
	Wrapper Layer = "wrapper"
	Exec    Layer = "exec"
	Builtin Layer = "builtin"
	Hook    Layer = "hook"
	MCP     Layer = "mcp"
	Check   Layer = "check" // judges only: asks nobody, journals nothing
)

// Env is everything that the gate sees of the world.
type Env struct {
	Environ []string // NAME=value
	Paths   config.Paths
	Binary  string // absolute path of safeshell itself, for rewritten commands
	Stderr  io.Writer
	Now     func() time.Time
	// PID is the process that asks, where another one judges for it (the keeper
	// of `safeshell run`); 0: this one.
	PID int
}

// Getenv returns a variable of the environment; "" when it is not set.
func (e Env) Getenv(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// Lookup returns a variable of the environment and whether it is set.
func (e Env) Lookup(name string) (string, bool) {
	for _, kv := range e.Environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:], true
		}
	}
	return "", false
}

// Request is one thing to be judged: an argv (Argv) or a shell text (Line).
type Request struct {
	Layer   Layer
	Argv    []string
	Line    string
	Dialect script.Dialect
	Dir     string // absolute working directory
	Exe     string // resolved executable of Argv, bound to the approval
	// Agent, Session and Context say who asks, where the layer knows better
	// than the environment (hooks); empty otherwise.
	Agent   string
	Session string
	Context eval.Context
	// MaxWait bounds the wait for a human below the configured time; 0: no
	// further bound.
	MaxWait time.Duration
	// ViaAgent: let the agent ask its own user instead of the monitor
	// (approval.via: agent).
	ViaAgent bool
	// SamePath: the shell that reads Line has the PATH of this process (hooks).
	SamePath bool
	// PlainWords: the agent's own rules read a line only while all of it is plain
	// words, without assignments, variables and ~ (hooks).
	PlainWords bool
	// Quiet: say nothing on stderr while waiting (hooks).
	Quiet bool
	// PutsInTrash: the caller carries out a redirect to the trash itself, and
	// calls Verdict.Trashing.
	PutsInTrash bool
	// Losses: say what would be destroyed, also where nobody is asked.
	Losses bool
	// Notes: the layer can pass a warning on though it is a hook.
	Notes bool
}

// Kind is what the caller has to do.
type Kind uint8

// The kinds.
const (
	Run      Kind = iota // run it as it is
	Replace              // run Verdict.Argv or Verdict.Line instead
	Stop                 // do not run; say Verdict.Text; exit 126
	AskAgent             // let the agent ask its own user, with Verdict.Text
)

// Verdict is the gate's answer.
type Verdict struct {
	Kind Kind
	// Action, Rule, Source, Message and Suggest are those of the decision,
	// before anybody was asked.
	Action                         eval.Action
	Rule, Source, Message, Suggest string
	// Text is the whole message for a stopped command.
	Text string
	// Argv (for Argv requests) and Line (for Line requests) replace the
	// command. Trash is true when Argv is safeshell's own trash: Argv holds
	// rm's arguments then, without the word "trash".
	Argv  []string
	Line  string
	Trash bool
	// Trashing journals a redirect to the trash, once: before the first file
	// goes, or with what the trash said when it refused all of them.
	Trashing func(refused string)
	// Met are all rules that stop the request, each beside its part, in the
	// order of the text. An answer covers them, and no other.
	Met []Met
	// Warnings are lines for the user that do not stop the command.
	Warnings []string
	// Notes are what a hook is to tell its agent with a command that runs.
	Notes []string
	// Commands are the single judgements, for `check`.
	Commands []Judged
	// Aliases of git that the command makes use of: what was judged is what they
	// stand for, so an answer that is remembered holds for them alone.
	Aliases []script.GitAlias
	// Unknown lists what could not be analysed.
	Unknown []script.Unknown
	// Budget is what is left of the one that the judgement had.
	Budget *budget.Budget
}

// Judged is one command of a line with its own decision.
type Judged struct {
	Command  script.Command
	Decision eval.Decision
}

// Gate judges. Make one per process with New.
type Gate struct {
	env     Env
	cfgOnce sync.Once
	cfg     config.Config
	cfgErr  error
	caller  *callerFinder
	rules   map[eval.Context]*opened
	tracer  *tracer   // of the judgement that is under way; nil: none
	facts   textFacts // of the judgement at hand
}

type opened struct {
	rules    *eval.Rules
	problems []eval.Problem
}

// New returns a gate. It touches no file: what a command does not need is not
// read.
func New(env Env) *Gate {
	if env.Now == nil {
		env.Now = time.Now
	}
	if env.Stderr == nil {
		env.Stderr = io.Discard
	}
	return &Gate{env: env, caller: newCallerFinder(env.Getenv), rules: map[eval.Context]*opened{}}
}

// Config returns the configuration in force. A config.yaml that is broken is
// said in the verdict's warnings, and the defaults hold.
func (g *Gate) Config() config.Config {
	g.cfgOnce.Do(func() { g.cfg, g.cfgErr = config.LoadCached(g.env.Paths.Config, g.env.Paths.Cache) })
	return g.cfg
}

// Paths returns where safeshell's files are.
func (g *Gate) Paths() config.Paths { return g.env.Paths }

// Caller returns who runs this process.
func (g *Gate) Caller() Caller {
	return Caller{Context: g.caller.Context(), Agent: g.caller.Agent(), Session: g.caller.Session()}
}

// Rules opens the rules for this process's caller.
func (g *Gate) Rules() (*eval.Rules, []eval.Problem) {
	o := g.open("", false)
	return o.rules, o.problems
}

// open opens the rules for a context, shimmed as if the shims were first in PATH.
func (g *Gate) open(c eval.Context, shimmed bool) *opened {
	key, environ := c, g.env.Environ
	if shimmed {
		key += "+shims"
		environ = append([]string{"PATH=" + g.shimmedPath()}, environ...)
	}
	if o := g.rules[key]; o != nil {
		return o
	}
	ctx := g.caller.Context
	if c != "" {
		ctx = func() eval.Context { return c }
	}
	r, problems := eval.Open(eval.Options{
		Paths:   g.env.Paths,
		Context: ctx,
		Environ: environ,
		Settings: func() (time.Duration, bool) {
			return g.Config().ConditionTimeout, g.Config().FailOpen()
		},
	})
	o := &opened{r, problems}
	g.rules[key] = o
	return o
}

// Judge decides about a request, asking a human where the rules say so. It
// returns when the decision is final; ctx bounds the wait.
func (g *Gate) Judge(ctx context.Context, req Request) Verdict {
	if g.tracer = g.trace(); g.tracer == nil {
		return g.judge(ctx, req)
	}
	g.tracer.evaluating(req, g.callerOf(req))
	r := g.open(req.Context, false).rules
	r.Trace(g.tracer.rule)
	defer r.Trace(nil)
	v := g.judge(ctx, req)
	g.tracer.done(v)
	return v
}

func (g *Gate) judge(ctx context.Context, req Request) Verdict {
	start := g.env.Now()
	g.facts = textFacts{}
	o := g.open(req.Context, false)
	a := g.analyse(o.rules, req)
	defer a.Budget.Done()
	j := g.judgeAll(o.rules, &a)
	if g.shimsComeFirst(&a, j, req) {
		o = g.open(req.Context, true)
		j = g.judgeAll(o.rules, &a)
	}
	g.tracer.judged(j.worst, len(j.all))
	v := Verdict{Commands: j.all, Unknown: a.Unknown, Aliases: a.Aliases, Budget: a.Budget}
	d := j.worst
	v.Warnings = append(v.Warnings, problemLines(o.problems)...)
	v.Warnings = append(v.Warnings, problemLines(d.Problems)...)
	lead := func(f eval.Finding) {
		v.Action, v.Rule, v.Source, v.Message, v.Suggest = f.Action, f.Rule, f.Source, f.Message, f.Suggest
	}
	lead(d.Finding)

	if p := fatal(o, j); p != nil && (d.Action != eval.Deny || d.AllowOverride) {
		if !g.Config().FailOpen() {
			v.Kind, v.Action, v.Rule = Stop, eval.Deny, "rules-unreadable"
			v.Message = problemLine(*p)
			v.Text = blockedText(v.Message, v.Rule, "") + g.editHint(*p)
			v.Warnings = nil // said as the reason
			if req.Layer == Check {
				return v
			}
			g.journal(req, entry{action: "deny", rule: v.Rule, reason: v.Message, start: start})
			return v
		}
	}
	v.Met = g.met(&a, &j, req, g.planReplacement(&v, &a, j, req))
	if len(j.cannot) > 0 {
		v.Commands = slices.Clone(j.all)
	}
	for i, m := range j.cannot {
		v.Commands[i].Decision = eval.Stricter(j.all[i].Decision, eval.Decision{Finding: m.Finding})
	}
	for _, m := range v.Met {
		if m.Strictness() > d.Strictness() { // a redirect that cannot be carried out
			d.Finding = m.Finding
		}
	}
	lead(d.Finding)
	if d.Stops() && len(a.Aliases) > 0 {
		v.Message = sentence(v.Message) + aliasesText(a.Aliases)
		for i := range v.Met {
			if v.Met[i].Rule == v.Rule {
				v.Met[i].Message = v.Message
				break
			}
		}
	}
	switch notes := g.untrusted(req, v, j); req.Layer {
	case Hook:
		v.Notes = notes
	default:
		v.Warnings = append(v.Warnings, notes...)
	}
	if req.Losses {
		v.losses(j)
	}
	switch v.Action {
	case eval.Deny:
		if !d.AllowOverride {
			v.Kind = Stop
			v.Text = blockedText(v.Message, v.Rule, v.Suggest) + alsoText(req, v) + g.ownRuleHint(req, v)
			g.journal(req, entry{action: "deny", decision: d, start: start})
			return v
		}
		fallthrough
	case eval.RequireApproval:
		if g.Config(); g.cfgErr != nil {
			v.Warnings = append(v.Warnings, g.env.Paths.Unreadable(g.cfgErr))
		}
		if req.Layer == Check {
			v.Kind, v.Action = Stop, eval.RequireApproval
			return v
		}
		d.Notes = append(d.Notes, alsoNotes(v)...)
		if req.ViaAgent {
			v.losses(j)
			v.Kind, v.Text = AskAgent, askText(req, v)
			g.journal(req, entry{action: "agent-asks", decision: d, rule: v.Rule, reason: v.Message, start: start})
			return v
		}
		return g.approve(ctx, req, v, d, j, start)
	}
	if req.Layer == Check {
		return v
	}
	e := entry{action: actionOf(v), decision: d, start: start}
	if v.Trash && req.PutsInTrash {
		v.Trashing = g.trashing(req, e)
		return v
	}
	g.journal(req, e)
	return v
}

func actionOf(v Verdict) string {
	if v.Kind == Replace {
		return "redirect"
	}
	return "allow"
}

// judgement is what the rules say of all commands of a request.
type judgement struct {
	all   []Judged
	worst eval.Decision
	// unknown is the verdict on what could not be analysed.
	unknown eval.Decision
	// cannot are the redirects that cannot be carried out and are asked about,
	// by the command's index.
	cannot map[int]Met
	// loss says what a command would destroy (eval.Rules.Loss).
	loss func(command int) []string
}

func (g *Gate) analyse(r *eval.Rules, req Request) script.Analysis {
	o := script.Options{
		Dialect:    req.Dialect,
		Dir:        req.Dir,
		Lookup:     g.lookup(req),
		GitAliases: r.GitAliases,
		Wrappers:   r.Wrappers(),
		Shims:      &script.Shims{Dir: g.env.Paths.Shims, Starts: g.StartKeepsPath},
	}
	if req.Argv != nil {
		return script.FromArgv(req.Argv, o)
	}
	return script.Parse(req.Line, o)
}

func (g *Gate) judgeAll(r *eval.Rules, a *script.Analysis) judgement {
	j := judgement{all: make([]Judged, 0, len(a.Commands)), loss: func(i int) []string { return r.Loss(a, i) }}
	for i := range a.Commands {
		g.tracer.command(a.Commands[i])
		d := r.Judge(a, i)
		j.all = append(j.all, Judged{a.Commands[i], d})
		j.worst = eval.Stricter(j.worst, d)
	}
	if len(a.Unknown) > 0 || a.Budget.Over() != "" {
		j.unknown = r.JudgeUnknown(a)
		j.worst = eval.Stricter(j.worst, j.unknown)
	}
	return j
}

func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// fatal returns the problem because of which the rules in force are not those
// that were meant; nil when there is none.
func fatal(o *opened, j judgement) *eval.Problem {
	if p := o.rules.Broken(); p != nil {
		return p
	}
	for i := range j.worst.Problems {
		if j.worst.Problems[i].Fatal {
			return &j.worst.Problems[i]
		}
	}
	return nil
}

func problemLines(problems []eval.Problem) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range problems {
		if s := problemLine(p); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// problemLine says one problem of a rules file in one line.
func problemLine(p eval.Problem) string {
	s := p.String()
	return spool.Visible(s)
}
