// Package mask hides the secrets in commands before they are shown or kept.
//
// It guesses, for display and journals only: answers are bound to hashes of the
// real command. A mask never swallows what could be a command: a value with a
// line break, a command substitution, or a separator and a space stays as it is,
// and so do variables ($TOKEN) and paths. Time is linear, nothing is compiled or
// prepared when the program starts.
//
// What is known comes from four places: names that say what they hold (names.go),
// how programs take secrets, as options, operands or standard input (tools.go),
// the shapes of tokens (tokens.go, and table.go from a kept rule set), and how
// headers and URLs are written.
package mask

import (
	"slices"
	"strings"
)

const stars = "***"

// Text returns the shell text s with the secrets in it replaced by ***.
func Text(s string) string {
	if len(s) < 2 {
		return s
	}
	m := masker{s: s}
	m.scan()
	m.commands()
	return m.result()
}

// Argv does the same for an argument list, where it is known what is one
// value. The list given is not changed.
func Argv(argv []string) []string {
	out := make([]string, len(argv))
	words := make([]word, len(argv))
	for i, a := range argv {
		words[i] = word{val: a}
	}
	hits := map[int]bool{}
	c := command{words: words}
	c.judge(func(i, from, to int) {
		if v := argv[i][from:to]; !hits[i] && v != "" && v[0] != '$' && !hidesCommand(v) {
			out[i], hits[i] = Text(argv[i][:from])+stars+argv[i][to:], true
		}
	})
	next := wantNothing
	for i, a := range argv {
		w := next
		next = wantNothing
		if hits[i] {
			continue
		}
		if w != wantNothing && !strings.HasPrefix(a, "-") && maskable(a, w) && !hidesCommand(a) {
			out[i] = stars
			continue
		}
		if strings.HasPrefix(a, "-") && strings.IndexByte(a, '=') < 0 {
			next = flagWants(a)
		}
		if eq := strings.IndexByte(a, '='); eq > 0 && runEnd(a, leadingDashes(a)) == eq {
			if w := optionWants(a[:eq]); w != wantNothing && maskable(a[eq+1:], w) && !hidesCommand(a[eq+1:]) {
				out[i] = a[:eq+1] + stars
				continue
			}
		}
		out[i] = Text(a)
	}
	return out
}

// optionWants is for an option or a variable.
func optionWants(name string) want {
	if strings.HasPrefix(name, "--") {
		return flagWants(name)
	}
	return nameWants(name)
}

type span struct{ from, to int }

// masker collects what is to be hidden in a text: a scan over its characters,
// whatever it is, and a reading of its commands.
type masker struct {
	s     string
	spans []span
	seen  int // s[:seen] was judged; do not look for secrets in it again

	quote byte // ' or " while inside such a quote, else 0
	field want // what "value" is, after {"name": "DB_PASSWORD"
	next  want // what the next word is, after an option like --token
	after int  // where that option ends
	url   int  // a URL reaches to here
	plain span // the last value without quotes
}

