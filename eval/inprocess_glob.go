package eval

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// patternPart is a run of a pattern word.
type patternPart struct {
	text  string
	plain bool // quoted, or from a value: means itself
}

// patternParts expands a word of which unquoted characters are a pattern. Values
// count as plain; those that are not quoted and hold a character of special are
// left to bash.
func (x *inShell) patternParts(w *syntax.Word, special string) []patternPart {
	var parts []patternPart
	for _, p := range w.Parts {
		part := patternPart{plain: true}
		switch p := p.(type) {
		case *syntax.Lit:
			part.text, part.plain = p.Value, false
		case *syntax.ParamExp:
			if part.text = x.param(p, true); strings.ContainsAny(part.text, special) {
				x.leave()
			}
		case *syntax.CmdSubst:
			if part.text = x.output(p); strings.ContainsAny(part.text, special) {
				x.leave()
			}
		default:
			part.text = x.quoted(p)
		}
		if x.left {
			return nil
		}
		if n := len(parts); n > 0 && !part.plain && !parts[n-1].plain {
			parts[n-1].text += part.text
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

// globAtom is one character of a pattern: a byte, or any of a set.
type globAtom struct {
	lit byte
	set *charSet
}

// globSegment is what stands between two stars.
type globSegment struct {
	lit   string
	atoms []globAtom // when it is not only text
}

const maxGlobAtoms = 256

// globWord matches a word as a pattern of case or [[ ]].
func (x *inShell) globWord(w *syntax.Word, s string) bool {
	parts := x.patternParts(w, `*?[\()`)
	if x.left {
		return false
	}
	segments, ok := x.m.loc.parseGlob(parts)
	if !ok || !x.spend(len(s)) {
		x.leave()
		return false
	}
	for _, g := range segments {
		if g.atoms != nil && (len(g.atoms) > maxGlobAtoms || !isASCII(s)) {
			x.leave() // what one character is depends on the locale
			return false
		}
	}
	return matchSegments(segments, s)
}

// parseGlob splits a pattern at its stars.
func (l inLocale) parseGlob(parts []patternPart) (segments []globSegment, ok bool) {
	var text strings.Builder // of the present segment, while it is only text
	var atoms []globAtom
	add := func(a globAtom) {
		if a.set == nil && atoms == nil {
			text.WriteByte(a.lit)
			return
		}
		if atoms == nil {
			lit := text.String()
			for i := range len(lit) {
				atoms = append(atoms, globAtom{lit: lit[i]})
			}
		}
		atoms = append(atoms, a)
	}
	end := func() {
		segments = append(segments, globSegment{lit: text.String(), atoms: atoms})
		text.Reset()
		atoms = nil
	}
	for _, p := range parts {
		if p.plain && atoms == nil {
			text.WriteString(p.text)
			continue
		}
		for i := 0; i < len(p.text); i++ {
			c := p.text[i]
			switch {
			case p.plain:
				add(globAtom{lit: c})
			case c == '\\':
				i++
				if i == len(p.text) || p.text[i] == '\n' {
					return nil, false
				}
				add(globAtom{lit: p.text[i]})
			case c == '*':
				end()
			case c == '?':
				add(globAtom{set: anyChar})
			case c == '[':
				set, n, ok := l.bracket(p.text[i+1:], true)
				if !ok {
					return nil, false
				}
				add(globAtom{set: set})
				i += n
			case strings.IndexByte("()|~", c) >= 0:
				return nil, false
			default:
				add(globAtom{lit: c})
			}
		}
	}
	end()
	return segments, true
}

func matchSegments(g []globSegment, s string) bool {
	n := g[0].prefix(s)
	if n < 0 {
		return false
	}
	if len(g) == 1 {
		return n == len(s)
	}
	s = s[n:]
	last := g[len(g)-1]
	for _, seg := range g[1 : len(g)-1] {
		if seg.atoms == nil {
			i := strings.Index(s, seg.lit)
			if i < 0 {
				return false
			}
			s = s[i+len(seg.lit):]
			continue
		}
		for seg.prefix(s) < 0 {
			if s == "" {
				return false
			}
			s = s[1:]
		}
		s = s[len(seg.atoms):]
	}
	n = len(last.atoms)
	if last.atoms == nil {
		n = len(last.lit)
	}
	return n <= len(s) && last.prefix(s[len(s)-n:]) == n
}

// prefix returns how much of s the segment takes at its beginning, -1 for none.
func (g globSegment) prefix(s string) int {
	if g.atoms == nil {
		if strings.HasPrefix(s, g.lit) {
			return len(g.lit)
		}
		return -1
	}
	if len(s) < len(g.atoms) {
		return -1
	}
	for i, a := range g.atoms {
		if a.set == nil && s[i] != a.lit || a.set != nil && !a.set.ascii(s[i]) {
			return -1
		}
	}
	return len(g.atoms)
}

// regexWord matches the right side of =~.
func (x *inShell) regexWord(w *syntax.Word, s string) bool {
	parts := x.patternParts(w, `\[](){}*+?.|^$`)
	var b strings.Builder
	for _, p := range parts {
		switch {
		case !p.plain:
			// In brackets a backslash is bash's or the expression's.
			if len(parts) > 1 && strings.ContainsAny(p.text, "[]") || strings.Contains(p.text, "[") && strings.Contains(p.text, `\`) {
				x.leave()
			}
			b.WriteString(p.text)
		default:
			for i := range len(p.text) {
				if strings.IndexByte(`\[](){}*+?.|^$`, p.text[i]) >= 0 {
					b.WriteByte('\\')
				}
				b.WriteByte(p.text[i])
			}
		}
	}
	if x.left || b.Len() == 0 {
		x.leave()
		return false
	}
	m := x.matcher(matcherKey{text: b.String(), kind: bashExpression})
	if m == nil || !m.affordable(len(s)) || !x.spend(len(s)) {
		x.leave()
		return false
	}
	c := m.line(s)
	if c == maybe {
		x.leave()
	}
	return c == sure
}
