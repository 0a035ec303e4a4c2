package trash

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// entry is a name in a directory; kind is S_IFMT bits, 0 if not told.
type entry struct {
	name string
	kind uint32
}

// openRead opens a directory for reading its entries; never a symbolic link.
func openRead(dirfd int, name string) (*os.File, error) {
	fd, err := openAt(dirfd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// readSome reads up to n entries in the directory's own order; none at its end.
func readSome(f *os.File, n int) ([]entry, error) {
	des, err := f.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	es := make([]entry, len(des))
	for i, d := range des {
		es[i] = entry{d.Name(), kindOf(d.Type())}
	}
	// The bare number, which callers compare.
	var no unix.Errno
	if errors.As(err, &no) {
		err = no
	}
	return es, err
}

func readAll(f *os.File) ([]entry, error) { return readSome(f, -1) }

func kindOf(m os.FileMode) uint32 {
	switch {
	case m.IsDir():
		return unix.S_IFDIR
	case m&os.ModeSymlink != 0:
		return unix.S_IFLNK
	case m&os.ModeNamedPipe != 0:
		return unix.S_IFIFO
	case m&os.ModeSocket != 0:
		return unix.S_IFSOCK
	case m&os.ModeCharDevice != 0:
		return unix.S_IFCHR
	case m&os.ModeDevice != 0:
		return unix.S_IFBLK
	case m.IsRegular():
		return unix.S_IFREG
	}
	return 0
}

// isEmptyDir reports whether a directory can be read and has no entries.
func isEmptyDir(dirfd int, name string) bool {
	f, err := openRead(dirfd, name)
	if err != nil {
		return false
	}
	defer f.Close()
	es, err := readSome(f, 1)
	return err == nil && len(es) == 0
}

// openOwn opens a directory with full permissions for its owner, given to it
// where missing; undo takes them away again. dirfd/name must still be fi.
func openOwn(dirfd int, name string, uid int) (f *os.File, fi finfo, undo func(), err error) {
	fd, err := openDirNoFollow(dirfd, name)
	if err != nil {
		return nil, fi, nil, err
	}
	defer unix.Close(fd)
	if fi, err = statFd(fd); err != nil {
		return nil, fi, nil, err
	}
	undo = func() {}
	if fi.mode&0o700 != 0o700 && int(fi.uid) == uid {
		if err := chmodFd(fd, fi.perm()|0o700); err == nil {
			keep, derr := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
			undo = func() {
				if derr == nil {
					_ = chmodFd(keep, fi.perm())
					unix.Close(keep)
				}
			}
		}
	}
	if f, err = openRead(fd, "."); err != nil {
		undo()
		return nil, fi, nil, err
	}
	return f, fi, undo, nil
}

// remover deletes what is in the trash for good.
type remover struct {
	uid      int
	dev, mnt uint64 // never left
	root     int    // top of the tree, where what lies too deep is moved to
	errs     []*pathError
}

// maxDepth bounds the descriptors that a walk holds.
const maxDepth = 100

// maxErrors bounds what is remembered of a walk that fails everywhere.
const maxErrors = 20

func (r *remover) fail(op, path string, err error) bool {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &pathError{op, path, err})
	}
	return false
}

// remove deletes dirfd/name with all below it and reports whether it is gone.
// show is its path in messages. It follows no link, stays on one device, gives
// itself access to own directories, and goes on after errors.
func (r *remover) remove(dirfd int, name, show string, depth int) bool {
	err := again(func() error { return unix.Unlinkat(dirfd, name, 0) })
	switch err {
	case nil, unix.ENOENT:
		return true
	case unix.EISDIR, unix.EPERM:
		// Linux says EISDIR, POSIX and others EPERM.
		if fi, serr := lstatAt(dirfd, name); serr != nil || !fi.isDir() {
			return r.fail("unlink", show, err)
		}
	default:
		return r.fail("unlink", show, err)
	}
	if again(func() error { return unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR) }) == nil {
		return true
	}
	f, fi, _, err := openOwn(dirfd, name, r.uid)
	if err != nil {
		return r.fail("open", show, err)
	}
	defer f.Close()
	if fi.dev != r.dev || fi.mnt != r.mnt {
		return r.fail("remove", show, unix.EXDEV)
	}
	if depth == 0 {
		r.root = int(f.Fd())
	} else if depth >= maxDepth && renameNew(dirfd, name, r.root, ".deep-"+randomSuffix()) == nil {
		return true // the item's own directory gets another pass
	}
	ok := r.empty(f, show, depth)
	if err := again(func() error { return unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR) }); err != nil && err != unix.ENOENT {
		if ok {
			r.fail("rmdir", show, err)
		}
		return false
	}
	return true
}

// empty removes all entries of an open directory, in passes, since a
// directory that changes while it is read may skip some.
func (r *remover) empty(f *os.File, show string, depth int) bool {
	failed := map[string]bool{}
	for {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return r.fail("read", show, err)
		}
		removed := false
		for {
			es, err := readSome(f, 1024)
			if err != nil {
				return r.fail("read", show, err)
			}
			if len(es) == 0 {
				break
			}
			for _, e := range es {
				if failed[e.name] {
					continue
				}
				if r.remove(int(f.Fd()), e.name, show+"/"+e.name, depth+1) {
					removed = true
				} else {
					failed[e.name] = true
				}
			}
		}
		if !removed {
			return len(failed) == 0
		}
	}
}
