package condition

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// checkValues refuses a condition in which $CMD, $ARGS, $PWD, or anything made
// from them, could be executed: as a command's name, as code for an
// interpreter, in arithmetic, as the name of a variable, or as options of a
// program by being split into words.
func checkValues(file *syntax.File) error {
	t := &taint{vars: map[string]bool{}}
	for _, n := range valueNames {
		t.vars[n] = true
	}
	for grew := true; grew; { // assignments may come in any order (loops, functions)
		grew = t.spread(file)
	}
	var err error
	syntax.Walk(file, func(n syntax.Node) bool {
		if err == nil && n != nil {
			err = t.check(n)
		}
		return err == nil
	})
	return err
}

// taint knows which variables may hold a value.
type taint struct{ vars map[string]bool }

// spread marks variables that are assigned from marked ones, and those that
// are read from input. It reports whether any was new.
func (t *taint) spread(file *syntax.File) (grew bool) {
	mark := func(name string) {
		if name != "" && !t.vars[name] {
			t.vars[name], grew = true, true
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && (n.Value != nil && t.in(n.Value) || n.Array != nil && t.in(n.Array)) {
				mark(n.Name.Value)
			}
		case *syntax.WordIter:
			for _, w := range n.Items {
				if t.in(w) {
					mark(n.Name.Value)
				}
			}
		case *syntax.CallExpr:
			switch commandName(n) {
			case "read", "mapfile", "readarray", "getopts":
				for _, w := range n.Args[1:] {
					mark(w.Lit())
				}
				mark("REPLY")
				mark("MAPFILE")
			case "printf":
				for i, w := range n.Args[1:] {
					if w.Lit() == "-v" && i+2 < len(n.Args) {
						mark(n.Args[i+2].Lit())
					}
				}
			}
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Word != nil && n.Param != nil && t.in(n.Exp.Word) {
				mark(n.Param.Value) // ${x:=$CMD}
			}
		}
		return true
	})
	if t.vars["CMD"] {
		mark("BASH_REMATCH")
	}
	return grew
}

// in reports whether the node's value may hold a value.
func (t *taint) in(n syntax.Node) (found bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param != nil && t.name(n.Param.Value) {
				found = true
			}
		case *syntax.SglQuoted:
			if !n.Dollar && holdsValue(n.Value) {
				found = true
			}
		}
		return !found
	})
	return found
}

// name says that a parameter may hold a value. Positional parameters always
// may: a function's arguments are not followed.
func (t *taint) name(n string) bool {
	return t.vars[n] || n == "@" || n == "*" || n != "" && n[0] >= '1' && n[0] <= '9'
}

// inArithm is in, for arithmetic, where bare words are variables too.
func (t *taint) inArithm(n syntax.Node) bool {
	if t.in(n) {
		return true
	}
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if l, ok := n.(*syntax.Lit); ok && t.vars[l.Value] {
			found = true
		}
		return !found
	})
	return found
}

var (
	errArithm = errors.New("a value in arithmetic would be evaluated (a[$(command)])")
	errName   = errors.New("a value as the name of a variable would be evaluated")
)

func (t *taint) check(n syntax.Node) error {
	switch n := n.(type) {
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			return t.call(n.Args)
		}
	case *syntax.ArithmExp:
		if t.inArithm(n.X) {
			return errArithm
		}
	case *syntax.ArithmCmd:
		if t.inArithm(n.X) {
			return errArithm
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{n.Init, n.Cond, n.Post} {
			if x != nil && t.inArithm(x) {
				return errArithm
			}
		}
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			if t.inArithm(x) {
				return errArithm
			}
		}
	case *syntax.ParamExp:
		return t.param(n)
	case *syntax.Assign:
		if n.Index != nil && t.inArithm(n.Index) {
			return errArithm
		}
		if n.Name != nil && n.Value != nil && t.in(n.Value) && specialVars[n.Name.Value] {
			return fmt.Errorf("a value in %s would change how commands run", n.Name.Value)
		}
	case *syntax.ArrayElem:
		if n.Index != nil && t.inArithm(n.Index) {
			return errArithm
		}
	case *syntax.DeclClause:
		return t.declare(n)
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			if t.in(n.X) || t.in(n.Y) {
				return errArithm
			}
		}
	case *syntax.UnaryTest:
		if (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) && t.in(n.X) {
			return errName
		}
	case *syntax.Redirect:
		switch n.Op {
		case syntax.RdrIn, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		default:
			if n.Word != nil && t.in(n.Word) {
				return errors.New("a value as the target of a redirection would be written to")
			}
		}
	}
	return nil
}

