package script

import (
	"slices"
	"strings"
)

// read assigns what it reads: known when its own here-document or
// here-string, or the pipe that it alone reads, gives the line.
func (a *analyzer) read(k *call) {
	var names []Word
	raw, plainRead := false, true
	array := false
	args := k.argv[1:]
	for i := 0; i < len(args); i++ {
		t, ok := args[i].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			names = append(names, args[i])
			continue
		}
		if t == "--" {
			names = append(names, args[i+1:]...)
			break
		}
		for j := 1; j < len(t); j++ {
			switch c := t[j]; c {
			case 'r':
				raw = true
			case 's', 'e':
			case 'a', 'A':
				array = true
				plainRead = false
				if c == 'a' && j == len(t)-1 && i+1 < len(args) {
					i++
					names = append(names, args[i])
				}
			case 'd', 'i', 'n', 'N', 'p', 't', 'u', 'k':
				if c != 'p' && c != 't' {
					plainRead = false
				}
				if k.c.src.lang == Zsh && (c == 'p' || c == 'k') {
					plainRead = false
					break
				}
				if j == len(t)-1 {
					i++
				}
				j = len(t)
			default:
				plainRead = false
			}
		}
	}
	line, known := a.readLine(k, raw)
	known = known && plainRead
	if len(names) == 0 {
		names = []Word{Lit("REPLY")}
		known = false
	}
	if _, ifs := k.st.vars["IFS"]; ifs || slices.ContainsFunc(k.assigns, func(as Assign) bool { return as.Name == "IFS" }) || k.st.lost {
		known = false
	}
	for i, n := range names {
		// zsh: name?prompt
		if t, ok := n.Text(); ok && k.c.src.lang == Zsh {
			if j := strings.IndexByte(t, '?'); j > 0 {
				n = Lit(t[:j])
			}
		}
		if !known || array {
			a.assignName(n, value{}, k)
			continue
		}
		line = strings.TrimLeft(line, " \t")
		field := line
		if i < len(names)-1 {
			if j := strings.IndexAny(line, " \t"); j >= 0 {
				field, line = line[:j], line[j:]
			} else {
				line = ""
			}
		}
		a.assignName(n, value{kind: isScalar, parts: []Part{{Text: strings.TrimRight(field, " \t")}}}, k)
	}
}

func (a *analyzer) readLine(k *call, raw bool) (string, bool) {
	own := slices.ContainsFunc(k.redirs, func(r Redirect) bool {
		return r.Fd <= 0 && (r.Op == "<<<" || r.Op == "<<" || r.Op == "<<-")
	})
	if !own || k.c.stdin == nil {
		return "", false
	}
	t, ok := k.c.stdin.Text()
	if !ok {
		return "", false
	}
	line, _, _ := strings.Cut(t, "\n")
	if strings.Contains(line, "\\") && !raw {
		return "", false
	}
	return line, true
}

// mapfile fills an array; -C runs code for it.
func (a *analyzer) mapfile(k *call) {
	args := k.argv[1:]
	name := Lit("MAPFILE")
	for i := 0; i < len(args); i++ {
		t, ok := args[i].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			name = args[i]
			continue
		}
		switch c := t[len(t)-1]; c {
		case 'C':
			if i+1 < len(args) {
				code := Word{Parts: append(slices.Clone(args[i+1].Parts), Part{Text: " "}, Part{Kind: Operand, Name: "mapfile", Split: true})}
				a.codeWord(code, k.c.src.lang, k.st, k.c, "the code of mapfile -C")
			}
			i++
		case 'd', 'n', 'O', 's', 'u', 'c':
			i++
		}
	}
	a.assignName(name, value{}, k)
}

// printfVar follows printf -v name.
func (a *analyzer) printfVar(k *call) {
	if len(k.argv) < 3 || k.c.src.lang == POSIX {
		return
	}
	t, ok := k.argv[1].Text()
	if !ok || !strings.HasPrefix(t, "-v") {
		return
	}
	name, rest := k.argv[2], k.argv[3:]
	if t != "-v" {
		name, rest = Lit(t[2:]), k.argv[2:]
	}
	v := value{}
	if parts, ok := formatPrintf(rest, k.c.src.lang); ok {
		v.kind, v.parts = isScalar, parts
	}
	a.assignName(name, v, k)
}

// assigned looks at variables whose value a shell or program runs.
func (a *analyzer) assigned(name string, w Word, st *state, c *ctx) {
	if len(name) < 2 {
		return
	}
	t, known := w.Text()
	if strings.HasPrefix(name, "BASH_FUNC_") {
		a.unknown("a function is put into the environment of bash: "+clip(name), c.src, a.at)
		return
	}
	switch name {
	case "PS4":
		if known {
			a.hidden(t, st.clone(), c)
		}
	case "ENV":
		if known {
			a.hidden(t, st.clone(), c)
		}
	case "PROMPT_COMMAND":
		a.inVar(w, name, st, c)
	case "BASH_ENV":
		switch {
		case known && t == "":
		case len(a.fileOf(st.dir, w)) > 0:
			a.runFile(w, &call{st: st, c: c, dir: st.dir, span: a.at}, c, Bash, st.clone())
		default:
			if known {
				a.hidden(t, st.clone(), c)
			}
			a.unknown("BASH_ENV makes every bash run a file: "+clip(wordName(w)), c.src, a.at)
		}
	case "GIT_EXTERNAL_DIFF": // it gets the file, among others
		if known && strings.TrimSpace(t) != "" {
			w = Lit(t + ` "$1"`)
		}
		a.inVar(w, name, st, c)
	case "GIT_SSH_COMMAND", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_PROXY_COMMAND",
		"GIT_ASKPASS", "GIT_SSH", "SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "SUDO_EDITOR", "FCEDIT",
		"RSYNC_RSH", "CVS_RSH", "SUDO_ASKPASS", "CC", "CXX", "LD", "AR", "RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
		"CARGO_BUILD_RUSTC_WRAPPER", "PSQL_PAGER", "PSQL_EDITOR", "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "AWS_PAGER", "BAT_PAGER",
		"DELTA_PAGER", "GH_PAGER", "GH_EDITOR", "GH_BROWSER", "KUBE_EDITOR", "KUBECTL_EXTERNAL_DIFF", "GIT_TEST_EDITOR":
		a.inVar(w, name, st, c)
	case "LESSOPEN", "LESSCLOSE":
		a.inVar(Word{Parts: append([]Part{{Text: strings.TrimLeft(t, "|-")}}, w.Parts[min(1, len(w.Parts)):]...)}, name, st, c)
	}
}

// inVar lists the command that a variable holds for others to run.
func (a *analyzer) inVar(w Word, name string, st *state, c *ctx) {
	t, known := w.Text()
	if !known || strings.TrimSpace(t) == "" {
		return
	}
	sub := *c
	sub.via = append(c.via[:len(c.via):len(c.via)], name)
	sub.sink, sub.fedBy, sub.stdin, sub.redirs = nil, nil, nil, nil
	if sub.astray == "" {
		sub.astray = "what runs $" + name + " is not known"
	}
	a.shellText(t, POSIX, a.child(&call{st: st, c: c, dir: st.dir}), &sub)
}
