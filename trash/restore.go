package trash

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
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
	held    map[devIno]bool
	touched map[string]bool
	changed map[string]bool // items that a part was taken from: trash, NUL, name
	group   string
	later   []func() // modes of new directories, set when they are filled
	way     way
}

// way is the directory that the last item went to, still open.
type way struct {
	to string
	fd int
}

func (r *restorer) keepWay(to string, fd int) {
	if r.way.fd >= 0 {
		unix.Close(r.way.fd)
	}
	r.way = way{to, fd}
}

// Restore moves items back, the ones nearest to the root first, and tells what
// became of each. One failure does not stop the rest. Nothing is overwritten
// without Overwrite, and no directory ever.
func Restore(e Env, items []Item, o RestoreOptions) []Outcome {
	r := &restorer{e: e, o: o, touched: map[string]bool{}, changed: map[string]bool{}, group: groupID(e.now(), rand.Uint64()), way: way{fd: -1}}
	defer func() { r.keepWay("", -1) }()
	outs := make([]Outcome, len(items))
	order, depth := make([]int, len(items)), make([]int, len(items))
	for i := range items {
		outs[i].Item, order[i], depth[i] = items[i], i, strings.Count(items[i].Path, "/")
	}
	// By depth, so that those of one directory come together.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(depth[a], depth[b]), strings.Compare(items[a].Path, items[b].Path))
	})
	ss, unlocks, errs := openFor(e, items)
	defer closeAll(ss)
	defer func() {
		for _, u := range unlocks {
			u()
		}
	}()
	r.stores, r.held = byPath(ss), map[devIno]bool{}
	for _, s := range ss {
		r.held[s.id] = true
	}
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
		r.stores[path].updateSizes(func(m map[string]dirSize) {
			for name := range m {
				if r.changed[path+"\x00"+name] {
					delete(m, name)
				}
			}
		})
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
		_ = s.sweepNotes(e.UID) // the items meant are others
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
	in, err := s.readInfo(it.Name, s.buffer())
	if err == unix.ENOENT && it.orphan {
		if _, err := lstatAt(s.files, it.Name); err != nil {
			return errGone
		}
		return nil
	}
	if no := unix.Errno(0); errors.As(err, &no) && no != unix.ENOENT && it.unread == nil && !slices.Contains(noInfoFile, no) {
		return fmt.Errorf("the information file of %s cannot be read: %s", Show(it.Name), errText(no))
	}
	if err == unix.ENOENT || it.orphan || itemID(s.path, it.Name, in) != it.ID {
		return errGone
	}
	return nil
}

func (r *restorer) restore(it Item) (path, displaced string, err error) {
	s := r.stores[it.TrashDir]
	if err := s.still(it); err != nil {
		return "", "", err
	}
	src, err := s.open(it)
	if err != nil {
		return "", "", err
	}
	defer src.close()
	parent, base, target, err := r.place(s, it)
	if way := noWayError(""); errors.As(err, &way) {
		to := ""
		if r.o.To != "" {
			to = "--to " + Quote(r.o.To, true) + " "
		}
		return "", "", fmt.Errorf("%w; to make it: safeshell trash restore --parents %s%s", err, to, it.handle())
	}
	if err != nil {
		return "", "", err
	}
	err = r.moveOut(src, it, parent, base, target)
	if err == unix.EEXIST {
		there, lerr := lstatAt(parent, base)
		switch {
		case lerr == nil && there.isDir():
			return "", "", fmt.Errorf("a directory is at %s already; move it away, or: safeshell trash restore --to DIR %s", Show(target), it.handle())
		case !r.o.Overwrite:
			return "", "", fmt.Errorf("something is at %s already; move it away, or: safeshell trash restore --overwrite %s", Show(target), it.handle())
		}
		if displaced, err = r.displace(parent, base, target); err != nil {
			return "", displaced, fmt.Errorf("cannot put what is at %s to the trash: %s", Show(target), errText(err))
		}
		if err = r.moveOut(src, it, parent, base, target); err == unix.EEXIST {
			err = fmt.Errorf("something is at %s already", Show(target))
		}
	}
	if err != nil {
		return "", displaced, err
	}
	r.touched[s.path] = true
	if it.Part != "" {
		r.changed[it.TrashDir+"\x00"+it.Name] = true
	} else if !it.orphan {
		_ = step("restored")
		if err := s.dropInfo(it.Name); err != nil && err != unix.ENOENT {
			return target, displaced, fmt.Errorf("it is back at %s, but its information file could not be removed: %s", Show(target), errText(err))
		}
	}
	return target, displaced, nil
}

