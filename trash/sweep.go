package trash

import (
	"path/filepath"
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

const (
	// notePrefix begins the names of notes in a trash directory. The rest is
	// that of the copy, whose path is the note's content.
	notePrefix = ".safeshell.restoring-"
	// copyPrefix begins the names of copies beside the targets of restores.
	copyPrefix = ".safeshell" + partialPrefix
)

// writeNote notes that path, which ends in id, is a copy under way.
func (s *store) writeNote(id, path string) error {
	fd, err := openAt(s.fd, notePrefix+id, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	err = writeAll(fd, []byte(path))
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	if err != nil {
		s.dropNote(id)
	}
	return err
}

func (s *store) dropNote(id string) {
	_ = again(func() error { return unix.Unlinkat(s.fd, notePrefix+id, 0) })
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

// doom takes an item's data out of the list, before it is deleted piece by
// piece, by giving it a name that sweep deletes. undo gives it its own again.
// Where it cannot be renamed, name is its own.
func (s *store) doom(item string) (name string, undo func()) {
	name = partialPrefix + randomSuffix()
	if renameNew(s.files, item, s.files, name) != nil {
		return item, func() {}
	}
	return name, func() { _ = renameNew(s.files, name, s.files, item) }
}

// sweepNotes removes what interrupted restores left beside their targets. The
// trash is locked, so none is under way.
func (s *store) sweepNotes(uid int) {
	es, err := s.names(".")
	if err != nil {
		return
	}
	for _, e := range es {
		if strings.HasPrefix(e.name, "."+sizesName+"-") {
			_ = unix.Unlinkat(s.fd, e.name, 0)
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
		s.dropNote(id)
	}
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
	s.sweepNotes(uid)
	data, err := s.names("files")
	if err != nil {
		return err
	}
	var failed error
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
