package eval

import (
	"math"
	"strings"

	"safeshell/command"
	"safeshell/script"
)

// accessKind says what a command does to a file.
type accessKind uint8

const (
	accRead    accessKind = iota
	accWrite              // new content, or content replaced
	accAppend             // added to
	accEmpty              // content taken away
	accDelete             // gone
	accMove               // elsewhere
	accChange             // mode, owner, times, an empty directory
	accVia                // deleted by a command that this one runs (find -exec rm)
	accDiscard            // local changes of tracked files thrown away (git checkout -- f)
)

// target is one file that a command reads or changes.
type target struct {
	kind      accessKind
	word      script.Word
	recursive bool
	staged    bool   // staged changes go as well
	listed    bool   // what another command lists: never a reason for an exception
	dir       string // that the word is relative to, when not the command's

	from script.Word // a directory whose content is written below it

	same *target // reads as this one

	resolved     bool
	path         tpath
	real         []tpath // what symlinks and patterns lead to
	expanded     bool    // the pattern was looked up on the disk
	expandFailed bool    // the pattern could not be expanded
}

// isWord says that t and o are about the same word of the command line, and
// that both are, or are not, about what a symlink there leads to.
func (t *target) isWord(o *target) bool {
	return len(t.word.Parts) > 0 && len(t.word.Parts) == len(o.word.Parts) && &t.word.Parts[0] == &o.word.Parts[0] &&
		t.dir == o.dir && t.followed() == o.followed()
}

// followed says that a command that does this to a name does it to what a
// symlink of that name leads to.
func (t *target) followed() bool { return t.kind != accDelete && t.kind != accMove }

// targets are the files that the command is known to read or change: by its
// operands, its redirections and the calls in its code.
func (v *view) targets() []target {
	if v.accessed {
		return v.accesses
	}
	v.accessed = true
	if len(v.c.Redirects) > 0 {
		v.redirects()
	}
	for _, e := range v.c.Effects {
		switch e.Kind {
		case script.Delete:
			v.touch(accDelete, e.Path, e.Recursive)
		case script.Write:
			v.touch(accWrite, e.Path, false)
		case script.Empty:
			v.touch(accEmpty, e.Path, false)
		case script.Read:
			v.touch(accRead, e.Path, false)
		case script.Change:
			v.touch(accChange, e.Path, e.Recursive)
		}
	}
	if v.line.name != "" && len(v.line.words) > 1 {
		v.programAccess()
	}
	return v.accesses
}

func (v *view) touch(kind accessKind, w script.Word, recursive bool) {
	if s, ok := w.Text(); ok {
		if s == "" || kind != accRead && kind != accDelete && kind != accMove && isSink(s) || s == "-" && kind == accRead {
			return
		}
	}
	if words := v.fromFind(w, kind); words != nil {
		for _, x := range words {
			v.accesses = append(v.accesses, target{kind: kind, word: x, recursive: recursive})
		}
		return
	}
	if cap(v.accesses) == 0 {
		v.accesses = make([]target, 0, min(len(v.line.words)+len(v.c.Redirects), 64))
	}
	v.accesses = append(v.accesses, target{kind: kind, word: w, recursive: recursive})
	if kind != accRead && v.i > 0 && !w.Known() {
		for _, x := range v.given(w) {
			v.accesses = append(v.accesses, target{kind: kind, word: x, recursive: recursive, listed: true})
		}
	}
}

// noise names the devices whose content is worth nothing.
func noise(s string) bool {
	switch s {
	case "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full":
		return true
	}
	return false
}

// isSink says that writing to a name keeps nothing and harms nothing.
func isSink(s string) bool {
	switch s {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/full", "/dev/fd/1", "/dev/fd/2":
		return true
	}
	return strings.HasPrefix(s, "/dev/tcp/") || strings.HasPrefix(s, "/dev/udp/") || strings.HasPrefix(s, "/dev/fd/") || strings.HasPrefix(s, "/proc/self/fd/")
}

