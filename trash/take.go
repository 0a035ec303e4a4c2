package trash

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// take moves one unit to the trash and reports whether it is gone from its
// place. What goes wrong is said as rm says it.
func (p *putter) take(u unit) bool {
	dir := u.kind == unix.S_IFDIR
	if dir && accessible(u.parent, u.base, unix.R_OK|unix.W_OK|unix.X_OK) == unix.EACCES {
		// rename would fail, or would take a directory that rm cannot empty.
		return p.takeParts(u)
	}
	err := p.move(u)
	if dir && (err == unix.EACCES || err == unix.EPERM) {
		return p.takeParts(u)
	}
	return err == nil || p.failed(u, err)
}

// failed reports why u was not moved.
func (p *putter) failed(u unit, err error) bool {
	if no, ok := err.(unix.Errno); ok { //nolint:errorlint // a wrapped one says more than its number
		if no == unix.ENOENT {
			if _, lerr := lstatAt(u.parent, u.base); lerr == nil {
				// It is the trash that is not there.
				p.say("cannot remove %s: the trash went away meanwhile; try again", p.quote(u.show))
				p.res.Code = 1
				return false
			}
		}
		return p.cannot(u.show, no)
	}
	p.say("cannot remove %s: %v", p.quote(u.show), err)
	p.res.Code = 1
	return false
}

// takeParts is for a directory that cannot be renamed, or not be read. It does
// what rm would: removes (to the trash) what can be in it, and it itself if it
// is empty then. rm succeeds with an empty one whatever its mode is.
func (p *putter) takeParts(u unit) bool {
	f, err := openRead(u.parent, u.base)
	if err == unix.EACCES {
		fi, lerr := lstatAt(u.parent, u.base)
		if lerr != nil {
			return p.cannot(u.show, lerr)
		}
		if int(fi.uid) != p.e.UID {
			return p.takeForeign(u, err)
		}
		return p.takeEmpty(u, err)
	}
	if err != nil {
		return p.cannot(u.show, err)
	}
	es, err := readAll(f)
	if err != nil {
		f.Close()
		return p.cannot(u.show, err)
	}
	all := true
	for _, e := range es {
		all = p.take(u.child(int(f.Fd()), e)) && all
	}
	f.Close()
	if !all {
		return false
	}
	return p.takeEmpty(u, unix.EACCES)
}

// takeEmpty moves an empty directory, whose mode may have to be changed for
// that; it has its own again in the trash. cause is reported if there is
// something in it.
func (p *putter) takeEmpty(u unit, cause error) bool {
	fd, err := openDirNoFollow(u.parent, u.base)
	if err != nil {
		return p.cannot(u.show, err)
	}
	defer unix.Close(fd)
	fi, err := statFd(fd)
	if err != nil {
		return p.cannot(u.show, err)
	}
	if int(fi.uid) != p.e.UID {
		return p.takeForeign(u, cause)
	}
	if fi.perm()&0o700 != 0o700 {
		if err := chmodFd(fd, fi.perm()|0o700); err != nil {
			return p.cannot(u.show, cause)
		}
		defer func() { _ = chmodFd(fd, fi.perm()) }()
	}
	if !isEmptyDir(fd, ".") {
		return p.cannot(u.show, cause)
	}
	if err := p.move(u); err != nil {
		return p.failed(u, err)
	}
	return true
}

// takeForeign removes an empty directory of another user, which may be
// removed but not renamed; nothing is lost with it. cause is reported if there
// is something in it.
func (p *putter) takeForeign(u unit, cause error) bool {
	switch err := again(func() error { return unix.Unlinkat(u.parent, u.base, unix.AT_REMOVEDIR) }); err {
	case nil:
		p.moved = true
		p.told("removed directory ", u.show)
		return true
	case unix.ENOTEMPTY, unix.EEXIST:
		return p.cannot(u.show, cause)
	default:
		return p.cannot(u.show, err)
	}
}

// move moves u to a trash, by renaming if that is possible. A bare errno is
// for rm's message; other errors speak for themselves.
func (p *putter) move(u unit) error {
	parent, err := statFd(u.parent)
	if err != nil {
		return err
	}
	real := u.real
	if parent.mnt != p.places().homeMnt {
		// Make no trash directory for what cannot be moved anyway.
		if err := accessible(u.parent, ".", unix.W_OK|unix.X_OK); err != nil {
			return err
		}
	}
	s, cross, err := p.storeFor(parent, filepath.Dir(real))
	if err != nil {
		return err
	}
	in := p.in
	in.parents = p.modesOf(filepath.Dir(real), s.top)
	var name string
	err = error(unix.EXDEV)
	if !cross {
		name, err = s.put(u.parent, u.base, real, in)
	}
	if err == unix.EXDEV {
		name, err = p.copyIn(s, u, in, parent)
	}
	if name == "" {
		return err
	}
	if u.kind == unix.S_IFDIR || u.kind == unix.S_IFLNK {
		p.moved = true
	}
	p.res.Moved = append(p.res.Moved, Moved{Path: real, Trash: filepath.Join(s.path, "files", name)})
	if err == nil && p.o.verbose {
		p.tell(s.files, name, u.show, u.kind)
	}
	return err
}

// modesOf is parentModes, remembered for the directory at hand.
func (p *putter) modesOf(dir, top string) []uint32 {
	if dir != p.dir.real {
		return p.parentModes(dir, top)
	}
	if p.dir.modes == nil {
		p.dir.modes = p.parentModes(dir, top)
	}
	return p.dir.modes
}

