package agents

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A tomlItem is one statement of a TOML file: a table header or a key with its
// value. Only what editing needs is kept.
type tomlItem struct {
	header     bool
	array      bool     // [[header]]
	keys       []string // of the header, or of the key as written
	start, end int      // from the first character to the end of header or value
	val        tomlValue
}

type tomlValue struct {
	kind       byte // '"' string, '[' list, '{' inline table, '0' anything else
	start, end int
	str        string
	elems      []tomlValue
	pairs      []tomlItem // of an inline table
}

type tomlParser struct {
	src   []byte
	pos   int
	depth int
}

// parseTOML reads a file's statements. It checks the syntax, not the meaning:
// repeated keys and impossible dates pass.
func parseTOML(src []byte) ([]tomlItem, *SyntaxError) {
	p := &tomlParser{src: src}
	if !utf8.Valid(src) {
		_, err := parseJSON(src, looseJSON, true) // finds the place
		return nil, err
	}
	if bytes.HasPrefix(src, []byte(bom)) {
		p.pos = len(bom)
	}
	var items []tomlItem
	for {
		p.space(true)
		if p.pos >= len(p.src) {
			return items, nil
		}
		item := tomlItem{start: p.pos}
		var err *SyntaxError
		if p.src[p.pos] == '[' {
			item.header = true
			p.pos++
			if p.at('[') {
				item.array = true
				p.pos++
			}
			if item.keys, err = p.key(); err != nil {
				return nil, err
			}
			closing := "]"
			if item.array {
				closing = "]]"
			}
			if !bytes.HasPrefix(p.src[p.pos:], []byte(closing)) {
				return nil, p.errorf(p.pos, "%s is missing at the end of this header", closing)
			}
			p.pos += len(closing)
		} else if item, err = p.pair(); err != nil {
			return nil, err
		}
		item.end = p.pos
		items = append(items, item)
		p.space(false)
		if p.pos < len(p.src) && p.src[p.pos] != '\n' && !bytes.HasPrefix(p.src[p.pos:], []byte("\r\n")) {
			return nil, p.errorf(p.pos, "text after the end of this statement")
		}
	}
}

func (p *tomlParser) errorf(off int, format string, args ...any) *SyntaxError {
	return syntaxErrorAt(p.src, off, format, args...)
}

func (p *tomlParser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

// space skips blanks and comments, and line ends if lines is set.
func (p *tomlParser) space(lines bool) {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t':
			p.pos++
		case lines && (c == '\n' || c == '\r'):
			p.pos++
		case c == '#':
			if i := bytes.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
				p.pos += i
			} else {
				p.pos = len(p.src)
			}
			if p.pos > 0 && p.src[p.pos-1] == '\r' {
				p.pos--
				if !lines {
					return
				}
			}
		default:
			return
		}
	}
}

