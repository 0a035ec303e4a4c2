package mask

import "strings"

// word is one word of a command: its value, and where it stands in the text.
type word struct {
	val      string
	from, to int
	prints   []feed // what the commands in its quotes print
}

// command is one simple command and what is fed into it.
type command struct {
	words []word
	feeds []feed // from a pipe, a here-string, a here-document
}

// feed is data for the standard input of a command: words of echo or printf, or
// text (of a here-document) as it stands.
type feed struct {
	words []word
	text  span
}

// maxNesting bounds how deep quotes and groups are read as commands.
const maxNesting = 6

// commands reads the text as shell and masks by what is known of the programs.
func (m *masker) commands() {
	r := reader{m: m}
	r.read(0, len(m.s), 0, 0, false)
}

// reader goes over shell text once for each level of quotes.
type reader struct {
	m *masker
	// stdin is what the commands of the line at hand take from standard input,
	// for the here-documents below it.
	stdin want
}

// level is one level of quotes or brackets.
type level struct {
	r        *reader
	q        byte // the quote that it is in
	depth    int
	c        command
	producer []feed // what the commands of this pipeline so far print
	printed  []feed // what the commands of this level print
	brace    int    // printed[brace:] is of the group in braces
	pending  []span // delimiters of here-documents
}

// end ends the command at hand; piped says that the next one reads what it prints.
func (l *level) end(piped bool) {
	c := &l.c
	c.feeds = append(c.feeds, l.producer...)
	out := l.r.finish(c)
	if len(c.words) > 0 {
		switch c.words[0].val {
		case "{":
			l.brace = len(l.printed)
		case "}":
			out = append(out, l.printed[l.brace:]...)
			l.printed = l.printed[:l.brace]
		}
	}
	l.producer = nil
	switch {
	case !piped:
		l.printed = append(l.printed, out...)
	case len(out) == 0:
		l.producer = c.feeds // through a filter: base64 -d, tr -d '\n'
	default:
		l.producer = out
	}
	c.words, c.feeds = nil, nil
}

// read reads the commands in s[i:end], which stands in the quote q; with closing,
// up to a closing bracket. It returns where it stopped and what they print.
func (r *reader) read(i, end int, q byte, depth int, closing bool) (at int, printed []feed) {
	s := r.m.s
	l := level{r: r, q: q, depth: depth}
	for i < end {
		switch b := s[i]; {
		case b == ' ' || b == '\t' || b == '\r':
			i++
		case b == '\\' && i+1 < end && s[i+1] == '\n':
			i += 2
		case b == '\n':
			i++
			if len(l.c.words) == 0 && len(l.pending) == 0 {
				continue // perhaps behind a |
			}
			l.end(false)
			i = r.documents(i, end, l.pending)
			l.pending, r.stdin = nil, wantNothing
		case b == '|':
			i++
			piped := i >= end || s[i] != '|'
			if i < end && (s[i] == '|' || s[i] == '&') {
				i++
			}
			l.end(piped)
		case b == ')' && closing:
			l.end(false)
			return i, l.printed
		case b == ';' || b == '&' || b == '`' || b == ')':
			i++
			l.end(false)
		case b == '(':
			i = l.bracket(i+1, end)
		case b == '<' || b == '>':
			i = l.redirection(i, end)
		default:
			w, next := r.word(i, end, q, depth)
			if w.prints != nil {
				name, _, ok := strings.Cut(w.val, "=")
				if !ok && len(l.c.words) > 0 {
					name = l.c.words[len(l.c.words)-1].val
				}
				r.print(name, w.prints)
			}
			l.c.words = append(l.c.words, w)
			i = max(next, i+1)
		}
	}
	l.end(false)
	return i, l.printed
}

// bracket reads what stands in brackets from i on.
func (l *level) bracket(i, end int) int {
	if l.depth >= maxNesting {
		l.end(false)
		return i
	}
	i, inner := l.r.read(i, end, l.q, l.depth+1, true)
	c := &l.c
	switch {
	case len(c.words) == 0: // a group: what it prints goes on
		c.words = append(c.words, word{val: "("})
		c.feeds = append(c.feeds, inner...)
		l.printed = append(l.printed, inner...)
	case c.words[len(c.words)-1].val == "<": // <(...)
		c.feeds = append(c.feeds, inner...)
		if n := len(c.words); n > 1 {
			l.r.print(c.words[n-2].val, inner)
		}
	}
	return i + 1
}

// print masks what is printed to where the option or the variable name takes a secret from.
func (r *reader) print(name string, printed []feed) {
	if printsSecret(name) {
		for _, f := range printed {
			r.m.fed(f, wantPassword)
		}
	}
}

// redirection reads the one at i.
func (l *level) redirection(i, end int) int {
	s := l.r.m.s
	switch {
	case strings.HasPrefix(s[i:end], "<<<"):
		w, next := l.r.word(skipBlanks(s[:end], i+3), end, l.q, l.depth)
		l.c.feeds = append(l.c.feeds, feed{words: []word{w}})
		return max(next, i+3)
	case strings.HasPrefix(s[i:end], "<<"):
		k := i + 2
		if k < end && s[k] == '-' {
			k++
		}
		w, next := l.r.word(skipBlanks(s[:end], k), end, l.q, l.depth)
		if w.val != "" {
			l.pending = append(l.pending, span{w.from, w.to})
		}
		return max(next, k)
	}
	from := s[i]
	i++
	if i < end && s[i] == '(' {
		l.c.words = append(l.c.words, word{val: string(from), from: i, to: i})
		return i
	}
	for i < end && (s[i] == '>' || s[i] == '&' || s[i] == '|') {
		i++
	}
	if k := skipBlanks(s[:end], i); k < end && s[k] != '<' {
		_, next := l.r.word(k, end, l.q, l.depth)
		i = max(next, i)
	}
	return i
}