// tell prints what -v prints: children first. The tree is read where it is
// now, in the trash.
func (p *putter) tell(dirfd int, name, show string, kind uint32) {
	if kind != unix.S_IFDIR {
		p.told("removed ", show)
		return
	}
	if f, err := openRead(dirfd, name); err == nil {
		es, _ := readAll(f)
		for _, e := range es {
			c := unit{show: show}.child(int(f.Fd()), e)
			p.tell(c.parent, c.base, c.show, c.kind)
		}
		f.Close()
	}
	p.told("removed directory ", show)
}

func (p *putter) told(what, show string) {
	if !p.o.verbose {
		return
	}
	_, _ = p.out.WriteString(what + p.quote(show) + "\n")
}

// storeFor chooses the trash for what is in the directory parent, whose path
// is dir: the home trash on the same mount, else that of the top directory,
// else the home trash all the same. cross says that it is on another mount, so that
// only a copy can get there.
func (p *putter) storeFor(parent finfo, dir string) (s *store, cross bool, err error) {
	home := p.places().homeMnt
	var reasons []string
	if home != 0 && (home == parent.mnt || p.outer(home) == p.outer(parent.mnt)) {
		if s, err := p.homeStore(); err == nil {
			return s, s.mnt != parent.mnt, nil
		} else if d := (*distrust)(nil); errors.As(err, &d) {
			p.warn(err)
		}
	}
	if s, known := p.tops[parent.mnt]; known && s != nil {
		return s, false, nil
	} else if !known {
		s, err := p.openTop(parent, dir)
		p.tops[parent.mnt], p.topErrs[parent.mnt] = s, err
		if err == nil {
			return s, false, nil
		}
	}
	if err := p.topErrs[parent.mnt]; err != nil {
		if no := hardErr(err); no == unix.EROFS {
			// Nothing can be removed there either; say just what rm says.
			return nil, false, no
		}
		reasons = append(reasons, err.Error())
	}
	s, err = p.homeStore()
	if err == nil {
		return s, true, nil
	}
	reasons = append(reasons, err.Error())
	top, _ := p.topDir(parent, dir)
	advice := "to have one there: sudo install -d -m 1777 " + Quote(filepath.Join(top, ".Trash"), false)
	if fix := repair(err); fix != "" && (home != 0 && home == parent.mnt || errors.Is(err, unix.EMFILE)) {
		advice = "to repair: " + fix // the user's own would do
	}
	return nil, false, fmt.Errorf("there is no usable trash for it (%s); %s", strings.ReplaceAll(strings.Join(reasons, "; "), "; "+advice, ""), advice)
}

func hardErr(err error) unix.Errno {
	var no unix.Errno
	errors.As(err, &no)
	return no
}

func (p *putter) homeStore() (*store, error) {
	if p.store != nil || p.homeErr != nil {
		return p.store, p.homeErr
	}
	path, err := p.e.homeTrash()
	if err == nil {
		p.store, err = makeHome(path, p.e.UID)
	}
	p.homeErr = err
	return p.store, err
}

// openTop opens or makes a trash in the top directory of parent's mount.
func (p *putter) openTop(parent finfo, dir string) (*store, error) {
	top, fstype := p.topDir(parent, dir)
	if p.mountsErr != nil {
		// Whether a list would look there is not known.
		return nil, fmt.Errorf("it cannot be told which filesystems are mounted: %s", errText(p.mountsErr))
	}
	if uidlessFS(fstype) {
		return nil, fmt.Errorf("%s is a filesystem without user ids", Show(top))
	}
	s, warn, err := topTrash(top, fstype, p.e.UID, true)
	if warn != nil {
		p.warn(warn)
	}
	if err != nil {
		var d *distrust
		if errors.As(err, &d) {
			p.warn(err)
		}
		return nil, err
	}
	if s.mnt != p.outer(parent.mnt) {
		// Something else is mounted over it.
		s.close()
		return nil, &distrust{s.path, "it is not on the filesystem of the file", ""}
	}
	return s, nil
}

// topDir is the top directory of the mount that parent, at dir, is on.
func (p *putter) topDir(parent finfo, dir string) (top, fstype string) {
	if m := p.mountOf(p.outer(parent.mnt)); m != nil && within(dir, m.point) {
		return m.point, m.fstype
	}
	// A mount that is not listed (chroot), or a kernel without mount ids.
	top = dir
	for top != "/" {
		up := filepath.Dir(top)
		fi, err := statAt(atFDCWD, up)
		if err != nil || fi.mnt != parent.mnt {
			break
		}
		top = up
	}
	return top, ""
}

// outer is the mount that a directory which is mounted on itself lies in, as
// `safeshell run` mounts what a script may not move; else the mount itself.
// Nobody else has such a mount, so that a trash in it would never be listed.
func (p *putter) outer(id uint64) uint64 {
	for p.e.getenv("SAFESHELL_RUN") != "" { // other sandboxes may write to such a mount alone
		m := p.mountByID(id)
		if m == nil {
			return id
		}
		var in *mount
		for i, o := range p.mounts() {
			if under(m.point, o.point) && (in == nil || len(o.point) >= len(in.point)) {
				in = &p.mountList[i]
			}
		}
		if in == nil || in.dev != m.dev || filepath.Join(in.root, strings.TrimPrefix(m.point, in.point)) != m.root {
			return id
		}
		id = in.id
	}
	return id
}

// warn says once that a trash is not used.
func (p *putter) warn(err error) {
	if msg := err.Error(); !p.warned[msg] {
		p.warned[msg] = true
		p.say("warning: %s", msg)
	}
}
