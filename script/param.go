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

// indirect expands ${!name}.
func (e *expander) indirect(p *syntax.ParamExp, name string, quoted bool) {
	if v, ok := e.st.vars[name]; ok && v.ref != "" {
		e.text(v.ref)
		return
	}
	v := e.scalar(&syntax.ParamExp{}, name)
	if t, ok := (Word{Parts: v.parts}).Text(); ok && v.kind == isScalar {
		if isName(t) || t == "@" || t == "*" || t != "" && strings.Trim(t, "0123456789") == "" {
			e.named(p, t, quoted)
			return
		}
		e.a.hidden(t, e.st, e.c)
	}
	e.opaque(p, quoted)
}

// zshParam expands the forms that only zsh has. Their results are not known;
// (e) evaluates the value.
func (e *expander) zshParam(p *syntax.ParamExp, quoted bool) {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if p.NestedParam != nil {
		sub := expander{a: e.a, st: e.st, c: e.c, span: e.span}
		sub.part(p.NestedParam, true)
	}
	if p.Flags != nil && strings.Contains(p.Flags.Value, "e") {
		v := value{}
		if name != "" {
			v = e.a.lookup(name, e.st)
		}
		if t, ok := (Word{Parts: v.parts}).Text(); ok && v.kind == isScalar {
			e.a.hidden(t, e.st, e.c)
		} else {
			e.a.unknown("${(e)...} evaluates a value that is not known", e.c.src, e.span)
		}
	}
	for _, m := range p.Modifiers {
		e.a.hidden(m.Value, e.st, e.c)
	}
	e.visit(p)
	e.add(Part{Kind: Variable, Name: name, Split: !quoted && e.split})
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// operate applies an operator to a value.
func (e *expander) operate(p *syntax.ParamExp, v value, quoted bool) {
	t, ok := (Word{Parts: v.parts}).Text()
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		if op := p.Exp.Word.Lit(); op == "P" {
			if ok && v.kind == isScalar {
				e.a.hidden(t, e.st, e.c)
			} else {
				e.a.unknown("${...@P} evaluates a value that is not known", e.c.src, e.span)
			}
		}
		e.opaque(p, quoted)
		return
	}
	if !ok || v.kind != isScalar || e.c.src.lang == Zsh && p.Slice != nil || !isASCII(t) {
		if v.kind == isScalar && p.Exp != nil && e.trimTemp(p, v, quoted) {
			return
		}
		e.opaque(p, quoted)
		return
	}
	var out string
	switch {
	case p.Slice != nil:
		out, ok = e.slice(p, t)
	case p.Repl != nil:
		out, ok = e.replace(p, t)
	default:
		out, ok = e.transform(p, t)
	}
	if !ok {
		name := strings.TrimPrefix(e.c.src.written(p), "$")
		e.add(Part{Kind: Variable, Name: strings.Trim(name, "{}"), Split: !quoted && e.split})
		return
	}
	e.value([]Part{{Text: out}}, quoted)
}

// trimTemp keeps ${D%/} of a path with unknown parts.
func (e *expander) trimTemp(p *syntax.ParamExp, v value, quoted bool) bool {
	if p.Exp.Op != syntax.RemSmallSuffix || p.Exp.Word == nil || p.Exp.Word.Lit() != "/" || len(v.parts) == 0 {
		return false
	}
	last := v.parts[len(v.parts)-1]
	if last.Kind == TempPath || last.Kind == Literal && !strings.HasSuffix(last.Text, "/") {
		e.value(v.parts, quoted)
		return true
	}
	return false
}

func (e *expander) slice(p *syntax.ParamExp, t string) (string, bool) {
	off, ok := e.a.arith(p.Slice.Offset, e.st, e.c)
	if !ok {
		e.a.arith(p.Slice.Length, e.st, e.c)
		return "", false
	}
	if off < 0 {
		if off += len(t); off < 0 {
			return "", true
		}
	}
	if off > len(t) {
		return "", true
	}
	end := len(t)
	if p.Slice.Length != nil {
		n, ok := e.a.arith(p.Slice.Length, e.st, e.c)
		if !ok {
			return "", false
		}
		if n < 0 {
			if end += n; end < off {
				return "", false
			}
		} else {
			end = min(end, off+n)
		}
	}
	return t[off:end], true
}

func (e *expander) replace(p *syntax.ParamExp, t string) (string, bool) {
	pat, okP := e.pattern(p.Repl.Orig)
	with := e.a.single(p.Repl.With, e.st, e.c, false)
	w, okW := with.Text()
	if !okP || !okW || strings.ContainsAny(w, "&\\") {
		return "", false
	}
	anchor := byte(0)
	if !p.Repl.All && len(pat) > 0 && pat[0].lit && (pat[0].c == '#' || pat[0].c == '%') {
		anchor, pat = pat[0].c, pat[1:]
	}
	if len(pat) == 0 {
		return t, anchor == 0
	}
	return replacePattern(t, pat, w, p.Repl.All, anchor)
}

func (e *expander) transform(p *syntax.ParamExp, t string) (string, bool) {
	op := p.Exp.Op
	switch op {
	case syntax.UpperAll, syntax.LowerAll, syntax.UpperFirst, syntax.LowerFirst:
		if p.Exp.Word != nil && len(p.Exp.Word.Parts) > 0 {
			e.visit(p)
			return "", false
		}
		n := len(t)
		if op == syntax.UpperFirst || op == syntax.LowerFirst {
			n = min(n, 1)
		}
		if op == syntax.UpperAll || op == syntax.UpperFirst {
			return strings.ToUpper(t[:n]) + t[n:], true
		}
		return strings.ToLower(t[:n]) + t[n:], true
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pat, ok := e.pattern(p.Exp.Word)
		if !ok || len(t) > 1024 {
			return "", false
		}
		return trimPattern(t, pat, op), true
	}
	e.visit(p)
	return "", false
}
