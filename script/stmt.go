package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// outcome says how the state after a statement that failed differs from the
// state after one that succeeded: fail is nil when it does not. lost holds
// the states of a cd that failed, which count only where the text itself asks
// for failure. sure: nothing but that cd can fail.
type outcome struct {
	fail, lost *state
	sure       bool
}

// stmts walks a list of statements.
func (a *analyzer) stmts(list []*syntax.Stmt, st *state, c *ctx) {
	for _, s := range list {
		if a.over {
			return
		}
		if st.dead {
			// What follows an exit is listed all the same, but changes nothing.
			st = st.clone()
			st.dead, st.exited = false, false
		}
		o := a.stmt(s, st, c)
		st.join(o.fail)
	}
}

// stmt walks one statement; st becomes the state after its success.
func (a *analyzer) stmt(s *syntax.Stmt, st *state, c *ctx) outcome {
	if s == nil || !a.step() || !a.deeper() {
		return outcome{}
	}
	defer func() { a.depth-- }()
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && s.Background && c.src.lang == Zsh && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt) {
		// zsh runs only the last pipeline of a && b & in the background.
		front, list, last := *s, *b, *b.Y
		last.Background = true
		list.Y, front.Cmd, front.Background = &last, &list, false
		s = &front
	}
	if s.Background || s.Coprocess || s.Disown {
		sub := st.clone()
		c2 := *c
		if !s.Coprocess {
			c2.stdin = nil
		}
		a.command(s, sub, &c2)
		return outcome{}
	}
	o := a.command(s, st, c)
	if s.Negated {
		ok := st.clone()
		switch {
		case o.fail != nil && o.lost != nil:
			o.fail.join(o.lost)
			*st = *o.fail
		case o.fail != nil:
			*st = *o.fail
		case o.lost != nil:
			st.join(o.lost)
		}
		return outcome{fail: ok}
	}
	return o
}

// command walks a statement without its ! and &.
func (a *analyzer) command(s *syntax.Stmt, st *state, c *ctx) outcome {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return a.callExpr(call, s, st, c)
	}
	if s.Cmd == nil {
		a.redirOnly(s, st, c)
		return outcome{}
	}
	switch s.Cmd.(type) {
	case *syntax.DeclClause, *syntax.LetClause:
		return a.declared(s, st, c)
	}
	if len(s.Redirs) > 0 {
		pend := len(a.pending)
		r := a.redirects(s.Redirs, st, c)
		sub := *c
		r.apply(&sub)
		from := len(a.cmds)
		o := a.compound(s.Cmd, st, &sub)
		a.feedPending(pend, from)
		r.record(a, st, sub.sink)
		return o
	}
	return a.compound(s.Cmd, st, c)
}

// feedPending links the commands of >(...) to those that write to it.
func (a *analyzer) feedPending(pend, from int) {
	if len(a.pending) <= pend {
		return
	}
	for _, i := range a.pending[pend:] {
		for p := from; p < len(a.cmds); p++ {
			if p != i && !slices.Contains(a.cmds[i].FedBy, p) && len(a.cmds[i].FedBy) < 64 {
				a.cmds[i].FedBy = append(a.cmds[i].FedBy, p)
			}
		}
	}
	a.pending = a.pending[:pend]
}

func (a *analyzer) compound(cmd syntax.Command, st *state, c *ctx) outcome {
	switch x := cmd.(type) {
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			a.pipe(x, st, c)
			return outcome{}
		}
		return a.andOr(x, st, c)
	case *syntax.Block:
		a.stmts(x.Stmts, st, c)
	case *syntax.Subshell:
		a.stmts(x.Stmts, st.clone(), c)
	case *syntax.IfClause:
		a.ifClause(x, st, c)
	case *syntax.WhileClause:
		a.whileClause(x, st, c)
	case *syntax.ForClause:
		a.forClause(x, st, c)
	case *syntax.CaseClause:
		a.caseClause(x, st, c)
	case *syntax.FuncDecl:
		a.funcDecl(x, st, c)
	case *syntax.ArithmCmd:
		a.arith(x.X, st, c)
	case *syntax.TestClause:
		a.test(x.X, st, c)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			return a.stmt(x.Stmt, st, c)
		}
	case *syntax.CoprocClause:
		a.coproc(x, st, c)
	case *syntax.TestDecl:
		a.stmt(x.Body, st, c)
	default:
		a.unknown("a construct that is not analysed", c.src, c.src.spanOf(cmd.Pos(), cmd.End()))
	}
	return outcome{}
}

// isFalse reports whether a statement is the builtin false and nothing else.
func isFalse(s *syntax.Stmt, st *state) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && !s.Negated && len(call.Args) == 1 && len(call.Assigns)+len(s.Redirs)+len(st.aliases) == 0 &&
		call.Args[0].Lit() == "false" && len(st.funcs["false"]) == 0
}

