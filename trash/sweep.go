package trash

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What an interrupted call may leave, and who removes it:
//
//   - information without data (a put before its rename, a restore or purge
//     after it): no list shows it; sweep, after an hour.
//   - files/.partial-* without information (a copy that was not complete, an
//     item that was not yet deleted whole): sweep.
//   - a copy beside the target of a restore, with a note in the trash that says
//     where: the next restore, purge or sweep of that trash.
//   - a directory that was not yet deleted whole, under its own name where it could
//     not be renamed, with a note in the trash that takes it out of the list: the
//     same.

const (
	// notePrefix begins the names of notes in a trash directory. The rest is
	// that of the copy, whose path is the note's content.
	notePrefix = ".safeshell.restoring-"
	// copyPrefix begins the names of copies beside the targets of restores.
	copyPrefix = ".safeshell" + partialPrefix
	// doomPrefix begins the names of notes, too. The rest is the id of an item that
	// is being deleted, whose name is the note's content. As long as its information
	// file is there, no other item can have that name.
	doomPrefix = ".safeshell.deleting-"
)

// writeNote makes a note in the trash, whole or not at all.
func (s *store) writeNote(note, text string) error {
	fd, err := openAt(s.fd, note, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	err = writeAll(fd, []byte(text))
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	if err != nil {
		s.dropNote(note)
	}
	return err
}

func (s *store) dropNote(note string) {
	_ = again(func() error { return unix.Unlinkat(s.fd, note, 0) })
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if err != nil && err != unix.EINTR {
			return err
		}
		data = data[max(n, 0):]
	}
	return nil
}

// doomed is data on its way out. As soon as it is, no list shows the item.
type doomed struct {
	s    *store
	item string
	name string // of the data in files/
	note string // in the trash; "" if the data has a name that says enough
}

// doom takes an item's data out of the list, before it is deleted piece by
// piece: by giving it a name that sweep deletes or, where a directory cannot be
// renamed (on overlayfs one of a lower layer), by a note.
func (s *store) doom(it Item) doomed {
	d := doomed{s: s, item: it.Name, name: partialPrefix + randomSuffix()}
	if renameNew(s.files, it.Name, s.files, d.name) == nil {
		return d
	}
	d.name = it.Name
	if !it.orphan && s.writeNote(doomPrefix+it.ID, it.Name) == nil {
		d.note = doomPrefix + it.ID
	}
	return d
}

// hidden: no list shows it.
func (d doomed) hidden() bool { return d.note != "" || d.name != d.item }

// undo lists it again.
func (d doomed) undo() {
	d.done()
	if d.name != d.item {
		_ = renameNew(d.s.files, d.name, d.s.files, d.item)
	}
}

// done is for data that is gone; its information may go then.
func (d doomed) done() {
	if d.note != "" {
		d.s.dropNote(d.note)
	}
}

// doomedIDs are the ids of items that are being deleted under their own names.
func (s *store) doomedIDs() map[string]bool {
	es, err := s.names(".")
	if err != nil {
		return nil // they are only listed
	}
	var ids map[string]bool
	for _, e := range es {
		if id, ok := strings.CutPrefix(e.name, doomPrefix); ok {
			if ids == nil {
				ids = map[string]bool{}
			}
			ids[id] = true
		}
	}
	return ids
}

// sweepDoomed goes on with a deletion that was interrupted.
func (s *store) sweepDoomed(note, id string, uid int) error {
	name, err := s.readNote(note)
	if err != nil {
		return nil //nolint:nilerr // the next one may be able to
	}
	in, err := s.readInfo(name, s.buffer())
	no := hardErr(err)
	if no != 0 && no != unix.ENOENT && !slices.Contains(noInfoFile, no) {
		return nil // the same
	}
	// Else it is all gone, or another item.
	if plain := name == filepath.Base(name) && name != "." && name != ".."; plain && no != unix.ENOENT && itemID(s.path, name, in) == id {
		r := remover{uid: uid, dev: s.dev, mnt: s.mnt, root: -1}
		if !r.remove(s.files, name, s.path+"/files/"+name, 0) {
			return r.reason()
		}
		defer func() { _ = s.dropInfo(name) }()
	}
	s.dropNote(note)
	return nil
}

