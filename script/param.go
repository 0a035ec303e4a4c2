package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// lookup returns what is known of a variable.
func (a *analyzer) lookup(name string, st *state) value {
	name = st.deref(name)
	if v, ok := st.vars[name]; ok {
		return v
	}
	switch name {
	case "PWD":
		if len(st.dir.Parts) > 0 {
			return value{kind: isScalar, parts: st.dir.Parts}
		}
	case "OLDPWD":
		if st.oldKnown {
			return value{kind: isScalar, parts: st.old.Parts}
		}
		return value{}
	case "IFS": // every shell sets it when it starts
		if !st.lost {
			return value{kind: isScalar, parts: []Part{{Text: " \t\n"}}}
		}
		return value{}
	case "RANDOM", "SRANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME",
		"REPLY", "BASH_COMMAND", "PIPESTATUS", "FUNCNAME", "BASH_LINENO", "OPTARG", "OPTIND", "_":
		return value{}
	}
	if st.noEnv || a.o.Lookup == nil {
		return value{}
	}
	if t, ok := a.o.Lookup(name); ok && len(t) <= maxValue {
		return value{kind: isScalar, parts: []Part{{Text: t}}, exported: true}
	}
	return value{}
}

// listExp reports whether a quoted expansion may give several words or none.
func listExp(p *syntax.ParamExp) bool {
	if p.Length || p.Width || p.IsSet {
		return false
	}
	if p.Param != nil && p.Param.Value == "@" {
		return true
	}
	if p.Names == syntax.NamesPrefixWords {
		return true
	}
	if p.Flags != nil && strings.ContainsAny(p.Flags.Value, "@f0s") {
		return true
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// param expands a parameter.
func (e *expander) param(p *syntax.ParamExp, quoted bool) {
	if !e.a.deeper() {
		return
	}
	defer func() { e.a.depth-- }()
	e.subscript(p)
	if p.NestedParam != nil || p.Flags != nil || len(p.Modifiers) > 0 || p.IsSet || p.Width || p.Param == nil {
		e.zshParam(p, quoted)
		return
	}
	name := p.Param.Value
	if p.Names != 0 || p.Excl && p.Index != nil {
		e.opaque(p, quoted)
		return
	}
	if p.Excl {
		e.indirect(p, name, quoted)
		return
	}
	e.named(p, name, quoted)
}

// named expands a parameter by its name; p says what is done with the value.
func (e *expander) named(p *syntax.ParamExp, name string, quoted bool) {
	words, list, known := e.list(p, name)
	if list {
		e.listOf(p, name, words, known, quoted)
		return
	}
	v := e.scalar(p, name)
	if p.Length {
		if t, ok := (Word{Parts: v.parts}).Text(); ok && v.kind == isScalar && isASCII(t) {
			e.text(strconv.Itoa(len(t)))
			e.has = true
			return
		}
		e.opaque(p, quoted)
		return
	}
	if p.Exp != nil && p.Exp.Op <= syntax.AssignUnsetOrNull {
		e.defaults(p, name, v, quoted)
		return
	}
	if v.kind == isUnset {
		e.visit(p)
		return
	}
	if p.Exp == nil && p.Slice == nil && p.Repl == nil {
		e.simple(name, v, quoted)
		return
	}
	e.operate(p, v, quoted)
}

// simple appends a value as it is.
func (e *expander) simple(name string, v value, quoted bool) {
	switch v.kind {
	case isScalar:
		e.value(v.parts, quoted)
	case isArray:
		if e.c.src.lang == Zsh {
			for i, w := range v.arr {
				if i > 0 && e.split && !quoted {
					e.end()
				} else if i > 0 {
					e.text(" ")
				}
				e.value(w.Parts, quoted) // empty ones vanish when not quoted
			}
			return
		}
		if len(v.arr) > 0 {
			e.value(v.arr[0].Parts, quoted)
		}
	default:
		e.add(e.unknown(name, v, quoted))
	}
}

func (e *expander) unknown(name string, v value, quoted bool) Part {
	kind := Variable
	if name == "@" || name == "*" || name != "" && name[0] >= '0' && name[0] <= '9' {
		kind = Operand
	}
	return Part{Kind: kind, Name: name, Split: !quoted && e.split, Alt: v.alt}
}

// opaque appends an expansion whose result is not known.
func (e *expander) opaque(p *syntax.ParamExp, quoted bool) {
	e.visit(p)
	name := strings.TrimPrefix(e.c.src.written(p), "$")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")
	e.add(Part{Kind: Variable, Name: name, Split: !quoted && e.split})
}

// visit runs the substitutions in the words of an expansion whose value does
// not matter.
func (e *expander) visit(p *syntax.ParamExp) {
	if p.Exp != nil {
		e.a.single(p.Exp.Word, e.st, e.c, false)
	}
	if p.Repl != nil {
		e.a.single(p.Repl.Orig, e.st, e.c, false)
		e.a.single(p.Repl.With, e.st, e.c, false)
	}
	if p.Slice != nil {
		e.a.arith(p.Slice.Offset, e.st, e.c)
		e.a.arith(p.Slice.Length, e.st, e.c)
	}
}

// subscript runs what a subscript holds.
func (e *expander) subscript(p *syntax.ParamExp) {
	if p.Index != nil {
		if w, ok := p.Index.(*syntax.Word); !ok || w.Lit() != "@" && w.Lit() != "*" {
			e.a.arith(p.Index, e.st, e.c)
		}
	}
}

// list returns the words of $@, $* and whole arrays; list is false for other
// parameters.
func (e *expander) list(p *syntax.ParamExp, name string) (words []Word, list, known bool) {
	if name == "@" || name == "*" {
		return e.st.params, true, !e.st.paramsLost
	}
	w, ok := p.Index.(*syntax.Word)
	if !ok {
		return nil, false, false
	}
	if i := w.Lit(); i != "@" && i != "*" {
		return nil, false, false
	}
	switch v := e.a.lookup(name, e.st); v.kind {
	case isArray:
		return v.arr, true, true
	case isScalar:
		return []Word{{Parts: v.parts}}, true, true
	case isUnset:
		return nil, true, true
	}
	return nil, true, false
}

func (e *expander) listOf(p *syntax.ParamExp, name string, words []Word, known, quoted bool) {
	if !known || p.Repl != nil || p.Exp != nil && p.Exp.Op > syntax.AssignUnsetOrNull {
		e.visit(p)
		if p.Length {
			e.add(Part{Kind: Variable, Name: "#" + name})
			return
		}
		part := e.unknown(name, value{}, false)
		part.Kind, part.Split = Operand, e.split
		e.add(part)
		return
	}
	if p.Length && e.st.fuzzy && (name == "@" || name == "*") {
		e.add(Part{Kind: Variable, Name: "#" + name})
		return
	}
	if p.Length {
		e.text(strconv.Itoa(len(words)))
		return
	}
	if p.Exp != nil {
		set := len(words) > 0
		alt := p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull
		if set == alt {
			e.inner(p.Exp.Word, quoted)
			return
		}
	}
	if p.Slice != nil {
		var ok bool
		if words, ok = e.sliceList(p, name, words); !ok {
			e.opaque(p, false)
			return
		}
	}
	if e.st.fuzzy && (name == "@" || name == "*") {
		// Any of the words may be none or several.
		if !e.alone || !e.split || name == "*" {
			e.add(Part{Kind: Operand, Name: name, Split: e.split})
			return
		}
		for _, w := range words {
			e.end()
			e.has = true
			e.cur = append(e.cur, w.Parts...)
		}
		return
	}
	star := name == "*"
	if w, ok := p.Index.(*syntax.Word); ok && w.Lit() == "*" {
		star = true
	}
	sep := " "
	if star && quoted || !e.split {
		if v, ok := e.st.vars["IFS"]; ok && star {
			t, known := (Word{Parts: v.parts}).Text()
			switch {
			case v.kind == isScalar && known && t == "":
				sep = ""
			case v.kind == isScalar && known:
				sep = t[:1]
			case v.kind != isUnset:
				e.opaque(p, quoted)
				return
			}
		}
	}
	for i, w := range words {
		if i > 0 {
			if e.split && !(quoted && star) {
				e.end()
			} else {
				e.text(sep)
			}
		}
		if quoted {
			e.has = true
			e.value(w.Parts, true)
		} else {
			e.value(w.Parts, false)
		}
	}
	if quoted && star {
		e.has = true
	}
}

func (e *expander) sliceList(p *syntax.ParamExp, name string, words []Word) ([]Word, bool) {
	off, ok := e.a.arith(p.Slice.Offset, e.st, e.c)
	n, okN := 0, true
	if p.Slice.Length != nil {
		n, okN = e.a.arith(p.Slice.Length, e.st, e.c)
	}
	if !ok || !okN || n < 0 || e.st.fuzzy && (name == "@" || name == "*") {
		return nil, false
	}
	if name == "@" || name == "*" {
		if off == 0 {
			return nil, false // includes $0
		}
		if off > 0 {
			off--
		}
	}
	if off < 0 {
		if off += len(words); off < 0 {
			return nil, true
		}
	}
	off = min(off, len(words))
	words = words[off:]
	if p.Slice.Length != nil {
		words = words[:min(n, len(words))]
	}
	return words, true
}

// scalar returns the value of one parameter, subscript applied.
func (e *expander) scalar(p *syntax.ParamExp, name string) value {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return e.positional(name)
	}
	switch name {
	case "#":
		if !e.st.paramsLost && !e.st.fuzzy {
			return value{kind: isScalar, parts: []Part{{Text: strconv.Itoa(len(e.st.params))}}}
		}
		return value{}
	case "?", "$", "!", "-":
		return value{}
	}
	v := e.a.lookup(name, e.st)
	if p.Index == nil {
		return v
	}
	i, ok := e.a.arith(p.Index, e.st, e.c)
	if v.kind == isArray && ok && e.c.src.lang == Bash {
		if i < 0 {
			i += len(v.arr)
		}
		if i >= 0 && i < len(v.arr) {
			return value{kind: isScalar, parts: v.arr[i].Parts}
		}
		return value{kind: isUnset}
	}
	return value{}
}

func (e *expander) positional(name string) value {
	n, err := strconv.Atoi(name)
	switch {
	case err != nil:
		return value{}
	case n == 0:
		if e.st.zero != nil {
			return value{kind: isScalar, parts: e.st.zero.Parts}
		}
		return value{}
	case e.st.paramsLost || e.st.fuzzy:
		return value{}
	case n <= len(e.st.params):
		return value{kind: isScalar, parts: e.st.params[n-1].Parts}
	}
	return value{kind: isUnset}
}

// inner expands the word inside ${x:-word}.
func (e *expander) inner(w *syntax.Word, quoted bool) {
	if w == nil {
		return
	}
	if quoted {
		e.has = true
		for _, p := range w.Parts {
			e.part(p, true)
		}
		return
	}
	for i, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			e.part(p, false)
			continue
		}
		text := l.Value
		if i == 0 && len(e.cur) == 0 {
			text = e.tilde(text, len(w.Parts) == 1)
		}
		if e.split && e.c.src.lang != Zsh {
			e.litSplit(text)
		} else {
			e.lit(text, nil)
		}
	}
}