// andOr walks a && b and a || b.
func (a *analyzer) andOr(x *syntax.BinaryCmd, st *state, c *ctx) outcome {
	first := a.stmt(x.X, st, c)
	if x.Op == syntax.AndStmt && isFalse(x.X, st) {
		return first // the rest is named, and never runs
	}
	if first.fail == nil && (x.Op == syntax.AndStmt || first.lost == nil) && leavesState(x.Y, st) {
		if x.Op == syntax.OrStmt {
			c.sink.lose()
		}
		a.stmt(x.Y, st, c)
		return outcome{lost: first.lost}
	}
	if x.Op == syntax.AndStmt {
		// The right side runs after success; failure may come from either.
		fail := first.fail
		if fail == nil && !first.sure {
			fail = st.clone()
		}
		second := a.stmt(x.Y, st, c)
		lost := either(first.lost, second.lost)
		if second.sure && second.fail == nil {
			return outcome{fail, lost, fail == nil}
		}
		after := second.fail
		if after == nil {
			after = st.clone()
		}
		if fail == nil {
			fail = after
		} else {
			fail.join(after)
		}
		if fail.same(st) && fail.dead == st.dead {
			fail = nil
		}
		return outcome{fail, lost, false}
	}
	c.sink.lose()
	ok := st.clone()
	if first.fail != nil {
		*st = *first.fail
		st.join(first.lost)
	} else if first.lost != nil {
		// A cd that failed is the reason to be here, if anything is.
		if _, simple := x.X.Cmd.(*syntax.CallExpr); simple {
			*st = *first.lost
		} else {
			st.join(first.lost)
		}
	}
	second := a.stmt(x.Y, st, c)
	fail := second.fail
	if fail == nil && !st.dead {
		fail = st.clone()
	}
	st.join(ok)
	if fail != nil && fail.same(st) {
		fail = nil
	}
	return outcome{fail, second.lost, second.sure && fail == nil}
}

func either(x, y *state) *state {
	if x == nil {
		return y
	}
	if y != nil {
		x.join(y)
	}
	return x
}

// leavesState reports whether a statement is a plain program that cannot
// change the shell, so that no copy of its state is needed.
func leavesState(s *syntax.Stmt, st *state) bool {
	x, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(x.Assigns) > 0 || len(x.Args) == 0 || len(st.funcs)+len(st.aliases)+len(st.hashed) > 0 {
		return false
	}
	for i, w := range x.Args {
		for _, p := range w.Parts {
			switch p := p.(type) {
			case *syntax.SglQuoted:
			case *syntax.Lit:
				if i == 0 && (len(w.Parts) > 1 || !plain(p.Value) || changesState(p.Value)) {
					return false
				}
				continue
			case *syntax.DblQuoted:
				for _, in := range p.Parts {
					if _, ok := in.(*syntax.Lit); !ok {
						return false
					}
				}
			default:
				return false
			}
			if i == 0 {
				return false
			}
		}
	}
	for _, r := range s.Redirs {
		if r.N != nil && (r.N.Value == "" || r.N.Value[0] < '0' || r.N.Value[0] > '9') {
			return false
		}
		for _, p := range r.Word.Parts {
			if _, ok := p.(*syntax.Lit); !ok {
				return false
			}
		}
		if r.Hdoc != nil {
			return false
		}
	}
	return true
}

// changesState names the builtins that change the shell.
func changesState(name string) bool {
	switch name {
	case "cd", "chdir", "pushd", "popd", "eval", ".", "source", "command", "builtin", "exec", "noglob", "nocorrect", "-", "repeat", "export",
		"readonly", "declare", "typeset", "local", "integer", "float", "nameref", "exit", "logout", "return", "break", "continue", "set",
		"shift", "unset", "read", "mapfile", "readarray", "getopts", "let", "trap", "alias", "unalias", "hash", "enable", "printf", "wait",
		"compgen", "complete", "fc", "emulate", "sched", "setopt", "unsetopt", "shopt", "test", "[", "print", "unhash", "functions", "vared", "zle", "coproc":
		return true
	}
	return false
}

