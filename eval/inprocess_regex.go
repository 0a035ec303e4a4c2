package eval

import (
	"strconv"
	"strings"
)

// The regular expressions of grep and bash, as far as GNU's are beyond doubt.

type reKind uint8

const (
	basicExpression reKind = iota
	extendedExpression
	fixedText
	bashExpression // extended, as [[ =~ ]] takes it
)

type reOp uint8

const (
	reSet   reOp = iota // one character
	reSeq               // kids one after another
	reAlt               // one of kids
	reRep               // kids[0], min to max times (max < 0: no limit)
	reBegin             // ^
	reEnd               // $
	reWordBegin
	reWordEnd
	reWordEdge
)

type reNode struct {
	op       reOp
	set      *charSet
	kids     []*reNode
	min, max int
}

const (
	maxExpression = 4096 // bytes
	maxDepth      = 64
	maxRepeat     = 255
)

type reParser struct {
	s     string
	i     int
	kind  reKind
	fold  bool
	wide  bool // UTF-8
	loc   inLocale
	depth int
	bad   bool // not taken
}

// parseExpression returns nil for what is not taken.
func parseExpression(s string, kind reKind, fold, wide bool, loc inLocale) *reNode {
	p := &reParser{s: s, kind: kind, fold: fold, wide: wide, loc: loc}
	if len(s) > maxExpression {
		return nil
	}
	if kind == fixedText {
		n := &reNode{op: reSeq}
		for !p.bad && p.i < len(s) {
			n.kids = append(n.kids, p.char())
		}
		if p.bad {
			return nil
		}
		return n
	}
	n := p.alternatives()
	if p.bad || p.i < len(s) || !n.anchoredOutside(true, true) {
		return nil
	}
	return n
}

// anchoredOutside says that ^ stands only where a match begins and $ only where
// one ends: GNU's two matchers do not agree about others.
func (n *reNode) anchoredOutside(first, last bool) bool {
	if n.op == reBegin && !first || n.op == reEnd && !last {
		return false
	}
	for i, k := range n.kids {
		f, l := first, last
		if n.op == reSeq {
			f, l = f && i == 0, l && i == len(n.kids)-1
		}
		if !k.anchoredOutside(f, l) {
			return false
		}
	}
	return true
}

func (p *reParser) fail() *reNode {
	p.bad = true
	return nil
}

// char reads one literal character.
func (p *reParser) char() *reNode {
	r, n := decodeAt(p.s, p.i, p.wide)
	if r == badByte || r >= 128 && p.wide && p.fold {
		return p.fail()
	}
	p.i += n
	return p.literal(r)
}

func (p *reParser) literal(r rune) *reNode {
	return &reNode{op: reSet, set: (&charSet{runes: []rune{r}, fold: p.fold, order: p.loc.order}).finish()}
}

// operator says that an operator of the extended syntax is next, written with a
// backslash in the basic one; n is its length.
func (p *reParser) operator(c byte) (n int) {
	rest := p.s[p.i:]
	if p.kind != basicExpression || c == '*' {
		if rest != "" && rest[0] == c {
			return 1
		}
		return 0
	}
	if len(rest) > 1 && rest[0] == '\\' && rest[1] == c {
		return 2
	}
	return 0
}

func (p *reParser) alternatives() *reNode {
	if p.depth++; p.depth > maxDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	n := &reNode{op: reAlt}
	for {
		seq := p.sequence()
		if p.bad || len(seq.kids) == 0 && p.kind == bashExpression {
			return p.fail()
		}
		n.kids = append(n.kids, seq)
		k := p.operator('|')
		if k == 0 {
			return n
		}
		p.i += k
	}
}

func (p *reParser) sequence() *reNode {
	n := &reNode{op: reSeq}
	begin := p.i
	for p.i < len(p.s) && p.operator('|') == 0 && p.operator(')') == 0 {
		atom := p.atom(begin)
		if p.bad {
			return n
		}
		for stacked := false; ; stacked = true {
			next := p.repeated(atom, stacked)
			if p.bad {
				return n
			}
			if next == atom {
				break
			}
			atom = next
		}
		n.kids = append(n.kids, atom)
	}
	if p.operator(')') > 0 && p.depth < 2 {
		p.bad = true // an unmatched )
	}
	return n
}

