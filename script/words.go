package script

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// expander turns one shell word into the fields that the shell makes of it.
type expander struct {
	a      *analyzer
	st     *state
	c      *ctx
	split  bool // fields are split and patterns are live
	assign bool // value of an assignment: ~ also after :
	span   Span
	fields []Word
	cur    []Part // the field being built
	has    bool   // it exists, though it may be empty
	alone  bool   // the word is a single part
	buf    [6]Part
	long   *strings.Builder // holds the text of the last part, where that is long
}

// fields expands the words of a command.
func (a *analyzer) fields(words []*syntax.Word, st *state, c *ctx) []Word {
	out := a.room(len(words))
	if c.src.ticks {
		words = c.src.adjoin(words)
	}
	for _, w := range words {
		out = a.expand(out, w, st, c)
	}
	return out
}

// room returns an empty list for n words, and makes room for a part of each. Where
// several commands are to come, it takes for some of them at once.
func (a *analyzer) room(n int) []Word {
	more := n
	if cap(a.cmds) > 1 {
		more = max(n, min(3*cap(a.cmds), 32))
	}
	if len(a.arena) == cap(a.arena) {
		a.arena = make([]Part, 0, max(more, 4))
	}
	if n > cap(a.words)-len(a.words) {
		a.words = make([]Word, 0, more)
	}
	from := len(a.words)
	a.words = a.words[:from+n]
	return a.words[from:from:len(a.words)]
}

// expand appends the fields of one word.
func (a *analyzer) expand(out []Word, w *syntax.Word, st *state, c *ctx) []Word {
	if w == nil || len(w.Parts) == 0 || !a.step() {
		return out
	}
	span := c.src.spanOf(w.Pos(), w.End())
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && plain(l.Value) {
			return append(out, Word{Parts: a.part(l.Value), Span: span})
		}
	}
	e := expander{a: a, st: st, c: c, split: true, span: span, fields: out}
	e.cur = e.buf[:0]
	if c.src.lang == Zsh && hasBrace(w) && substitutes(w) {
		// zsh expands braces last, in each word that a substitution gave.
		e.split = false
		e.word(w.Parts)
		return append(out, Word{Parts: []Part{{Kind: Variable, Name: c.src.written(w), Split: true}}, Span: span})
	}
	if c.src.lang != POSIX && hasBrace(w) {
		for _, parts := range e.braces(w) {
			e.word(parts)
			if c.src.lang == Zsh && !e.has {
				// zsh keeps empty elements.
				if e.has = true; len(parts) > 0 {
					e.add(Part{Kind: Variable, Name: "{,}", Split: true})
				}
			}
			e.end()
		}
		return e.fields
	}
	e.word(w.Parts)
	e.end()
	return e.fields
}

// single expands a word that stays one word: a value, a target, a body.
func (a *analyzer) single(w *syntax.Word, st *state, c *ctx, assign bool) Word {
	if w == nil || len(w.Parts) == 0 || !a.step() {
		return Word{}
	}
	span := c.src.spanOf(w.Pos(), w.End())
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && plain(l.Value) {
			return Word{Parts: a.part(l.Value), Span: span}
		}
	}
	e := expander{a: a, st: st, c: c, assign: assign, span: span}
	e.cur = e.buf[:0]
	e.word(w.Parts)
	return Word{Parts: a.keep(e.cur), Span: span}
}

// part returns a fresh slice with one literal.
func (a *analyzer) part(s string) []Part {
	if len(a.arena) == cap(a.arena) {
		a.arena = make([]Part, 0, 16)
	}
	n := len(a.arena)
	a.arena = append(a.arena, Part{Text: s})
	return a.arena[n : n+1 : n+1]
}

func (a *analyzer) keep(ps []Part) []Part {
	if len(ps) == 0 {
		return nil
	}
	a.spend(len(ps) / 4) // they are copied
	if cap(a.arena)-len(a.arena) < len(ps) {
		a.arena = make([]Part, 0, max(16, len(ps)))
	}
	n := len(a.arena)
	a.arena = append(a.arena, ps...)
	return a.arena[n:len(a.arena):len(a.arena)]
}

// plain reports whether an unquoted literal stands for itself everywhere.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c == '-' || c == '/' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z':
		case c == '\\' || c == '*' || c == '?' || c == '[' || c == '~' || c == '{' || c == '=' || c == '(' || c == '<' || c >= 0xF4:
			return false
		}
	}
	return true
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.IndexByte(l.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// substitutes reports whether a word holds an unquoted substitution.
func substitutes(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch q := p.(type) {
		case *syntax.CmdSubst, *syntax.ParamExp:
			return true
		case *syntax.DblQuoted:
			for _, in := range q.Parts {
				if pe, ok := in.(*syntax.ParamExp); ok && listExp(pe) {
					return true
				}
			}
		}
	}
	return false
}

