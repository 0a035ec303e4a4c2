package script

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"safeshell/budget"
)

// analyzer holds one analysis.
type analyzer struct {
	o         Options
	text      string
	cmds      []Command
	unknowns  []Unknown
	arena     []Part
	words     []Word // memory for lists of words
	pending   []int  // commands inside >(...), waiting for their feeder
	files     map[string]written
	followed  []GitAlias
	aliasesOf map[string]GitAliases // by directory and options of git
	active    []*function
	at        Span // of the command being looked at
	budget    *budget.Budget
	depth     int
	nest      int // texts inside texts
	bytes     int // of nested texts
	over      bool
}

// ctx is the surrounding of a statement: what it reads, where it writes, in
// which programs it runs.
type ctx struct {
	src    *source
	via    []string
	remote string
	fedBy  []int
	stdin  *Word
	sink   *sink
	redirs []Redirect
	traps  *[]trapCode
	loop   bool // in a loop whose rounds are not told apart
	guess  bool
	o      *Options
	// See Command.Astray and Command.Swayed: because of what is around.
	astray, swayed string
}

// trapCode is code that runs at a later point of the shell.
type trapCode struct {
	text string
	st   *state
	c    ctx
	at   Span
}

func parse(text string, o Options) (res Analysis) {
	a := &analyzer{o: o, budget: o.Budget, text: text, at: Span{0, len(text)}, cmds: make([]Command, 0, likelyCommands(text))}
	defer func() {
		if r := recover(); r != nil {
			a.unknownAt(fmt.Sprintf("the analysis failed: %v", r), Span{0, len(text)})
		}
		res = a.result()
	}()
	if len(text) > maxText {
		a.exhaust(fmt.Sprintf("the text is longer than %d bytes", maxText))
		return
	}
	if strings.IndexByte(text, 0) >= 0 {
		a.unknownAt("the text holds NUL bytes, which shells treat differently", Span{0, len(text)})
	}
	if o.Dialect == PowerShell {
		a.powershell(text)
		return
	}
	a.code(source{text: text, budget: a.budget}, o.Dialect, a.start(), &ctx{o: &a.o})
	return
}

// likelyCommands guesses how many commands a text holds, so that their list
// need not grow: one and one for each operator.
func likelyCommands(text string) int {
	n := 1
	for i := 0; i < len(text) && n < 8; i++ {
		switch text[i] {
		case '&', '|':
			if i > 0 && text[i-1] == text[i] {
				continue
			}
			n++
		case ';', '\n', '(', '`':
			n++
		}
	}
	return n
}

// start is the state before the first command.
func (a *analyzer) start() *state {
	st := &state{paramsLost: true, budget: a.budget}
	if a.o.Dir != "" {
		st.dir = Lit(a.o.Dir)
	} else {
		st.dir = noDir()
	}
	if a.o.Lookup != nil {
		if t, ok := a.o.Lookup("OLDPWD"); ok {
			st.old, st.oldKnown = Lit(t), true
		}
	}
	return st
}

// result fills in what is derived.
func (a *analyzer) result() Analysis {
	for i := range a.cmds {
		for _, p := range a.cmds[i].FedBy {
			if p >= 0 && p < len(a.cmds) && p != i {
				if to := a.cmds[p].FeedsTo; len(to) == 0 || to[len(to)-1] != i { // the commands come in order
					a.cmds[p].FeedsTo = append(to, i)
				}
			}
		}
	}
	for i := range a.cmds {
		a.gives(i)
	}
	return Analysis{Text: a.text, Commands: a.cmds, Unknown: a.unknowns, Aliases: a.followed, Budget: a.budget}
}

// gives notes whose output stands in the words of a command.
func (a *analyzer) gives(i int) {
	c := &a.cmds[i]
	for _, w := range c.Argv {
		for _, p := range w.Parts {
			switch {
			case p.Kind == Output && p.from > 0 && int(p.from) <= len(a.cmds) && int(p.from)-1 != i:
				a.giveTo(int(p.from)-1, i)
			case p.Kind == Operand && p.Name == "xargs" && len(c.Via) > 0:
				// The xargs is the last before it of one less around it.
				for k := i - 1; k >= 0 && (k&63 != 0 || a.budget.Spend(1)); k-- {
					if x := &a.cmds[k]; len(x.Via) == len(c.Via)-1 && x.Name() == "xargs" {
						for _, f := range x.FedBy {
							a.giveTo(f, i)
						}
						break
					}
				}
			}
		}
	}
}

