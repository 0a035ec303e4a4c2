// Package gate is the one way through: a command line or an argv comes in, is
// judged by the rules, asked about where they say so, journaled, and leaves as
// a verdict. The shims, the -c wrapper, the agents' hooks, `exec`, `run` and
// the MCP server all call it and add nothing to its decisions.
package gate

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	// Quiet: say nothing on stderr while waiting (hooks).
	Quiet bool
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
	// Warnings are lines for the user that do not stop the command.
	Warnings []string
	// Commands are the single judgements, for `check`.
	Commands []Judged
	// Aliases of git that the command makes use of: what was judged is what they
	// stand for, so an answer that is remembered holds for them alone.
	Aliases []script.GitAlias
	// Unknown lists what could not be analysed.
	Unknown []script.Unknown
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
	o := g.open("")
	return o.rules, o.problems
}

func (g *Gate) open(c eval.Context) *opened {
	if o := g.rules[c]; o != nil {
		return o
	}
	ctx := g.caller.Context
	if c != "" {
		ctx = func() eval.Context { return c }
	}
	r, problems := eval.Open(eval.Options{
		Paths:   g.env.Paths,
		Context: ctx,
		Environ: g.env.Environ,
		Settings: func() (time.Duration, bool) {
			return g.Config().ConditionTimeout, g.Config().FailOpen()
		},
	})
	o := &opened{r, problems}
	g.rules[c] = o
	return o
}

