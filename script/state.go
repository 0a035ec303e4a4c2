package script

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/budget"
)

// value is what is known of a shell variable.
type value struct {
	kind     valueKind
	parts    []Part // scalar
	arr      []Word // array, dense from 0
	ref      string // nameref: the variable that it stands for
	exported bool
	integer  bool // assigned text is evaluated as arithmetic
	odd      bool // an attribute changes what is assigned (declare -u, -l)
	alt      []string
}

type valueKind uint8

const (
	isUnknown valueKind = iota
	isScalar
	isArray
	isUnset
)

// function is a function that the text defined.
type function struct {
	name string
	body *syntax.Stmt
	src  *source
}

// state is what is known of a shell at one point of the text. Copies share
// their maps until one of them writes.
type state struct {
	dir, old   Word
	oldKnown   bool
	stack      []Word // of pushd, top first, without dir itself
	stackLost  bool
	vars       map[string]value
	funcs      map[string][]*function // all that a name may stand for; nil: also no function
	aliases    map[string]string
	hashed     map[string]string
	params     []Word // $1, $2, ...
	paramsLost bool   // nothing is known of them
	fuzzy      bool   // params are right, their number is not
	zero       *Word  // $0
	stdin      *Word  // what exec < left on standard input
	locals     *[]saved
	shared     bool
	dead       bool           // after exit, return, break
	exited     bool           // dead by exit or exec
	lost       bool           // any variable may have changed
	odd        bool           // an option changed how values are split or printed
	foreign    string         // what made names of programs mean something else
	noEnv      bool           // the environment is another one (sudo, ssh, env -i)
	budget     *budget.Budget // charged for copying and comparing
}

type saved struct {
	name string
	val  value
	had  bool
}

func (s *state) clone() *state {
	s.shared = true
	c := *s
	return &c
}

// charge counts work that grows with what is known.
func (s *state) charge() {
	s.budget.Spend((len(s.vars) + len(s.funcs) + len(s.aliases)) / 2)
}

// own makes the maps writable.
func (s *state) own() {
	if !s.shared {
		return
	}
	s.charge()
	s.vars, s.funcs = maps.Clone(s.vars), maps.Clone(s.funcs)
	s.aliases, s.hashed = maps.Clone(s.aliases), maps.Clone(s.hashed)
	s.shared = false
}

// deref follows namerefs.
func (s *state) deref(name string) string {
	for range 8 {
		v, ok := s.vars[name]
		if !ok || v.ref == "" {
			break
		}
		name = v.ref
	}
	return name
}

// set assigns a variable; attributes that it has are kept.
func (s *state) set(name string, v value) {
	s.own()
	if v.ref == "" {
		name = s.deref(name)
	}
	if old, ok := s.vars[name]; ok {
		v.exported = v.exported || old.exported
		v.integer = v.integer || old.integer
		v.odd = v.odd || old.odd
	}
	if v.kind == isScalar && (v.odd || v.integer && !isNumber(v.parts)) {
		v.kind, v.parts = isUnknown, nil
	}
	if s.vars == nil {
		s.vars = make(map[string]value, 4)
	}
	s.vars[name] = v
}

func isNumber(ps []Part) bool {
	if len(ps) != 1 || ps[0].Kind != Literal || ps[0].Text == "" || ps[0].Text[0] == '0' && len(ps[0].Text) > 1 {
		return false
	}
	return strings.Trim(ps[0].Text, "0123456789") == ""
}

// forget makes a variable unknown.
func (s *state) forget(name string) { s.set(name, value{kind: isUnknown}) }

// forgetAll makes every variable that the text assigned unknown.
func (s *state) forgetAll() {
	s.own()
	s.lost = true
	for n, v := range s.vars {
		s.vars[n] = value{exported: v.exported, integer: v.integer, odd: v.odd, ref: v.ref}
	}
}

func (s *state) define(f *function) {
	s.own()
	if s.funcs == nil {
		s.funcs = make(map[string][]*function, 2)
	}
	s.funcs[f.name] = []*function{f}
}

// fileKey names a file across the text: its absolute path where the directory
// is known, else as it is written.
func fileKey(dir, w Word) string {
	if len(w.Parts) == 0 {
		return ""
	}
	t := wordName(w)
	if !strings.HasPrefix(t, "/") && w.Parts[0].Kind != Variable && w.Parts[0].Kind != TempPath {
		t = wordName(dir) + "/" + t
	}
	return path.Clean(t)
}