// word expands the parts of a word from its start on.
func (e *expander) word(parts []syntax.WordPart) {
	e.alone = len(parts) == 1
	parts = e.positionals(parts)
	for i, p := range parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			e.part(p, false)
			continue
		}
		text := l.Value
		if i == 0 && text != "" {
			text = e.tilde(text, len(parts) == 1)
			text = e.equals(text, len(parts) == 1)
		}
		e.lit(text, parts[i+1:])
	}
}

// part expands one part of a word.
func (e *expander) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			e.quotedLit(p.Value, true)
		} else {
			e.lit(p.Value, nil)
		}
	case *syntax.SglQuoted:
		e.has = true
		if p.Dollar {
			e.ansi(p.Value)
		} else {
			e.raw(p.Value)
		}
	case *syntax.DblQuoted:
		e.dblQuoted(p)
	case *syntax.ParamExp:
		e.param(p, quoted)
	case *syntax.CmdSubst:
		e.cmdSubst(p, quoted)
	case *syntax.ArithmExp:
		e.arithmExp(p, quoted)
	case *syntax.ProcSubst:
		e.add(e.a.procSubst(p, e.st, e.c))
	case *syntax.ExtGlob:
		text := p.Op.String()
		if p.Pattern != nil {
			text += e.c.src.decode(p.Pattern.Value)
			e.a.hidden(p.Pattern.Value, e.st, e.c)
		}
		e.add(Part{Kind: Glob, Text: text + ")"})
	case nil:
	default:
		e.add(Part{Kind: Variable, Name: e.c.src.written(p), Split: !quoted})
	}
}

func (e *expander) dblQuoted(q *syntax.DblQuoted) {
	// "$@" alone may be no word at all; everything else quoted is one.
	if len(q.Parts) == 1 {
		if pe, ok := q.Parts[0].(*syntax.ParamExp); ok && listExp(pe) {
			e.param(pe, true)
			return
		}
	}
	e.has = true
	for _, p := range e.positionals(q.Parts) {
		e.part(p, true)
	}
}

// positionals joins $1 and a digit after it: to zsh, $12 is the twelfth.
func (e *expander) positionals(parts []syntax.WordPart) []syntax.WordPart {
	if e.c.src.lang != Zsh {
		return parts
	}
	for i := 0; i+1 < len(parts); i++ {
		pe, ok := parts[i].(*syntax.ParamExp)
		l, okL := parts[i+1].(*syntax.Lit)
		if !ok || !okL || !pe.Short || pe.Index != nil || pe.Param == nil || !isDigits(pe.Param.Value) {
			continue
		}
		n := len(l.Value) - len(strings.TrimLeft(l.Value, "0123456789"))
		if n == 0 {
			continue
		}
		out := append([]syntax.WordPart(nil), parts...)
		long, rest := *pe, *l
		long.Param = &syntax.Lit{ValuePos: pe.Param.ValuePos, ValueEnd: pe.Param.ValueEnd, Value: pe.Param.Value + l.Value[:n]}
		rest.Value = l.Value[n:]
		out[i], out[i+1] = &long, &rest
		parts = out
	}
	return parts
}

// add appends a part to the field.
func (e *expander) add(p Part) {
	e.has = true
	if n := len(e.cur); n > 0 && p.Kind == Literal && e.cur[n-1].Kind == Literal {
		if len(e.cur[n-1].Text)+len(p.Text) > maxValue || e.a.budget.Left() <= 0 {
			e.a.exhaust("a value is too long to analyse")
			e.cur[n-1] = Part{Kind: Variable, Name: "..."}
			return
		}
		last := &e.cur[n-1]
		if len(last.Text) < 256 {
			last.Text += p.Text
			return
		}
		// Thousands of pieces are not copied once more for each of them.
		if e.long == nil || e.long.String() != last.Text {
			e.long = new(strings.Builder)
			e.a.spend(len(last.Text) / 64)
			e.long.WriteString(last.Text)
		}
		e.a.spend(len(p.Text) / 64)
		e.long.WriteString(p.Text)
		last.Text = e.long.String()
		return
	}
	if len(e.cur) >= maxParts { // values of values double with each assignment
		e.cur[len(e.cur)-1] = Part{Kind: Variable, Name: "...", Split: p.Split || e.cur[len(e.cur)-1].Split}
		return
	}
	e.cur = append(e.cur, p)
}

// text appends known text to the field.
func (e *expander) text(s string) {
	if s != "" {
		e.add(Part{Text: s})
	}
}

