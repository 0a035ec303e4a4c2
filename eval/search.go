package eval

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"safeshell/internal/files"
	"safeshell/script"
)

// A command that is given what another one lists (find, grep -l, fd, ls) changes
// files whose names the text does not hold. What it holds is where the search
// begins and how its files may be called: such words have an operand named
// "found" between the two, with what bounds the search behind a NUL each.

// search is what bounds where found files may be.
type search struct {
	depth   int      // directories below the start, 0: any number
	visible bool     // files and directories with a leading dot are left out
	except  []string // find's ! -path
}

func (s search) name() string {
	if s.depth == 0 && !s.visible && len(s.except) == 0 {
		return foundName
	}
	return foundName + "\x00" + strconv.Itoa(s.depth) + "\x00" + strconv.FormatBool(s.visible) + "\x00" + strings.Join(s.except, "\x00")
}

const foundName = "found"

func readSearch(name string) (s search) {
	fields := strings.Split(name, "\x00")
	if len(fields) > 3 {
		s.depth, _ = strconv.Atoi(fields[1])
		s.visible = fields[2] == "true"
		s.except = slices.DeleteFunc(fields[3:], func(x string) bool { return x == "" })
	}
	return s
}

// reaches says that what is done to a target above what a rule names reaches it.
func (v *view) reaches(t *target, p *tpath, rp *rulePath) certainty {
	switch {
	case p.unknown:
		return v.foundUnder(p, rp)
	case len(t.from.Parts) > 0:
		return v.treeHolds(t.from, p, rp)
	}
	return never
}

// treeHolds says that a directory that is copied to p holds what a rule names
// there: on the disk, or made by the text.
func (v *view) treeHolds(from script.Word, p *tpath, rp *rulePath) certainty {
	src, ok := v.pathOf(from, v.dir).exact()
	if !ok || rp.every || !rp.anchored || !p.coversExactly(rp) {
		return never
	}
	i := 0
	for it := rp.iter(); ; i++ {
		c, more := it.next()
		if !more {
			break
		}
		if i >= len(p.comps) {
			src += "/" + c
		}
	}
	if i <= len(p.comps) || hasGlob(src) {
		return never
	}
	if files.Exists(src) {
		return maybe
	}
	for k := range v.i {
		x := newView(v.r, v.a, k)
		for _, t := range x.targets() {
			if s, ok := x.pathOf(t.word, x.dir).exact(); ok && t.kind != accRead && (s == src || below(s, src)) {
				return maybe
			}
		}
	}
	return never
}

// foundUnder says that found files may be, or lie under, what a rule names in
// the home directory or of safeshell: the search begins above it, and the name
// fits that one, or one that is there below it.
func (v *view) foundUnder(p *tpath, rp *rulePath) certainty {
	at := slices.IndexFunc(p.comps, func(c comp) bool { return c.unknown && strings.HasPrefix(c.text, foundName) })
	if at < 0 || at+1 >= len(p.comps) || p.rootless || rp.every || !rp.anchored {
		return never
	}
	var rest []string
	full := ""
	i := 0
	for it := rp.iter(); ; i++ {
		want, ok := it.next()
		if !ok {
			break
		}
		full += "/" + want
		if i >= at {
			rest = append(rest, want)
		} else if !compMatch(&p.comps[i], want) {
			return never
		}
	}
	if i < at || !strings.HasPrefix(full, v.r.o.Paths.Home) && !strings.HasPrefix(full, v.r.o.Paths.Spool) && !strings.Contains(full, "/safeshell") && !strings.HasPrefix(strings.TrimPrefix(full, v.r.o.Paths.User), "/.") {
		return never
	}
	s := readSearch(p.comps[at].text)
	hidden := slices.ContainsFunc(rest, func(c string) bool { return c[0] == '.' })
	if s.visible && hidden || s.depth > 0 && len(rest) > s.depth || hasGlob(full) {
		return never
	}
	for _, x := range s.except {
		if strings.Contains(full+"/", strings.Trim(x, "*")) {
			return never
		}
	}
	name := &p.comps[at+1]
	fits := func(s string) bool { return !name.unknown && (name.text == s || name.glob && rawMatch(name.text, s)) }
	if slices.ContainsFunc(rest, fits) || fits("config.yaml") && (strings.HasSuffix(full, "/.safeshell") || full == v.r.o.Paths.Home) || anyBelow(full, fits, s, len(rest)) {
		return maybe
	}
	return never
}