// documents takes the here-documents that begin at i.
func (r *reader) documents(i, end int, pending []span) int {
	s := r.m.s
	for _, d := range pending {
		name := strings.Trim(s[d.from:d.to], `'"\`)
		start := i
		for i < end {
			line := i
			for i < end && s[i] != '\n' {
				i++
			}
			text := strings.TrimLeft(s[line:i], "\t")
			if i < end {
				i++
			}
			if text == name {
				if r.stdin != wantNothing {
					r.m.fed(feed{text: span{start, line}}, r.stdin)
				}
				break
			}
		}
	}
	return i
}

// word reads the word at i. Quotes in it that hold a blank are read as commands
// as well.
func (r *reader) word(i, end int, q byte, depth int) (word, int) {
	s := r.m.s
	w := word{from: i}
	plain := true
	var b []byte
	j := i
loop:
	for j < end {
		ch := s[j]
		var quote byte
		var open int
		switch {
		case ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r' || ch == ';' || ch == '|' || ch == '&' || ch == '(' || ch == ')' || ch == '<' || ch == '>' || ch == '`':
			break loop
		case ch == '\\' && j+1 < end && (s[j+1] == '"' || s[j+1] == '\'') && q != 0:
			quote, open = s[j+1], j+2
		case ch == '\\' && j+1 < end:
			if plain {
				plain = false
				b = append(b, s[i:j]...)
			}
			b = append(b, s[j+1])
			j += 2
			continue
		case ch == '\'' || ch == '"':
			quote, open = ch, j+1
		default:
			if !plain {
				b = append(b, ch)
			}
			j++
			continue
		}
		if plain {
			plain = false
			b = append(b, s[i:j]...)
		}
		k := open
		for k < end && s[k] != quote {
			if s[k] == '\\' && quote == '"' && k+1 < end && open == j+1 {
				k++
			}
			if s[k] == '\\' && open == j+2 {
				break
			}
			k++
		}
		k = min(k, end)
		b = append(b, s[open:k]...)
		if depth < maxNesting && strings.IndexByte(s[open:k], ' ') >= 0 {
			_, w.prints = r.read(open, k, quote, depth+1, false)
		}
		j = k
		if j < end && s[j] == '\\' {
			j++
		}
		if j < end {
			j++
		}
	}
	w.to = j
	if w.val = s[i:j]; !plain {
		w.val = string(b)
	}
	return w, j
}

// finish judges a command and masks its secrets; it returns what it prints.
func (r *reader) finish(c *command) []feed {
	if len(c.words) == 0 {
		return nil
	}
	m := r.m
	if stdin := c.judge(func(i, from, to int) { m.inWord(c.words[i], from, to) }); stdin != wantNothing {
		r.stdin = stdin
		for _, f := range c.feeds {
			m.fed(f, stdin)
		}
	}
	return printedBy(c.words)
}

// printedBy is what echo and printf print.
func printedBy(words []word) []feed {
	at := position(words)
	if at >= len(words) {
		return nil
	}
	args := words[at+1:]
	switch baseName(words[at].val) {
	case "echo", "print", "yes":
		for len(args) > 0 && len(args[0].val) > 1 && args[0].val[0] == '-' {
			args = args[1:]
		}
	case "printf":
		if len(args) > 1 && strings.IndexByte(args[0].val, '%') >= 0 {
			args = args[1:]
		}
	default:
		return nil
	}
	if len(args) == 0 {
		return nil
	}
	return []feed{{words: args}}
}

// fed masks what a command reads as a secret.
func (m *masker) fed(f feed, w want) {
	for _, wd := range f.words {
		from := 0
		if w == wantUserPass {
			from = strings.IndexByte(wd.val, ':') + 1
		}
		to := len(wd.val)
		for strings.HasSuffix(wd.val[from:to], `\n`) {
			to -= 2
		}
		for part := range strings.SplitSeq(wd.val[from:to], "\n") {
			m.inWord(wd, from, from+len(part))
			from += len(part) + 1
		}
	}
	for from := f.text.from; from < f.text.to; {
		to := from
		for to < f.text.to && m.s[to] != '\n' {
			to++
		}
		k := from
		if w == wantUserPass {
			k += strings.IndexByte(m.s[from:to], ':') + 1
		}
		if v := m.s[k:to]; maskable(v, wantPassword) && !hidesCommand(v) {
			m.replace(k, to)
		}
		from = to + 1
	}
}

// inWord masks val[from:to] of a word: each stretch of it that has no quote in it.
func (m *masker) inWord(w word, from, to int) {
	if to > len(w.val) || from >= to || w.val[from] == '$' && m.s[w.from] != '\'' || hidesCommand(w.val[from:to]) {
		return
	}
	s, n, start := m.s, 0, -1
	flush := func(end int) {
		if start >= 0 && end > start && m.s[start:end] != stars {
			m.replace(start, end)
		}
		start = -1
	}
	for i := w.from; i < w.to; i++ {
		if n >= to {
			flush(i)
			return
		}
		if n < len(w.val) && s[i] == w.val[n] && s[i] != '\\' {
			if n >= from && start < 0 {
				start = i
			}
			n++
			continue
		}
		if s[i] == '\\' && i+1 < w.to && n < len(w.val) && s[i+1] == w.val[n] && s[i+1] != '"' && s[i+1] != '\'' {
			continue // the next byte is the value's
		}
		if n < len(w.val) && s[i] == w.val[n] { // a backslash of the value's own
			if n >= from && start < 0 {
				start = i
			}
			n++
			continue
		}
		flush(i)
	}
	flush(w.to)
}
