package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
