package eval

import (
	"path"
	"strings"

	"safeshell/script"
)

func (v *view) findAccess() {
	l := &v.line
	if l.name != "find" {
		return // fd deletes only through -x, which is judged by itself
	}
	start := v.findStarts()
	v.optionWords(func(w script.Word) { v.touch(accEmpty, w, false) }, "-fprint", "-fprint0", "-fls", "-fprintf")
	kind, acts := accDelete, func(s string) bool { return s == "-delete" }
	switch {
	case l.flag("-delete"):
	case v.findRuns():
		kind, acts = accVia, findRunner
	default:
		return
	}
	reached, ok := v.findFiles(acts)
	if !ok {
		reached = findSet{any: true}
	}
	if reached.none || kind == accDelete && reached.empty {
		return // nothing is lost
	}
	for _, w := range v.foundIn(start, reached) {
		v.touch(kind, w, true)
	}
}

// foundIn is what find gives for its starting points.
func (v *view) foundIn(start []script.Word, set findSet) []script.Word {
	if set.any {
		return start
	}
	var out []script.Word
	for _, w := range start {
		own, known := w.Text()
		for _, name := range set.names {
			if fits, err := path.Match(name, baseName(own)); known && (fits || err != nil) {
				out = append(out, w) // the starting point itself
			}
			out = append(out, v.foundBy(w, name))
		}
	}
	return out
}

// found is what find gives for a starting point and a -name pattern.
func found(start script.Word, name string) script.Word {
	last := script.Part{Kind: script.Glob, Text: name}
	if !hasGlob(name) {
		last.Kind = script.Literal
	}
	return script.Word{Parts: append(start.Parts[:len(start.Parts):len(start.Parts)],
		script.Part{Kind: script.Literal, Text: "/"}, script.Part{Kind: script.Operand, Name: foundName},
		script.Part{Kind: script.Literal, Text: "/"}, last)}
}

// findRuns says that find runs a program that deletes what it is given.
func (v *view) findRuns() bool {
	for i, w := range v.line.words {
		if s, _ := w.Text(); findRunner(s) {
			if i+1 < len(v.line.words) {
				s, _ := v.line.words[i+1].Text()
				switch baseName(s) {
				case "rm", "unlink", "shred", "srm", "truncate", "mv", "dd", "sudo":
					return true
				}
			}
		}
	}
	return false
}

func findRunner(s string) bool {
	return s == "-exec" || s == "-execdir" || s == "-ok" || s == "-okdir"
}

// findExprStart is where the expression begins, after options and starting
// points.
func (v *view) findExprStart() int {
	i := 1
	for ; i < len(v.line.words); i++ {
		s, _ := leading(v.line.words[i])
		if v.findOption(s) {
			continue
		}
		if v.line.kinds[i] != argOperand || s == "(" || s == "!" {
			break
		}
	}
	return i
}

func (v *view) findOption(s string) bool {
	return s == "-L" || s == "-H" || s == "-P" || strings.HasPrefix(s, "-O")
}

// findStarts are the starting points: operands before the expression.
func (v *view) findStarts() []script.Word {
	var out []script.Word
	for _, w := range v.line.words[1:v.findExprStart()] {
		if s, _ := leading(w); !v.findOption(s) {
			out = append(out, w)
		}
	}
	if out == nil {
		out = []script.Word{script.Lit(".")}
	}
	return out
}