// pipe walks a | b | c. Each side has its own copy of the shell; zsh runs the
// last one in the shell itself.
func (a *analyzer) pipe(x *syntax.BinaryCmd, st *state, c *ctx) {
	sides := make([]*syntax.Stmt, 0, 4)
	for s := x; ; {
		sides = append(sides, s.Y)
		left, ok := s.X.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Op != syntax.Pipe && left.Op != syntax.PipeAll || len(s.X.Redirs) > 0 || s.X.Negated || s.X.Background {
			sides = append(sides, s.X)
			break
		}
		s = left
	}
	slices.Reverse(sides)
	sub := *c
	sinks := make([]sink, len(sides)-1)
	for i, s := range sides {
		if a.over {
			return
		}
		last := i == len(sides)-1
		run := st
		if !leavesState(s, st) {
			run = st.clone()
		}
		if last {
			sub.sink = c.sink
			if c.src.lang == Zsh {
				run = st
			}
		} else {
			sub.sink = &sinks[i]
		}
		o := a.stmt(s, run, &sub)
		run.join(o.fail)
		if !last {
			sub.fedBy, sub.stdin = sub.sink.idx, sub.sink.word()
		}
	}
}

// ifClause walks if, elif, else.
func (a *analyzer) ifClause(x *syntax.IfClause, st *state, c *ctx) {
	c.sink.lose()
	if x.ThenPos.IsValid() || len(x.Cond) > 0 {
		no := a.condition(x.Cond, st, c)
		a.stmts(x.Then, st, c)
		if x.Else != nil {
			a.ifClause(x.Else, no, c)
		}
		st.join(no)
		return
	}
	a.stmts(x.Then, st, c)
}

// condition walks a condition; st becomes the state in which it holds, the
// result is the one in which it does not.
func (a *analyzer) condition(cond []*syntax.Stmt, st *state, c *ctx) *state {
	if len(cond) == 0 {
		return st.clone()
	}
	a.stmts(cond[:len(cond)-1], st, c)
	o := a.stmt(cond[len(cond)-1], st, c)
	no := o.fail
	if no == nil {
		no = st.clone()
		if o.lost != nil {
			no = o.lost
		}
	} else {
		no.join(o.lost)
	}
	return no
}

func (a *analyzer) caseClause(x *syntax.CaseClause, st *state, c *ctx) {
	c.sink.lose()
	a.single(x.Word, st, c, false)
	begin := st.clone()
	var fall *state
	for _, item := range x.Items {
		run := begin.clone()
		for _, p := range item.Patterns {
			a.single(p, run, c, false)
		}
		if fall != nil {
			run.join(fall)
			fall = nil
		}
		a.stmts(item.Stmts, run, c)
		if item.Op != syntax.Break {
			fall = run.clone()
		}
		st.join(run)
	}
}

func (a *analyzer) funcDecl(x *syntax.FuncDecl, st *state, c *ctx) {
	names := x.Names
	if x.Name != nil {
		names = append(slices.Clip(names), x.Name)
	}
	if len(names) == 0 && x.Body != nil {
		// zsh: a function without a name runs at once.
		a.stmt(x.Body, st, c)
		return
	}
	for _, n := range names {
		f := &function{name: c.src.decode(strings.ReplaceAll(n.Value, "\\", "")), body: x.Body, src: c.src}
		if c.loop {
			if old := st.funcs[f.name]; len(old) == 1 && old[0].body == f.body {
				continue
			}
		}
		st.define(f)
		if calledByShell(f.name) {
			a.callFunction(f, nil, true, st.clone(), c)
		}
	}
}

// calledByShell names the functions that shells call by themselves.
func calledByShell(name string) bool {
	switch name {
	case "command_not_found_handle", "command_not_found_handler", "precmd", "preexec", "chpwd", "periodic", "zshexit":
		return true
	}
	return strings.HasPrefix(name, "TRAP")
}

func (a *analyzer) coproc(x *syntax.CoprocClause, st *state, c *ctx) {
	sub := *c
	sub.fedBy, sub.stdin, sub.sink = nil, nil, nil
	from := len(a.cmds)
	a.stmt(x.Stmt, st.clone(), &sub)
	for i := from; i < len(a.cmds); i++ {
		if readsCode(&a.cmds[i]) {
			a.unknown("a coprocess runs what is written to it later", c.src, a.cmds[i].Span)
		}
	}
}

// test walks [[ ... ]].
func (a *analyzer) test(x syntax.TestExpr, st *state, c *ctx) {
	if !a.step() || !a.deeper() {
		return
	}
	defer func() { a.depth-- }()
	switch x := x.(type) {
	case *syntax.Word:
		a.single(x, st, c, false)
	case *syntax.ParenTest:
		a.test(x.X, st, c)
	case *syntax.UnaryTest:
		w, ok := x.X.(*syntax.Word)
		if !ok {
			a.test(x.X, st, c)
			return
		}
		v := a.single(w, st, c, false)
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			a.variableName(v, st, c)
		}
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if w, ok := side.(*syntax.Word); ok {
					a.arithWord(w, st, c)
				}
			}
		default:
			a.test(x.X, st, c)
			a.test(x.Y, st, c)
		}
	}
}
