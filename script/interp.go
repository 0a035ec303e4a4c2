package script

import (
	"slices"
	"strings"
)

// interpreterOf returns the language of an interpreter by its base name; empty
// when it is none.
func interpreterOf(name string) string {
	switch name {
	case "python", "python2", "python3", "pypy", "pypy3", "ipython", "ipython3", "pythonw":
		return langPython
	case "node", "nodejs", "bun", "deno", "tsx", "ts-node", "qjs", "d8":
		return langJS
	case "perl", "perl5":
		return langPerl
	case "ruby", "jruby", "irb", "truffleruby":
		return langRuby
	case "php", "php7", "php8", "php-cli":
		return langPHP
	case "awk", "gawk", "mawk", "nawk", "goawk", "original-awk":
		return langAwk
	case "osascript":
		return langApple
	case "lua", "luajit", "lua5.1", "lua5.3", "lua5.4", "Rscript", "R", "julia", "tclsh", "wish", "elixir", "iex", "erl", "groovy",
		"scala", "raku", "racket", "guile", "sbcl", "ghci", "runghc", "nu", "xonsh", "octave", "gjs", "jshell", "clojure", "bb", "janet":
		return langOther
	}
	if rest, ok := strings.CutPrefix(name, "python"); ok && strings.Trim(rest, "0123456789.") == "" {
		return langPython
	}
	if rest, ok := strings.CutPrefix(name, "perl5."); ok && strings.Trim(rest, "0123456789.") == "" {
		return langPerl
	}
	return ""
}

// interpreter follows the code that an interpreter is given: in its arguments,
// on its standard input, or in a file that the text wrote.
func (a *analyzer) interpreter(k *call, i int, name, lang string) {
	k.c.sink.lose()
	p := parseInterpreter(name, lang, k.argv[1:])
	if fed := producers(k.argv[1:]); len(fed) > 0 {
		a.cmds[i].FedBy = appendNew(a.cmds[i].FedBy, fed)
	}
	run := func(w Word, what string) { a.runCode(k, i, w, lang, name, p.args, what) }
	switch {
	case p.module:
	case len(p.code) > 0:
		for _, w := range p.code {
			run(w, "the code given to "+name)
		}
	case p.script != nil:
		a.interpFile(k, *p.script, run)
	case p.stdin && k.c.stdin != nil:
		run(*k.c.stdin, "the input of "+name)
	case p.stdin:
		for _, r := range slices.Backward(k.redirs) {
			if r.Op == "<" && r.Fd <= 0 {
				a.interpFile(k, r.Target, run)
				break
			}
		}
	}
	if lang == langAwk || name == "bun" || name == "deno" {
		a.writes(k, name)
	}
}

// interpFile follows a script: what the text wrote to it, or what a process
// substitution gives.
func (a *analyzer) interpFile(k *call, w Word, run func(Word, string)) {
	if len(w.Parts) == 1 && w.Parts[0].substPath() {
		if c := w.Parts[0].content; c != nil {
			run(*c, "the code")
		}
		return
	}
	if t, _ := w.Text(); (t == "-" || t == "/dev/stdin" || t == "/dev/fd/0") && k.c.stdin != nil {
		run(*k.c.stdin, "the input")
		return
	}
	contents := a.fileOf(k.dir, w)
	for _, c := range contents {
		if c == nil {
			a.unknown("it runs a file that the same text wrote: "+clip(wordName(w)), k.c.src, k.span)
			continue
		}
		run(*c, "the file "+clip(wordName(w)))
	}
	if len(contents) == 0 && !w.Known() && len(w.Parts) > 0 && !namesFile(w) {
		a.unknown("it runs a file that is not known: "+clip(wordName(w)), k.c.src, k.span)
	}
}

// source2 runs the known text of a script in another language.
func (a *analyzer) source2(k *call, i int, text, lang, name string) {
	a.runCode(k, i, Lit(text), lang, name, k.argv[1:], "the file")
}

// runCode analyses code of another language. Parts of it that are not known
// are holes, as in shell code.
func (a *analyzer) runCode(k *call, i int, w Word, lang, name string, args []Word, what string) {
	if len(w.Parts) == 1 && w.Parts[0].Kind == Output {
		return // the rules judge by the producer
	}
	text, known := w.Text()
	src := a.inside(text, k.c)
	if src == nil {
		return
	}
	defer a.outside()
	if !known {
		if !src.fill(w) {
			a.unknown(what+" is not known", k.c.src, k.span)
			return
		}
		if lit := litText(w); !strings.ContainsAny(lit, "abcdefghijklmnopqrstuvwxyz") {
			a.unknown(what+" is not known: "+clip(wordName(w)), k.c.src, k.span)
			return
		}
	}
	c := k.inner(name)
	c.sink, c.stdin, c.fedBy = nil, nil, nil
	if c.astray == "" {
		c.astray = codeLost(src.text)
	}
	c.src = &source{nested: true, span: a.at, lang: Bash, budget: a.budget}
	p := &interp{a: a, k: k, c: c, idx: i, lang: lang, name: name, args: args, dir: k.dir, src: src, st: a.child(k)}
	p.run(src.text, 0)
}

