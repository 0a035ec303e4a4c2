package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Most commands are words, quoted text without expansions, and | or && between
// them. Those are read here, in a third of the parser's time and memory, into the
// very nodes that the parser makes of them: a test and a fuzz target compare the
// two. What holds anything else is the parser's.

// maxQuick bounds the texts that are read here, in bytes: columns that the parser
// can count.
const maxQuick = 4096

// What a byte is to quickStmts.
const (
	qOther  = iota // the text is the parser's
	qWord          // stands for itself wherever it stands in a word
	qBlank         // between words
	qSingle        // '
	qDouble        // "
	qPipe          // |
	qAnd           // &
)

// Bytes that stand for themselves, below 64 and from there to 127.
const (
	lowQuick  uint64 = 1<<'-' | 1<<'.' | 1<<'/' | 1<<',' | 1<<':' | 1<<'=' | 1<<'+' | 1<<'%' | 1<<'*' | 1<<'?' | (1<<10-1)<<'0'
	highQuick uint64 = 1<<('_'-64) | 1<<('@'-64) | 1<<('~'-64) | 1<<('^'-64) | (1<<26-1)<<('a'-64) | (1<<26-1)<<('A'-64)
)

// quickClass is what a byte outside quotes is.
func quickClass(c byte) byte {
	bits := lowQuick
	if c >= 64 {
		bits = highQuick
	}
	switch {
	case c < 128 && bits>>(c&63)&1 != 0:
		return qWord
	case c == ' ', c == '\t':
		return qBlank
	case c == '\'':
		return qSingle
	case c == '"':
		return qDouble
	case c == '|':
		return qPipe
	case c == '&':
		return qAnd
	}
	return qOther
}

// quickKeyword names the words that do not begin a simple command, in any
// dialect.
func quickKeyword(s string) bool {
	if len(s) < 2 || len(s) > 8 {
		return false
	}
	switch s {
	case "if", "then", "elif", "else", "fi", "while", "until", "for", "foreach", "do", "done", "case", "esac", "in", "end", "select", "repeat",
		"function", "let", "declare", "local", "export", "readonly", "typeset", "nameref", "integer", "float", "time", "coproc", "always", "@test":
		return true
	}
	return false
}

// quickWord is a word of one literal and what belongs to it.
type quickWord struct {
	word  syntax.Word
	parts [1]syntax.WordPart
	lit   syntax.Lit
}

// quickCommand is a simple command.
type quickCommand struct {
	stmt syntax.Stmt
	call syntax.CallExpr
}

// quickReader holds the nodes of one text.
type quickReader struct {
	text     string
	words    []quickWord
	args     []*syntax.Word
	commands []quickCommand
	joints   []quickJoint
}

// quickJoint is a | or && and the statement that it makes.
type quickJoint struct {
	stmt syntax.Stmt
	cmd  syntax.BinaryCmd
}

// join returns the statement that an operator makes of two.
func (r *quickReader) join(x *syntax.Stmt, op syntax.BinCmdOperator, at int, y *syntax.Stmt) *syntax.Stmt {
	r.joints = append(r.joints, quickJoint{})
	j := &r.joints[len(r.joints)-1]
	j.cmd = syntax.BinaryCmd{OpPos: quickPos(at), Op: op, X: x, Y: y}
	j.stmt.Position, j.stmt.Cmd = x.Position, &j.cmd
	return &j.stmt
}

// quickStmts returns the statements of a text in which nothing is special but
// quotes, | and &&; ok is false when there is more, and then nothing is said
// about the text.
func quickStmts(text string) (stmts []*syntax.Stmt, ok bool) {
	words, commands, ok := quickCount(text)
	if !ok {
		return nil, false
	}
	r := quickReader{
		text:     text,
		words:    make([]quickWord, 0, words),
		args:     make([]*syntax.Word, 0, words),
		commands: make([]quickCommand, 0, commands),
	}
	if commands > 1 {
		r.joints = make([]quickJoint, 0, commands-1)
	}
	s := r.list()
	if s == nil {
		return nil, false
	}
	return []*syntax.Stmt{s}, true
}