// handle names the item in a command.
func (it Item) handle() string {
	if it.Part != "" {
		return Quote(it.Path, false)
	}
	return it.ID
}

// source is where data is taken from: an open directory and a name in it.
type source struct {
	s    *store
	dir  int
	name string
}

// open opens where an item lies: of a part, the directory that it is in, reached
// through no link.
func (s *store) open(it Item) (source, error) {
	src := source{s, s.files, it.Name}
	if it.Part == "" {
		return src, nil
	}
	for name := range strings.SplitSeq(it.Part, "/") {
		fd, err := openDirNoFollow(src.dir, src.name)
		src.close()
		if err != nil {
			return src, &pathError{"open", it.DataPath(), err}
		}
		src.dir, src.name = fd, name
	}
	return src, nil
}

func (src source) close() {
	if src.dir != src.s.files {
		unix.Close(src.dir)
	}
}

// place opens the directory that an item goes to; it stays open as r.way.
func (r *restorer) place(s *store, it Item) (parent int, base, target string, err error) {
	var dir string
	switch {
	case r.o.To != "":
		dir = r.o.To
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.e.dir(), dir)
		}
		dir = filepath.Clean(dir)
		if base = filepath.Base(it.Path); it.Path == "" {
			base = it.Name
		}
		target = filepath.Join(dir, base)
	case it.Path == "":
		return -1, "", "", fmt.Errorf("it is not known where it was: %s; to restore it elsewhere: safeshell trash restore --to DIR %s", it.Problem, it.ID)
	default:
		dir, base, target = filepath.Dir(it.Path), filepath.Base(it.Path), it.Path
	}
	way := s.top + "\x00" + it.whole() + "\x00" + dir
	if r.way.fd < 0 || r.way.to != way {
		fd, err := r.openPlace(s, it, dir)
		if err != nil {
			return -1, "", "", err
		}
		r.keepWay(way, fd)
	}
	return r.way.fd, base, target, nil
}

// noWayError is a directory that is missing on the way to where an item belongs.
type noWayError string

func (e noWayError) Error() string {
	return "the directory " + Show(string(e)) + " is no longer there"
}

func (r *restorer) openPlace(s *store, it Item, dir string) (int, error) {
	if r.o.To != "" {
		return r.openWay(atFDCWD, "/", strings.TrimPrefix(dir, "/"), wayUp{}, openDir)
	}
	w := wayUp{modes: it.parents}
	if it.Part != "" {
		w.own = it.whole()
		w.modes = append(s.modesAbove(it), it.parents...)
	}
	if s.top == "" {
		return r.openWay(atFDCWD, "/", strings.TrimPrefix(dir, "/"), w, openDir)
	}
	// An information file in a top directory may be planted: what it names
	// must not lead out, neither by name nor through a link.
	top, err := openDir(atFDCWD, s.top)
	if err != nil {
		return -1, &pathError{"open", s.top, err}
	}
	defer unix.Close(top)
	return r.openWay(top, s.top, strings.TrimPrefix(strings.TrimPrefix(dir, s.top), "/"), w, openBeneath)
}

// modesAbove are the modes of the directories that a part of an item is in, as
// they are in the trash, nearest first.
func (s *store) modesAbove(it Item) []uint32 {
	var modes []uint32
	for rel := path.Join(it.Name, path.Dir(it.Part)); rel != "."; rel = path.Dir(rel) {
		mode := uint32(0o700)
		if fi, err := lstatAt(s.files, rel); err == nil {
			mode = fi.perm()
		}
		modes = append(modes, mode)
	}
	return modes
}

// wayUp is what is known of the directories on the way to a place.
type wayUp struct {
	modes []uint32 // nearest first
	own   string   // this one and those in it are made when they are missing, since they went with the item
}

