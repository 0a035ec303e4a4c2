package permit

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/budget"
	"safeshell/script"
	"safeshell/spool/mask"
)

// InitCommand is the declaration in a shell script: its first command.
const InitCommand = "initcmds"

// MaxScript bounds a script, in bytes.
const MaxScript = 8 << 20

// Declaration is what a shell script says about itself before it runs.
type Declaration struct {
	// Shell is the interpreter's name: bash, sh, dash, zsh.
	Shell string
	// Interp is the interpreter of the #! line as written (a path, or a bare
	// name behind env); empty without one.
	Interp string
	// Option is the one argument of the #! line, as the kernel passes it.
	Option string
	Line   int      // of the first declaration; 0: there is none
	First  []string // literal commands of the first declaration
	Later  []string // literal commands of declarations further down
	// Dynamic is the line of a declaration with a word that only the shell can
	// tell, or from which on the text could not be read; 0: everything is known.
	Dynamic int
	// FirstDynamic: it is the first declaration that has such a word.
	FirstDynamic bool
	// Undeclared are commands that the text calls by a literal name and that no
	// declaration in it names.
	Undeclared []Use
}

// Use is the first call of a command.
type Use struct {
	Name string
	Line int
}

// All returns every command that is declared literally, each once.
func (d Declaration) All() []string {
	var out []string
	for _, c := range slices.Concat(d.First, d.Later) {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// ErrNotShell says that a file is not a script of a shell that run knows.
var ErrNotShell = errors.New("not a script of bash, sh, dash or zsh")

// ParseScript reads the declaration of a shell script. file is for errors
// alone, which name file and line and say what to do. The text is parsed, never
// run.
func ParseScript(file string, text []byte) (Declaration, error) {
	var d Declaration
	if len(text) > MaxScript {
		return d, fmt.Errorf("%s has more than %d bytes; split it", Show(file), MaxScript)
	}
	if bytes.HasPrefix(text, []byte("\x7fELF")) || bytes.IndexByte(firstLines(text, 4<<10), 0) >= 0 {
		return d, fmt.Errorf("%s is %w; to run a program under the rules: safeshell exec -- %s", Show(file), ErrNotShell, Show(file))
	}
	if err := d.interpreter(file, text); err != nil {
		return d, err
	}
	w := scan{d: &d, file: file, funcs: map[string]bool{}}
	lang := map[string]syntax.LangVariant{"bash": syntax.LangBash, "zsh": syntax.LangZsh}[d.Shell]
	if lang == 0 {
		lang = syntax.LangPOSIX
	}
	stmts, err := parse(text, lang)
	if err := w.first(stmts); err != nil {
		return d, err
	}
	for _, s := range stmts {
		w.rest(s)
	}
	if err != nil {
		var pe syntax.ParseError
		line := 1
		if errors.As(err, &pe) {
			line = int(pe.Pos.Line())
		}
		if d.Line == 0 {
			return d, fmt.Errorf("%s:%d: cannot be read as %s (%s), and there is no %s before it; mend it, see: %s -n %s", Show(file), line, d.Shell, parseText(err), InitCommand, d.Shell, Show(file))
		}
		// The shell may understand what the parser does not; what follows may
		// declare anything.
		if d.Dynamic == 0 {
			d.Dynamic = line
		}
	}
	d.Undeclared = w.undeclared()
	if d.Line == 0 {
		names := make([]string, 0, len(d.Undeclared)+1)
		names = append(names, InitCommand)
		for _, u := range d.Undeclared {
			if LikeCommand(u.Name) {
				names = append(names, Show(u.Name))
			}
		}
		return d, fmt.Errorf("%s declares no commands; put this line in front of its first command: %s", Show(file), strings.Join(names, " "))
	}
	return d, nil
}

// parse returns the statements in front of the first error, too.
func parse(text []byte, lang syntax.LangVariant) (stmts []*syntax.Stmt, err error) {
	defer func() {
		if r := recover(); r != nil { // a defect of the parser (`<<0&`)
			err = fmt.Errorf("the parser failed: %v", r)
		}
	}()
	for s, err := range syntax.NewParser(syntax.Variant(lang)).StmtsSeq(script.Reader(string(text), budget.New())) {
		if err != nil {
			return stmts, err
		}
		stmts = append(stmts, s)
	}
	return stmts, nil
}

func parseText(err error) string {
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return pe.Text
	}
	return err.Error()
}

func firstLines(b []byte, n int) []byte { return b[:min(n, len(b))] }

// interpreter reads the #! line as the kernel does: a path and at most one
// argument.
func (d *Declaration) interpreter(file string, text []byte) error {
	d.Shell = "bash"
	if filepath.Ext(file) == ".zsh" {
		d.Shell = "zsh"
	}
	line, _, _ := bytes.Cut(firstLines(text, 4<<10), []byte("\n"))
	rest, ok := strings.CutPrefix(string(line), "#!")
	if !ok {
		return nil
	}
	interp, arg, _ := strings.Cut(strings.Trim(rest, " \t\r"), " ")
	if i := strings.IndexByte(interp, '\t'); i >= 0 {
		interp, arg = interp[:i], interp[i+1:]+" "+arg
	}
	arg = strings.Trim(arg, " \t")
	if filepath.Base(interp) == "env" {
		words := strings.Fields(arg)
		if len(words) > 0 && (words[0] == "-S" || words[0] == "--split-string") {
			words = words[1:]
		} else if len(words) > 1 {
			words = []string{arg} // env would look for a program of that whole name
		}
		if len(words) == 0 {
			return fmt.Errorf("%s:1: its first line names no shell; write: #!/bin/bash", Show(file))
		}
		interp, arg = words[0], strings.Join(words[1:], " ")
	}
	switch b := filepath.Base(interp); b {
	case "bash", "sh", "dash", "zsh":
		d.Shell, d.Interp, d.Option = b, interp, arg
		return nil
	}
	return fmt.Errorf("%s:1: its first line names %s, so it is %w; to run it under the rules: safeshell exec -- %s", Show(file), Show(interp), ErrNotShell, Show(file))
}

// scan walks a script's text.
type scan struct {
	d     *Declaration
	file  string
	main  *syntax.CallExpr // the first declaration
	funcs map[string]bool
	uses  []Use
}

// before are builtins that may stand in front of the declaration: they start
// nothing.
var before = []string{":", "true", "false", "set", "shopt", "umask", "unset", "trap", "setopt", "unsetopt", "emulate", "readonly", "export", "declare", "typeset", "local"}

// first finds the declaration, which must come before the first other command.
func (w *scan) first(stmts []*syntax.Stmt) error {
	var other *syntax.Stmt
	for _, s := range stmts {
		if c := leading(s); c != nil && len(c.Args) > 0 {
			if name, _ := literal(c.Args[0]); name == InitCommand {
				if other != nil {
					return fmt.Errorf("%s:%d: %s must come before the first other command, which is in line %d; move it up", Show(w.file), c.Pos().Line(), InitCommand, other.Pos().Line())
				}
				w.main = c
				w.d.Line = int(c.Pos().Line())
				w.d.First, w.d.FirstDynamic = words2(c.Args[1:])
				if w.d.FirstDynamic {
					w.d.Dynamic = w.d.Line
				}
				return nil
			}
		}
		if other == nil && !harmless(s) {
			other = s
		}
	}
	return nil
}

// leading is the simple command that a statement begins with.
func leading(s *syntax.Stmt) *syntax.CallExpr {
	for s != nil {
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			return c
		case *syntax.BinaryCmd:
			s = c.X
		default:
			return nil
		}
	}
	return nil
}

