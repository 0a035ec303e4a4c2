package agents

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A jsonMode says which deviations from RFC 8259 are accepted.
type jsonMode struct {
	comments bool // // and /* */
	trailing bool // a comma before ] or }
}

var (
	strictJSON = jsonMode{}
	looseJSON  = jsonMode{comments: true, trailing: true}
)

// Bounds that keep hostile or broken input from using up memory or stack.
const (
	maxDepth  = 512
	maxValues = 200_000
)

// A node is one JSON value with its place in the source. Keeping the place,
// and not only the value, is what lets an answer copy the rest of an object
// unchanged and lets an installer leave a file's other bytes alone.
type node struct {
	kind       byte // '{' '[' '"' '0' (number) 't' 'f' 'n'
	start, end int
	str        string // decoded text of a string
	members    []member
	elems      []*node
}

type member struct {
	key *node
	val *node
}

// A SyntaxError says where a configuration file or an event is broken.
type SyntaxError struct {
	File      string // empty for an event
	Line, Col int    // from 1; Col counts characters
	Msg       string
}

func (e *SyntaxError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// position returns line and column, both from 1, of a byte offset.
func position(src []byte, off int) (line, col int) {
	off = min(max(off, 0), len(src))
	before := src[:off]
	line = bytes.Count(before, []byte{'\n'}) + 1
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	return line, utf8.RuneCount(before) + 1
}

func syntaxErrorAt(src []byte, off int, format string, args ...any) *SyntaxError {
	line, col := position(src, off)
	return &SyntaxError{Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// A document is a parsed text together with what was met on the way.
type document struct {
	src      []byte
	root     *node // nil when the text holds no value (only with allowEmpty)
	comment  int   // offset of the first comment, -1
	trailing int   // offset of the first trailing comma, -1
}

type jsonParser struct {
	src    []byte
	pos    int
	mode   jsonMode
	depth  int
	values int
	doc    *document
}

const bom = "\ufeff"

// parseJSON reads exactly one value. A byte order mark in front is accepted.
// With allowEmpty a text of blanks and comments gives a nil root.
func parseJSON(src []byte, mode jsonMode, allowEmpty bool) (*document, *SyntaxError) {
	p := &jsonParser{src: src, mode: mode, doc: &document{src: src, comment: -1, trailing: -1}}
	if !utf8.Valid(src) {
		off := 0
		for off < len(src) {
			r, n := utf8.DecodeRune(src[off:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			off += n
		}
		return nil, syntaxErrorAt(src, off, "invalid UTF-8")
	}
	if bytes.HasPrefix(src, []byte(bom)) {
		p.pos = len(bom)
	}
	if err := p.blanks(); err != nil {
		return nil, err
	}
	if p.pos == len(src) {
		if allowEmpty {
			return p.doc, nil
		}
		return nil, p.errorf(p.pos, "no JSON value")
	}
	root, err := p.value()
	if err != nil {
		return nil, err
	}
	p.doc.root = root
	if err := p.blanks(); err != nil {
		return nil, err
	}
	if p.pos != len(src) {
		return nil, p.errorf(p.pos, "text after the JSON value")
	}
	return p.doc, nil
}

func (p *jsonParser) errorf(off int, format string, args ...any) *SyntaxError {
	return syntaxErrorAt(p.src, off, format, args...)
}

// blanks skips white space and, where allowed, comments.
func (p *jsonParser) blanks() *SyntaxError {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.pos++
		case c == '/' && p.pos+1 < len(p.src) && (p.src[p.pos+1] == '/' || p.src[p.pos+1] == '*'):
			if !p.mode.comments {
				return p.errorf(p.pos, "a comment, which is not allowed here")
			}
			if p.doc.comment < 0 {
				p.doc.comment = p.pos
			}
			if p.src[p.pos+1] == '/' {
				i := bytes.IndexByte(p.src[p.pos:], '\n')
				if i < 0 {
					p.pos = len(p.src)
				} else {
					p.pos += i + 1
				}
				continue
			}
			i := bytes.Index(p.src[p.pos+2:], []byte("*/"))
			if i < 0 {
				return p.errorf(p.pos, "comment without end")
			}
			p.pos += 2 + i + 2
		default:
			return nil
		}
	}
	return nil
}

func (p *jsonParser) value() (*node, *SyntaxError) {
	if p.pos >= len(p.src) {
		return nil, p.errorf(p.pos, "the text ends where a value is due")
	}
	if p.values++; p.values > maxValues {
		return nil, p.errorf(p.pos, "more than %d values", maxValues)
	}
	switch c := p.src[p.pos]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(p.src[p.pos:], []byte(w)) {
			n := &node{kind: w[0], start: p.pos, end: p.pos + len(w)}
			p.pos = n.end
			return n, nil
		}
	}
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	return nil, p.errorf(p.pos, "unexpected %q where a value is due", r)
}

func (p *jsonParser) enter() *SyntaxError {
	if p.depth++; p.depth > maxDepth {
		return p.errorf(p.pos, "nested deeper than %d", maxDepth)
	}
	return nil
}

func (p *jsonParser) object() (*node, *SyntaxError) {
	n := &node{kind: '{', start: p.pos}
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	for {
		if err := p.blanks(); err != nil {
			return nil, err
		}
		if p.pos >= len(p.src) {
			return nil, p.errorf(n.start, "this { is never closed")
		}
		if p.src[p.pos] == '}' {
			break
		}
		if p.src[p.pos] != '"' {
			r, _ := utf8.DecodeRune(p.src[p.pos:])
			return nil, p.errorf(p.pos, "unexpected %q where a key in quotes is due", r)
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if err := p.blanks(); err != nil {
			return nil, err
		}
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return nil, p.errorf(p.pos, "a colon is missing after the key %q", clip(key.str, 40))
		}
		p.pos++
		if err := p.blanks(); err != nil {
			return nil, err
		}
		val, err := p.value()
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member{key, val})
		more, err := p.separator('}', n.start)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	p.pos++
	p.depth--
	n.end = p.pos
	return n, nil
}

func (p *jsonParser) array() (*node, *SyntaxError) {
	n := &node{kind: '[', start: p.pos}
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	for {
		if err := p.blanks(); err != nil {
			return nil, err
		}
		if p.pos >= len(p.src) {
			return nil, p.errorf(n.start, "this [ is never closed")
		}
		if p.src[p.pos] == ']' {
			break
		}
		val, err := p.value()
		if err != nil {
			return nil, err
		}
		n.elems = append(n.elems, val)
		more, err := p.separator(']', n.start)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	p.pos++
	p.depth--
	n.end = p.pos
	return n, nil
}

// separator reads what follows an element: a comma and another element (true)
// or, not consumed, the closing bracket (false).
func (p *jsonParser) separator(closing byte, open int) (bool, *SyntaxError) {
	if err := p.blanks(); err != nil {
		return false, err
	}
	switch {
	case p.pos >= len(p.src):
		return false, p.errorf(open, "this %c is never closed", p.src[open])
	case p.src[p.pos] == closing:
		return false, nil
	case p.src[p.pos] != ',':
		r, _ := utf8.DecodeRune(p.src[p.pos:])
		return false, p.errorf(p.pos, "unexpected %q where a comma or %c is due", r, closing)
	}
	comma := p.pos
	p.pos++
	if err := p.blanks(); err != nil {
		return false, err
	}
	if p.pos < len(p.src) && p.src[p.pos] == closing {
		if !p.mode.trailing {
			return false, p.errorf(comma, "a comma before %c", closing)
		}
		if p.doc.trailing < 0 {
			p.doc.trailing = comma
		}
		return false, nil
	}
	return true, nil
}

func (p *jsonParser) number() (*node, *SyntaxError) {
	n := &node{kind: '0', start: p.pos}
	digits := func() bool {
		i := p.pos
		for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
			p.pos++
		}
		return p.pos > i
	}
	if p.src[p.pos] == '-' {
		p.pos++
	}
	first := p.pos
	if !digits() || p.src[first] == '0' && p.pos > first+1 {
		return nil, p.errorf(n.start, "this is not a JSON number")
	}
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		if !digits() {
			return nil, p.errorf(n.start, "this is not a JSON number")
		}
	}
	if p.pos < len(p.src) && (p.src[p.pos] == 'e' || p.src[p.pos] == 'E') {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		if !digits() {
			return nil, p.errorf(n.start, "this is not a JSON number")
		}
	}
	n.end = p.pos
	return n, nil
}

func (p *jsonParser) string() (*node, *SyntaxError) {
	n := &node{kind: '"', start: p.pos}
	p.pos++
	from := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '"' && p.src[p.pos] != '\\' && p.src[p.pos] >= 0x20 {
		p.pos++
	}
	if p.pos < len(p.src) && p.src[p.pos] == '"' { // the usual case: no escape
		n.str = string(p.src[from:p.pos])
		p.pos++
		n.end = p.pos
		return n, nil
	}
	var b strings.Builder
	b.Write(p.src[from:p.pos])
	for {
		if p.pos >= len(p.src) {
			return nil, p.errorf(n.start, "this string is never closed")
		}
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			n.end, n.str = p.pos, b.String()
			return n, nil
		case c < 0x20:
			return nil, p.errorf(p.pos, "a control character (0x%02x) inside a string", c)
		case c != '\\':
			b.WriteByte(c)
			p.pos++
		default:
			if err := p.escape(&b); err != nil {
				return nil, err
			}
		}
	}
}

// escape decodes one backslash sequence. Half a surrogate pair becomes U+FFFD,
// as it does when a JavaScript client passes such a string to a program.
func (p *jsonParser) escape(b *strings.Builder) *SyntaxError {
	at := p.pos
	if p.pos+1 >= len(p.src) {
		return p.errorf(at, "the text ends inside a string")
	}
	p.pos += 2
	switch c := p.src[p.pos-1]; c {
	case '"', '\\', '/':
		b.WriteByte(c)
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		r, ok := p.hex4(p.pos)
		if !ok {
			return p.errorf(at, `\u needs four hexadecimal digits`)
		}
		p.pos += 4
		if r >= 0xd800 && r < 0xdc00 && bytes.HasPrefix(p.src[p.pos:], []byte(`\u`)) {
			if low, ok := p.hex4(p.pos + 2); ok && low >= 0xdc00 && low < 0xe000 {
				p.pos += 6
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
			}
		}
		if r >= 0xd800 && r < 0xe000 {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	default:
		return p.errorf(at, "unknown escape in a string")
	}
	return nil
}

func (p *jsonParser) hex4(at int) (rune, bool) {
	if at+4 > len(p.src) {
		return 0, false
	}
	var r rune
	for _, c := range p.src[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
