package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxPlaceTries bounds how often YAMLPlace parses, maxPlaceBytes how much.
const (
	maxPlaceTries = 200
	maxPlaceBytes = 4 << 20
)

// YAMLPlace returns where data, which the YAML parser refused with err, stops
// being YAML, and what the parser says, without its own idea of the place: it
// names the line on which the surrounding block begins, or none.
//
// The line is the first after which no more lines make the text whole; the
// column is that of its first character that is not a space.
func YAMLPlace(data []byte, err error) (line, col int, msg string) {
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

// misfit returns the first node that a value of type t cannot be read from, and
// what it should be. Null stands for "not given".
func misfit(n *yaml.Node, t reflect.Type, key string) (at *yaml.Node, what string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	named := func(format string, a ...any) string {
		if key != "" {
			format = key + ": " + format
		}
		return fmt.Sprintf(format, a...)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return n, named("write the value out, without an alias")
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, ""
	case t.Kind() == reflect.Struct:
		if n.Kind != yaml.MappingNode {
			return n, named("write keys and values below it, not %s", shown(n))
		}
		fields := map[string]reflect.Type{}
		var known []string
		for i := range t.NumField() {
			name := t.Field(i).Tag.Get("yaml")
			fields[name], known = t.Field(i).Type, append(known, name)
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			ft, ok := fields[k.Value]
			if !ok {
				return k, fmt.Sprintf("unknown key %q; known here: %s", k.Value, strings.Join(known, ", "))
			}
			if at, what := misfit(n.Content[i+1], ft, strings.TrimPrefix(key+"."+k.Value, ".")); at != nil {
				return at, what
			}
		}
	case t.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return n, named("write a list, for example [a, b], not %s", shown(n))
		}
		for _, c := range n.Content {
			if at, what := misfit(c, t.Elem(), key); at != nil {
				return at, what
			}
		}
	case n.Kind != yaml.ScalarNode || n.Decode(reflect.New(t).Interface()) != nil:
		return n, named("write %s, not %s", map[reflect.Kind]string{
			reflect.Int: "a whole number", reflect.Float64: "a number", reflect.Bool: "true or false", reflect.String: "one value",
		}[t.Kind()], shown(n))
	}
	return nil, ""
}

func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return strconv.Quote(n.Value)
}
