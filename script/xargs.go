package script

import (
	"safeshell/command"
	"slices"
	"strings"
)

var ()

// operand is what a program puts in itself.
func operand(name string) Part { return Part{Kind: Operand, Name: name} }

// xargs follows xargs: its operands are the words of a known producer, or not
// known.
func (a *analyzer) xargs(k *call, i int) {
	opts, at, unsure := scan(k.argv, 1, command.Of("xargs"))
	k.c.sink.lose()
	if unsure {
		if mayBeMany(k.argv[at]) {
			a.unknown("what xargs runs is not known: "+clip(wordName(k.argv[at])), k.c.src, k.span)
			return
		}
	}
	t := k.after(i, min(at, len(k.argv)), "xargs")
	t.outside = true
	t.c.fedBy, t.c.stdin, t.c.redirs = nil, nil, nil
	t.redirs = nil
	if len(t.argv) == 0 {
		t.argv = []Word{Lit("echo")}
		t.tail = 0
	}
	items, known := xargsItems(k, opts)
	repl := ""
	for _, o := range opts {
		switch o.name {
		case "-I", "-J", "-i", "--replace":
			repl = "{}"
			if o.value != nil {
				if s, ok := o.value.Text(); ok && s != "" {
					repl = s
				}
			}
		}
	}
	switch {
	case repl != "" && hasOpt(opts, "-I", "-i", "--replace"):
		if known && len(items) <= maxUnroll {
			for _, it := range items {
				a.substituteRun(t, repl, Part{Text: it})
			}
			return
		}
		a.substituteRun(t, repl, operand("xargs"))
	default:
		if known && len(items) <= maxFields {
			if n := optValue(opts, "-n", "-L", "--max-args", "--max-lines"); n == nil {
				if len(items) == 0 && hasOpt(opts, "-r", "--no-run-if-empty") {
					return
				}
				run := *t
				run.argv = slices.Clip(t.argv)
				for _, it := range items {
					run.argv = append(run.argv, Lit(it))
				}
				run.tail = 0
				a.run(&run)
				return
			}
			for n, it := range items {
				if n >= maxUnroll {
					break
				}
				run := *t
				run.argv = append(slices.Clip(t.argv), Lit(it))
				run.tail = 0
				a.run(&run)
			}
		}
		run := *t
		p := operand("xargs")
		p.Split = true
		run.argv = append(slices.Clip(t.argv), Word{Parts: []Part{p}})
		run.tail = 0
		a.run(&run)
	}
}

// substituteRun runs a command with an item in place of its marker.
func (a *analyzer) substituteRun(t *call, repl string, item Part) {
	a.spend(len(t.argv) / 8)
	run := *t
	run.argv = make([]Word, len(t.argv))
	changed := false
	for j, w := range t.argv {
		run.argv[j] = replaceIn(w, repl, item)
		changed = changed || !sameWord(w, run.argv[j])
	}
	if changed {
		run.tail = 0
	}
	a.run(&run)
}

// replaceIn puts a part wherever a word holds a marker.
func replaceIn(w Word, marker string, item Part) Word {
	out := Word{Span: w.Span}
	found := false
	for _, p := range w.Parts {
		if p.Kind != Literal || !strings.Contains(p.Text, marker) {
			out.Parts = append(out.Parts, p)
			continue
		}
		found = true
		for j, piece := range strings.Split(p.Text, marker) {
			if j > 0 {
				out.Parts = append(out.Parts, item)
			}
			if piece != "" {
				out.Parts = append(out.Parts, Part{Text: piece})
			}
		}
	}
	if !found {
		return w
	}
	out.Parts = merge(out.Parts)
	return out
}

