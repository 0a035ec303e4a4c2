package script

import (
	"slices"
	"strings"
)

// fish is a shell whose grammar is not analysed beyond simple commands.
const fish Dialect = "fish"

// shellDialect returns the dialect of a shell by its base name; empty when it
// is none.
func shellDialect(name string) Dialect {
	name = strings.TrimPrefix(name, "-") // a login shell
	switch name {
	case "bash", "rbash", "ksh", "ksh93", "mksh", "oksh", "pdksh", "bash5", "bash-static", "osh", "oil", "ysh":
		return Bash
	case "sh", "dash", "ash", "posh", "yash":
		return POSIX
	case "zsh", "rzsh", "zsh5":
		return Zsh
	case "fish":
		return fish
	}
	return ""
}

// shellArgs is a shell's command line taken apart.
type shellArgs struct {
	code   *Word
	script *Word
	args   []Word // after code or script
	stdin  bool
	init   []Word // --rcfile
}

// parseShell follows the option grammar that shells share: options go on to
// the end, then comes the code of -c.
func parseShell(args []Word, d Dialect) (s shellArgs) {
	code := false
	i := 0
	for i < len(args) {
		t, ok := args[i].Text()
		if !ok || len(t) == 0 || t[0] != '-' && t[0] != '+' {
			break
		}
		i++
		if t == "-" || t == "--" {
			break
		}
		if t == "+" {
			i--
			break
		}
		if strings.HasPrefix(t, "--") {
			switch t {
			case "--rcfile", "--init-file":
				if i < len(args) {
					s.init = append(s.init, args[i])
				}
				i++
			case "--emulate":
				i++
			}
			continue
		}
		for j := 1; j < len(t); j++ {
			switch t[j] {
			case 'c':
				code = code || t[0] == '-'
			case 's':
				s.stdin = s.stdin || t[0] == '-'
			case 'o', 'O':
				if t[j] == 'O' && d != Bash {
					continue
				}
				if d == Zsh && j < len(t)-1 {
					j = len(t) // zsh: -oerrexit
					continue
				}
				i++
			}
		}
	}
	rest := args[min(i, len(args)):]
	switch {
	case code && len(rest) > 0:
		s.code, s.args = &rest[0], rest[1:]
	case code:
	case s.stdin || len(rest) == 0:
		s.stdin, s.args = true, rest
	default:
		s.script, s.args = &rest[0], rest[1:]
	}
	return s
}

// parseFish follows fish: the word after -c is the code, several may come.
func parseFish(args []Word) (s shellArgs, more []Word) {
	for i := 0; i < len(args); i++ {
		t, ok := args[i].Text()
		switch {
		case !ok || t == "" || t[0] != '-':
			if len(more) > 0 {
				return s, more
			}
			s.script, s.args = &args[i], args[i+1:]
			return s, more
		case t == "--":
		case strings.HasPrefix(t, "--command="), strings.HasPrefix(t, "--init-command="):
			_, v, _ := strings.Cut(t, "=")
			more = append(more, Lit(v))
		case t == "--command" || t == "--init-command" || t[1] != '-' && strings.IndexAny(t, "cC") == len(t)-1:
			if i++; i < len(args) {
				more = append(more, args[i])
			}
		case t[1] != '-' && strings.IndexAny(t, "cC") > 0:
			more = append(more, Lit(t[strings.IndexAny(t, "cC")+1:]))
		case t == "-d" || t == "-o" || t == "-D" || t == "-f" || t == "--features" || t == "--debug" || t == "--debug-output" || t == "--profile" || t == "-p":
			i++
		}
	}
	s.stdin = len(more) == 0
	return s, more
}

// shell follows a shell: the code that it is given, wherever it stands.
func (a *analyzer) shell(k *call, i int, name string, d Dialect) {
	args := k.argv[1:]
	var s shellArgs
	codes := []Word(nil)
	if d == fish {
		s, codes = parseFish(args)
	} else {
		s = parseShell(args, d)
		if s.code != nil {
			codes = []Word{*s.code}
		}
	}
	for _, w := range s.init {
		a.runFile(w, k, k.c, d, a.child(k))
	}
	via := name
	if len(codes) > 0 {
		via = name + " -c"
	}
	c := k.inner(via)
	st := a.child(k)
	st.params, st.paramsLost, st.fuzzy = s.args, false, slices.ContainsFunc(s.args, mayBeMany)
	switch {
	case len(codes) > 0:
		if len(s.args) > 0 {
			st.zero, st.params = &s.args[0], s.args[1:]
		} else {
			z := Lit(name)
			st.zero = &z
		}
		for _, w := range codes {
			a.codeWord(w, d, st, c, "the code given to "+via)
		}
	case s.script != nil:
		a.runFile(*s.script, k, c, d, st)
	case k.c.stdin != nil:
		in := *k.c.stdin
		c.stdin, c.fedBy = nil, nil // its commands read what is left of it
		a.codeWord(in, d, st, c, "the input of "+name)
	case len(k.c.fedBy) == 0 || len(k.c.redirs)+len(k.redirs) > 0:
		a.redirectedScript(k, c, d, st)
	}
	if len(codes) == 0 {
		k.c.sink.lose()
	}
}