// raw appends text of the source in which nothing is special but holes.
func (e *expander) raw(s string) {
	if !e.c.src.encoded || !strings.Contains(s, "\xF4") {
		e.text(s)
		return
	}
	for s != "" {
		s = s[e.rune(s, true):]
	}
}

// rune appends the first rune of encoded text and returns its length.
func (e *expander) rune(s string, quoted bool) int {
	r, n := utf8.DecodeRuneInString(s)
	if h := e.c.src.hole(r); h != nil {
		p := *h
		p.Split = !quoted
		e.add(p)
	} else if r >= byteRune && r <= byteRune+0xFF {
		e.text(string([]byte{byte(r - byteRune)}))
	} else {
		e.text(s[:n])
	}
	return n
}

// end closes the current field, if there is one.
func (e *expander) end() {
	if !e.has {
		return
	}
	e.a.spend(1)
	if len(e.fields) >= maxFields {
		e.a.exhaust("a command has too many words to analyse")
	} else {
		e.fields = append(e.fields, Word{Parts: e.a.keep(e.cur), Span: e.span})
	}
	e.cur, e.has = e.cur[:0], false
}

// lit appends an unquoted literal: backslashes and patterns are live. rest are
// the parts after it.
func (e *expander) lit(s string, rest []syntax.WordPart) {
	zsh := e.c.src.lang == Zsh
	if zsh && strings.HasPrefix(s, "(") {
		e.zshGroup(s)
		return
	}
	start := 0
	flush := func(i int) {
		if i > start {
			e.text(s[start:i])
		}
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\':
			flush(i)
			e.has = true
			i++
			if i < len(s) {
				i += e.rune(s[i:], true)
			}
			start = i
		case c >= 0xF4 && e.c.src.encoded:
			flush(i)
			i += e.rune(s[i:], false)
			start = i
		case (c == '*' || c == '?') && e.live():
			flush(i)
			e.add(Part{Kind: Glob, Text: s[i : i+1]})
			i++
			start = i
		case c == '[' && e.live():
			n := bracket(s[i:])
			if n == 0 && !closesLater(rest) {
				i++
				continue
			}
			flush(i)
			n = max(n, 1)
			e.add(Part{Kind: Glob, Text: e.c.src.decode(s[i : i+n])})
			i += n
			start = i
		case zsh && (c == '~' || c == '=' && len(e.cur) > 0) && e.split && len(litText(Word{Parts: e.cur})) == 0 && i == start:
			// zsh looks for ~ and =name after it expanded parameters.
			e.add(Part{Kind: Variable, Name: s[i : i+1]})
			i++
			start = i
		case zsh && c == '<' && e.live():
			flush(i)
			e.add(Part{Kind: Glob, Text: s[i:]})
			return
		default:
			i++
		}
	}
	flush(len(s))
}

// live reports whether pattern characters are patterns here.
func (e *expander) live() bool { return e.split }

// bracket returns the length of a bracket expression at the start of s, 0 if
// there is none.
func bracket(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		case '/':
			return 0
		}
	}
	return 0
}

func closesLater(rest []syntax.WordPart) bool {
	for _, p := range rest {
		if l, ok := p.(*syntax.Lit); ok && strings.IndexByte(l.Value, ']') >= 0 {
			return true
		}
	}
	return false
}

// zshGroup is (a|b) or a qualifier (N.) after a pattern.
func (e *expander) zshGroup(s string) {
	t := e.c.src.decode(s)
	e.a.hidden(s, e.st, e.c)
	in := strings.TrimPrefix(strings.TrimSuffix(t, ")"), "(")
	if len(e.cur) > 0 || strings.HasPrefix(in, "#q") {
		// (e:'code':) and (+f) evaluate code for each file.
		if q := strings.TrimPrefix(in, "#q"); !strings.ContainsAny(q, "|") && strings.ContainsAny(q, "e+") && strings.IndexFunc(q, notFlag) >= 0 {
			e.a.unknown("a glob qualifier runs code: "+t, e.c.src, e.span)
		}
	}
	e.add(Part{Kind: Glob, Text: t})
}

func notFlag(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("./@=*%^-,", r))
}

// quotedLit appends literal text inside double quotes (quote: \" counts) or a
// here-document.
func (e *expander) quotedLit(s string, quote bool) {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			e.raw(s)
			return
		}
		c := s[i+1]
		switch {
		case c == '$' || c == '`' || c == '\\' || c == '"' && quote:
			e.raw(s[:i])
			e.text(s[i+1 : i+2])
			s = s[i+2:]
		case c == '\n':
			e.raw(s[:i])
			s = s[i+2:]
		default:
			e.raw(s[:i+2])
			s = s[i+2:]
		}
	}
}
