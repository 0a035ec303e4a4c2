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

// rulePath is a path pattern of a rule, read. Its components are walked, not
// split, because most of them are compared with one component only.
type rulePath struct {
	every    bool // "*": any path
	except   bool // !...
	here     bool // ".": the working directory
	anchored bool // begins at the root (or the home directory)
	home     string
	rest     string
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
		p.home, s = r.o.Paths.User, s[1:]
	case s[0] == '/':
		p.anchored = true
	case s[0] == '$':
		p.anchored, s = true, r.ownPath(s)
	}
	p.rest = s
	return p
}

// ownPath is where safeshell's own files are, for a rule that names them by
// variable.
func (r *Rules) ownPath(variable string) string {
	switch variable {
	case "$SAFESHELL_HOME":
		return r.o.Paths.Home
	case "$SAFESHELL_SPOOL":
		return r.o.Paths.Spool
	}
	return variable
}

// compIter walks the components of a rulePath.
type compIter struct{ home, rest string }

func (rp *rulePath) iter() compIter { return compIter{rp.home, rp.rest} }

// next returns the next component.
func (it *compIter) next() (string, bool) {
	for {
		from := &it.home
		if *from == "" {
			from = &it.rest
		}
		if *from == "" {
			return "", false
		}
		s := *from
		for i := 0; ; i++ {
			if i == len(s) {
				*from = ""
				break
			}
			if s[i] == '/' {
				s, *from = s[:i], s[i+1:]
				break
			}
		}
		if s != "" && s != "." {
			return s, true
		}
	}
}

// len counts the components.
func (rp *rulePath) len() int {
	n := 0
	for it := rp.iter(); ; n++ {
		if _, ok := it.next(); !ok {
			return n
		}
	}
}

// compMatch says whether a component that a command names may be the one that
// a rule names; both may be patterns.
func compMatch(c *comp, rule string) bool {
	if c.unknown {
		return false
	}
	if !c.glob {
		return nameMatch(rule, c.text)
	}
	if !hasGlob(rule) {
		return globMatch(c.text, rule)
	}
	return c.text == rule || rawMatch(rule, sample(c.text)) || globMatch(c.text, sample(rule))
}

// nameMatch matches a rule's component against a name. Nearly all are literal,
// or have one star.
func nameMatch(rule, name string) bool {
	if rule == name && strings.IndexByte(rule, '[') < 0 && strings.IndexByte(rule, '\\') < 0 {
		return true
	}
	star := -1
	for i := 0; i < len(rule); i++ {
		switch rule[i] {
		case '*':
			if star >= 0 {
				return rawMatch(rule, name)
			}
			star = i
		case '?', '[', '\\':
			return rawMatch(rule, name)
		default:
			if star < 0 && (i >= len(name) || name[i] != rule[i]) {
				return false
			}
		}
	}
	if star < 0 {
		return len(rule) == len(name)
	}
	rest := rule[star+1:]
	return len(name) >= len(rule)-1 && name[len(name)-len(rest):] == rest
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
func (p *tpath) under(rp *rulePath) certainty {
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

func (p *tpath) underItself(rp *rulePath) certainty {
	if rp.every {
		return sure
	}
	if rp.anchored {
		if p.rootless {
			return p.tailUnder(rp)
		}
		last := ""
		it := rp.iter()
		i := 0
		if rp.home != "" && p.home != 0 {
			if p.home == homeOutside {
				return never
			}
			it.home, i = "", int(p.home)
		}
		for ; ; i++ {
			want, ok := it.next()
			if !ok {
				return sure
			}
			if i >= len(p.comps) {
				return never
			}
			if p.comps[i].unknown {
				// Known to be inside a hidden directory that the rule names.
				if strings.HasPrefix(last, ".") {
					return maybe
				}
				return never
			}
			if !compMatch(&p.comps[i], want) {
				return never
			}
			last = want
		}
	}
	for at := 0; at < len(p.comps); at++ {
		if at+1 < len(p.comps) && matchesAll(&p.comps[at]) && p.comps[at].text[0] != '.' && rp.len() == 1 {
			continue // cat /proc/*/status: any directory, and no sign that it is called so
		}
		if k, _ := p.beginsAt(at, rp.iter()); k {
			return sure
		}
	}
	return never
}

// beginsAt says that the components from at on are those of the rule; n is how
// many those are.
func (p *tpath) beginsAt(at int, it compIter) (ok bool, n int) {
	for {
		want, more := it.next()
		if !more {
			return n > 0, n
		}
		if at+n >= len(p.comps) || !compMatch(&p.comps[at+n], want) {
			return false, n
		}
		n++
	}
}

// tailUnder compares the known end of a path whose beginning is not known:
// $X/.ssh/id_rsa may be ~/.ssh/id_rsa. Only hidden names say enough for that.
func (p *tpath) tailUnder(rp *rulePath) certainty {
	for it := rp.iter(); ; {
		tail := it
		c, ok := it.next()
		if !ok {
			return never
		}
		if !strings.HasPrefix(c, ".") {
			continue
		}
		for at := range p.comps {
			if k, _ := p.beginsAt(at, tail); k {
				return maybe
			}
		}
	}
}

// covers says whether the path is what the rule names, or a directory above
// it, or all that is in it (/*).
func (p *tpath) covers(rp rulePath, dir string) certainty {
	if rp.every {
		return sure
	}
	isHere := rp.here
	if isHere {
		if dir == "" || p.rootless {
			return never
		}
		rp = exactRule(dir)
		if len(p.comps) > 0 && matchesAll(&p.comps[len(p.comps)-1]) && len(p.comps) > rp.len() {
			return never // the contents only: rm -r *
		}
	}
	if p.coversExactly(&rp) {
		return sure
	}
	if p.ifEmpty != nil && !isHere {
		// The path is not known; as far as it is, it may be this one.
		if e := p.ifEmpty; len(e.comps) == 0 || e.coversExactly(&rp) {
			return maybe
		}
	}
	for i := range p.others {
		if p.others[i].coversExactly(&rp) {
			return maybe
		}
	}
	return never
}

func (p *tpath) coversExactly(rp *rulePath) bool {
	comps := p.comps
	if !rp.anchored { // a name anywhere: the path ends with it
		n := rp.len()
		if len(comps) < n {
			return false
		}
		ok, _ := p.beginsAt(len(comps)-n, rp.iter())
		return ok
	}
	if p.rootless {
		return false
	}
	// Cheapest first: most paths differ in their first component.
	it, i := rp.iter(), 0
	if rp.home != "" && p.home > 0 {
		it.home, i = "", int(p.home)
	}
	for ; ; i++ {
		want, ok := it.next()
		if i == len(comps) {
			return true // at or above it
		}
		if !ok { // below it: all that is left must be everything in it
			for _, c := range comps[i:] {
				if !matchesAll(&c) {
					return false
				}
			}
			return true
		}
		if !compMatch(&comps[i], want) {
			return false
		}
	}
}

// wholly says that whatever the path stands for is, or lies under, what the
// rule names: an exception counts only then.
func (p *tpath) wholly(rp *rulePath) bool {
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
func (p *tpath) globWholly(rp *rulePath) bool {
	implied := func(c *comp, rule string) bool {
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
		last = len(p.comps) - 1
	}
	for at := 0; at <= last; at++ {
		it := rp.iter()
		for i := at; ; i++ {
			want, more := it.next()
			if !more {
				return true
			}
			if i >= len(p.comps) || !implied(&p.comps[i], want) {
				break
			}
		}
	}
	return rp.every
}
