package script

import "strings"

// prefixed reads Python's r"", f"", b"".
func (l *lexer) prefixed() bool {
	j := l.i
	for j < len(l.s) && j-l.i < 3 && strings.IndexByte("rRbBuUfF", l.s[j]) >= 0 {
		j++
	}
	if j >= len(l.s) || l.s[j] != '"' && l.s[j] != '\'' {
		return false
	}
	at := l.i
	l.i = j
	l.quoted(l.s[j], at)
	return true
}

// quoted reads '...' or "...", of Python also """...""".
func (l *lexer) quoted(q byte, at int) {
	prefix := strings.ToLower(l.s[at:l.i])
	end := string(q)
	if l.lang == langPython && strings.HasPrefix(l.s[l.i:], strings.Repeat(end, 3)) {
		end = strings.Repeat(end, 3)
	}
	body := l.until(l.i+len(end), end)
	single := q == '\'' && (l.lang == langPerl || l.lang == langRuby || l.lang == langPHP)
	var w Word
	switch {
	case strings.Contains(prefix, "f"):
		w = l.interpolated(body, strings.Contains(prefix, "r"))
	case strings.Contains(prefix, "r"):
		w = l.word(body)
	case single:
		w = l.word(unescapeSingle(body))
	case q == '"' && (l.lang == langRuby || l.lang == langPerl || l.lang == langPHP):
		w = l.interpolated(body, false)
	default:
		w = l.word(l.unescape(body))
	}
	l.push(token{kind: tString, text: l.s[at:l.i], word: w, at: at})
}

// until reads up to an unescaped end and leaves it behind.
func (l *lexer) until(from int, end string) string {
	for j := from; j < len(l.s); j++ {
		switch {
		case l.s[j] == '\\':
			j++
		case strings.HasPrefix(l.s[j:], end):
			l.i = j + len(end)
			return l.s[from:j]
		case j+1 < len(l.s) && l.s[j+1] == '{' && (l.s[j] == '$' && end == "`" && l.lang == langJS || l.s[j] == '#' && l.lang == langRuby):
			j = skipBraces(l.s, j+1) - 1
		}
	}
	l.i = len(l.s)
	return l.s[min(from, len(l.s)):]
}

// skipBraces returns the index after the brace that closes the one at i.
func skipBraces(s string, i int) int {
	level := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '"', '\'', '`':
			q := s[j]
			for j++; j < len(s) && s[j] != q; j++ {
				if s[j] == '\\' {
					j++
				}
			}
		case '{':
			level++
		case '}':
			if level--; level == 0 {
				return j + 1
			}
		}
	}
	return len(s)
}

// backquote reads `...`: a template in JavaScript, a command elsewhere.
func (l *lexer) backquote() {
	at := l.i
	body := l.until(l.i+1, "`")
	kind := tString
	switch l.lang {
	case langPerl, langRuby, langPHP:
		kind = tCommand
	}
	l.push(token{kind: kind, text: l.s[at:l.i], word: l.interpolated(body, false), at: at})
}

// regexp skips /.../flags.
func (l *lexer) regexp() {
	at := l.i
	for j := l.i + 1; j < len(l.s) && l.s[j] != '\n'; j++ {
		switch l.s[j] {
		case '\\':
			j++
		case '[':
			for j++; j < len(l.s) && l.s[j] != ']' && l.s[j] != '\n'; j++ {
				if l.s[j] == '\\' {
					j++
				}
			}
		case '/':
			l.i = j + 1
			for l.i < len(l.s) && isNameStart(l.s[l.i]) {
				l.i++
			}
			l.push(token{kind: tOp, text: "/re/", at: at})
			return
		}
	}
	l.i++ // a division after all
	l.push(token{kind: tOp, text: "/", at: at})
}

// closer is the delimiter that ends what c begins.
func closer(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	case '<':
		return '>'
	}
	return c
}

// delimited reads text between a delimiter and its partner; pairs nest.
func (l *lexer) delimited() string {
	open := l.s[l.i]
	end := closer(open)
	level := 0
	for j := l.i; j < len(l.s); j++ {
		switch c := l.s[j]; {
		case c == '\\':
			j++
		case c == open && open != end, j == l.i:
			level++
		case c == end:
			if level--; level <= 0 {
				body := l.s[l.i+1 : j]
				l.i = j + 1
				return body
			}
		}
	}
	body := l.s[l.i+1:]
	l.i = len(l.s)
	return body
}

// percent reads Ruby's %q(), %w[], %x{}.
func (l *lexer) percent() bool {
	j := l.i + 1
	kind := byte('Q')
	if j < len(l.s) && isNameStart(l.s[j]) {
		kind = l.s[j]
		j++
	}
	if j >= len(l.s) || strings.IndexByte("([{<|!/-", l.s[j]) < 0 || strings.IndexByte("qQwWiIxrs", kind) < 0 {
		return false
	}
	at := l.i
	l.i = j
	body := l.delimited()
	t := token{kind: tString, at: at}
	switch kind {
	case 'w', 'W', 'i', 'I':
		t.kind, t.list = tList, strings.Fields(body)
	case 'x':
		t.kind, t.word = tCommand, l.interpolated(body, false)
	case 'q', 's':
		t.word = l.word(body)
	case 'r':
		t.kind = tOp
	default:
		t.word = l.interpolated(body, false)
	}
	t.text = l.s[at:l.i]
	l.push(t)
	return true
}

