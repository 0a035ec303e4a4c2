package eval

// pathIndex tells quickly that no entry of a list of path patterns fits a path
// that is wholly known: a command with a dozen operands compares each with some
// hundred entries, and nearly none ever fits.
type pathIndex struct {
	always bool                // an entry fits by more than its components
	names  map[string]struct{} // first components of entries that begin anywhere
	globs  []string            // those that are patterns
	heads  byteSet             // first bytes of the patterns that begin literally
	tails  byteSet             // last bytes of those that do not
	root   firsts              // first components of entries that begin at the root
	home   firsts              // or at the home directory
	atHome bool                // the home directory itself is an entry
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

// indexFrom is how many targets a command needs for its lists to be indexed.
const indexFrom = 3

// mayFit reports whether an entry of list may fit p; false is certain. from is
// that of pathInList.
func (v *view) mayFit(p *tpath, list []string, from int) bool {
	if len(v.accesses) < indexFrom || p.rootless || p.unknown || p.glob || len(p.others) > 0 {
		return true
	}
	x := v.r.indexOf(list)
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
	for i := from; i < len(p.comps); i++ {
		c := &p.comps[i]
		if _, ok := x.names[c.text]; ok {
			return true
		}
		if n := len(c.text); n > 0 && (x.heads.has(c.text[0]) || x.tails.has(c.text[n-1])) && fitsOne(c, x.globs) {
			return true
		}
	}
	return false
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// addGlob notes a pattern and with which bytes its names begin or end.
func (x *pathIndex) addGlob(s string) {
	x.globs = append(x.globs, s)
	switch last := s[len(s)-1]; {
	case !isGlobByte(s[0]):
		x.heads.add(s[0])
	case !isGlobByte(last) && last != ']':
		x.tails.add(last)
	default:
		x.heads = byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	}
}

func isGlobByte(c byte) bool { return c == '*' || c == '?' || c == '[' || c == '\\' }

func fitsOne(c *comp, rules []string) bool {
	for _, s := range rules {
		if compMatch(c, s) {
			return true
		}
	}
	return false
}

// indexOf returns the index of a list of a rule, which lives as long as r.
func (r *Rules) indexOf(list []string) *pathIndex {
	if x := r.pathIndexes[&list[0]]; x != nil {
		return x
	}
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
		}
	}
	if r.pathIndexes == nil {
		r.pathIndexes = map[*string]*pathIndex{}
	}
	r.pathIndexes[&list[0]] = x
	return x
}
