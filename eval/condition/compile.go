// Package condition compiles and judges the bash conditions of rules: values
// that could become code are refused, the documented forms are matched in this
// process, all else runs in bash.
package condition

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxText bounds one condition's text, in bytes.
const maxText = 16 << 10

// Condition is one bash condition.
type Condition struct {
	Written string // in the rules file
	Script  string // for bash: single-quoted $CMD, $ARGS and $PWD are expansions
	Match   Match  // the form that needs no bash
}

// Compile checks a condition. In its text for bash, $CMD, $ARGS and $PWD (also
// ${CMD}) inside single quotes have become expansions: '^$CMD' is given to bash as
// '^'"$CMD"”. A condition in which a value could become code is refused. fix says
// how to write it instead.
func Compile(text string) (c Condition, fix string, err error) {
	if len(text) > maxText {
		return c, "put it into a script and call that", fmt.Errorf("longer than %d bytes", maxText)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return c, "correct it; try it with bash -n -c", ParseError(err)
	}
	if len(file.Stmts) == 0 {
		return c, "write a command, or remove the condition", errors.New("it runs nothing")
	}
	if err := checkValues(file); err != nil {
		return c, "keep values data: compare them with grep, [[ ... == ... ]] or case", err
	}
	script, fix, err := openQuotes(file, text)
	if err != nil {
		return c, fix, err
	}
	return Condition{text, script, recognise(file)}, "", nil
}

// ParseError drops the invented file name from a parser's error.
func ParseError(err error) error {
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return fmt.Errorf("not valid shell: column %d: %s", pe.Pos.Col(), pe.Text)
	}
	var le syntax.LangError
	if errors.As(err, &le) {
		return fmt.Errorf("not valid bash: column %d: %s", le.Pos.Col(), le.Feature)
	}
	return fmt.Errorf("not valid shell: %w", err)
}

// openQuotes replaces the values inside single quotes. It edits the text at the
// places that the parser gives, so that all else stays as written.
func openQuotes(file *syntax.File, text string) (string, string, error) {
	var out strings.Builder
	last := 0
	var err error
	var stack []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return false
		}
		q, ok := n.(*syntax.SglQuoted)
		if ok && !q.Dollar && holdsValue(q.Value) && err == nil {
			if where := unsupportedPlace(stack); where != "" {
				err = fmt.Errorf("a single-quoted value inside %s", where)
			} else {
				begin, end := int(q.Left.Offset()), int(q.Right.Offset())
				if begin < last || end < begin || end >= len(text) || text[begin] != '\'' || text[end] != '\'' {
					err = errors.New("the quotes cannot be located")
				} else {
					out.WriteString(text[last:begin])
					writeOpened(&out, text[begin+1:end])
					last = end + 1
				}
			}
		}
		stack = append(stack, n)
		return true
	})
	if err != nil {
		return "", `use $(...) and double quotes around the value`, err
	}
	out.WriteString(text[last:])
	return out.String(), "", nil
}

// unsupportedPlace names the construct around a single-quoted string in which
// quotes do not nest as usual; empty when there is none.
func unsupportedPlace(stack []syntax.Node) string {
	quoted := false
	for _, n := range stack {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if n.Backquotes {
				return "backquotes"
			}
			quoted = false
		case *syntax.ProcSubst:
			quoted = false
		case *syntax.DblQuoted:
			quoted = true
		case *syntax.Redirect:
			if n.Hdoc != nil {
				quoted = true
			}
		case *syntax.ParamExp:
			if quoted {
				return "${...} in double quotes"
			}
		}
	}
	return ""
}

var valueNames = [...]string{"CMD", "ARGS", "PWD"}

// valueAt returns the length of a value reference ($CMD, ${CMD}) at s[i], and
// its name; 0 when there is none.
func valueAt(s string, i int) (int, string) {
	if s[i] != '$' {
		return 0, ""
	}
	for _, name := range valueNames {
		if strings.HasPrefix(s[i+1:], "{"+name+"}") {
			return len(name) + 3, name
		}
		if end := i + 1 + len(name); strings.HasPrefix(s[i+1:], name) && (end == len(s) || !isWordByte(s[end])) {
			return len(name) + 1, name
		}
	}
	return 0, ""
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func holdsValue(s string) bool {
	for i := range len(s) {
		if n, _ := valueAt(s, i); n > 0 {
			return true
		}
	}
	return false
}

// writeOpened writes a single-quoted text with its values as double-quoted
// expansions between.
func writeOpened(out *strings.Builder, body string) {
	out.WriteByte('\'')
	for i := 0; i < len(body); {
		n, name := valueAt(body, i)
		if n == 0 {
			out.WriteByte(body[i])
			i++
			continue
		}
		out.WriteString(`'"${` + name + `}"'`)
		i += n
	}
	out.WriteByte('\'')
}
