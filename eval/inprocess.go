package eval

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Conditions judged without a process. A small shell runs those whose every
// step is known to end as in bash with GNU grep and git; as soon as one is not
// (an unknown command, a value that needs globbing, a byte whose class depends
// on the C library) it leaves the condition to bash. It has no side effects, so
// it may leave at any point. Equality with bash is what the tests compare.

// inProcess is what is remembered between conditions.
type inProcess struct {
	environ  map[string]string
	twice    map[string]bool // names that the environment holds more than once
	tools    map[string]bool // whether PATH leads to the system's own program
	programs map[string]*inProgram
	loc      inLocale
}

// inProgram is a parsed condition.
type inProgram struct {
	stmts    []*syntax.Stmt // nil: bash's
	matchers map[matcherKey]*matcher
}

// inBudget bounds what one condition may produce and read, in bytes.
const inBudget = 64 << 20

// inShell is one run of a condition.
type inShell struct {
	j      *bashJudge
	m      *inProcess
	p      *inProgram
	v      *commandValues
	vars   map[string]string // assigned by the condition
	subst  int               // exit status of the last command substitution
	budget int
	left   bool // to bash

	dirKnown bool // dir has looked
}

// inIO is where a command reads and writes.
type inIO struct {
	in    *inInput
	out   *strings.Builder // nil: discarded
	mixed bool             // errors go to out too
}

// inInput is a standard input, which has one reader: how far a program reads
// ahead is not known.
type inInput struct {
	data string
	used bool
}

// inProcess judges one condition; ok is false when only bash can tell.
func (j *bashJudge) inProcess(script string, v commandValues) (status int, ok bool) {
	if j.memo == nil {
		j.memo = newInProcess(j.environ)
	}
	p := j.memo.program(script)
	if p.stmts == nil || !plainValue(v.name) || !plainValue(v.args) {
		return 0, false
	}
	x := inShell{j: j, m: j.memo, p: p, v: &v, budget: inBudget}
	status = x.list(p.stmts, inIO{in: new(inInput)})
	return status, !x.left
}

// allHold judges the conditions of one rule in order.
func (j *bashJudge) allHold(r *rule, v commandValues) certainty {
	for i := range r.conditions {
		status, ok := j.inProcess(r.conditions[i].script, v)
		switch {
		case !ok:
			return maybe
		case status != 0:
			return never
		}
	}
	return sure
}

// open returns the rules that bash has to judge, by their numbers: those before
// the first that is known to hold. sure is that one's number, -1 when there is
// none.
func (j *bashJudge) open(rules []*rule, v commandValues) (rest []*rule, index []int, holds int) {
	for i, r := range rules {
		switch j.allHold(r, v) {
		case sure:
			return rest, index, i
		case maybe:
			rest = append(rest, r)
			index = append(index, i)
		}
	}
	return rest, index, -1
}

// plainValue excludes what bash cannot hold, or uses as its own marks.
func plainValue(s string) bool { return !strings.ContainsAny(s, "\x00\x01\x7f") }

// dir returns the working directory. It leaves when bash could not work there, or
// would call it otherwise.
func (x *inShell) dir() string {
	dir := x.v.dir
	if !x.dirKnown {
		if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || !plainValue(dir) {
			x.leave()
			return ""
		}
		fi, err := os.Stat(dir)
		if err != nil || !fi.IsDir() || !accessible(dir, accessExec) {
			x.leave()
		}
		x.dirKnown = true
	}
	return dir
}

func newInProcess(environ []string) *inProcess {
	m := &inProcess{
		environ:  make(map[string]string, len(environ)),
		twice:    map[string]bool{},
		tools:    map[string]bool{},
		programs: map[string]*inProgram{},
	}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if _, ok := m.environ[name]; ok {
			m.twice[name] = true
		}
		m.environ[name] = value
	}
	m.loc = m.locale()
	return m
}

