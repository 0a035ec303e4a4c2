package script

import (
	"slices"
	"strings"
)

// prepare collects imports, and the names that have one known value.
func (p *interp) prepare() {
	t := p.toks
	for i := range t {
		if t[i].kind != tName {
			continue
		}
		switch p.lang {
		case langPython:
			p.pythonImport(i)
		case langJS:
			p.jsImport(i)
		}
		if p.assigned(i) {
			p.assign[t[i].text]++
		}
	}
	for i := range t {
		if p.a.over {
			return
		}
		if t[i].kind == tName && p.assigned(i) && p.assign[t[i].text] == 1 && i+1 < len(t) && t[i+1].text == "=" {
			p.bind(i)
		}
		if p.lang == langPython && t[i].kind == tName && i > 2 && t[i-1].text == "as" && p.assign[t[i].text] == 1 {
			p.bindWith(i)
		}
	}
}

// bindWith remembers the directory of with tempfile.TemporaryDirectory() as d.
func (p *interp) bindWith(i int) {
	t := p.toks
	from, level := i-2, 0
	for ; from >= 0 && i-from < 40; from-- {
		switch x := t[from].text; {
		case x == ")" || x == "]" || x == "}":
			level++
		case x == "(" || x == "[" || x == "{":
			level--
		}
		if level < 0 || level == 0 && (t[from].text == "with" || t[from].text == ",") || t[from].kind == tBreak {
			break
		}
	}
	if from < 0 || t[from].text != "with" && t[from].text != "," && t[from].text != "(" {
		return
	}
	if w := p.value(t[from+1 : i-1]); len(w.Parts) == 1 && w.Parts[0].Kind == TempPath {
		p.consts[t[i].text] = w
	}
}

// assigned reports whether the name at i is given a value there.
func (p *interp) assigned(i int) bool {
	t := p.toks
	if i+1 < len(t) && t[i+1].kind == tOp {
		switch t[i+1].text {
		case "=", "+=", "-=", ".=", "++":
			return i == 0 || t[i-1].text != "." && t[i-1].text != "->"
		case ":": // walrus, annotations
			if i+2 < len(t) && t[i+2].text == "=" {
				return true
			}
		}
	}
	if i > 0 && t[i-1].kind == tName {
		switch t[i-1].text {
		case "for", "foreach", "as":
			return true
		case "const", "let", "var", "my", "our", "local":
			return i+1 < len(t) && (t[i+1].text == "of" || t[i+1].text == "in")
		}
	}
	return i+1 < len(t) && (t[i+1].text == "in" || t[i+1].text == "of") && p.lang != langRuby && p.lang != langPerl
}

// bind remembers the value of a name that is assigned once.
func (p *interp) bind(i int) {
	end := p.statementEnd(i + 2)
	rhs := p.toks[i+2 : end]
	name := p.toks[i].text
	if p.lang == langJS && len(rhs) > 3 && rhs[len(rhs)-1].text == ")" {
		// const run = promisify(exec)
		for j := 0; j+2 < len(rhs) && j < 12; j++ {
			if rhs[j].text == "promisify" && rhs[j+1].text == "(" {
				if full, ok := p.reference(rhs[j+2 : len(rhs)-1]); ok && action(p.lang, full) != "" {
					p.alias[name] = full
				}
				return
			}
		}
	}
	if p.isPath(rhs) {
		p.paths[name] = true
	}
	if ws, ok := p.list(rhs); ok {
		p.lists[name] = ws
		return
	}
	w := p.value(rhs)
	if len(w.Parts) == 1 && w.Parts[0].Kind == Variable && w.Parts[0].Name == p.clipped(rhs) {
		return
	}
	p.consts[name] = w
}

// statementEnd returns the index of the token that ends a statement.
func (p *interp) statementEnd(i int) int {
	from, level := i, 0
	defer func() { p.a.scan(i - from) }()
	for ; i < len(p.toks); i++ {
		switch p.toks[i].text {
		case "(", "[", "{":
			if p.toks[i].kind == tOp {
				level++
			}
		case ")", "]", "}":
			if p.toks[i].kind == tOp {
				if level--; level < 0 {
					return i
				}
			}
		case ";":
			if level == 0 {
				return i
			}
		}
		if level == 0 && p.toks[i].kind == tBreak {
			return i
		}
		if level == 0 && p.toks[i].kind == tName && (p.lang == langRuby || p.lang == langPerl) {
			switch p.toks[i].text {
			case "if", "unless", "while", "until", "and", "or", "rescue", "for", "foreach", "do":
				return i
			}
		}
	}
	return i
}