func (v *view) redirects() {
	for k, r := range v.c.Redirects {
		if !v.spend(1 + len(v.c.Redirects)/64) {
			return
		}
		own := v.ownRedirect(r)
		switch r.Op {
		case ">", ">|", "&>", ">&", "<>":
			if s, ok := r.Target.Text(); ok && r.Op == ">&" && (s == "-" || strings.Trim(s, "0123456789-") == "") {
				continue
			}
			kind := accWrite
			if r.Op != "<>" && v.keepsNothing(r, k, own) {
				kind = accEmpty
			}
			v.touch(kind, r.Target, false)
		case ">>", "&>>":
			v.touch(accAppend, r.Target, false)
		case "<":
			v.touch(accRead, r.Target, false)
		}
	}
}

// ownRedirect says that a redirection stands at the command itself, not at a
// compound command around it: between the two are blanks and other
// redirections only.
func (v *view) ownRedirect(r script.Redirect) bool {
	if v.c.Nested || len(v.c.Argv) == 0 {
		return true
	}
	if v.ownUntil == 0 {
		v.ownFrom, v.ownUntil = v.ownRange()
	}
	return r.Span.Start >= v.ownFrom && r.Span.End <= v.ownUntil
}

// ownRange is what of the text the command and the redirections beside it are.
func (v *view) ownRange() (from, until int) {
	from, until = v.c.Span.Start, v.c.Span.End
	text := v.a.Text
	if from < 0 || until > len(text) {
		return math.MinInt, math.MaxInt
	}
	begin, end := make(map[int]int, len(v.c.Redirects)), make(map[int]int, len(v.c.Redirects))
	for _, r := range v.c.Redirects {
		if r.Span.Start < 0 || r.Span.End > len(text) {
			return math.MinInt, math.MaxInt
		}
		begin[r.Span.Start], end[r.Span.End] = r.Span.End, r.Span.Start
	}
	for {
		next := until + len(text[until:]) - len(strings.TrimLeft(text[until:], " \t"))
		to, ok := begin[next]
		if !ok || to <= next {
			break
		}
		until = to
	}
	for {
		next := len(strings.TrimRight(text[:from], " \t"))
		to, ok := end[next]
		if !ok || to >= next {
			break
		}
		from = to
	}
	return from, max(until, 1)
}

// keepsNothing says that redirection k only empties its file: nothing is
// written, or nothing of worth, or what is read from that same file.
func (v *view) keepsNothing(r script.Redirect, k int, own bool) bool {
	if own {
		for _, later := range v.c.Redirects[k+1:] {
			if later.Fd == r.Fd && strings.HasPrefix(later.Op, ">") {
				return true // ls > a > b: a stays empty
			}
		}
		return v.silent() || v.readsItself(r.Target)
	}
	// { :; } > f: of a compound command all commands must be silent, or one read
	// that same file.
	f := v.facts()
	empties, ok := f.emptied[r.Span]
	if ok {
		return empties
	}
	if f.emptied == nil {
		f.emptied = map[script.Span]bool{}
	}
	empties = true
	for _, i := range v.redirectedBy(r.Span) {
		if !v.spend(2) {
			break
		}
		in := newView(v.r, v.a, i)
		if in.readsItself(r.Target) {
			empties = true
			break
		}
		empties = empties && in.silent()
	}
	f.emptied[r.Span] = empties
	return empties
}

// readsItself says that the file is also read by the command, or by one that
// feeds it: it is empty by then.
func (v *view) readsItself(target script.Word) bool {
	file, ok := v.pathOf(target, v.dir).exact()
	if !ok {
		return false
	}
	reads := func(x *view) bool {
		for _, r := range x.c.Redirects {
			if r.Op != "<" || !x.spend(1) {
				continue
			}
			if s, ok := x.pathOf(r.Target, x.dir).exact(); ok && s == file {
				return true
			}
		}
		if x.line.name == "" || len(x.line.words) < 2 {
			return false
		}
		probe := newView(x.r, x.a, x.i)
		probe.accessed = true
		probe.programAccess()
		for _, t := range probe.accesses {
			if s, ok := probe.pathOf(t.word, probe.dir).exact(); t.kind == accRead && ok && s == file {
				return true
			}
		}
		return false
	}
	if reads(v) {
		return true
	}
	seen := map[int]bool{v.i: true}
	for queue := append([]int(nil), v.c.FedBy...); len(queue) > 0 && len(seen) < 20; queue = queue[1:] {
		k := queue[0]
		if k < 0 || k >= len(v.a.Commands) || seen[k] {
			continue
		}
		seen[k] = true
		if reads(newView(v.r, v.a, k)) {
			return true
		}
		queue = append(queue, v.a.Commands[k].FedBy...)
	}
	return false
}

