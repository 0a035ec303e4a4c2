package trash

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// RestoreOptions say how far a restore may go.
type RestoreOptions struct {
	// Overwrite lets an item take the place of a file (never of a directory);
	// that file goes to the trash.
	Overwrite bool
	// Parents makes missing directories, with the permissions that they had.
	Parents bool
	// To is a directory, absolute or relative to Env.Dir, that items are
	// restored into under their own names, instead of to where they were.
	To string
}

// Outcome is what became of one item in Restore, Purge, Empty or Evict.
type Outcome struct {
	Item Item
	Path string // where it is now, after a restore
	// Displaced is where in the trash the file is that a restore with
	// Overwrite found in its place.
	Displaced string
	Err       error
}

// restorer is one call of Restore.
type restorer struct {
	e       Env
	o       RestoreOptions
	stores  map[string]*store
	touched map[string]bool
	group   string
	later   []func() // modes of new directories, set when they are filled
}

// Restore moves items back, the ones nearest to the root first, and tells what
// became of each. One failure does not stop the rest. Nothing is overwritten
// without Overwrite, and no directory ever.
func Restore(e Env, items []Item, o RestoreOptions) []Outcome {
	r := &restorer{e: e, o: o, touched: map[string]bool{}, group: groupID(e.now(), rand.Uint64())}
	outs := make([]Outcome, len(items))
	order := make([]int, len(items))
	for i := range items {
		outs[i].Item, order[i] = items[i], i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(items[a].Path), len(items[b].Path)), cmp.Compare(items[a].Path, items[b].Path))
	})
	ss, unlocks, errs := openFor(e, items)
	defer closeAll(ss)
	defer func() {
		for _, u := range unlocks {
			u()
		}
	}()
	r.stores = byPath(ss)
	for _, i := range order {
		out := &outs[i]
		if err := errs[out.Item.TrashDir]; err != nil {
			out.Err = err
		} else {
			out.Path, out.Displaced, out.Err = r.restore(out.Item)
		}
	}
	for i := len(r.later) - 1; i >= 0; i-- {
		r.later[i]()
	}
	for path := range r.touched {
		r.stores[path].updateSizes(func(map[string]dirSize) {})
	}
	return outs
}

// openFor opens and locks the trash directories of items. errs holds, for each
// that cannot be used, why.
func openFor(e Env, items []Item) (ss []*store, unlocks []func(), errs map[string]error) {
	errs = map[string]error{}
	wanted := map[string]bool{}
	for _, it := range items {
		wanted[it.TrashDir] = true
	}
	all, _ := e.stores()
	for _, s := range all {
		if !wanted[s.path] {
			s.close()
			continue
		}
		delete(wanted, s.path)
		unlock, err := s.lock(false)
		if err != nil {
			errs[s.path] = err
			s.close()
			continue
		}
		ss, unlocks = append(ss, s), append(unlocks, unlock)
	}
	for path := range wanted {
		errs[path] = fmt.Errorf("the trash %s is not there or not trusted; to see why: safeshell trash list", Show(path))
	}
	return ss, unlocks, errs
}

func byPath(ss []*store) map[string]*store {
	m := make(map[string]*store, len(ss))
	for _, s := range ss {
		m[s.path] = s
	}
	return m
}

// errGone: the item was restored or purged since it was listed, or its name is
// that of another now.
var errGone = errors.New("it is no longer in the trash; to see what is: safeshell trash list")

// still checks that it is the item that was listed.
func (s *store) still(it Item) error {
	if _, err := lstatAt(s.files, it.Name); err != nil {
		return errGone
	}
	in, err := s.readInfo(it.Name, make([]byte, maxInfo+1))
	if err == unix.ENOENT {
		if it.orphan {
			return nil
		}
		return errGone
	}
	if it.orphan || itemID(s.path, it.Name, in) != it.ID {
		return errGone
	}
	return nil
}