// giveTo notes it once: the commands come in order.
func (a *analyzer) giveTo(from, to int) {
	if from < 0 || from >= len(a.cmds) || from == to {
		return
	}
	c := &a.cmds[from]
	if n := len(c.GivesTo); n == 0 || c.GivesTo[n-1] != to {
		c.GivesTo = append(c.GivesTo, to)
	}
}

// unknown reports something that cannot be known at a place of a source.
func (a *analyzer) unknown(reason string, src *source, span Span) {
	if src != nil && src.nested {
		span = src.span
	}
	a.unknownAt(reason, span)
}

func (a *analyzer) unknownAt(reason string, span Span) {
	u := Unknown{reason, span}
	if len(a.unknowns) >= 100 || slices.Contains(a.unknowns, u) {
		return
	}
	a.unknowns = append(a.unknowns, u)
}

// inside returns a source for a text within the current command; nil when
// there are too many. Every source must be left with outside.
func (a *analyzer) inside(text string, c *ctx) *source {
	a.bytes += len(text)
	a.spend(4 + len(text)/64)
	if a.nest >= maxCode || a.bytes > maxNested {
		a.exhaust("too much code inside code to analyse")
		return nil
	}
	a.nest++
	src := &source{text: text, nested: true, span: a.at, budget: a.budget}
	if c.src != nil {
		src.lang = c.src.lang
	}
	return src
}

func (a *analyzer) outside() { a.nest-- }

// dialects are the grammars to read a text in, for a shell that may be any of
// them.
func dialects(d Dialect, text string) []Dialect {
	switch d {
	case Bash:
		return bashZsh[:1]
	case Zsh:
		return bashZsh[1:]
	case POSIX:
		// sh is dash here and bash there.
		if simple(text) {
			return bashPOSIX[1:]
		}
		return bashPOSIX[:]
	}
	// zsh's precommand modifiers and loops are words that bash takes for programs.
	if !strings.ContainsAny(text, "$=(\\`<>[*?~") && !strings.HasPrefix(text, "- ") &&
		!containsAny(text, "noglob", "nocorrect", "repeat", "foreach", "emulate", "sched", " - ", ";- ", "\n- ") {
		return bashZsh[:1]
	}
	return bashZsh[:]
}

// What dialects returns parts of.
var (
	bashZsh   = [...]Dialect{Bash, Zsh}
	bashPOSIX = [...]Dialect{Bash, POSIX}
)

// simple reports whether a text means the same to dash and bash: plain words
// and operators, and none of the builtins that differ.
func simple(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte(" \t\n./_-:,+@%=;'\"#^!", c) >= 0:
		case c == '$' && i+1 < len(text) && text[i+1] != '\'' && text[i+1] != '"' && text[i+1] != '{' && text[i+1] != '(' && text[i+1] != '[':
		case c == '|' && (i+1 >= len(text) || text[i+1] != '&'):
		case c == '&' && (i+1 >= len(text) || text[i+1] != '>'):
		case c == '>' && (i+1 >= len(text) || text[i+1] != '('):
		default:
			return false
		}
	}
	return !containsAny(text, "printf", "declare", "typeset", "local", "builtin", "pushd", "popd", "source", "read", "function",
		"let", "export", "echo", "trap", "alias", "select", "time", "coproc", "mapfile", "set", "test", "exec", "command", "hash", "enable", "IFS", "eval")
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}

