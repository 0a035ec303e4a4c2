package eval

import "strings"

// charSet is the set of characters that one place of a pattern accepts. For
// ASCII it is exact; beyond that it may depend on the C library.
type charSet struct {
	low     [2]uint64 // ASCII members, with case and negation applied
	any     bool
	neg     bool
	fold    bool
	order   bool // ranges go by the characters' numbers
	runes   []rune
	ranges  [][2]rune
	classes []string
}

var anyChar = &charSet{low: [2]uint64{^uint64(0), ^uint64(0)}, any: true}

func (c *charSet) ascii(b byte) bool { return b < 128 && c.low[b>>6]&(1<<(b&63)) != 0 }

// finish computes the ASCII members.
func (c *charSet) finish() *charSet {
	for b := range byte(128) {
		in := c.baseASCII(b)
		if c.fold && isLetter(b) {
			in = in || c.baseASCII(b^0x20)
		}
		if in != c.neg {
			c.low[b>>6] |= 1 << (b & 63)
		}
	}
	return c
}

func isLetter(b byte) bool { b |= 0x20; return 'a' <= b && b <= 'z' }

func (c *charSet) baseASCII(b byte) bool {
	if c.any {
		return true
	}
	for _, r := range c.runes {
		if r == rune(b) {
			return true
		}
	}
	for _, r := range c.ranges {
		if r[0] <= rune(b) && rune(b) <= r[1] {
			return true
		}
	}
	for _, name := range c.classes {
		if asciiClass(name, b) {
			return true
		}
	}
	return false
}

// has says whether r is a member; wide: r is a character of UTF-8, not a byte.
func (c *charSet) has(r rune, wide bool) certainty {
	if 0 <= r && r < 128 {
		if c.ascii(byte(r)) {
			return sure
		}
		return never
	}
	if r == badByte {
		// grep says that nothing matches it; its expression library at times does.
		if !c.any && !c.neg && c.classes == nil {
			return never
		}
		return maybe
	}
	in := c.base(r, wide)
	if c.neg {
		return sure - in
	}
	return in
}

func (c *charSet) base(r rune, wide bool) certainty {
	if c.any {
		return sure
	}
	in := never
	for _, m := range c.runes {
		if m == r {
			return sure
		}
	}
	for _, m := range c.ranges {
		switch {
		case wide && !c.order:
			in = maybe
		case m[0] <= r && r <= m[1]:
			return sure
		}
	}
	if !wide {
		return in // no byte beyond ASCII has a class or a case in the C locale
	}
	if c.fold {
		switch r {
		case 0x130, 0x131, 0x17F, 0x212A: // relatives of i, s and k
			in = maybe
		}
	}
	for _, name := range c.classes {
		in = max(in, wideClass(name, r))
	}
	return in
}

func wideClass(name string, r rune) certainty {
	switch name {
	case "digit", "xdigit":
		return never
	case "space", "blank":
		return spaceRune(r)
	case "alpha", "alnum":
		return wordRune(r)
	case "upper", "lower":
		return min(wordRune(r), maybe)
	}
	return maybe
}

func asciiClass(name string, b byte) bool {
	digit := '0' <= b && b <= '9'
	upper := 'A' <= b && b <= 'Z'
	lower := 'a' <= b && b <= 'z'
	switch name {
	case "digit":
		return digit
	case "upper":
		return upper
	case "lower":
		return lower
	case "alpha":
		return upper || lower
	case "alnum":
		return digit || upper || lower
	case "xdigit":
		return digit || 'a' <= b|0x20 && b|0x20 <= 'f'
	case "space":
		return b == ' ' || '\t' <= b && b <= '\r'
	case "blank":
		return b == ' ' || b == '\t'
	case "cntrl":
		return b < ' ' || b == 0x7f
	case "print":
		return ' ' <= b && b < 0x7f
	case "graph":
		return ' ' < b && b < 0x7f
	case "punct":
		return ' ' < b && b < 0x7f && !digit && !upper && !lower
	}
	return false
}

func knownClass(name string) bool {
	switch name {
	case "digit", "upper", "lower", "alpha", "alnum", "xdigit", "space", "blank", "cntrl", "print", "graph", "punct":
		return true
	}
	return false
}

// bracket reads a bracket expression in ASCII, s being what follows "["; n is how
// much of it that takes. Globs may write ! for ^.
func (l inLocale) bracket(s string, glob bool) (set *charSet, n int, ok bool) {
	return l.bracketFold(s, glob, false, true)
}

func (l inLocale) bracketFold(s string, glob, fold, wide bool) (set *charSet, n int, ok bool) {
	c := &charSet{fold: fold, order: l.order}
	i := 0
	if i < len(s) && (s[i] == '^' || glob && s[i] == '!') {
		c.neg = true
		i++
	}
	begin := i
	for ; i < len(s); i++ {
		switch {
		case s[i] == ']' && i > begin:
			// grep takes [:space:] for a mistake.
			if !glob && s[0] == ':' && s[i-1] == ':' {
				return nil, 0, false
			}
			return c.finish(), i + 1, true
		case s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0:
			end := strings.Index(s[i+2:], ":]")
			if s[i+1] != ':' || end < 0 || !knownClass(s[i+2:i+2+end]) {
				return nil, 0, false
			}
			name := s[i+2 : i+2+end]
			if fold && (name == "upper" || name == "lower") {
				name = "alpha"
			}
			c.classes = append(c.classes, name)
			i += end + 3
			if i+2 < len(s) && s[i+1] == '-' && s[i+2] != ']' {
				return nil, 0, false
			}
		case glob && strings.IndexByte(`\/`, s[i]) >= 0, s[i] == '\n':
			return nil, 0, false
		default:
			r, size := decodeAt(s, i, wide)
			if r == badByte || r >= 128 && (glob || fold && wide) {
				return nil, 0, false
			}
			rest := s[i+size:]
			if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
				c.runes = append(c.runes, r)
				i += size - 1
				continue
			}
			to, size2 := decodeAt(s, i+size+1, wide)
			if !l.orderly(r, to, fold) || r >= 128 || to >= 128 || rest[1] == '[' {
				return nil, 0, false
			}
			if after := rest[1+size2:]; len(after) > 1 && after[0] == '-' && after[1] != ']' {
				return nil, 0, false // a-c-e
			}
			c.ranges = append(c.ranges, [2]rune{r, to})
			i += size + size2
		}
	}
	return nil, 0, false
}

// orderly says that the range from a to b is the same under each locale, and, with
// fold, whichever case the letters are compared in.
func (l inLocale) orderly(a, b rune, fold bool) bool {
	if '0' <= a && a <= b && b <= '9' {
		return true
	}
	alike := 'a' <= a && b <= 'z' || 'A' <= a && b <= 'Z' || b < 'A'
	return a <= b && l.order && (alike || !fold)
}