// fromFind returns what {} stands for in a command that find runs; for xargs and
// fd what is read, as far as their own words tell it.
func (v *view) fromFind(w script.Word, kind accessKind) []script.Word {
	if len(w.Parts) != 1 || w.Parts[0].Kind != script.Operand || len(v.c.Via) == 0 {
		return nil
	}
	via := v.givenBy()
	xargs := strings.HasPrefix(via, "xargs")
	if !xargs && strings.HasPrefix(via, "fd") && kind == accRead {
		for i := v.i - 1; i >= 0; i-- {
			if f := newView(v.r, v.a, i); f.line.name == "fd" || f.line.name == "fdfind" {
				return f.listed()
			}
		}
	}
	if !xargs && !strings.HasPrefix(via, "find") {
		return nil
	}
	for i := v.i - 1; i >= 0; i-- {
		f := newView(v.r, v.a, i)
		if xargs && f.line.name == "xargs" {
			if len(f.c.FedBy) != 1 || f.c.FedBy[0] < 0 || f.c.FedBy[0] >= i {
				return nil
			}
			f = newView(v.r, v.a, f.c.FedBy[0])
			if f.line.name != "find" && kind == accRead {
				return f.listed()
			}
			if f.line.name != "find" || f.line.flag("-exec") || f.line.flag("-printf") {
				return nil
			}
		}
		if f.line.name != "find" {
			continue
		}
		acts := findRunner
		if xargs {
			acts = func(s string) bool { return s == "-print" || s == "-print0" }
		}
		reached, known := f.findFiles(acts)
		if !known || reached.any || reached.none {
			reached = findSet{names: []string{"*"}}
		}
		var out []script.Word
		for _, s := range f.findStarts() {
			if d, ok := s.Text(); ok && d != "" && d[0] != '/' && f.dir != "" {
				s = script.Lit(f.dir + "/" + d)
			}
			for _, name := range reached.names {
				if kind == accRead {
					name = anyOf(name)
				}
				out = append(out, f.foundBy(s, name))
			}
		}
		return out
	}
	return nil
}

// givenBy is what gives the command its operands: find -exec, xargs, fd -x, also
// with a shell between.
func (v *view) givenBy() string {
	for k := len(v.c.Via) - 1; k >= 0; k-- {
		if program, _, _ := strings.Cut(v.c.Via[k], " "); !isShell(baseName(program)) {
			return v.c.Via[k]
		}
	}
	return ""
}

// listed are the files that a program lists for xargs to read: ls ~/.ssh/id_*,
// locate id_rsa, fd '^\.env$', ls -a | grep '\.pem$'. They are used to find what
// a rule names, never to except from one.
func (v *view) listed() []script.Word {
	ops := v.operandList(0)
	switch v.line.name {
	case "ls", "echo", "printf", "realpath", "readlink":
		return ops
	case "locate", "plocate", "mlocate":
		return namedLike(ops, ".")
	case "fd", "fdfind":
		dir := "."
		if len(ops) > 1 {
			dir, _ = ops[1].Text()
		}
		return namedLike(ops[:min(len(ops), 1)], dir)
	case "grep", "egrep", "rg":
		if len(ops) == 1 && len(v.c.FedBy) == 1 {
			return namedLike(ops, ".")
		}
	case "head", "tail", "sort", "uniq", "tac", "shuf":
		if len(v.c.FedBy) == 1 && v.c.FedBy[0] >= 0 && v.c.FedBy[0] < v.i {
			return newView(v.r, v.a, v.c.FedBy[0]).listed()
		}
	}
	return nil
}

// namedLike turns regular expressions of a plain name into words for files of
// that name: ^\.env$, id_rsa, \.pem$.
func namedLike(patterns []script.Word, dir string) (out []script.Word) {
	for _, w := range patterns {
		s, ok := w.Text()
		if !ok {
			continue
		}
		begins := strings.HasPrefix(s, "^")
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(s, "^"), "$"), "\\.", ".")
		if name == "" || strings.ContainsAny(name, "\\^$|()[]{}*+?/") {
			continue
		}
		out = append(out, found(script.Lit(dir), name))
		if !begins && name[0] == '.' {
			out = append(out, found(script.Lit(dir), "*"+name))
		}
	}
	return out
}

// anyOf stands for files that are read by a pattern of which nothing but the
// kind is known: of all *.json files, that one is credentials.json says nothing.
// What rules name by a pattern of their own (*.pem) is found all the same.
func anyOf(pattern string) string {
	ext, ok := strings.CutPrefix(pattern, "*.")
	if !ok || ext == "" || hasGlob(ext) || strings.HasPrefix(ext, "env") {
		return pattern
	}
	return "x." + ext
}
