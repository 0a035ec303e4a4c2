package eval

import (
	"strings"

	"safeshell/script"
)

// Files that are named inside of what a program is told to do: commands of
// editors, SQL, awk.

// plainText is a word's text; the home directory alone may stand in for a part
// that is not known.
func (v *view) plainText(w script.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch home := v.r.homeOf(p.Name); {
		case p.Kind == script.Literal || p.Kind == script.Glob:
			b.WriteString(p.Text)
		case p.Kind == script.Variable && home != "":
			b.WriteString(home)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// writesNamed writes a file that a text names; ~ and $HOME are the home directory.
func (v *view) writesNamed(file string) {
	file = strings.Trim(file, `'";)`)
	for _, home := range [...]string{"~/", "$HOME/"} {
		if rest, ok := strings.CutPrefix(file, home); ok && v.r.o.Paths.User != "" {
			file = v.r.o.Paths.User + "/" + rest
		}
	}
	if file != "" {
		v.touch(accWrite, script.Lit(file), false)
	}
}

// told are the texts that tell a program what to do: values of options, operands
// after the first, its input.
func (v *view) told(skip int, options ...string) (texts []string) {
	add := func(w script.Word) {
		if s, ok := v.plainText(w); ok {
			texts = append(texts, s)
		}
	}
	v.optionWords(add, options...)
	for _, w := range v.after(skip) {
		add(w)
	}
	if s, ok := v.input(); ok {
		texts = append(texts, s)
	}
	return texts
}

// editorWrites are the files that commands of ed, ex and vim write to.
func (v *view) editorWrites() {
	for _, text := range v.told(0, "-c", "--cmd") {
		for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '|' }) {
			line = strings.TrimLeft(line, "+:%.,$0123456789 \t")
			verb, file, ok := strings.Cut(line, " ")
			if !ok {
				continue
			}
			switch strings.TrimSuffix(verb, "!") {
			case "w", "wr", "write", "wq", "sav", "saveas", "up", "update", "x", "W", "wn":
				v.writesNamed(strings.TrimLeft(file, "> "))
			}
		}
	}
}

// sqlAccess is what the shells of databases read and write beside the database.
func (v *view) sqlAccess() {
	skip := 0
	if v.line.name != "psql" {
		if ops := v.operandList(0); len(ops) > 0 {
			skip = 1
			v.touch(accRead, ops[0], false)
			if !v.line.flag("-readonly") && !v.line.flag("--readonly") {
				v.touch(accChange, ops[0], false)
			}
		}
	}
	for _, text := range v.told(skip, "-c", "-cmd", "--command", "-init") {
		words := strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == '(' || r == ',' || r == ';' })
		for i, w := range words {
			if i+1 == len(words) {
				break
			}
			last := words[i+1]
			switch strings.ToLower(w) {
			case ".output", ".once", ".log", ".clone", ".excel", ".open", "\\o", "\\out", "\\w", "\\write", "writefile":
			case ".backup", ".save":
				last = words[min(len(words)-1, i+2)]
				v.writesNamed(words[i+1])
			case "attach", "into", "to":
				if strings.EqualFold(last, "database") && i+2 < len(words) {
					last = words[i+2]
				}
				if last[0] != '\'' && last[0] != '"' && last[0] != '/' {
					continue
				}
			default:
				continue
			}
			v.writesNamed(last)
		}
	}
}

// awkWrites are the files that a program of awk gets by a variable: -v f=x
// '{print > f}'. What it names itself is an effect of its code.
func (v *view) awkWrites() {
	ops := v.operandList(0)
	if len(ops) == 0 {
		return
	}
	code, _ := ops[0].Text()
	if !strings.Contains(code, ">") {
		return
	}
	code = strings.ReplaceAll(code, " ", "")
	v.optionWords(func(w script.Word) {
		s, _ := leading(w)
		if name, _, ok := strings.Cut(s, "="); ok && strings.Contains(code, ">"+name) {
			v.touch(accWrite, cutWord(w, len(name)+1), false)
		}
	}, "-v", "--assign")
}
