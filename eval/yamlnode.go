package eval

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"safeshell/config/yamltree"
)

// MaxFileSize bounds a rules file, in bytes.
const MaxFileSize = 1 << 20

const maxYAMLDepth = 12 // the schema needs seven

// yamlReader turns the nodes of one file into values and collects what is
// wrong with them, each with its place.
type yamlReader struct {
	file     string
	problems []Problem
}

func (y *yamlReader) bad(n *yamltree.Node, fix, format string, args ...any) {
	p := Problem{File: y.file, Message: shortened(fmt.Sprintf(format, args...)), Fix: shortened(fix)}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	y.problems = append(y.problems, p)
}

// document parses data as one YAML document that is free of aliases and of
// excessive nesting. It returns nil for an empty document, and nil with a
// problem for a broken one.
func (y *yamlReader) document(data []byte) (root *yamltree.Node) {
	if len(data) > MaxFileSize {
		y.bad(nil, "split it, or remove rules", "the file has more than %d bytes", MaxFileSize)
		return nil
	}
	root, err := yamltree.Parse(data)
	var bad *yamltree.Fault
	switch {
	case errors.As(err, &bad) && bad.Second:
		y.bad(&yamltree.Node{Line: bad.Line, Column: bad.Column}, "keep one document: remove the line ---", "the file holds more than one YAML document")
	case errors.As(err, &bad):
		y.bad(&yamltree.Node{Line: bad.Line, Column: bad.Column}, "correct the YAML at this place", "not valid YAML: %s", bad.Message)
	case err != nil:
		y.problems = append(y.problems, Problem{File: y.file, Message: shortened(err.Error()), Fix: "run: safeshell rules lint", passing: true})
	case root != nil && y.plain(root, 0):
		return root
	}
	return nil
}

// plain refuses what a rules file never needs and what can blow up: aliases,
// anchors, tags, deep nesting.
func (y *yamlReader) plain(n *yamltree.Node, depth int) bool {
	switch {
	case depth > maxYAMLDepth:
		y.bad(n, "flatten it", "nested more than %d levels deep", maxYAMLDepth)
		return false
	case n.Kind == yamltree.Alias:
		y.bad(n, "write the value out", "YAML aliases (*%s) are not supported", n.Value)
		return false
	case n.Anchor != "":
		y.bad(n, "remove &"+n.Anchor, "YAML anchors are not supported")
		return false
	case n.Tagged:
		y.bad(n, "remove "+n.Tag, "YAML tags are not supported")
		return false
	}
	for _, c := range n.Content {
		if !y.plain(c, depth+1) {
			return false
		}
	}
	return true
}

// mapping calls the function of each key. Unknown and repeated keys are bad.
func (y *yamlReader) mapping(n *yamltree.Node, what string, keys map[string]func(key, value *yamltree.Node)) bool {
	if n.Kind != yamltree.Mapping {
		y.bad(n, "write it as key: value lines", "%s must be a mapping, not %s", what, n.Show())
		return false
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yamltree.Scalar {
			y.bad(k, "use a plain word as the key", "a key of %s must be a word", what)
			continue
		}
		if line, ok := seen[k.Value]; ok {
			y.bad(k, "remove one of them", "key %q is given twice in %s (first in line %d)", k.Value, what, line)
			continue
		}
		seen[k.Value] = k.Line
		f, ok := keys[k.Value]
		if !ok {
			y.bad(k, unknownFix(k.Value, keys), "unknown key %q in %s", k.Value, what)
			continue
		}
		f(k, v)
	}
	return true
}

func unknownFix[V any](got string, keys map[string]V) string {
	best, dist := "", 3
	names := make([]string, 0, len(keys))
	for k := range keys {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		if d := editDistance(got, k); d < dist {
			best, dist = k, d
		}
	}
	if best != "" {
		return "write " + best + ":"
	}
	return "known keys: " + strings.Join(names, ", ")
}

// editDistance is the Levenshtein distance, for short words.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		last := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			d := last
			if a[i-1] != b[j-1] {
				d = 1 + min(last, row[j], row[j-1])
			}
			last, row[j] = row[j], d
		}
	}
	return row[len(b)]
}

// str returns a text that is not empty.
func (y *yamlReader) str(n *yamltree.Node, what string) (string, bool) {
	if n.Kind != yamltree.Scalar || n.Null() {
		y.bad(n, "write a text", "%s must be a text, not %s", what, n.Show())
		return "", false
	}
	if strings.TrimSpace(n.Value) == "" {
		y.bad(n, "write a text, or remove the key", "%s is empty", what)
		return "", false
	}
	if strings.IndexByte(n.Value, 0) >= 0 {
		y.bad(n, "remove the NUL character", "%s holds a NUL character", what)
		return "", false
	}
	return n.Value, true
}

// list returns texts: a list, or one text alone. An empty list is bad, because
// it could be read as everything or as nothing.
func (y *yamlReader) list(n *yamltree.Node, what string) []string {
	nodes := n.Content
	if n.Kind == yamltree.Scalar {
		nodes = []*yamltree.Node{n}
	} else if n.Kind != yamltree.Sequence {
		y.bad(n, "write ["+"a, b]", "%s must be a list of texts, not %s", what, n.Show())
		return nil
	}
	if len(nodes) == 0 {
		y.bad(n, "name something, or remove the key", "%s is an empty list", what)
	}
	var out []string
	for _, c := range nodes {
		if s, ok := y.str(c, "an entry of "+what); ok {
			out = append(out, s)
		}
	}
	return out
}

func (y *yamlReader) boolean(n *yamltree.Node, what string) (value, ok bool) {
	if value, ok = n.Bool(); ok {
		return value, true
	}
	y.bad(n, "write true or false", "%s must be true or false, not %s", what, n.Show())
	return false, false
}

func (y *yamlReader) tri(n *yamltree.Node, what string) tri {
	switch v, ok := y.boolean(n, what); {
	case !ok:
		return unset
	case v:
		return yes
	}
	return no
}

// word returns one of the allowed words.
func (y *yamlReader) word(n *yamltree.Node, what string, allowed ...string) (string, bool) {
	s, ok := y.str(n, what)
	if !ok {
		return "", false
	}
	for _, a := range allowed {
		if s == a {
			return s, true
		}
	}
	y.bad(n, "write one of: "+strings.Join(allowed, ", "), "%s cannot be %q", what, s)
	return "", false
}

func (y *yamlReader) regexp(n *yamltree.Node, what string) pattern {
	s, ok := y.str(n, what)
	if !ok {
		return pattern{}
	}
	p, err := newPattern(s)
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		fix := "correct the regexp (Go syntax, https://pkg.go.dev/regexp/syntax)"
		if strings.Contains(s, "(?=") || strings.Contains(s, "(?!") || strings.Contains(s, "(?<") {
			fix = "lookaround is not supported: use unless"
		}
		y.bad(n, fix, "%s is not a valid regexp: %s", what, reason)
	}
	return p
}