// litSplit appends literal text of a default value: it is split like a value,
// but its backslashes quote.
func (e *expander) litSplit(s string) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ' ', '\t', '\n':
			e.lit(s[start:i], nil)
			e.end()
			start = i + 1
		}
	}
	e.lit(s[start:], nil)
}

// defaults expands ${x-w}, ${x:-w}, ${x+w}, ${x=w}, ${x?w}.
func (e *expander) defaults(p *syntax.ParamExp, name string, v value, quoted bool) {
	op := p.Exp.Op
	null := op == syntax.AlternateUnsetOrNull || op == syntax.DefaultUnsetOrNull || op == syntax.ErrorUnsetOrNull || op == syntax.AssignUnsetOrNull
	text, known := (Word{Parts: v.parts}).Text()
	set := v.kind == isScalar && (!null || text != "" || !known && mayNotBeEmpty(v.parts)) || v.kind == isArray && len(v.arr) > 0
	if v.kind == isUnknown || v.kind == isScalar && !known && null && !mayNotBeEmpty(v.parts) {
		w := e.a.single(p.Exp.Word, e.st, e.c, false)
		part := e.unknown(name, v, quoted)
		if v.kind == isScalar && len(v.parts) == 1 {
			part = v.parts[0]
			part.Split = !quoted && e.split
		}
		if op == syntax.AlternateUnset || op == syntax.AlternateUnsetOrNull {
			part.Alt = []string{""}
		}
		switch t, ok := w.Text(); {
		case op == syntax.ErrorUnset || op == syntax.ErrorUnsetOrNull:
		case ok:
			part.Alt = append(append([]string(nil), part.Alt...), t)
		default:
			part.Alt = append(append([]string(nil), part.Alt...), alts(w)...)
		}
		if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
			e.st.set(name, value{alt: part.Alt})
		}
		e.add(part)
		return
	}
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if set {
			e.inner(p.Exp.Word, quoted)
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if set {
			e.simple(name, v, quoted)
			return
		}
		w := e.a.single(p.Exp.Word, e.st, e.c, false)
		e.st.set(name, value{kind: isScalar, parts: w.Parts})
		e.value(w.Parts, quoted)
	default:
		if set {
			e.visit(p)
			e.simple(name, v, quoted)
			return
		}
		e.inner(p.Exp.Word, quoted)
	}
}

// alts collects the known alternatives of a word of one part.
func alts(w Word) []string {
	if len(w.Parts) == 1 {
		return w.Parts[0].Alt
	}
	return nil
}

// mayNotBeEmpty reports whether parts surely give some text.
func mayNotBeEmpty(ps []Part) bool {
	for _, p := range ps {
		if p.Kind == TempPath || (p.Kind == Literal || p.Kind == Glob) && p.Text != "" {
			return true
		}
	}
	return false
}
