package eval

import "strings"

// pathIndex tells quickly that no entry of a list of path patterns fits a path
// that is wholly known: a command with a dozen operands compares each with some
// hundred entries, and nearly none ever fits.
type pathIndex struct {
	always bool                // an entry fits by more than its components
	names  map[string]struct{} // first components of entries that begin anywhere
	globs  []string            // those that are patterns
	heads  byteSet             // first bytes of the patterns that begin literally
	tails  byteSet             // last bytes of those that do not
	// First and last bytes of names.
	nameHeads, nameTails byteSet
	root                 firsts // first components of entries that begin at the root
	home                 firsts // or at the home directory
	atHome               bool   // the home directory itself is an entry
}

// firsts are components that paths are asked to begin with, and the last answer:
// operands share the directory.
type firsts struct {
	rules  []string
	asked  string
	answer bool
}

func (f *firsts) fit(c *comp) bool {
	if f.asked != c.text {
		f.asked, f.answer = c.text, fitsOne(c, f.rules)
	}
	return f.answer
}

// pathList is a list of path patterns of a rule, and what was found out about
// it. It lives as long as the Rules.
type pathList struct {
	entries []string
	index   *pathIndex // nil until it is worth its making
	uses    int        // paths that were compared with the list
}

// indexFrom is how many paths are compared with a list before it is indexed.
const indexFrom = 3

// listOf returns what is known of a list with which n paths will be compared.
func (r *Rules) listOf(list []string, n int) *pathList {
	l := r.pathLists[&list[0]]
	if l == nil {
		l = &pathList{entries: list}
		if r.pathLists == nil {
			r.pathLists = map[*string]*pathList{}
		}
		r.pathLists[&list[0]] = l
	}
	if l.uses += n; l.index == nil && l.uses >= indexFrom {
		l.index = r.newPathIndex(list)
	}
	return l
}

// mayFit reports whether an entry of the list may fit p; false is certain.
func (v *view) mayFit(p *tpath, l *pathList) bool {
	return l.index == nil || p.rootless || p.unknown || p.glob || len(p.others) > 0 || l.index.mayFit(p)
}

// mayFit is the method of view of that name, for a path that is wholly known.
func (x *pathIndex) mayFit(p *tpath) bool {
	if x.always {
		return true
	}
	if len(p.comps) > 0 && x.root.fit(&p.comps[0]) {
		return true
	}
	switch n := int(p.home); {
	case p.home == homeOutside:
	case p.home == 0: // not worked out
		if x.atHome || len(x.home.rules) > 0 {
			return true
		}
	case n >= len(p.comps):
		if x.atHome {
			return true
		}
	case x.atHome || x.home.fit(&p.comps[n]):
		return true
	}
	return x.begins(p.comps)
}

// begins reports whether an entry that begins anywhere may begin at one of the
// components.
func (x *pathIndex) begins(comps []comp) bool {
	for i := range comps {
		c := &comps[i]
		n := len(c.text)
		if n == 0 {
			continue
		}
		if x.nameHeads.has(c.text[0]) && x.nameTails.has(c.text[n-1]) {
			if _, ok := x.names[c.text]; ok {
				return true
			}
		}
		if (x.heads.has(c.text[0]) || x.tails.has(c.text[n-1])) && fitsOne(c, x.globs) {
			return true
		}
	}
	return false
}

// byteSet is a set of bytes.
type byteSet [4]uint64

var allBytes = byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// addGlob notes a pattern and with which bytes its names begin or end.
func (x *pathIndex) addGlob(s string) {
	x.globs = append(x.globs, s)
	switch {
	case !isGlobByte(s[0]):
		x.heads.add(s[0])
	case literalEnd(s):
		x.tails.add(s[len(s)-1])
	default:
		x.heads = allBytes
	}
}

func isGlobByte(c byte) bool { return c == '*' || c == '?' || c == '[' || c == '\\' }

// literalEnd says that what a pattern matches ends with its last byte. Patterns
// that rawMatch does not know match everything.
func literalEnd(s string) bool {
	last := s[len(s)-1]
	return !isGlobByte(last) && last != ']' && !strings.ContainsAny(s, "({") && !strings.Contains(s, "[[:")
}

func fitsOne(c *comp, rules []string) bool {
	for _, s := range rules {
		if compMatch(c, s) {
			return true
		}
	}
	return false
}

func (r *Rules) newPathIndex(list []string) *pathIndex {
	x := &pathIndex{names: map[string]struct{}{}}
	for _, s := range list {
		rp := r.rulePath(s)
		if rp.except {
			continue // takes away only
		}
		home := rp.home != ""
		rp.home = ""
		it := rp.iter()
		first, ok := it.next()
		switch {
		case rp.every, rp.here:
			x.always = true
		case home && !ok:
			x.atHome = true
		case home:
			x.home.rules = append(x.home.rules, first)
		case rp.anchored && !ok:
			x.always = true
		case rp.anchored:
			x.root.rules = append(x.root.rules, first)
		case !ok: // fits nothing
		case hasGlob(first):
			x.addGlob(first)
		default:
			x.names[first] = struct{}{}
			x.nameHeads.add(first[0])
			x.nameTails.add(first[len(first)-1])
		}
	}
	return x
}
