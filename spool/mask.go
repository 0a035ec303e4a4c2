package spool

import (
	"path/filepath"
	"strings"
)

const stars = "***"

// Mask returns the shell text s with the secrets in it replaced by ***: known
// token shapes, Authorization headers, passwords in URLs, values of options
// and variables whose names say that they are secret, private key blocks.
//
// It guesses, for display and journals only; answers are bound to hashes of
// the real command. A mask never swallows what could be a command: a value
// with a line break, a command substitution, or a separator and a space stays
// as it is, and so do variables ($TOKEN) and paths. Time is linear.
func Mask(s string) string {
	m := masker{s: s}
	m.scan()
	if m.out.Len() == 0 {
		return s
	}
	m.out.WriteString(s[m.copied:])
	return m.out.String()
}

// MaskArgv does the same for an argument list, where it is known what is one
// value. The list given is not changed.
func MaskArgv(argv []string) []string {
	out := make([]string, len(argv))
	var t tool
	var next want
	for i, a := range argv {
		w := next
		next = wantNothing
		if w != wantNothing && w != wantAttached && !strings.HasPrefix(a, "-") {
			out[i] = maskWhole(a, w)
			continue
		}
		t |= toolNamed(filepath.Base(a))
		if strings.HasPrefix(a, "-") {
			var n int
			n, w, next = flagWants(a, t)
			if w != wantNothing {
				out[i] = a[:n] + maskWhole(a[n:], w)
				continue
			}
		}
		if eq := strings.IndexByte(a, '='); eq > 0 && runEnd(a, leadingDashes(a)) == eq {
			if w := nameWants(a[:eq]); w != wantNothing && maskable(a[eq+1:], w) && !hidesCommand(a[eq+1:]) {
				out[i] = a[:eq+1] + stars
				continue
			}
		}
		out[i] = Mask(a)
	}
	return out
}

// maskWhole masks an argument that is a secret (or user:secret) as a whole.
func maskWhole(a string, w want) string {
	from := 0
	if w == wantUserPass {
		from = strings.IndexByte(a, ':') + 1
		if from == 0 {
			return Mask(a)
		}
	}
	if !maskable(a[from:], w) || hidesCommand(a[from:]) {
		return Mask(a)
	}
	return a[:from] + stars
}

// masker scans text once, from left to right.
type masker struct {
	s      string
	out    strings.Builder
	copied int // s[:copied] is in out
	seen   int // s[:seen] was judged; do not look for secrets in it again

	quote byte // ' or " while inside such a quote, else 0
	tool  tool // programs named since the last command separator
	next  want // what the next word is, after an option like --token
	after int  // where that option ends
}

// replace masks s[from:to].
func (m *masker) replace(from, to int) {
	m.seen = max(m.seen, to)
	if from < m.copied || to <= from {
		return
	}
	m.out.WriteString(m.s[m.copied:from])
	m.out.WriteString(stars)
	m.copied = to
}

func (m *masker) scan() {
	s := m.s
	for i := 0; i < len(s); {
		c := s[i]
		if i >= m.seen {
			switch w := m.next; {
			case w == wantNothing, i < m.after, c == ' ', c == '\t', strings.HasPrefix(s[i:], "\\\n"):
			default:
				m.next = wantNothing
				if c != '-' && !isSeparator(c) {
					m.word(i, w)
				}
			}
			if i >= m.seen {
				switch {
				case c == '-' && wordStart(s, i):
					m.flag(i)
				case c == ':' && strings.HasPrefix(s[i:], "://"):
					m.url(i + 3)
				}
			}
			if i >= m.seen && isRun(c) && c != '-' {
				j := runEnd(s, i)
				m.run(i, j)
				i = j
				continue
			}
			if i >= m.seen && strings.HasPrefix(s[i:], pemBegin) {
				m.pem(i)
			}
		}
		i = m.step(i)
	}
}

// step moves over one character and keeps track of quotes and commands.
func (m *masker) step(i int) int {
	switch c := m.s[i]; {
	case c == '\\' && m.quote != '\'':
		return i + 2
	case c == m.quote:
		m.quote = 0
	case m.quote != 0:
	case c == '\'' || c == '"':
		m.quote = c
	case isSeparator(c):
		m.tool = 0
	}
	return i + 1
}

// word judges the word at i, which an option announced.
func (m *masker) word(i int, w want) {
	from, to, end := m.value(i)
	if w == wantUserPass {
		colon := strings.IndexByte(m.s[from:to], ':')
		if colon < 0 || strings.HasPrefix(m.s[from+colon:to], "://") {
			return
		}
		from += colon + 1
	}
	m.mask(from, to, end, w)
}