// pythonImport reads import a as b, and from m import x as y.
func (p *interp) pythonImport(i int) {
	t := p.toks
	if i > 0 && t[i-1].kind != tBreak && t[i-1].text != ";" && t[i-1].text != ":" {
		return
	}
	module := ""
	j := i + 1
	dotted := func() string {
		name := ""
		for ; j < len(t) && (t[j].kind == tName && t[j].text != "import" && t[j].text != "as" || t[j].text == "."); j++ {
			name += t[j].text
		}
		return name
	}
	switch t[i].text {
	case "from":
		if module = dotted(); j >= len(t) || t[j].text != "import" {
			return
		}
		j++
		module += "."
	case "import":
	default:
		return
	}
	for j < len(t) && t[j].text != ";" {
		if t[j].kind == tBreak && module == "" {
			return
		}
		if t[j].kind != tName {
			if t[j].kind == tBreak && (j == 0 || t[j-1].text != "," && t[j-1].text != "(") {
				return
			}
			j++
			continue
		}
		full := dotted()
		local := full
		if j+1 < len(t) && t[j].text == "as" {
			local = t[j+1].text
			j += 2
		} else if module == "" {
			local, _, _ = strings.Cut(full, ".")
			full = local
		}
		if full == "" {
			return
		}
		p.alias[local] = module + full
	}
}

// jsImport reads require and import.
func (p *interp) jsImport(i int) {
	t := p.toks
	module := ""
	switch t[i].text {
	case "require":
		if i+2 < len(t) && t[i+1].text == "(" && t[i+2].kind == tString {
			module = moduleName(wordName(t[i+2].word))
		}
	case "import":
		if i+2 < len(t) && t[i+1].text == "(" && t[i+2].kind == tString {
			module = moduleName(wordName(t[i+2].word))
			if i+6 < len(t) && t[i+4].text == "." && t[i+5].text == "then" && t[i+6].text == "(" {
				// import("fs").then(({rm}) => ...)
				for j := i + 7; j < len(t) && j < i+60; j++ {
					if t[j].text == "=>" {
						p.jsNames(t[i+7:j], module, ":")
						return
					}
				}
			}
			break
		}
		for j := i + 1; j < len(t) && t[j].text != ";" && j < i+60; j++ {
			if t[j].text == "from" && j+1 < len(t) && t[j+1].kind == tString {
				p.jsNames(t[i+1:j], moduleName(wordName(t[j+1].word)), "as")
				return
			}
		}
		return
	}
	if module == "" {
		return
	}
	// const X = require(...), const {a, b: c} = await import(...)
	j := i - 1
	for j >= 0 && (t[j].text == "await" || t[j].text == "(") {
		j--
	}
	if j < 0 || t[j].text != "=" {
		return
	}
	end := j
	for j--; j >= 0; j-- {
		if t[j].kind == tBreak && t[end-1].text != "}" || t[j].text == ";" || t[j].text == "const" || t[j].text == "let" || t[j].text == "var" || t[j].text == "," && t[end-1].text != "}" {
			break
		}
	}
	names := t[j+1 : end]
	if i+4 < len(t) && t[i+3].text == ")" && t[i+4].text == "." && i+5 < len(t) && (i+6 >= len(t) || t[i+6].text != "(") {
		module += "." + t[i+5].text // require('fs').promises
	}
	p.jsNames(names, module, ":")
}

// jsNames binds the names of a destructuring or an import list.
func (p *interp) jsNames(names []token, module, as string) {
	braces := false
	for j := 0; j < len(names); j++ {
		switch {
		case names[j].text == "{":
			braces = true
		case names[j].text == "*" || names[j].kind != tName || names[j].text == "as" || names[j].text == "type":
		case !braces:
			p.alias[names[j].text] = module
		case j+2 < len(names) && names[j+1].text == as:
			p.alias[names[j+2].text] = module + "." + names[j].text
			j += 2
		default:
			p.alias[names[j].text] = module + "." + names[j].text
		}
	}
}

func moduleName(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "node:"), "/", ".")
}

// text is the source of some tokens.
func (p *interp) text(t []token) string {
	if len(t) == 0 {
		return ""
	}
	from, to := t[0].at, t[len(t)-1].end
	if from < 0 || to > len(p.code) || from > to {
		return ""
	}
	return p.src.decode(p.code[from:to])
}

// match returns the index of the bracket that closes the one at i.
func (p *interp) match(i int) int {
	from, level := i, 0
	defer func() { p.a.scan(i - from) }()
	for ; i < len(p.toks); i++ {
		if p.toks[i].kind != tOp {
			continue
		}
		switch p.toks[i].text {
		case "(", "[", "{":
			level++
		case ")", "]", "}":
			if level--; level == 0 {
				return i
			}
		}
	}
	return len(p.toks)
}

// back returns the index of the bracket that opens the one at i; -1 when there
// is none.
func (p *interp) back(i int) int {
	from, level := i, 0
	defer func() { p.a.scan(from - i) }()
	for ; i >= 0; i-- {
		if p.toks[i].kind != tOp {
			continue
		}
		switch p.toks[i].text {
		case ")", "]", "}":
			level++
		case "(", "[", "{":
			if level--; level == 0 {
				return i
			}
		}
	}
	return -1
}

// split divides tokens at commas of their own level; line ends are dropped.
func split(t []token) [][]token {
	var out [][]token
	from, level := 0, 0
	for i, x := range t {
		if x.kind != tOp {
			continue
		}
		switch x.text {
		case "(", "[", "{":
			level++
		case ")", "]", "}":
			level--
		case ",":
			if level == 0 {
				out = append(out, part(t[from:i]))
				from = i + 1
			}
		}
	}
	if last := part(t[from:]); len(last) > 0 {
		out = append(out, last)
	}
	return out
}

