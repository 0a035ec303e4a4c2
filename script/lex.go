package script

import (
	"strings"
	"unicode/utf8"
)

// The languages that are looked into.
const (
	langPython = "python"
	langJS     = "js"
	langPerl   = "perl"
	langRuby   = "ruby"
	langPHP    = "php"
	langAwk    = "awk"
	langApple  = "applescript"
	langOther  = "other"
)

type tokenKind uint8

const (
	tName    tokenKind = iota // a name, with its sigil where there is one
	tString                   // a string; word is its value
	tCommand                  // a string that is run: `...`, qx, %x
	tList                     // qw(...), %w[...]: words in list
	tOp                       // anything else, one or two characters
	tNumber
	tBreak // end of a line
)

// token is one token of a language.
type token struct {
	kind tokenKind
	text string
	word Word
	list []string
	at   int
	end  int
}

// lexer splits code of one language. Strings and comments are recognised
// exactly; the rest only as far as calls and their arguments need.
type lexer struct {
	lang  string
	src   *source // for holes
	s     string
	i     int
	toks  []token
	inner []string // code inside strings: f"{x}", `${x}`, "#{x}"
	docs  []heredoc
}

// heredoc is one whose body begins after the current line.
type heredoc struct {
	tok    int
	end    string
	indent bool
	raw    bool
}

func lex(src *source, code, lang string) *lexer {
	l := &lexer{lang: lang, src: src, s: code}
	for l.i < len(l.s) && len(l.toks) < maxTokens {
		n := len(l.toks)
		l.next()
		if src != nil && len(l.toks)/4 > n/4 && !src.budget.Spend(1) {
			break
		}
	}
	return l
}

func (l *lexer) push(t token) {
	t.end = l.i
	l.toks = append(l.toks, t)
}

// word turns text with holes into a word.
func (l *lexer) word(s string) Word {
	if l.src == nil || !l.src.encoded {
		return Lit(s)
	}
	e := expander{a: &analyzer{}, c: &ctx{src: l.src}}
	e.raw(s)
	return Word{Parts: e.cur}
}

