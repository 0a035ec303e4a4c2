package script

// given follows a function that is handed to another, which calls it:
// map(os.remove, names), Thread(target=shutil.rmtree, args=(p,)), promisify(exec).
func (p *interp) given(i int, args, pos [][]token) {
	if p.lang == langJS {
		// promisify(exec)("code")
		end := p.match(i + 1)
		if end+1 < len(p.toks) && p.toks[end+1].text == "(" && len(pos) > 0 {
			p.callNamed(i, pos[0], split(p.toks[end+2:min(p.match(end+1), len(p.toks))]))
		}
		return
	}
	if target := p.option(args, "target"); target != nil {
		var rest [][]token
		if v := p.option(args, "args"); len(v) > 1 {
			rest = split(v[1 : len(v)-1])
		}
		p.callNamed(i, target, rest)
		return
	}
	for j := 0; j < len(pos) && j < 2; j++ { // run_in_executor(None, f, ...), Timer(1, f)
		fn, ok := p.reference(pos[j])
		if !ok || action(p.lang, fn) == "" {
			continue
		}
		rest := pos[j+1:]
		if len(rest) == 1 && len(rest[0]) > 2 && (rest[0][0].text == "[" || rest[0][0].text == "(") {
			for _, item := range split(rest[0][1 : len(rest[0])-1]) {
				p.callNamed(i, pos[j], [][]token{item})
			}
			return
		}
		p.callNamed(i, pos[j], rest)
		return
	}
}

// callNamed follows a call of the function that an expression names.
func (p *interp) callNamed(i int, fn []token, args [][]token) {
	name, ok := p.reference(fn)
	if act := action(p.lang, name); !ok || act == "" || act[0] == 'F' || act[len(act)-1] == '.' {
		return
	}
	p.call(i, name, nil, args)
}

// reference returns the full name of the function that an expression is.
func (p *interp) reference(t []token) (name string, ok bool) {
	if len(t) == 0 || t[len(t)-1].kind != tName {
		return "", false
	}
	// The last name of the expression, as a call of it would be read.
	if !p.a.scan(len(p.toks)) {
		return "", false
	}
	for i := range p.toks {
		if p.toks[i].at == t[len(t)-1].at && p.toks[i].kind == tName {
			name, _ = p.callee(i)
			return name, true
		}
	}
	return "", false
}
