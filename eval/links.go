package eval

import (
	"slices"

	"golang.org/x/sys/unix"

	"safeshell/script"
)

// madeLink is a link that an earlier command of the text makes: what is named
// through it is elsewhere. What it moves is such a link, too: the file that the
// new name will mean is still at the old one.
type madeLink struct {
	at, to tpath
	hard   bool // only the file of that name, and its content alone
	moved  bool // the name is the file itself, not a link
	by     int  // which command makes it
	remote string
}

// maxLinks bounds how many links of a text are followed.
const maxLinks = 64

// links returns the links that commands before this one make.
func (v *view) links() []madeLink {
	if v.i == 0 {
		return nil
	}
	f := v.facts()
	if !f.linksDone {
		f.linksDone = true
		for _, i := range v.commandsNamed(linkNames) {
			if len(f.links) >= maxLinks {
				v.a.Budget.Exceed("it makes more links than are followed")
				break
			}
			if isNamed(v.a.Commands[i].Argv[0], "ln", "gln", "mv", "gmv", "link", "cp", "gcp") {
				f.links = append(f.links, newView(v.r, v.a, i).makesLinks()...)
			}
		}
	}
	n, _ := slices.BinarySearchFunc(f.links, v.i, func(l madeLink, i int) int { return l.by - i })
	return f.links[:n:n]
}

// isNamed says that a command word is a program of one of these names.
func isNamed(w script.Word, names ...string) bool {
	return len(w.Parts) == 1 && w.Parts[0].Kind == script.Literal && slices.Contains(names, baseName(w.Parts[0].Text))
}

// makesLinks returns the links that an ln makes, and where a mv moves to.
func (v *view) makesLinks() (out []madeLink) {
	l := &v.line
	moved := l.name == "mv" || l.name == "gmv"
	symbolic := l.flag("-s") || l.flag("--symbolic") || l.flag("--symbolic-link")
	hard := !moved && !symbolic
	if copies := l.name == "cp" || l.name == "gcp"; copies && !symbolic && !l.flag("-l") && !l.flag("--link") {
		return nil
	}
	ops := v.operandList(0)
	var dest script.Word
	into := false
	v.optionWords(func(w script.Word) { dest, into = w, true }, "-t", "--target-directory")
	if !into {
		switch len(ops) {
		case 0:
			return nil
		case 1:
			dest, into = script.Lit("."), true
		default:
			dest, ops = ops[len(ops)-1], ops[:len(ops)-1]
			into = len(ops) > 1
		}
	}
	at := v.pathOf(dest, v.dir)
	if at.rootless || at.unknown || at.glob {
		return nil
	}
	replaces := l.flag("-T") || l.flag("--no-target-directory") || !moved && (l.flag("-n") || l.flag("--no-dereference"))
	if !into && !replaces {
		into = at.slash || v.becomesDir(at)
	}
	for _, w := range ops {
		to := v.pathOf(w, v.dir)
		link := at
		if into {
			if len(to.comps) == 0 {
				continue
			}
			last := to.comps[len(to.comps)-1]
			if last.unknown || last.glob {
				// Whatever its name is.
				last = comp{text: "*", glob: true}
			}
			link.comps = append(slices.Clip(at.comps), last)
		}
		if s, ok := leading(w); !hard && !moved && ok && s != "" && s[0] != '/' {
			// A relative one is relative to where it is.
			if dir, ok := (tpath{comps: link.comps[:len(link.comps)-1]}).exact(); ok && len(link.comps) > 0 {
				to = v.pathOf(w, dir)
			}
		}
		to.others, to.ifEmpty = nil, nil
		out = append(out, madeLink{at: link, to: to, hard: hard, moved: moved, by: v.i, remote: v.c.Remote})
	}
	return out
}

// becomesDir says that a path is a directory by the time the command runs: on
// the disk, fresh from mktemp, or made by mkdir earlier in the text.
func (v *view) becomesDir(p tpath) bool {
	s, ok := p.exact()
	if !ok {
		return false
	}
	var st unix.Stat_t
	if s == v.r.tempDir()+freshName || unix.Stat(s, &st) == nil && uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR {
		return true
	}
	for _, i := range v.earlierNamed(otherNames) {
		if !isNamed(v.a.Commands[i].Argv[0], "mkdir") {
			continue
		}
		if !v.spend(4) {
			break
		}
		x := newView(v.r, v.a, i)
		for _, w := range x.operandList(0) {
			if made, ok := x.pathOf(w, x.dir).exact(); ok && made == s {
				return true
			}
		}
	}
	return false
}

// throughLinks returns what a path leads to by the links that the text makes;
// followed says that a link of exactly that name is followed as well.
func (v *view) throughLinks(p tpath, followed bool) (out []tpath) {
	links := v.links()
	// A link may lead to another; each is taken once.
	for used := 0; len(links) > 0 && used < maxLinks && v.spend(1+len(links)/4); used++ {
		k := slices.IndexFunc(links, func(l madeLink) bool { return l.remote == v.c.Remote && l.covers(&p, followed) })
		if k < 0 {
			break
		}
		l := &links[k]
		to := l.to
		to.comps = append(slices.Clip(to.comps), p.comps[len(l.at.comps):]...)
		to.unknown = to.unknown || p.unknown
		to.glob = to.glob || p.glob
		to.slash, to.base, to.home = p.slash, 0, 0
		out = append(out, to)
		p, links = to, slices.Concat(links[:k], links[k+1:])
	}
	return out
}

// covers says that a path goes through the link.
func (l *madeLink) covers(p *tpath, followed bool) bool {
	n := len(l.at.comps)
	if p.rootless || l.at.rootless || len(p.comps) < n || n == 0 {
		return false
	}
	if len(p.comps) == n && !followed && !l.moved || l.hard && len(p.comps) > n {
		return false
	}
	for i := range n {
		a, b := &l.at.comps[i], &p.comps[i]
		switch {
		case b.unknown:
			return false
		case a.glob && !b.glob:
			if !globMatch(a.text, b.text) {
				return false
			}
		case b.glob && !a.glob:
			if !globMatch(b.text, a.text) {
				return false
			}
		case a.text != b.text:
			return false
		}
	}
	return true
}
