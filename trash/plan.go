package trash

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unit is something that goes to the trash as one item.
type unit struct {
	parent int      // the directory that it is in
	rel    []string // names of the directories between the operand's and its own
	base   string
	real   string // its absolute path
	show   string // its path in messages
	kind   uint32
}

// asks reports whether rm could ask about single files.
func (p *putter) asks() bool {
	if p.o.ask == askAlways {
		return true
	}
	return p.o.ask == askSometimes && !p.o.ignoreMissing && (p.e.StdinTTY || p.o.presumeTTY)
}

// plan asks what rm would ask about an operand and returns what is to be
// trashed: the operand itself, or, where some of it stays, the largest parts
// that go whole. Nothing is moved before all answers of an operand are in.
func (p *putter) plan(t *target) []unit {
	top := unit{parent: p.dir.fd, base: t.base, real: t.real, show: t.arg, kind: t.fi.kind()}
	if !p.asks() && len(t.skip) == 0 {
		return []unit{top}
	}
	pl := planner{p: p, skip: t.skip}
	return pl.visit(top, false).units
}

type planner struct {
	p    *putter
	skip []string // mount points to leave
}

// verdict is what goes of a file or directory.
type verdict struct {
	whole bool   // all of it, as the one unit
	units []unit // the parts of it that do
	// quiet: rm does not ask about the directories above any more (its
	// mark_ancestor_dirs).
	quiet bool
}

// visit decides about u. locked says that the directory it is in may not be
// written to, so that rm, having asked, could not remove it.
func (pl *planner) visit(u unit, locked bool) verdict {
	p := pl.p
	if slices.Contains(pl.skip, u.real) {
		p.say("skipping %s, since it's on a different device", p.quote(u.show))
		p.res.Code = 1
		return verdict{quiet: true}
	}
	goes := func() verdict {
		if locked {
			p.cannot(u.show, unix.EACCES)
			return verdict{quiet: true}
		}
		return verdict{whole: true, units: []unit{u}}
	}
	if u.kind != unix.S_IFDIR {
		if !p.ask(u, askRemove, nil) {
			return verdict{}
		}
		return goes()
	}
	var empty emptiness
	if !p.ask(u, askDescend, &empty) {
		return verdict{quiet: true}
	}
	if empty == isEmpty || !p.asks() && !pl.skipsBelow(u.real) {
		return goes()
	}
	f, err := openRead(u.parent, u.base)
	if err != nil {
		// rm tries to remove it all the same; take will find what is the matter.
		if !p.ask(u, askRemove, nil) {
			return verdict{}
		}
		return goes()
	}
	defer f.Close()
	es, err := readAll(f)
	if err != nil {
		return verdict{quiet: true, whole: p.cannot(u.show, err)}
	}
	v := verdict{whole: true}
	below := accessible(int(f.Fd()), ".", unix.W_OK|unix.X_OK) == unix.EACCES
	for _, e := range es {
		c := pl.visit(u.child(int(f.Fd()), e), below)
		v.whole = v.whole && c.whole
		v.quiet = v.quiet || c.quiet
		v.units = append(v.units, c.units...)
	}
	all := v.units
	switch {
	case v.quiet:
	case !p.ask(u, askRemove, nil):
		v.whole = false
	case v.whole:
		if v = goes(); locked {
			v.units = all
		}
		return v
	default:
		// Something in it stays, because the answer was no.
		p.cannot(u.show, unix.ENOTEMPTY)
		v.quiet = true
	}
	return v
}

func (pl *planner) skipsBelow(real string) bool {
	return slices.ContainsFunc(pl.skip, func(m string) bool { return under(m, real) })
}

// child is the unit of an entry of u, which is open as dirfd.
func (u unit) child(dirfd int, e entry) unit {
	show := u.show + "/" + e.name
	if strings.HasSuffix(u.show, "/") {
		show = u.show + e.name
	}
	c := unit{
		parent: dirfd, rel: append(slices.Clip(u.rel), u.base), base: e.name,
		real: u.real + "/" + e.name, show: show, kind: e.kind,
	}
	if c.kind == 0 {
		if fi, err := lstatAt(dirfd, e.name); err == nil {
			c.kind = fi.kind()
		}
	}
	return c
}

// openRel opens the directory rel below the operand's, following no links.
func (p *putter) openRel(rel []string) (int, error) {
	fd := p.dir.fd
	for _, name := range rel {
		next, err := openDirNoFollow(fd, name)
		if fd != p.dir.fd {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

const (
	askDescend = iota
	askRemove
)

type emptiness int

const (
	emptyUnknown emptiness = iota
	isEmpty
	notEmpty
)

// ask is remove.c's prompt: it reports whether u may go (or be looked into),
// after asking where rm would. empty, if not nil, learns whether a directory
// is empty, if that mattered.
func (p *putter) ask(u unit, what int, empty *emptiness) bool {
	if !p.asks() {
		return true
	}
	if u.kind == unix.S_IFLNK && p.o.ask != askAlways {
		return true // permissions of a link mean nothing
	}
	fi, err := lstatAt(u.parent, u.base)
	if err != nil {
		return p.cannot(u.show, err)
	}
	protected := false
	if !fi.isLink() {
		switch err := accessible(u.parent, u.base, unix.W_OK); err {
		case nil:
		case unix.EACCES:
			protected = true
		default:
			return p.cannot(u.show, err)
		}
	}
	if !protected && p.o.ask != askAlways {
		return true
	}
	verb := "remove"
	if fi.isDir() && empty != nil {
		*empty = notEmpty
		if isEmptyDir(u.parent, u.base) {
			*empty = isEmpty
		} else if what == askDescend {
			verb = "descend into"
		}
	}
	kind := fileKind(fi)
	if verb != "remove" {
		kind = "directory"
	}
	if protected {
		kind = "write-protected " + kind
	}
	return p.yes(fmt.Sprintf("%s %s %s? ", verb, kind, p.quote(u.show)))
}

// fileKind is gnulib's file_type.
func fileKind(fi finfo) string {
	switch fi.kind() {
	case unix.S_IFREG:
		if fi.size == 0 {
			return "regular empty file"
		}
		return "regular file"
	case unix.S_IFDIR:
		return "directory"
	case unix.S_IFLNK:
		return "symbolic link"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFBLK:
		return "block special file"
	case unix.S_IFCHR:
		return "character special file"
	}
	return "weird file"
}

// yes asks on stderr and reads one line; only y or Y at its start is yes, and
// the end of the input is no. No byte beyond the line is taken, since what
// comes after this call may want it.
func (p *putter) yes(question string) bool {
	p.flush()
	fmt.Fprintf(p.e.stderr(), "%s: %s", p.prog, question)
	if p.e.Stdin == nil {
		return false
	}
	var first byte
	b := make([]byte, 1)
	for n, zero := 0, 0; ; {
		m, err := p.e.Stdin.Read(b)
		if m == 0 {
			if zero++; err != nil || zero > 100 {
				break
			}
			continue
		}
		if b[0] == '\n' {
			break
		}
		if n == 0 {
			first = b[0]
		}
		n++
		if err == io.EOF {
			break
		}
	}
	return first == 'y' || first == 'Y'
}
