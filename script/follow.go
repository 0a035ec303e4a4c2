package script

import (
	"path"
	"slices"
	"strings"
)

// follow looks into what a program runs in turn. i is its index; name its base
// name.
func (a *analyzer) follow(k *call, i int, name string) {
	if !a.deeper() {
		return
	}
	defer func() { a.depth-- }()
	if fed := substituted(k.argv); len(fed) > 0 {
		a.cmds[i].FedBy = append(a.cmds[i].FedBy, fed...)
	}
	if d := shellDialect(name); d != "" {
		if fed := producers(k.argv[1:]); len(fed) > 0 {
			a.cmds[i].FedBy = appendNew(a.cmds[i].FedBy, fed)
		}
		a.shell(k, i, name, d)
		return
	}
	if w := launcherOf(name); w != nil {
		a.wrap(k, i, name, w)
		return
	}
	if a.carrier(k, i, name) {
		return
	}
	if lang := interpreterOf(name); lang != "" {
		a.interpreter(k, i, name, lang)
		return
	}
	a.output(k, name)
	a.writes(k, name)
	if a.ranFile(k, i) {
		return
	}
	if !knownProgram(name) && !slices.Contains(a.o.Wrappers, name) {
		a.guessTail(k, i, name, 1)
		a.guessOptions(k, name)
	} else if slices.Contains(a.o.Wrappers, name) {
		a.ownWrapper(k, i, name)
	}
}

// substituted are the producers of the process substitutions in the words.
func substituted(ws []Word) []int {
	var out []int
	for _, w := range ws {
		for _, p := range w.Parts {
			if p.from > 0 && p.substPath() {
				out = appendNew(out, []int{int(p.from) - 1})
			}
		}
	}
	return out
}

