package condition

import (
	"regexp"
	"regexp/syntax"
	"strings"

	sh "mvdan.cc/sh/v3/syntax"
)

// Match is a condition that compares one text with one regular expression:
//
//	echo "$CMD" | grep -qE RE
//	[[ $CMD =~ RE ]]
//	git branch --show-current | grep -qE RE
//
// with $CMD, $ARGS or $PWD, and ! before it. RE is one that grep, bash and Go
// read alike; where the text is not (other than ASCII), bash has the condition.
type Match struct {
	Of      string // CMD, ARGS, PWD, or branch; empty: the condition has no such form
	Regexp  string // as Go writes it
	Negated bool
}

const ofBranch = "branch"

// match says whether all conditions hold; ok is false when only bash can tell.
func (j *Judge) match(list []Condition, v Values) (holds, ok bool) {
	for _, c := range list {
		if c.Match.Of == "" {
			return false, false
		}
		text, ok := j.text(c.Match.Of, v)
		if !ok {
			return false, false
		}
		re, err := regexp.Compile(c.Match.Regexp)
		if err != nil {
			return false, false // a damaged cache
		}
		if re.MatchString(text) == c.Match.Negated {
			return false, true
		}
	}
	return true, true
}

// text returns what a condition is about, when all programs read it alike.
func (j *Judge) text(of string, v Values) (text string, ok bool) {
	switch of {
	case "CMD":
		text = strings.TrimSuffix(v.Name+" "+v.Args, " ")
	case "ARGS":
		text = v.Args
	case "PWD":
		text, ok = v.Dir, v.Dir != ""
		if !ok {
			return "", false
		}
	default:
		if v.Dir == "" || j.Branch == nil {
			return "", false
		}
		if text, ok = j.Branch(v.Dir); !ok {
			return "", false
		}
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return "", false
		}
	}
	// Not what echo would take for its option.
	options, dash := strings.CutPrefix(text, "-")
	return text, !dash || strings.Trim(options, "neE") != ""
}

// recognise returns the form of a condition.
func recognise(file *sh.File) (m Match) {
	if len(file.Stmts) != 1 {
		return m
	}
	s := file.Stmts[0]
	if len(s.Redirs) > 0 || s.Background || s.Coprocess || s.Disown {
		return m
	}
	switch c := s.Cmd.(type) {
	case *sh.BinaryCmd:
		if c.Op == sh.Pipe {
			m = piped(c)
		}
	case *sh.TestClause:
		if t, ok := c.X.(*sh.BinaryTest); ok && t.Op == sh.TsReMatch {
			m = tested(t)
		}
	}
	m.Negated = m.Of != "" && s.Negated
	return m
}

// piped is echo or git branch, and grep.
func piped(c *sh.BinaryCmd) (m Match) {
	from, to := plainCall(c.X), plainCall(c.Y)
	switch {
	case len(from) == 2 && literal(from[0]) == "echo":
		m.Of = valueOf(from[1])
	case len(from) == 3 && literal(from[0]) == "git" && literal(from[1]) == "branch" && literal(from[2]) == "--show-current":
		m.Of = ofBranch
	}
	if m.Of == "" || len(to) < 3 || literal(to[0]) != "grep" {
		return Match{}
	}
	kind, options := basic, to[1:len(to)-1]
	for i, w := range options {
		switch literal(w) {
		case "-q":
		case "-E", "-qE", "-Eq":
			kind = extended
		case "--":
			if i != len(options)-1 {
				return Match{}
			}
		default:
			return Match{}
		}
	}
	pattern, ok := fixedWord(to[len(to)-1])
	if !ok || literal(to[len(to)-2]) != "--" && strings.HasPrefix(pattern, "-") {
		return Match{}
	}
	if m.Regexp, ok = translate(pattern, kind); !ok {
		return Match{}
	}
	return m
}