// part is one of the parts between commas, without line ends and the arrows
// before it. It shares the tokens' memory where it can.
func part(t []token) []token {
	for len(t) > 0 && (t[0].kind == tBreak || t[0].kind == tOp && t[0].text == "=>") {
		t = t[1:]
	}
	if !slices.ContainsFunc(t, func(x token) bool { return x.kind == tBreak }) {
		return t[:len(t):len(t)]
	}
	return slices.DeleteFunc(slices.Clone(t), func(x token) bool { return x.kind == tBreak })
}

// callee returns the full name of the call whose last name is at i, and the
// expression it is called on when that is no name.
func (p *interp) callee(i int) (name string, recv []token) {
	t := p.toks
	name = strings.TrimLeft(t[i].text, "$@")
	if p.lang != langPHP && p.lang != langPerl {
		name = t[i].text
	}
	j := i - 1
	for j >= 0 && t[j].kind == tOp && (t[j].text == "." || t[j].text == "->" || t[j].text == "::" || t[j].text == "?.") {
		if t[j].text == "." && (p.lang == langPerl || p.lang == langPHP || p.lang == langAwk) {
			break // concatenation
		}
		j--
		for j >= 0 && t[j].kind == tBreak {
			j--
		}
		if j < 0 {
			break
		}
		switch {
		case t[j].kind == tName:
			if name = t[j].text + "." + name; !p.a.scan(len(name)) {
				return name, nil
			}
			j--
			continue
		case t[j].text == ")" || t[j].text == "]":
			open := p.back(j)
			if m := p.moduleCall(open); m != "" {
				return m + "." + name, nil
			}
			from := open
			for from > 0 && (t[from-1].kind == tName || t[from-1].text == "." || t[from-1].text == "::") {
				from--
			}
			if from < 0 {
				return "()." + name, nil
			}
			return "()." + name, t[from : j+1]
		}
		return "()." + name, t[j : j+1]
	}
	first, rest, has := strings.Cut(name, ".")
	if full, ok := p.alias[first]; ok {
		name = full
		if has {
			name += "." + rest
		}
	}
	if has && j+1 < i {
		recv = t[j+1 : i-1]
	}
	return name, recv
}

// moduleCall returns the module of require('fs'), __import__('os') and their
// kin, whose arguments open at i.
func (p *interp) moduleCall(i int) string {
	t := p.toks
	if i < 1 || i+1 >= len(t) || t[i].text != "(" {
		return ""
	}
	if t[i-1].kind != tName {
		// (await import('fs')).rm
		for j := i + 1; j+2 < len(t) && j < i+4; j++ {
			if (t[j].text == "import" || t[j].text == "require") && t[j+1].text == "(" && t[j+2].kind == tString {
				return moduleName(wordName(t[j+2].word))
			}
		}
		return ""
	}
	switch t[i-1].text {
	case "require", "import", "__import__", "import_module":
		if t[i+1].kind == tString {
			return moduleName(wordName(t[i+1].word))
		}
	}
	return ""
}

// token looks at one token: a call, or a command in backquotes.
func (p *interp) token(i int) {
	t := p.toks
	switch t[i].kind {
	case tCommand:
		p.shell(t[i].word, nil, "`...`")
		return
	case tString:
		if p.lang == langJS && strings.HasPrefix(t[i].text, "`") && i > 0 && t[i-1].kind == tName && t[i-1].end == t[i].at {
			name, _ := p.callee(i - 1)
			switch name {
			case "$", "Bun.$", "bun.$", "zx.$", "execa.$", "execaSync", "sh", "$.sync", "shell":
				p.shell(t[i].word, nil, "$`...`")
			}
		}
		return
	case tOp:
		if p.lang == langAwk {
			p.awkOp(i)
		}
		return
	case tName:
	default:
		return
	}
	next := i + 1
	if p.lang == langAwk {
		for next < len(t) && t[next].kind == tBreak {
			next++
		}
	}
	if p.a.over {
		return
	}
	var args [][]token
	switch {
	case next < len(t) && t[next].text == "(" && t[next].kind == tOp && (p.lang != langRuby && p.lang != langPerl || true):
		args = split(t[next+1 : min(p.match(next), len(t))])
	case p.lang == langRuby || p.lang == langPerl || p.lang == langPHP && t[i].text == "echo":
		if next >= len(t) || t[next].kind == tBreak || t[next].kind == tOp && strings.Contains(") ] } = . , ; => == -> :: && || + - * / ? :", t[next].text) {
			if !p.bare(i) {
				return
			}
			break
		}
		args = split(t[next:p.statementEnd(next)])
	case p.bare(i):
	default:
		return
	}
	name, recv := p.callee(i)
	p.call(i, name, recv, args)
}

// bare reports names that are calls without arguments.
func (p *interp) bare(i int) bool {
	switch p.toks[i].text {
	case "unlink", "rmdir", "rmtree", "delete":
		return p.lang == langRuby && i > 0 && (p.toks[i-1].text == ".")
	}
	return false
}