func (l *lexer) next() {
	c := l.s[l.i]
	at := l.i
	switch {
	case c == '\n':
		l.i++
		l.push(token{kind: tBreak, text: "\n", at: at})
		l.bodies()
	case c == ' ' || c == '\t' || c == '\r':
		l.i++
	case c == '\\' && l.i+1 < len(l.s) && l.s[l.i+1] == '\n':
		l.i += 2
	case l.comment(c):
	case l.quotelike(c):
	case isNameStart(c), c == '$' && l.lang == langJS, (c == '$' || c == '@') && l.sigils() && l.i+1 < len(l.s) && (isNameStart(l.s[l.i+1]) || l.s[l.i+1] == '{'):
		l.name()
	case c >= '0' && c <= '9':
		for l.i < len(l.s) && (isNameByte(l.s[l.i]) || l.s[l.i] == '.') {
			l.i++
		}
		l.push(token{kind: tNumber, text: l.s[at:l.i], at: at})
	case c >= utf8.RuneSelf:
		r, n := utf8.DecodeRuneInString(l.s[l.i:])
		l.i += n
		text := l.s[at:l.i]
		if l.src != nil && l.src.hole(r) != nil {
			text = partName(*l.src.hole(r))
		}
		l.push(token{kind: tName, text: text, at: at})
	default:
		n := 1
		if l.i+1 < len(l.s) {
			switch l.s[l.i : l.i+2] {
			case "=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", ".=", ">>", "|&", "**", "//", "?.", "=~":
				n = 2
			}
		}
		l.i += n
		l.push(token{kind: tOp, text: l.s[at:l.i], at: at})
	}
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isNameByte(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' }

// sigils reports whether $name is a name.
func (l *lexer) sigils() bool {
	return l.lang == langPerl || l.lang == langPHP || l.lang == langRuby || l.lang == langJS
}

func (l *lexer) name() {
	at := l.i
	if c := l.s[l.i]; c == '$' || c == '@' {
		l.i++
		if l.i < len(l.s) && l.s[l.i] == '{' { // ${name}, @{...}
			if j := strings.IndexByte(l.s[l.i:], '}'); j > 0 {
				l.i += j + 1
				l.push(token{kind: tName, text: l.s[at:l.i], at: at})
				return
			}
		}
	}
	for l.i < len(l.s) && (isNameByte(l.s[l.i]) || l.lang == langJS && l.s[l.i] == '$') {
		l.i++
	}
	if l.lang == langRuby && l.i < len(l.s) && (l.s[l.i] == '?' || l.s[l.i] == '!') && !(l.i+1 < len(l.s) && l.s[l.i+1] == '=') {
		l.i++
	}
	if l.i == at {
		l.i++
	}
	l.push(token{kind: tName, text: l.s[at:l.i], at: at})
}

// comment skips a comment.
func (l *lexer) comment(c byte) bool {
	rest := l.s[l.i:]
	switch {
	case c == '#' && l.lang != langJS:
		l.skipLine()
	case strings.HasPrefix(rest, "//") && (l.lang == langJS || l.lang == langPHP):
		l.skipLine()
	case strings.HasPrefix(rest, "--") && l.lang == langApple:
		l.skipLine()
	case strings.HasPrefix(rest, "/*") && (l.lang == langJS || l.lang == langPHP), strings.HasPrefix(rest, "(*") && l.lang == langApple:
		end := "*/"
		if c == '(' {
			end = "*)"
		}
		if j := strings.Index(rest[2:], end); j < 0 {
			l.i = len(l.s)
		} else {
			l.i += j + 4
		}
	case c == '=' && l.pod(rest):
	default:
		return false
	}
	return true
}

// pod skips the documentation blocks of Perl and Ruby.
func (l *lexer) pod(rest string) bool {
	end := ""
	switch {
	case l.i > 0 && l.s[l.i-1] != '\n':
		return false
	case l.lang == langPerl && len(rest) > 1 && isNameStart(rest[1]):
		end = "\n=cut"
	case l.lang == langRuby && strings.HasPrefix(rest, "=begin"):
		end = "\n=end"
	default:
		return false
	}
	if j := strings.Index(rest, end); j >= 0 {
		l.i += j + len(end)
		l.skipLine()
	} else {
		l.i = len(l.s)
	}
	return true
}

func (l *lexer) skipLine() {
	if j := strings.IndexByte(l.s[l.i:], '\n'); j >= 0 {
		l.i += j
	} else {
		l.i = len(l.s)
	}
}

// operand reports whether the next token begins an operand, so that / starts a
// regular expression.
func (l *lexer) operand() bool {
	if len(l.toks) == 0 {
		return true
	}
	switch t := l.toks[len(l.toks)-1]; t.kind {
	case tBreak:
		return true
	case tName:
		switch t.text {
		case "return", "typeof", "case", "in", "of", "and", "or", "not", "if", "unless", "while", "split", "grep", "map", "join", "when", "x",
			"system", "exec", "unlink", "puts", "print", "die", "rm", "rm_rf", "rm_r", "rm_f", "push", "require", "spawn":
			return true
		}
		return false
	case tOp:
		return t.text != ")" && t.text != "]" && t.text != "}"
	}
	return false
}

// quotelike reads a string, regular expression or here-document, if one starts
// here.
func (l *lexer) quotelike(c byte) bool {
	switch c {
	case '"', '\'':
		if c == '\'' && (l.lang == langApple || l.lang == langAwk) {
			return false
		}
		l.quoted(c, l.i)
		return true
	case '`':
		l.backquote()
		return true
	case '/':
		if (l.lang == langJS || l.lang == langPerl || l.lang == langRuby || l.lang == langAwk) && l.operand() {
			l.regexp()
			return true
		}
	case '<':
		return l.heredocStart()
	case '%':
		if l.lang == langRuby && l.operand() {
			return l.percent()
		}
	}
	switch {
	case !isNameStart(c) || l.i > 0 && isNameByte(l.s[l.i-1]):
		return false
	case l.lang == langPython:
		return l.prefixed()
	case l.lang == langPerl:
		return l.qOperator()
	}
	return false
}

func unescapeSingle(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(s)
}

// unescape decodes the escapes that the languages share.
func (l *lexer) unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case '\n':
		case 'x', 'u', 'U':
			if i+1 < len(s) && s[i+1] == '{' {
				if j := strings.IndexByte(s[i:], '}'); j > 0 {
					v, _ := digits(s[i+2:i+j], 16, 6)
					b.WriteRune(rune(v))
					i += j
					continue
				}
			}
			n := 2
			if c == 'u' {
				n = 4
			} else if c == 'U' {
				n = 8
			}
			v, d := digits(s[i+1:], 16, n)
			i += d
			b.WriteRune(rune(v))
		case 'a', 'b', 'e', 'f', 'n', 'r', 't', 'v', '0', '1', '2', '3', '4', '5', '6', '7':
			n := 1
			if c >= '0' && c <= '7' {
				_, n = digits(s[i:], 8, 3)
			}
			b.WriteString(ansiC("\\"+s[i:i+n], false))
			i += n - 1
		default:
			if l.lang == langPython && strings.IndexByte(`\'"`, c) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// interpolated reads a string with code in it.
func (l *lexer) interpolated(s string, raw bool) Word {
	w := Word{}
	start := 0
	text := func(t string) {
		if !raw {
			t = l.unescape(t)
		}
		w.Parts = append(w.Parts, l.word(t).Parts...)
	}
	hole := func(i, j int, code string) {
		text(s[start:i])
		start = j
		w.Parts = append(w.Parts, Part{Kind: Variable, Name: strings.TrimSpace(code)})
		l.inner = append(l.inner, code)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		next := byte(0)
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch {
		case c == '\\' && !raw:
			i++
		case c == '{' && l.lang == langPython:
			if next == '{' {
				i++
				continue
			}
			j := skipBraces(s, i)
			hole(i, j, strings.TrimSuffix(s[i+1:j], "}"))
			i = j - 1
		case next == '{' && (c == '#' && l.lang == langRuby || c == '$' && (l.lang == langJS || l.lang == langPHP)):
			j := skipBraces(s, i+1)
			hole(i, j, strings.TrimSuffix(s[min(i+2, j):j], "}"))
			i = j - 1
		case (c == '$' || c == '@') && l.lang == langPerl || c == '$' && l.lang == langPHP || c == '{' && next == '$' && l.lang == langPHP:
			j := l.variableEnd(s, i)
			if j > i {
				hole(i, j, s[i:j])
				i = j - 1
			}
		}
	}
	text(s[start:])
	w.Parts = slicesTrim(merge(w.Parts))
	return w
}

// slicesTrim drops empty literals.
func slicesTrim(ps []Part) []Part {
	out := ps[:0]
	for _, p := range ps {
		if p.Kind != Literal || p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// variableEnd returns the end of the $name, ${...} or @name at i; i when there
// is none.
func (l *lexer) variableEnd(s string, i int) int {
	if s[i] == '{' {
		return skipBraces(s, i)
	}
	j := i + 1
	if j >= len(s) {
		return i
	}
	switch c := s[j]; {
	case c == '{':
		return skipBraces(s, j)
	case isNameByte(c), s[i] == '$' && l.lang == langPerl && strings.IndexByte("_&$!@", c) >= 0:
	default:
		return i
	}
	for j++; j < len(s) && isNameByte(s[j]); j++ {
	}
	for j < len(s) && (s[j] == '[' || s[j] == '{') && l.lang == langPerl {
		k := strings.IndexAny(s[j:], "]}")
		if k < 0 {
			break
		}
		j += k + 1
	}
	return j
}
