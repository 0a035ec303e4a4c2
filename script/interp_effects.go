package script

import "strings"

// call follows one call.
func (p *interp) call(i int, name string, recv []token, args [][]token) {
	act := action(p.lang, name)
	if act == "" {
		return
	}
	pos := positional(args, p.lang)
	method := strings.HasSuffix(act, ".")
	if method {
		if len(recv) == 0 {
			return
		}
		pos = append([][]token{recv}, pos...)
	}
	arg := func(n int) (Word, bool) {
		if n >= len(pos) || len(pos[n]) == 0 {
			return Word{}, false
		}
		return p.value(pos[n]), true
	}
	call := name
	if strings.HasPrefix(call, "().") {
		call = strings.TrimSpace(p.text(recv)) + call[2:]
	}
	call = clip(call)
	switch act[0] {
	case 'D', 'R', 'd':
		rec := act[0] == 'R' || act[0] == 'd' && p.flag(args, "recursive")
		p.deletes(pos, act, rec, call, method)
	case 'p': // Pathname("x").delete
		if strings.HasPrefix(p.text(recv), "Pathname") {
			p.effect(Delete, p.value(recv), false, call)
		}
	case 'W', 'E', 'r':
		if w, ok := arg(0); ok {
			if content, given := arg(1); act[0] == 'W' && given && len(pos) == 2 && !strings.Contains(name, "ppend") {
				if t, known := content.Text(); known && t == "" && isString(pos[1]) {
					act = "E"
				}
			}
			p.effect(map[byte]EffectKind{'W': Write, 'E': Empty, 'r': Read}[act[0]], w, false, call)
		}
	case 'O':
		p.opens(i, args, pos, call)
	case 'o':
		p.perlOpen(pos, call)
	case 'M', 'C':
		if method && !p.isPath(recv) {
			return // str.replace, DataFrame.rename
		}
		if w, ok := arg(0); ok {
			p.effect(map[byte]EffectKind{'M': Delete, 'C': Read}[act[0]], w, false, call)
		}
		if w, ok := arg(1); ok {
			p.effect(Write, w, false, call)
		}
	case 'm':
		if w, ok := arg(0); ok {
			p.effect(Change, w, strings.HasSuffix(name, "_R"), call)
		}
	case 'n':
		skip := 1
		if act == "n2" {
			skip = 2
		}
		p.changes(pos[min(skip, len(pos)):], strings.HasSuffix(name, "_R"), call)
	case 'l', 'U':
		if w, ok := arg(0); ok && act == "U" {
			p.effect(Read, w, false, call)
		} else if ok && strings.Contains(name, "ink") && !strings.Contains(name, "ym") {
			p.effect(Change, w, false, call) // a hard link is the file itself
		}
		if w, ok := arg(1); ok {
			p.effect(Write, w, false, call)
		}
	case 'H':
		if w, ok := arg(0); ok {
			p.dir, p.moved = under(p.dir, w), true
		}
	case 'V':
		p.evaluates(pos, call)
	case 'v':
		if len(pos) > 0 && len(pos[0]) == 1 && pos[0][0].kind == tString {
			p.evaluates(pos, call)
		}
	case 'G':
		p.byName(args, call)
	case 'F':
		p.given(i, args, pos)
	default:
		p.process(act, args, pos, call)
	}
}

// changes records a change of each of the paths.
func (p *interp) changes(pos [][]token, recursive bool, call string) {
	for _, t := range pos {
		ws, ok := p.list(t)
		if !ok {
			ws = []Word{p.value(t)}
		}
		for _, w := range ws {
			p.effect(Change, w, recursive, call)
		}
	}
}

// isPath reports whether an expression of Python is a pathlib path.
func (p *interp) isPath(t []token) bool {
	for _, x := range t {
		if x.kind == tName && (x.text == "Path" || x.text == "pathlib" || p.paths[x.text]) {
			return true
		}
	}
	return false
}

// deletes records the paths of a deletion.
func (p *interp) deletes(pos [][]token, act string, rec bool, call string, method bool) {
	if p.lang == langPerl && len(pos) == 0 {
		p.effect(Delete, Word{Parts: []Part{{Kind: Variable, Name: "$_"}}}, rec, call)
		return
	}
	n := 1
	if strings.HasSuffix(act, "*") {
		n = len(pos)
	}
	for j := 0; j < n && j < len(pos); j++ {
		if len(pos[j]) > 0 && pos[j][0].text == "{" {
			continue
		}
		if ws, ok := p.list(pos[j]); ok && !method {
			for _, w := range ws {
				p.effect(Delete, w, rec, call)
			}
			continue
		}
		w := p.value(pos[j])
		if t, ok := w.Text(); ok && strings.HasPrefix(t, "-") && strings.HasPrefix(call, "sh") {
			continue // shelljs: rm('-rf', x)
		}
		p.effect(Delete, w, rec, call)
	}
}

