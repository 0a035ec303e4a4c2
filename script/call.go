package script

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is one command about to be listed and looked into.
type call struct {
	argv    []Word
	assigns []Assign
	redirs  []Redirect // its own; those around it are in c
	dir     Word
	st      *state // of the shell that runs it
	c       *ctx
	span    Span
	tail    int   // index+1 of the command whose last words these are
	tailAt  int   // from which word on
	fed     []int // further producers: substitutions that become code
	noEnv   bool  // the environment is not that of the shell
	guess   bool
	keyword bool
	fn      bool
	outside bool // not run by the shell: no functions, no builtins
}

// callExpr walks a simple command.
func (a *analyzer) callExpr(x *syntax.CallExpr, s *syntax.Stmt, st *state, c *ctx) outcome {
	span := Span{}
	if len(x.Args)+len(x.Assigns) > 0 {
		span = c.src.spanOf(x.Pos(), x.End())
	}
	outer := a.at
	a.at = span
	defer func() { a.at = outer }()
	pend := len(a.pending)
	argv := a.fields(x.Args, st, c)
	k := &call{argv: argv, dir: st.dir, st: st, c: c, span: span}
	if len(argv) > 0 && len(x.Assigns) > 0 {
		k.assigns = a.prefix(x.Assigns, st, c)
	}
	var r redirSet
	if len(s.Redirs) > 0 {
		sub := *c
		r = a.redirects(s.Redirs, st, c)
		r.streams(&sub)
		k.redirs, k.c = r.list, &sub
	}
	from := len(a.cmds)
	var o outcome
	switch {
	case len(argv) == 0 && len(x.Assigns) == 0:
		a.emit(k) // all words vanished
	case len(argv) == 0:
		o = a.assignments(x.Assigns, k)
	case a.aliased(x, k):
	default:
		o = a.run(k)
	}
	a.feedPending(pend, from)
	r.record(a, st, k.c.sink)
	return o
}

// redirOnly walks redirections without a command.
func (a *analyzer) redirOnly(s *syntax.Stmt, st *state, c *ctx) {
	if len(s.Redirs) == 0 {
		return
	}
	span := c.src.spanOf(s.Redirs[0].Pos(), s.Redirs[len(s.Redirs)-1].Word.End())
	outer := a.at
	a.at = span
	defer func() { a.at = outer }()
	pend := len(a.pending)
	r := a.redirects(s.Redirs, st, c)
	sub := *c
	r.streams(&sub)
	i := a.emit(&call{redirs: r.list, dir: st.dir, st: st, c: &sub, span: span})
	a.feedPending(pend, i)
	r.record(a, st, sub.sink)
}

// aliased looks for an alias that the text defined. Both readings are listed,
// as it depends on the shell's settings whether the alias counts.
func (a *analyzer) aliased(x *syntax.CallExpr, k *call) bool {
	if len(k.st.aliases) == 0 || len(x.Args) == 0 {
		return false
	}
	name := x.Args[0].Lit()
	text, ok := k.st.aliases[name]
	if !ok || name == "" || a.nest >= maxCode/2 {
		return false
	}
	rest := ""
	if len(x.Args) > 1 {
		from, to := int(x.Args[1].Pos().Offset()), int(x.End().Offset())
		if from >= 0 && from <= to && to <= len(k.c.src.text) {
			rest = " " + k.c.src.decode(k.c.src.text[from:to])
		}
	}
	// The alias does not count inside itself.
	other := k.st.clone()
	sub := *k.c
	sub.redirs = append(slices.Clip(sub.redirs), k.redirs...)
	k.st.own()
	delete(k.st.aliases, name)
	a.shellText(text+rest, k.c.src.lang, k.st, &sub)
	k.st.alias(name, text)
	k2 := *k
	k2.st = other
	a.run(&k2)
	k.st.join(other)
	return true
}

