// Package yamltree reads a YAML document into a tree of values, each with its
// place. The lean program links no YAML library, which would cost time at the
// start of every shim: there the tree comes from the second program, which is
// asked once for each content, since what is compiled from it is kept.
package yamltree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Kind says what a Node is.
type Kind uint8

// The kinds. An alias holds the name of what it stands for in Value.
const (
	Scalar Kind = iota
	Mapping
	Sequence
	Alias
)

// Node is one value of a document.
type Node struct {
	Kind Kind `json:"k,omitempty"`
	// Tag is the short form of a value's type: !!str, !!null, !!bool, !!int,
	// !!float, !!map, !!seq.
	Tag string `json:"t,omitempty"`
	// Tagged: the document writes the tag out.
	Tagged bool   `json:"x,omitempty"`
	Anchor string `json:"a,omitempty"`
	// Value is a scalar's text.
	Value string `json:"v,omitempty"`
	// Line and Column count from 1.
	Line   int `json:"l"`
	Column int `json:"c"`
	// Content holds a sequence's values; of a mapping, keys and values by turns.
	Content []*Node `json:"n,omitempty"`
}

// Null reports whether n is null, which stands for "not given".
func (n *Node) Null() bool { return n.Kind == Scalar && n.Tag == "!!null" }

// Show names n in a message: its text, or what it is.
func (n *Node) Show() string {
	switch {
	case n.Kind == Mapping:
		return "a mapping"
	case n.Kind == Sequence:
		return "a list"
	case n.Null():
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}

// Bool is the truth value of n. The words are those of YAML 1.2.
func (n *Node) Bool() (value, ok bool) {
	if n.Kind != Scalar || n.Tag != "!!bool" {
		return false, false
	}
	switch strings.ToLower(n.Value) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// Fault is why a text is no single YAML document, and where.
type Fault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	// Second: the text is YAML, but holds another document, at this place.
	Second bool `json:"second,omitempty"`
}

func (f *Fault) Error() string { return f.Message }

// Word is the argument that makes the second program answer Ask.
const Word = "yaml-tree"

type answer struct {
	Tree  *Node  `json:"tree,omitempty"`
	Fault *Fault `json:"fault,omitempty"`
}

// Serve answers Ask: a document from r, its tree or fault to w.
func Serve(r io.Reader, w io.Writer) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	tree, err := Parse(data)
	a := answer{Tree: tree}
	if err != nil && !errors.As(err, &a.Fault) {
		return err
	}
	return json.NewEncoder(w).Encode(a)
}

// Ask is Parse, done by the program exe. An error that is no Fault says that
// it could not be asked.
func Ask(exe string, data []byte) (*Node, error) {
	var out, said bytes.Buffer
	c := exec.Cmd{Path: exe, Args: []string{"safeshell", Word}, Env: []string{"TMPDIR=" + os.TempDir()}, Dir: "/",
		Stdin: bytes.NewReader(data), Stdout: &out, Stderr: &said}
	err := c.Run()
	var a answer
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &a)
	}
	if err != nil {
		return nil, fmt.Errorf("the program that reads YAML failed: %w %s", err, strings.TrimSpace(said.String()))
	}
	if a.Fault != nil {
		return nil, a.Fault
	}
	return a.Tree, nil
}