// silent says that the command is known to print nothing, or nothing but
// noise, so that a redirection of its output only empties the file.
func (v *view) silent() bool {
	switch v.line.name {
	case "":
		return len(v.c.Argv) == 0
	case ":", "true", "false", "yes", "exit":
		return true
	case "exec":
		return len(v.line.words) == 1
	case "echo":
		if !v.line.flag("-n") {
			return false
		}
		empty := true
		v.line.operands(0, func(i int) bool {
			s, ok := v.line.words[i].Text()
			empty = empty && ok && s == ""
			return empty
		})
		return empty
	case "printf":
		if len(v.line.words) == 2 {
			s, ok := v.line.words[1].Text()
			return ok && s == ""
		}
	case "cat", "cp", "head":
		n, null := 0, false
		v.line.operands(0, func(i int) bool {
			n++
			s, _ := v.line.words[i].Text()
			null = noise(s)
			return true
		})
		return n == 1 && null || n == 0 && v.line.name == "cat" && v.fedNothing()
	}
	return false
}

// operandList returns the operands after the first skip. The list is the
// caller's for as long as the view is used.
func (v *view) operandList(skip int) []script.Word {
	if n := len(v.line.words) - 1; n > cap(v.spare)-len(v.spare) {
		v.spare = make([]script.Word, 0, n*2)
	}
	from := len(v.spare)
	v.line.operands(skip, func(i int) bool {
		v.spare = append(v.spare, v.line.words[i])
		return true
	})
	return v.spare[from:len(v.spare):len(v.spare)]
}

func (v *view) touchAll(kind accessKind, ws []script.Word, recursive bool) {
	for _, w := range ws {
		v.touch(kind, w, recursive)
	}
}

// optionWords calls f with the value of each of the options.
func (v *view) optionWords(f func(w script.Word), names ...string) {
	for _, name := range names {
		v.line.eachOptionWord(name, f)
	}
}

// eachOptionWord is eachOption with the value as a word, known or not.
func (c *cmdline) eachOptionWord(name string, f func(script.Word)) {
	if !c.hasOption {
		return
	}
	for i := 1; i < len(c.kinds); i++ {
		if c.kinds[i] != argOption {
			continue
		}
		text, known := leading(c.words[i])
		switch {
		case text == name || strings.HasPrefix(name, "--") && known && c.abbreviates(text, name):
			if i+1 < len(c.words) && known {
				f(c.words[i+1])
			}
		case strings.HasPrefix(name, "--") && strings.HasPrefix(text, name+"="):
			f(cutWord(c.words[i], len(name)+1))
		case len(name) == 2 && len(text) > 2 && text[1] != '-' && !c.spec.Is(command.OneDash):
			for k := 1; k < len(text); k++ {
				if text[k] == name[1] {
					if k+1 < len(text) || !known {
						f(cutWord(c.words[i], k+1))
					} else if i+1 < len(c.words) {
						f(c.words[i+1])
					}
					break
				}
				if c.shortTakes(text[k]) {
					break
				}
			}
		}
	}
}

// cutWord drops the first n bytes of a word, which are literal.
func cutWord(w script.Word, n int) script.Word {
	out := script.Word{Span: w.Span}
	for _, p := range w.Parts {
		if n > 0 && p.Kind == script.Literal {
			k := min(n, len(p.Text))
			p.Text = p.Text[k:]
			n -= k
			if p.Text == "" {
				continue
			}
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

// isRemotePath recognises host:path of scp and rsync, and URLs.
func isRemotePath(w script.Word) bool {
	s, _ := leading(w)
	colon := strings.IndexByte(s, ':')
	slash := strings.IndexByte(s, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}
