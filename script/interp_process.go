package script

import (
	"slices"
	"strings"
)

// process follows calls that start programs.
func (p *interp) process(act string, args, pos [][]token, call string) {
	var dir *Word
	for _, o := range []string{"cwd", "chdir"} {
		if v := p.option(args, o); v != nil {
			w := p.value(v)
			dir = &w
		}
	}
	from := 0
	if len(act) > 1 && act[1] >= '0' && act[1] <= '9' {
		from = int(act[1] - '0')
	}
	switch act[0] {
	case 'S':
		if v := p.option(args, "cmd"); len(pos) == 0 && v != nil {
			pos = [][]token{v}
		}
		if len(pos) > 0 {
			if ws, ok := p.list(pos[0]); ok && p.lang != langAwk {
				p.exec(ws, dir)
				return
			}
			p.shell(p.value(pos[0]), dir, call)
		}
	case 's':
		p.systemCall(pos[min(from, len(pos)):], dir, call)
	case 'i':
		if p.mentions("IPC::") {
			if v := p.option(args, "command"); v != nil {
				pos = [][]token{v}
			}
			p.systemCall(pos, dir, call)
		}
	case 'e':
		for j := range pos {
			if len(pos[j]) > 0 && pos[j][0].text != ":" {
				p.systemCall(pos[j:j+1], dir, call)
			}
		}
	case 'N':
		p.exec(append([]Word{Lit(last(call))}, p.listItems(pos)...), dir)
	case 'A':
		if from < len(pos) {
			ws := p.listItems(pos[from:])
			if from > 0 && len(ws) > 0 {
				ws[0] = p.value(pos[from-1]) // the file counts, not argv[0]
			}
			p.exec(ws, dir)
		}
	case 'L':
		p.listCall(pos, from, dir, call)
	case 'X', 'B':
		p.programCall(act, args, pos, dir, call)
	case 'P':
		p.subprocess(args, pos, dir, call)
	}
}

// mentions says that the code, or an option of its interpreter, holds a text.
func (p *interp) mentions(s string) bool {
	if strings.Contains(p.code, s) {
		return true
	}
	for _, w := range p.k.argv {
		if strings.Contains(litText(w), s) {
			return true
		}
	}
	return false
}

// systemCall is system of Perl, Ruby and PHP: one text goes to a shell,
// several arguments are a program.
func (p *interp) systemCall(pos [][]token, dir *Word, call string) {
	pos = slices.DeleteFunc(slices.Clone(pos), func(t []token) bool {
		return len(t) == 0 || t[0].text == "{" || len(t) > 1 && t[0].kind == tName && t[1].text == ":" || len(t) > 2 && t[0].text == ":" && t[2].text == "=>"
	})
	if len(pos) == 0 {
		return
	}
	if ws, ok := p.list(pos[0]); ok {
		if len(pos) == 1 || p.lang != langPerl || pos[0][0].text == "[" {
			p.exec(ws, dir)
			return
		}
		for _, t := range pos[1:] {
			ws = append(ws, p.listItems([][]token{t})...)
		}
		p.exec(ws, dir)
		return
	}
	if len(pos) > 1 && p.lang != langPHP && !strings.HasPrefix(call, "IO.popen") {
		p.exec(p.listItems(pos), dir)
		return
	}
	p.shell(p.value(pos[0]), dir, call)
}

// listCall starts a program given as a list.
func (p *interp) listCall(pos [][]token, from int, dir *Word, call string) {
	if from >= len(pos) {
		return
	}
	ws, ok := p.list(pos[from])
	if !ok {
		w := p.value(pos[from])
		if !w.Known() {
			p.unknown("what " + call + " runs is not known: " + clip(wordName(w)))
			return
		}
		ws = []Word{w}
	}
	if from > 0 && len(ws) > 0 {
		ws[0] = p.value(pos[from-1])
	}
	p.exec(ws, dir)
}

// programCall is spawn(file, [args], options) of JavaScript.
func (p *interp) programCall(act string, args, pos [][]token, dir *Word, call string) {
	if act[0] == 'B' {
		if ws, ok := p.list(p.option(args, "cmd")); ok {
			p.exec(ws, dir)
			return
		}
		p.unknown("what " + call + " runs is not known")
		return
	}
	if len(pos) == 0 {
		return
	}
	ws := []Word{p.value(pos[0])}
	rest := []token(nil)
	if len(pos) > 1 {
		rest = pos[1]
	}
	if v := p.option(args, "args"); v != nil {
		rest = v
	}
	switch list, ok := p.list(rest); {
	case ok:
		ws = append(ws, list...)
	case len(rest) > 0 && rest[0].text != "{" && rest[0].text != "(" && rest[0].text != "function" && (len(rest) < 2 || rest[1].text != "=>"):
		w := p.opaque(rest)
		w.Parts[0].Split = true
		ws = append(ws, w)
	}
	if p.flag(args, "shell") {
		p.shell(join(ws), dir, call)
		return
	}
	p.exec(ws, dir)
}

// subprocess is subprocess.run and its kin.
func (p *interp) subprocess(args, pos [][]token, dir *Word, call string) {
	first := p.option(args, "args")
	if len(pos) > 0 {
		first = pos[0]
	}
	if len(first) == 0 {
		return
	}
	shell := p.flag(args, "shell")
	var stdin *Word
	if v := p.option(args, "input"); v != nil {
		w := p.value(v)
		stdin = &w
	}
	ws, ok := p.list(first)
	switch {
	case ok && shell && len(ws) > 0:
		p.feed(ws[0], dir, call, stdin)
	case ok:
		p.execFed(ws, dir, stdin)
	case shell:
		p.feed(p.value(first), dir, call, stdin)
	default:
		w := p.value(first)
		if !w.Known() {
			p.unknown("what " + call + " runs is not known: " + clip(wordName(w)))
			return
		}
		p.exec([]Word{w}, dir)
	}
}
