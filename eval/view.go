package eval

import (
	"strings"

	"safeshell/command"
	"safeshell/eval/condition"
	"safeshell/script"
)

// view is one command as rules look at it. What costs is computed at the first
// use.
type view struct {
	r    *Rules
	a    *script.Analysis
	i    int
	c    *script.Command
	line cmdline
	// context is the one that the rule at hand is for; empty: for all.
	context Context
	dir     string // working directory; empty when it is not known

	accessed bool
	accesses []target
	// What operandTargets returned last.
	operandsOf   []target
	operandsSkip int
	operandsDone bool
	// What the path lists asked so far have shown of both.
	comps             []comp        // the memory of paths
	spare             []script.Word // the memory of operandList
	at                workDir
	judging           judging
	valuesDone        bool
	vals              condition.Values
	branches          *branchFact
	walked            int // files looked at for what can be had again, of all targets
	ownFrom, ownUntil int // see ownRange; 0: not looked
	expanded          int // names that patterns stand for, of all targets
}

// keptLimit is how many elements of each kind are kept for the next Judge.
const keptLimit = 256

// borrowView is newView with the memory of the Judge before, if nobody has it.
func (r *Rules) borrowView(a *script.Analysis, i int) *view {
	v := r.lastView
	r.lastView = nil
	if v == nil {
		v = new(view)
	}
	v.at.mayOpen = true
	v.init(r, a, i)
	return v
}

// giveBack ends the use of the view: nothing of it may be kept but text.
func (v *view) giveBack() {
	v.at.close()
	r, next := v.r, view{}
	if cap(v.accesses) <= keptLimit {
		next.accesses = v.accesses[:0]
	}
	if cap(v.operandsOf) <= keptLimit {
		next.operandsOf = v.operandsOf[:0]
	}
	if cap(v.comps) <= keptLimit {
		next.comps = v.comps[:0]
	}
	if cap(v.spare) <= keptLimit {
		next.spare = v.spare[:0]
	}
	*v = next
	r.lastView = v
}

func newView(r *Rules, a *script.Analysis, i int) *view {
	v := new(view)
	v.init(r, a, i)
	return v
}

func (v *view) init(r *Rules, a *script.Analysis, i int) {
	v.r, v.a, v.i, v.c = r, a, i, &a.Commands[i]
	r.budget = a.Budget
	a.Budget.Spend(1 + (len(v.c.Argv)+len(v.c.Redirects))/8)
	v.walked, v.expanded, v.ownFrom, v.ownUntil = 0, 0, 0, 0
	v.line.read(v.c.Argv)
	if v.c.Function {
		v.line.name, v.line.spec = "", command.Of("") // not the program of that name
	}
	if d, ok := v.c.Dir.Text(); ok && strings.HasPrefix(d, "/") {
		v.dir = d
	}
}

// spend counts work; false when no more may be done.
func (v *view) spend(n int) bool { return v.a.Budget.Spend(n) }

// rightContext reports whether the rule at hand is for whoever runs the command.
func (v *view) rightContext() bool { return v.context == "" || v.context == v.r.who() }

// repoDir is where repository rules are looked for: the command's directory,
// or, when that is not known, the last one in the text that was.
func (v *view) repoDir() string {
	return v.knownDir()
}

// keys are the index keys of the rules that can match.
func (v *view) keys() (keys [4]string, n int) {
	if v.line.name != "" {
		keys[n] = v.line.name
		n++
		switch {
		case v.line.unknownSub:
			keys[n] = v.line.name + " ?"
			n++
		case v.line.sub != "":
			keys[n] = v.line.name + " " + v.line.sub
			n++
		default:
			// A program without a table: its first operand may be what a rule
			// calls a subcommand.
			v.line.operands(0, func(i int) bool {
				if s, ok := v.line.words[i].Text(); ok {
					keys[n] = v.line.name + " " + s
					n++
				}
				return false
			})
		}
	}
	keys[n] = everyCommand
	return keys, n + 1
}

// have says which needs of rules the command can meet.
func (v *view) have() needs {
	n := needArgs
	if len(v.line.words) < 2 {
		n = 0
	}
	if v.c.Function {
		n |= needFunction
	}
	if len(v.c.Redirects) > 0 {
		n |= needRedirect
	}
	if v.line.hasOption {
		n |= needFlags
	}
	if v.line.hasUnknown {
		n |= needUnknown
	}
	if len(v.c.FeedsTo)+len(v.c.GivesTo) > 0 {
		n |= needPipe
	}
	if len(v.c.FedBy) > 0 {
		n |= needFed
	}
	if len(v.c.Via) > 0 {
		n |= needVia
	}
	if v.c.Remote != "" {
		n |= needRemote
	}
	if len(v.c.Assigns) > 0 || v.i > 0 || v.c.TailOf >= 0 || v.line.name == "export" || v.line.name == "env" || v.line.name == "declare" || v.line.name == "typeset" {
		n |= needAssign
	}
	if len(v.c.FedBy) > 0 || v.c.Stdin != nil || len(v.c.Redirects) > 0 {
		n |= needInput
	}
	for i := range v.targets() {
		if v.accesses[i].kind == accRead {
			n |= needReads
		} else {
			n |= needChange
		}
	}
	return n
}

// args returns the exact arguments; known is false when one is not.
func (v *view) args() (args []string, known bool) {
	if len(v.c.Argv) == 0 {
		return nil, false
	}
	for _, w := range v.c.Argv[1:] {
		s, ok := w.Text()
		if !ok {
			return nil, false
		}
		args = append(args, s)
	}
	return args, true
}

// values are what conditions see.
func (v *view) values() condition.Values {
	if v.valuesDone {
		return v.vals
	}
	v.valuesDone = true
	v.vals.Dir = v.dir
	var b strings.Builder
	for i, w := range v.c.Argv {
		s := ""
		if i == 0 {
			if t, ok := w.Text(); ok {
				v.vals.Name = quote(baseName(t))
			} else {
				v.vals.Name = shown(v.a.Text, w, v.c.Nested)
			}
			continue
		}
		s = shown(v.a.Text, w, v.c.Nested)
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	v.vals.Args = b.String()
	return v.vals
}
