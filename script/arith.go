package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithmExp expands $((x)).
func (e *expander) arithmExp(p *syntax.ArithmExp, quoted bool) {
	if n, ok := e.a.arith(p.X, e.st, e.c); ok {
		e.value([]Part{{Text: strconv.Itoa(n)}}, quoted)
		return
	}
	e.add(Part{Kind: Variable, Name: strings.TrimPrefix(e.c.src.written(p), "$"), Split: !quoted && e.split})
}

// arith evaluates arithmetic; ok is false when the result is not known. What
// it assigns is assigned, and what it would run (subscripts of names and of
// values) is listed.
func (a *analyzer) arith(x syntax.ArithmExpr, st *state, c *ctx) (n int, ok bool) {
	if x == nil || !a.step() || !a.deeper() {
		return 0, false
	}
	defer func() { a.depth-- }()
	switch x := x.(type) {
	case *syntax.Word:
		return a.arithWord(x, st, c)
	case *syntax.ParenArithm:
		return a.arith(x.X, st, c)
	case *syntax.FlagsArithm:
		if x.Flags != nil {
			a.hidden(c.src.decode(x.Flags.Value), st, c)
		}
		if x.X != nil {
			a.arith(x.X, st, c)
		}
		return 0, false
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			v, ok := a.arith(x.X, st, c)
			d := 1
			if x.Op == syntax.Dec {
				d = -1
			}
			a.assignArith(x.X, v+d, ok, st, c)
			if !x.Post {
				v += d
			}
			return v, ok
		}
		v, ok := a.arith(x.X, st, c)
		switch x.Op {
		case syntax.Not:
			return truth(v == 0), ok
		case syntax.BitNegation:
			return ^v, ok
		case syntax.Minus:
			return -v, ok
		}
		return v, ok
	case *syntax.BinaryArithm:
		return a.arithBinary(x, st, c)
	}
	return 0, false
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (a *analyzer) arithWord(w *syntax.Word, st *state, c *ctx) (int, bool) {
	if name := w.Lit(); isName(name) {
		return a.arithName(name, st, c)
	}
	if len(w.Parts) == 1 {
		// a[subscript], without a dollar.
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok && !p.Dollar.IsValid() && p.Index != nil {
			a.arith(p.Index, st, c)
			return 0, false
		}
	}
	v := a.single(w, st, c, false)
	t, ok := v.Text()
	if !ok {
		return 0, false
	}
	if isName(t) {
		return a.arithName(t, st, c)
	}
	return a.arithText(t, st, c)
}

func (a *analyzer) arithName(name string, st *state, c *ctx) (int, bool) {
	v := a.lookup(name, st)
	switch t, ok := (Word{Parts: v.parts}).Text(); {
	case v.kind == isUnset:
		return 0, true
	case v.kind == isScalar && ok:
		return a.arithText(t, st, c)
	}
	return 0, false
}

// arithText evaluates the value of a variable or a quoted text, which shells
// read as an expression again: x='a[$(cmd)]' runs cmd.
func (a *analyzer) arithText(t string, st *state, c *ctx) (int, bool) {
	t = strings.TrimSpace(t)
	if t == "" {
		return 0, true
	}
	base := 10
	if len(t) > 1 && t[0] == '0' && c.src.lang != Zsh {
		base = 0
		if strings.ContainsAny(t, "_oObB") {
			return 0, false
		}
	}
	if n, err := strconv.ParseInt(t, base, 64); err == nil {
		return int(n), true
	}
	a.hidden(t, st, c)
	return 0, false
}

// assignArith assigns the result of an arithmetic assignment.
func (a *analyzer) assignArith(x syntax.ArithmExpr, n int, ok bool, st *state, c *ctx) {
	w, isWord := x.(*syntax.Word)
	if !isWord || len(w.Parts) != 1 {
		return
	}
	name := w.Lit()
	if p, isParam := w.Parts[0].(*syntax.ParamExp); isParam && p.Param != nil {
		st.forget(p.Param.Value)
		return
	}
	if !isName(name) {
		return
	}
	v := value{integer: c.src.lang == Zsh} // in zsh it becomes an integer
	if ok {
		v.kind, v.parts = isScalar, []Part{{Text: strconv.Itoa(n)}}
	}
	st.set(name, v)
}