// quickCount counts what will be needed at most, so that each kind of node is one
// allocation, and looks whether the text is one for quickStmts.
func quickCount(text string) (words, commands int, ok bool) {
	if len(text) == 0 || len(text) > maxQuick {
		return 0, 0, false
	}
	commands = 1
	inWord := false
	for i := 0; i < len(text); i++ {
		switch quickClass(text[i]) {
		case qWord:
			if !inWord {
				words++
			}
			inWord = true
		case qBlank:
			inWord = false
		case qSingle, qDouble:
			n := strings.IndexByte(text[i+1:], text[i])
			if n < 0 || !quickQuoted(text[i+1:i+1+n], text[i]) {
				return 0, 0, false
			}
			if !inWord {
				words++
			}
			i, inWord = i+1+n, true
		case qPipe, qAnd:
			commands++
			inWord = false
		default:
			return 0, 0, false
		}
	}
	return words, commands, true
}

// quickQuoted says that text between quotes stands for itself.
func quickQuoted(s string, quote byte) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' || quote == '"' && (c == '$' || c == '`' || c == '\\') {
			return false
		}
	}
	return true
}

func quickPos(i int) syntax.Pos { return syntax.NewPos(uint(i), 1, uint(i)+1) }

// list reads pipelines with && between them; nil when the text is another.
func (r *quickReader) list() *syntax.Stmt {
	s, at := r.pipeline(0)
	for s != nil && at < len(r.text) {
		if !strings.HasPrefix(r.text[at:], "&&") {
			return nil
		}
		y, end := r.pipeline(at + 2)
		if y == nil {
			return nil
		}
		s, at = r.join(s, syntax.AndStmt, at, y), end
	}
	return s
}

// pipeline reads commands with | between them; at is where that ends.
func (r *quickReader) pipeline(from int) (s *syntax.Stmt, at int) {
	s, at = r.command(from)
	for s != nil && at < len(r.text) && r.text[at] == '|' {
		y, end := r.command(at + 1)
		if y == nil {
			return nil, end
		}
		s, at = r.join(s, syntax.Pipe, at, y), end
	}
	return s, at
}

// command reads a simple command up to | or & or the end; nil when there is none,
// or one of another kind.
func (r *quickReader) command(from int) (s *syntax.Stmt, at int) {
	first := len(r.args)
	for at = from; at < len(r.text); {
		switch quickClass(r.text[at]) {
		case qBlank:
			at++
			continue
		case qPipe, qAnd:
		default:
			w, end := r.word(at)
			if len(r.args) == first {
				// What an assignment or a keyword may be, in front.
				if t := r.text[at:end]; strings.IndexByte(t, '=') >= 0 || quickKeyword(t) {
					return nil, at
				}
			}
			r.args, at = append(r.args, w), end
			continue
		}
		break
	}
	if len(r.args) == first {
		return nil, at
	}
	r.commands = append(r.commands, quickCommand{})
	c := &r.commands[len(r.commands)-1]
	c.call.Args = r.args[first:len(r.args):len(r.args)]
	c.stmt.Cmd, c.stmt.Position = &c.call, c.call.Args[0].Pos()
	return &c.stmt, at
}

// word reads a word; end is where it ends.
func (r *quickReader) word(from int) (w *syntax.Word, end int) {
	r.words = append(r.words, quickWord{})
	q := &r.words[len(r.words)-1]
	q.word.Parts = q.parts[:0]
	for end = from; end < len(r.text); {
		at := end
		var part syntax.WordPart
		switch quickClass(r.text[at]) {
		case qWord:
			for end < len(r.text) && quickClass(r.text[end]) == qWord {
				end++
			}
			lit := &q.lit
			if len(q.word.Parts) > 0 {
				lit = new(syntax.Lit)
			}
			*lit = r.lit(at, end)
			part = lit
		case qSingle:
			end = r.closing(at)
			part = &syntax.SglQuoted{Left: quickPos(at), Right: quickPos(end - 1), Value: r.text[at+1 : end-1]}
		case qDouble:
			end = r.closing(at)
			q := &syntax.DblQuoted{Left: quickPos(at), Right: quickPos(end - 1)}
			if end-at > 2 {
				lit := r.lit(at+1, end-1)
				q.Parts = []syntax.WordPart{&lit}
			}
			part = q
		default:
			return &q.word, end
		}
		q.word.Parts = append(q.word.Parts, part)
	}
	return &q.word, end
}

// closing returns the offset behind the quote that closes the one at an offset.
func (r *quickReader) closing(at int) int {
	return at + 2 + strings.IndexByte(r.text[at+1:], r.text[at])
}

func (r *quickReader) lit(from, to int) syntax.Lit {
	return syntax.Lit{ValuePos: quickPos(from), ValueEnd: quickPos(to), Value: r.text[from:to]}
}