// result is the text without what was found.
func (m *masker) result() string {
	if len(m.spans) == 0 {
		return m.s
	}
	slices.SortFunc(m.spans, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	copied := 0
	for i := 0; i < len(m.spans); i++ {
		sp := m.spans[i]
		for i+1 < len(m.spans) && m.spans[i+1].from < sp.to {
			i++
			sp.to = max(sp.to, m.spans[i].to)
		}
		out.WriteString(m.s[copied:sp.from])
		out.WriteString(stars)
		copied = sp.to
	}
	out.WriteString(m.s[copied:])
	return out.String()
}

// replace masks s[from:to].
func (m *masker) replace(from, to int) {
	m.seen = max(m.seen, to)
	if to > from && m.s[from:to] != stars {
		m.spans = append(m.spans, span{from, to})
	}
}

func (m *masker) scan() {
	s := m.s
	if strings.Contains(s, "pgpass") {
		m.pgpass()
	}
	for i := 0; i < len(s); {
		c := s[i]
		if i >= m.seen {
			switch w := m.next; {
			case w == wantNothing, i < m.after, c == ' ', c == '\t', strings.HasPrefix(s[i:], "\\\n"):
			default:
				m.next = wantNothing
				if c != '-' && !isSeparator(c) {
					from, to, end := m.value(i)
					m.mask(from, to, end, w)
				}
			}
			if i >= m.seen {
				switch {
				case c == '-' && wordStart(s, i):
					m.flag(i)
				case c == ':' && strings.HasPrefix(s[i:], "://"):
					m.authority(i + 3)
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

// step moves over one character and keeps track of quotes.
func (m *masker) step(i int) int {
	switch c := m.s[i]; {
	case c == '\\' && m.quote != '\'':
		return i + 2
	case c == m.quote:
		m.quote = 0
	case m.quote != 0:
	case c == '\'' || c == '"':
		m.quote = c
	}
	return i + 1
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

// flag judges the option that starts at i: by its name alone.
func (m *masker) flag(i int) {
	j := i
	for j < len(m.s) && !isSpace(m.s[j]) && !isSeparator(m.s[j]) && m.s[j] != '\'' && m.s[j] != '"' && m.s[j] != '=' {
		j++
	}
	if j < len(m.s) && !isSpace(m.s[j]) && !isSeparator(m.s[j]) {
		return // an assignment, which run sees, or a quote
	}
	m.next, m.after = flagWants(m.s[i:j]), j
}

// run judges the maximal run of letters, digits, _ and - in s[i:j].
func (m *masker) run(i, j int) {
	s := m.s
	if j-i >= shortestToken || j < len(s) && strings.IndexByte(".:~/=", s[j]) >= 0 {
		if shown, end := tokenAt(s[i:]); end > 0 {
			m.replace(i+shown, i+end)
			return
		}
	}
	if end := jwtEnd(s, i, j); end > 0 {
		m.replace(i+3, end)
		return
	}
	k := j
	if i >= m.url && k < len(s) && (s[k] == ':' || s[k] == '"' || s[k] == '\'' || s[k] == '\\') && isSecretHeader(s[i:j]) {
		if v := assigned(s, j); v > 0 {
			m.header(i, v, true)
			return
		}
		if s[k] == ':' {
			m.header(i, k+1, false)
			return
		}
	}
	v := assigned(s, j)
	if (v == 0 || strings.HasPrefix(s[j:], "=(")) && j < len(s) && m.words(i, j) {
		return
	}
	if v == 0 && m.quote == 0 && !strings.HasPrefix(s[skipBlanks(s, j):], "=") && (j >= len(s) || s[j] != ':') {
		return
	}
	var w want
	if i < m.url && j < len(s) && s[j] == '=' {
		w = urlWants(s[i:j])
	} else if strings.HasSuffix(s[:i], "--") {
		w = flagWants("--" + s[i:j])
	} else {
		w = nameWants(s[i:j])
	}
	switch field := m.field; {
	case v > 0 && field != wantNothing && strings.HasSuffix(strings.ToLower(s[i:j]), "value"):
		w, m.field = field, wantNothing
	case v > 0 && (strings.HasSuffix(s[i:j], "name") || strings.HasSuffix(s[i:j], "Name") || strings.EqualFold(s[i:j], "key") || strings.EqualFold(s[i:j], "parameterkey")):
		at := v + len(s[v:]) - len(strings.TrimLeft(s[v:], `\"'`))
		if end := runEnd(s, at); end > at && i >= m.url {
			if m.field = nameWants(s[at:end]); m.field != wantNothing {
				return
			}
		}
	}
	switch {
	case v > 0 && w != wantNothing:
		from, to, end := m.value(v)
		if i < m.url {
			if n := strings.IndexAny(s[from:to], "&#"); n >= 0 {
				to, end = from+n, from+n
			}
		}
		m.mask(from, to, end, w)
	case v > 0:
		if from, to, end := m.value(v); namedValue(s[i:j], s[from:to]) {
			m.mask(from, to, end, wantPassword)
		}
	case w != wantNothing && i >= m.url:
		m.prose(i, j, w)
	}
}

// pgpass masks the last field of host:port:database:user:password.
func (m *masker) pgpass() {
	from := 0
	for line := range strings.FieldsFuncSeq(m.s, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"", r) }) {
		at := from + strings.Index(m.s[from:], line)
		from = at + len(line)
		if f := strings.SplitN(line, ":", 5); len(f) == 5 && (f[1] == "*" || digits(f[1], 0) == len(f[1])) && maskable(f[4], wantPassword) {
			m.spans = append(m.spans, span{from - len(f[4]), from})
		}
	}
}

// words judges the word s[i:j] by what follows it without a sign between them,
// in languages of their own.
func (m *masker) words(i, j int) bool {
	s := m.s
	k := skipBlanks(s, j)
	if k >= len(s) {
		return false
	}
	switch w := s[i:j]; {
	case strings.EqualFold(w, "identified"):
		m.identified(j)
	case strings.EqualFold(w, "bearer") && k > j:
		if from, to, end := m.value(k); to-from >= 10 && looksRandom(s[from:to]) {
			m.mask(from, to, end, wantPassword)
		}
	case w == "machine" && k > j: // of ~/.netrc
		line := s[j:min(len(s), j+300)]
		if f := strings.Fields(line); len(f) > 4 && f[1] == "login" && f[3] == "password" {
			k = max(strings.Index(line, " password"), strings.Index(line, "\npassword")) + len(" password")
			k += len(line[k:]) - len(strings.TrimLeft(line[k:], " \t\n"))
			from, to, end := m.value(j + k)
			m.mask(from, to, end, wantPassword)
		}
	case strings.HasPrefix(s[j:], "=('") && w == "auth", strings.HasPrefix(s[j:], "('") && strings.HasSuffix(w, "Auth"): // of Python
		_, _, end := m.value(j + strings.IndexByte(s[j:], '\''))
		for end < len(s) && (s[end] == ',' || s[end] == '\'' || s[end] == '"') {
			end++
		}
		if end > j+2 {
			from, to, end := m.value(skipBlanks(s, end))
			m.mask(from, to, end, wantPassword)
		}
	case (w == "set_password" || w == "setPassword") && s[j] == '(':
		from, to, end := m.value(j + 1)
		m.mask(from, to, end, wantPassword)
	default:
		return false
	}
	return true
}

// prose judges what follows a name without = : a field of YAML on a line of its
// own, or a password in SQL.
func (m *masker) prose(i, j int, w want) {
	s := m.s
	k := skipBlanks(s, j)
	switch {
	case k >= len(s) || w == wantRandom:
	case s[j] == ':' && k == j || s[k] == '=' && k > j && m.quote == 0:
		start := i
		for start > 0 && (s[start-1] == ' ' || s[start-1] == '\t' || s[start-1] == '-') {
			start--
		}
		from := skipBlanks(s, k+1)
		if start == 0 || s[start-1] != '\n' || from == k+1 {
			return
		}
		to := from
		for to < len(s) && !isSpace(s[to]) && s[to] != '"' && s[to] != '\'' && s[to] != '`' && s[to] != '\\' {
			to++
		}
		if (to == len(s) || s[to] == '\n' || s[to] == '\r') && maskable(s[from:to], w) && !hidesCommand(s[from:to]) {
			m.replace(from, to)
		}
	case m.quote != 0 && k > j && strings.EqualFold(s[i:j], "password") && (s[k] == '\'' || s[k] == '"' || s[k] == '\\'):
		from, to, end := m.value(k)
		if to > from && from > k {
			m.mask(from, to, end, w)
		}
	}
}

// identified masks what follows IDENTIFIED BY in SQL.
func (m *masker) identified(j int) {
	s := m.s
	k := skipBlanks(s, j)
	if len(s)-k > 4 && strings.EqualFold(s[k:k+2], "by") {
		k = skipBlanks(s, k+2)
		if from, to, end := m.value(k); from > k {
			m.mask(from, to, end, wantPassword)
		}
	}
}

// header judges the value of the header field whose name begins at i: as a value
// in quotes of its own, or up to the end of the quote that the field is in.
func (m *masker) header(i, k int, literal bool) {
	s := m.s
	k = skipBlanks(s, k)
	for m.quote == 0 && strings.HasPrefix(s[k:], `\ `) {
		k += 2
	}
	from, to, end := m.value(k)
	if !literal && from == k && m.quote != 0 {
		for to = k; to < len(s) && s[to] != m.quote && s[to] != '\n' && s[to] != '\r' && s[to] != '`' && s[to] != '\\'; to++ {
			if strings.HasPrefix(s[to:], "$(") {
				break
			}
		}
		end = to
	}
	if lower(s[i]) == 'c' || lower(s[i]) == 's' && len(s) > i+10 && strings.EqualFold(s[i:i+10], "set-cookie") {
		if n := strings.IndexByte(s[i:k], ':'); n > 0 && strings.HasSuffix(strings.ToLower(s[i:i+n]), "cookie") {
			m.pairs(from, to)
			return
		}
	}
	for to > from && isSpace(s[to-1]) {
		to--
	}
	scheme := from
	for scheme < to && !isSpace(s[scheme]) && s[scheme] != '\\' {
		scheme++
	}
	rest := scheme
	for rest < to && (isSpace(s[rest]) || s[rest] == '\\') {
		rest++
	}
	switch {
	case isScheme(s[from:scheme]) && scheme == to && m.quote == 0 && !literal:
		if k = skipBlanks(s, to); k > to { // without quotes around it: the next word
			from, to, end = m.value(k)
			m.mask(from, to, end, wantPassword)
		}
	case isScheme(s[from:scheme]):
		m.secretOrWords(rest, to, end)
	case scheme == to:
		m.mask(from, to, end, wantPassword)
	case !strings.ContainsAny(s[rest:to], " \t") && looksRandom(s[rest:to]):
		m.mask(rest, to, end, wantPassword)
	case looksRandom(s[from:scheme]):
		m.mask(from, scheme, scheme, wantPassword)
	}
}

// secretOrWords masks s[from:to], or its first word where it could hold a command.
func (m *masker) secretOrWords(from, to, end int) {
	if !hidesCommand(m.s[from:to]) {
		m.mask(from, to, end, wantPassword)
		return
	}
	for to = from; to < len(m.s) && !isSpace(m.s[to]) && !isSeparator(m.s[to]); to++ {
	}
	m.mask(from, to, to, wantPassword)
}

// pairs masks the values of the name=value pairs in s[from:to].
func (m *masker) pairs(from, to int) {
	for k := from; k < to; {
		end := k
		for end < to && m.s[end] != ';' {
			end++
		}
		if eq := strings.IndexByte(m.s[k:end], '='); eq >= 0 {
			m.mask(k+eq+1, end, end, wantPassword)
		} else if k == from && end == to {
			m.mask(k, end, end, wantPassword)
		}
		k = end + 1
	}
	m.seen = max(m.seen, to)
}

// authority judges the URL whose authority starts at k: user:password@host, the
// secret paths of chat hooks, and parameters (as run meets them).
func (m *masker) authority(k int) {
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
	end := j
	if k < m.url {
		end = 0 // one in a parameter of another: that goes on to its end
	}
	for end > 0 && end < len(s) && !isSpace(s[end]) && strings.IndexByte("'\"`\\<>", s[end]) < 0 && (m.quote != 0 || !isSeparator(s[end])) {
		end++
	}
	if end > 0 && m.quote == 0 && end < len(s) && s[end] == '&' {
		for end < len(s) && !isSpace(s[end]) && strings.IndexByte("'\"`\\<>;|()", s[end]) < 0 {
			end++
		}
	}
	m.url = max(m.url, end)
	switch {
	case at < 0:
	case colon >= 0 && colon < at:
		if maskable(s[colon+1:at], wantPassword) {
			m.replace(colon+1, at)
		}
	case at-k >= 20 && isDense(s[k:at]) || at-k >= 32 && hasBoth(s[k:at]) ||
		strings.HasSuffix(s[:k], "http://") && unlikeUser(s[k:at]) || strings.HasSuffix(s[:k], "https://") && unlikeUser(s[k:at]):
		shown, _ := tokenAt(s[k:at])
		m.replace(k+shown, at)
	}
	if end > 0 {
		if from, to := hookPath(s[k:end]); to > from {
			m.replace(k+from, k+to)
		}
	}
}
