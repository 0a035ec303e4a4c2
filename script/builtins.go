package script

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin lists and follows a shell builtin; ok is false when the name is
// none.
func (a *analyzer) builtin(k *call, name string) (o outcome, ok bool) {
	if k.c.src.lang == POSIX && bashOnly(name) {
		return outcome{}, false
	}
	k.keyword = true
	args := k.argv[1:]
	switch name {
	case "cd", "chdir":
		return a.cd(k), true
	case "pushd", "popd":
		return a.pushd(k, name), true
	case "eval":
		a.eval(k)
	case ".", "source":
		a.source(k)
	case "command", "builtin", "exec", "noglob", "nocorrect", "-", "repeat", "coproc":
		return a.precommand(k, name)
	case "export", "readonly", "declare", "typeset", "local", "integer", "float", "nameref":
		a.emit(k)
		d := decl{variant: name}
		for _, w := range args {
			a.declareWord(&d, w, k.st, k.c)
		}
	case "exit", "logout", "return", "break", "continue":
		a.emit(k)
		switch name {
		case "return": // an error outside functions, and bash goes on
			k.st.dead = len(a.active) > 0 || k.c.src.lang != Bash
		case "break", "continue":
			k.st.dead = k.c.loop
		default:
			k.st.dead, k.st.exited = true, true
		}
	case "set":
		a.emit(k)
		a.set(k)
	case "shift":
		a.emit(k)
		a.shift(k)
	case "unset":
		a.emit(k)
		a.unset(k)
	case "read":
		a.emit(k)
		a.read(k)
	case "mapfile", "readarray":
		a.emit(k)
		a.mapfile(k)
	case "getopts":
		a.emit(k)
		if len(args) > 1 {
			a.assignName(args[1], value{}, k)
		}
	case "let":
		a.emit(k)
		for _, w := range args {
			a.letText(w, k)
		}
	case "trap":
		a.emit(k)
		a.trap(k)
	case "alias":
		a.emit(k)
		a.aliases(k)
	case "unalias":
		a.emit(k)
		a.unalias(k)
	case "hash":
		a.emit(k)
		a.hash(k)
	case "enable":
		a.emit(k)
		if hasFlag(args, 'f') {
			a.unknown("enable -f loads code into the shell", k.c.src, k.span)
			k.st.foreign = "enable -f may have made a builtin of it"
		}
	case "test", "[":
		a.emit(k)
		for i := 0; i+1 < len(args); i++ {
			if t, _ := args[i].Text(); t == "-v" || t == "-R" {
				a.variableName(args[i+1], k.st, k.c)
			}
		}
	case "printf":
		a.emit(k)
		a.printfVar(k)
		a.output(k, name)
		return outcome{}, true
	case "echo", "pwd", "print":
		a.emit(k)
		a.output(k, name)
		return outcome{sure: name == "echo"}, true
	case "wait":
		a.emit(k)
		for i := 0; i+1 < len(args); i++ {
			if t, _ := args[i].Text(); t == "-p" {
				a.assignName(args[i+1], value{}, k)
			}
		}
	case "compgen", "complete":
		a.emit(k)
		a.compgen(k)
	case "fc":
		a.emit(k)
		if !hasFlag(args, 'l') {
			a.unknown("fc runs commands from the history", k.c.src, k.span)
		}
	case "emulate", "sched":
		if k.c.src.lang != Zsh {
			k.keyword = false
			return outcome{}, false
		}
		i := a.emit(k)
		a.zshCode(k, i, name)
	case ":", "true", "false", "shopt", "setopt", "unsetopt", "umask", "ulimit", "jobs", "times", "bg", "fg",
		"disown", "kill", "dirs", "caller", "bind", "history", "suspend", "compopt", "type", "whence", "where",
		"help", "zmodload", "autoload", "zle", "bindkey", "compdef", "zstyle", "functions", "rehash", "unhash":
		if (name == "compdef" || name == "where" || name == "functions") && k.c.src.lang != Zsh {
			k.keyword = false
			return outcome{}, false
		}
		a.emit(k)
		a.shellOptions(k, name)
		if name != ":" && name != "true" && name != "false" && name != "shopt" && name != "umask" {
			k.c.sink.lose()
		}
		return outcome{sure: name == ":" || name == "true"}, true
	default:
		k.keyword = false
		return outcome{}, false
	}
	return outcome{}, true
}

// bashOnly names builtins that dash does not have.
func bashOnly(name string) bool {
	switch name {
	case "pushd", "popd", "source", "builtin", "declare", "typeset", "integer", "float", "nameref", "mapfile", "readarray",
		"let", "enable", "print", "compgen", "complete", "fc", "shopt", "setopt", "unsetopt", "logout", "disown", "dirs", "caller",
		"bind", "history", "suspend", "compopt", "whence", "where", "help", "zmodload", "autoload", "zle", "bindkey", "compdef",
		"zstyle", "functions", "rehash", "unhash", "noglob", "nocorrect", "-", "repeat", "emulate", "sched":
		return true
	}
	return false
}

// hasFlag reports whether a cluster of options holds a letter.
func hasFlag(args []Word, letter byte) bool {
	for _, w := range args {
		t, ok := w.Text()
		if !ok {
			continue
		}
		if t == "--" || len(t) < 2 || t[0] != '-' {
			return false
		}
		if t[1] != '-' && strings.IndexByte(t, letter) > 0 {
			return true
		}
	}
	return false
}