// code analyses a shell text in every dialect that may read it. st is changed
// as the text changes the shell.
func (a *analyzer) code(src source, d Dialect, st *state, c *ctx) {
	var errs []*Unknown
	ds := dialects(d, src.text)
	begin := st
	if len(ds) > 1 {
		begin = st.clone()
	}
	mark, first := len(a.cmds), 0
	for i, lang := range ds {
		in := &struct {
			src source
			ctx ctx
		}{src, *c}
		in.src.lang, in.ctx.src = lang, &in.src
		run := st
		if i > 0 {
			first = len(a.cmds)
			run = begin.clone()
		}
		if u := a.unit(&in.src, run, &in.ctx); u != nil {
			errs = append(errs, u)
		}
		if i > 0 {
			a.dropTwin(mark, first)
			st.join(run)
		}
	}
	if len(errs) == len(ds) {
		a.unknownAt(errs[0].Reason, errs[0].Span)
	}
}

// dropTwin removes the commands from second on if they are those from first
// to second again.
func (a *analyzer) dropTwin(first, second int) {
	n := second - first
	if len(a.cmds)-second != n {
		return
	}
	for i := range n {
		if !twins(&a.cmds[first+i], &a.cmds[second+i], n) {
			return
		}
	}
	a.truncate(second)
}

// truncate forgets the commands from n on.
func (a *analyzer) truncate(n int) {
	a.cmds = a.cmds[:n]
	a.pending = slices.DeleteFunc(a.pending, func(i int) bool { return i >= n })
}

func twins(x, y *Command, shift int) bool {
	moved := func(p, q int) bool { return p == q || p+shift == q }
	return slices.EqualFunc(x.Argv, y.Argv, sameWord) && sameWord(x.Dir, y.Dir) && slices.Equal(x.Via, y.Via) &&
		x.Remote == y.Remote && x.Span == y.Span && x.Function == y.Function && x.Guess == y.Guess &&
		x.Keyword == y.Keyword && moved(x.TailOf, y.TailOf) && x.TailAt == y.TailAt &&
		slices.EqualFunc(x.FedBy, y.FedBy, moved) && len(x.Effects) == len(y.Effects) &&
		slices.EqualFunc(x.Assigns, y.Assigns, func(p, q Assign) bool { return p.Name == q.Name && sameWord(p.Value, q.Value) }) &&
		slices.EqualFunc(x.Redirects, y.Redirects, func(p, q Redirect) bool {
			return p.Op == q.Op && p.Fd == q.Fd && sameWord(p.Target, q.Target)
		}) &&
		(x.Stdin == nil) == (y.Stdin == nil) && (x.Stdin == nil || sameWord(*x.Stdin, *y.Stdin))
}

// unit analyses one text in one dialect. A parse error is returned, not
// reported; what can be read in spite of it is analysed.
func (a *analyzer) unit(src *source, st *state, c *ctx) (u *Unknown) {
	src.encode()
	if src.lang == POSIX && strings.Contains(src.text, "&>") {
		src.splitAmp()
	}
	if tooManyOpeners(src.text) {
		return &Unknown{"the text has too many brackets to analyse", a.at}
	}
	stmts, u := src.parse()
	traps := c.traps == nil
	if traps {
		c.traps = new([]trapCode)
	}
	a.guarded(stmts, st, c)
	if traps {
		for i := 0; i < len(*c.traps) && i < 64; i++ {
			t := (*c.traps)[i]
			end := st.clone()
			end.dead = false
			end.join(t.st)
			a.at = t.at
			a.shellText(t.text, t.c.src.lang, end, &t.c)
		}
	}
	return u
}

// guarded walks statements; a defect in the walk is reported, not raised.
func (a *analyzer) guarded(stmts []*syntax.Stmt, st *state, c *ctx) {
	depth, nest := a.depth, a.nest
	defer func() {
		if r := recover(); r != nil {
			a.depth, a.nest = depth, nest
			a.unknown(fmt.Sprintf("the analysis failed: %v", r), c.src, Span{0, len(a.text)})
		}
	}()
	a.stmts(stmts, st, c)
}

// shellText analyses known shell text inside the current command, in the shell
// whose state is st.
func (a *analyzer) shellText(text string, d Dialect, st *state, c *ctx) {
	src := a.inside(text, c)
	if src == nil {
		return
	}
	defer a.outside()
	a.code(*src, d, st, c)
}
