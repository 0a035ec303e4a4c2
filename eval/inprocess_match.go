package eval

import "strings"

// matcherKey is what an expression is compiled from. Lines of text are
// alternatives, as grep takes them.
type matcherKey struct {
	text       string
	kind       reKind
	fold       bool
	word, line bool // grep -w, -x
}

// matcher finds an expression in a line, under each locale that may be in force.
type matcher struct {
	loc   inLocale
	ascii bool // the expression is
	bytes *reProgram
	wide  *reProgram
}

type instOp uint8

const (
	instSet instOp = iota
	instSplit
	instAssert
	instMatch
)

type inst struct {
	op     instOp
	assert reOp
	set    *charSet
	x, y   int32
}

// reProgram is an expression for the simulation of all its ways at once, which
// is linear in the text.
type reProgram struct {
	inst       []inst
	start      int32
	word, line bool
	anchored   bool      // a match begins at the beginning
	skip       bool      // first is worth looking at
	first      [256]bool // bytes with which a match can begin
}

const maxInst = 2000

// maxSteps bounds bytes times instructions.
const maxSteps = 1 << 30

// matcher compiles an expression at its first use; nil when it is not taken.
func (x *inShell) matcher(key matcherKey) *matcher {
	m, ok := x.p.matchers[key]
	if !ok {
		m = newMatcher(key, x.m.loc)
		if len(x.p.matchers) < 64 {
			x.p.matchers[key] = m
		}
	}
	return m
}

func newMatcher(key matcherKey, loc inLocale) *matcher {
	if !loc.known || key.fold && loc.dotless {
		return nil
	}
	m := &matcher{loc: loc, ascii: isASCII(key.text)}
	if loc.utf8 {
		if m.wide = compileExpression(key, true, loc); m.wide == nil {
			return nil
		}
		if m.ascii {
			m.bytes = m.wide // the sets tell bytes from characters when they are asked
			return m
		}
	}
	if m.bytes = compileExpression(key, false, loc); m.bytes == nil {
		return nil
	}
	return m
}

func (m *matcher) affordable(n int) bool {
	return n*len(m.bytes.inst) < maxSteps
}

// line says whether the expression is found in one line.
func (m *matcher) line(s string) certainty {
	if m.wide == nil {
		return m.bytes.run(s, false)
	}
	c := m.wide.run(s, true)
	if m.ascii && isASCII(s) || c == maybe {
		return c
	}
	if m.bytes.run(s, false) != c {
		return maybe
	}
	return c
}

func compileExpression(key matcherKey, wide bool, loc inLocale) *reProgram {
	if key.word && key.line {
		return nil
	}
	whole := &reNode{op: reAlt}
	for one := range strings.SplitSeq(key.text, "\n") {
		if key.kind == bashExpression {
			one = key.text
		}
		n := parseExpression(one, key.kind, key.fold, wide, loc)
		// What grep -w does about empty matches and anchors inside is its own.
		if n == nil || key.word && (n.least() == 0 || n.asserts()) {
			return nil
		}
		whole.kids = append(whole.kids, n)
		if key.kind == bashExpression {
			break
		}
	}
	p := &reProgram{word: key.word, line: key.line}
	end := p.add(inst{op: instMatch})
	p.start = p.emit(whole, end)
	if len(p.inst) > maxInst {
		return nil
	}
	p.look()
	return p
}

func (p *reProgram) add(i inst) int32 {
	if len(p.inst) > maxInst {
		return 0
	}
	p.inst = append(p.inst, i)
	return int32(len(p.inst) - 1)
}

// emit writes the instructions of n that lead to next and returns the first.
func (p *reProgram) emit(n *reNode, next int32) int32 {
	switch n.op {
	case reSet:
		return p.add(inst{op: instSet, set: n.set, x: next})
	case reSeq:
		for i := len(n.kids) - 1; i >= 0; i-- {
			next = p.emit(n.kids[i], next)
		}
		return next
	case reAlt:
		first := p.emit(n.kids[len(n.kids)-1], next)
		for i := len(n.kids) - 2; i >= 0; i-- {
			first = p.add(inst{op: instSplit, x: p.emit(n.kids[i], next), y: first})
		}
		return first
	case reRep:
		if n.max < 0 {
			loop := p.add(inst{op: instSplit, y: next})
			body := p.emit(n.kids[0], loop)
			p.inst[loop].x = body
			next = loop
		}
		after := next
		for i := n.min; i < n.max; i++ {
			next = p.add(inst{op: instSplit, x: p.emit(n.kids[0], next), y: after})
			if len(p.inst) > maxInst {
				return 0
			}
		}
		for range n.min {
			next = p.emit(n.kids[0], next)
			if len(p.inst) > maxInst {
				return 0
			}
		}
		return next
	}
	return p.add(inst{op: instAssert, assert: n.op, x: next})
}
