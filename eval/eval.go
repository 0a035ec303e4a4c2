// Package eval judges commands by rules. It is pure: it asks nobody, waits for
// nobody (but for a condition's bounded bash) and prints nothing.
//
// Judging a command reads the compiled rules that name it and nothing else: no
// YAML, no regexp that is not reached, no process unless a rule's conditions
// need one.
package eval

import (
	"fmt"
	"os"
	"strings"
	"time"

	"safeshell/budget"
	"safeshell/config"
	"safeshell/eval/condition"
	"safeshell/gitrepo"
	"safeshell/script"
)

// Action is what a rule wants done, ordered from mild to strict.
type Action uint8

// The actions, mildest first; how they rank says Strictness.
const (
	Allow Action = iota
	Redirect
	RequireApproval
	Deny
)

// String returns the action's name in rule files and JSON.
func (a Action) String() string {
	return [...]string{"allow", "redirect", "require_approval", "deny"}[a&3]
}

// Context is who runs a command.
type Context string

// The contexts.
const (
	Human Context = "human"
	AI    Context = "ai"
)

// UnanalysedCommand is the rule name of a verdict on something that could not
// be known from a text.
const UnanalysedCommand = "unanalysed-command"

// Options decide which rules apply and what they may look at.
type Options struct {
	Paths config.Paths
	// Context is asked at most once, and only when a rule depends on it. nil:
	// AI.
	Context func() Context
	// Environ is the environment of the command, for conditions and for paths
	// (NAME=value).
	Environ []string
	// ConditionTimeout bounds the conditions of one decision; 0 is one second.
	ConditionTimeout time.Duration
	// FailOpen: a condition that cannot be judged does not hold
	// (unreachable_behavior: fail_open).
	FailOpen bool
	// Settings, when set, is asked for the two values above at the first
	// condition, so that config.yaml need not be read for other commands.
	Settings func() (conditionTimeout time.Duration, failOpen bool)
}

// Problem is something wrong with a rules file, to be said to the user.
type Problem struct {
	File         string
	Line, Column int // 0 when it concerns the whole file
	Message      string
	Fix          string // a command, or what to change
	// Warning: the file can be used (Lint only).
	Warning bool
	// LastGood: the last version that could be read stays in force.
	LastGood bool
	// Fatal: the file cannot be used and has no last good version;
	// unreachable_behavior decides.
	Fatal bool
	// passing: it is not the file's, and may be gone the next time.
	passing bool
}

