package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/budget"
)

// unit is a byte of unquoted text, or something that braces do not look into:
// an escaped byte, a quoted or substituted part.
type unit struct {
	b    byte
	esc  bool
	part syntax.WordPart
}

func (u unit) is(b byte) bool { return u.part == nil && !u.esc && u.b == b }

// braces returns the words that brace expansion makes of w, as lists of parts.
func (e *expander) braces(w *syntax.Word) [][]syntax.WordPart {
	var us []unit
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || strings.HasPrefix(l.Value, "(") {
			us = append(us, unit{part: p})
			continue
		}
		for i := 0; i < len(l.Value); i++ {
			if l.Value[i] == '\\' && i+1 < len(l.Value) {
				us = append(us, unit{b: '\\', esc: true}, unit{b: l.Value[i+1], esc: true})
				i++
				continue
			}
			us = append(us, unit{b: l.Value[i]})
		}
	}
	b := braceWork{left: maxFields, zsh: e.c.src.lang == Zsh, budget: e.a.budget}
	words, ok := b.expand(us, 0)
	if !ok {
		e.a.unknown("a brace expansion is too large to analyse", e.c.src, e.span)
		return [][]syntax.WordPart{{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "{..}"}}}}
	}
	out := make([][]syntax.WordPart, len(words))
	for i, us := range words {
		out[i] = joinUnits(us, e.c.src.lang == Bash)
	}
	return out
}

// joinUnits makes parts of units again. To bash, $x{a,b} is $xa and $xb.
func joinUnits(us []unit, names bool) []syntax.WordPart {
	var parts []syntax.WordPart
	var b []byte
	flush := func() {
		if len(b) > 0 {
			parts = append(parts, &syntax.Lit{Value: string(b)})
			b = b[:0]
		}
	}
	for i := 0; i < len(us); i++ {
		u := us[i]
		if u.part != nil {
			flush()
			if pe, ok := u.part.(*syntax.ParamExp); ok && names && pe.Short && pe.Index == nil && pe.Param != nil && isName(pe.Param.Value) {
				name := pe.Param.Value
				for i+1 < len(us) && us[i+1].part == nil && !us[i+1].esc && isNameByte(us[i+1].b) {
					i++
					name += string(us[i].b)
				}
				u.part = &syntax.ParamExp{Dollar: pe.Dollar, Short: true, Param: &syntax.Lit{Value: name}}
			}
			parts = append(parts, u.part)
			continue
		}
		b = append(b, u.b)
	}
	flush()
	return parts
}

// braceWork is the expansion of one word.
type braceWork struct {
	left   int // words that may still be made
	zsh    bool
	budget *budget.Budget
}

// expand follows bash: the first well-formed brace is expanded, what is before
// and after it is repeated around each of its elements.
func (b *braceWork) expand(us []unit, depth int) ([][]unit, bool) {
	if depth > maxDepth {
		return nil, false
	}
	for i := 0; i < len(us); i++ {
		if !us[i].is('{') {
			continue
		}
		if i+1 < len(us) && us[i+1].is('}') { // {} is literal
			i++
			continue
		}
		end, commas := closing(us, i)
		scanned := end - i
		if end < 0 {
			scanned = len(us) - i
		}
		if !b.budget.Spend(scanned / 64) {
			return nil, false
		}
		if end < 0 {
			continue
		}
		var elems [][]unit
		if len(commas) > 0 {
			from := i + 1
			for _, c := range append(commas, end) {
				sub, ok := b.expand(us[from:c], depth+1)
				if !ok {
					return nil, false
				}
				elems = append(elems, sub...)
				from = c + 1
			}
		} else {
			seq, ok, isSeq := sequence(us[i+1:end], b.left, b.zsh)
			if !isSeq {
				continue
			}
			if !ok {
				return nil, false
			}
			elems = seq
		}
		tails, ok := b.expand(us[end+1:], depth+1)
		if !ok {
			return nil, false
		}
		n := len(elems) * len(tails)
		if b.left -= n; b.left < 0 || n*len(us) > maxValue*4 || !b.budget.Spend(n/8+n*len(us)/64) {
			return nil, false
		}
		out := make([][]unit, 0, n)
		for _, el := range elems {
			for _, tail := range tails {
				w := make([]unit, 0, i+len(el)+len(tail))
				w = append(append(append(w, us[:i]...), el...), tail...)
				out = append(out, w)
			}
		}
		return out, true
	}
	return [][]unit{us}, true
}

// closing finds the brace that closes the one at i, and the commas on its own
// level; -1 when there is none.
func closing(us []unit, i int) (end int, commas []int) {
	level := 0
	for j := i; j < len(us); j++ {
		switch {
		case us[j].is('{'):
			level++
		case us[j].is('}'):
			if level--; level == 0 {
				return j, commas
			}
		case us[j].is(',') && level == 1:
			commas = append(commas, j)
		}
	}
	return -1, nil
}

// sequence expands x..y and x..y..step.
func sequence(us []unit, budget int, zsh bool) (out [][]unit, ok, isSeq bool) {
	var b strings.Builder
	for _, u := range us {
		if u.part != nil || u.esc {
			return nil, false, false
		}
		b.WriteByte(u.b)
	}
	f := strings.Split(b.String(), "..")
	if len(f) != 2 && len(f) != 3 {
		return nil, false, false
	}
	step := 0
	if len(f) == 3 {
		n, err := strconv.Atoi(f[2])
		if err != nil {
			return nil, false, false
		}
		if step = max(n, -n); zsh && n < 0 {
			return nil, false, true // backwards
		}
	}
	step = max(step, 1)
	x, errX := strconv.Atoi(f[0])
	y, errY := strconv.Atoi(f[1])
	letters := false
	switch {
	case errX == nil && errY == nil:
	case len(f[0]) == 1 && len(f[1]) == 1 && (len(f) == 2 || !zsh) && isLetter(f[0][0]) && isLetter(f[1][0]):
		x, y, letters = int(f[0][0]), int(f[1][0]), true
		if (x < 'a') != (y < 'a') {
			return nil, false, true // passes through \ and [
		}
	default:
		return nil, false, false
	}
	if (max(x, y)-min(x, y))/step >= budget || max(x, y)-min(x, y) < 0 {
		return nil, false, true
	}
	width := 0
	if !letters && (padded(f[0]) || padded(f[1])) {
		width = max(len(f[0]), len(f[1]))
	}
	for n := x; ; {
		var w []unit
		if letters {
			w = []unit{{b: byte(n)}}
		} else {
			for _, c := range []byte(pad(n, width)) {
				w = append(w, unit{b: c})
			}
		}
		out = append(out, w)
		if x <= y {
			if n += step; n > y {
				break
			}
		} else if n -= step; n < y {
			break
		}
	}
	return out, true, true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

func pad(n, width int) string {
	s := strconv.Itoa(max(n, -n))
	sign := ""
	if n < 0 {
		sign = "-"
	}
	for len(s)+len(sign) < width {
		s = "0" + s
	}
	return sign + s
}