// sweepNotes removes what interrupted restores left beside their targets, and
// what is noted as being deleted. The trash is locked, so none is under way.
func (s *store) sweepNotes(uid int) error {
	es, err := s.names(".")
	if err != nil {
		return nil //nolint:nilerr // the next one may be able to
	}
	var failed error
	for _, e := range es {
		if strings.HasPrefix(e.name, "."+sizesName+"-") {
			_ = unix.Unlinkat(s.fd, e.name, 0)
			continue
		}
		if id, ok := strings.CutPrefix(e.name, doomPrefix); ok {
			if err := s.sweepDoomed(e.name, id, uid); err != nil {
				failed = err
			}
			continue
		}
		id, ok := strings.CutPrefix(e.name, notePrefix)
		if !ok {
			continue
		}
		path, err := s.readNote(e.name)
		if err != nil {
			continue
		}
		// A note that was not written whole was not yet followed by a copy.
		if filepath.IsAbs(path) && filepath.Base(path) == copyPrefix+id && !removeCopy(path, uid) {
			continue
		}
		s.dropNote(e.name)
	}
	return failed
}

func (s *store) readNote(name string) (string, error) {
	fd, err := openAt(s.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, maxInfo)
	n, err := readFull(fd, buf)
	return string(buf[:n]), err
}

// removeCopy reports whether the copy is gone.
func removeCopy(path string, uid int) bool {
	parent, err := openDir(atFDCWD, filepath.Dir(path))
	if err != nil {
		return err == unix.ENOENT
	}
	defer unix.Close(parent)
	fi, err := statFd(parent)
	if err != nil {
		return false
	}
	r := remover{uid: uid, dev: fi.dev, mnt: fi.mnt, root: -1}
	return r.remove(parent, filepath.Base(path), path, 0)
}

// Sweep removes what interrupted calls left in all trash directories of the
// user: information without data, when it is old enough that no put can be
// about to bring that, and unfinished copies and deletions, which nobody works
// on while the lock is held. Errors tell what could not be removed and why; why
// a trash is not used, List tells.
func Sweep(e Env) []error {
	ss, _ := e.stores()
	defer closeAll(ss)
	var errs []error
	for _, s := range ss {
		if err := s.sweep(e.UID, e.now()); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (s *store) sweep(uid int, now time.Time) error {
	unlock, err := s.lock(false)
	if err != nil {
		return err
	}
	defer unlock()
	failed := s.sweepNotes(uid)
	data, err := s.names("files")
	if err != nil {
		return err
	}
	have := make(map[string]bool, len(data))
	for _, d := range data {
		have[d.name] = true
		if !strings.HasPrefix(d.name, partialPrefix) {
			continue
		}
		if _, err := lstatAt(s.info, d.name+infoSuffix); err == unix.ENOENT {
			r := remover{uid: uid, dev: s.dev, mnt: s.mnt, root: -1}
			if !r.remove(s.files, d.name, s.path+"/files/"+d.name, 0) {
				failed = r.reason()
			}
		}
	}
	infos, err := s.names("info")
	if err != nil {
		return err
	}
	for _, i := range infos {
		name, ok := strings.CutSuffix(i.name, infoSuffix)
		if !ok || have[name] {
			continue
		}
		fi, err := lstatAt(s.info, i.name)
		if err != nil || now.Sub(time.Unix(fi.mtime.Unix())) < staleInfo {
			continue
		}
		if _, err := lstatAt(s.files, name); err == unix.ENOENT {
			_ = s.dropInfo(name)
		}
	}
	return failed
}