// harmless statements start no program.
func harmless(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.FuncDecl:
		return true
	case *syntax.DeclClause:
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			if name, ok := literal(c.Args[0]); !ok || !slices.Contains(before, name) {
				return false
			}
		}
	default:
		return false
	}
	plain := true
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			plain = false
		}
		return plain
	})
	return plain
}

// rest notes later declarations, functions and calls.
func (w *scan) rest(s *syntax.Stmt) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				w.funcs[n.Name.Value] = true
			}
			for _, name := range n.Names {
				w.funcs[name.Value] = true
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n != w.main {
				w.call(n)
			}
		}
		return true
	})
}

func (w *scan) call(c *syntax.CallExpr) {
	args := c.Args
	name, ok := literal(args[0])
	for ok && len(args) > 1 && (name == "command" || name == "builtin" || name == "exec") {
		args = args[1:]
		if name, ok = literal(args[0]); strings.HasPrefix(name, "-") {
			return // command -v asks, it does not call
		}
	}
	line := int(c.Pos().Line())
	switch {
	case !ok:
	case name == InitCommand:
		list, dynamic := words2(args[1:])
		w.d.Later = append(w.d.Later, list...)
		if dynamic && w.d.Dynamic == 0 {
			w.d.Dynamic = line
		}
	case name == "eval" || name == "source" || name == ".":
		// What they bring may declare commands too; only then would it matter.
		w.mayDeclare(args[1:], line)
	case name != "":
		w.uses = append(w.uses, Use{name, line})
	}
}

