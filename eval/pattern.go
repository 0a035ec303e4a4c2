package eval

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"
)

// patternKind says how a pattern is tested. Most regexps in rule files are a
// handful of words; those are compared as strings, and no regexp is compiled.
type patternKind uint8

const (
	patNone     patternKind = iota // no pattern: everything passes
	patExact                       // the text is one of the words
	patPrefix                      // the text begins with one of the words
	patSuffix                      // the text ends with one of the words
	patContains                    // the text holds one of the words
	patRegexp
)

// pattern is a regular expression (Go syntax, unanchored) of a rule file.
type pattern struct {
	kind  patternKind
	src   string
	words []string // for all kinds but patRegexp
	lazy  *lazyRegexp
	// need: a match holds one of these, in lower case, whatever the case. It
	// spares most texts the compilation of the regexp. Empty: not known.
	need []string
}

type lazyRegexp struct {
	once sync.Once
	re   *regexp.Regexp
}

// newPattern checks a regexp and finds its simplest form.
func newPattern(src string) (pattern, error) {
	if _, err := regexp.Compile(src); err != nil {
		return pattern{}, err
	}
	p := pattern{src: src, kind: patRegexp}
	if kind, words, ok := plainForm(src); ok {
		p.kind, p.words = kind, words
	} else {
		p.lazy = new(lazyRegexp)
		p.need = requiredWords(src)
	}
	return p, nil
}

func (p pattern) set() bool { return p.kind != patNone }

// match reports whether the pattern is found in s. An unset pattern is not.
func (p pattern) match(s string) bool {
	switch p.kind {
	case patExact:
		for _, w := range p.words {
			if s == w {
				return true
			}
		}
	case patPrefix:
		for _, w := range p.words {
			if strings.HasPrefix(s, w) {
				return true
			}
		}
	case patSuffix:
		for _, w := range p.words {
			if strings.HasSuffix(s, w) {
				return true
			}
		}
	case patContains:
		for _, w := range p.words {
			if strings.Contains(s, w) {
				return true
			}
		}
	case patRegexp:
		if len(p.need) > 0 && !containsFold(s, p.need) {
			return false
		}
		p.lazy.once.Do(func() {
			// Checked by newPattern; a damaged cache gives nil.
			p.lazy.re, _ = regexp.Compile(p.src)
		})
		return p.lazy.re != nil && p.lazy.re.MatchString(s)
	}
	return false
}

// finds is match at the cost of what a regexp takes for a long text; past the
// budget nothing is found.
func (v *view) finds(p pattern, s string) bool {
	if p.kind == patRegexp && len(s) > 256 {
		if !v.spend(len(s)/256*(1+len(p.need))) || len(p.need) > 0 && !containsFold(s, p.need) || !v.spend(len(s)/8) {
			return false
		}
	}
	return p.match(s)
}

// plainForm recognises word, ^word, word$ and ^word$, where word is literal or
// a group of literal alternatives.
func plainForm(src string) (patternKind, []string, bool) {
	begin := strings.HasPrefix(src, "^")
	body := strings.TrimPrefix(src, "^")
	end := strings.HasSuffix(body, "$") && !strings.HasSuffix(body, `\$`)
	if end {
		body = body[:len(body)-1]
	}
	grouped := false
	if strings.HasSuffix(body, ")") && !strings.HasSuffix(body, `\)`) {
		switch {
		case strings.HasPrefix(body, "(?:"):
			body, grouped = body[3:len(body)-1], true
		case strings.HasPrefix(body, "(") && !strings.HasPrefix(body, "(?"):
			body, grouped = body[1:len(body)-1], true
		}
	}
	var words []string
	var word strings.Builder
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == '|':
			if !grouped && (begin || end) {
				return 0, nil, false // ^a|b$ anchors only its ends
			}
			words = append(words, word.String())
			word.Reset()
		case c == '\\':
			i++
			if i == len(body) || body[i] >= 0x80 || isWordByte(body[i]) {
				return 0, nil, false
			}
			word.WriteByte(body[i])
		case strings.IndexByte(`.+*?()[]{}^$`, c) >= 0:
			return 0, nil, false
		default:
			word.WriteByte(c)
		}
	}
	words = append(words, word.String())
	switch {
	case begin && end:
		return patExact, words, true
	case begin:
		return patPrefix, words, true
	case end:
		return patSuffix, words, true
	}
	return patContains, words, true
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// maxNeed bounds the words that requiredWords returns.
const maxNeed = 40

// requiredWords returns texts of which every match of a regexp holds one, in
// lower case; nil when there are none that say much.
func requiredWords(src string) []string {
	re, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return nil
	}
	words := required(re)
	if len(words) > maxNeed {
		return nil
	}
	return words
}

func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= 0x80 {
				return nil
			}
		}
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words := required(sub); shortest(words) > shortest(best) {
				best = words
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := required(sub)
			if words == nil {
				return nil
			}
			all = append(all, words...)
		}
		return all
	}
	return nil
}

func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	n := len(words[0])
	for _, w := range words {
		n = min(n, len(w))
	}
	return n
}

// containsFold reports whether s may hold one of the words, which are in lower
// case, without regard to the case of letters. Only ASCII is looked at: the Kelvin
// sign and the long s fold to k and s.
func containsFold(s string, words []string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return true
		}
	}
	for _, w := range words {
		if indexFold(s, w) {
			return true
		}
	}
	return false
}

func indexFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		k := 0
		for k < len(word) && lower(s[i+k]) == word[k] {
			k++
		}
		if k == len(word) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