// opens follows open(path, mode).
func (p *interp) opens(i int, args, pos [][]token, call string) {
	if len(pos) == 0 {
		return
	}
	w := p.value(pos[0])
	mode := "r"
	switch m := p.option(args, "mode"); {
	case m != nil:
		mode = wordName(p.value(m))
	case len(pos) > 1:
		mode = wordName(p.value(pos[1]))
	}
	if t, ok := w.Text(); ok && strings.HasPrefix(t, "|") && p.lang == langRuby {
		p.shell(Lit(t[1:]), nil, call)
		return
	}
	kind := Read
	switch {
	case strings.HasPrefix(call, "os.open"):
		for _, f := range [...]string{"WRONLY", "RDWR", "TRUNC", "CREAT", "APPEND"} {
			if len(pos) > 1 && strings.Contains(p.text(pos[1]), f) {
				kind = Write
			}
		}
	case strings.ContainsAny(mode, "wx"):
		kind = Write
		// open(p, 'w').close() leaves an empty file
		end := p.match(i + 1)
		if end+2 < len(p.toks) && p.toks[end+1].text == "." && (p.toks[end+2].text == "close" || p.toks[end+2].text == "truncate") {
			kind = Empty
		}
	case strings.ContainsAny(mode, "a+c"):
		kind = Write
	}
	p.effect(kind, w, false, call)
}

// perlOpen follows Perl's open with two, three or more arguments.
func (p *interp) perlOpen(pos [][]token, call string) {
	if len(pos) < 2 {
		return
	}
	mode := p.value(pos[1])
	m, known := mode.Text()
	m = strings.TrimSpace(m)
	kind := func(m string) EffectKind {
		switch {
		case strings.HasPrefix(m, ">"), strings.HasPrefix(m, "+"):
			return Write
		}
		return Read
	}
	if len(pos) > 2 {
		switch {
		case m == "-|" || m == "|-":
			ws := p.listItems(pos[2:])
			if len(ws) == 1 {
				p.shell(ws[0], nil, call)
			} else {
				p.exec(ws, nil)
			}
		default:
			p.effect(kind(m), p.value(pos[2]), false, call)
		}
		return
	}
	switch {
	case !known:
		first := mode.Parts[0]
		if first.Kind == Literal && strings.HasPrefix(strings.TrimSpace(first.Text), ">") {
			p.effect(Write, trimWord(mode, strings.IndexByte(first.Text, '>')+1), false, call)
			return
		}
		p.unknown("open with a mode that is not known: " + clip(wordName(mode)))
	case strings.HasPrefix(m, "|"):
		p.shell(Lit(m[1:]), nil, call)
	case strings.HasSuffix(m, "|"):
		p.shell(Lit(m[:len(m)-1]), nil, call)
	default:
		p.effect(kind(m), Lit(strings.TrimLeft(m, "+<> ")), false, call)
	}
}

// evaluates follows eval: text is code again.
func (p *interp) evaluates(pos [][]token, call string) {
	if len(pos) == 0 || len(pos[0]) > 0 && pos[0][0].text == "{" {
		return // a block: its tokens are looked at anyway
	}
	n := 0
	if strings.HasPrefix(call, "Function") {
		n = len(pos) - 1
	}
	w := p.value(pos[n])
	if t, ok := w.Text(); ok {
		if p.depth < 8 {
			p.run(t, p.depth+1)
		}
		return
	}
	p.unknown("the code given to " + call + " is not known: " + clip(wordName(w)))
}

// byName follows calls of a function whose name is a value.
func (p *interp) byName(args [][]token, call string) {
	if len(args) < 2 {
		return
	}
	switch p.lang {
	case langPython:
		m := p.text(args[0])
		if full, ok := p.alias[m]; ok {
			m = full
		}
		if m == "os" || m == "shutil" || m == "subprocess" || m == "builtins" || m == "__builtins__" || strings.HasPrefix(m, "__import__") {
			p.unknown("a function of " + m + " is looked up by name")
		}
	case langRuby:
		t := p.text(args[0])
		if act := rubyAction(strings.Trim(t, `:"'`)); act != "" || len(args[0]) != 2 {
			p.unknown("a method is called by name: " + clip(t))
		}
	case langPHP:
		fn, ok := p.value(args[0]).Text()
		act := phpAction(fn)
		switch {
		case !ok:
			if len(args[0]) > 0 && args[0][0].text != "function" && args[0][0].text != "fn" {
				p.unknown("a function is called by name: " + p.clipped(args[0]))
			}
		case act == "D":
			p.effect(Delete, p.value(args[1]), false, fn)
		case act != "":
			p.process(act, args[1:], args[1:], fn)
		}
	}
}

// isString reports whether an expression is nothing but one string.
func isString(t []token) bool { return len(t) == 1 && t[0].kind == tString }