// tested is [[ $CMD =~ RE ]].
func tested(t *sh.BinaryTest) Match {
	x, okX := t.X.(*sh.Word)
	y, okY := t.Y.(*sh.Word)
	if !okX || !okY {
		return Match{}
	}
	m := Match{Of: valueOf(x)}
	if m.Of == "" && len(x.Parts) == 1 {
		if p, ok := x.Parts[0].(*sh.ParamExp); ok { // not split here
			m.Of = valueOfParam(p)
		}
	}
	if m.Of == "" || len(y.Parts) != 1 {
		return Match{}
	}
	pattern, ok := y.Parts[0].(*sh.Lit) // what is quoted stands for itself in bash
	if !ok {
		return Match{}
	}
	if m.Regexp, ok = translate(pattern.Value, bashExtended); !ok {
		return Match{}
	}
	return m
}

// plainCall returns the words of a statement that is a command and nothing more.
func plainCall(s *sh.Stmt) []*sh.Word {
	c, ok := s.Cmd.(*sh.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(s.Redirs) > 0 || s.Negated || s.Background {
		return nil
	}
	return c.Args
}

// valueOf returns the name of the value that a quoted word is; else "".
func valueOf(w *sh.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	switch p := w.Parts[0].(type) {
	case *sh.SglQuoted:
		if n, name := valueAt(p.Value+" ", 0); !p.Dollar && n == len(p.Value) {
			return name
		}
	case *sh.DblQuoted:
		if len(p.Parts) == 1 {
			if e, ok := p.Parts[0].(*sh.ParamExp); ok {
				return valueOfParam(e)
			}
		}
	}
	return ""
}

func valueOfParam(p *sh.ParamExp) string {
	if PlainParam(p) {
		for _, name := range valueNames {
			if p.Param.Value == name {
				return name
			}
		}
	}
	return ""
}

// PlainParam says that p is $NAME or ${NAME}.
func PlainParam(p *sh.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil &&
		p.Repl == nil && p.Exp == nil && p.Names == 0 && p.NestedParam == nil && len(p.Modifiers) == 0
}

// fixedWord returns the text of a word that holds no value and no expansion.
func fixedWord(w *sh.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *sh.SglQuoted:
		return p.Value, !p.Dollar && !holdsValue(p.Value)
	case *sh.DblQuoted:
		if len(p.Parts) == 1 {
			if l, ok := p.Parts[0].(*sh.Lit); ok {
				return l.Value, !p.Dollar && !strings.Contains(l.Value, `\`)
			}
		}
	case *sh.Lit:
		return p.Value, !strings.ContainsAny(p.Value, `\*?[{~`)
	}
	return "", false
}

// kind is how a regular expression is written.
type kind int

const (
	basic        kind = iota // grep
	extended                 // grep -E
	bashExtended             // [[ =~ ]]: a backslash quotes, \s is an s
)

// translate writes a POSIX regular expression (GNU grep's, which knows \s, \w and
// \b) as Go's. ok is false where the two differ, or POSIX leaves it open.
func translate(pattern string, k kind) (out string, ok bool) {
	t := translation{rest: pattern, kind: k}
	for t.rest != "" {
		if !t.next() {
			return "", false
		}
	}
	if t.depth != 0 || t.last == opens || t.last == opensNot {
		return "", false
	}
	// Go's own limits, and what else it would not take.
	if _, err := syntax.Parse(t.out.String(), syntax.Perl); err != nil {
		return "", false
	}
	return t.out.String(), true
}

// translation is how far an expression has been read.
type translation struct {
	rest  string
	out   strings.Builder
	kind  kind
	depth int
	last  place
}

// place is what stands before.
type place int

const (
	opens    place = iota // the beginning, ( or |: nothing may be repeated, nothing may end
	opensNot              // the same, after ^
	atom                  // may be repeated
	repeated              // may not be repeated again
)

// escapes are GNU's, for ASCII.
var escapes = map[byte]string{'s': `[\t-\r ]`, 'S': `[^\t-\r ]`, 'w': `[0-9A-Za-z_]`, 'W': `[^0-9A-Za-z_]`}

func (t *translation) next() bool {
	c := t.rest[0]
	t.rest = t.rest[1:]
	if t.kind == basic && strings.IndexByte(`+?(){}|`, c) >= 0 {
		return t.write(regexp.QuoteMeta(string(c)), atom)
	}
	switch c {
	case '\\':
		return t.escape()
	case '[':
		return t.bracket()
	case '.':
		return t.write(".", atom)
	case '^':
		return t.last == opens && (t.kind != basic || t.out.Len() == 0) && t.write("^", opensNot)
	case '$':
		return (t.rest == "" || t.kind != basic && (t.rest[0] == ')' || t.rest[0] == '|')) && t.write("$", repeated)
	case '*', '+', '?':
		return t.last == atom && t.write(string(c), repeated)
	case '{':
		end := strings.IndexByte(t.rest, '}')
		if t.last != atom || end < 1 || strings.Trim(t.rest[:end], "0123456789,") != "" || t.rest[0] == ',' || strings.Count(t.rest[:end], ",") > 1 {
			return false
		}
		times := t.rest[:end]
		t.rest = t.rest[end+1:]
		return t.write("{"+times+"}", repeated)
	case '(':
		t.depth++
		return t.write("(?:", opens)
	case ')':
		t.depth--
		return t.depth >= 0 && t.last != opens && t.write(")", atom)
	case '|':
		return t.last != opens && t.write("|", opens)
	}
	return c >= ' ' && c <= '~' && c != ']' && c != '}' && t.write(regexp.QuoteMeta(string(c)), atom)
}

func (t *translation) write(s string, last place) bool {
	t.out.WriteString(s)
	t.last = last
	return true
}

func (t *translation) escape() bool {
	if t.rest == "" {
		return false
	}
	c := t.rest[0]
	t.rest = t.rest[1:]
	s := escapes[c]
	switch {
	case s != "":
		return t.kind != bashExtended && t.write(s, atom)
	case c == 'b':
		return t.kind != bashExtended && t.write(`\b`, repeated)
	case strings.IndexByte(`.[]*^$\`, c) >= 0, t.kind != basic && strings.IndexByte(`+?(){}|`, c) >= 0:
		return t.write(`\`+string(c), atom)
	}
	return false
}

// bracket reads a bracket expression of ASCII characters, of ranges of letters of
// one case or of digits, and of classes.
func (t *translation) bracket() bool {
	s := t.rest
	t.out.WriteByte('[')
	if strings.HasPrefix(s, "^") {
		t.out.WriteByte('^')
		s = s[1:]
	}
	for first := true; ; first = false {
		if s == "" {
			return false
		}
		if s[0] == ']' && !first {
			t.rest = s[1:]
			return t.write("]", atom)
		}
		if strings.HasPrefix(s, "[:") {
			name, rest, ok := strings.Cut(s[2:], ":]")
			if !ok || !classes[name] {
				return false
			}
			t.out.WriteString("[:" + name + ":]")
			s = rest
			continue
		}
		if len(s) > 2 && s[1] == '-' && s[2] != ']' {
			if !sameKind(s[0], s[2]) {
				return false
			}
			t.out.WriteString(s[:3])
			s = s[3:]
			continue
		}
		if s[0] < ' ' || s[0] > '~' || s[0] == '\\' && t.kind == bashExtended || s[0] == '[' && len(s) > 1 && (s[1] == '.' || s[1] == '=') {
			return false
		}
		t.out.WriteString(`\x` + hex[s[0]>>4:s[0]>>4+1] + hex[s[0]&15:s[0]&15+1])
		s = s[1:]
	}
}

const hex = "0123456789abcdef"

var classes = map[string]bool{"alpha": true, "digit": true, "alnum": true, "upper": true, "lower": true, "space": true, "blank": true, "punct": true, "xdigit": true}

// sameKind says that a range lies within the digits or the letters of one case, in
// order.
func sameKind(a, b byte) bool {
	for _, kind := range [...]string{"09", "az", "AZ"} {
		if kind[0] <= a && a <= b && b <= kind[1] {
			return true
		}
	}
	return false
}
