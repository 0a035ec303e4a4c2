package script

import (
	"slices"
	"strconv"
	"strings"
)

// value evaluates an expression as far as it is text that is known.
func (p *interp) value(t []token) Word {
	t = p.strip(t)
	if len(t) == 0 {
		return Word{}
	}
	if !p.a.scan(len(t)) {
		return p.opaque(t)
	}
	if pieces := p.operands(t); len(pieces) > 1 {
		w := Word{}
		for _, piece := range pieces {
			v := p.value(piece)
			if len(v.Parts) == 0 && len(p.strip(piece)) > 0 && !(len(piece) == 1 && piece[0].kind == tString) {
				return p.opaque(t)
			}
			w.Parts = append(w.Parts, v.Parts...)
		}
		w.Parts = slicesTrim(merge(w.Parts))
		return w
	}
	if len(t) == 1 {
		switch t[0].kind {
		case tString:
			return Word{Parts: slices.Clone(t[0].word.Parts)}
		case tNumber:
			return Lit(t[0].text)
		case tName:
			if w, ok := p.consts[t[0].text]; ok {
				return w
			}
		}
		return p.opaque(t)
	}
	if w, ok := p.known(t); ok {
		return w
	}
	return p.opaque(t)
}

// opaque is an expression whose value is not known.
func (p *interp) opaque(t []token) Word {
	return Word{Parts: []Part{{Kind: Variable, Name: p.clipped(t)}}}
}

// clipped is clip of the source of some tokens, each of which has a byte.
func (p *interp) clipped(t []token) string {
	return clip(strings.TrimSpace(p.text(t[:min(len(t), 80)])))
}

// strip removes parentheses around an expression, and words before it that do
// not change its text.
func (p *interp) strip(t []token) []token {
	for {
		switch {
		case len(t) > 0 && t[0].kind == tBreak:
			t = t[1:]
		case len(t) > 0 && t[len(t)-1].kind == tBreak:
			t = t[:len(t)-1]
		case len(t) > 1 && t[0].kind == tName && (t[0].text == "await" || t[0].text == "new" || t[0].text == "my") && t[1].kind != tOp:
			t = t[1:]
		case len(t) > 2 && t[0].text == "(" && t[0].kind == tOp && p.a.scan(len(t)) && closes(t, 0) == len(t)-1 && !hasComma(t[1:len(t)-1]):
			t = t[1 : len(t)-1]
		default:
			return t
		}
	}
}

func closes(t []token, i int) int {
	level := 0
	for ; i < len(t); i++ {
		if t[i].kind != tOp {
			continue
		}
		switch t[i].text {
		case "(", "[", "{":
			level++
		case ")", "]", "}":
			if level--; level == 0 {
				return i
			}
		}
	}
	return -1
}

func hasComma(t []token) bool { return len(split(t)) > 1 }

// operands splits a concatenation.
func (p *interp) operands(t []token) [][]token {
	var out [][]token
	from, level := 0, 0
	for i, x := range t {
		if x.kind == tOp {
			switch x.text {
			case "(", "[", "{":
				level++
			case ")", "]", "}":
				level--
			}
			if level == 0 && i > from && i+1 < len(t) {
				switch {
				case x.text == "+" && p.lang != langPerl && p.lang != langPHP && p.lang != langAwk, x.text == "." && (p.lang == langPerl || p.lang == langPHP):
					out = append(out, t[from:i])
					from = i + 1
					continue
				case x.text == "/" && p.lang == langPython:
					out = append(out, t[from:i], []token{{kind: tString, text: "/", word: Lit("/")}})
					from = i + 1
					continue
				}
			}
		}
		if level == 0 && i > from {
			prev := t[i-1]
			adjacent := x.kind == tString && prev.kind == tString && p.lang != langJS && p.lang != langPerl && p.lang != langPHP
			if p.lang == langAwk {
				operandStart := x.kind == tString || x.kind == tName || x.kind == tNumber || x.text == "$" || x.text == "("
				operandEnd := prev.kind == tString || prev.kind == tName && !(x.text == "(" && x.at == prev.end) || prev.kind == tNumber || prev.text == ")" || prev.text == "]"
				adjacent = operandStart && operandEnd
			}
			if adjacent {
				out = append(out, t[from:i])
				from = i
			}
		}
	}
	if from < len(t) {
		out = append(out, t[from:])
	}
	return out
}

