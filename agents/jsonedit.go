package agents

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// A style is how a JSON file is laid out, so that what is added looks like the
// rest of it.
type style struct {
	indent, newline string
	oneLine         bool // the whole value stands on one line
}

func styleOf(doc *document) style {
	s := style{indent: "  ", newline: "\n"}
	if i := bytes.IndexByte(doc.src, '\n'); i > 0 && doc.src[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if doc.root == nil || len(doc.root.members)+len(doc.root.elems) == 0 {
		return s
	}
	s.oneLine = !bytes.Contains(doc.root.raw(doc.src), []byte{'\n'})
	first := doc.root
	if len(first.members) > 0 {
		first = first.members[0].key
	} else {
		first = first.elems[0]
	}
	if blank, own := lineBlank(doc.src, first.start); own && blank != "" {
		s.indent = blank
	}
	return s
}

// lineBlank returns the blanks in front of off on its line, and whether there
// is nothing else.
func lineBlank(src []byte, off int) (string, bool) {
	start := bytes.LastIndexByte(src[:off], '\n') + 1
	lead := src[start:off]
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(lead, []byte(bom)), " \t")
	return string(lead[:len(lead)-len(trimmed)]), len(trimmed) == 0 && start > 0
}

// lineIndent returns the blanks at the start of the line that holds off.
func lineIndent(src []byte, off int) string {
	start := bytes.LastIndexByte(src[:off], '\n') + 1
	end := start
	for end < len(src) && (src[end] == ' ' || src[end] == '\t') {
		end++
	}
	return string(src[start:end])
}

// value renders a compact JSON text for its place.
func (s style) value(compact, prefix string, inline bool) string {
	doc, err := parseJSON([]byte(compact), strictJSON, false)
	if err != nil || inline {
		return compact
	}
	return pretty(doc.src, doc.root, s.indent, prefix, s.newline)
}

// spans of an object's members or a list's elements.
func (n *node) items() [][2]int {
	var out [][2]int
	for _, m := range n.members {
		out = append(out, [2]int{m.key.start, m.val.end})
	}
	for _, e := range n.elems {
		out = append(out, [2]int{e.start, e.end})
	}
	return out
}

// addItem returns the edit that puts an item into a container, in front of or
// behind all others. render gives the item's text for an indentation.
func addItem(doc *document, in *node, front bool, render func(s style, prefix string, inline bool) string) edit {
	s := styleOf(doc)
	items := in.items()
	closing := lineIndent(doc.src, in.start)
	if len(items) == 0 {
		between := string(doc.src[in.start+1 : in.end-1])
		if s.oneLine && doc.root != in {
			return edit{off: in.start + 1, old: "", with: render(s, "", true)}
		}
		child := closing + s.indent
		text := s.newline + child + render(s, child, false)
		if strings.TrimSpace(between) == "" {
			return edit{off: in.start + 1, old: between, with: text + s.newline + closing}
		}
		if !strings.Contains(between, "\n") {
			// A comment and the bracket share the line.
			text += s.newline + closing
		}
		return edit{off: in.start + 1, with: text}
	}
	at := items[len(items)-1]
	if front {
		at = items[0]
	}
	blank, own := lineBlank(doc.src, at[0])
	sep := s.newline + blank
	inline := !own
	if inline {
		sep = " "
		if s.oneLine && !bytes.Contains(doc.src, []byte(": ")) && !bytes.Contains(doc.src, []byte(", ")) {
			sep = ""
		}
		blank = ""
	}
	text := render(s, blank, inline)
	if front {
		return edit{off: at[0], with: text + "," + sep}
	}
	return edit{off: at[1], with: "," + sep + text}
}

// A shapeError says that a file is sound, but holds something where the hook
// has to go.
func shapeError(doc *document, n *node, format string, args ...any) *SyntaxError {
	return syntaxErrorAt(doc.src, n.start, format, args...)
}

// addElement returns the edit that puts elem (compact JSON) into the list at
// path, making what is missing on the way, and the paths of what it made.
func addElement(doc *document, path []string, elem string, front bool) (edit, [][]string, *SyntaxError) {
	cur := doc.root
	for i, key := range path {
		if cur.kind != '{' {
			return edit{}, nil, shapeError(doc, cur, "%s is %s where an object is due", dotted(path[:i]), cur.kindName())
		}
		all := cur.all(key)
		if len(all) > 1 {
			return edit{}, nil, shapeError(doc, all[1], "the key %s is there twice", dotted(path[:i+1]))
		}
		if len(all) == 1 {
			cur = all[0]
			continue
		}
		value := "[" + elem + "]"
		var made [][]string
		for j := len(path) - 1; j > i; j-- {
			value = "{" + quoteJSON(path[j]) + ":" + value + "}"
		}
		for j := i; j < len(path); j++ {
			made = append(made, path[:j+1])
		}
		return addItem(doc, cur, false, memberText(key, value)), made, nil
	}
	if cur.kind != '[' {
		return edit{}, nil, shapeError(doc, cur, "%s is %s where a list is due", dotted(path), cur.kindName())
	}
	e := addItem(doc, cur, front, func(s style, prefix string, inline bool) string {
		return s.value(elem, prefix, inline)
	})
	return e, nil, nil
}