func (r *restorer) restore(it Item) (path, displaced string, err error) {
	s := r.stores[it.TrashDir]
	if err := s.still(it); err != nil {
		return "", "", err
	}
	parent, base, target, err := r.place(s, it)
	if err != nil {
		return "", "", err
	}
	defer unix.Close(parent)
	if there, err := lstatAt(parent, base); err == nil {
		switch {
		case there.isDir():
			return "", "", fmt.Errorf("a directory is at %s already; move it away, or: safeshell trash restore --to DIR %s", Show(target), it.ID)
		case !r.o.Overwrite:
			return "", "", fmt.Errorf("something is at %s already; move it away, or: safeshell trash restore --overwrite %s", Show(target), it.ID)
		}
		if displaced, err = r.displace(parent, base, target); err != nil {
			return "", "", fmt.Errorf("cannot put what is at %s to the trash: %s", Show(target), errText(err))
		}
	}
	if err := r.moveOut(s, it, parent, base, target); err != nil {
		return "", displaced, err
	}
	r.touched[s.path] = true
	if !it.orphan {
		_ = step("restored")
		if err := s.dropInfo(it.Name); err != nil && err != unix.ENOENT {
			return target, displaced, fmt.Errorf("it is back at %s, but its information file could not be removed: %s", Show(target), errText(err))
		}
	}
	return target, displaced, nil
}

// place opens the directory that an item goes to.
func (r *restorer) place(s *store, it Item) (parent int, base, target string, err error) {
	if r.o.To != "" {
		dir := r.o.To
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.e.dir(), dir)
		}
		if base = filepath.Base(it.Path); it.Path == "" {
			base = it.Name
		}
		parent, err = r.openWay(atFDCWD, "/", strings.TrimPrefix(filepath.Clean(dir), "/"), nil, openDir)
		return parent, base, filepath.Join(dir, base), err
	}
	if it.Path == "" {
		return -1, "", "", fmt.Errorf("it is not known where it was: %s; to restore it elsewhere: safeshell trash restore --to DIR %s", it.Problem, it.ID)
	}
	base, target = filepath.Base(it.Path), it.Path
	dir := filepath.Dir(it.Path)
	if s.top == "" {
		parent, err = r.openWay(atFDCWD, "/", strings.TrimPrefix(dir, "/"), it.parents, openDir)
		return parent, base, target, err
	}
	// An information file in a top directory may be planted: what it names
	// must not lead out, neither by name nor through a link.
	top, err := openDir(atFDCWD, s.top)
	if err != nil {
		return -1, "", "", &pathError{"open", s.top, err}
	}
	defer unix.Close(top)
	parent, err = r.openWay(top, s.top, strings.TrimPrefix(strings.TrimPrefix(dir, s.top), "/"), it.parents, openBeneath)
	return parent, base, target, err
}

// openWay opens the directory rel below at, whose path is root, with open. The
// directories that are missing are made, if that is allowed, with modes
// (nearest first) or as the umask has it.
func (r *restorer) openWay(at int, root, rel string, modes []uint32, open func(int, string) (int, error)) (int, error) {
	start := func(p string) (int, error) {
		if at == atFDCWD {
			return open(at, root+p)
		}
		if p == "" {
			p = "."
		}
		return open(at, p)
	}
	var missing []string
	for {
		fd, err := start(rel)
		if err == nil {
			return r.makeWay(fd, missing, modes)
		}
		way := filepath.Join(root, rel)
		switch {
		case err == unix.EXDEV || err == unix.ELOOP:
			return -1, fmt.Errorf("a symbolic link on the way to %s leads out of %s", Show(way), Show(root))
		case err == unix.ENOTDIR:
			return -1, fmt.Errorf("%s is not a directory", Show(way))
		case err != unix.ENOENT || rel == "":
			return -1, &pathError{"open", way, err}
		case !r.o.Parents:
			return -1, fmt.Errorf("the directory %s is no longer there; to make it: add --parents", Show(way))
		}
		if _, err := lstatAt(atFDCWD, way); err == nil {
			return -1, fmt.Errorf("%s is a symbolic link to nowhere", Show(way))
		}
		i := strings.LastIndexByte(rel, '/')
		missing = append(missing, rel[i+1:])
		rel = rel[:max(i, 0)]
	}
}