// mask replaces the value s[from:to] if it is one that may go; end is where
// its closing quote ends.
func (m *masker) mask(from, to, end int, w want) {
	v := m.s[from:to]
	switch {
	case hidesCommand(v):
		return // look for secrets inside instead
	case maskable(v, w):
		m.replace(from, to)
		m.rest(end)
	case w == wantSecret && isPath(v):
		m.seen = max(m.seen, to)
	}
}

// rest masks what is glued to a masked value: a'b'"c" is one word.
func (m *masker) rest(k int) {
	for m.quote == 0 && k < len(m.s) && !isSpace(m.s[k]) && !isSeparator(m.s[k]) {
		from, to, end := m.value(k)
		if v := m.s[from:to]; end <= k || !maskable(v, wantPassword) || hidesCommand(v) {
			return
		}
		m.replace(from, to)
		k = end
	}
}

// flag judges the option that starts at i.
func (m *masker) flag(i int) {
	j := i
	for j < len(m.s) && !isSpace(m.s[j]) && !isSeparator(m.s[j]) && m.s[j] != '\'' && m.s[j] != '"' && m.s[j] != '=' {
		j++
	}
	attached := j < len(m.s) && !isSpace(m.s[j]) && !isSeparator(m.s[j])
	n, w, next := flagWants(m.s[i:j], m.tool)
	switch {
	case w == wantUserPass && attached && m.s[j] == '=':
		m.word(j+1, w)
	case w != wantNothing:
		m.word(i+n, w)
	case next == wantUserPass && attached && m.s[j] == '=':
		m.word(j+1, next)
	case next != wantNothing && next != wantAttached && attached && m.s[j] == '=':
		// an assignment: run sees it
	case next == wantAttached && attached:
		m.word(j, wantPassword)
	case next != wantNothing && attached:
		m.word(j, next) // -u'user:secret'
	case next != wantAttached:
		m.next, m.after = next, j
	}
}

// run judges the maximal run of letters, digits, _ and - in s[i:j].
func (m *masker) run(i, j int) {
	s := m.s
	if n := tokenPrefix(s[i:j]); n > 0 {
		m.replace(i+n, j)
		return
	}
	if end := jwtEnd(s, i, j); end > 0 {
		m.replace(i+3, end)
		return
	}
	if j < len(s) && s[j] == ':' && isSecretHeader(s[i:j]) {
		m.header(j + 1)
		return
	}
	if wordEnd(s, j) && (wordStart(s, i) || s[i-1] == '/') {
		m.tool |= toolNamed(s[i:j])
	}
	if w := nameWants(s[i:j]); w != wantNothing {
		if k := assigned(s, j); k > 0 {
			from, to, end := m.value(k)
			m.mask(from, to, end, w)
		}
	}
}

// header judges what follows "Authorization:": an optional scheme and a token.
func (m *masker) header(k int) {
	k = skipBlanks(m.s, k)
	from, to, end := m.value(k)
	if isScheme(m.s[from:to]) {
		if k = skipBlanks(m.s, to); k > to {
			from, to, end = m.value(k)
		}
	}
	m.mask(from, to, end, wantPassword)
}

// url judges the authority that starts at k: user:password@host.
func (m *masker) url(k int) {
	s := m.s
	at, colon := -1, -1
	j := k
loop:
	for ; j < len(s); j++ {
		switch c := s[j]; {
		case c == '/' || c == '?' || c == '#' || c == '\'' || c == '"' || c == '`' || c == '\\' || isSpace(c):
			break loop
		case m.quote == 0 && isSeparator(c):
			break loop
		case c == '@':
			at = j
		case c == ':' && colon < 0:
			colon = j
		}
	}
	switch {
	case at < 0:
	case colon >= 0 && colon < at:
		if maskable(s[colon+1:at], wantPassword) {
			m.replace(colon+1, at)
		}
	case at-k >= 20 && isDense(s[k:at]):
		m.replace(k+tokenPrefix(s[k:at]), at)
	}
}

const pemBegin = "-----BEGIN "

// pem masks the body of a private key block: base64 words only, so that no
// command can hide in a block that does not end.
func (m *masker) pem(i int) {
	s := m.s
	head := s[i:min(len(s), i+64)]
	n := strings.Index(head, "PRIVATE KEY-----")
	if n < 0 {
		return
	}
	k := i + n + len("PRIVATE KEY-----")
	from, to, headers := -1, -1, 0
	for {
		k = skipPEMSpace(s, k)
		j := k
		for j < len(s) && isBase64(s[j]) {
			j++
		}
		if from < 0 && j > k && headers < 4 { // Proc-Type: 4,ENCRYPTED
			if h := pemHeaderEnd(s, j); h > j {
				k = h
				headers++
				continue
			}
		}
		if j-k < 32 && !(j > k && strings.HasPrefix(s[skipPEMSpace(s, j):], "-----END")) {
			break
		}
		if from < 0 {
			from = k
		}
		to, k = j, j
	}
	if from >= 0 {
		m.replace(from, to)
	}
}