// anyBelow says that a directory holds a file of a name that fits. What it does
// not look at, in a very large one, counts as not there.
func anyBelow(dir string, fits func(string) bool, s search, at int) (found bool) {
	count := 0
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		count++
		below := strings.Count(file[len(dir):], "/")
		switch {
		case err != nil || file == dir:
			return nil //nolint:nilerr // what cannot be read is not there
		case count > maxWalk:
			return fs.SkipAll
		case s.depth > 0 && at+below > s.depth, s.visible && d.Name()[0] == '.':
			return skip(d)
		case fits(d.Name()):
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// given are the words that stand for w, which is not known, by what the commands
// list from which it comes. They are used to find what a rule names, never to
// except from one.
func (v *view) given(w script.Word) (out []script.Word) {
	if len(w.Parts) != 1 {
		return nil
	}
	part := w.Parts[0]
	var from []int
	switch part.Kind {
	case script.Output, script.Operand, script.Variable:
		from = append(from, v.givers()...)
		for _, k := range v.earlierNamed(readerNames) {
			if !v.spend(1) {
				break
			}
			if c := &v.a.Commands[k]; part.Name != "" && isNamed(c.Argv[0], "read", "mapfile", "readarray") && names(c, part.Name) {
				from = append(from, k)
			}
		}
		for _, k := range slices.Clone(from) {
			if k >= 0 && k < len(v.a.Commands) {
				from = append(from, v.a.Commands[k].FedBy...)
			}
		}
		from = append(from, v.c.FedBy...)
	default:
		return nil
	}
	if part.Kind == script.Operand && len(v.c.Via) > 0 {
		program, _, _ := strings.Cut(v.givenBy(), " ")
		for k := v.i - 1; k >= 0 && (k&63 != 0 || v.spend(1)); k-- {
			if len(v.a.Commands[k].Argv) > 0 && isNamed(v.a.Commands[k].Argv[0], program) {
				from = append(append(from, k), v.a.Commands[k].FedBy...)
				break
			}
		}
	}
	slices.Sort(from)
	for _, k := range slices.Compact(from) {
		if k >= 0 && k < v.i {
			out = append(out, newView(v.r, v.a, k).lists(0)...)
		}
	}
	return out
}

// names says that a word of the command is the name.
func names(c *script.Command, name string) bool {
	return slices.ContainsFunc(c.Argv[1:], func(w script.Word) bool { s, ok := w.Text(); return ok && s == name })
}

// lists are the names that a command prints, or gives to the one that it runs.
func (v *view) lists(depth int) (out []script.Word) {
	l := &v.line
	ops := v.operandList(0)
	switch l.name {
	case "ls", "echo", "printf", "realpath", "readlink", "print", "dirname", "stat", "du":
		out = slices.Clone(ops)
	case "parallel":
		for i, w := range l.words {
			if s, _ := w.Text(); strings.HasPrefix(s, ":::") {
				out = slices.Clone(l.words[i+1:])
			}
		}
	case "find":
		out = v.findLists()
	case "fd", "fdfind", "rg", "ag", "ack", "grep", "egrep", "fgrep", "zgrep":
		out = v.searchLists(ops)
	case "locate", "plocate", "mlocate":
		for _, w := range ops {
			out = append(out, found(script.Lit("/"), "*"+strings.Trim(v.textOf(w), "*^$")+"*"))
		}
	}
	if out == nil && depth < 8 {
		switch l.name {
		case "head", "tail", "sort", "uniq", "tac", "shuf", "grep", "egrep", "rg", "sed", "awk", "tr", "cut", "tee", "cat", "xargs", "realpath", "dirname":
			for _, k := range v.c.FedBy {
				if k >= 0 && k < v.i {
					out = append(out, newView(v.r, v.a, k).lists(depth+1)...)
				}
			}
		}
		return out
	}
	for i, w := range out {
		if s, _ := leading(w); s != "" && s[0] != '/' && v.dir != "" || s == "" && len(w.Parts) > 0 && w.Parts[0].Kind == script.Glob {
			out[i] = joined(script.Lit(v.dir), w.Parts)
		}
	}
	return out
}

// findLists are the files that find prints.
func (v *view) findLists() (out []script.Word) {
	reached, known := v.findFiles(func(s string) bool { return s == "-print" || s == "-print0" || s == "-printf" })
	if !known || reached.any || reached.none {
		reached.names = []string{"*"}
	}
	for _, start := range v.findStarts() {
		for _, name := range reached.names {
			out = append(out, v.foundBy(start, name))
		}
	}
	return out
}

// foundBy is found, with what bounds this find.
func (v *view) foundBy(start script.Word, name string) script.Word {
	s := search{}
	words := v.line.words
	for i := 1; i+1 < len(words); i++ {
		value, _ := words[i+1].Text()
		switch opt, _ := words[i].Text(); opt {
		case "-maxdepth":
			s.depth, _ = strconv.Atoi(value)
		case "-path", "-wholename", "-ipath", "-name":
			before, _ := words[i-1].Text()
			pruned := i+3 < len(words) && isLit(words[i+2], "-prune") && (isLit(words[i+3], "-o") || isLit(words[i+3], "-or"))
			if before == "!" || before == "-not" || pruned {
				if opt == "-name" {
					value = "/" + value
				}
				s.except = append(s.except, strings.TrimSuffix(strings.TrimPrefix(value, "."), "/*")+"*")
			}
		}
	}
	w := found(start, name)
	w.Parts[len(w.Parts)-3].Name = s.name()
	return w
}

func isLit(w script.Word, s string) bool { t, ok := w.Text(); return ok && t == s }

// searchLists are the files that grep -l, rg -l and fd print.
func (v *view) searchLists(ops []script.Word) (out []script.Word) {
	l := &v.line
	s, name, roots := search{}, []string{"*"}, ops
	has := func(opts ...string) bool { return slices.ContainsFunc(opts, l.flag) }
	var include []string
	pattern := 1
	switch l.name {
	case "fd", "fdfind":
		s.visible = !has("-H", "--hidden", "-u", "--unrestricted")
		v.optionWords(func(w script.Word) { include = append(include, "*."+v.textOf(w)) }, "-e", "--extension")
		if len(ops) > 0 && len(include) == 0 {
			p, ok := ops[0].Text()
			plain := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(p, "^"), "$"), `\.`, ".")
			if has("-g", "--glob") {
				include = []string{p}
			} else if ok && plain != "." && !strings.ContainsAny(plain, `\^$|()[]{}*+?`) {
				include = []string{"*" + plain + "*"}
			}
		}
		v.optionWords(func(w script.Word) { roots = append(slices.Clone(roots), w) }, "--search-path", "--base-directory")
	case "rg", "ag", "ack":
		if !has("-l", "--files-with-matches", "-L", "--files-without-match", "--files") {
			return nil
		}
		s.visible = !has("--hidden", "-.", "-u", "-a", "--unrestricted")
		v.optionWords(func(w script.Word) { include = append(include, v.textOf(w)) }, "-g", "--glob", "-G")
		if has("--files", "-e", "-f") {
			pattern = 0
		}
	default:
		if !has("-l", "--files-with-matches", "-L", "--files-without-match") {
			return nil
		}
		v.optionWords(func(w script.Word) { include = append(include, v.textOf(w)) }, "--include")
		if has("-e", "-f", "--regexp", "--file") {
			pattern = 0
		}
		if !has("-r", "-R", "--recursive", "--dereference-recursive") {
			return slices.Clone(ops[min(pattern, len(ops)):])
		}
	}
	if include != nil {
		name = include
	}
	if roots = roots[min(pattern, len(roots)):]; len(roots) == 0 {
		roots = []script.Word{script.Lit(".")}
	}
	for _, root := range roots {
		for _, n := range name {
			w := found(root, n)
			w.Parts[len(w.Parts)-3].Name = s.name()
			out = append(out, w, root)
		}
	}
	return out
}