func appendNew(out, more []int) []int {
	for _, i := range more {
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// ranFile follows a program that the same text wrote: ./x.sh.
func (a *analyzer) ranFile(k *call, i int) bool {
	if len(a.files) == 0 || len(k.argv) == 0 {
		return false
	}
	contents := a.fileOf(k.dir, k.argv[0])
	if len(contents) == 0 {
		return false
	}
	name := wordName(k.argv[0])
	for _, w := range contents {
		t, ok := "", false
		if w != nil {
			t, ok = w.Text()
		}
		line, _, _ := strings.Cut(t, "\n")
		d, runs := POSIX, *k
		if ok && strings.HasPrefix(line, "#!") {
			f := strings.Fields(line[2:])
			if len(f) > 1 && base(f[0]) == "env" {
				f = f[1:]
			}
			interp := ""
			if len(f) > 0 {
				interp = base(f[0])
				runs.argv = nil
				for _, s := range f {
					runs.argv = append(runs.argv, Lit(s))
				}
			}
			if d = shellDialect(interp); d == "" {
				if lang := interpreterOf(interp); lang != "" {
					a.source2(k, i, t, lang, interp)
					continue
				}
				ok = false
			}
		}
		if w == nil || !ok && d == "" {
			a.unknown("it runs a file that the same text wrote: "+clip(name), k.c.src, k.span)
			continue
		}
		if !ok || !strings.HasPrefix(line, "#!") {
			runs.argv = []Word{Lit("sh")}
		}
		c := runs.inner(base(name))
		st := a.child(k)
		st.params, st.paramsLost = k.argv[1:], false
		a.codeWord(*w, d, st, c, "the file "+clip(name))
	}
	return true
}

// writes records the files that programs are known to write for their own
// arguments, so that running them later is seen.
func (a *analyzer) writes(k *call, name string) {
	args := k.argv[1:]
	switch name {
	case "tee":
		more := hasFlag(args, 'a') || hasWord(args, "--append")
		for _, w := range args {
			if t, ok := w.Text(); !ok || !strings.HasPrefix(t, "-") {
				a.wrote(k.dir, w, k.c.stdin, more)
			}
		}
	case "curl", "wget", "aria2c":
		for j, w := range args {
			t, _ := w.Text()
			switch {
			case (t == "-o" || t == "--output" || t == "-O" && name == "wget" || t == "--output-document") && j+1 < len(args):
				a.wrote(k.dir, args[j+1], nil, false)
			case strings.HasPrefix(t, "--output="):
				a.wrote(k.dir, Lit(t[len("--output="):]), nil, false)
			case strings.HasPrefix(t, "--output-document="):
				a.wrote(k.dir, Lit(t[len("--output-document="):]), nil, false)
			case len(t) > 2 && t[0] == '-' && t[1] != '-' && (strings.HasSuffix(t, "o") && name == "curl" || strings.HasSuffix(t, "O") && name == "wget") && j+1 < len(args):
				a.wrote(k.dir, args[j+1], nil, false)
			case len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.HasSuffix(t, "O"), t == "-O", t == "--remote-name", name == "wget":
				for _, u := range args {
					if s, ok := u.Text(); ok && strings.Contains(s, "/") && !strings.HasPrefix(s, "-") {
						if b := path.Base(s); b != "/" {
							a.wrote(k.dir, Lit(b), nil, false)
						}
					}
				}
			}
		}
	case "cp", "mv", "ln", "install", "ginstall":
		a.copies(k, args)
	case "dd":
		for _, w := range args {
			if t, ok := w.Text(); ok && strings.HasPrefix(t, "of=") {
				a.wrote(k.dir, Lit(t[3:]), nil, false)
			}
		}
	case "sed", "perl", "gsed":
		if !hasFlag(args, 'i') && !hasWord(args, "--in-place") {
			return
		}
		for _, w := range args {
			if f := a.fileOf(k.dir, w); len(f) > 0 {
				a.wrote(k.dir, w, nil, false)
			}
		}
	}
}

func hasWord(args []Word, word string) bool {
	return slices.ContainsFunc(args, func(w Word) bool { t, ok := w.Text(); return ok && t == word })
}

// copies follows cp a b: b then holds what a holds, if the text wrote a.
func (a *analyzer) copies(k *call, args []Word) {
	if len(a.files) == 0 {
		return
	}
	var ops []Word
	for _, w := range args {
		if t, ok := w.Text(); !ok || !strings.HasPrefix(t, "-") {
			ops = append(ops, w)
		}
	}
	if len(ops) < 2 {
		return
	}
	to := ops[len(ops)-1]
	for _, from := range ops[:len(ops)-1] {
		for _, content := range a.fileOf(k.dir, from) {
			a.wrote(k.dir, to, content, false)
			b := wordName(from)
			b = b[strings.LastIndexByte(b, '/')+1:]
			in := Word{Parts: append(slices.Clone(to.Parts), Part{Text: "/" + b})}
			in.Parts = merge(in.Parts)
			a.wrote(k.dir, in, content, false)
		}
	}
}

// ownWrapper follows a wrapper that the user named: its command is the first
// operand.
func (a *analyzer) ownWrapper(k *call, i int, name string) {
	at := 1
	for at < len(k.argv) {
		t, ok := k.argv[at].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			break
		}
		at++
		if t == "--" {
			break
		}
	}
	if at < len(k.argv) {
		t := k.after(i, at, name)
		t.outside = true
		a.run(t)
	}
}

// guessTail lists the arguments of a program that is not known, from the name
// of a destructive program on, as a command that it may run.
func (a *analyzer) guessTail(k *call, i int, name string, from int) {
	if k.guess || k.c.guess {
		return
	}
	first, firstAt := "", 0 // the first word behind this one that is no option
	for at := from; at < len(k.argv); at++ {
		for firstAt <= at || firstAt < len(k.argv) && first == "" {
			if firstAt++; firstAt >= len(k.argv) {
				first = ""
				break
			}
			if first, _ = k.argv[firstAt].Text(); strings.HasPrefix(first, "-") {
				first = ""
			}
		}
		t, ok := k.argv[at].Text()
		if name := base(t); name == "find" && !a.budget.Spend(len(k.argv)/32) {
			return
		} else if !ok || !destructive(name, first, k.argv[at+1:]) {
			continue
		}
		g := k.after(i, at, name)
		g.guess, g.c.guess, g.outside = true, true, true
		a.run(g)
		return
	}
}
