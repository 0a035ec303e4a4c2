package eval

import (
	"encoding/binary"
	"safeshell/eval/condition"
)

// The compiled form of rules is written and read by hand: strings with their
// length, numbers as varints. What is read may be damaged; every read is
// bounded and sets bad instead of failing.

type encoder struct{ b []byte }

func (e *encoder) num(n int)   { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) i64(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) str(s string) {
	e.num(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) list(l []string) {
	e.num(len(l))
	for _, s := range l {
		e.str(s)
	}
}

func (e *encoder) bool(b bool) {
	if b {
		e.num(1)
	} else {
		e.num(0)
	}
}

func (e *encoder) pattern(p pattern) {
	e.num(int(p.kind))
	if p.kind != patNone {
		e.str(p.src)
		e.list(p.words)
		e.list(p.need)
	}
}

type decoder struct {
	s   string
	off int
	bad bool
}

func (d *decoder) num() int {
	var v uint64
	for shift := 0; shift < 63; shift += 7 {
		if d.off >= len(d.s) {
			break
		}
		c := d.s[d.off]
		d.off++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int(v)
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) i64() int64 {
	if d.off > len(d.s) {
		d.bad = true
		return 0
	}
	v, n := binary.Varint([]byte(d.s[d.off:min(len(d.s), d.off+binary.MaxVarintLen64)]))
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.off += n
	return v
}

func (d *decoder) str() string {
	n := d.num()
	if d.bad || n > len(d.s)-d.off {
		d.bad = true
		return ""
	}
	s := d.s[d.off : d.off+n]
	d.off += n
	return s
}

// count reads the length of a list, each entry of which takes at least one
// byte.
func (d *decoder) count() int {
	n := d.num()
	if d.bad || n > len(d.s)-d.off {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) list() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	l := make([]string, n)
	for i := range l {
		l[i] = d.str()
	}
	return l
}

func (d *decoder) bool() bool { return d.num() == 1 }

func (d *decoder) pattern() pattern {
	p := pattern{kind: patternKind(d.num())}
	if p.kind == patNone {
		return p
	}
	p.src = d.str()
	p.words = d.list()
	p.need = d.list()
	switch {
	case p.kind > patRegexp:
		d.bad = true
	case p.kind == patRegexp:
		p.lazy = new(lazyRegexp)
	}
	return p
}

// rule writes all that matching and deciding need; examples stay in the YAML.
func (e *encoder) rule(r *rule) {
	e.str(r.name)
	e.str(r.pack)
	e.num(r.line)
	e.num(r.ord)
	e.clauses(r.match)
	e.clauses(r.unless)
	e.pattern(r.directory)
	e.num(len(r.conditions))
	for _, c := range r.conditions {
		e.str(c.Written)
		e.str(c.Script)
		e.str(c.Match.Of)
		e.str(c.Match.Regexp)
		e.bool(c.Match.Negated)
	}
	e.str(string(r.context))
	e.num(int(r.action))
	e.bool(r.override)
	e.num(len(r.redirect))
	for _, w := range r.redirect {
		e.bool(w.args)
		e.num(len(w.parts))
		for _, p := range w.parts {
			e.num(int(p.kind))
			e.str(p.text)
		}
	}
	e.str(r.message)
	e.str(r.suggest)
	e.list(r.commands) // last: matching does not need them
}

// rule reads a rule; its commands only when they are wanted.
func (d *decoder) rule(commands bool) *rule {
	r := &rule{
		name:   d.str(),
		pack:   d.str(),
		line:   d.num(),
		ord:    d.num(),
		match:  d.clauses(),
		unless: d.clauses(),
	}
	r.directory = d.pattern()
	if n := d.count(); n > 0 {
		r.conditions = make([]condition.Condition, n)
		for i := range r.conditions {
			r.conditions[i] = condition.Condition{Written: d.str(), Script: d.str(), Match: condition.Match{Of: d.str(), Regexp: d.str(), Negated: d.bool()}}
		}
	}
	r.context = Context(d.str())
	r.action = Action(d.num())
	r.override = d.bool()
	if n := d.count(); n > 0 {
		r.redirect = make([]redirectWord, n)
		for i := range r.redirect {
			r.redirect[i].args = d.bool()
			m := d.count()
			for range m {
				r.redirect[i].parts = append(r.redirect[i].parts, redirectPart{redirectKind(d.num()), d.str()})
			}
		}
	}
	r.message = d.str()
	r.suggest = d.str()
	if commands {
		r.commands = d.list()
	}
	if r.action > Deny || r.name == "" || r.action == Redirect && len(r.redirect) == 0 {
		d.bad = true
	}
	return r
}

// The keys of a clause, as bits: only those that are set are written.
const (
	kSubcommand = 1 << iota
	kFlags
	kOptions
	kArgs
	kOperand
	kOperands
	kPaths
	kReads
	kWrites
	kDeletes
	kEmpties
	kCovers
	kRecoverable
	kScratch
	kRecursive
	kPipesTo
	kFedBy
	kBranch
	kVia
	kRemote
	kUnknown
	kAssigns
	kCode
	kRemoves
	kInput
	kVariables
	kSQL
	kExistingBranch
	kIs
	kMounts
	kProgram
	kWord
	kMode
	kProject
	kGivesTo
	kReplaces
)

// keys returns the bits of the keys that are set.
func (c *clause) keys() (k int) {
	for _, x := range [...]struct {
		set bool
		bit int
	}{
		{c.subcommand != nil, kSubcommand}, {c.flags != nil, kFlags}, {c.options != nil, kOptions},
		{c.args.set(), kArgs}, {c.operand.set(), kOperand}, {c.operands != unset, kOperands},
		{c.paths != nil, kPaths}, {c.reads != nil, kReads}, {c.writes != nil, kWrites}, {c.deletes != nil, kDeletes},
		{c.empties != nil, kEmpties}, {c.replaces != nil, kReplaces}, {c.covers != nil, kCovers}, {c.recoverable != unset, kRecoverable},
		{c.scratch != unset, kScratch}, {c.project != unset, kProject}, {c.recursive != unset, kRecursive}, {c.pipesTo != nil, kPipesTo},
		{c.fedBy != nil, kFedBy}, {c.givesTo != nil, kGivesTo}, {c.branch.set(), kBranch}, {c.via != nil, kVia}, {c.remote != unset, kRemote},
		{c.unknown != nil, kUnknown}, {c.assigns != nil, kAssigns}, {c.code != nil, kCode},
		{c.removes != nil, kRemoves}, {c.input.set(), kInput}, {c.variables.set(), kVariables}, {c.sql != nil, kSQL}, {c.is != nil, kIs}, {c.mode != nil, kMode}, {c.mounts != nil, kMounts}, {c.program.set(), kProgram}, {c.word.set(), kWord}, {c.existingBranch != unset, kExistingBranch},
	} {
		if x.set {
			k |= x.bit
		}
	}
	return k
}

func (e *encoder) clauses(cs []clause) {
	e.num(len(cs))
	for i := range cs {
		e.clause(&cs[i])
	}
}

func (d *decoder) clauses() []clause {
	n := d.count()
	if n == 0 {
		return nil
	}
	cs := make([]clause, n)
	for i := range cs {
		d.clause(&cs[i])
	}
	return cs
}

func (e *encoder) clause(c *clause) {
	k := c.keys()
	e.num(k)
	if k&kSubcommand != 0 {
		e.num(len(c.subcommand))
		for _, s := range c.subcommand {
			e.list(s)
		}
	}
	if k&kOptions != 0 {
		e.num(len(c.options))
		for _, o := range c.options {
			e.str(o.name)
			e.pattern(o.value)
		}
	}
	for _, f := range c.lists() {
		if k&f.bit != 0 {
			e.list(*f.to)
		}
	}
	for _, f := range c.patterns() {
		if k&f.bit != 0 {
			e.pattern(*f.to)
		}
	}
	for _, f := range c.tris() {
		if k&f.bit != 0 {
			e.num(int(*f.to))
		}
	}
}

func (d *decoder) clause(c *clause) {
	k := d.num()
	if k&kSubcommand != 0 {
		n := d.count()
		c.subcommand = make([][]string, n)
		for i := range c.subcommand {
			c.subcommand[i] = d.list()
		}
	}
	if k&kOptions != 0 {
		n := d.count()
		c.options = make([]optionPattern, n)
		for i := range c.options {
			c.options[i] = optionPattern{d.str(), d.pattern()}
		}
	}
	for _, f := range c.lists() {
		if k&f.bit != 0 {
			*f.to = d.list()
		}
	}
	for _, f := range c.patterns() {
		if k&f.bit != 0 {
			*f.to = d.pattern()
		}
	}
	for _, f := range c.tris() {
		if k&f.bit != 0 {
			*f.to = tri(d.num())
		}
	}
	// A key that came back empty would hold for everything.
	if c.keys() != k {
		d.bad = true
	}
}

type field[T any] struct {
	bit int
	to  *T
}

func (c *clause) lists() [20]field[[]string] {
	return [20]field[[]string]{
		{kFlags, &c.flags}, {kPaths, &c.paths}, {kReads, &c.reads}, {kWrites, &c.writes}, {kDeletes, &c.deletes},
		{kEmpties, &c.empties}, {kCovers, &c.covers}, {kPipesTo, &c.pipesTo}, {kFedBy, &c.fedBy}, {kVia, &c.via},
		{kUnknown, &c.unknown}, {kAssigns, &c.assigns}, {kCode, &c.code},
		{kRemoves, &c.removes}, {kIs, &c.is}, {kMode, &c.mode}, {kMounts, &c.mounts}, {kSQL, &c.sql},
		{kGivesTo, &c.givesTo}, {kReplaces, &c.replaces},
	}
}

func (c *clause) patterns() [7]field[pattern] {
	return [7]field[pattern]{{kWord, &c.word}, {kProgram, &c.program}, {kInput, &c.input}, {kVariables, &c.variables}, {kArgs, &c.args}, {kOperand, &c.operand}, {kBranch, &c.branch}}
}

func (c *clause) tris() [7]field[tri] {
	return [7]field[tri]{
		{kExistingBranch, &c.existingBranch},
		{kOperands, &c.operands}, {kRecoverable, &c.recoverable}, {kScratch, &c.scratch},
		{kProject, &c.project}, {kRecursive, &c.recursive}, {kRemote, &c.remote},
	}
}