// redirectedScript follows sh < file.
func (a *analyzer) redirectedScript(k *call, c *ctx, d Dialect, st *state) {
	for _, r := range slices.Backward(k.redirs) {
		if (r.Op == "<" || r.Op == "<>") && r.Fd <= 0 {
			a.runFile(r.Target, k, c, d, st)
			return
		}
	}
}

// inner is the surrounding of code that k runs itself: the same streams.
func (k *call) inner(via string) *ctx {
	c := *k.c
	c.via = append(c.via[:len(c.via):len(c.via)], via)
	k.pass(&c)
	c.traps = nil
	c.redirs = nil
	return &c
}

// child is the state of a shell that k starts: the directory and what is
// exported.
func (a *analyzer) child(k *call) *state {
	st := &state{dir: k.dir, old: k.st.old, oldKnown: k.st.oldKnown, noEnv: k.noEnv || k.st.noEnv, paramsLost: true, lost: k.st.lost, budget: a.budget}
	if !k.noEnv {
		for n, v := range k.st.vars {
			if v.kind == isArray {
				v = value{}
			} else if !v.exported {
				// A variable from the environment stays exported when it is
				// assigned; another one is not there.
				inEnv := false
				if a.o.Lookup != nil && !k.st.noEnv {
					_, inEnv = a.o.Lookup(n)
				}
				if !inEnv {
					v = value{alt: alternatives(v, v)}
				}
			}
			v.integer, v.odd, v.ref = false, false, ""
			st.set(n, v)
		}
	}
	for _, as := range k.assigns {
		st.set(as.Name, value{kind: isScalar, parts: as.Value.Parts, exported: true})
	}
	for n, fs := range k.st.funcs {
		// It is there if it was exported.
		if st.funcs == nil {
			st.funcs = make(map[string][]*function, len(k.st.funcs))
		}
		if !slices.Contains(fs, nil) {
			fs = append(slices.Clip(fs), nil)
		}
		st.funcs[n] = fs
	}
	return st
}

// codeWord analyses text that becomes code. Where parts of it are not known,
// the rest is looked at with holes in their place.
func (a *analyzer) codeWord(w Word, d Dialect, st *state, c *ctx, what string) {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0]; {
		case p.content != nil && p.substPath():
			a.codeWord(*p.content, d, st, c, what)
			return
		case p.Kind == Output:
			return // the rules judge by the producer
		}
	}
	w.Parts = merge(w.Parts)
	t, known := w.Text()
	var src *source
	if src = a.inside(t, c); src == nil {
		return
	}
	defer a.outside()
	if !known {
		if !src.fill(w) {
			a.unknown(what+" is not known", c.src, a.at)
			return
		}
		for _, p := range w.Parts {
			if p.Kind != Literal && p.Kind != Glob && !pasteable(p) {
				a.unknown(what+" holds text that is not known: "+clip(partName(p)), c.src, a.at)
				break
			}
		}
	}
	if d == fish {
		a.fishCode(src, st, c)
		return
	}
	a.code(*src, d, st, c)
}

// fishCode reads fish as far as it is like other shells.
func (a *analyzer) fishCode(src *source, st *state, c *ctx) {
	if containsAny(src.text, "(", ")", "{", "}", "`", "$", "\\") || fishWord(src.text) {
		a.unknown("fish code beyond simple commands is not analysed", src, src.span)
	}
	src.lang = Bash
	sub := *c
	sub.src = src
	if u := a.unit(src, st, &sub); u != nil {
		a.unknownAt("fish code beyond simple commands is not analysed", src.span)
	}
}

func fishWord(t string) bool {
	for _, f := range strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune(" \t\n;|&", r) }) {
		switch f {
		case "set", "function", "if", "for", "while", "switch", "begin", "and", "or", "not", "end", "eval", "source", "string":
			return true
		}
	}
	return false
}

// pasteable reports whether an unknown part cannot well turn into code: paths
// and numbers, and operands of xargs and find.
func pasteable(p Part) bool {
	switch p.Kind {
	case TempPath, Operand:
		return true
	case Variable:
		switch p.Name {
		case "?", "$", "!", "#", "-", "PWD", "OLDPWD", "HOME", "TMPDIR", "USER", "LOGNAME", "HOSTNAME", "UID", "EUID",
			"PPID", "RANDOM", "SECONDS", "LINENO", "BASHPID", "SHELL", "PATH", "EPOCHSECONDS", "OSTYPE", "HOSTTYPE":
			return true
		}
		return strings.HasPrefix(p.Name, "((") || strings.HasPrefix(p.Name, "#") || strings.HasPrefix(p.Name, "~")
	case Output:
		name, rest, _ := strings.Cut(p.Name, " ")
		switch name {
		case "pwd", "nproc", "date", "id", "whoami", "hostname", "uname", "pgrep", "pidof", "mktemp", "tput", "arch", "wc", "seq", "getconf":
			return !strings.ContainsAny(rest, "|;&")
		case "git":
			return (strings.HasPrefix(rest, "rev-parse") || strings.HasPrefix(rest, "merge-base")) && !strings.ContainsAny(rest, "|;&")
		case "dirname", "basename", "realpath", "readlink":
			return !strings.ContainsAny(rest, "|;&`")
		}
	}
	return false
}