// openWay opens the directory rel below at, whose path is root, with open. The
// directories that are missing are made, if that is allowed, with the modes that
// are known or as the umask has it.
func (r *restorer) openWay(at int, root, rel string, w wayUp, open func(int, string) (int, error)) (int, error) {
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
			return r.makeWay(fd, missing, w.modes)
		}
		way := filepath.Join(root, rel)
		switch {
		case err == unix.EXDEV || err == unix.ELOOP:
			return -1, fmt.Errorf("a symbolic link on the way to %s leads out of %s", Show(way), Show(root))
		case err == unix.ENOTDIR:
			return -1, fmt.Errorf("%s is not a directory", Show(way))
		case err != unix.ENOENT || rel == "":
			return -1, &pathError{"open", way, err}
		case !r.o.Parents && !(w.own != "" && within(way, w.own)):
			return -1, noWayError(way)
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

// moveOut moves the data to parent/base; unix.EEXIST if something is there.
func (r *restorer) moveOut(src source, it Item, parent int, base, target string) error {
	if err := step("restore"); err != nil {
		return err
	}
	err := renameNew(src.dir, src.name, parent, base)
	if err == unix.EACCES && it.IsDir {
		err = r.moveOutLocked(src, parent, base)
	}
	switch err {
	case nil, unix.EEXIST:
		return err
	case unix.EXDEV:
		return r.copyOut(src, it, parent, base, target)
	case unix.ENOENT:
		if _, err := lstatAt(src.dir, src.name); err == unix.ENOENT {
			return errGone
		}
	}
	return fmt.Errorf("cannot restore to %s: %s", Show(target), errText(err))
}

// moveOutLocked moves a directory whose mode forbids that even to its owner.
func (r *restorer) moveOutLocked(src source, parent int, base string) error {
	fd, err := openDirNoFollow(src.dir, src.name)
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
	return renameNew(src.dir, src.name, parent, base)
}

// copyOut restores to another filesystem: a compared copy beside the target,
// renamed to it, and then the data in the trash is removed. A note in the trash
// tells the next one what to clean if this one is interrupted.
func (r *restorer) copyOut(src source, it Item, parent int, base, target string) error {
	if _, err := lstatAt(parent, base); err == nil {
		return unix.EEXIST
	}
	s, id := src.s, randomSuffix()
	partial := copyPrefix + id
	if err := s.writeNote(notePrefix+id, filepath.Join(filepath.Dir(target), partial)); err != nil && err != unix.ENOSPC && err != unix.EDQUOT { // what makes room must not need any
		return &trashSideError{s, err}
	}
	c := newCopier(r.e.UID)
	err := c.copy(src.dir, src.name, parent, partial, it.DataPath())
	if err == nil {
		err = step("copied-out")
	}
	if err == nil {
		if err = renameNew(parent, partial, parent, base); err != nil && err != unix.EEXIST {
			err = fmt.Errorf("cannot restore to %s: %s", Show(target), errText(err))
		}
	}
	if err != nil {
		if fi, serr := statFd(parent); serr == nil {
			rm := remover{uid: r.e.UID, dev: fi.dev, mnt: fi.mnt, root: -1}
			if rm.remove(parent, partial, partial, 0) {
				s.dropNote(notePrefix + id)
			}
		}
		return err
	}
	s.dropNote(notePrefix + id)
	if it.Part != "" {
		if c.removeSource(src.dir, src.name, it.DataPath()); c.failed != nil {
			return fmt.Errorf("it is back at %s, but is still in the trash too: %w", Show(target), c.failed)
		}
		return nil
	}
	data := doomed{s: s, item: it.Name, name: it.Name}
	if it.IsDir { // out of the list in one step, so that half of it is never an item
		data = s.doom(it)
	}
	c.removeSource(s.files, data.name, it.DataPath())
	switch {
	case c.failed == nil:
		data.done()
		return nil
	case c.changed || !data.hidden():
		data.undo()
		return fmt.Errorf("it is back at %s, but is still in the trash too: %w", Show(target), c.failed)
	case data.note == "":
		_ = s.dropInfo(it.Name)
	}
	return fmt.Errorf("it is back at %s, but what was in the trash is not yet deleted whole: %w; to try again: safeshell trash purge", Show(target), c.failed)
}

// displace puts parent/base, at the path target, to the trash.
func (r *restorer) displace(parent int, base, target string) (string, error) {
	e := r.e
	e.Stdout, e.Stderr = nil, nil
	p := newPutter(e, "restore")
	p.held = r.held
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