func bareKey(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// key reads a dotted key and the blanks behind it.
func (p *tomlParser) key() ([]string, *SyntaxError) {
	var keys []string
	for {
		p.blank()
		from := p.pos
		switch {
		case p.at('"') || p.at('\''):
			v, err := p.quoted()
			if err != nil {
				return nil, err
			}
			keys = append(keys, v.str)
		default:
			for p.pos < len(p.src) && bareKey(p.src[p.pos]) {
				p.pos++
			}
			if p.pos == from {
				return nil, p.errorf(from, "a key is due here")
			}
			keys = append(keys, string(p.src[from:p.pos]))
		}
		p.blank()
		if !p.at('.') {
			return keys, nil
		}
		p.pos++
	}
}

func (p *tomlParser) blank() {
	for p.at(' ') || p.at('\t') {
		p.pos++
	}
}

func (p *tomlParser) pair() (tomlItem, *SyntaxError) {
	item := tomlItem{start: p.pos}
	var err *SyntaxError
	if item.keys, err = p.key(); err != nil {
		return item, err
	}
	if !p.at('=') {
		return item, p.errorf(p.pos, "= is missing after the key %q", clip(strings.Join(item.keys, "."), 40))
	}
	p.pos++
	p.blank()
	item.val, err = p.value()
	item.end = p.pos
	return item, err
}

func (p *tomlParser) value() (tomlValue, *SyntaxError) {
	if p.depth++; p.depth > maxDepth {
		return tomlValue{}, p.errorf(p.pos, "nested deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	switch {
	case p.pos >= len(p.src):
		return tomlValue{}, p.errorf(p.pos, "the file ends where a value is due")
	case p.at('"') || p.at('\''):
		return p.quoted()
	case p.at('['):
		return p.list()
	case p.at('{'):
		return p.table()
	}
	v := tomlValue{kind: '0', start: p.pos}
	for p.pos < len(p.src) && (bareKey(p.src[p.pos]) || strings.IndexByte("+.:", p.src[p.pos]) >= 0) {
		p.pos++
	}
	v.end = p.pos
	word := string(p.src[v.start:v.end])
	plain := strings.TrimLeft(word, "+-")
	switch {
	case word == "true" || word == "false" || plain == "inf" || plain == "nan":
	case plain != "" && plain[0] >= '0' && plain[0] <= '9':
		// A date may be parted from its time by one blank.
		if len(word) == 10 && word[4] == '-' && p.at(' ') && p.pos+1 < len(p.src) && p.src[p.pos+1] >= '0' && p.src[p.pos+1] <= '9' {
			p.pos++
			for p.pos < len(p.src) && (bareKey(p.src[p.pos]) || strings.IndexByte("+.:", p.src[p.pos]) >= 0) {
				p.pos++
			}
			v.end = p.pos
		}
	default:
		return v, p.errorf(v.start, "this is not a TOML value")
	}
	return v, nil
}

func (p *tomlParser) list() (tomlValue, *SyntaxError) {
	v := tomlValue{kind: '[', start: p.pos}
	p.pos++
	for {
		p.space(true)
		if p.at(']') {
			break
		}
		if p.pos >= len(p.src) {
			return v, p.errorf(v.start, "this [ is never closed")
		}
		el, err := p.value()
		if err != nil {
			return v, err
		}
		v.elems = append(v.elems, el)
		p.space(true)
		if p.at(',') {
			p.pos++
			continue
		}
		if !p.at(']') {
			return v, p.errorf(p.pos, "a comma or ] is due here")
		}
	}
	p.pos++
	v.end = p.pos
	return v, nil
}

func (p *tomlParser) table() (tomlValue, *SyntaxError) {
	v := tomlValue{kind: '{', start: p.pos}
	p.pos++
	for {
		p.space(true)
		if p.at('}') {
			break
		}
		if p.pos >= len(p.src) {
			return v, p.errorf(v.start, "this { is never closed")
		}
		pair, err := p.pair()
		if err != nil {
			return v, err
		}
		v.pairs = append(v.pairs, pair)
		p.space(true)
		if p.at(',') {
			p.pos++
			continue
		}
		if !p.at('}') {
			return v, p.errorf(p.pos, "a comma or } is due here")
		}
	}
	p.pos++
	v.end = p.pos
	return v, nil
}

// quoted reads one of the four kinds of strings.
func (p *tomlParser) quoted() (tomlValue, *SyntaxError) {
	v := tomlValue{kind: '"', start: p.pos}
	q := p.src[p.pos]
	long := bytes.HasPrefix(p.src[p.pos:], []byte{q, q, q})
	if long {
		p.pos += 3
		if p.at('\r') {
			p.pos++
		}
		if p.at('\n') {
			p.pos++
		}
	} else {
		p.pos++
	}
	var b strings.Builder
	for {
		if p.pos >= len(p.src) {
			return v, p.errorf(v.start, "this string is never closed")
		}
		c := p.src[p.pos]
		switch {
		case c == q && !long:
			p.pos++
			v.end, v.str = p.pos, b.String()
			return v, nil
		case c == q && bytes.HasPrefix(p.src[p.pos:], []byte{q, q, q}):
			p.pos += 3
			for n := 0; n < 2 && p.at(q); n++ { // up to two quotes belong to the text
				b.WriteByte(q)
				p.pos++
			}
			v.end, v.str = p.pos, b.String()
			return v, nil
		case c == '\n' && !long:
			return v, p.errorf(v.start, "this string is not closed on its line")
		case c == '\\' && q == '"':
			if err := p.escape(&b, long); err != nil {
				return v, err
			}
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
}

func (p *tomlParser) escape(b *strings.Builder, long bool) *SyntaxError {
	at := p.pos
	p.pos++
	if p.pos >= len(p.src) {
		return p.errorf(at, "the file ends inside a string")
	}
	c := p.src[p.pos]
	p.pos++
	switch c {
	case '"', '\\':
		b.WriteByte(c)
	case 'b':
		b.WriteByte('\b')
	case 't':
		b.WriteByte('\t')
	case 'n':
		b.WriteByte('\n')
	case 'f':
		b.WriteByte('\f')
	case 'r':
		b.WriteByte('\r')
	case 'e':
		b.WriteByte(0x1b)
	case 'u', 'U', 'x':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		var r rune
		for range n {
			h := rune(-1)
			if p.pos < len(p.src) {
				h = rune(strings.IndexByte("0123456789abcdef", p.src[p.pos]|0x20))
				if p.src[p.pos] < '0' {
					h = -1
				}
			}
			if h < 0 {
				return p.errorf(at, `\%c needs %d hexadecimal digits`, c, n)
			}
			r = r<<4 | h
			p.pos++
		}
		b.WriteRune(r)
	case ' ', '\t', '\n', '\r':
		if !long {
			return p.errorf(at, "unknown escape in a string")
		}
		for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
			p.pos++
		}
	default:
		return p.errorf(at, "unknown escape in a string")
	}
	return nil
}

// quoteTOML returns s as a TOML string: literal where that can be, so that
// regular expressions and commands stay readable.
func quoteTOML(s string) string {
	plain := utf8.ValidString(s)
	for _, r := range s {
		plain = plain && r >= 0x20 && r != 0x7f && r != '"' && r != '\\'
	}
	if plain {
		return `"` + s + `"`
	}
	return strings.ReplaceAll(quoteJSON(s), "\x7f", `\u007f`)
}

func sameKeys(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
