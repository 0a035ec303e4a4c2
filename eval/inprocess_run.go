package eval

import (
	"maps"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// leave gives the condition to bash.
func (x *inShell) leave() int {
	x.left = true
	return 0
}

// spend counts bytes and leaves when they are too many.
func (x *inShell) spend(n int) bool {
	x.budget -= n
	if x.budget < 0 {
		x.left = true
	}
	return !x.left
}

func (x *inShell) list(stmts []*syntax.Stmt, io inIO) (status int) {
	for _, s := range stmts {
		if x.left {
			return 0
		}
		status = x.stmt(s, io)
	}
	return status
}

// apart runs statements as a subshell: assignments stay inside.
func (x *inShell) apart(run func() int) int {
	saved := x.vars
	x.vars = maps.Clone(saved)
	status := run()
	x.vars = saved
	return status
}

func (x *inShell) stmt(s *syntax.Stmt, io inIO) int {
	for _, r := range s.Redirs {
		x.redirect(r, &io)
	}
	if x.left {
		return 0
	}
	status := x.command(s.Cmd, io)
	if s.Negated {
		if status == 0 {
			return 1
		}
		return 0
	}
	return status
}

// redirect knows /dev/null, errors to the output and back, and <<<.
func (x *inShell) redirect(r *syntax.Redirect, io *inIO) {
	fd := ""
	if r.N != nil {
		fd = r.N.Value
	}
	target := ""
	if r.Op != syntax.WordHdoc {
		target = r.Word.Lit()
	}
	null := target == "/dev/null"
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut:
		switch {
		case null && (fd == "" || fd == "1"):
			io.out = nil
			return
		case null && fd == "2":
			io.mixed = false
			return
		}
	case syntax.RdrAll, syntax.AppAll:
		if null && fd == "" {
			io.out, io.mixed = nil, false
			return
		}
	case syntax.DplOut:
		switch {
		case fd == "2" && target == "1":
			io.mixed = io.out != nil
			return
		case (fd == "" || fd == "1") && target == "2" && !io.mixed:
			io.out = nil // what goes to the errors is not read
			return
		}
	case syntax.RdrIn:
		if null && (fd == "" || fd == "0") {
			io.in = new(inInput)
			return
		}
	case syntax.WordHdoc:
		if fd == "" {
			io.in = &inInput{data: x.joined(r.Word) + "\n"}
			return
		}
	}
	x.leave()
}

func (x *inShell) command(c syntax.Command, io inIO) int {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return x.call(c, io)
	case *syntax.BinaryCmd:
		return x.binary(c, io)
	case *syntax.Block:
		return x.list(c.Stmts, io)
	case *syntax.Subshell:
		return x.apart(func() int { return x.list(c.Stmts, io) })
	case *syntax.IfClause:
		return x.ifClause(c, io)
	case *syntax.CaseClause:
		return x.caseClause(c, io)
	case *syntax.TestClause:
		return truth(x.testExpr(c.X))
	}
	return x.leave()
}

func truth(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

func (x *inShell) binary(c *syntax.BinaryCmd, io inIO) int {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		status := x.stmt(c.X, io)
		if x.left || (status == 0) != (c.Op == syntax.AndStmt) {
			return status
		}
		return x.stmt(c.Y, io)
	case syntax.Pipe:
		if c.X.Negated || c.Y.Negated {
			return x.leave()
		}
		var out strings.Builder
		x.apart(func() int { return x.stmt(c.X, inIO{in: io.in, out: &out, mixed: io.mixed && io.out != nil}) })
		if x.left || io.mixed { // where the errors go is another place
			return x.leave()
		}
		io.in = &inInput{data: out.String()}
		return x.apart(func() int { return x.stmt(c.Y, io) })
	}
	return x.leave()
}

func (x *inShell) ifClause(c *syntax.IfClause, io inIO) int {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 { // else
			return x.list(c.Then, io)
		}
		status := x.list(c.Cond, io)
		if x.left {
			return 0
		}
		if status == 0 {
			return x.list(c.Then, io)
		}
	}
	return 0
}

func (x *inShell) caseClause(c *syntax.CaseClause, io inIO) int {
	if c.Braces {
		return x.leave()
	}
	subject := x.joined(c.Word)
	for _, item := range c.Items {
		if item.Op != syntax.Break {
			return x.leave()
		}
		for _, w := range item.Patterns {
			found := x.globWord(w, subject)
			if x.left {
				return 0
			}
			if found {
				return x.list(item.Stmts, io)
			}
		}
	}
	return 0
}

func (x *inShell) call(c *syntax.CallExpr, io inIO) int {
	if len(c.Args) == 0 {
		return x.assign(c.Assigns)
	}
	args := x.fields(c.Args)
	if x.left || len(c.Assigns) > 0 || len(args) == 0 {
		return x.leave()
	}
	name, args := args[0], args[1:]
	switch name {
	case "true", ":":
		return 0
	case "false":
		return 1
	case "echo":
		return x.echo(args, io)
	case "printf":
		return x.printf(args, io)
	case "pwd":
		return x.pwd(args, io)
	case "test":
		return x.bracket(args)
	case "[":
		if n := len(args); n > 0 && args[n-1] == "]" {
			return x.bracket(args[:n-1])
		}
	case "grep":
		return x.grep(args, io)
	case "git":
		return x.git(args, io)
	}
	return x.leave()
}

// assign knows name=value. Names in capitals mean something to bash or to the
// programs.
func (x *inShell) assign(list []*syntax.Assign) int {
	x.subst = 0
	for _, a := range list {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Name == nil || !ownName(a.Name.Value) {
			return x.leave()
		}
		value := ""
		if a.Value != nil {
			value = x.joined(a.Value)
		}
		if x.left {
			return 0
		}
		if x.vars == nil {
			x.vars = map[string]string{}
		}
		x.vars[a.Name.Value] = value
	}
	return x.subst
}

func ownName(s string) bool {
	for i := range len(s) {
		if s[i] != '_' && (s[i] < 'a' || s[i] > 'z') && (i == 0 || s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != "_" && s != "histchars" && s != "auto_resume"
}

func (io inIO) write(x *inShell, s string) int {
	if io.out != nil && x.spend(len(s)) {
		io.out.WriteString(s)
	}
	return 0
}

func (x *inShell) pwd(args []string, io inIO) int {
	dir := x.dir()
	switch {
	case x.left || len(args) > 1:
		return x.leave()
	case len(args) == 0 || args[0] == "-L":
	case args[0] == "-P":
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return x.leave()
		}
		dir = real
	default:
		return x.leave()
	}
	return io.write(x, dir+"\n")
}
