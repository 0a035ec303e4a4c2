package script

import (
	"slices"
	"strings"
)

// shellOptions notices options that change what words and echo mean.
func (a *analyzer) shellOptions(k *call, name string) {
	switch name {
	case "zmodload", "autoload":
		if len(k.argv) > 1 {
			k.st.foreign = name + " may have made a builtin or a function of it"
		}
	case "setopt", "unsetopt", "shopt":
		for _, w := range k.argv[1:] {
			t, _ := w.Text()
			a.shellOption(k, t)
		}
	}
}

func (a *analyzer) shellOption(k *call, name string) {
	switch strings.ReplaceAll(strings.ToLower(name), "_", "") {
	case "shwordsplit", "globsubst", "rcexpandparam", "rcexpand", "ksharrays", "shnullcmd", "ignorebraces", "nobraceexpand", "xpgecho", "bsdecho", "noglob":
		k.st.odd = true
	}
}

// set follows set -- a b.
func (a *analyzer) set(k *call) {
	args := k.argv[1:]
	for i := 0; i < len(args); i++ {
		t, ok := args[i].Text()
		switch {
		case ok && (t == "--" || t == "-"):
			if t == "--" || i+1 < len(args) {
				a.setParams(k.st, args[i+1:])
			}
			return
		case ok && len(t) > 1 && (t[0] == '-' || t[0] == '+'):
			if t[len(t)-1] == 'o' {
				if i++; i < len(args) {
					name, _ := args[i].Text()
					a.shellOption(k, name)
				}
			}
			if k.c.src.lang == Zsh && strings.ContainsAny(t, "yF") || t == "+B" {
				k.st.odd = true
			}
			if k.c.src.lang == Zsh && strings.ContainsRune(t, 'A') && i+1 < len(args) {
				a.assignName(args[i+1], value{}, k)
				return
			}
		default:
			a.setParams(k.st, args[i:])
			return
		}
	}
}

func (a *analyzer) setParams(st *state, args []Word) {
	st.params, st.paramsLost, st.fuzzy = args, false, slices.ContainsFunc(args, mayBeMany)
}

func (a *analyzer) shift(k *call) {
	n := 1
	if len(k.argv) > 1 {
		t, ok := k.argv[1].Text()
		if !ok || !isDigits(t) || len(t) > 3 {
			k.st.params, k.st.paramsLost = nil, true
			return
		}
		n = 0
		for _, c := range []byte(t) {
			n = n*10 + int(c-'0')
		}
	}
	if k.st.paramsLost || k.st.fuzzy {
		k.st.params, k.st.paramsLost, k.st.fuzzy = nil, true, false
		return
	}
	if n <= len(k.st.params) {
		k.st.params = k.st.params[n:]
	}
}

// trap remembers the code of a trap; it runs with what is known then.
func (a *analyzer) trap(k *call) {
	args := k.argv[1:]
	for len(args) > 0 {
		t, ok := args[0].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			break
		}
		args = args[1:]
		if t == "--" {
			break
		}
		if strings.ContainsAny(t, "pl") {
			return
		}
	}
	if len(args) < 2 {
		return
	}
	t, ok := args[0].Text()
	if !ok {
		c := *k.c
		c.via = append(c.via[:len(c.via):len(c.via)], "trap")
		a.codeWord(args[0], k.c.src.lang, k.st.clone(), &c, "the code of trap")
		return
	}
	if t == "" || t == "-" || isDigits(t) {
		return
	}
	c := *k.c
	c.via = append(c.via[:len(c.via):len(c.via)], "trap")
	c.sink, c.fedBy, c.stdin = nil, nil, nil
	for _, w := range args[1:] {
		switch s, _ := w.Text(); strings.TrimPrefix(strings.ToUpper(s), "SIG") {
		case "DEBUG", "ERR", "ZERR", "RETURN":
			// It runs between the commands that follow.
			run, mark := k.st.clone(), len(a.cmds)
			a.shellText(t, c.src.lang, run, &c)
			if !run.same(k.st) {
				a.unknown("a trap changes the shell at any later point", k.c.src, k.span)
			}
			a.truncate(mark)
		}
	}
	if c.traps == nil {
		a.shellText(t, c.src.lang, k.st.clone(), &c)
		return
	}
	*c.traps = append(*c.traps, trapCode{t, k.st.clone(), c, a.at})
}

func (a *analyzer) aliases(k *call) {
	for _, w := range k.argv[1:] {
		t, ok := w.Text()
		if !ok {
			name := wordName(Word{Parts: w.Parts[:1]})
			if i := strings.IndexByte(name, '='); i > 0 && w.Parts[0].Kind == Literal {
				a.unknown("the text of an alias is not known: "+clip(name[:i]), k.c.src, k.span)
			}
			continue
		}
		if i := strings.IndexByte(t, '='); i > 0 {
			k.st.alias(t[:i], t[i+1:])
		}
	}
}

func (a *analyzer) unalias(k *call) {
	k.st.own()
	for _, w := range k.argv[1:] {
		if t, _ := w.Text(); t == "-a" {
			clear(k.st.aliases)
		} else {
			delete(k.st.aliases, t)
		}
	}
}

// hash follows hash -p path name (bash) and hash name=path (zsh): the name
// then runs another program.
func (a *analyzer) hash(k *call) {
	args := k.argv[1:]
	put := func(name, p Word) {
		n, okN := name.Text()
		t, okP := p.Text()
		if !okN || !okP {
			a.unknown("hash makes a name run a program that is not known", k.c.src, k.span)
			return
		}
		k.st.own()
		if k.st.hashed == nil {
			k.st.hashed = make(map[string]string, 1)
		}
		k.st.hashed[n] = t
	}
	for i, w := range args {
		t, _ := w.Text()
		if strings.HasPrefix(t, "-") && strings.HasSuffix(t, "p") && i+1 < len(args) {
			for _, n := range args[min(i+2, len(args)):] {
				put(n, args[i+1])
			}
			return
		}
		if n, p, ok := strings.Cut(t, "="); ok && k.c.src.lang == Zsh {
			put(Lit(n), Lit(p))
		}
	}
}

// compgen follows the forms that run or expand something at once.
func (a *analyzer) compgen(k *call) {
	k.c.sink.lose()
	if n, _ := k.argv[0].Text(); n != "compgen" {
		return
	}
	for i := 1; i+1 < len(k.argv); i++ {
		switch t, _ := k.argv[i].Text(); t {
		case "-C", "-F":
			a.codeWord(k.argv[i+1], k.c.src.lang, k.st.clone(), k.c, "the code of compgen")
		case "-W":
			if t, ok := k.argv[i+1].Text(); ok {
				a.hidden(t, k.st, k.c)
			}
		}
	}
}

// zshCode follows emulate sh -c code and sched +5 code.
func (a *analyzer) zshCode(k *call, i int, name string) {
	args := k.argv[1:]
	if name == "sched" {
		if len(args) > 1 {
			a.codeWord(join(args[1:]), Zsh, k.st.clone(), k.c, "the code of sched")
		}
		return
	}
	k.st.odd = true
	for j, w := range args {
		if t, _ := w.Text(); t == "-c" && j+1 < len(args) {
			a.codeWord(args[j+1], Zsh, k.st, k.c, "the code of emulate -c")
		}
	}
}
