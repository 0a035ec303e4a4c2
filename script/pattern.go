package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// glyph is one element of a shell pattern: a literal byte, ? or *.
type glyph struct {
	c   byte
	lit bool
}

// pattern expands the pattern of ${x#pattern}; ok is false when it is not
// known or more than literals, ? and *.
func (e *expander) pattern(w *syntax.Word) ([]glyph, bool) {
	if w == nil {
		return nil, true
	}
	sub := expander{a: e.a, st: e.st, c: e.c, split: true, span: e.span}
	// One word: nothing in it is split, but patterns are live.
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			sub.lit(p.Value, nil)
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
			one := e.a.single(&syntax.Word{Parts: []syntax.WordPart{p}}, e.st, e.c, false)
			if t, ok := one.Text(); ok {
				sub.globText(t)
			} else {
				sub.add(Part{Kind: Variable})
			}
		default:
			sub.part(p, false)
		}
	}
	var out []glyph
	for _, p := range sub.cur {
		switch {
		case p.Kind == Literal:
			for i := 0; i < len(p.Text); i++ {
				out = append(out, glyph{p.Text[i], true})
			}
		case p.Kind == Glob && (p.Text == "*" || p.Text == "?"):
			out = append(out, glyph{p.Text[0], false})
		default:
			return nil, false
		}
	}
	return out, len(out) < 256
}

// match reports whether a pattern matches a whole text.
func match(pat []glyph, s string) bool {
	star, mark, i := -1, 0, 0
	for j := 0; j < len(s); {
		switch {
		case i < len(pat) && pat[i].lit && pat[i].c == s[j], i < len(pat) && !pat[i].lit && pat[i].c == '?':
			i++
			j++
		case i < len(pat) && !pat[i].lit && pat[i].c == '*':
			star, mark = i, j
			i++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(pat) && !pat[i].lit && pat[i].c == '*' {
		i++
	}
	return i == len(pat)
}

func trimPattern(t string, pat []glyph, op syntax.ParExpOperator) string {
	switch op {
	case syntax.RemSmallPrefix:
		for i := 0; i <= len(t); i++ {
			if match(pat, t[:i]) {
				return t[i:]
			}
		}
	case syntax.RemLargePrefix:
		for i := len(t); i >= 0; i-- {
			if match(pat, t[:i]) {
				return t[i:]
			}
		}
	case syntax.RemSmallSuffix:
		for i := len(t); i >= 0; i-- {
			if match(pat, t[i:]) {
				return t[:i]
			}
		}
	case syntax.RemLargeSuffix:
		for i := 0; i <= len(t); i++ {
			if match(pat, t[i:]) {
				return t[:i]
			}
		}
	}
	return t
}

// replacePattern is ${t/pat/with}: the longest match at the first place.
func replacePattern(t string, pat []glyph, with string, all bool, anchor byte) (string, bool) {
	if len(t) > 1024 {
		return "", false
	}
	var b strings.Builder
	for i := 0; i <= len(t); {
		end := -1
		for j := len(t); j >= i; j-- {
			if anchor == '%' && j != len(t) {
				break
			}
			if match(pat, t[i:j]) {
				end = j
				break
			}
		}
		if end > i || end == i && i == 0 && len(t) == 0 {
			b.WriteString(with)
			if !all || anchor != 0 {
				return b.String() + t[end:], true
			}
			i = end
			if i == len(t) {
				break
			}
			continue
		}
		if anchor == '#' {
			return t, true
		}
		if i < len(t) {
			b.WriteByte(t[i])
		}
		i++
	}
	return b.String(), true
}
