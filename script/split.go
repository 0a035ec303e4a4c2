package script

import "strings"

// output appends what a substitution gave: zsh splits it, unlike values.
func (e *expander) output(ps []Part, quoted bool) {
	if quoted || !e.split || e.c.src.lang != Zsh {
		e.value(ps, quoted)
		return
	}
	for _, p := range ps {
		if p.Kind == Literal {
			e.splitText(p.Text, false)
			continue
		}
		p.Split = p.Kind != TempPath
		e.add(p)
	}
}

// value appends what an expansion gave. Unquoted values are split and their
// pattern characters are live.
func (e *expander) value(ps []Part, quoted bool) {
	if quoted || !e.split {
		for _, p := range ps {
			p.Split = p.Split && !quoted && e.split
			e.add(p)
		}
		return
	}
	for _, p := range ps {
		switch p.Kind {
		case Literal:
			e.splitText(p.Text, e.c.src.lang == Zsh)
		case TempPath:
			e.add(p)
		default:
			p.Split = true
			e.add(p)
		}
	}
}

// splitText appends an unquoted known value, split unless it is to stay whole.
func (e *expander) splitText(s string, whole bool) {
	if s == "" {
		return
	}
	if e.st.odd {
		e.add(Part{Kind: Variable, Name: "IFS", Split: true, Alt: []string{s}})
		return
	}
	if whole {
		e.text(s)
		return
	}
	ifs := " \t\n"
	if v, ok := e.st.vars["IFS"]; ok || e.st.lost {
		t, known := (Word{Parts: v.parts}).Text()
		switch {
		case !ok:
		case v.kind == isUnset:
		case v.kind == isScalar && known:
			ifs = t
		default:
			e.add(Part{Kind: Variable, Name: "IFS", Split: true, Alt: []string{s}})
			return
		}
	}
	spaced := false // the last field was ended by white space
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case strings.IndexByte(ifs, c) < 0:
			j := i + 1
			for j < len(s) && strings.IndexByte(ifs, s[j]) < 0 {
				j++
			}
			e.globText(s[i:j])
			i, spaced = j-1, false
		case c == ' ' || c == '\t' || c == '\n':
			if e.has {
				e.end()
				spaced = true
			}
		default:
			if !e.has && spaced {
				spaced = false
				continue
			}
			e.has = true
			e.end()
			spaced = false
			for i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t' || s[i+1] == '\n') && strings.IndexByte(ifs, s[i+1]) >= 0 {
				i++
			}
		}
	}
}

// globText appends text of a value whose pattern characters are live.
func (e *expander) globText(s string) {
	if e.c.src.lang == Zsh {
		e.text(s)
		return
	}
	for s != "" {
		i := strings.IndexAny(s, "*?[")
		if i < 0 {
			e.text(s)
			return
		}
		n := 1
		if s[i] == '[' {
			if n = bracket(s[i:]); n == 0 {
				e.text(s[:i+1])
				s = s[i+1:]
				continue
			}
		}
		e.text(s[:i])
		e.add(Part{Kind: Glob, Text: s[i : i+n]})
		s = s[i+n:]
	}
}