// mayDeclare: text that is read at run time and speaks of initcmds.
func (w *scan) mayDeclare(args []*syntax.Word, line int) {
	for _, a := range args {
		if s, ok := literal(a); ok && strings.Contains(s, InitCommand) && w.d.Dynamic == 0 {
			w.d.Dynamic = line
		}
	}
}

// undeclared are the calls of programs that no declaration names.
func (w *scan) undeclared() []Use {
	declared := map[string]bool{}
	for _, c := range w.d.All() {
		declared[c] = true
		declared[filepath.Base(c)] = true
	}
	var out []Use
	seen := map[string]bool{}
	for _, u := range w.uses {
		if seen[u.Name] || declared[u.Name] || w.funcs[u.Name] || isShellWord(w.d.Shell, u.Name) || own(u.Name) {
			continue
		}
		seen[u.Name] = true
		out = append(out, u)
	}
	return out
}

// LikeCommand says that a word has the shape of a command's name or path, and
// not of a line of a key: a file that is no script is shown to nobody.
func LikeCommand(s string) bool {
	if len(s) > 64 || mask.Text(s) != s {
		return false
	}
	digits, upper := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', strings.IndexByte("._-/[", c) >= 0:
		case '0' <= c && c <= '9':
			digits++
		case 'A' <= c && c <= 'Z':
			upper++
		default:
			return false
		}
	}
	return len(s) <= 12 || strings.Contains(s, "/") && len(filepath.Base(s)) <= 24 || digits+upper <= 4 && len(s) <= 40
}

// words2 returns the literal words, and whether some are not.
func words2(list []*syntax.Word) (out []string, dynamic bool) {
	for _, w := range list {
		s, ok := literal(w)
		if !ok {
			dynamic = true
			continue
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, dynamic
}

// literal returns what a word stands for, if the text alone tells.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	if w.Lit() == "[" {
		return "[", true
	}
	var b strings.Builder
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				return "", false
			}
			if !unescape(&b, p.Value, "", "*?[{") {
				return "", false
			}
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok || !unescape(&b, l.Value, "$`\"\\\n", "") {
					return "", false
				}
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unescape writes s without its backslashes; only those in front of a character
// of only, if that is not empty, are any. It fails at a character of active.
func unescape(b *strings.Builder, s, only, active string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		}
		if strings.IndexByte(active, c) >= 0 {
			return false
		}
		b.WriteByte(c)
	}
	return true
}