// emit lists a command and returns its index.
func (a *analyzer) emit(k *call) int {
	i := len(a.cmds)
	a.spend(2 + len(k.c.via)/2 + (len(k.argv)+len(k.c.redirs)+len(k.redirs)+len(k.c.fedBy))/8)
	cmd := Command{
		Argv: k.argv, Assigns: k.assigns, Redirects: k.redirs, Dir: k.dir, Via: k.c.via,
		Remote: k.c.remote, Stdin: k.c.stdin, Keyword: k.keyword, Function: k.fn,
		Guess: k.guess || k.c.guess, TailOf: k.tail - 1, TailAt: k.tailAt, Span: k.span, Astray: a.astray(k), Swayed: a.swayed(k),
	}
	if k.tail == 0 {
		cmd.TailAt = 0
	}
	if len(k.c.redirs) > 0 {
		cmd.Redirects = append(k.c.redirs[:len(k.c.redirs):len(k.c.redirs)], k.redirs...)
	}
	if n := len(k.c.fedBy) + len(k.fed); n > 0 {
		cmd.FedBy = append(append(make([]int, 0, n), k.c.fedBy...), k.fed...)
	}
	if k.c.src != nil && k.c.src.nested {
		cmd.Nested, cmd.Span = true, k.c.src.span
	}
	a.cmds = append(a.cmds, cmd)
	if k.c.sink != nil {
		k.c.sink.idx = append(k.c.sink.idx, i)
	}
	return i
}

// Name returns the base name of the command word: rm for rm, \rm, /bin/rm and
// $(which rm). It is empty when the word is missing or not known.
func (c *Command) Name() string {
	if len(c.Argv) == 0 {
		return ""
	}
	return baseName(c.Argv[0])
}

func baseName(w Word) string {
	if t, ok := w.Text(); ok {
		return base(t)
	}
	p := w.Parts[len(w.Parts)-1]
	switch {
	case p.Kind == Literal:
		// $DIR/rm
		if i := strings.LastIndexByte(p.Text, '/'); i >= 0 && i+1 < len(p.Text) {
			return p.Text[i+1:]
		}
	case p.Kind == Output && len(w.Parts) == 1:
		for _, by := range []string{"which ", "command -v ", "type -P ", "type -p ", "whence -p ", "brew --prefix "} {
			if t, ok := strings.CutPrefix(p.Name, by); ok && by != "brew --prefix " {
				if t = strings.Trim(strings.TrimSpace(t), `"'`); t != "" && !strings.ContainsAny(t, " \t\n$`;&|<>()*?") {
					return path.Base(t)
				}
			}
		}
	}
	return ""
}

// base is the name of a program: the last component of its path, without the
// ending that Windows gives it (git.exe, called from WSL).
func base(t string) string {
	if i := strings.LastIndexByte(t, '/'); i >= 0 {
		t = t[i+1:]
	}
	return WithoutExe(t)
}

// WithoutExe takes a .exe from the end of a program's name.
func WithoutExe(name string) string {
	if n := len(name) - 4; n > 0 && name[n] == '.' && strings.EqualFold(name[n:], ".exe") {
		return name[:n]
	}
	return name
}

// run lists a command of the shell and follows it: a function, a builtin or a
// program.
func (a *analyzer) run(k *call) outcome {
	if !a.step() {
		return outcome{}
	}
	name, ok := k.argv[0].Text()
	if !ok {
		return a.unnamed(k)
	}
	if k.outside {
		a.program(k, base(name))
		return outcome{}
	}
	if len(k.st.funcs) > 0 {
		if fs, ok := k.st.funcs[name]; ok && len(fs) > 0 {
			return a.callFunctions(fs, k, name)
		}
	}
	if p, ok := k.st.hashed[name]; ok {
		alt := *k
		alt.argv = append([]Word{Lit(p)}, k.argv[1:]...)
		a.program(&alt, base(p))
	}
	if o, ok := a.builtin(k, name); ok {
		return o
	}
	a.program(k, base(name))
	return outcome{}
}

// unnamed lists a command whose word is not known.
func (a *analyzer) unnamed(k *call) outcome {
	if name := baseName(k.argv[0]); name != "" {
		a.program(k, name)
		return outcome{}
	}
	first := k.argv[0]
	if len(first.Parts) == 1 {
		for _, alt := range first.Parts[0].Alt {
			// What the word may be is looked at as if it were that.
			if f := strings.Fields(alt); len(f) > 0 && len(f) < 16 {
				sub := *k
				sub.st = k.st.clone()
				sub.argv = nil
				for _, t := range f {
					sub.argv = append(sub.argv, Word{Parts: []Part{{Text: t}}, Span: first.Span})
				}
				sub.argv = append(sub.argv, k.argv[1:]...)
				a.run(&sub)
			}
		}
	}
	a.unknown("the command name is not known: "+clip(wordName(first)), k.c.src, k.span)
	i := a.emit(k)
	k.c.sink.lose()
	if len(k.argv) > 1 {
		a.guessTail(k, i, wordName(first), 1)
	}
	return outcome{}
}