// tail returns the call of the words of k from at on; via names what runs it.
func (k *call) after(i, at int, via string) *call {
	t := *k
	c := *k.c
	c.via = append(c.via[:len(c.via):len(c.via)], via)
	k.pass(&c)
	t.c, t.argv, t.tail, t.tailAt = &c, k.argv[at:], i+1, at
	t.keyword, t.fn = false, false
	if len(t.argv) > 0 && t.argv[0].Span.Start >= k.span.Start && t.argv[0].Span.End <= k.span.End {
		t.span = Span{t.argv[0].Span.Start, k.span.End}
	}
	return &t
}

// precommand follows the builtins that run their arguments.
func (a *analyzer) precommand(k *call, name string) (outcome, bool) {
	zsh := k.c.src.lang == Zsh
	if (name == "noglob" || name == "nocorrect" || name == "-" || name == "repeat" || name == "coproc") && !zsh {
		k.keyword = false
		return outcome{}, false
	}
	i := a.emit(k)
	if !a.step() || !a.wrapped(k) {
		return outcome{}, true
	}
	at := 1
	switch name {
	case "repeat":
		at = 2
		c := *k.c
		c.loop = true
		k.c = &c
	case "command", "exec":
	opts:
		for at < len(k.argv) {
			t, ok := k.argv[at].Text()
			if !ok || len(t) < 2 || t[0] != '-' {
				break
			}
			at++
			if t == "--" {
				break
			}
			if name == "command" && strings.ContainsAny(t, "vV") {
				k.c.sink.lose()
				return outcome{}, true // asks only where the name leads
			}
			if name == "exec" {
				if j := strings.IndexByte(t, 'a'); j > 0 {
					if j == len(t)-1 {
						at++
					}
					continue opts
				}
			}
		}
	}
	if at >= len(k.argv) {
		if name == "exec" {
			a.execRedirects(k)
		}
		return outcome{}, true
	}
	t := k.after(i, at, name)
	var o outcome
	if n, ok := t.argv[0].Text(); !ok {
		o = a.unnamed(t)
	} else if name == "exec" || name == "command" && zsh {
		// zsh's command runs programs only.
		a.program(t, base(n))
		if name == "exec" {
			k.st.dead, k.st.exited = true, true
		}
	} else if name == "repeat" || name == "noglob" || name == "nocorrect" || name == "-" || name == "coproc" {
		o = a.run(t)
	} else if bo, ok := a.builtin(t, n); ok {
		o = bo
	} else {
		a.program(t, base(n))
	}
	return o, true
}

// execRedirects keeps the redirections of an exec without a command.
func (a *analyzer) execRedirects(k *call) {
	for _, r := range k.redirs {
		if r.Fd <= 0 && (r.Op == "<<" || r.Op == "<<-" || r.Op == "<<<" || r.Op == "<") {
			k.st.stdin = k.c.stdin
		}
		for _, p := range r.Target.Parts {
			if p.Kind == Output && strings.HasPrefix(p.Name, ">(") {
				for _, i := range a.pending {
					if readsCode(&a.cmds[i]) {
						a.unknown("a process runs what is written to it later", k.c.src, k.span)
					}
				}
			}
		}
	}
}

// readsCode reports whether a command is a shell or interpreter that runs its
// standard input.
func readsCode(c *Command) bool {
	name := c.Name()
	if shellDialect(name) == "" && interpreterOf(name) == "" {
		return false
	}
	for _, w := range c.Argv[1:] {
		if t, ok := w.Text(); !ok || !strings.HasPrefix(t, "-") || t == "-c" || t == "-e" || onlyShows(interpreterOf(name), t) {
			return false
		}
	}
	return true
}

// onlyShows reports whether an option makes a shell (of no language) or an
// interpreter show something and end.
func onlyShows(lang, option string) bool {
	switch option {
	case "--version", "--help":
		return true
	case "-V":
		return lang == langPython
	case "-v", "-h":
		return lang == langJS || lang == langPerl || lang == langRuby || lang == langPHP
	case "-i":
		return lang == langPHP
	}
	return false
}

// join puts words together with spaces, as eval and ssh do.
func join(ws []Word) Word {
	if len(ws) == 1 {
		return ws[0]
	}
	out := Word{}
	for i, w := range ws {
		if i > 0 {
			out.Parts = append(out.Parts, Part{Text: " "})
		}
		out.Parts = append(out.Parts, w.Parts...)
	}
	out.Parts = merge(out.Parts)
	return out
}

// declared walks export, declare, local and let.
func (a *analyzer) declared(s *syntax.Stmt, st *state, c *ctx) outcome {
	span := c.src.spanOf(s.Cmd.Pos(), s.Cmd.End())
	outer := a.at
	a.at = span
	defer func() { a.at = outer }()
	pend := len(a.pending)
	sub := *c
	k := &call{dir: st.dir, st: st, c: &sub, span: span, keyword: true}
	switch x := s.Cmd.(type) {
	case *syntax.LetClause:
		k.argv = append(k.argv, Lit("let"))
		for _, e := range x.Exprs {
			a.letExpr(e, k)
		}
	case *syntax.DeclClause:
		k.argv = append(k.argv, Lit(x.Variant.Value))
		d := decl{variant: x.Variant.Value}
		for _, as := range x.Args {
			a.declareArg(&d, as, k)
		}
	}
	r := a.redirects(s.Redirs, st, c)
	k.redirs = r.list
	r.streams(&sub)
	i := a.emit(k)
	a.feedPending(pend, i)
	r.record(a, st, sub.sink)
	return outcome{}
}
