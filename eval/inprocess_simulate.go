package eval

// look finds out with which bytes a match can begin, and whether it can only
// begin at the beginning.
func (p *reProgram) look() {
	if p.word {
		return
	}
	p.anchored = p.line || !p.reach(true)
	p.skip = true
	p.reach(false)
}

// reach walks what can be entered before the first character; without ^, when
// it is to say whether anything is left then.
func (p *reProgram) reach(withoutBegin bool) (found bool) {
	seen := make([]bool, len(p.inst))
	stack := []int32{p.start}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &p.inst[pc]; i.op {
		case instMatch:
			found, p.skip = true, false
		case instSplit:
			stack = append(stack, i.x, i.y)
		case instAssert:
			if i.assert != reBegin || !withoutBegin {
				stack = append(stack, i.x)
			}
		case instSet:
			found = true
			for b := range 256 {
				if b >= 0x80 || i.set.ascii(byte(b)) {
					p.first[b] = true
				}
			}
		}
	}
	return found
}

// run searches s. What depends on the C library is first taken as not so; when
// that finds nothing, and it mattered, as so.
func (p *reProgram) run(s string, wide bool) certainty {
	m := machine{p: p, s: s, wide: wide}
	switch {
	case m.search():
		return sure
	case m.strange:
		return maybe
	case !m.doubt:
		return never
	}
	m.high = true
	if m.search() || m.strange {
		return maybe
	}
	return never
}

// machine is one search.
type machine struct {
	p           *reProgram
	s           string
	wide, high  bool
	doubt       bool // something depended on the C library
	strange     bool // so does where a character ends
	now, next   stateSet
	prev, after rune // characters before and after the position; none: edge
}

// edge stands for the ends of the text.
const edge rune = -2

// stateSet is a set of instructions that is cleared at no cost.
type stateSet struct {
	list   []int32
	sparse []int32
}

func (t *stateSet) add(pc int32) bool {
	if i := t.sparse[pc]; int(i) < len(t.list) && t.list[i] == pc {
		return false
	}
	t.sparse[pc] = int32(len(t.list))
	t.list = append(t.list, pc)
	return true
}

func (m *machine) take(c certainty) bool {
	if c == maybe {
		m.doubt = true
		return m.high
	}
	return c == sure
}

func (m *machine) search() bool {
	if m.now.sparse == nil {
		n := len(m.p.inst)
		back := make([]int32, 4*n)
		m.now = stateSet{back[:0:n], back[n : 2*n]}
		m.next = stateSet{back[2*n : 2*n : 3*n], back[3*n:]}
	}
	m.now.list = m.now.list[:0]
	p := m.p
	m.prev = edge
	for pos := 0; ; {
		if len(m.now.list) == 0 {
			if pos > 0 && p.anchored {
				return false
			}
			if p.skip {
				from := pos
				for pos < len(m.s) && !p.first[m.s[pos]] {
					pos++
				}
				if pos == len(m.s) {
					return false // the empty text does not match
				}
				if pos > from {
					m.prev = rune(m.s[pos-1]) // ASCII: all others are looked at
				}
			}
		}
		size := 0
		m.after = edge
		if pos < len(m.s) {
			m.after, size = decodeAt(m.s, pos, m.wide)
			if m.after == badByte && m.s[pos] >= 0xED {
				m.strange = true // surrogates, and numbers beyond Unicode's
				return false
			}
		}
		if pos == 0 || !p.anchored {
			if !p.word || m.take(sure-m.word(m.prev)) {
				m.now.add(p.start)
			}
		}
		// The states that an earlier step entered lead on only now that the
		// next character is known.
		matched := m.close(pos)
		if matched {
			return true
		}
		if pos >= len(m.s) {
			return false
		}
		m.next.list = m.next.list[:0]
		for _, pc := range m.now.list {
			if i := &p.inst[pc]; i.op == instSet && m.take(i.set.has(m.after, m.wide)) {
				m.next.add(i.x)
			}
		}
		m.now, m.next = m.next, m.now
		m.prev = m.after
		pos += size
	}
}

// close follows all that takes no character from the present states, and says
// whether the expression is complete.
func (m *machine) close(pos int) bool {
	p := m.p
	for k := 0; k < len(m.now.list); k++ {
		switch i := &p.inst[m.now.list[k]]; i.op {
		case instMatch:
			if p.line && pos < len(m.s) || p.word && !m.take(sure-m.word(m.after)) {
				continue
			}
			return true
		case instSplit:
			m.now.add(i.x)
			m.now.add(i.y)
		case instAssert:
			if m.holds(i.assert, pos) {
				m.now.add(i.x)
			}
		}
	}
	return false
}

func (m *machine) holds(op reOp, pos int) bool {
	switch op {
	case reBegin:
		return pos == 0
	case reEnd:
		return pos == len(m.s)
	}
	before, after := m.word(m.prev), m.word(m.after)
	begin := min(sure-before, after)
	end := min(before, sure-after)
	switch op {
	case reWordBegin:
		return m.take(begin)
	case reWordEnd:
		return m.take(end)
	}
	return m.take(max(begin, end))
}

// word says whether a character is part of a word.
func (m *machine) word(r rune) certainty {
	switch {
	case r == edge:
		return never
	case r == badByte:
		return maybe
	case r < 128:
		if isWordByte(byte(r)) {
			return sure
		}
		return never
	case !m.wide:
		return never
	}
	return wordRune(r)
}