// xargsItems splits known input as xargs does.
func xargsItems(k *call, opts []option) ([]string, bool) {
	if optValue(opts, "-a", "--arg-file") != nil || k.c.stdin == nil {
		return nil, false
	}
	t, ok := k.c.stdin.Text()
	if !ok {
		return nil, false
	}
	if hasOpt(opts, "-0", "--null") {
		return splitItems(t, "\x00"), true
	}
	if d := optValue(opts, "-d", "--delimiter"); d != nil {
		s, ok := d.Text()
		if s = ansiC(s, false); !ok || len(s) != 1 {
			return nil, false
		}
		return splitItems(t, s), true
	}
	if hasOpt(opts, "-E", "-e", "--eof") {
		return nil, false
	}
	if hasOpt(opts, "-I", "-i", "--replace") {
		if strings.ContainsAny(t, `'"\`) {
			return nil, false
		}
		var out []string
		for line := range strings.Lines(t) {
			if line = strings.TrimLeft(strings.TrimSuffix(line, "\n"), " \t"); line != "" {
				out = append(out, line)
			}
		}
		return out, true
	}
	return quotedItems(t)
}

func splitItems(t, sep string) []string {
	t = strings.TrimSuffix(t, sep)
	if t == "" {
		return nil
	}
	return strings.Split(t, sep)
}

// quotedItems splits at blanks; quotes and backslashes protect them.
func quotedItems(t string) (out []string, ok bool) {
	var b strings.Builder
	has := false
	for i := 0; i < len(t); i++ {
		switch c := t[i]; c {
		case ' ', '\t', '\n':
			if has {
				out = append(out, b.String())
				b.Reset()
				has = false
			}
		case '\\':
			if i++; i < len(t) {
				b.WriteByte(t[i])
				has = true
			}
		case '\'', '"':
			j := strings.IndexByte(t[i+1:], c)
			if j < 0 || strings.Contains(t[i+1:i+1+j], "\n") {
				return nil, false
			}
			b.WriteString(t[i+1 : i+1+j])
			has = true
			i += j + 1
		default:
			b.WriteByte(c)
			has = true
		}
	}
	if has {
		out = append(out, b.String())
	}
	return out, true
}

// parallel follows GNU parallel: the command line goes through a shell, with
// the arguments after ::: or from input in place of {}.
func (a *analyzer) parallel(k *call, i int) {
	opts, at, _ := scan(k.argv, 1, command.Of("parallel"))
	k.c.sink.lose()
	end := len(k.argv)
	var items []Word
	known := false
	for j := at; j < len(k.argv); j++ {
		t, ok := k.argv[j].Text()
		if ok && (t == ":::" || t == ":::+" || t == "::::" || t == "::::+") {
			if end == len(k.argv) {
				end = j
				known = t == ":::"
				items = k.argv[j+1:]
			} else {
				known = false
			}
		}
	}
	for _, w := range items {
		known = known && w.Known()
	}
	if hasOpt(opts, "-C", "--colsep", "-a", "--arg-file") {
		known = false
	}
	c := k.inner("parallel")
	c.stdin, c.fedBy, c.sink = nil, nil, nil
	st := a.child(k)
	if at >= end {
		// Each item is a command line.
		if !known {
			switch {
			case k.c.stdin != nil:
				a.codeWord(*k.c.stdin, Bash, st, c, "the input of parallel")
			case len(k.c.fedBy) == 0:
				a.unknown("parallel runs lines that are not known", k.c.src, k.span)
			}
			return
		}
		for _, w := range items {
			a.codeWord(w, Bash, st, c, "what parallel runs")
		}
		return
	}
	line := join(k.argv[at:end])
	marked := wordHas(line, "{")
	fill := func(p Part) {
		w := line
		for _, m := range []string{"{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}", "{#}", "{%}"} {
			q := p
			if m != "{}" && m != "{1}" {
				q = operand("parallel")
			}
			w = replaceIn(w, m, q)
		}
		if !marked {
			w = Word{Parts: merge(append(append(slices.Clone(w.Parts), Part{Text: " "}), p))}
		}
		a.codeWord(w, Bash, st, c, "what parallel runs")
	}
	if known && len(items) <= maxUnroll {
		for _, w := range items {
			if t, _ := w.Text(); !hasOpt(opts, "-q", "--quote") || plain(t) {
				fill(Part{Text: Quote([]string{t})})
			}
		}
		return
	}
	p := operand("parallel")
	p.Split = true
	fill(p)
}

func wordHas(w Word, s string) bool {
	return slices.ContainsFunc(w.Parts, func(p Part) bool { return p.Kind == Literal && strings.Contains(p.Text, s) })
}

// find follows -exec and its kin.
func (a *analyzer) find(k *call, i int, name string) {
	k.c.sink.lose()
	for at := 1; at < len(k.argv); at++ {
		t, ok := k.argv[at].Text()
		if !ok {
			continue
		}
		switch t {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname",
			"-type", "-xtype", "-user", "-group", "-perm", "-size", "-newer", "-anewer", "-cnewer", "-mtime", "-atime", "-ctime",
			"-mmin", "-amin", "-cmin", "-maxdepth", "-mindepth", "-fstype", "-inum", "-links", "-samefile", "-printf", "-regextype",
			"-fprint", "-fprint0", "-fls", "-uid", "-gid", "-used", "-context", "-D", "-files0-from", "-depth-max":
			at++
		case "-fprintf":
			at += 2
		case "-exec", "-execdir", "-ok", "-okdir":
			end := at + 1
			for end < len(k.argv) {
				s, known := k.argv[end].Text()
				if known && (s == ";" || s == "+" && end > at+1 && isBraces(k.argv[end-1])) {
					break
				}
				end++
			}
			a.findExec(k, i, name+" "+t, at+1, end)
			at = end
		}
	}
}

func isBraces(w Word) bool { t, ok := w.Text(); return ok && t == "{}" }

func (a *analyzer) findExec(k *call, i int, via string, from, end int) {
	if from >= end || from >= len(k.argv) {
		return
	}
	sub := *k
	sub.argv = k.argv[:end]
	t := sub.after(i, from, via)
	t.outside, t.tail = true, 0
	t.c.redirs, t.redirs = nil, nil
	t.c.fedBy, t.c.stdin = nil, nil
	if t.argv[len(t.argv)-1].Span.End > t.span.Start {
		t.span.End = t.argv[len(t.argv)-1].Span.End
	}
	if strings.HasSuffix(via, "dir") {
		t.dir = noDir()
	}
	a.substituteRun(t, "{}", operand("{}"))
}

// fd follows fd -x and -X.
func (a *analyzer) fd(k *call, i int, name string) {
	k.c.sink.lose()
	for at := 1; at < len(k.argv); at++ {
		t, ok := k.argv[at].Text()
		if !ok || len(t) < 2 || t[0] != '-' {
			continue
		}
		if t == "--" {
			return
		}
		isExec := t == "--exec" || t == "--exec-batch" || t[1] != '-' && (t[len(t)-1] == 'x' || t[len(t)-1] == 'X')
		if !isExec || at+1 >= len(k.argv) {
			continue
		}
		end := at + 1
		for end < len(k.argv) {
			if s, known := k.argv[end].Text(); known && s == ";" {
				break
			}
			end++
		}
		sub := *k
		sub.argv = slices.Clone(k.argv[:end])
		marked := false
		for _, w := range sub.argv[at+1:] {
			marked = marked || wordHas(w, "{}") || wordHas(w, "{/}") || wordHas(w, "{.}") || wordHas(w, "{//}") || wordHas(w, "{/.}")
		}
		for j := at + 1; j < len(sub.argv); j++ {
			for _, m := range []string{"{/}", "{.}", "{//}", "{/.}"} {
				sub.argv[j] = replaceIn(sub.argv[j], m, operand("{}"))
			}
		}
		if !marked {
			p := operand("{}")
			p.Split = t[len(t)-1] == 'X' || t == "--exec-batch"
			sub.argv = append(sub.argv, Word{Parts: []Part{p}})
		}
		a.findExec(&sub, i, name+" "+t, at+1, len(sub.argv))
		at = end
	}
}
