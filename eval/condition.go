package eval

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCondition bounds one condition's text, in bytes.
const maxCondition = 16 << 10

// compileCondition checks a bash condition and returns the text for bash, in
// which $CMD, $ARGS and $PWD (also ${CMD}) inside single quotes have become
// expansions: '^$CMD' is given to bash as '^'"$CMD"”. A condition in which a
// value could become code is refused. fix says how to write it instead.
func compileCondition(text string) (script, fix string, err error) {
	if len(text) > maxCondition {
		return "", "put it into a script and call that", fmt.Errorf("longer than %d bytes", maxCondition)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return "", "correct it; try it with bash -n -c", parseErrorText(err)
	}
	if len(file.Stmts) == 0 {
		return "", "write a command, or remove the condition", errors.New("it runs nothing")
	}
	if err := checkValues(file); err != nil {
		return "", "keep values data: compare them with grep, [[ ... == ... ]] or case", err
	}
	return openQuotes(file, text)
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
