//go:build !split || !linux

package yamltree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse reads data as one YAML document; nil when it holds nothing. What is
// wrong with it is a *Fault.
func Parse(data []byte) (n *Node, err error) {
	defer func() {
		if r := recover(); r != nil { // a defect of the parser must not stop a command
			n, err = nil, &Fault{Line: 1, Column: 1, Message: fmt.Sprintf("the YAML parser failed: %v", r)}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fault(data, err)
	}
	if err := dec.Decode(&next); err == nil {
		return nil, &Fault{Line: next.Line, Column: next.Column, Message: "holds more than one document; keep one", Second: true}
	} else if !errors.Is(err, io.EOF) {
		return nil, fault(data, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	if n = tree(doc.Content[0]); n.Null() {
		return nil, nil
	}
	return n, nil
}

func tree(y *yaml.Node) *Node {
	n := &Node{Tag: y.Tag, Tagged: y.Style&yaml.TaggedStyle != 0, Anchor: y.Anchor, Value: y.Value, Line: y.Line, Column: y.Column}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Mapping
	case yaml.SequenceNode:
		n.Kind = Sequence
	case yaml.AliasNode:
		n.Kind = Alias
		return n
	}
	for _, c := range y.Content {
		n.Content = append(n.Content, tree(c))
	}
	return n
}

func fault(data []byte, err error) *Fault {
	line, col, msg := place(data, err)
	return &Fault{Line: line, Column: col, Message: msg}
}

// maxPlaceTries bounds how often place parses, maxPlaceBytes how much.
const (
	maxPlaceTries = 200
	maxPlaceBytes = 4 << 20
)

// place returns where data, which the YAML parser refused with err, stops
// being YAML, and what the parser says, without its own idea of the place: it
// names the line on which the surrounding block begins, or none.
//
// The line is the first after which no more lines make the text whole; the
// column is that of its first character that is not a space.
func place(data []byte, err error) (line, col int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	msg = strings.ReplaceAll(strings.TrimPrefix(msg, "unmarshal errors:\n  "), "\n ", ";")
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if num, text, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(num); err == nil {
				line, msg = n, text
			}
		}
	}
	if strings.HasPrefix(msg, "unknown anchor '") {
		name, _, _ := strings.Cut(msg[len("unknown anchor '"):], "'")
		if i := bytes.Index(data, []byte("*"+name)); i >= 0 {
			return bytes.Count(data[:i], []byte("\n")) + 1, i - bytes.LastIndexByte(data[:i], '\n'), msg
		}
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if strings.HasPrefix(msg, "mapping key ") {
		return line, indent(lines, line) + 1, msg
	}
	// The last line up to which the text is whole is in front of the fault:
	// inside something unclosed, all texts that end later are broken too.
	tries, size := 0, 0
	parse := func(n int) error {
		head := bytes.Join(lines[:n], nil)
		tries, size = tries+1, size+len(head)
		return parses(head)
	}
	within := func(limit int) bool { return tries < limit && size < maxPlaceBytes }
	if len(lines) <= maxPlaceTries {
		for n := len(lines) - 1; n >= 0 && within(maxPlaceTries); n-- {
			if parse(n) == nil {
				return n + 1, indent(lines, n+1) + 1, msg
			}
		}
	}
	// In a long file: the first line that brings the parser to say the same.
	line = max(line, 1)
	for n := line - 1; n < len(lines) && within(2*maxPlaceTries); n++ {
		if e := parse(n); e != nil && e.Error() == err.Error() {
			return n, indent(lines, n) + 1, msg
		}
	}
	return line, indent(lines, line) + 1, msg
}

func parses(data []byte) (err error) {
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	var n yaml.Node
	return yaml.Unmarshal(data, &n)
}

// indent is the number of spaces that line (from 1) begins with.
func indent(lines [][]byte, line int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	l := lines[line-1]
	return len(l) - len(bytes.TrimLeft(l, " "))
}
