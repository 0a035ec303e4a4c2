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

// interpArgs is an interpreter's command line taken apart.
type interpArgs struct {
	code   []Word
	script *Word
	args   []Word
	stdin  bool
	module bool // python -m: no code of ours
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
	if len(w.Parts) == 1 && w.Parts[0].Kind == Output && strings.HasPrefix(w.Parts[0].Name, "<(") {
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

// parseInterpreter finds the code in an interpreter's arguments.
func parseInterpreter(name, lang string, args []Word) (p interpArgs) {
	switch lang {
	case langJS:
		return parseJS(name, args)
	case langAwk:
		return parseAwk(args)
	}
	i := 0
	for ; i < len(args); i++ {
		t, ok := args[i].Text()
		if !ok {
			break
		}
		if t == "-" {
			p.stdin, p.args = true, args[i+1:]
			return p
		}
		if t == "--" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' {
			break
		}
		if t[1] == '-' {
			if v, is := strings.CutPrefix(t, "--eval="); is {
				p.code = append(p.code, Lit(v))
			} else if (t == "--run" || t == "--eval" || t == "--execute") && i+1 < len(args) {
				i++
				p.code = append(p.code, args[i])
			}
			continue
		}
		i = p.cluster(name, lang, args, i, t)
		if p.module || lang == langPython && len(p.code) > 0 {
			p.args = args[min(i+1, len(args)):]
			return p
		}
	}
	rest := args[min(i, len(args)):]
	switch {
	case len(p.code) > 0:
		p.args = rest
	case len(rest) > 0:
		p.script, p.args = &rest[0], rest[1:]
	default:
		p.stdin = true
	}
	return p
}

// cluster reads one word of short options and returns the index of the last
// word that belongs to it.
func (p *interpArgs) cluster(name, lang string, args []Word, i int, t string) int {
	code, value, rest := "", "", ""
	switch lang {
	case langPython:
		code, value = "c", "WX"
	case langPerl:
		code, rest = "eE", "0lIMmFxiDCVdt"
	case langRuby:
		code, value, rest = "e", "ErICFKxTW", "0iAl"
	case langPHP:
		code, value = "rBRE", "dcfzSt"
	case langApple:
		code, value = "e", "ls"
	default:
		code, value = "eE", "lLpPiCm"
	}
	for j := 1; j < len(t); j++ {
		c := t[j]
		switch {
		case lang == langPython && c == 'm':
			p.module = true
			return i + 1
		case lang == langOther && c == 'c' && (name == "nu" || name == "xonsh"), strings.IndexByte(code, c) >= 0:
			if j+1 < len(t) {
				p.code = append(p.code, Lit(t[j+1:]))
				return i
			}
			if i+1 < len(args) {
				p.code = append(p.code, args[i+1])
			}
			return i + 1
		case lang == langPHP && c == 'f':
			if j+1 == len(t) && i+1 < len(args) {
				p.script = &args[i+1]
				return i + 1
			}
			return i
		case strings.IndexByte(rest, c) >= 0:
			return i
		case strings.IndexByte(value, c) >= 0:
			if j+1 < len(t) {
				return i
			}
			return i + 1
		}
	}
	return i
}

// parseJS reads the command lines of node, bun and deno.
func parseJS(name string, args []Word) (p interpArgs) {
	if (name == "bun" || name == "deno" || name == "tsx") && len(args) > 0 {
		switch t, _ := args[0].Text(); {
		case name == "deno" && t == "eval":
			at := skipOptions(args, 1, " -c --config --import-map --cert --location --ext -L --log-level ")
			if at < len(args) {
				p.code, p.args = append(p.code, args[at]), args[at+1:]
			}
			return p
		case t == "run" && name != "tsx":
			at := skipOptions(args, 1, " -c --config --import-map --cert --location --ext -L --log-level --cwd --preload -r --env-file --filter ")
			if at < len(args) {
				p.script, p.args = &args[at], args[at+1:]
				p.stdin = wordIs(args[at], "-")
			}
			return p
		case name != "tsx" && !strings.HasPrefix(t, "-") && !strings.Contains(t, "."):
			return p // deno test, bun install
		}
	}
	print := false
	for i := 0; i < len(args); i++ {
		t, ok := args[i].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			if len(p.code) > 0 {
				p.args = args[i:]
				return p
			}
			if t == "-" && ok {
				p.stdin, p.args = true, args[i+1:]
				return p
			}
			p.script, p.args = &args[i], args[i+1:]
			return p
		}
		if t == "--" {
			if len(p.code) == 0 && i+1 < len(args) {
				p.script = &args[i+1]
				i++
			}
			p.args = args[min(i+1, len(args)):]
			return p
		}
		for _, o := range []string{"--eval=", "--print="} {
			if v, is := strings.CutPrefix(t, o); is {
				p.code = append(p.code, Lit(v))
			}
		}
		switch t {
		case "-e", "--eval", "-pe", "-ep", "-p", "--print":
			print = print || t != "-e"
			if i+1 < len(args) {
				i++
				p.code = append(p.code, args[i])
			}
		case "-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--input-type", "--env-file", "--preload",
			"--cwd", "--tsconfig", "-P", "--project", "-O", "--compilerOptions", "--watch-path", "--title", "--max-http-header-size":
			i++
		}
	}
	p.stdin = len(p.code) == 0
	return p
}

var wAwk = wrapper{short: "F:v:f:i:e:E:l:L:D?d?o?p?nNOPrsStVhIbBcCgMk", long: " --field-separator --assign --file --include --source --exec --load "}

func parseAwk(args []Word) (p interpArgs) {
	argv := append([]Word{Lit("awk")}, args...)
	opts, at, _ := scan(argv, 1, &wAwk)
	file := false
	for _, o := range opts {
		switch o.name {
		case "-e", "--source":
			if o.value != nil {
				p.code = append(p.code, *o.value)
			}
		case "-f", "--file", "-E", "--exec":
			if o.value != nil {
				file = true
				p.script = o.value
			}
		}
	}
	if len(p.code) == 0 && !file && at < len(argv) {
		p.code = append(p.code, argv[at])
		at++
	}
	p.args = argv[min(at, len(argv)):]
	return p
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
	c.src = &source{nested: true, span: a.at, lang: Bash}
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
