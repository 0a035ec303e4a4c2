package script

// awkOp looks at the operators with which awk runs commands and writes files.
func (p *interp) awkOp(i int) {
	t := p.toks
	switch t[i].text {
	case "|", "|&":
		if i+1 < len(t) && t[i+1].text == "getline" {
			from := p.awkStart(i)
			p.shell(p.value(t[from:i]), nil, "getline")
			return
		}
		if p.awkPrints(i) {
			p.feed(p.value(t[i+1:p.statementEnd(i+1)]), nil, "print |", p.awkPrinted(i))
		}
	case ">", ">>":
		if p.awkPrints(i) {
			p.effect(Write, p.value(t[i+1:p.statementEnd(i+1)]), false, "print "+t[i].text)
		}
	case "<":
		if i > 0 && (t[i-1].text == "getline" || i > 1 && t[i-2].text == "getline") && i+1 < len(t) {
			p.effect(Read, p.value(t[i+1:i+2]), false, "getline")
		}
	}
}

// awkStart returns where the expression before a pipe begins.
func (p *interp) awkStart(i int) int {
	j, level := i-1, 0
	defer func() { p.a.scan(i - j) }()
	for ; j >= 0; j-- {
		switch x := p.toks[j]; {
		case x.kind == tBreak || x.text == ";" || x.text == "{" || x.text == "}" || x.text == "=" || x.text == "&&" || x.text == "||" || x.text == "!":
			return j + 1
		case x.text == ")":
			level++
		case x.text == "(":
			if level--; level < 0 {
				return j + 1
			}
		}
	}
	return 0
}

// awkPrinted returns the text that a print statement writes to the pipe at i,
// when it is known.
func (p *interp) awkPrinted(i int) *Word {
	from := p.awkStart(i)
	if from >= i || p.toks[from].text != "print" {
		return nil
	}
	w := p.value(p.toks[from+1 : i])
	if !w.Known() {
		return nil
	}
	w.Parts = merge(append(w.Parts, Part{Text: "\n"}))
	return &w
}

// awkPrints reports whether the token at i belongs to a print statement,
// outside its parentheses.
func (p *interp) awkPrints(i int) bool {
	j, level := i-1, 0
	defer func() { p.a.scan(i - j) }()
	for ; j >= 0; j-- {
		switch x := p.toks[j]; {
		case x.text == ")":
			level++
		case x.text == "(":
			if level--; level < 0 {
				return false
			}
		case level == 0 && (x.kind == tBreak || x.text == ";" || x.text == "{" || x.text == "}"):
			return false
		case x.kind == tName && (x.text == "print" || x.text == "printf") && level == 0:
			return true
		}
	}
	return false
}