// wordName spells a word with its unknown parts as names.
func wordName(w Word) string {
	if len(w.Parts) == 1 {
		return partName(w.Parts[0])
	}
	var b strings.Builder
	for _, p := range w.Parts {
		b.WriteString(partName(p))
	}
	return b.String()
}

// join makes s hold what is known whether s or o was reached.
func (s *state) join(o *state) {
	switch {
	case o == nil || o == s || o.dead && !s.dead:
		return
	case s.dead && !o.dead:
		keep := s.locals
		*s = *o.clone()
		s.locals = keep
		return
	}
	if !samePart(s.dir.Parts, o.dir.Parts) {
		s.dir = unknownDir(s.dir, o.dir)
	}
	if s.oldKnown = s.oldKnown && o.oldKnown; !samePart(s.old.Parts, o.old.Parts) {
		s.oldKnown = false
	}
	if !slices.EqualFunc(s.stack, o.stack, sameWord) {
		s.stack, s.stackLost = nil, true
	}
	s.stackLost = s.stackLost || o.stackLost
	if s.paramsLost = s.paramsLost || o.paramsLost; !slices.EqualFunc(s.params, o.params, sameWord) {
		s.params, s.paramsLost = nil, true
	}
	s.fuzzy = s.fuzzy || o.fuzzy
	s.odd = s.odd || o.odd
	s.lost = s.lost || o.lost
	s.noEnv = s.noEnv || o.noEnv
	if s.foreign == "" {
		s.foreign = o.foreign
	}
	if s.stdin != o.stdin {
		s.stdin = nil
	}
	s.joinVars(o)
	s.joinMaps(o)
}

func (s *state) joinVars(o *state) {
	s.charge()
	for n, v := range s.vars {
		w, ok := o.vars[n]
		if ok && sameValue(v, w) {
			continue
		}
		s.own()
		s.vars[n] = value{exported: v.exported || w.exported, integer: v.integer || w.integer, odd: v.odd || w.odd, alt: alternatives(v, w)}
	}
	for n, w := range o.vars {
		if _, ok := s.vars[n]; !ok {
			s.own()
			if s.vars == nil {
				s.vars = make(map[string]value, 4)
			}
			s.vars[n] = value{exported: w.exported, integer: w.integer, odd: w.odd, alt: alternatives(w, w)}
		}
	}
}