// program parses a condition once.
func (m *inProcess) program(script string) *inProgram {
	p := m.programs[script]
	if p == nil {
		p = &inProgram{matchers: map[matcherKey]*matcher{}}
		m.programs[script] = p
		// The C library and the programs are those of GNU/Linux here; what
		// others do was not compared.
		if runtime.GOOS != "linux" {
			return p
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
		if err == nil && inSubset(file) {
			p.stmts = file.Stmts
		}
	}
	return p
}

// inSubset says that the text holds only constructs on which the parser and
// bash agree, also where they would not be run.
func inSubset(file *syntax.File) bool {
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.File, *syntax.Comment, *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell,
			*syntax.IfClause, *syntax.CaseClause, *syntax.CaseItem, *syntax.TestClause, *syntax.UnaryTest, *syntax.ParenTest,
			*syntax.Lit, *syntax.ParamExp, *syntax.Assign:
		case *syntax.Word:
			ok = ok && n.Lit() != "]]" // to bash it ends [[ wherever it stands
		case *syntax.BinaryTest:
			if w, is := n.Y.(*syntax.Word); is {
				ok = ok && plainOperand(w)
			}
		case *syntax.SglQuoted:
			ok = ok && !n.Dollar
		case *syntax.DblQuoted:
			ok = ok && !n.Dollar
		case *syntax.CmdSubst:
			ok = ok && !n.Backquotes && !n.TempFile && !n.ReplyVar && len(n.Stmts) > 0
		case *syntax.Stmt:
			ok = ok && !n.Background && !n.Coprocess && !n.Disown && n.Cmd != nil
		case *syntax.Redirect:
			ok = ok && n.Hdoc == nil
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// plainOperand says that bash finds the end of a right side in [[ ]] where the
// parser does: parentheses are closed, and hold nothing that ends a word.
func plainOperand(w *syntax.Word) bool {
	depth := 0
	for _, p := range w.Parts {
		l, is := p.(*syntax.Lit)
		if !is {
			continue
		}
		for i := 0; i < len(l.Value); i++ {
			switch l.Value[i] {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				depth--
			case ' ':
				if depth == 0 {
					return false
				}
			case '\t', '\n', ';', '&', '<', '>', '`', '#':
				return false
			}
			if depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// tool says that PATH leads to the system's own program of that name, and not
// to a wrapper or to another implementation.
func (m *inProcess) tool(j *bashJudge, name string) bool {
	is, known := m.tools[name]
	if !known {
		is = m.systemTool(j, name)
		m.tools[name] = is
	}
	return is
}

func (m *inProcess) systemTool(j *bashJudge, name string) bool {
	path := m.environ["PATH"]
	if m.twice["PATH"] {
		return false
	}
	if !strings.Contains(path, "/") {
		path = "/usr/local/bin:/usr/bin:/bin" // as cleanPath
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue
		}
		f := filepath.Join(d, name)
		fi, err := os.Lstat(f)
		if err != nil || fi.IsDir() {
			continue
		}
		switch filepath.Clean(d) {
		case "/bin", "/usr/bin", "/usr/local/bin", "/usr/sbin", "/sbin":
			if fi.Mode()&os.ModeSymlink != 0 { // busybox, toybox, a shim: another name
				real, err := filepath.EvalSymlinks(f)
				if err != nil || filepath.Base(real) != name {
					return false
				}
				if fi, err = os.Lstat(real); err != nil {
					return false
				}
			}
			return fi.Mode().IsRegular() && fi.Mode()&0o111 == 0o111 && !onMusl()
		}
		if !j.isShims(d) {
			return false
		}
	}
	return false
}

// onMusl says that programs here may use musl, whose regular expressions and
// locales are others.
func onMusl() bool {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "i386", "arm": "armhf"}[runtime.GOARCH]
	return exists("/etc/alpine-release") || arch != "" && exists("/lib/ld-musl-"+arch+".so.1")
}
