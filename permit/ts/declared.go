package ts

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSource bounds a script, in bytes.
const maxSource = 16 << 20

// A DeclareError says where a declaration cannot be read.
type DeclareError struct {
	Line, Col int // from 1; the column counts bytes
	Why       string
}

func (e *DeclareError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Why) }

// Declared returns the commands that a script declares by
//
//	await initCmds(["curl", "./scripts/build.sh"])
//
// in the order of their first appearance, without running anything. Several
// calls are added together. A script without a call declares nothing. The names
// must be plain strings: what is computed cannot be asked about before the
// script runs; a *DeclareError says where that is not so.
//
// The text is taken apart as ECMAScript's lexical grammar says (comments,
// strings, templates, regular expressions), so a call in a comment or a string
// is none. If this ever misread a script, the script would be given too few
// commands, never too many without a question.
func Declared(src []byte) ([]string, error) {
	if len(src) > maxSource {
		return nil, &DeclareError{1, 1, fmt.Sprintf("the script has %d bytes; at most %d can be run", len(src), maxSource)}
	}
	l := lexer{src: src}
	if bytes.HasPrefix(src, []byte("#!")) {
		l.lineEnd()
	}
	var out []string
	var prev token
	for {
		t := l.next()
		if t.kind == end {
			return out, nil
		}
		if t.kind == word && t.text == "initCmds" && prev.text != "function" {
			names, called, err := l.call()
			if err != nil {
				return nil, err
			}
			if called {
				t = token{kind: punct, text: ")"}
			}
			for _, n := range names {
				if !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
		prev = t
	}
}

type kind uint8

const (
	end kind = iota
	word
	str
	number
	punct
	opaque // a template with values in it, a regular expression, what is broken
)

type token struct {
	kind kind
	text string // of strings the value
	at   int
}

// lexer takes ECMAScript apart, as far as Declared needs it.
type lexer struct {
	src  []byte
	pos  int
	last token // the last token, which decides what a slash is
	// braces holds for each open brace whether it opened a template's value.
	braces []bool
}

func (l *lexer) err(at int, why string) error {
	before := l.src[:min(at, len(l.src))]
	return &DeclareError{bytes.Count(before, []byte("\n")) + 1, at - bytes.LastIndexByte(before, '\n'), why}
}

const example = `write them as plain strings: await initCmds(["curl", "./scripts/build.sh"])`

// call reads a call's list behind the word initCmds. called is false when it is
// no call (an import, a value passed on); nothing is read then.
func (l *lexer) call() (names []string, called bool, err error) {
	mark := *l
	t := l.next()
	if t.text == "?." && t.kind == punct {
		t = l.next()
	}
	if t.kind != punct || t.text != "(" {
		*l = mark
		return nil, false, nil
	}
	if t = l.next(); t.kind != punct || t.text != "[" {
		return nil, true, l.err(t.at, "the commands that initCmds declares are not known before the script runs; "+example)
	}
	for {
		t = l.next()
		switch {
		case t.kind == punct && t.text == "]":
			return names, true, nil
		case t.kind == str:
			if t.text == "" || strings.ContainsRune(t.text, 0) {
				return nil, true, l.err(t.at, "initCmds declares a command without a name; remove it")
			}
			if !utf8.ValidString(t.text) {
				return nil, true, l.err(t.at, "initCmds declares a name that is not UTF-8; rename the command")
			}
			names = append(names, t.text)
		default:
			return nil, true, l.err(t.at, "initCmds declares something that is not a plain string; "+example)
		}
		at := t.at
		switch t = l.next(); {
		case t.kind == punct && t.text == ",":
		case t.kind == punct && t.text == "]":
			return names, true, nil
		default:
			return nil, true, l.err(at, "initCmds declares something that is not a plain string; "+example)
		}
	}
}

func (l *lexer) next() token {
	t := l.scan()
	l.last = t
	return t
}

func (l *lexer) peek(i int) byte {
	if l.pos+i < len(l.src) {
		return l.src[l.pos+i]
	}
	return 0
}

func (l *lexer) lineEnd() {
	if i := bytes.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
		l.pos += i
		return
	}
	l.pos = len(l.src)
}

// skip passes over white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			l.pos++
		case bytes.HasPrefix(l.src[l.pos:], []byte("\ufeff")), bytes.HasPrefix(l.src[l.pos:], []byte("\u2028")), bytes.HasPrefix(l.src[l.pos:], []byte("\u2029")):
			l.pos += 3
		case bytes.HasPrefix(l.src[l.pos:], []byte("\u00a0")):
			l.pos += 2
		case c == '/' && l.peek(1) == '/':
			l.lineEnd()
		case c == '/' && l.peek(1) == '*':
			i := bytes.Index(l.src[l.pos+2:], []byte("*/"))
			if i < 0 {
				l.pos = len(l.src)
				return
			}
			l.pos += i + 4
		default:
			return
		}
	}
}

