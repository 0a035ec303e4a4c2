package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// decl are the options of an export, declare or local.
type decl struct {
	variant                        string
	exported, integer, odd, ref    bool
	unexport, functions, listArray bool
}

// option takes one word of options; false when it is none.
func (d *decl) option(t string) bool {
	if len(t) < 2 || t[0] != '-' && t[0] != '+' {
		return false
	}
	on := t[0] == '-'
	for _, c := range t[1:] {
		switch c {
		case 'x':
			d.exported = on
		case 'i', 'E', 'F':
			d.integer = on
		case 'u', 'l', 'c', 'L', 'R', 'Z', 'T':
			d.odd = on
		case 'n':
			if d.variant == "export" {
				d.unexport = on
			} else {
				d.ref = on
			}
		case 'f':
			d.functions = true
		case 'a', 'A':
			d.listArray = true
		}
	}
	return true
}

// attr is the value that carries the attributes alone.
func (d *decl) attr() value {
	return value{
		exported: d.exported || d.variant == "export",
		integer:  d.integer || d.variant == "integer" || d.variant == "float",
		odd:      d.odd,
	}
}

// localize remembers what a local variable hides.
func (d *decl) localize(name string, st *state) {
	if st.locals == nil || d.variant == "export" || d.variant == "readonly" {
		return
	}
	v, had := st.vars[name]
	*st.locals = append(*st.locals, saved{name, v, had})
	st.own()
	delete(st.vars, name)
}

// declareArg performs one argument and adds it to the command's words.
func (a *analyzer) declareArg(d *decl, as *syntax.Assign, k *call) {
	st, c := k.st, k.c
	switch {
	case as.Naked && as.Name == nil:
		if as.Value == nil {
			return
		}
		for _, w := range a.fields([]*syntax.Word{as.Value}, st, c) {
			k.argv = append(k.argv, w)
			a.declareWord(d, w, st, c)
		}
	case as.Naked:
		w := Lit(as.Name.Value)
		w.Span = c.src.spanOf(as.Pos(), as.End())
		if as.Index != nil {
			a.arith(as.Index, st, c)
		}
		k.argv = append(k.argv, w)
		a.declareWord(d, w, st, c)
	default:
		name := as.Name.Value
		if c.src.lang == Bash && as.Value != nil && hasBrace(as.Value) {
			// declare X={a,b} assigns each in turn.
			e := expander{a: a, st: st, c: c, split: true}
			if ws := e.braces(as.Value); len(ws) > 1 {
				last := *as
				last.Value = &syntax.Word{Parts: ws[len(ws)-1]}
				as = &last
			}
		}
		if d.ref {
			v := a.single(as.Value, st, c, true)
			a.nameref(name, v, d, st, c)
			k.argv = append(k.argv, named(name, v, c.src.spanOf(as.Pos(), as.End())))
			return
		}
		// The value is expanded before the name becomes local.
		probe := st.clone()
		v := a.assign(as, probe, c, d.attr())
		d.localize(name, st)
		if d.variant == "local" && st.locals == nil && c.src.lang == Bash {
			probe.forget(name)
		}
		val := probe.vars[probe.deref(name)]
		if as.Append {
			st.join(probe)
		} else {
			st.set(name, val)
		}
		k.argv = append(k.argv, named(name, v, c.src.spanOf(as.Pos(), as.End())))
	}
}

func named(name string, v Word, span Span) Word {
	return Word{Parts: merge(append([]Part{{Text: name + "="}}, v.Parts...)), Span: span}
}

// declareWord performs one argument that is an expanded word.
func (a *analyzer) declareWord(d *decl, w Word, st *state, c *ctx) {
	if len(w.Parts) == 0 {
		return
	}
	head := w.Parts[0]
	if head.Kind != Literal {
		// Which variable it is, nobody knows. declare expands a subscript in
		// the name; export only sets.
		st.forgetAll()
		if d.variant != "export" && d.variant != "readonly" {
			a.unknown(d.variant+" sets a variable whose name is not known: "+clip(wordName(w)), c.src, a.at)
		}
		return
	}
	if d.option(head.Text) && len(w.Parts) == 1 {
		return
	}
	name, val, ok := strings.Cut(head.Text, "=")
	name = strings.TrimSuffix(name, "+")
	if !ok {
		if len(w.Parts) > 1 {
			st.forgetAll()
			return
		}
		a.declareName(d, name, st, c)
		return
	}
	v := Word{Parts: merge(append([]Part{{Text: val}}, w.Parts[1:]...))}
	if val == "" {
		v.Parts = slices.Clone(w.Parts[1:])
	}
	if !isName(name) {
		a.hidden(name, st, c)
		name, _, _ = strings.Cut(name, "[")
		if isName(name) {
			st.forget(name)
		}
		return
	}
	if d.ref {
		a.nameref(name, v, d, st, c)
		return
	}
	if d.variant == "local" && st.locals == nil && c.src.lang == Bash {
		st.forget(name) // an error outside functions
		return
	}
	a.assigned(name, v, st, c)
	d.localize(name, st)
	nv := d.attr()
	nv.kind, nv.parts = isScalar, v.Parts
	if strings.HasSuffix(head.Text[:strings.IndexByte(head.Text, '=')], "+") || strings.HasPrefix(val, "(") && d.listArray {
		nv.kind, nv.parts = isUnknown, nil
	}
	if nv.integer {
		if t, known := v.Text(); known {
			a.arithText(t, st, c)
		}
	}
	st.set(name, nv)
}

