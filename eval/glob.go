package eval

import (
	"path"
	"strings"
)

// validGlob checks the pattern syntax of rule files: *, ?, [a-z], \x within
// one component.
func validGlob(p string) bool {
	_, err := path.Match(p, "")
	return err == nil
}

func hasGlob(s string) bool { return strings.ContainsAny(s, "*?[\\") }

func escapeGlob(s string) string {
	if !strings.ContainsAny(s, `*?[]{}\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]{}\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// globMatch matches a pattern of the shell against one name, as bash does
// without dotglob: a leading dot must be matched by a dot.
func globMatch(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, `\.`) && !strings.HasPrefix(pattern, "{") {
		return false
	}
	return rawMatch(pattern, name)
}

// rawMatch matches without the rule about dots. [!a] is [^a]; a pattern that
// path.Match does not know (braces, @(...)) matches everything, so that
// nothing is missed.
func rawMatch(pattern, name string) bool {
	if strings.ContainsAny(pattern, "({") && !strings.Contains(pattern, `\`) {
		return true
	}
	if strings.Contains(pattern, "[!") {
		pattern = strings.ReplaceAll(pattern, "[!", "[^")
	}
	if strings.Contains(pattern, "[[:") {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok || err != nil
}

// rulePath is a path pattern of a rule, read.
type rulePath struct {
	every    bool // "*": any path
	except   bool // !...
	here     bool // ".": the working directory
	anchored bool // begins at the root (or the home directory)
	comps    []string
}

func (r *Rules) rulePath(s string) rulePath {
	var p rulePath
	s, p.except = strings.CutPrefix(s, "!")
	switch {
	case s == "*":
		p.every = true
		return p
	case s == ".":
		p.here = true
		return p
	case s == "~", strings.HasPrefix(s, "~/"):
		p.anchored = true
		s = r.o.Paths.User + s[1:]
	case s[0] == '/':
		p.anchored = true
	}
	for len(s) > 0 {
		var c string
		c, s, _ = strings.Cut(s, "/")
		if c != "" && c != "." {
			p.comps = append(p.comps, c)
		}
	}
	return p
}

// compMatch says whether a component that a command names may be the one that
// a rule names; both may be patterns.
func compMatch(c comp, rule string) bool {
	if c.unknown {
		return false
	}
	if !c.glob {
		if hasGlob(rule) {
			return rawMatch(rule, c.text)
		}
		return c.text == rule
	}
	if !hasGlob(rule) {
		return globMatch(c.text, rule)
	}
	return c.text == rule || rawMatch(rule, sample(c.text)) || globMatch(c.text, sample(rule))
}

// sample is a name that a pattern matches.
func sample(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*', '?':
			b.WriteByte('x')
		case '\\':
			if i++; i < len(pattern) {
				b.WriteByte(pattern[i])
			}
		case '[':
			j := strings.IndexByte(pattern[i+1:], ']')
			if j < 0 {
				b.WriteByte(c)
				continue
			}
			set := strings.TrimLeft(pattern[i+1:i+1+j], "!^")
			if set != "" && set[0] < 0x80 {
				b.WriteByte(set[0])
			}
			i += j + 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// under says whether the path is, or lies under, what the rule names.
func (p tpath) under(rp rulePath) certainty {
	k := p.underItself(rp)
	for i := range p.others {
		if k != never {
			break
		}
		if p.others[i].underItself(rp) == sure {
			k = maybe
		}
	}
	return k
}

func (p tpath) underItself(rp rulePath) certainty {
	if rp.every {
		return sure
	}
	if rp.anchored {
		if p.rootless {
			return p.tailUnder(rp)
		}
		for i, want := range rp.comps {
			if i >= len(p.comps) {
				return never
			}
			if p.comps[i].unknown {
				// Known to be inside a hidden directory that the rule names.
				if i > 0 && strings.HasPrefix(rp.comps[i-1], ".") {
					return maybe
				}
				return never
			}
			if !compMatch(p.comps[i], want) {
				return never
			}
		}
		return sure
	}
	for at := 0; at+len(rp.comps) <= len(p.comps); at++ {
		ok := true
		for i, want := range rp.comps {
			if !compMatch(p.comps[at+i], want) {
				ok = false
				break
			}
		}
		if ok {
			return sure
		}
	}
	return never
}

// tailUnder compares the known end of a path whose beginning is not known:
// $X/.ssh/id_rsa may be ~/.ssh/id_rsa. Only hidden names say enough for that.
func (p tpath) tailUnder(rp rulePath) certainty {
	for from := 0; from < len(rp.comps); from++ {
		tail := rp.comps[from:]
		if !strings.HasPrefix(tail[0], ".") {
			continue
		}
		for at := 0; at+len(tail) <= len(p.comps); at++ {
			ok := true
			for i, want := range tail {
				ok = ok && compMatch(p.comps[at+i], want)
			}
			if ok {
				return maybe
			}
		}
	}
	return never
}

// covers says whether the path is what the rule names, or a directory above
// it, or all that is in it (/*).
func (p tpath) covers(rp rulePath, dir string) certainty {
	if rp.every {
		return sure
	}
	isHere := rp.here
	if isHere {
		if dir == "" || p.rootless {
			return never
		}
		rp = exactRule(dir)
		if len(p.comps) > 0 && matchesAll(p.comps[len(p.comps)-1]) && len(p.comps) > len(rp.comps) {
			return never // the contents only: rm -r *
		}
	}
	if p.coversExactly(rp) {
		return sure
	}
	if p.ifEmpty != nil && !isHere {
		// The path is not known; as far as it is, it may be this one.
		e := p.ifEmpty
		if len(e.comps) == 0 || e.coversExactly(rp) {
			return maybe
		}
	}
	for _, o := range p.others {
		if o.coversExactly(rp) {
			return maybe
		}
	}
	return never
}

func (p tpath) coversExactly(rp rulePath) bool {
	comps := p.comps
	if !rp.anchored { // a name anywhere: the path ends with it
		if len(comps) < len(rp.comps) {
			return false
		}
		for i, c := range comps[len(comps)-len(rp.comps):] {
			if !compMatch(c, rp.comps[i]) {
				return false
			}
		}
		return true
	}
	if p.rootless {
		return false
	}
	for len(comps) > len(rp.comps) && matchesAll(comps[len(comps)-1]) {
		comps = comps[:len(comps)-1]
	}
	if len(comps) > len(rp.comps) {
		return false
	}
	for i, c := range comps {
		if !compMatch(c, rp.comps[i]) {
			return false
		}
	}
	return true
}

// wholly says that whatever the path stands for is, or lies under, what the
// rule names: an exception counts only then.
func (p tpath) wholly(rp rulePath) bool {
	if p.under(rp) != sure {
		return false
	}
	for _, c := range p.comps {
		if c.glob {
			return p.globWholly(rp)
		}
	}
	return true
}

// globWholly is wholly for paths with patterns: each component that the rule
// names must match it for every name that the pattern matches.
func (p tpath) globWholly(rp rulePath) bool {
	implied := func(c comp, rule string) bool {
		switch {
		case !c.glob:
			return compMatch(c, rule)
		case c.text == rule || rule == "*":
			return true
		}
		// *.pub is implied by id_*.pub, x* by xy*.
		if suffix, ok := strings.CutPrefix(rule, "*"); ok && !hasGlob(suffix) {
			return strings.HasSuffix(c.text, suffix)
		}
		if prefix, ok := strings.CutSuffix(rule, "*"); ok && !hasGlob(prefix) {
			return strings.HasPrefix(c.text, prefix)
		}
		return false
	}
	last := 0
	if !rp.anchored {
		last = len(p.comps) - len(rp.comps)
	}
	for at := 0; at <= last; at++ {
		ok := true
		for i, want := range rp.comps {
			ok = ok && at+i < len(p.comps) && implied(p.comps[at+i], want)
		}
		if ok {
			return true
		}
	}
	return rp.every
}