// known evaluates calls and subscripts whose result is known.
func (p *interp) known(t []token) (Word, bool) {
	open := -1
	for i, x := range t {
		if x.kind == tOp && (x.text == "(" || x.text == "[" || x.text == "{") {
			open = i
			break
		}
		if x.kind != tName && !(x.kind == tOp && (x.text == "." || x.text == "::" || x.text == "->" || x.text == "%")) {
			return Word{}, false
		}
	}
	name := ""
	upto := open
	if open < 0 {
		upto = len(t)
	}
	for _, x := range t[:upto] {
		switch x.text {
		case "::", "->", ".":
			name += "."
		default:
			name += x.text
		}
	}
	first, rest, has := strings.Cut(name, ".")
	if full, ok := p.alias[first]; ok {
		if name = full; has {
			name += "." + rest
		}
	}
	if open < 0 {
		return p.property(name)
	}
	end := closes(t, open)
	if end < 0 {
		return Word{}, false
	}
	args := split(t[open+1 : end])
	if end < len(t)-1 {
		// something more: .strip(), .read() and the like
		return Word{}, false
	}
	if t[open].text != "(" {
		return p.subscript(name, args)
	}
	return p.result(name, args)
}

func (p *interp) env(args [][]token) (Word, bool) {
	if len(args) == 0 {
		return Word{}, false
	}
	name := wordName(p.value(args[0]))
	if len(args[0]) == 1 && args[0][0].kind == tName {
		name = args[0][0].text // $ENV{HOME}
	}
	return p.variable(name), true
}

// variable is an environment variable.
func (p *interp) variable(name string) Word {
	if v := p.a.lookup(name, p.st); v.kind == isScalar {
		return Word{Parts: slices.Clone(v.parts)}
	}
	return Word{Parts: []Part{{Kind: Variable, Name: name}}}
}

func (p *interp) property(name string) (Word, bool) {
	if v, ok := strings.CutPrefix(name, "process.env."); ok && isName(v) {
		return p.variable(v), true
	}
	if v, ok := strings.CutPrefix(name, "Bun.env."); ok && isName(v) {
		return p.variable(v), true
	}
	switch name {
	case "Dir.pwd", "Dir.getwd":
		return p.dir, true
	case "Dir.home", "os.homedir":
		return p.variable("HOME"), true
	case "Dir.tmpdir":
		return p.variable("TMPDIR"), true
	case "Dir.mktmpdir":
		return Word{Parts: []Part{{Kind: TempPath}}}, true
	}
	return Word{}, false
}

func (p *interp) subscript(name string, args [][]token) (Word, bool) {
	if len(args) != 1 {
		return Word{}, false
	}
	switch name {
	case "os.environ", "ENV", "$ENV", "$_ENV", "$_SERVER", "process.env", "Deno.env":
		return p.env(args)
	case "sys.argv", "process.argv", "ARGV", "$ARGV", "$argv":
		n, err := strconv.Atoi(p.text(args[0]))
		if err != nil || n < 0 {
			return Word{}, false
		}
		if name != "ARGV" && name != "$ARGV" || p.lang == langAwk {
			n--
		}
		if n >= 0 && n < len(p.args) && !slices.ContainsFunc(p.args, mayBeMany) {
			return Word{Parts: slices.Clone(p.args[n].Parts)}, true
		}
	case "Dir":
		return p.globbed(args[0])
	}
	return Word{}, false
}

// globbed is what a pattern matches.
func (p *interp) globbed(t []token) (Word, bool) {
	s, ok := p.value(t).Text()
	if !ok {
		return Word{}, false
	}
	e := expander{a: p.a, c: p.c, span: Span{}}
	e.globText(s)
	w := Word{Parts: e.cur}
	if p.lang == langPerl {
		w = p.expandUser(w)
	}
	return w, true
}