func memberText(key, value string) func(style, string, bool) string {
	return func(s style, prefix string, inline bool) string {
		sep := ": "
		if inline {
			sep = ":"
		}
		return quoteJSON(key) + sep + s.value(value, prefix, inline)
	}
}

func dotted(path []string) string {
	if len(path) == 0 {
		return "the file's value"
	}
	return strings.Join(path, ".")
}

// lookup follows keys through objects; nil when something is missing.
func (n *node) lookup(path []string) *node {
	for _, k := range path {
		if n = n.get(k); n == nil {
			return nil
		}
	}
	return n
}

// removeItem returns the edits that take item i out of a container, with its
// comma and, where it stood alone on its lines, with them.
func removeItem(doc *document, in *node, i int) []edit {
	src := doc.src
	items := in.items()
	from, to := items[i][0], items[i][1]
	del := func(a, b int) edit { return edit{off: a, old: string(src[a:b])} }
	wholeLines := func(a, b int) (int, int) {
		if _, own := lineBlank(src, a); !own {
			return a, b
		}
		end := b
		for end < len(src) && (src[end] == ' ' || src[end] == '\t' || src[end] == '\r') {
			end++
		}
		if end >= len(src) || src[end] != '\n' {
			return a, b
		}
		return bytes.LastIndexByte(src[:a], '\n') + 1, end + 1
	}
	if comma := commaAfter(src, to, in.end); comma >= 0 {
		a, b := wholeLines(from, comma+1)
		if a == from && b == comma+1 {
			for b < len(src) && (src[b] == ' ' || src[b] == '\t') {
				b++
			}
		}
		if len(items) == 1 && strings.TrimSpace(string(src[in.start+1:a])+string(src[b:in.end-1])) == "" {
			return []edit{del(in.start+1, in.end-1)}
		}
		return []edit{del(a, b)}
	}
	if i == 0 {
		if strings.TrimSpace(string(src[in.start+1:from])+string(src[to:in.end-1])) == "" {
			return []edit{del(in.start+1, in.end-1)}
		}
		a, b := wholeLines(from, to)
		return []edit{del(a, b)}
	}
	before := commaAfter(src, items[i-1][1], in.end)
	if strings.TrimSpace(string(src[before+1:from])) == "" {
		// Nothing but blanks since the comma: they go too, the line end before
		// the closing bracket stays.
		return []edit{del(before, to)}
	}
	a, b := wholeLines(from, to)
	return []edit{del(before, before+1), del(a, b)}
}

// commaAfter finds the comma that follows an item, over blanks and comments;
// -1 when the container closes first.
func commaAfter(src []byte, at, limit int) int {
	p := &jsonParser{src: src[:limit], pos: at, mode: looseJSON, doc: &document{comment: 0}}
	if p.blanks() != nil || p.pos >= limit || src[p.pos] != ',' {
		return -1
	}
	return p.pos
}

// sameJSON compares two values, whatever their layout and the order of keys.
func sameJSON(asrc []byte, a *node, bsrc []byte, b *node) bool {
	if a == nil || b == nil || a.kind != b.kind {
		return a == b
	}
	switch a.kind {
	case '"':
		return a.str == b.str
	case '[':
		if len(a.elems) != len(b.elems) {
			return false
		}
		for i := range a.elems {
			if !sameJSON(asrc, a.elems[i], bsrc, b.elems[i]) {
				return false
			}
		}
		return true
	case '{':
		if len(a.members) != len(b.members) {
			return false
		}
		for _, m := range a.members {
			if !sameJSON(asrc, m.val, bsrc, b.get(m.key.str)) {
				return false
			}
		}
		return true
	}
	return bytes.Equal(a.raw(asrc), b.raw(bsrc))
}

// inFile names the file in a syntax error.
func inFile(err *SyntaxError, path string) error {
	if err == nil {
		return nil
	}
	e := *err
	e.File = path
	return &e
}

// refuse explains why a file was left alone.
func refuse(err error, what string) error { return &refusal{err, what} }

type refusal struct {
	error
	do string
}

func (r *refusal) Error() string { return fmt.Sprintf("%v; nothing was changed: %s", r.error, r.do) }

func (r *refusal) Unwrap() error { return r.error }

// toRemove makes the advice of refusals one for who takes the hook out.
func toRemove(err error) error {
	if r := (*refusal)(nil); errors.As(err, &r) {
		r.do = strings.Replace(r.do, "agents install", "agents uninstall", 1)
	}
	return err
}
