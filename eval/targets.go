package eval

import "strings"

// matchTargets evaluates the path keys of a clause.
func (v *view) matchTargets(c *clause, except bool, skip int, note func(string, ...any), loss *[]string) certainty {
	ts := v.targets()
	result := sure
	kinds := 0
	each := func(key string, list []string, of func(accessKind) bool) {
		if list == nil || result == never {
			return
		}
		kinds++
		result = min(result, v.someTarget(c, ts, key, list, of, except, note, loss))
	}
	if c.paths != nil {
		ops := v.operandList(skip)
		list := make([]target, len(ops))
		for i, w := range ops {
			list[i] = target{kind: accRead, word: w}
			if v.changes() {
				list[i].kind = accChange
			}
		}
		kinds++
		result = min(result, v.someTarget(c, list, "operand", c.paths, func(accessKind) bool { return true }, except, note, loss))
	}
	each("reads", c.reads, func(k accessKind) bool { return k == accRead })
	each("writes", c.writes, func(k accessKind) bool { return k != accRead && k != accDiscard && k != accVia })
	each("deletes", c.deletes, func(k accessKind) bool { return k == accDelete || k == accDiscard })
	each("removes", c.removes, func(k accessKind) bool { return k == accDelete || k == accMove || k == accVia })
	each("empties", c.empties, func(k accessKind) bool { return k == accEmpty })
	if kinds == 0 {
		each("changes", []string{"*"}, func(k accessKind) bool { return k != accRead && k != accVia })
	}
	return result
}

// changes says that the command is one that changes its operands.
func (v *view) changes() bool {
	for i := range v.targets() {
		if v.accesses[i].kind != accRead {
			return true
		}
	}
	return false
}

// someTarget looks for a target that all path keys of the clause accept. In an
// exception all targets of the kind must be accepted, and there must be one.
func (v *view) someTarget(c *clause, ts []target, key string, list []string, of func(accessKind) bool, except bool, note func(string, ...any), loss *[]string) certainty {
	best, all, any := never, sure, false
	for i := range ts {
		t := &ts[i]
		if !of(t.kind) {
			continue
		}
		any = true
		k := v.accepts(c, t, list)
		all = min(all, k)
		if k > best {
			best = k
			note("%s %s", key, clip(v.textOf(t.word)))
		}
		if k > never && loss != nil && c.recoverable == no && len(*loss) < 20 {
			*loss = append(*loss, v.textOf(t.word))
		}
		if best == sure && loss == nil && !except {
			break
		}
	}
	if except {
		if !any {
			return never
		}
		return all
	}
	return best
}

func (v *view) accepts(c *clause, t *target, list []string) certainty {
	v.resolve(t)
	result := v.inList(t, list)
	if result == never {
		return never
	}
	if c.recursive != unset && (c.recursive == yes) != t.recursive {
		return never
	}
	if c.covers != nil {
		k := never
		for _, s := range c.covers {
			if rp := v.r.rulePath(s); !rp.except {
				k = max(k, v.coversOne(t, rp))
			} else if t.path.wholly(&rp) {
				k = never
			}
		}
		result = min(result, k)
	}
	if result != never && c.scratch != unset && (c.scratch == yes) != v.isScratch(t.path) {
		return never
	}
	if result != never && c.project != unset && (c.project == yes) != v.inProject(t.path) {
		return never
	}
	if result != never && c.recoverable != unset && (c.recoverable == yes) != v.recoverable(t) {
		return never
	}
	return result
}

func (v *view) coversOne(t *target, rp rulePath) certainty {
	dirs := [2]string{v.dir, v.dir}
	if rp.here && len(v.a.Commands) > 0 {
		// The directory that the shell will be in again: cd .. && rm -r proj.
		dirs[1], _ = v.a.Commands[0].Dir.Text()
	}
	k := never
	for _, dir := range dirs {
		k = max(k, t.path.covers(rp, dir))
		for i := range t.real {
			k = max(k, t.real[i].covers(rp, dir))
		}
		if !rp.here {
			break
		}
	}
	return k
}

// inList evaluates a list of path patterns: the last that fits decides, so
// that !x takes x out of what was named before.
func (v *view) inList(t *target, list []string) certainty {
	from := 0
	if n := t.path.base; n > 0 {
		if here := v.hereInList(list); here.k == never {
			from = max(0, n-here.longest+1)
		}
	}
	k := never
	if v.mayFit(&t.path, list, from) {
		k = v.pathInList(&t.path, list, t, from)
	}
	for i := range t.real {
		if k == sure {
			return sure
		}
		if v.mayFit(&t.real[i], list, 0) {
			k = max(k, v.pathInList(&t.real[i], list, nil, 0))
		}
	}
	return k
}

// here is what a list says of the working directory itself, and how many
// components its longest entry has. Operands share the directory, so that its
// components are compared once.
type here struct {
	k       certainty
	longest int
}

func (v *view) hereInList(list []string) here {
	if h, ok := v.hereLists[&list[0]]; ok {
		return h
	}
	if v.hereLists == nil {
		v.hereLists = map[*string]here{}
	}
	if v.herePath == nil {
		p := exactPath(v.dir)
		p.findHome(v.r.o.Paths.User)
		v.herePath = &p
	}
	h := here{}
	if v.mayFit(v.herePath, list, 0) {
		h.k = v.pathInList(v.herePath, list, nil, 0)
	}
	for _, s := range list {
		h.longest = max(h.longest, 1+strings.Count(s, "/"))
	}
	v.hereLists[&list[0]] = h
	return h
}

func (v *view) pathInList(p *tpath, list []string, t *target, from int) certainty {
	if t != nil && p.glob && len(t.real) > 0 && !needsAnchor(list) {
		return never // the pattern was expanded: its files are judged one by one
	}
	k := never
	for _, s := range list {
		rp := v.r.rulePath(s)
		if rp.here {
			rp = exactRule(v.dir)
		}
		switch {
		case !rp.except:
			if k != sure {
				k = max(k, p.under(&rp, from))
			}
		case k != never && p.wholly(&rp):
			k = never
		}
	}
	return k
}

// needsAnchor says that a list holds paths that can be compared with a pattern
// whose files do not exist (yet).
func needsAnchor(list []string) bool {
	for _, s := range list {
		if s == "*" || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
			return true
		}
	}
	return false
}

func exactRule(dir string) rulePath { return rulePath{anchored: true, rest: dir} }