// makeWay makes the directories missing, the last one first, below fd, which
// it closes.
func (r *restorer) makeWay(fd int, missing []string, modes []uint32) (int, error) {
	for i := len(missing) - 1; i >= 0; i-- {
		name := missing[i]
		mode := uint32(0o777)
		if i < len(modes) {
			mode = 0o700
		}
		err := again(func() error { return unix.Mkdirat(fd, name, mode) })
		if err != nil && err != unix.EEXIST {
			unix.Close(fd)
			return -1, &pathError{"mkdir", name, err}
		}
		next, oerr := openDirNoFollow(fd, name)
		unix.Close(fd)
		if oerr != nil {
			return -1, &pathError{"open", name, oerr}
		}
		fd = next
		if want := uint32(0); err == nil && i < len(modes) {
			want = modes[i] & 0o3777
			if want&0o700 == 0o700 {
				_ = chmodFd(fd, want)
			} else if keep, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
				r.later = append(r.later, func() {
					_ = chmodFd(keep, want)
					unix.Close(keep)
				})
			}
		}
	}
	return fd, nil
}

// moveOut moves the data to parent/base, where nothing may be.
func (r *restorer) moveOut(s *store, it Item, parent int, base, target string) error {
	if err := step("restore"); err != nil {
		return err
	}
	err := renameNew(s.files, it.Name, parent, base)
	if err == unix.EACCES && it.IsDir {
		err = r.moveOutLocked(s, it, parent, base)
	}
	switch err {
	case nil:
		return nil
	case unix.EEXIST:
		return fmt.Errorf("something is at %s already", Show(target))
	case unix.EXDEV:
		return r.copyOut(s, it, parent, base, target)
	}
	return fmt.Errorf("cannot restore to %s: %s", Show(target), errText(err))
}

// moveOutLocked moves a directory whose mode forbids that even to its owner.
func (r *restorer) moveOutLocked(s *store, it Item, parent int, base string) error {
	fd, err := openDirNoFollow(s.files, it.Name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	fi, err := statFd(fd)
	if err != nil || int(fi.uid) != r.e.UID || fi.perm()&0o700 == 0o700 {
		return unix.EACCES
	}
	if err := chmodFd(fd, fi.perm()|0o700); err != nil {
		return err
	}
	defer func() { _ = chmodFd(fd, fi.perm()) }()
	return renameNew(s.files, it.Name, parent, base)
}

// copyOut restores to another filesystem: a compared copy beside the target,
// renamed to it, and then the data in the trash is removed.
func (r *restorer) copyOut(s *store, it Item, parent int, base, target string) error {
	c := newCopier(r.e.UID)
	partial := ".safeshell" + partialPrefix + randomSuffix()
	err := c.copy(s.files, it.Name, parent, partial, filepath.Join(s.path, "files", it.Name))
	if err == nil {
		err = step("copied-out")
	}
	if err == nil {
		if err = renameNew(parent, partial, parent, base); err == unix.EEXIST {
			err = fmt.Errorf("something is at %s already", Show(target))
		}
	}
	if err != nil {
		if fi, serr := statFd(parent); serr == nil {
			rm := remover{uid: r.e.UID, dev: fi.dev, mnt: fi.mnt, root: -1}
			rm.remove(parent, partial, partial, 0)
		}
		return err
	}
	if c.removeSource(s.files, it.Name, it.DataPath()); c.failed != nil {
		return fmt.Errorf("it is back at %s, but is still in the trash too: %w", Show(target), c.failed)
	}
	return nil
}

// displace puts parent/base, at the path target, to the trash.
func (r *restorer) displace(parent int, base, target string) (string, error) {
	p := &putter{
		e: r.e, prog: "restore", cwdfd: atFDCWD, warned: map[string]bool{},
		tops: map[uint64]*store{}, topErrs: map[uint64]error{},
	}
	p.e.Stderr = nil
	defer p.close()
	now := r.e.now()
	p.in = info{deleted: now.Local(), group: r.group, cwd: r.e.dir(), session: r.e.Session}
	fi, err := lstatAt(parent, base)
	if err != nil {
		return "", err
	}
	real, err := realPath(parent, filepath.Dir(target))
	if err != nil {
		return "", err
	}
	p.dir = &openParent{fd: -1}
	err = p.move(unit{parent: parent, base: base, real: filepath.Join(real, base), show: target, kind: fi.kind()})
	if len(p.res.Moved) == 0 {
		return "", cmp.Or(err, error(unix.EIO))
	}
	return p.res.Moved[0].Trash, err
}