// result evaluates a call that gives a path.
func (p *interp) result(name string, args [][]token) (Word, bool) {
	one := func() (Word, bool) {
		if len(args) == 0 {
			return Word{}, false
		}
		return p.value(args[0]), true
	}
	switch name {
	case "os.environ.get", "os.getenv", "getenv", "ENV.fetch", "Deno.env.get", "environ.get":
		return p.env(args)
	case "os.path.join", "path.join", "path.resolve", "File.join", "join", "pathlib.Path", "Path", "PurePath", "pathlib.PurePath", "Pathname", "Pathname.new", "pathlib.PosixPath", "posixpath.join":
		if name == "join" && p.lang == langPerl || len(args) == 0 {
			return Word{}, false
		}
		w := p.value(args[0])
		for _, arg := range args[1:] {
			v := p.value(arg)
			if len(v.Parts) > 0 && v.Parts[0].Kind == Literal && strings.HasPrefix(v.Parts[0].Text, "/") && p.lang == langPython {
				w = v
				continue
			}
			w = Word{Parts: merge(append(append(slices.Clone(w.Parts), Part{Text: "/"}), v.Parts...))}
		}
		return w, true
	case "str", "os.fspath", "os.path.abspath", "os.path.normpath", "os.path.realpath", "String", "path.normalize", "File.expand_path", "os.fsencode", "bytes", "repr":
		w, ok := one()
		if name == "File.expand_path" {
			return p.expandUser(w), ok
		}
		return w, ok
	case "os.path.expanduser", "expanduser":
		w, ok := one()
		return p.expandUser(w), ok
	case "os.path.expandvars":
		return Word{}, false
	case "pathlib.Path.home", "Path.home", "os.homedir", "homedir", "Dir.home":
		return p.variable("HOME"), true
	case "os.getcwd", "process.cwd", "getcwd", "Dir.pwd", "pathlib.Path.cwd", "Path.cwd", "Deno.cwd", "cwd", "os.getcwdb":
		return p.dir, true
	case "tempfile.mkdtemp", "tempfile.mktemp", "mkdtemp", "fs.mkdtempSync", "Dir.mktmpdir", "tempdir", "File.Temp.tempdir", "tempnam", "Deno.makeTempDirSync", "tempfile.TemporaryDirectory":
		return Word{Parts: []Part{{Kind: TempPath}}}, true
	case "os.tmpdir", "tempfile.gettempdir", "sys_get_temp_dir", "Dir.tmpdir":
		return p.variable("TMPDIR"), true
	case "glob.glob", "glob", "Dir.glob", "iglob", "glob.iglob", "fs.globSync", "globSync", "bsd_glob":
		if len(args) > 0 {
			return p.globbed(args[0])
		}
	}
	return Word{}, false
}

// expandUser expands a leading ~.
func (p *interp) expandUser(w Word) Word {
	if len(w.Parts) == 0 || w.Parts[0].Kind != Literal {
		return w
	}
	t := w.Parts[0].Text
	if t != "~" && !strings.HasPrefix(t, "~/") {
		return w
	}
	ps := slices.Clone(p.variable("HOME").Parts)
	ps = append(append(ps, Part{Text: t[1:]}), w.Parts[1:]...)
	return Word{Parts: slicesTrim(merge(ps))}
}