// String returns the problem as one line: file:line:column: message; fix.
func (p Problem) String() string {
	place := p.File
	if p.Line > 0 {
		place += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	s := place + ": " + p.Message
	if p.LastGood {
		s += "; the last good rules stay in force"
	}
	if p.Fix != "" {
		s += "; fix: " + p.Fix
	}
	return s
}

// Decision is the verdict on one command: the strictest rule that it meets.
type Decision struct {
	Finding
	// Also are the other rules that stop the command, the stricter first. There
	// are none where nobody may lift the first.
	Also []Finding
	// RedirectBy is the rule that redirects the command, also where another one
	// stops it first; nil when none does.
	RedirectBy *Finding
	// Redirect is the argv to run instead. Redirect[0] is "trash" for
	// safeshell's own trash. It is nil when the command's words are not all
	// known: the shim, which sees the real ones, redirects then.
	Redirect []string
	// RedirectBefore and RedirectAfter are the words around the command's own
	// arguments in Redirect, also where those are not known: a text is rewritten
	// by putting them around. RedirectBefore is nil where that cannot be done.
	RedirectBefore, RedirectAfter []string
	// Untrusted are the rules of a repository that would hold for the command,
	// but are not in force because their file is not trusted.
	Untrusted []Untrusted
	// Notes are to be journaled (a condition that timed out, an untrusted
	// repository rule that was skipped).
	Notes []string
	// Problems are those of the rules files of the command's repository. One
	// of them being Fatal means that unreachable_behavior decides.
	Problems []Problem
}

// Untrusted is a rule that waits for trust.
type Untrusted struct {
	Rule    string
	File    string
	Content string // names the file's content: an edit is another one
	Fix     string // the command that trusts it
}

// String says it in a line.
func (u Untrusted) String() string {
	return fmt.Sprintf("rule %s of %s is not in force, because the file is not trusted; to trust it: %s", u.Rule, u.File, u.Fix)
}

// Open finds the rules that apply. It never fails: a file that cannot be read
// is reported in the problems, and its last good version stays in force. It
// reads no more than the sources' metadata, unless a source changed: then that
// is compiled. Rules are loaded when a command that they name is judged.
func Open(o Options) (*Rules, []Problem) {
	r := &Rules{o: o, builtin: builtinBlob(), repos: map[string][]*source{}, dirs: map[string]dirInfo{}}
	var problems []Problem
	for _, f := range []struct {
		path string
		kind sourceKind
	}{{o.Paths.System, fromSystem}, {o.Paths.Rules, fromUser}} {
		if f.path == "" {
			continue
		}
		s := openSource(f.path, f.kind, o.Paths.Cache)
		if s == nil {
			continue
		}
		r.global = append(r.global, s)
		problems = append(problems, s.problems...)
		if s.packsSet {
			r.packs, r.packsSet = packSet(s.packs), true
		}
	}
	return r, problems
}

// Rules are the rules in force.
type Rules struct {
	o       Options
	builtin *blob
	global  []*source // system, then user
	// packs are the built-in packs that are on, as bits; all when not set.
	packs    uint32
	packsSet bool

	repos    map[string][]*source // by directory
	dirs     map[string]dirInfo
	indexes  map[string]cachedIndex
	realDirs map[string]string
	text     textFacts
	budget   *budget.Budget // of the judgement at hand
	// pathLists are by the address of a list's first entry.
	pathLists map[*string]*pathList
	lastView  *view  // memory for the next Judge
	dirPathOf string // the directory that dirPathIs is
	dirPathIs *tpath
	dirPlain  bool // it is written as the path would be

	context Context // once asked
	judge   *condition.Judge
	asker   *gitrepo.Asker
	trace   func(rule, outcome string)
}

// Broken returns the first problem of a system or user file that has no last
// good version: the rules in force are not the ones that were meant, and
// unreachable_behavior decides. nil when there is none.
func (r *Rules) Broken() *Problem {
	for _, s := range r.global {
		if s.fatal {
			return &s.problems[0]
		}
	}
	return nil
}

// Wrappers returns the further wrapper programs that the system's and the
// user's rules name, for script.Options.
func (r *Rules) Wrappers() []string {
	var out []string
	for _, s := range r.global {
		out = append(out, s.wrappers...)
	}
	return out
}

// Close releases the files that are held open. Rules that are not closed are
// closed by exec.
func (r *Rules) Close() {
	for _, s := range r.global {
		closeBlob(s.blob)
	}
	for _, list := range r.repos {
		for _, s := range list {
			closeBlob(s.blob)
		}
	}
}

func (r *Rules) who() Context {
	if r.context == "" {
		r.context = AI
		if r.o.Context != nil {
			r.context = r.o.Context()
		}
	}
	return r.context
}

func (r *Rules) packOn(pack uint8) bool {
	return !r.packsSet || r.packs&(1<<pack) != 0
}

func packSet(names []string) (set uint32) {
	for _, n := range names {
		set |= 1 << packIndex(n)
	}
	return set
}

func builtinBlob() *blob {
	b := &blob{mem: packsCompiled, size: len(packsCompiled), checked: true}
	if openBlob(b) != nil {
		return nil // only while packs.bin is being generated
	}
	return b
}

// getenv returns a variable of the command's environment.
func (r *Rules) getenv(name string) string {
	for _, e := range r.o.Environ {
		if len(e) > len(name) && e[len(name)] == '=' && e[:len(name)] == name {
			return e[len(name)+1:]
		}
	}
	return ""
}

func (r *Rules) conditionJudge() *condition.Judge {
	if r.judge == nil {
		if r.o.Settings != nil {
			r.o.ConditionTimeout, r.o.FailOpen = r.o.Settings()
		}
		r.judge = &condition.Judge{
			Env:     r.environ(),
			Timeout: r.o.ConditionTimeout,
			Spend:   func(n int) bool { return r.budget.Spend(n) },
			Branch:  r.branchIn,
		}
	}
	return r.judge
}

// gitAsker is how git is asked about repositories.
func (r *Rules) gitAsker() *gitrepo.Asker {
	if r.asker == nil {
		r.asker = &gitrepo.Asker{
			Env:     func(dir string) []string { return r.environ().For(dir) },
			Spend:   func() bool { return r.budget.Spend(condition.ProcessCost) },
			Timeout: r.o.ConditionTimeout,
		}
	}
	return r.asker
}

// environ is the environment of what is run to judge a command.
func (r *Rules) environ() condition.Env {
	self, _ := os.Executable()
	return condition.Env{Environ: r.o.Environ, Avoid: []string{r.o.Paths.Shims, r.o.Paths.Shell}, Self: self}
}

// JudgeUnknown returns the verdict on what could not be analysed: to be asked
// when an agent runs the text, and, for a text that is no valid shell, whoever
// runs it; also, for everyone, a text that is past the budget for judging. Allow
// when everything is known.
func (r *Rules) JudgeUnknown(a *script.Analysis) Decision {
	broken := false
	d := Decision{Finding: Finding{Action: RequireApproval, Rule: UnanalysedCommand, Source: "built-in"}}
	if over := a.Budget.Over(); over != "" {
		d.Matched = []string{over}
		d.Message = "This is too much to judge at once: " + over + ". Split it up: run its parts one at a time, each with fewer and shorter commands, loops and lists."
		return d
	}
	for _, u := range a.Unknown {
		broken = broken || isParseError(u)
		d.Matched = append(d.Matched, u.Reason)
	}
	if len(a.Unknown) == 0 {
		for i := range a.Commands {
			c := &a.Commands[i]
			if len(c.Argv) == 0 || c.Function {
				continue
			}
			switch s, known := c.Argv[0].Text(); {
			case !known && commandWord(c.Argv[0]) == "":
				d.Matched = append(d.Matched, "the command name is not known: "+shown(a.Text, c.Argv[0], c.Nested))
			case strings.ContainsAny(s, " \t\n") && !strings.Contains(s, "/"):
				// A text that a shell may split, or nothing that exists.
				d.Matched = append(d.Matched, "the command name holds blanks: "+quote(s))
			}
		}
	}
	if len(d.Matched) == 0 || !broken && r.who() != AI {
		return Decision{}
	}
	d.Message = "What this would run cannot be known from its text: " + d.Matched[0] + ". Write it out in plain words, or run its steps one at a time."
	return d
}
