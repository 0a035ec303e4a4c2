package eval

import (
	"safeshell/internal/files"
	"slices"
	"strings"
)

// matchTargets evaluates the path keys of a clause.
func (v *view) matchTargets(c *clause, except bool, skip int, note func(string, ...any)) certainty {
	ts := v.targets()
	result := sure
	keys := 0
	each := func(key string, list []string, of kinds) {
		if list == nil || result == never {
			return
		}
		keys++
		result = min(result, v.someTarget(c, ts, key, list, of, except, note))
	}
	if c.paths != nil {
		keys++
		result = min(result, v.someTarget(c, v.operandTargets(skip), "operand", c.paths, ofAny, except, note))
	}
	each("reads", c.reads, ofRead)
	each("writes", c.writes, ofAny&^(ofRead|ofDiscard|ofVia))
	each("deletes", c.deletes, ofDelete|ofDiscard)
	each("removes", c.removes, ofDelete|ofMove|ofVia)
	each("empties", c.empties, ofEmpty)
	each("replaces", c.replaces, ofWrite|ofEmpty)
	if keys == 0 {
		each("changes", anyPath, ofAny&^(ofRead|ofVia))
	}
	return result
}

// kinds is a set of accessKinds.
type kinds uint16

const (
	ofRead    kinds = 1 << accRead
	ofWrite   kinds = 1 << accWrite
	ofEmpty   kinds = 1 << accEmpty
	ofDelete  kinds = 1 << accDelete
	ofMove    kinds = 1 << accMove
	ofVia     kinds = 1 << accVia
	ofDiscard kinds = 1 << accDiscard
	ofAny           = ^kinds(0)
)

// anyPath is the list that every path fits.
var anyPath = []string{"*"}

// operandTargets are the operands after the first skip as the key paths looks at
// them. Rules ask for the same ones one after the other.
func (v *view) operandTargets(skip int) []target {
	if v.operandsDone && v.operandsSkip == skip {
		return v.operandsOf
	}
	ops := v.operandList(skip)
	kind := accRead
	if v.changes() {
		kind = accChange
	}
	list := slices.Grow(v.operandsOf[:0], len(ops))[:len(ops)]
	next := 0 // they are mostly the targets too, in the same order
	for i, w := range ops {
		list[i] = target{kind: kind, word: w}
		for k := next; k < len(v.accesses) && k < next+4; k++ {
			if v.accesses[k].isWord(&list[i]) {
				list[i].same, next = &v.accesses[k], k+1
				break
			}
		}
	}
	v.operandsOf, v.operandsSkip, v.operandsDone = list, skip, true
	return list
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
func (v *view) someTarget(c *clause, ts []target, key string, list []string, of kinds, except bool, note func(string, ...any)) certainty {
	best, all, any := never, sure, false
	l := v.r.listOf(list, len(ts))
	for i := range ts {
		t := &ts[i]
		if of>>t.kind&1 == 0 || t.listed && except {
			continue
		}
		if i&15 == 15 && !v.spend(1) {
			break
		}
		any = true
		v.resolve(t)
		k := v.accepts(c, t, l)
		if t.listed {
			k = min(k, maybe)
		}
		all = min(all, k)
		if k > best {
			best = k
			note("%s %s", key, clip(v.textOf(t.word)))
		}
		if best == sure && !except {
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

func (v *view) accepts(c *clause, t *target, l *pathList) certainty {
	v.spend((len(l.entries)*(1+len(t.path.others)+len(t.real)) + 31) / 32)
	result := v.inList(t, l)
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
	if result != never && c.scratch != unset && (c.scratch == yes) != v.scratchTarget(t) {
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
	if strings.HasPrefix(rp.rest, "/") && rp.home != "" && strings.Count(rp.rest, "/") > 1 && v.c.Remote == "" && !hasGlob(rp.rest) && rp.len() > len(t.path.comps) && !files.Exists(rp.home+rp.rest) {
		return never // deep in what is named, and not there
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
func (v *view) inList(t *target, l *pathList) certainty {
	k := never
	if v.mayFit(&t.path, l) {
		k = v.pathInList(&t.path, l.entries, t)
	}
	for i := range t.real {
		if k == sure {
			return sure
		}
		if v.mayFit(&t.real[i], l) {
			k = max(k, v.pathInList(&t.real[i], l.entries, nil))
		}
	}
	return k
}

func (v *view) pathInList(p *tpath, list []string, t *target) certainty {
	if t != nil && p.glob && len(t.real) > 0 && !needsAnchor(list) {
		return never // the pattern was expanded: its files are judged one by one
	}
	k := never
	byFiles := t != nil && p.glob && v.byFiles(t)
	for _, s := range list {
		rp := v.r.rulePath(s)
		if t != nil && t.listed && !anchors(s) || rp.every && t != nil && t.listed {
			continue
		}
		if byFiles && !rp.except && !rp.here && !anchors(s) && !hasGlob(s) {
			continue
		}
		if rp.here {
			except := rp.except
			rp = exactRule(v.dir)
			rp.except = except
		}
		switch {
		case !rp.except:
			if k != sure {
				k = max(k, p.under(&rp))
				if k == never && t != nil && t.kind != accRead {
					k = v.reaches(t, p, &rp)
				}
			}
		case k != never && p.wholly(&rp):
			k = never
		}
	}
	return k
}

// byFiles says that a pattern is judged by the files that it stands for, as far
// as names are concerned that may be anywhere: cat *.json reads no
// credentials.json where there is none. A pattern that names more than an ending
// (id_*, .env*) says what is meant, be it there or not.
func (v *view) byFiles(t *target) bool {
	if !t.expanded || t.expandFailed || len(t.path.comps) == 0 {
		return false
	}
	last := &t.path.comps[len(t.path.comps)-1]
	end := strings.TrimLeft(last.text, "*")
	return last.glob && len(end) < len(last.text) && (end == "" || end[0] == '.') && !hasGlob(end)
}

// needsAnchor says that a list holds paths that can be compared with a pattern
// whose files do not exist (yet).
func needsAnchor(list []string) bool {
	for _, s := range list {
		if anchors(s) {
			return true
		}
	}
	return false
}

func anchors(s string) bool {
	return s == "*" || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "$")
}

func exactRule(dir string) rulePath { return rulePath{anchored: true, rest: dir} }