// eval follows eval.
func (a *analyzer) eval(k *call) {
	args := k.argv[1:]
	if len(args) > 0 {
		if t, _ := args[0].Text(); t == "--" {
			args = args[1:]
		}
	}
	k.fed = append(k.fed, producers(args)...)
	a.emit(k)
	if len(args) == 0 {
		return
	}
	code := join(args)
	c := *k.c
	c.via = append(c.via[:len(c.via):len(c.via)], "eval")
	if len(k.redirs) > 0 {
		c.redirs = append(slices.Clip(c.redirs), k.redirs...)
	}
	undo := a.temporary(k, k.st)
	a.codeWord(code, k.c.src.lang, k.st, &c, "the code given to eval")
	undo()
	if _, ok := code.Text(); !ok {
		k.st.forgetAll()
		a.forgetFunctions(k.st)
		k.c.sink.lose()
	}
}

// producers are the commands whose output stands in the words.
func producers(ws []Word) []int {
	var out []int
	for _, w := range ws {
		for _, p := range w.Parts {
			if p.Kind == Output && p.from > 0 && !slices.Contains(out, int(p.from)-1) {
				out = append(out, int(p.from)-1)
			}
		}
	}
	return out
}

// source follows . and source.
func (a *analyzer) source(k *call) {
	args := k.argv[1:]
	for len(args) > 0 {
		t, ok := args[0].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			break
		}
		args = args[1:]
		if t == "-p" && len(args) > 0 {
			args = args[1:]
		}
	}
	k.fed = append(k.fed, producers(args)...)
	a.emit(k)
	k.c.sink.lose()
	if len(args) == 0 {
		return
	}
	c := *k.c
	c.via = append(c.via[:len(c.via):len(c.via)], "source")
	st := k.st
	params, lost, fuzzy := st.params, st.paramsLost, st.fuzzy
	if len(args) > 1 {
		a.setParams(st, args[1:])
	}
	begin := st.clone()
	a.runFile(args[0], k, &c, k.c.src.lang, st)
	if len(a.fileOf(k.dir, args[0])) > 0 {
		st.join(begin) // whether the file was written at all is not known
	}
	st.params, st.paramsLost, st.fuzzy = params, lost, fuzzy
	if t, _ := args[0].Text(); base(t) != "activate" && len(a.fileOf(k.dir, args[0])) == 0 {
		st.forgetAll()
	}
}

// runFile follows code that is read from a file.
func (a *analyzer) runFile(w Word, k *call, c *ctx, d Dialect, st *state) {
	if len(w.Parts) == 0 {
		return
	}
	if p := w.Parts[0]; len(w.Parts) == 1 && p.substPath() {
		a.codeWord(w, d, st, c, "the code")
		return
	}
	t, known := w.Text()
	switch t {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-":
		if known && k.c.stdin != nil {
			in := *k.c.stdin
			sub := *c
			sub.stdin, sub.fedBy = nil, nil
			a.codeWord(in, d, st, &sub, "the input")
		}
		return
	}
	contents := a.fileOf(k.dir, w)
	if len(contents) == 0 && known && !strings.Contains(t, "/") {
		contents = nil
	}
	begin := st
	if len(contents) > 1 {
		begin = st.clone()
	}
	for i, text := range contents {
		if text == nil {
			a.unknown("it runs a file that the same text wrote: "+clip(wordName(w)), c.src, a.at)
			continue
		}
		run := st
		if i > 0 {
			run = begin.clone()
		}
		a.codeWord(*text, d, run, c, "the file "+clip(wordName(w)))
		if i > 0 {
			st.join(run)
		}
	}
	if len(contents) == 0 && !known && !namesFile(w) {
		a.unknown("it runs a file that is not known: "+clip(wordName(w)), c.src, a.at)
	}
}

// namesFile reports whether a word with unknown parts says at least which file
// it is: $DIR/build.sh, *.sh, what find found.
func namesFile(w Word) bool {
	last := w.Parts[len(w.Parts)-1]
	switch last.Kind {
	case Literal:
		i := strings.LastIndexByte(last.Text, '/')
		return i >= 0 && i+1 < len(last.Text) || slices.ContainsFunc(w.Parts, func(p Part) bool { return p.Kind == Glob })
	case Glob:
		return true
	case Operand:
		return last.Name == "{}" || last.Name == "xargs"
	case TempPath:
		return true
	case Output:
		return baseName(w) != ""
	}
	return false
}