// declareName handles a name without a value.
func (a *analyzer) declareName(d *decl, name string, st *state, c *ctx) {
	if d.functions {
		return
	}
	if !isName(name) {
		a.hidden(name, st, c)
		return
	}
	attr := d.attr()
	switch {
	case d.unexport:
		if v, ok := st.vars[name]; ok {
			st.own()
			v.exported = false
			st.vars[name] = v
		}
	case d.variant == "export" || d.variant == "readonly":
		v := a.lookup(name, st)
		v.exported = v.exported || attr.exported
		if _, ok := st.vars[st.deref(name)]; ok {
			st.set(name, v)
		}
	case st.locals != nil:
		d.localize(name, st)
		attr.kind = isUnset
		if d.listArray {
			attr.kind = isArray
		}
		if d.ref {
			attr.kind = isUnknown
		}
		st.set(name, attr)
	default:
		v := a.lookup(name, st)
		v.integer, v.odd = v.integer || attr.integer, v.odd || attr.odd
		v.exported = v.exported || attr.exported
		if v.kind == isScalar && (attr.integer || attr.odd) {
			v.kind, v.parts = isUnknown, nil
		}
		st.set(name, v)
	}
}

// nameref makes name stand for another variable.
func (a *analyzer) nameref(name string, v Word, d *decl, st *state, c *ctx) {
	d.localize(name, st)
	if c.src.lang == Zsh {
		st.forget(name) // zsh 5.9 has none
		return
	}
	t, ok := v.Text()
	if !ok {
		a.unknown("declare -n makes "+name+" stand for a variable that is not known", c.src, a.at)
		st.forgetAll()
		return
	}
	a.hidden(t, st, c)
	if !isName(t) {
		st.forget(name)
		return
	}
	st.own()
	delete(st.vars, name)
	if st.deref(t) != name {
		st.set(name, value{ref: t})
	}
}

// letExpr evaluates one argument of let.
func (a *analyzer) letExpr(x syntax.ArithmExpr, k *call) {
	if w, ok := x.(*syntax.Word); ok {
		if name := w.Lit(); !isName(name) {
			v := a.single(w, k.st, k.c, false)
			k.argv = append(k.argv, v)
			a.letText(v, k)
			return
		}
	}
	k.argv = append(k.argv, Lit(k.c.src.written(x)))
	a.arith(x, k.st, k.c)
}

// letText evaluates an argument of let that is text.
func (a *analyzer) letText(w Word, k *call) {
	t, ok := w.Text()
	if !ok {
		if len(w.Parts) > 0 && w.Parts[0].Kind == Literal {
			if i := strings.IndexAny(w.Parts[0].Text, "+-*/%&|^<>= "); i > 0 && isName(w.Parts[0].Text[:i]) {
				k.st.forget(w.Parts[0].Text[:i])
				return
			}
		}
		k.st.forgetAll()
		return
	}
	a.hidden(t, k.st, k.c)
	p := syntax.NewParser(syntax.Variant(variant(k.c.src.lang)))
	x, err := p.Arithmetic(strings.NewReader(t))
	if err != nil || x == nil {
		k.st.forgetAll()
		return
	}
	src := a.inside(t, k.c)
	if src == nil {
		return
	}
	defer a.outside()
	c := *k.c
	c.src = src
	a.arith(x, k.st, &c)
}

// assignName assigns to the variable that a word names, as read and printf -v
// do.
func (a *analyzer) assignName(w Word, v value, k *call) {
	t, ok := w.Text()
	if !ok {
		a.unknown("a variable is set whose name is not known: "+clip(wordName(w)), k.c.src, k.span)
		k.st.forgetAll()
		return
	}
	if isName(t) {
		if v.kind == isScalar {
			a.assigned(t, Word{Parts: v.parts}, k.st, k.c)
		}
		k.st.set(t, v)
		return
	}
	a.hidden(t, k.st, k.c)
	if name, _, found := strings.Cut(t, "["); found && isName(name) {
		k.st.forget(name)
	}
}

// variableName looks into a word that names a variable (test -v): a subscript
// in it is expanded.
func (a *analyzer) variableName(w Word, st *state, c *ctx) {
	if t, ok := w.Text(); ok {
		a.hidden(t, st, c)
		return
	}
	for _, p := range w.Parts {
		if p.Kind == Literal && strings.Contains(p.Text, "[") {
			return // a[$i]: the subscript is a number or a key
		}
	}
	a.unknown("test -v looks at a variable whose name is not known", c.src, a.at)
}

func (a *analyzer) unset(k *call) {
	functions := false
	for _, w := range k.argv[1:] {
		t, ok := w.Text()
		switch {
		case !ok:
			k.st.forgetAll()
			if functions || len(k.st.funcs) > 0 {
				a.forgetFunctions(k.st)
			}
		case t == "--":
		case strings.HasPrefix(t, "-") && len(t) > 1:
			functions = strings.Contains(t, "f")
		case functions:
			k.st.own()
			delete(k.st.funcs, t)
		case isName(t):
			// Without -v or -f, a function goes when there is no such variable.
			if fs, isFunc := k.st.funcs[t]; isFunc && !slices.Contains(fs, nil) {
				k.st.own()
				k.st.funcs[t] = append(slices.Clip(fs), nil)
			}
			k.st.own()
			name := k.st.deref(t)
			delete(k.st.vars, name)
			k.st.set(name, value{kind: isUnset})
		default:
			a.hidden(t, k.st, k.c)
			if name, _, found := strings.Cut(t, "["); found && isName(name) {
				k.st.forget(name)
			}
		}
	}
}

// forgetFunctions says that any function may be gone.
func (a *analyzer) forgetFunctions(st *state) {
	st.own()
	for n, fs := range st.funcs {
		if !slices.Contains(fs, nil) {
			st.funcs[n] = append(slices.Clip(fs), nil)
		}
	}
}
