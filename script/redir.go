package script

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirSet is what the redirections of one statement do.
type redirSet struct {
	list  []Redirect
	in    bool  // standard input is redirected
	stdin *Word // its text, when known
	twice bool  // more than one redirection feeds it
	fedBy []int
	out   []Redirect // files that standard output goes to
}

// redirects evaluates redirections.
func (a *analyzer) redirects(list []*syntax.Redirect, st *state, c *ctx) (rs redirSet) {
	if len(list) == 0 {
		return
	}
	rs.list = make([]Redirect, 0, len(list))
	for _, r := range list {
		if r == nil || r.Word == nil || !a.step() {
			continue
		}
		d := Redirect{Op: r.Op.String(), Fd: -1, Span: c.src.spanOf(r.Pos(), r.Word.End())}
		if r.N != nil {
			if n, err := strconv.Atoi(r.N.Value); err == nil {
				d.Fd = n
			} else if name := strings.Trim(r.N.Value, "{}"); name != "" {
				a.hidden(c.src.decode(name), st, c)
				if isName(name) {
					st.forget(name)
				}
				d.Fd = 10
			}
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			d.Target = a.heredoc(r, st, c)
		case syntax.WordHdoc:
			d.Target = a.single(r.Word, st, c, false)
			d.Target.Parts = merge(append(d.Target.Parts, Part{Text: "\n"}))
		default:
			d.Target = a.target(r.Word, st, c)
		}
		rs.list = append(rs.list, d)
		rs.note(a, d, st)
	}
	return rs
}

// target expands the file of a redirection, which is one word.
func (a *analyzer) target(w *syntax.Word, st *state, c *ctx) Word {
	from, uns := len(a.cmds), len(a.unknowns)
	if fs := a.expand(nil, w, st, c); len(fs) == 1 {
		return fs[0]
	}
	a.truncate(from)
	a.unknowns = a.unknowns[:uns]
	return a.single(w, st, c, false)
}

// note records what a redirection means for the standard streams.
func (rs *redirSet) note(a *analyzer, d Redirect, st *state) {
	if rs.in && d.Fd <= 0 && strings.HasPrefix(d.Op, "<") {
		rs.twice = true
	}
	switch d.Op {
	case "<", "<>":
		if d.Fd > 0 {
			return
		}
		rs.in, rs.stdin, rs.fedBy = true, nil, nil
		if t, ok := d.Target.Text(); ok && t == "/dev/null" {
			rs.stdin = &Word{}
			return
		}
		if len(d.Target.Parts) == 1 && d.Target.Parts[0].Kind == Output {
			p := d.Target.Parts[0]
			rs.stdin = p.content
			if p.from > 0 {
				rs.fedBy = []int{int(p.from) - 1}
			}
			return
		}
		rs.stdin = a.fileText(st.dir, d.Target)
	case "<<", "<<-", "<<<":
		if d.Fd > 0 {
			return
		}
		w := d.Target
		rs.in, rs.stdin, rs.fedBy = true, &w, nil
	case "<&":
		if d.Fd <= 0 {
			rs.in, rs.stdin, rs.fedBy = true, nil, nil
		}
	case ">", ">>", ">|", ">>|", "&>", "&>>", "&>|", "&>>|":
		if d.Fd == -1 || d.Fd == 1 {
			rs.out = append(rs.out, d)
		}
	case ">&":
		if t, ok := d.Target.Text(); d.Fd <= 1 && !(ok && (t == "-" || isDigits(t) || isDigits(strings.TrimSuffix(t, "-")))) {
			rs.out = append(rs.out, d)
		}
	}
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// apply changes the surrounding of what is redirected.
func (rs *redirSet) apply(c *ctx) {
	if len(rs.list) > 0 {
		c.redirs = append(c.redirs[:len(c.redirs):len(c.redirs)], rs.list...)
	}
	rs.streams(c)
}

// streams changes the standard streams only.
func (rs *redirSet) streams(c *ctx) {
	switch {
	case !rs.in:
	case c.src.lang == Zsh && (rs.twice || c.stdin != nil || len(c.fedBy) > 0):
		// zsh reads all of them, one after the other (multios).
		c.stdin, c.fedBy = nil, append(c.fedBy[:len(c.fedBy):len(c.fedBy)], rs.fedBy...)
	default:
		c.stdin, c.fedBy = rs.stdin, rs.fedBy
	}
	if len(rs.out) > 0 && (c.src.lang != Zsh || c.sink == nil) {
		c.sink = &sink{}
	}
}

// record notes what was written to files; s is where the output went.
func (rs *redirSet) record(a *analyzer, st *state, s *sink) {
	for i, d := range rs.out {
		var content *Word
		if i == len(rs.out)-1 || a.o.Dialect == Zsh {
			content = s.word()
		} else {
			content = &Word{}
		}
		a.wrote(st.dir, d.Target, content, strings.HasPrefix(d.Op, ">>") || strings.HasPrefix(d.Op, "&>>"))
	}
}

// heredoc returns the body of a here-document.
func (a *analyzer) heredoc(r *syntax.Redirect, st *state, c *ctx) Word {
	if r.Hdoc == nil {
		return Word{}
	}
	w := r.Hdoc
	if r.Op == syntax.DashHdoc {
		w = untabbed(w)
	}
	if quotedWord(r.Word) {
		e := expander{a: a, st: st, c: c}
		for _, p := range w.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				e.raw(l.Value)
			}
		}
		return Word{Parts: a.keep(e.cur), Span: c.src.spanOf(r.Hdoc.Pos(), r.Hdoc.End())}
	}
	b := a.body(w, st, c)
	b.Span = c.src.spanOf(r.Hdoc.Pos(), r.Hdoc.End())
	return b
}

// body expands text as in a here-document whose delimiter is not quoted.
func (a *analyzer) body(w *syntax.Word, st *state, c *ctx) Word {
	if w == nil || len(w.Parts) == 0 {
		return Word{}
	}
	e := expander{a: a, st: st, c: c, span: c.src.spanOf(w.Pos(), w.End())}
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			e.quotedLit(l.Value, false)
			continue
		}
		e.part(p, true)
	}
	return Word{Parts: a.keep(e.cur), Span: e.span}
}

// quotedWord reports whether a here-document's delimiter is quoted.
func quotedWord(w *syntax.Word) bool {
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(l.Value, "\\") {
			return true
		}
	}
	return false
}

// untabbed removes the tabs at the start of lines, as <<- does.
func untabbed(w *syntax.Word) *syntax.Word {
	out := &syntax.Word{Parts: make([]syntax.WordPart, len(w.Parts))}
	start := true
	for i, p := range w.Parts {
		out.Parts[i] = p
		l, ok := p.(*syntax.Lit)
		if !ok {
			start = false
			continue
		}
		lines := strings.SplitAfter(l.Value, "\n")
		for j, line := range lines {
			if start || j > 0 {
				lines[j] = strings.TrimLeft(line, "\t")
			}
		}
		c := *l
		c.Value = strings.Join(lines, "")
		out.Parts[i] = &c
		start = strings.HasSuffix(c.Value, "\n") || start && c.Value == ""
	}
	return out
}
