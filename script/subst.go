package script

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sink collects what commands write to a pipe or a substitution.
type sink struct {
	idx   []int  // the commands that write to it
	parts []Part // the text, as far as it is known
	lost  bool   // the text is not known
}

func (s *sink) write(parts ...Part) {
	if s == nil || s.lost {
		return
	}
	if s.parts = merge(append(s.parts, parts...)); len(s.parts) > 64 || len(s.parts) > 0 && len(s.parts[0].Text) > maxValue {
		s.lost = true
	}
}

// lose says that the text is not known.
func (s *sink) lose() {
	if s != nil {
		s.lost = true
	}
}

// word returns the known text.
func (s *sink) word() *Word {
	if s == nil || s.lost {
		return nil
	}
	return &Word{Parts: s.parts}
}

// trimmed returns the known text without its last newlines.
func (s *sink) trimmed() ([]Part, bool) {
	if s.lost {
		return nil, false
	}
	ps := s.parts
	for len(ps) > 0 {
		last := ps[len(ps)-1]
		if last.Kind != Literal {
			return ps, true
		}
		t := strings.TrimRight(last.Text, "\n")
		if t != "" {
			if t == last.Text {
				return ps, true
			}
			out := append([]Part(nil), ps...)
			out[len(out)-1].Text = t
			return out, true
		}
		ps = ps[:len(ps)-1]
	}
	return nil, true
}

// cmdSubst expands $(...).
func (e *expander) cmdSubst(p *syntax.CmdSubst, quoted bool) {
	if !e.a.deeper() {
		return
	}
	defer func() { e.a.depth-- }()
	c := *e.c
	c.sink, c.redirs = &sink{}, nil
	st := e.st
	if !p.TempFile && !p.ReplyVar {
		st = st.clone()
	}
	if text, st2, ok := readsFile(p); ok {
		e.a.fileRead(text, st2, st, &c)
	} else {
		e.a.stmts(p.Stmts, st, &c)
	}
	ps, ok := c.sink.trimmed()
	if !ok || p.ReplyVar {
		e.output([]Part{{Kind: Output, Name: substText(e.c.src.written(p)), from: lastOf(c.sink.idx)}}, quoted)
		return
	}
	if quoted {
		e.has = true
	}
	if !ok || len(ps) == 0 && !quoted {
		return
	}
	e.output(ps, quoted)
}

// readsFile recognises $(< file).
func readsFile(p *syntax.CmdSubst) (*syntax.Word, *syntax.Stmt, bool) {
	if len(p.Stmts) != 1 {
		return nil, nil, false
	}
	s := p.Stmts[0]
	if s.Cmd != nil || len(s.Redirs) != 1 || s.Redirs[0].Op != syntax.RdrIn {
		return nil, nil, false
	}
	return s.Redirs[0].Word, s, true
}

// fileRead lists $(< file) and gives what is known of the file.
func (a *analyzer) fileRead(w *syntax.Word, s *syntax.Stmt, st *state, c *ctx) {
	r := a.redirects(s.Redirs, st, c)
	a.emit(&call{dir: st.dir, st: st, c: c, redirs: r.list, span: c.src.spanOf(s.Pos(), s.End())})
	if len(r.list) == 1 {
		if w := a.fileText(st.dir, r.list[0].Target); w != nil {
			c.sink.write(w.Parts...)
			return
		}
	}
	c.sink.lose()
}

func lastOf(idx []int) int32 {
	if len(idx) == 0 {
		return 0
	}
	return int32(idx[len(idx)-1] + 1)
}

// substText strips $( ) or backquotes.
func substText(s string) string {
	s = strings.TrimPrefix(strings.TrimSuffix(s, ")"), "$(")
	return strings.TrimSpace(strings.Trim(s, "`"))
}

// procSubst lists what <(...) and >(...) run, and gives the path's part.
func (a *analyzer) procSubst(p *syntax.ProcSubst, st *state, c *ctx) Part {
	part := Part{Kind: Output, Name: c.src.written(p)}
	if !a.deeper() {
		return part
	}
	defer func() { a.depth-- }()
	sub := *c
	sub.redirs, sub.sink = nil, nil
	if p.Op == syntax.CmdOut {
		from := len(a.cmds)
		sub.fedBy, sub.stdin = nil, nil
		a.stmts(p.Stmts, st.clone(), &sub)
		for i := from; i < len(a.cmds); i++ {
			a.pending = append(a.pending, i)
		}
		return part
	}
	sub.sink = &sink{}
	a.stmts(p.Stmts, st.clone(), &sub)
	part.from, part.content = lastOf(sub.sink.idx), sub.sink.word()
	return part
}

// substPath reports whether p is a path from which a command's output is read:
// <(cmd), and zsh's =(cmd).
func (p Part) substPath() bool {
	return p.Kind == Output && (strings.HasPrefix(p.Name, "<(") || strings.HasPrefix(p.Name, "=("))
}

func parseDocument(text string, d Dialect) (w *syntax.Word, err error) {
	if tooManyOpeners(text) {
		return nil, fmt.Errorf("too many brackets")
	}
	p := syntax.NewParser(syntax.Variant(variant(d)))
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return p.Document(strings.NewReader(text))
}
