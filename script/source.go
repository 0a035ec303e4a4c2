package script

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/budget"
)

// The parser refuses bytes that are not UTF-8 and drops carriage returns,
// where shells keep both. Such bytes are handed to it as runes of a private
// plane and turned back afterwards; so are the pieces of a text inside a text
// that are not known ("holes").
const (
	holeRune = 0x10F000
	maxHoles = 256
	byteRune = 0x10FE00
)

// source is one shell text being analysed: the root, or a text inside it.
type source struct {
	text    string // what is parsed
	lang    Dialect
	nested  bool
	budget  *budget.Budget
	span    Span // nested: the command that holds the text
	encoded bool // text has private runes
	holes   []Part
	shifts  []shift // text differs in length from the original
	ticks   bool    // backquotes may stand in backquotes
}

// shift says that from offset at on, positions are by bytes too far.
type shift struct{ at, by int }

// span returns the original range of a node.
func (s *source) spanOf(from, to syntax.Pos) Span {
	if s.nested {
		return s.span
	}
	return Span{s.offset(from), s.offset(to)}
}

func (s *source) offset(p syntax.Pos) int {
	o := int(p.Offset())
	if i := sort.Search(len(s.shifts), func(i int) bool { return s.shifts[i].at > o }); i > 0 {
		o -= s.shifts[i-1].by
	}
	return o
}

// written returns the text of a node as it stands in the source.
func (s *source) written(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || to > len(s.text) || from > to {
		return ""
	}
	return s.decode(s.text[from:to])
}

// encode replaces what the parser would refuse or change.
func (s *source) encode() {
	s.ticks = strings.Contains(s.text, "\\`")
	if !needsEncoding(s.text) {
		return
	}
	s.budget.Spend(len(s.text) / 64)
	var b strings.Builder
	by := 0
	for i := 0; i < len(s.text); {
		r, n := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case r == utf8.RuneError && n == 1, r == '\r':
			n = 1
		case r >= byteRune && r <= byteRune+0xFF:
			// The text's own private runes go byte by byte, so that turning
			// back is exact.
		case r >= holeRune && r < holeRune+maxHoles && s.holes == nil:
		default:
			b.WriteString(s.text[i : i+n])
			i += n
			continue
		}
		if !s.budget.Spend(1) {
			return // the parser will not be given it
		}
		for ; n > 0; n-- {
			b.WriteRune(byteRune + rune(s.text[i]))
			i++
			by += 3
			s.shifts = append(s.shifts, shift{b.Len(), by})
		}
	}
	s.text, s.encoded = b.String(), true
}

func needsEncoding(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0xF4 || s[i] == '\r' {
			return true
		}
		if s[i] >= utf8.RuneSelf {
			return !utf8.ValidString(s) || strings.ContainsAny(s, "\r") || strings.Contains(s, "\xF4")
		}
	}
	return false
}