// Judge decides about a request, asking a human where the rules say so. It
// returns when the decision is final; ctx bounds the wait.
func (g *Gate) Judge(ctx context.Context, req Request) Verdict {
	start := g.env.Now()
	o := g.open(req.Context)
	a := g.analyse(o.rules, req)
	j := g.judgeAll(o.rules, &a)
	v := Verdict{Commands: j.all, Unknown: a.Unknown, Aliases: a.Aliases}
	d := j.worst
	v.Action, v.Rule, v.Source, v.Message, v.Suggest = d.Action, d.Rule, d.Source, d.Message, d.Suggest
	if d.Action >= eval.RequireApproval && len(a.Aliases) > 0 {
		v.Message = sentence(v.Message) + aliasesText(a.Aliases)
	}
	v.Warnings = append(v.Warnings, problemLines(o.problems)...)
	v.Warnings = append(v.Warnings, problemLines(d.Problems)...)

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
	g.planReplacement(&v, &a, j, req)
	if v.Kind == Replace && v.Action == eval.RequireApproval {
		d = j.worst // the redirect could not be carried out everywhere
	}
	switch v.Action {
	case eval.Deny:
		if !d.AllowOverride {
			v.Kind = Stop
			v.Text = blockedText(v.Message, v.Rule, v.Suggest)
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
		if req.ViaAgent {
			v.Kind, v.Text = AskAgent, askText(req, v.Message, v.Rule, v.Suggest)
			g.journal(req, entry{action: "agent-asks", decision: d, rule: v.Rule, reason: v.Message, start: start})
			return v
		}
		return g.approve(ctx, req, v, d, j, start)
	}
	if req.Layer == Check {
		return v
	}
	g.journal(req, entry{action: actionOf(v), decision: d, start: start})
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
}

func (g *Gate) analyse(r *eval.Rules, req Request) script.Analysis {
	o := script.Options{
		Dialect:    req.Dialect,
		Dir:        req.Dir,
		Lookup:     g.env.Lookup,
		GitAliases: r.GitAliases,
		Wrappers:   r.Wrappers(),
	}
	if req.Argv != nil {
		return script.FromArgv(req.Argv, o)
	}
	return script.Parse(req.Line, o)
}

func (g *Gate) judgeAll(r *eval.Rules, a *script.Analysis) judgement {
	var j judgement
	for i := range a.Commands {
		d := r.Judge(a, i)
		j.all = append(j.all, Judged{a.Commands[i], d})
		j.worst = stricter(j.worst, d)
	}
	if len(a.Unknown) > 0 {
		j.worst = stricter(j.worst, r.JudgeUnknown(a))
	}
	return j
}

// stricter returns the more restrictive decision; among equals the first. A
// deny that a human may lift is milder than one that nobody may.
func stricter(a, b eval.Decision) eval.Decision {
	notes := append(a.Notes[:len(a.Notes):len(a.Notes)], b.Notes...)
	problems := append(a.Problems[:len(a.Problems):len(a.Problems)], b.Problems...)
	if rank(b) > rank(a) || a.Rule == "" && b.Rule != "" && rank(b) == rank(a) {
		a = b
	}
	a.Notes, a.Problems = notes, problems
	return a
}

func rank(d eval.Decision) int {
	r := int(d.Action) * 2
	if d.Action == eval.Deny && d.AllowOverride {
		r--
	}
	return r
}

// planReplacement works out what to run instead of what is redirected.
func (g *Gate) planReplacement(v *Verdict, a *script.Analysis, j judgement, req Request) {
	var edits []script.Edit
	for i, jd := range j.all {
		if jd.Decision.Action != eval.Redirect {
			continue
		}
		if why := g.replaceOne(v, a, i, jd, req, &edits); why != "" {
			g.askInstead(v, jd, why, req)
		}
	}
	if len(edits) > 0 {
		v.Kind = Replace
		v.Line = script.Rewrite(req.Line, edits)
	}
}

// replaceOne redirects command i; it returns why that cannot be done, "" on
// success.
func (g *Gate) replaceOne(v *Verdict, a *script.Analysis, i int, jd Judged, req Request, edits *[]script.Edit) string {
	c, d := jd.Command, jd.Decision
	if c.Remote != "" {
		return "it would run on " + c.Remote + ", where safeshell has no trash"
	}
	if req.Argv != nil {
		switch {
		case i == 0:
			v.Kind = Replace
			v.Argv, v.Trash = trashOf(d.Redirect)
			return ""
		case c.TailOf == 0 && len(c.Argv) > 0:
			v.Kind = Replace
			v.Argv = append(append([]string{}, req.Argv[:c.TailAt]...), g.command(d.Redirect)...)
			return ""
		}
		// Found in a string of an argument: the shim below sees it, unless the
		// carrier loses PATH or the command is named by its path.
		if g.shimSees(a, c, req.Layer) {
			return ""
		}
		return g.cannotPut(c, req.Layer)
	}
	if req.Layer != Hook && g.shimSees(a, c, req.Layer) {
		return ""
	}
	if c.Nested || len(c.Argv) == 0 {
		if g.shimSees(a, c, req.Layer) {
			return ""
		}
		return g.cannotPut(c, req.Layer)
	}
	e, why := g.rewriteSpans(a, c, d)
	*edits = append(*edits, e...)
	return why
}

// cannotPut says why a command inside another one's text is not replaced.
func (g *Gate) cannotPut(c script.Command, layer Layer) string {
	why := "safeshell cannot put the replacement into " + strings.Join(c.Via, " ")
	if !g.ShimsReached(layer) {
		why += ", and no shim would see it there (safeshell init sets them up)"
	}
	return why
}

// trashOf splits a redirect to safeshell's own trash from other commands.
func trashOf(redirect []string) (argv []string, trash bool) {
	if len(redirect) > 0 && redirect[0] == "trash" {
		return redirect[1:], true
	}
	return redirect, false
}

// command returns the argv to execute for a redirect.
func (g *Gate) command(redirect []string) []string {
	if argv, ok := trashOf(redirect); ok {
		return append([]string{g.env.Binary, "trash", "put"}, argv...)
	}
	return redirect
}

// pathLosers are carriers under which the shims are not found.
var pathLosers = map[string]bool{
	"sudo": true, "doas": true, "su": true, "pkexec": true, "runuser": true,
	"chroot": true, "env -i": true, "systemd-run": true, "nsenter": true,
}

// shimSees reports whether a shim will judge the command again when it really
// runs: it is called by a bare name for which a shim exists and is found, and
// nothing around it loses PATH.
func (g *Gate) shimSees(a *script.Analysis, c script.Command, layer Layer) bool {
	if len(c.Argv) == 0 || c.Remote != "" {
		return false
	}
	name, ok := c.Argv[0].Text()
	if !ok || strings.Contains(name, "/") {
		return false
	}
	for _, v := range c.Via {
		if pathLosers[v] {
			return false
		}
		if b, _, _ := strings.Cut(v, " "); pathLosers[b] {
			return false
		}
	}
	for _, as := range c.Assigns {
		if as.Name == "PATH" {
			return false
		}
	}
	for i := range a.Commands {
		for _, as := range a.Commands[i].Assigns {
			if as.Name == "PATH" {
				return false
			}
		}
	}
	_, err := os.Lstat(filepath.Join(g.env.Paths.Shims, name))
	return err == nil && g.ShimsReached(layer)
}

// ShimsReached reports whether PATH leads to the shims: ours, or that which
// start-up files with safeshell's block give to the shell of an agent that asks
// by its hook.
func (g *Gate) ShimsReached(layer Layer) bool {
	for _, d := range filepath.SplitList(g.env.Getenv("PATH")) {
		if filepath.Clean(d) == g.env.Paths.Shims {
			return true
		}
	}
	if layer != Hook && layer != Check {
		return false
	}
	_, err := os.Lstat(filepath.Join(g.env.Paths.Home, "startup-files"))
	return err == nil
}

// askInstead turns a redirect that cannot be carried out into a question for
// agents; a person's command goes on.
func (g *Gate) askInstead(v *Verdict, jd Judged, why string, req Request) {
	ctx := req.Context
	if ctx == "" {
		ctx = g.caller.Context()
	}
	if ctx != eval.AI || v.Action >= eval.RequireApproval {
		return
	}
	v.Action = eval.RequireApproval
	v.Rule, v.Source = jd.Decision.Rule, jd.Decision.Source
	v.Message = fmt.Sprintf("%s It cannot be redirected here: %s.", sentence(jd.Decision.Message), why)
	v.Suggest = jd.Decision.Suggest
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