func (a *analyzer) arithBinary(x *syntax.BinaryArithm, st *state, c *ctx) (int, bool) {
	switch x.Op {
	case syntax.Assgn:
		v, ok := a.arith(x.Y, st, c)
		a.arithTarget(x.X, st, c)
		a.assignArith(x.X, v, ok, st, c)
		return v, ok
	case syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn,
		syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn, syntax.AndBoolAssgn,
		syntax.OrBoolAssgn, syntax.XorBoolAssgn, syntax.PowAssgn:
		a.arith(x.X, st, c)
		a.arith(x.Y, st, c)
		a.assignArith(x.X, 0, false, st, c)
		return 0, false
	case syntax.AndArit, syntax.OrArit, syntax.TernQuest, syntax.TernColon, syntax.XorBool:
		// Which side is evaluated depends on the other.
		v, ok := a.arith(x.X, st, c)
		side := st.clone()
		w, ok2 := a.arith(x.Y, side, c)
		st.join(side)
		switch x.Op {
		case syntax.AndArit:
			return truth(v != 0 && w != 0), ok && ok2
		case syntax.OrArit:
			return truth(v != 0 || w != 0), ok && ok2
		}
		return 0, false
	}
	v, ok := a.arith(x.X, st, c)
	w, ok2 := a.arith(x.Y, st, c)
	if !ok || !ok2 {
		return 0, false
	}
	switch x.Op {
	case syntax.Add:
		return v + w, true
	case syntax.Sub:
		return v - w, true
	case syntax.Mul:
		return v * w, true
	case syntax.Quo:
		if w != 0 && w != -1 {
			return v / w, true
		}
	case syntax.Rem:
		if w != 0 && w != -1 {
			return v % w, true
		}
	case syntax.Eql:
		return truth(v == w), true
	case syntax.Neq:
		return truth(v != w), true
	case syntax.Lss:
		return truth(v < w), true
	case syntax.Gtr:
		return truth(v > w), true
	case syntax.Leq:
		return truth(v <= w), true
	case syntax.Geq:
		return truth(v >= w), true
	case syntax.And:
		return v & w, true
	case syntax.Or:
		return v | w, true
	case syntax.Xor:
		return v ^ w, true
	case syntax.Shl:
		if w >= 0 && w < 63 {
			return v << w, true
		}
	case syntax.Shr:
		if w >= 0 && w < 63 {
			return v >> w, true
		}
	case syntax.Comma:
		return w, true
	}
	return 0, false
}

// arithTarget runs the subscript of an assignment's left side.
func (a *analyzer) arithTarget(x syntax.ArithmExpr, st *state, c *ctx) {
	if w, ok := x.(*syntax.Word); ok && len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ParamExp); ok && p.Index != nil {
			a.arith(p.Index, st, c)
		}
	}
}

// hidden lists what a text would run when a shell expands it: a subscript in a
// value, PS4, the argument of test -v.
func (a *analyzer) hidden(text string, st *state, c *ctx) {
	if !strings.Contains(text, "$(") && !strings.Contains(text, "`") && !strings.Contains(text, "${") &&
		!strings.Contains(text, "<(") && !strings.Contains(text, "$[") {
		return
	}
	src := a.inside(text, c)
	if src == nil {
		return
	}
	defer a.outside()
	src.encode()
	w, err := parseDocument(src.text, src.lang)
	if err != nil {
		a.unknown("text that the shell expands does not parse: "+err.Error(), src, src.span)
		return
	}
	sub := *c
	sub.src = src
	a.body(w, st, &sub)
}