// clip bounds text that messages show.
func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:57], "") + "..."
	}
	return s
}

// callFunctions follows a call of a function that the text defined.
func (a *analyzer) callFunctions(fs []*function, k *call, name string) outcome {
	call := *k
	call.fn = true
	a.emit(&call)
	begin := k.st
	if len(fs) > 1 {
		begin = k.st.clone()
	}
	c := *k.c
	if len(k.redirs) > 0 {
		c.redirs = append(slices.Clip(c.redirs), k.redirs...)
	}
	for i, f := range fs {
		st := k.st
		if i > 0 {
			st = begin.clone()
		}
		undo := a.temporary(k, st)
		if f == nil {
			sub := *k
			sub.st = st
			if _, ok := a.builtin(&sub, name); !ok {
				a.program(&sub, base(name))
			}
		} else {
			a.callFunction(f, k.argv[1:], false, st, &c)
		}
		undo()
		if i > 0 {
			k.st.join(st)
		}
	}
	return outcome{}
}

// temporary makes the assignments in front of a function or eval visible to
// it; the result takes them back.
func (a *analyzer) temporary(k *call, st *state) func() {
	if len(k.assigns) == 0 {
		return func() {}
	}
	old := make([]saved, 0, len(k.assigns))
	for _, as := range k.assigns {
		v, had := st.vars[as.Name]
		old = append(old, saved{as.Name, v, had})
		st.set(as.Name, value{kind: isScalar, parts: as.Value.Parts, exported: true})
	}
	return func() {
		for _, s := range slices.Backward(old) {
			switch {
			case k.c.src.lang != Bash:
				st.forget(s.name) // kept or not, by shell and command
			default:
				st.restore(s)
			}
		}
	}
}

func (s *state) restore(v saved) {
	s.own()
	if v.had {
		s.vars[v.name] = v.val
	} else {
		delete(s.vars, v.name)
	}
}

// callFunction walks a function's body with its arguments.
func (a *analyzer) callFunction(f *function, args []Word, lost bool, st *state, c *ctx) {
	times := 0
	for _, g := range a.active {
		if g.body == f.body {
			times++
		}
	}
	if times > 1 || len(a.active) > maxCode*2 {
		// Its commands are listed already, with arguments that are not known.
		st.forgetAll()
		return
	}
	if times == 1 {
		args, lost = nil, true
	}
	fuzzy := slices.ContainsFunc(args, mayBeMany)
	if !a.deeper() {
		return
	}
	a.active = append(a.active, f)
	params, paramsLost, wasFuzzy, locals, dead := st.params, st.paramsLost, st.fuzzy, st.locals, st.dead
	st.params, st.paramsLost, st.fuzzy, st.locals = args, lost, fuzzy, new([]saved)
	sub := *c
	sub.src = f.src
	if !f.src.nested {
		outer := a.at
		defer func() { a.at = outer }()
	}
	var traps []trapCode
	if sub.src.lang == Zsh {
		sub.traps = &traps
	}
	o := a.stmt(f.body, st, &sub)
	st.join(o.fail)
	for i := 0; i < len(traps) && i < 64; i++ {
		// zsh runs the EXIT trap of a function when that ends.
		end := st.clone()
		end.dead = false
		a.shellText(traps[i].text, Zsh, end, &traps[i].c)
		st.join(end)
		if c.traps != nil {
			*c.traps = append(*c.traps, traps[i])
		}
	}
	if st.locals != nil {
		for _, v := range slices.Backward(*st.locals) {
			st.restore(v)
		}
	}
	st.params, st.paramsLost, st.fuzzy, st.locals = params, paramsLost, wasFuzzy, locals
	st.dead = dead || st.dead && st.exited
	a.active = a.active[:len(a.active)-1]
	a.depth--
}

// program lists a program and follows what it runs in turn.
func (a *analyzer) program(k *call, name string) int {
	if d, ok := dirOption(name, k.argv, k.dir); ok {
		k.dir = d
	}
	i := a.emit(k)
	a.follow(k, i, name)
	return i
}
