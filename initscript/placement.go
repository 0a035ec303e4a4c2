package initscript

import (
	"bytes"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// placement says where the block of a target belongs in a text, why when that
// is not the usual place, and whether the one block in it is always reached.
func placement(text []byte, t target, in []found) (where place, reached bool, note string) {
	if t.shell == "fish" || t.shell == "pwsh" {
		return atEnd, true, ""
	}
	guard, inside := 0, false
	if f := parse(text, t); f != nil {
		guard = leaves(f)
		if len(in) > 0 {
			inside = encloses(f, in[0].line)
		}
	}
	reached = !inside && (guard == 0 || len(in) == 0 || in[0].line < guard)
	switch {
	case t.place == atTop:
		return atTop, reached, ""
	case guard != 0:
		return atTop, reached, fmt.Sprintf("at the top, because line %d may leave the file; what the file then puts in front of PATH stays there until the next prompt", guard)
	case continued(text):
		return atTop, reached, "at the top, because the last line goes on"
	}
	return atEnd, reached, ""
}

// parse reads a start-up file; nil when it does not parse, which says nothing
// about the shell's own opinion.
func parse(text []byte, t target) *syntax.File {
	lang := syntax.LangBash
	if strings.HasPrefix(strings.TrimPrefix(baseName(t.path), "."), "z") {
		lang = syntax.LangZsh
	}
	f, err := syntax.NewParser(syntax.Variant(lang)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return nil
	}
	return f
}

// leaves returns the line of the first command that may end the reading of the
// file (return, exit, exec of a program); 0 when there is none.
func leaves(f *syntax.File) (line int) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl, *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.Stmt:
			return !n.Background && !n.Coprocess
		case *syntax.BinaryCmd:
			// Each side of a pipe is a process of its own.
			return n.Op != syntax.Pipe && n.Op != syntax.PipeAll
		case *syntax.CallExpr:
			if len(n.Args) == 0 || line != 0 {
				return true
			}
			switch word := n.Args[0].Lit(); {
			case word == "return", word == "exit", word == "exec" && len(n.Args) > 1:
				line = int(n.Pos().Line())
			}
		}
		return true
	})
	return line
}

// encloses says whether a line lies inside a statement of the file.
func encloses(f *syntax.File, line int) bool {
	for _, s := range f.Stmts {
		if int(s.Pos().Line()) < line && line <= int(s.End().Line()) {
			return true
		}
	}
	return false
}

// continued says whether a line after the text would be joined to its last.
func continued(text []byte) bool {
	text = bytes.TrimSuffix(text, []byte("\n"))
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}