// repeated reads what may follow an atom: * + ? {n,m}.
func (p *reParser) repeated(atom *reNode, stacked bool) *reNode {
	rep := &reNode{op: reRep, kids: []*reNode{atom}, max: -1}
	switch {
	case p.operator('*') > 0:
		p.i++
	case p.operator('+') > 0:
		p.i += p.operator('+')
		rep.min = 1
	case p.operator('?') > 0:
		p.i += p.operator('?')
		rep.max = 1
	case p.operator('{') > 0:
		p.i += p.operator('{')
		p.interval(rep)
		if stacked || p.operator('{') > 0 {
			p.bad = true
		}
	default:
		return atom
	}
	if atom.asserts() {
		p.bad = true
	}
	return rep
}

func (p *reParser) interval(rep *reNode) {
	end := strings.IndexByte(p.s[p.i:], '}')
	if end < 0 {
		p.bad = true
		return
	}
	body := p.s[p.i : p.i+end]
	p.i += end + 1
	if p.kind == basicExpression {
		var ok bool
		if body, ok = strings.CutSuffix(body, `\`); !ok {
			p.bad = true
			return
		}
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil || n > maxRepeat || s[0] < '0' || s[0] > '9' {
			p.bad = true
		}
		return n
	}
	from, to, open := strings.Cut(body, ",")
	rep.min = number(from)
	switch {
	case !open:
		rep.max = rep.min
	case to != "":
		rep.max = number(to)
		p.bad = p.bad || rep.max < rep.min
	}
}

// asserts says that the expression holds an anchor or a word's edge.
func (n *reNode) asserts() bool {
	if n.op >= reBegin {
		return true
	}
	for _, k := range n.kids {
		if k.asserts() {
			return true
		}
	}
	return false
}

// atom reads one; begin is where its sequence begins.
func (p *reParser) atom(begin int) *reNode {
	basic := p.kind == basicExpression
	if k := p.operator('('); k > 0 {
		p.i += k
		n := p.alternatives()
		if p.bad || p.operator(')') == 0 {
			return p.fail()
		}
		p.i += p.operator(')')
		return n
	}
	switch c := p.s[p.i]; c {
	case '\\':
		return p.escape()
	case '[':
		set, n, ok := p.loc.bracketFold(p.s[p.i+1:], false, p.fold, p.wide)
		if !ok {
			return p.fail()
		}
		p.i += 1 + n
		return &reNode{op: reSet, set: set}
	case '.':
		p.i++
		return &reNode{op: reSet, set: anyChar}
	case '^':
		if basic && p.i != begin {
			return p.fail()
		}
		p.i++
		return &reNode{op: reBegin}
	case '$':
		p.i++
		if basic && p.i < len(p.s) && p.operator('|') == 0 && p.operator(')') == 0 {
			return p.fail()
		}
		return &reNode{op: reEnd}
	case '*':
		return p.fail()
	case '+', '?', '{', '}', ')', '|':
		if !basic && c != '}' {
			return p.fail()
		}
	case '\n':
		return p.fail()
	}
	return p.char()
}

func (p *reParser) escape() *reNode {
	if p.i+1 == len(p.s) {
		return p.fail()
	}
	c := p.s[p.i+1]
	p.i += 2
	if p.kind == bashExpression && (isWordByte(c) || c == '<' || c == '>') {
		return p.fail() // the backslash is bash's own there
	}
	switch c {
	case '<':
		return &reNode{op: reWordBegin}
	case '>':
		return &reNode{op: reWordEnd}
	case 'b':
		return &reNode{op: reWordEdge}
	case 's', 'S':
		return p.class(c == 'S', "space")
	case 'w', 'W':
		return p.class(c == 'W', "alnum", '_')
	}
	if c == '_' || c == '`' || c == '\'' || !asciiClass("punct", c) && c != ' ' || p.kind == basicExpression && strings.IndexByte("(){}|+?", c) >= 0 {
		return p.fail()
	}
	return p.literal(rune(c))
}

func (p *reParser) class(neg bool, name string, more ...rune) *reNode {
	c := &charSet{neg: neg, order: p.loc.order, classes: []string{name}, runes: more}
	return &reNode{op: reSet, set: c.finish()}
}

// least is the length of the shortest match, in characters.
func (n *reNode) least() int {
	switch n.op {
	case reSet:
		return 1
	case reSeq:
		sum := 0
		for _, k := range n.kids {
			sum += k.least()
		}
		return sum
	case reAlt:
		least := n.kids[0].least()
		for _, k := range n.kids[1:] {
			least = min(least, k.least())
		}
		return least
	case reRep:
		return n.min * n.kids[0].least()
	}
	return 0
}