func (l *lexer) scan() token {
	l.skip()
	at := l.pos
	if at >= len(l.src) {
		return token{kind: end, at: at}
	}
	switch c := l.src[at]; {
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '`':
		l.pos++
		return l.template(at)
	case isWord(c):
		for l.pos < len(l.src) && (isWord(l.src[l.pos]) || l.src[l.pos] >= '0' && l.src[l.pos] <= '9') {
			l.pos++
		}
		return token{word, string(l.src[at:l.pos]), at}
	case c >= '0' && c <= '9' || c == '.' && l.peek(1) >= '0' && l.peek(1) <= '9':
		for l.pos < len(l.src) && (isWord(l.src[l.pos]) || l.src[l.pos] >= '0' && l.src[l.pos] <= '9' || l.src[l.pos] == '.') {
			l.pos++
		}
		return token{number, string(l.src[at:l.pos]), at}
	case c == '/' && l.regexpFollows():
		return l.regexp()
	case c == '{':
		l.braces = append(l.braces, false)
	case c == '}' && len(l.braces) > 0:
		inTemplate := l.braces[len(l.braces)-1]
		l.braces = l.braces[:len(l.braces)-1]
		if inTemplate {
			l.pos++
			return l.template(at)
		}
	case c == '?' && l.peek(1) == '.' && (l.peek(2) < '0' || l.peek(2) > '9'):
		l.pos += 2
		return token{punct, "?.", at}
	case (c == '+' || c == '-') && l.peek(1) == c:
		l.pos += 2
		return token{punct, string(l.src[at:l.pos]), at}
	}
	l.pos++
	return token{punct, string(l.src[at:l.pos]), at}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '#' || c == '@' || c == '\\' || c >= utf8.RuneSelf
}

// regexpFollows reports whether a slash begins a regular expression: where an
// operand is due, it does; behind one it divides.
func (l *lexer) regexpFollows() bool {
	switch t := l.last; t.kind {
	case end:
		return true
	case word:
		switch t.text {
		case "return", "typeof", "case", "do", "else", "in", "of", "instanceof", "new", "delete", "void", "throw", "await", "yield":
			return true
		}
		return false
	case punct:
		switch t.text {
		case ")", "]", "}", "++", "--":
			return false
		}
		return true
	}
	return false
}

// regexp reads a regular expression. What does not end on its line is none.
func (l *lexer) regexp() token {
	at, class := l.pos, false
	for i := at + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\n' || c == '\r':
			l.pos++
			return token{punct, "/", at}
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			for i++; i < len(l.src) && isWord(l.src[i]); i++ {
			}
			l.pos = i
			return token{kind: opaque, at: at}
		}
	}
	l.pos++
	return token{punct, "/", at}
}

// template reads a template's text, from behind a ` or the } of a value to the
// next ${ or the end.
func (l *lexer) template(at int) token {
	start := l.pos
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\\':
			l.pos++
		case c == '`':
			l.pos++
			raw := string(l.src[start : l.pos-1])
			if l.src[at] == '`' && !strings.Contains(raw, `\`) {
				return token{str, raw, at} // one without values is a plain string
			}
			return token{kind: opaque, at: at}
		case c == '$' && l.peek(1) == '{':
			l.pos += 2
			l.braces = append(l.braces, true)
			return token{punct, "${", at}
		}
		l.pos++
	}
	l.pos = len(l.src)
	return token{kind: opaque, at: at}
}

// quoted reads a string in quotes and its value.
func (l *lexer) quoted(q byte) token {
	at := l.pos
	var b strings.Builder
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch c := l.src[l.pos]; c {
		case q:
			l.pos++
			return token{str, b.String(), at}
		case '\n':
			return token{kind: opaque, at: at} // not ended
		case '\\':
			l.pos++
			if !l.escape(&b) {
				return token{kind: opaque, at: at}
			}
		default:
			b.WriteByte(c)
		}
	}
	l.pos = len(l.src)
	return token{kind: opaque, at: at}
}

// escape reads what is behind a backslash and stays on its last byte.
func (l *lexer) escape(b *strings.Builder) bool {
	hex := func(n int) bool {
		if l.pos+n >= len(l.src) {
			return false
		}
		v, err := strconv.ParseUint(string(l.src[l.pos+1:l.pos+1+n]), 16, 32)
		if err != nil {
			return false
		}
		l.pos += n
		b.WriteRune(rune(v))
		return true
	}
	switch c := l.peek(0); c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'v':
		b.WriteByte('\v')
	case '0':
		b.WriteByte(0)
	case '\r':
		if l.peek(1) == '\n' {
			l.pos++
		}
	case '\n': // the string goes on in the next line
	case 'x':
		return hex(2)
	case 'u':
		if l.peek(1) != '{' {
			return hex(4)
		}
		i := bytes.IndexByte(l.src[l.pos:], '}')
		if i < 3 || i > 10 {
			return false
		}
		v, err := strconv.ParseUint(string(l.src[l.pos+2:l.pos+i]), 16, 32)
		if err != nil || v > utf8.MaxRune {
			return false
		}
		l.pos += i
		b.WriteRune(rune(v))
	default:
		b.WriteByte(c)
	}
	return true
}
