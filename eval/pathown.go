package eval

// ownNames knows the components with which an entry of an indexed list may begin
// anywhere in a path, of all such lists at once: what it rules out for an operand
// is asked once, not once for each list. It says yes too often, never no.
type ownNames struct {
	lists int                 // how many lists it knows; they have the numbers 1 to lists
	names [64]uint64          // a filter of 4096 bits, by nameHash
	globs [][]string          // patterns that begin or end literally, by place in heads or ends
	heads [256]uint8          // place of a first byte in globs, from 1 on
	ends  [256]uint8          // place of a last byte
	odd   []string            // all other patterns
	known map[string]struct{} // patterns that were added
}

// nameHash is where a name is noted in the filter.
func nameHash(s string) (word int, bit uint64) {
	h := uint32(len(s))
	for i := 0; i < len(s); i++ {
		h = h*31 + uint32(s[i])
	}
	h ^= h >> 12
	return int(h >> 6 & 63), 1 << (h & 63)
}

// add notes what the entries of a list begin with and returns the list's number.
func (o *ownNames) add(x *pathIndex) int {
	for n := range x.names {
		word, bit := nameHash(n)
		o.names[word] |= bit
	}
	for _, g := range x.globs {
		if _, ok := o.known[g]; ok {
			continue
		}
		if o.known == nil {
			o.known = map[string]struct{}{}
		}
		o.known[g] = struct{}{}
		switch {
		case !isGlobByte(g[0]) && len(o.globs) < 255:
			o.put(&o.heads[g[0]], g)
		case literalEnd(g) && len(o.globs) < 255:
			o.put(&o.ends[g[len(g)-1]], g)
		default:
			o.odd = append(o.odd, g)
		}
	}
	o.lists++
	return o.lists
}

// put adds a pattern where a byte leads.
func (o *ownNames) put(place *uint8, g string) {
	if *place == 0 {
		o.globs = append(o.globs, nil)
		*place = uint8(len(o.globs))
	}
	o.globs[*place-1] = append(o.globs[*place-1], g)
}

// mayBegin reports whether an entry of one of the lists may begin at one of the
// components; false is certain.
func (o *ownNames) mayBegin(comps []comp) bool {
	for i := range comps {
		c := &comps[i]
		n := len(c.text)
		if n == 0 {
			continue
		}
		if word, bit := nameHash(c.text); o.names[word]&bit != 0 {
			return true
		}
		if k := o.heads[c.text[0]]; k > 0 && fitsOne(c, o.globs[k-1]) {
			return true
		}
		if k := o.ends[c.text[n-1]]; k > 0 && fitsOne(c, o.globs[k-1]) {
			return true
		}
		if len(o.odd) > 0 && fitsOne(c, o.odd) {
			return true
		}
	}
	return false
}

// quietIn says that an entry of the list fits a path below the working directory
// only if it begins at one of the path's own components.
func (v *view) quietIn(l *pathList) bool {
	if l.number == 0 || v.dir == "" || len(v.r.dirPath(v.dir).comps) == 0 {
		return false
	}
	v.hereIn(l)
	return l.quiet
}

// ruledOut says that no entry of a list that is quiet in the working directory
// fits the target, which is resolved, or what it leads to: as far as all lists
// together can tell.
func (v *view) ruledOut(t *target, l *pathList) bool {
	if t.ownLists < l.number && !t.ownMay {
		v.lookAtOwn(t)
	}
	return !t.ownMay
}

// lookAtOwn finds out whether an entry of any indexed list may begin at a
// component that the target does not share with the working directory.
func (v *view) lookAtOwn(t *target) {
	p := &t.path
	t.ownLists = v.r.own.lists
	t.ownMay = len(t.real) > 0 || p.rootless || p.unknown || p.glob || len(p.others) > 0 || v.dir == "" || p.base == 0 ||
		p.base < len(v.r.dirPath(v.dir).comps) || int(p.home) >= p.base || v.r.own.mayBegin(p.comps[p.base:])
}