// alternatives are the known texts of two values.
func alternatives(v, w value) []string {
	var out []string
	add := func(v value) {
		if v.kind == isScalar {
			if t, ok := (Word{Parts: v.parts}).Text(); ok && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
		for _, t := range v.alt {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	add(v)
	add(w)
	if len(out) > 16 {
		out = nil
	}
	return out
}

func (s *state) joinMaps(o *state) {
	for n, fs := range o.funcs {
		old, ok := s.funcs[n]
		if !ok {
			old = []*function{nil}
		}
		for _, f := range fs {
			if !slices.Contains(old, f) {
				old = append(slices.Clip(old), f)
			}
		}
		s.own()
		if s.funcs == nil {
			s.funcs = make(map[string][]*function, 2)
		}
		s.funcs[n] = old
	}
	for n, fs := range s.funcs {
		if _, ok := o.funcs[n]; !ok && !slices.Contains(fs, nil) {
			s.own()
			s.funcs[n] = append(slices.Clip(fs), nil)
		}
	}
	for n, t := range o.aliases {
		if _, ok := s.aliases[n]; !ok {
			s.own()
			s.alias(n, t)
		}
	}
	for n, t := range o.hashed {
		s.own()
		if s.hashed == nil {
			s.hashed = make(map[string]string, 1)
		}
		s.hashed[n] = t
	}
}

func (s *state) alias(name, text string) {
	s.own()
	if s.aliases == nil {
		s.aliases = make(map[string]string, 2)
	}
	s.aliases[name] = text
}

func sameValue(v, w value) bool {
	return v.kind == w.kind && v.ref == w.ref && v.exported == w.exported && v.integer == w.integer &&
		v.odd == w.odd && samePart(v.parts, w.parts) && slices.EqualFunc(v.arr, w.arr, sameWord) &&
		slices.Equal(v.alt, w.alt)
}

func sameWord(a, b Word) bool { return samePart(a.Parts, b.Parts) }

func samePart(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(p, q Part) bool {
		return p.Kind == q.Kind && p.Text == q.Text && p.Name == q.Name && p.Split == q.Split
	})
}

// same reports whether nothing that join looks at differs.
func (s *state) same(o *state) bool {
	s.charge()
	if !samePart(s.dir.Parts, o.dir.Parts) || s.oldKnown != o.oldKnown || !samePart(s.old.Parts, o.old.Parts) ||
		s.stackLost != o.stackLost || !slices.EqualFunc(s.stack, o.stack, sameWord) ||
		s.paramsLost != o.paramsLost || s.fuzzy != o.fuzzy || s.odd != o.odd || !slices.EqualFunc(s.params, o.params, sameWord) ||
		s.lost != o.lost || s.noEnv != o.noEnv || s.foreign != o.foreign || s.stdin != o.stdin {
		return false
	}
	return maps.EqualFunc(s.vars, o.vars, sameValue) && maps.Equal(s.aliases, o.aliases) &&
		maps.Equal(s.hashed, o.hashed) &&
		maps.EqualFunc(s.funcs, o.funcs, func(f, g []*function) bool { return slices.Equal(f, g) })
}

// unknownDir is a directory that is one of two.
func unknownDir(a, b Word) Word {
	p := Part{Kind: Variable, Name: "PWD"}
	for _, w := range []Word{a, b} {
		if t, ok := w.Text(); ok {
			if !slices.Contains(p.Alt, t) {
				p.Alt = append(p.Alt, t)
			}
		} else if len(w.Parts) == 1 && len(p.Alt)+len(w.Parts[0].Alt) < 16 {
			for _, t := range w.Parts[0].Alt {
				if !slices.Contains(p.Alt, t) {
					p.Alt = append(p.Alt, t)
				}
			}
		}
	}
	return Word{Parts: []Part{p}}
}

func noDir() Word { return Word{Parts: []Part{{Kind: Variable, Name: "PWD"}}} }

// under returns the directory that a cd from dir to target leads to; target
// relative to dir unless it is absolute. A target that may be empty or
// relative, as far as is known, gives an unknown directory named by it.
func under(dir, target Word) Word {
	if len(target.Parts) == 0 {
		return dir
	}
	first := target.Parts[0]
	if first.Kind == Literal {
		if strings.HasPrefix(first.Text, "/") {
			return cleanDir(target)
		}
		w := Word{Parts: make([]Part, 0, len(dir.Parts)+len(target.Parts)+1)}
		w.Parts = append(append(w.Parts, dir.Parts...), Part{Kind: Literal, Text: "/"})
		w.Parts = append(w.Parts, target.Parts...)
		return cleanDir(w)
	}
	if first.Kind == Glob || first.Kind == Operand {
		return noDir()
	}
	return cleanDir(target)
}

// cleanDir resolves . and .. in the known tail of a directory.
func cleanDir(w Word) Word {
	w.Parts = merge(w.Parts)
	w.Span = Span{}
	size := 0
	for i := range w.Parts {
		w.Parts[i].Split = false
		size += len(w.Parts[i].Text)
		if w.Parts[i].Kind == Glob || size > maxDir {
			return noDir()
		}
	}
	last := len(w.Parts) - 1
	if last < 0 || w.Parts[last].Kind != Literal {
		return w
	}
	t := w.Parts[last].Text
	if last == 0 {
		w.Parts[0].Text = path.Clean(t)
		return w
	}
	if !strings.HasPrefix(t, "/") {
		if strings.Contains(t, "..") {
			return noDir()
		}
		return w
	}
	depth := 0
	for seg := range strings.SplitSeq(t[1:], "/") {
		switch seg {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return noDir()
			}
		default:
			depth++
		}
	}
	if t = path.Clean(t); t == "/" {
		w.Parts = w.Parts[:last]
		return w
	}
	w.Parts[last].Text = t
	return w
}

// merge joins neighbouring literal parts; it returns a fresh slice.
func merge(ps []Part) []Part {
	out := make([]Part, 0, len(ps))
	for i := 0; i < len(ps); {
		j, size := i, 0
		for j < len(ps) && ps[j].Kind == Literal {
			size += len(ps[j].Text)
			j++
		}
		switch {
		case j == i:
			out = append(out, ps[i])
			i++
			continue
		case j == i+1:
			out = append(out, ps[i])
		default:
			var b strings.Builder
			b.Grow(size)
			for _, p := range ps[i:j] {
				b.WriteString(p.Text)
			}
			out = append(out, Part{Text: b.String()})
		}
		i = j
	}
	if len(out) > maxParts {
		out = append(out[:maxParts-1:maxParts], Part{Kind: Variable, Name: "...", Split: true})
	}
	return out
}
