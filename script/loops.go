package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// settle walks a loop's body until the state at its start no longer changes.
func (a *analyzer) settle(st *state, c *ctx, body func(st *state, c *ctx)) {
	c.sink.lose()
	sub := *c
	sub.loop = true
	mark, uns, pend := len(a.cmds), len(a.unknowns), len(a.pending)
	idx := 0
	if sub.sink != nil {
		idx = len(sub.sink.idx)
	}
	for pass := 0; ; pass++ {
		run := st.clone()
		body(run, &sub)
		run.dead = false
		before := st.clone()
		st.join(run)
		if a.over || st.same(before) {
			return
		}
		if pass >= maxPasses {
			st.forgetAll()
			st.dir, st.paramsLost, st.params = noDir(), true, nil
			st.oldKnown, st.stackLost = false, true
			body(st.clone(), &sub)
			return
		}
		// Once more, from what is known of every round.
		a.truncate(mark)
		a.unknowns, a.pending = a.unknowns[:uns], a.pending[:min(pend, len(a.pending))]
		if sub.sink != nil {
			sub.sink.idx = sub.sink.idx[:idx]
		}
	}
}

func (a *analyzer) whileClause(x *syntax.WhileClause, st *state, c *ctx) {
	a.settle(st, c, func(st *state, c *ctx) {
		no := a.condition(x.Cond, st, c)
		if x.Until {
			*st, *no = *no, *st
		}
		a.stmts(x.Do, st, c)
		st.join(no)
	})
}

func (a *analyzer) forClause(x *syntax.ForClause, st *state, c *ctx) {
	switch l := x.Loop.(type) {
	case *syntax.CStyleLoop:
		a.arith(l.Init, st, c)
		a.settle(st, c, func(st *state, c *ctx) {
			a.arith(l.Cond, st, c)
			a.stmts(x.Do, st, c)
			a.arith(l.Post, st, c)
		})
	case *syntax.WordIter:
		a.forWords(x, l, st, c)
	}
}

func (a *analyzer) forWords(x *syntax.ForClause, l *syntax.WordIter, st *state, c *ctx) {
	if l.Name == nil {
		return
	}
	var items []Word
	known := true
	if l.InPos.IsValid() {
		items = a.fields(l.Items, st, c)
	} else {
		items, known = st.params, !st.paramsLost
	}
	name := l.Name.Value
	one := func(w Word, st *state, c *ctx) {
		st.set(name, itemValue(w))
		a.stmts(x.Do, st, c)
	}
	exact := known && len(items) <= maxUnroll && !x.Select
	for _, w := range items {
		exact = exact && !mayBeMany(w)
	}
	if exact && !leaves(x.Do) {
		// Each value in turn, as the shell does it.
		for _, w := range items {
			if a.over {
				return
			}
			one(w, st, c)
		}
		return
	}
	// In any order, any number of times. Known values are looked at one by
	// one, so that each shows in a command.
	if !known {
		items = append(slices.Clip(items), Word{Parts: []Part{{Kind: Operand, Name: "@", Split: true}}})
	}
	many := len(items) > maxUnroll
	a.settle(st, c, func(st *state, c *ctx) {
		begin := st.clone()
		for i, w := range items {
			if a.over || i > maxUnroll {
				break
			}
			run := begin.clone()
			if many {
				run.forget(name)
				one2 := run
				a.stmts(x.Do, one2, c)
				st.join(one2)
				break
			}
			one(w, run, c)
			run.dead = false
			st.join(run)
		}
	})
}

// itemValue is the value of a loop variable for one word. Of a word that may
// be split, it is a piece of which nothing is known.
func itemValue(w Word) value {
	ps := make([]Part, len(w.Parts))
	copy(ps, w.Parts)
	for _, p := range ps {
		if p.Split {
			if p.Kind == Glob {
				p.Kind = Variable
			}
			ps = []Part{p}
			break
		}
	}
	for i := range ps {
		ps[i].Split = false
	}
	return value{kind: isScalar, parts: ps}
}

// mayBeMany reports whether a word may stand for several or none.
func mayBeMany(w Word) bool {
	for _, p := range w.Parts {
		if p.Split || p.Kind == Glob {
			return true
		}
	}
	return false
}

// leaves reports whether a loop's body may leave the loop early.
func leaves(list []*syntax.Stmt) bool {
	found := false
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				switch call.Args[0].Lit() {
				case "break", "continue", "return", "exit", "eval", "exec", "command", "builtin", "trap", "":
					found = true
				}
			}
			return !found
		})
	}
	return found
}