var specialVars = map[string]bool{"PATH": true, "BASH_ENV": true, "ENV": true, "LD_PRELOAD": true, "PS4": true, "PROMPT_COMMAND": true, "IFS": true, "SHELLOPTS": true, "BASHOPTS": true}

func (t *taint) param(n *syntax.ParamExp) error {
	tainted := n.Param != nil && t.name(n.Param.Value)
	switch {
	case n.Excl && tainted && n.Names == 0:
		return errName
	case n.Index != nil && t.inArithm(n.Index):
		return errArithm
	case n.Slice != nil && (n.Slice.Offset != nil && t.inArithm(n.Slice.Offset) || n.Slice.Length != nil && t.inArithm(n.Slice.Length)):
		return errArithm
	case tainted && n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word != nil && n.Exp.Word.Lit() == "P":
		return errors.New("${...@P} would evaluate the value")
	}
	return nil
}

func (t *taint) declare(n *syntax.DeclClause) error {
	evaluates := false
	for _, a := range n.Args {
		if a.Name == nil && a.Value != nil {
			if t.in(a.Value) {
				return errName
			}
			if l := a.Value.Lit(); strings.HasPrefix(l, "-") && strings.ContainsAny(l, "in") {
				evaluates = true
			}
		}
	}
	for _, a := range n.Args {
		if evaluates && a.Value != nil && t.in(a.Value) {
			return errArithm
		}
	}
	return nil
}

