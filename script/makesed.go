package script

import "strings"

// make lists what SHELL= and $(shell ...) on its command line run.
func (a *analyzer) make(k *call, name string) {
	k.c.sink.lose()
	for j, w := range k.argv[1:] {
		t, ok := w.Text()
		if !ok {
			continue
		}
		if v, is := strings.CutPrefix(t, "SHELL="); is {
			c := k.inner(name)
			c.sink = nil
			a.codeWord(Lit(v), POSIX, a.child(k), c, "the shell of make")
			continue
		}
		if n, v, is := strings.Cut(t, "="); is && isName(n) {
			a.assigned(n, Lit(v), k.st.clone(), k.inner(name))
		}
		for rest := t; ; {
			_, after, found := strings.Cut(rest, "$(shell ")
			if !found {
				break
			}
			code, end := balanced(after)
			c := k.inner(name)
			c.sink = nil
			a.codeWord(Lit(strings.ReplaceAll(code, "$$", "$")), POSIX, a.child(k), c, "the code in make's arguments")
			rest = after[end:]
		}
		if (t == "-f" || t == "--file" || t == "--makefile") && j+2 < len(k.argv) {
			if f, _ := k.argv[j+2].Text(); (f == "-" || f == "/dev/stdin") && k.c.stdin != nil {
				a.makefile(k, *k.c.stdin, name)
			} else if content := a.fileOf(k.dir, k.argv[j+2]); len(content) > 0 {
				for _, w := range content {
					if w == nil {
						a.unknown("it runs a makefile that the same text wrote", k.c.src, k.span)
						continue
					}
					a.makefile(k, *w, name)
				}
			}
		}
	}
}

// balanced returns s up to the parenthesis that closes it.
func balanced(s string) (string, int) {
	level := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			level++
		case ')':
			if level == 0 {
				return s[:i], i + 1
			}
			level--
		}
	}
	return s, len(s)
}

// makefile lists the recipes of a makefile in the text.
func (a *analyzer) makefile(k *call, w Word, name string) {
	t, ok := w.Text()
	if !ok {
		a.unknown("it runs a makefile that is not known", k.c.src, k.span)
		return
	}
	lost := codeLost(t)
	for line := range strings.Lines(t) {
		recipe, is := strings.CutPrefix(line, "\t")
		if !is {
			if _, after, found := strings.Cut(line, ":"); found && strings.Contains(after, ";") && !strings.HasPrefix(after, "=") {
				_, recipe, _ = strings.Cut(after, ";")
			} else {
				if strings.Contains(line, "$(shell") || strings.Contains(line, "!=") {
					a.unknown("a makefile that runs commands while it is read", k.c.src, k.span)
				}
				continue
			}
		}
		recipe = strings.TrimLeft(strings.TrimSpace(recipe), "@-+ \t")
		code := strings.ReplaceAll(recipe, "$$", "\x00")
		if strings.Contains(code, "$") {
			a.unknown("a recipe with variables of make: "+clip(recipe), k.c.src, k.span)
		}
		code = strings.ReplaceAll(code, "\x00", "$")
		c := k.inner(name)
		c.sink, c.stdin, c.fedBy = nil, nil, nil
		if c.astray == "" {
			c.astray = lost
		}
		a.codeWord(Lit(code), POSIX, a.child(k), c, "a recipe of make")
	}
}

// sed looks for GNU sed's e: the e command and the e flag of s.
func (a *analyzer) sed(k *call, i int, name string) {
	var scripts []Word
	files := k.argv[1:]
	explicit := false
	for j := 0; j < len(files); j++ {
		t, ok := files[j].Text()
		if !ok {
			continue
		}
		switch {
		case (t == "-e" || t == "--expression" || len(t) > 2 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == 'e' && strings.Trim(t[1:len(t)-1], "nrEszu") == "") && j+1 < len(files):
			scripts = append(scripts, files[j+1])
			explicit = true
			j++
		case strings.HasPrefix(t, "--expression="):
			scripts = append(scripts, Lit(t[len("--expression="):]))
			explicit = true
		case t == "-f" || t == "--file":
			explicit = true
			j++
		case t == "" || t[0] != '-':
			if !explicit {
				scripts = append(scripts, files[j])
				explicit = true
			}
		}
	}
	for _, w := range scripts {
		t, ok := w.Text()
		if !ok {
			continue
		}
		texts, effects := sedScript(t)
		for _, e := range effects {
			if len(a.cmds[i].Effects) < 256 {
				e.Path = under(k.dir, e.Path)
				a.cmds[i].Effects = append(a.cmds[i].Effects, e)
			}
		}
		for _, code := range texts {
			c := k.inner(name)
			c.sink, c.stdin, c.fedBy = nil, nil, nil
			if code == "" {
				a.unknown("sed runs text from its input as commands", k.c.src, k.span)
				continue
			}
			a.codeWord(Lit(code), POSIX, a.child(k), c, "the code of sed")
		}
	}
}

// sedScript returns the commands that e runs, with "" for the forms that run
// the text being edited, and the files that w, W, r, R and the flag w of s name.
func sedScript(s string) (code []string, files []Effect) {
	file := func(i int) int {
		end := lineEnd(s, i)
		kind := Write
		if s[i] == 'r' || s[i] == 'R' {
			kind = Read
		}
		if f := strings.TrimSpace(s[i+1 : end]); f != "" && f != "/dev/stdout" && f != "/dev/stderr" && f != "/dev/stdin" {
			files = append(files, Effect{Kind: kind, Path: Lit(f), Call: "sed " + s[i:i+1]})
		}
		return end
	}
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case strings.IndexByte(" \t\n;{}0123456789,$!~+-", c) >= 0:
			i++
		case c == '/' || c == '\\' && i+1 < len(s):
			if c == '\\' {
				i++
			}
			i = sedSkip(s, i+1, s[i])
		case c == 's' || c == 'y':
			if i+1 >= len(s) {
				return code, files
			}
			d := s[i+1]
			mid := sedSkip(s, i+2, d)
			end := sedSkip(s, mid, d)
			flags := end
			for flags < len(s) && strings.IndexByte("gpiIemM0123456789", s[flags]) >= 0 {
				flags++
			}
			if c == 's' && strings.Contains(s[end:flags], "e") {
				text := ""
				if mid <= end-1 && !strings.ContainsAny(s[mid:end-1], "\\&") {
					text = s[mid : end-1]
				}
				code = append(code, text)
			}
			i = flags
			if i < len(s) && s[i] == 'w' {
				i = file(i)
			}
		case strings.IndexByte("wWrR", c) >= 0:
			i = file(i)
		case c == 'e':
			end := lineEnd(s, i)
			code = append(code, strings.TrimSpace(s[i+1:end]))
			i = end
		case c == 'a' || c == 'i' || c == 'c' || c == '#' || c == ':':
			i = lineEnd(s, i)
		case c == 'b' || c == 't' || c == 'T':
			for i < len(s) && s[i] != ';' && s[i] != '\n' && s[i] != '}' {
				i++
			}
		default:
			i++
		}
	}
	return code, files
}

func lineEnd(s string, i int) int {
	for i < len(s) && s[i] != '\n' {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	return min(i, len(s))
}

// sedSkip returns the index after the next unescaped d.
func sedSkip(s string, i int, d byte) int {
	for i < len(s) {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := bracket(s[i:]); n > 0 && d != '[' {
				i += n - 1
			}
		case d:
			return i + 1
		}
		i++
	}
	return len(s)
}