// qOperator reads Perl's q, qq, qw, qx, m, s, tr, y.
func (l *lexer) qOperator() bool {
	j := l.i
	for j < len(l.s) && isNameByte(l.s[j]) {
		j++
	}
	op := l.s[l.i:j]
	switch op {
	case "q", "qq", "qw", "qx", "qr", "m", "s", "tr", "y":
	default:
		return false
	}
	if l.i > 0 && strings.IndexByte("$@%&", l.s[l.i-1]) >= 0 || l.i > 1 && l.s[l.i-2:l.i] == "->" {
		return false
	}
	k := j
	for k < len(l.s) && (l.s[k] == ' ' || l.s[k] == '\t') {
		k++
	}
	if k >= len(l.s) || isNameByte(l.s[k]) || strings.IndexByte(",;)\n=", l.s[k]) >= 0 || k > j && l.s[k] == '#' {
		return false
	}
	at := l.i
	l.i = k
	open := l.s[k]
	body := l.delimited()
	t := token{kind: tString, at: at}
	switch op {
	case "q":
		t.word = l.word(unescapeSingle(body))
	case "qq":
		t.word = l.interpolated(body, false)
	case "qw":
		t.kind, t.list = tList, strings.Fields(body)
	case "qx":
		t.kind, t.word = tCommand, l.word(body)
		if open != '\'' {
			t.word = l.interpolated(body, false)
		}
	default:
		t.kind = tOp
		l.substitution(op, open)
	}
	t.text = l.s[at:l.i]
	l.push(t)
	return true
}

// substitution reads what follows the first half of s///, and flags.
func (l *lexer) substitution(op string, open byte) {
	body := ""
	if op == "s" || op == "tr" || op == "y" {
		if closer(open) == open {
			l.i-- // the delimiter in the middle begins the second half
		} else {
			for l.i < len(l.s) && (l.s[l.i] == ' ' || l.s[l.i] == '\n') {
				l.i++
			}
		}
		if l.i < len(l.s) {
			body = l.delimited()
		}
	}
	flags := l.i
	for l.i < len(l.s) && isNameStart(l.s[l.i]) {
		l.i++
	}
	if op == "s" && strings.Contains(l.s[flags:l.i], "e") {
		l.inner = append(l.inner, body) // s///e evaluates it
	}
}

// heredocStart reads <<EOF, <<~EOF, <<<EOF, if the language has them.
func (l *lexer) heredocStart() bool {
	rest := l.s[l.i:]
	mark := "<<"
	switch l.lang {
	case langPHP:
		mark = "<<<"
	case langPerl, langRuby:
	default:
		return false
	}
	if !strings.HasPrefix(rest, mark) {
		return false
	}
	d := heredoc{}
	j := len(mark)
	for j < len(rest) && (rest[j] == '~' || rest[j] == '-' || l.lang == langPHP && rest[j] == ' ') {
		d.indent = d.indent || rest[j] != ' '
		j++
	}
	q := byte(0)
	if j < len(rest) && (rest[j] == '"' || rest[j] == '\'' || rest[j] == '`') {
		q = rest[j]
		j++
	}
	k := j
	for k < len(rest) && isNameByte(rest[k]) {
		k++
	}
	if k == j || !isNameStart(rest[j]) || q != 0 && (k >= len(rest) || rest[k] != q) {
		return false
	}
	if q == 0 && l.lang == langRuby && !d.indent && (rest[j] < 'A' || rest[j] > 'Z') {
		return false // x <<y
	}
	d.end, d.raw = rest[j:k], q == '\''
	if q != 0 {
		k++
	}
	at := l.i
	l.i += k
	d.tok = len(l.toks)
	l.docs = append(l.docs, d)
	kind := tString
	if q == '`' {
		kind = tCommand
	}
	l.push(token{kind: kind, text: l.s[at:l.i], at: at})
	return true
}

// bodies reads the here-documents that begin on this line.
func (l *lexer) bodies() {
	docs := l.docs
	l.docs = nil
	for _, d := range docs {
		var b strings.Builder
		for l.i < len(l.s) {
			line, _, _ := strings.Cut(l.s[l.i:], "\n")
			t := line
			if d.indent || l.lang == langPHP {
				t = strings.TrimLeft(t, " \t")
			}
			if t == d.end {
				l.i += len(line)
				break
			}
			if l.lang == langPHP && strings.HasPrefix(t, d.end) && !isNameByte(t[len(d.end)]) {
				l.i += len(line) - len(t) + len(d.end)
				break
			}
			l.i = min(l.i+len(line)+1, len(l.s))
			b.WriteString(line + "\n")
		}
		if d.raw {
			l.toks[d.tok].word = l.word(b.String())
		} else {
			l.toks[d.tok].word = l.interpolated(b.String(), false)
		}
	}
}