func litText(w Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind == Literal {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// interp is one piece of code of another language.
type interp struct {
	a      *analyzer
	k      *call
	c      *ctx
	st     *state
	src    *source
	idx    int // of the interpreter's command
	lang   string
	name   string
	args   []Word
	dir    Word
	moved  bool
	toks   []token
	consts map[string]Word
	lists  map[string][]Word
	alias  map[string]string
	assign map[string]int  // how often a name is assigned
	paths  map[string]bool // names that hold pathlib paths
	code   string
	depth  int
}

// run looks at one text: the code itself, or code inside its strings.
func (p *interp) run(code string, depth int) {
	if depth > 8 || len(code) > maxText {
		p.unknown("code inside code, too deep to analyse")
		return
	}
	if p.lang == langOther || p.lang == langApple {
		p.guess(code)
		return
	}
	l := lex(p.src, code, p.lang)
	sub := *p
	sub.toks, sub.code, sub.depth = l.toks, code, depth
	if sub.consts == nil {
		sub.consts, sub.lists, sub.alias, sub.assign = map[string]Word{}, map[string][]Word{}, map[string]string{}, map[string]int{}
		sub.paths = map[string]bool{}
	}
	sub.prepare()
	for i := range sub.toks {
		if !p.a.step() {
			return
		}
		sub.token(i)
	}
	p.dir, p.moved = sub.dir, sub.moved
	for _, code := range l.inner {
		sub.run(code, depth+1)
	}
}

func (p *interp) unknown(reason string) {
	p.a.unknown(p.name+": "+reason, p.k.c.src, p.k.span)
}

// effect records what a call does to a path.
func (p *interp) effect(kind EffectKind, w Word, recursive bool, name string) {
	if len(w.Parts) == 0 {
		return
	}
	if p.moved {
		w = under(p.dir, w)
	}
	e := Effect{Kind: kind, Path: w, Recursive: recursive, Call: name}
	if cmd := &p.a.cmds[p.idx]; len(cmd.Effects) < 256 {
		cmd.Effects = append(cmd.Effects, e)
	}
}

// shell follows text that the code gives to a shell.
func (p *interp) shell(w Word, dir *Word, what string) { p.feed(w, dir, what, nil) }

// feed is shell with known input for it.
func (p *interp) feed(w Word, dir *Word, what string, stdin *Word) {
	k := *p.k
	k.dir = p.dir
	if dir != nil {
		k.dir = under(p.dir, *dir)
	}
	c := *p.c
	c.stdin = stdin
	from := len(p.a.cmds)
	p.a.codeWord(w, POSIX, p.a.child(&k), &c, "the code given to "+what)
	p.fedLater(from)
}

// fedLater reports shells that read code which the language writes to them.
func (p *interp) fedLater(from int) {
	for i := from; i < len(p.a.cmds); i++ {
		if c := &p.a.cmds[i]; c.Stdin == nil && len(c.FedBy) == 0 && len(c.Via) == len(p.c.via) && len(c.Argv) > 0 && readsCode(c) && !redirectsInput(c) {
			p.unknown("a shell runs what the code writes to it")
		}
	}
}

func redirectsInput(c *Command) bool {
	for _, r := range c.Redirects {
		if r.Fd <= 0 && r.Op == "<" {
			return true
		}
	}
	return false
}

// exec follows a program that the code starts without a shell.
func (p *interp) exec(argv []Word, dir *Word) { p.execFed(argv, dir, nil) }

// execFed is exec with known input.
func (p *interp) execFed(argv []Word, dir *Word, stdin *Word) {
	if len(argv) == 0 {
		return
	}
	from := len(p.a.cmds)
	defer func() { p.fedLater(from) }()
	c := *p.c
	c.stdin = stdin
	k := call{argv: argv, dir: p.dir, st: p.st, c: &c, outside: true, noEnv: p.k.noEnv, assigns: p.k.assigns}
	if dir != nil {
		k.dir = under(p.dir, *dir)
	}
	for i := range argv {
		argv[i].Span = Span{}
	}
	p.a.run(&k)
}

// guess looks at code whose language is not taken apart: it is not known when
// it may run or delete something.
func (p *interp) guess(code string) {
	if p.lang == langApple {
		p.appleScript(code)
		return
	}
	low := strings.ToLower(code)
	for _, w := range []string{"system", "exec", "popen", "spawn", "remove", "unlink", "delete", "shell", "rm ", "rmdir", "rmtree", "run(", "qx", "`", "sh(", "open(", "process"} {
		if strings.Contains(low, w) {
			p.unknown("code that may run or delete something: " + w)
			return
		}
	}
}

// appleScript looks for do shell script and for deletions.
func (p *interp) appleScript(code string) {
	l := lex(p.src, code, langApple)
	t := l.toks
	for i := range t {
		if t[i].kind != tName {
			continue
		}
		switch strings.ToLower(t[i].text) {
		case "script":
			if i >= 2 && strings.EqualFold(t[i-1].text, "shell") && strings.EqualFold(t[i-2].text, "do") && i+1 < len(t) {
				if t[i+1].kind == tString && (i+2 >= len(t) || t[i+2].text != "&") {
					p.shell(t[i+1].word, nil, "do shell script")
				} else {
					p.unknown("do shell script with text that is not known")
				}
			}
		case "doshellscript", "delete", "run":
			if strings.EqualFold(t[i].text, "run") && (i+1 >= len(t) || !strings.EqualFold(t[i+1].text, "script")) {
				continue
			}
			p.unknown("AppleScript that may run or delete something: " + t[i].text)
		}
	}
}