// decode turns private runes back into bytes. Holes are dropped: callers that
// meet holes use parts.
func (s *source) decode(t string) string {
	if !s.encoded || !strings.Contains(t, "\xF4") {
		return t
	}
	var b strings.Builder
	for _, r := range t {
		switch {
		case r >= byteRune && r <= byteRune+0xFF:
			b.WriteByte(byte(r - byteRune))
		case s.hole(r) != nil:
			b.WriteString(partName(*s.hole(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (s *source) hole(r rune) *Part {
	if i := int(r - holeRune); i >= 0 && i < len(s.holes) {
		return &s.holes[i]
	}
	return nil
}

// partName says a part in shell-like words, for names and messages.
func partName(p Part) string {
	switch p.Kind {
	case Literal, Glob:
		return p.Text
	case Output:
		return "$(" + p.Name + ")"
	case TempPath:
		return "$(mktemp)"
	}
	return "$" + p.Name
}

// fill writes a word into shell text: known parts as they are, the others as
// holes.
func (s *source) fill(w Word) bool {
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind == Literal || p.Kind == Glob {
			b.WriteString(p.Text)
			continue
		}
		if len(s.holes) >= maxHoles {
			return false
		}
		b.WriteRune(holeRune + rune(len(s.holes)))
		s.holes = append(s.holes, p)
	}
	s.text = b.String()
	if len(s.holes) > 0 {
		s.encoded = true
		// The text's own private runes would be taken for holes.
		for _, p := range w.Parts {
			if p.Kind == Literal && strings.Contains(p.Text, "\xF4\x8F") {
				return false
			}
		}
	}
	return true
}

var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

func variant(d Dialect) syntax.LangVariant {
	switch d {
	case Zsh:
		return syntax.LangZsh
	case POSIX:
		return syntax.LangPOSIX
	}
	return syntax.LangBash
}

// parseFile parses text; what was parsed before an error is kept.
func (s *source) parseFile(text string, d Dialect) (f *syntax.File, err error) {
	p := parsers.Get().(*syntax.Parser)
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("the parser failed: %v", r)
			return
		}
		parsers.Put(p)
	}()
	text = endComments(text, d, s.budget)
	syntax.Variant(variant(d))(p)
	return p.Parse(&textReader{text: text, budget: s.budget}, "")
}

// textReader hands a text to the parser for as long as the budget lasts and
// nesting does not get too deep: the parser calls itself for whatever stands
// inside of something else, by brackets, keywords, operators.
type textReader struct {
	text   string
	budget *budget.Budget
	allocs uint64 // bytes, when it was last looked
	since  int    // bytes read since then
	read   int
	least  int // units that are to be left for what was read
}

// Reader hands a text to a parser of its own for as long as b lasts, and nesting
// does not get too deep; then it fails.
func Reader(text string, b *budget.Budget) io.Reader { return &textReader{text: text, budget: b} }

var (
	errTooMuch = errors.New("there is more in it than can be read at once")
	errTooDeep = errors.New("it is nested too deeply to be read")
)

const (
	parserFrames = 4000     // calls in one another
	parserLook   = 32 << 10 // bytes between looks at what the parser made
	parserUnit   = 256      // bytes of memory for a unit of work
)

func (r *textReader) Read(b []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	if r.read > 0 || len(r.text) > len(b) { // not a short one
		if err := r.look(); err != nil {
			return 0, err
		}
	}
	if r.read == 0 {
		r.least = max(r.budget.Left()/2, 1)
	}
	n := copy(b, r.text)
	r.text, r.read, r.since = r.text[n:], r.read+n, r.since+n
	r.budget.Spend(n / 64)
	if r.budget.Left() < r.least {
		return 0, errTooMuch
	}
	return n, nil
}

// look is where it is found out what the parser does with what it has.
func (r *textReader) look() error {
	var calls [parserFrames]uintptr
	if runtime.Callers(1, calls[:]) == len(calls) {
		return errTooDeep
	}
	if first := r.read == 0 && len(r.text) > parserLook; r.since < parserLook && !first {
		return nil
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	made := m.TotalAlloc - r.allocs
	if r.read == 0 {
		made = 0
	}
	r.allocs, r.since = m.TotalAlloc, 0
	if r.budget.Spend(int(made / parserUnit)); r.budget.Left() < r.least {
		return errTooMuch
	}
	return nil
}

// parse returns the statements of the source. Where shells run something in
// spite of what the parser calls an error, the text is repaired first. The
// error, repaired or not, is returned with its place.
func (s *source) parse() ([]*syntax.Stmt, *Unknown) {
	f, err := s.parseFile(s.text, s.lang)
	if err == nil {
		return f.Stmts, nil
	}
	if errors.Is(err, errTooMuch) || errors.Is(err, errTooDeep) {
		s.budget.Exceed(err.Error())
		u := &Unknown{Reason: "the text cannot be judged: " + err.Error(), Span: Span{0, s.length()}}
		if s.nested {
			u.Span = s.span
		}
		if f == nil {
			return nil, u
		}
		return f.Stmts, u
	}
	u := s.problem(err)
	for range 8 {
		end, ok := unclosedHeredoc(err)
		if !ok {
			break
		}
		if !strings.HasSuffix(s.text, "\n") {
			s.text += "\n"
		}
		s.text += end + "\n"
		f2, err2 := s.parseFile(s.text, s.lang)
		if err2 == nil {
			u.Reason = "the here-document does not end; shells run it all the same"
			return f2.Stmts, u
		}
		err = err2
	}
	if f2 := s.splitParens(); f2 != nil {
		u.Reason = "(( that is no arithmetic: shells run it as commands"
		return f2.Stmts, u
	}
	if f == nil {
		return nil, u
	}
	return f.Stmts, u
}

// unclosedHeredoc returns the end word of a here-document that does not end.
func unclosedHeredoc(err error) (string, bool) {
	var pe syntax.ParseError
	if !errors.As(err, &pe) {
		return "", false
	}
	q, ok := strings.CutPrefix(pe.Text, "unclosed here-document ")
	if !ok {
		return "", false
	}
	end, uerr := strconv.Unquote(q)
	return end, uerr == nil && !strings.Contains(end, "\n")
}

// splitParens tries to read each (( as two parentheses, as shells do when the
// inside turns out to be no arithmetic.
func (s *source) splitParens() *syntax.File {
	at := 0
	for range 8 {
		i := strings.Index(s.text[at:], "((")
		if i < 0 {
			return nil
		}
		at += i + 1
		text := s.text[:at] + " " + s.text[at:]
		if f, err := s.parseFile(text, s.lang); err == nil {
			s.insert(at, " ")
			return f
		}
	}
	return nil
}

// adjoin joins words that the parser takes apart although nothing is between
// them: a\`b\` inside backquotes.
func (s *source) adjoin(words []*syntax.Word) []*syntax.Word {
	out := make([]*syntax.Word, 0, len(words))
	for i, w := range words {
		if i > 0 {
			from, to := int(words[i-1].End().Offset()), int(w.Pos().Offset())
			if from <= to && to <= len(s.text) && strings.Trim(s.text[from:to], "\\") == "" {
				last := out[len(out)-1]
				out[len(out)-1] = &syntax.Word{Parts: append(slices.Clip(last.Parts), w.Parts...)}
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// insert puts text of our own at an offset.
func (s *source) insert(at int, text string) {
	n := len(text)
	s.text = s.text[:at] + text + s.text[at:]
	j := sort.Search(len(s.shifts), func(j int) bool { return s.shifts[j].at > at })
	by := n
	if j > 0 {
		by += s.shifts[j-1].by
	}
	for i := j; i < len(s.shifts); i++ {
		s.shifts[i].at += n
		s.shifts[i].by += n
	}
	s.shifts = slices.Insert(s.shifts, j, shift{at + n, by})
}

// splitAmp reads &> as dash does: & ends the command, > begins the next one.
func (s *source) splitAmp() {
	f, _ := s.parseFile(s.text, Bash)
	if f == nil {
		return
	}
	var at []int
	syntax.Walk(f, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && (r.Op == syntax.RdrAll || r.Op == syntax.AppAll) {
			at = append(at, int(r.OpPos.Offset())+1)
		}
		return true
	})
	slices.Sort(at)
	for _, i := range slices.Backward(at) {
		if i < len(s.text) && s.text[i-1] == '&' {
			s.insert(i, " ")
		}
	}
}

func (s *source) problem(err error) *Unknown {
	reason, from := err.Error(), 0
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		reason, from = s.decode(pe.Text), s.offset(pe.Pos)
	}
	u := &Unknown{Reason: "the text does not parse: " + reason, Span: Span{from, max(from, s.length())}}
	if s.nested {
		u.Span = s.span
	}
	return u
}

// length is that of the original text.
func (s *source) length() int {
	n := len(s.text)
	if len(s.shifts) > 0 {
		n -= s.shifts[len(s.shifts)-1].by
	}
	return n
}