// list evaluates a list of words: ['rm', '-rf', x].
func (p *interp) list(t []token) ([]Word, bool) {
	if !p.a.scan(len(t)) {
		return nil, false
	}
	t = p.strip(t)
	if len(t) == 0 {
		return nil, false
	}
	if len(t) == 1 {
		switch t[0].kind {
		case tList:
			var out []Word
			for _, s := range t[0].list {
				out = append(out, Lit(s))
			}
			return out, true
		case tName:
			ws, ok := p.lists[t[0].text]
			return slices.Clone(ws), ok
		}
		return nil, false
	}
	if pieces := p.operands(t); len(pieces) > 1 && p.lang != langPHP && p.lang != langPerl {
		var out []Word
		for _, piece := range pieces {
			ws, ok := p.list(piece)
			if !ok {
				return nil, false
			}
			out = append(out, ws...)
		}
		return out, true
	}
	if x := t[0].text; (x == "[" || x == "(") && t[0].kind == tOp && closes(t, 0) == len(t)-1 {
		return p.listItems(split(t[1 : len(t)-1])), true
	}
	// shlex.split('rm -rf x'), 'rm -rf x'.split()
	if n := len(t); n >= 4 && t[n-1].text == ")" {
		if t[0].kind == tString && n == 5 && t[1].text == "." && t[2].text == "split" {
			return fieldsOf(t[0].word)
		}
		if open := slices.IndexFunc(t, func(x token) bool { return x.text == "(" }); open > 0 && closes(t, open) == n-1 {
			if name := t[open-1].text; name == "split" || name == "quote" || name == "array" || name == "Array" {
				if name == "array" {
					return p.listItems(split(t[open+1 : n-1])), true
				}
				if w := p.value(t[open+1 : n-1]); w.Known() && strings.Contains(p.text(t[:open]), "sh") {
					return fieldsOf(w)
				}
			}
		}
	}
	return nil, false
}

func fieldsOf(w Word) ([]Word, bool) {
	t, ok := w.Text()
	if !ok {
		return nil, false
	}
	items, ok := quotedItems(t)
	var out []Word
	for _, s := range items {
		out = append(out, Lit(s))
	}
	return out, ok
}

func (p *interp) listItems(items [][]token) []Word {
	var out []Word
	for _, it := range items {
		if len(it) == 0 {
			continue
		}
		if x := it[0].text; (x == "*" || x == "...") && len(it) > 1 || x == "." && len(it) > 3 && it[1].text == "." {
			if x == "." {
				it = it[2:]
			}
			if ws, ok := p.list(it[1:]); ok {
				out = append(out, ws...)
				continue
			}
			w := p.opaque(it[1:])
			w.Parts[0].Split = true
			out = append(out, w)
			continue
		}
		if ws, ok := p.list(it); ok && (it[0].kind == tList || p.lang == langPerl && it[0].text != "[") {
			out = append(out, ws...)
			continue
		}
		w := p.value(it)
		if len(it) == 1 && it[0].kind == tName && strings.HasPrefix(it[0].text, "@") && p.lang == langPerl {
			w.Parts = slices.Clone(w.Parts)
			for j := range w.Parts {
				w.Parts[j].Split = true
			}
		}
		out = append(out, w)
	}
	return out
}

// option finds name=value, name: value or :name => value in arguments.
func (p *interp) option(args [][]token, name string) []token {
	for _, arg := range args {
		if len(arg) > 2 && arg[0].text == name && (arg[1].text == "=" || arg[1].text == ":" || arg[1].text == "=>" && p.lang == langPerl) {
			return arg[2:]
		}
		if len(arg) > 1 && arg[0].text == "{" {
			if end := closes(arg, 0); end > 0 {
				if v := p.option(split(arg[1:end]), name); v != nil {
					return v
				}
			}
		}
		if len(arg) > 3 && arg[0].text == ":" && arg[1].text == name && arg[2].text == "=>" {
			return arg[3:]
		}
		if len(arg) > 2 && arg[0].kind == tString && wordName(arg[0].word) == name && (arg[1].text == ":" || arg[1].text == "=>") {
			return arg[2:]
		}
	}
	return nil
}

// flag reports whether an option is set to something but false.
func (p *interp) flag(args [][]token, name string) bool {
	v := p.option(args, name)
	if len(v) == 0 {
		return false
	}
	switch v[0].text {
	case "False", "false", "None", "null", "undefined", "0", "nil":
		return false
	}
	return true
}

// positional drops the named arguments.
func positional(args [][]token, lang string) [][]token {
	var out [][]token
	for _, arg := range args {
		if lang == langPython && len(arg) > 1 && arg[0].kind == tName && arg[1].text == "=" {
			continue
		}
		out = append(out, arg)
	}
	return out
}