// commandName returns a call's literal name.
func commandName(c *syntax.CallExpr) string {
	if len(c.Args) == 0 {
		return ""
	}
	return strings.TrimPrefix(literal(c.Args[0]), `\`)
}

// literal returns a word's text with quotes removed, or "" when it has parts
// that are not literal.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(Unescape(p.Value, false))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(l.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// Unescape removes backslashes as the shell does, outside or inside double
// quotes.
func Unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// How commands in a condition treat their arguments.
const (
	runsAny     = iota + 1 // an argument may be run: eval, trap, alias
	takesName              // an argument is the name of a variable
	interpreter            // code first, data after it
	wrapper                // runs the command in its arguments
)

var argumentUse = map[string]int{
	"eval": runsAny, "trap": runsAny, "alias": runsAny, "compgen": runsAny, "complete": runsAny, "bind": runsAny,
	"enable": runsAny, "fc": runsAny, "history": runsAny, "hash": runsAny, "let": runsAny, "source": runsAny, ".": runsAny,
	"read": takesName, "mapfile": takesName, "readarray": takesName, "unset": takesName, "getopts": takesName,
	"declare": takesName, "typeset": takesName, "local": takesName, "export": takesName, "readonly": takesName, "wait": takesName,
	"bash": interpreter, "sh": interpreter, "dash": interpreter, "zsh": interpreter, "ksh": interpreter, "mksh": interpreter, "fish": interpreter,
	"python": interpreter, "python2": interpreter, "python3": interpreter, "perl": interpreter, "ruby": interpreter, "node": interpreter,
	"deno": interpreter, "bun": interpreter, "php": interpreter, "lua": interpreter, "tclsh": interpreter, "awk": interpreter,
	"gawk": interpreter, "mawk": interpreter, "nawk": interpreter, "sed": interpreter, "gsed": interpreter, "osascript": interpreter,
	"env": wrapper, "sudo": wrapper, "doas": wrapper, "su": wrapper, "xargs": wrapper, "parallel": wrapper, "timeout": wrapper,
	"nice": wrapper, "nohup": wrapper, "time": wrapper, "command": wrapper, "builtin": wrapper, "exec": wrapper, "setsid": wrapper,
	"stdbuf": wrapper, "flock": wrapper, "watch": wrapper, "ssh": wrapper, "script": wrapper, "busybox": wrapper, "coproc": wrapper,
	"ionice": wrapper, "chroot": wrapper, "unshare": wrapper, "strace": wrapper,
}

// call checks the words of one command.
func (t *taint) call(args []*syntax.Word) error {
	if t.in(args[0]) {
		return errors.New("a value as the name of a command would be run")
	}
	name := strings.TrimPrefix(literal(args[0]), `\`)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	rest := args[1:]
	any := false
	for _, w := range rest {
		any = any || t.in(w)
	}
	switch argumentUse[name] {
	case runsAny:
		if any || name == "eval" {
			return fmt.Errorf("%s would run what is in a value", name)
		}
		return nil
	case takesName:
		if any {
			return errName
		}
		return nil
	case interpreter:
		return t.interpreter(name, rest)
	case wrapper:
		return t.wrapped(name, rest)
	}
	if !any {
		return nil
	}
	switch name {
	case "echo", ":", "true", "false", "cd":
		return nil
	case "printf":
		for i, w := range rest {
			if strings.HasPrefix(literal(w), "-v") && i+1 < len(rest) && (t.in(rest[i+1]) || t.in(w)) {
				return errName
			}
		}
		return nil
	case "set", "shift":
		return nil // positional parameters always count as values
	case "test", "[":
		for i, w := range rest {
			if l := literal(w); (l == "-v" || l == "-R") && i+1 < len(rest) && t.in(rest[i+1]) {
				return errName
			}
		}
		return nil
	case "find", "fd":
		for i, w := range rest {
			switch literal(w) {
			case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec":
				if i+1 < len(rest) {
					if err := t.call(rest[i+1:]); err != nil {
						return err
					}
				}
			}
		}
	}
	for _, w := range rest {
		if t.splits(w) {
			return fmt.Errorf("%s gets a value that is not quoted: its words could become options", name)
		}
	}
	return nil
}

// splits says that a word holds an unquoted value.
func (t *taint) splits(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			if t.in(p) {
				return true
			}
		}
	}
	return false
}

// interpreter allows values only after the code: sh -c 'code' name "$CMD",
// awk 'code' "$CMD", awk -v x="$CMD" 'code'.
func (t *taint) interpreter(name string, rest []*syntax.Word) error {
	awk := strings.HasSuffix(name, "awk")
	code := false
	for i := 0; i < len(rest); i++ {
		w, l := rest[i], literal(rest[i])
		if awk && !code {
			if l == "-v" || l == "-F" {
				i++
				continue
			}
			if first, ok := w.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(first.Value, "-v") {
				continue // -vx="$CMD"
			}
		}
		afterOption := i > 0 && isOption(literal(rest[i-1]))
		switch {
		case t.in(w) && (!code || afterOption):
			return fmt.Errorf("%s would run what is in a value", name)
		case t.splits(w):
			return fmt.Errorf("%s gets a value that is not quoted: its words could become options", name)
		case code:
		case l == "-" || l == "/dev/stdin" || isOption(l) && l[1] != '-' && strings.Contains(l, "s") && isShell(name):
			return fmt.Errorf("%s would run its input", name)
		case isOption(l) || l == "":
		default:
			code = !afterOption || !takesOptionValue(name, literal(rest[i-1]))
		}
	}
	if !code {
		return fmt.Errorf("%s would run its input", name)
	}
	return nil
}

func isOption(l string) bool { return len(l) > 1 && (l[0] == '-' || l[0] == '+') }

func isShell(name string) bool { return strings.HasSuffix(name, "sh") && name != "tclsh" }

// takesOptionValue says that the word after an interpreter's option is the
// option's value, not code.
func takesOptionValue(name, option string) bool {
	switch {
	case isShell(name):
		return strings.HasPrefix(option, "--") && strings.HasSuffix(option, "file") || option[1] != '-' && strings.ContainsAny(option, "oO")
	case strings.HasPrefix(name, "python"):
		return option == "-X" || option == "-W"
	}
	switch option {
	case "-r", "-I", "-C", "-d", "-i", "--require", "--import", "--loader":
		return name != "sed" && name != "gsed" && !strings.HasSuffix(name, "awk") && !(name == "php" && option == "-r")
	}
	return false
}

// wrapped checks the command that a wrapper runs. Where options end is not
// known for every wrapper, so each word that could be the inner command is
// tried.
func (t *taint) wrapped(name string, rest []*syntax.Word) error {
	inner := false
	for i, w := range rest {
		l := literal(w)
		if !inner && t.in(w) {
			return fmt.Errorf("%s would run what is in a value", name)
		}
		use := argumentUse[strings.TrimPrefix(l, `\`)]
		if use != 0 {
			if (name == "xargs" || name == "parallel") && use != takesName {
				return fmt.Errorf("%s would give its input to %s as code", name, l)
			}
			if err := t.call(rest[i:]); err != nil {
				return err
			}
		}
		if l != "" && l[0] != '-' && !strings.Contains(l, "=") && (l[0] < '0' || l[0] > '9') {
			inner = true
		}
		if t.splits(w) {
			return fmt.Errorf("%s gets a value that is not quoted: its words could become options", name)
		}
	}
	return nil
}
