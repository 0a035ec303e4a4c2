package trash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// copyIn puts u into s by copying, where it cannot be renamed: into
// files/.partial-*, compared with the source, then renamed, and only then is
// the source removed. With a name and an error both copies are kept.
func (p *putter) copyIn(s *store, u unit, in info, parent finfo) (string, error) {
	// What rm could not remove must not be copied in vain.
	if err := accessible(u.parent, ".", unix.W_OK|unix.X_OK); err != nil {
		return "", err
	}
	fi, err := lstatAt(u.parent, u.base)
	if err != nil {
		return "", err
	}
	if me := uint32(p.e.UID); parent.mode&unix.S_ISVTX != 0 && me != 0 && parent.uid != me && fi.uid != me {
		return "", unix.EPERM
	}
	if !p.held[s.id] {
		unlock, err := s.lock(true)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	size := diskUsage(u.parent, u.base, 0)
	if quota := p.c.quota(s); size > quota {
		return "", fmt.Errorf("it cannot be renamed into the trash %s and is too big to be copied (%d bytes, the limit is %d); to allow more, set trash.max_bytes in config.yaml",
			Show(s.path), size, quota)
	}
	if _, free, err := space(s.files); err == nil && size > free {
		return "", &trashSideError{s, unix.ENOSPC}
	}
	c := newCopier(p.e.UID)
	partial, copied := partialPrefix+randomSuffix(), false
	name, err := s.reserve(u.base, u.real, in, func(name string) error {
		if !copied {
			if err := c.copy(u.parent, u.base, s.files, partial, u.show); err != nil {
				return err
			}
			copied = true
		}
		if err := step("copied"); err != nil {
			return err
		}
		return renameNew(s.files, partial, s.files, name)
	})
	if err != nil {
		r := remover{uid: p.e.UID, dev: s.dev, mnt: s.mnt, root: -1}
		r.remove(s.files, partial, partial, 0)
		return "", err
	}
	if err := step("remove-source"); err != nil {
		return name, err
	}
	c.removeSource(u.parent, u.base, u.show)
	if c.failed != nil {
		return name, fmt.Errorf("%w; the trash has a copy of it: %s", c.failed, Show(s.path+"/files/"+name))
	}
	return name, nil
}

// stamp tells whether a file is what was copied.
type stamp struct {
	size         int64
	mtime, ctime unix.Timespec
	kind         uint32
	linked       bool // has other names, whose removal changes ctime
}

type devIno struct{ dev, ino uint64 }

// copier copies a tree and removes what it copied.
type copier struct {
	uid     int
	seen    map[devIno]stamp
	linked  map[devIno]string // copies of files with several names: their paths below top
	top     int               // directory that those paths are relative to
	failed  error             // why something of the source was left
	changed bool              // because it is no longer what was copied
}

func newCopier(uid int) *copier {
	return &copier{uid: uid, seen: map[devIno]stamp{}, linked: map[devIno]string{}, top: -1}
}

func stampOf(fi finfo) stamp {
	return stamp{fi.size, fi.mtime, fi.ctime, fi.kind(), fi.nlink > 1 && !fi.isDir()}
}

func (c *copier) err(show, what string, err error) error {
	return fmt.Errorf("cannot %s %s: %s", what, Show(show), errText(err))
}

// copy makes dstdir/dname a copy of srcdir/name, whose path in messages is
// show, on disk and compared. On failure what was made of it is left there.
func (c *copier) copy(srcdir int, name string, dstdir int, dname, show string) error {
	c.top = dstdir
	return c.tree(srcdir, name, dstdir, dname, dname, show)
}

// tree copies one file or directory; rel is its path below c.top.
func (c *copier) tree(srcdir int, name string, dstdir int, dname, rel, show string) error {
	fi, err := lstatAt(srcdir, name)
	if err != nil {
		return c.err(show, "copy", err)
	}
	was, id := fi, devIno{fi.dev, fi.ino}
	if first, ok := c.linked[id]; ok && !fi.isDir() {
		if err := unix.Linkat(c.top, first, dstdir, dname, 0); err == nil {
			return nil
		}
	}
	switch fi.kind() {
	case unix.S_IFDIR:
		return c.dir(srcdir, name, dstdir, dname, rel, show)
	case unix.S_IFREG:
		err = c.file(srcdir, name, dstdir, dname, &fi)
	case unix.S_IFLNK:
		err = c.link(srcdir, name, dstdir, dname, fi)
	default:
		err = c.node(srcdir, name, dstdir, dname, fi)
	}
	if err != nil {
		if err == errChanged {
			return fmt.Errorf("%s changed while it was copied; try again", Show(show))
		}
		return c.err(show, "copy", err)
	}
	if was.nlink > 1 {
		c.linked[id] = rel
	}
	c.seen[id] = stampOf(was)
	c.seen[devIno{fi.dev, fi.ino}] = stampOf(fi)
	return nil
}

var errChanged = errors.New("changed while it was copied")

func (c *copier) dir(srcdir int, name string, dstdir int, dname, rel, show string) error {
	f, fi, undo, err := openOwn(srcdir, name, c.uid)
	if err != nil {
		return c.err(show, "copy", err)
	}
	defer f.Close()
	defer undo()
	if err := again(func() error { return unix.Mkdirat(dstdir, dname, 0o700) }); err != nil {
		return c.err(show, "copy", err)
	}
	d, err := openRead(dstdir, dname)
	if err != nil {
		return c.err(show, "copy", err)
	}
	defer d.Close()
	es, err := readAll(f)
	if err != nil {
		return c.err(show, "copy", err)
	}
	for _, e := range es {
		if err := c.tree(int(f.Fd()), e.name, int(d.Fd()), e.name, rel+"/"+e.name, show+"/"+e.name); err != nil {
			return err
		}
	}
	if err := c.finish(int(d.Fd()), int(f.Fd()), fi); err != nil {
		return c.err(show, "copy", err)
	}
	c.seen[devIno{fi.dev, fi.ino}] = stampOf(fi)
	return nil
}

// finish gives a copy its attributes, owner, mode and times, in the order in
// which none undoes another, and brings it to disk.
func (c *copier) finish(dst, src int, fi finfo) error {
	if err := unix.Fchown(dst, int(fi.uid), int(fi.gid)); err != nil {
		_ = unix.Fchown(dst, -1, int(fi.gid))
	}
	if err := copyAttrs(dst, src); err != nil {
		return err
	}
	perm := fi.perm()
	if int(fi.uid) != c.uid && c.uid != 0 {
		perm &^= unix.S_ISUID | unix.S_ISGID // it could not be given to its owner
	}
	if err := chmodFd(dst, perm); err != nil {
		return err
	}
	if err := again(func() error { return unix.Fsync(dst) }); err != nil && err != unix.EINVAL {
		return err
	}
	return setTimes(dst, fi)
}

func (c *copier) link(srcdir int, name string, dstdir int, dname string, fi finfo) error {
	buf := make([]byte, max(fi.size, unix.PathMax)+1)
	n, err := unix.Readlinkat(srcdir, name, buf)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(string(buf[:n]), dstdir, dname); err != nil {
		return err
	}
	_ = unix.Fchownat(dstdir, dname, int(fi.uid), int(fi.gid), unix.AT_SYMLINK_NOFOLLOW)
	_ = unix.UtimesNanoAt(dstdir, dname, []unix.Timespec{fi.atime, fi.mtime}, unix.AT_SYMLINK_NOFOLLOW)
	return nil
}

// node copies a pipe, a socket or a device, which is never opened.
func (c *copier) node(srcdir int, name string, dstdir int, dname string, fi finfo) error {
	if err := makeNode(dstdir, dname, fi.mode, fi.rdev); err != nil {
		return err
	}
	_ = unix.Fchownat(dstdir, dname, int(fi.uid), int(fi.gid), unix.AT_SYMLINK_NOFOLLOW)
	if err := copyNodeAttrs(srcdir, name, dstdir, dname, fi); err != nil {
		return err
	}
	_ = unix.UtimesNanoAt(dstdir, dname, []unix.Timespec{fi.atime, fi.mtime}, unix.AT_SYMLINK_NOFOLLOW)
	return nil
}

// file copies a regular file; fi becomes what the source is at the end.
func (c *copier) file(srcdir int, name string, dstdir int, dname string, fi *finfo) error {
	in, err := c.openFile(srcdir, name, *fi)
	if err != nil {
		return err
	}
	defer in.Close()
	src := int(in.Fd())
	before, err := statFd(src)
	if err != nil {
		return err
	}
	if !before.same(*fi) && !c.apart(srcdir, name, before, *fi) {
		return errChanged
	}
	fd, err := openAt(dstdir, dname, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), dname)
	defer out.Close()
	if cloneFile(fd, src) != nil {
		if err := copyData(out, in, before.size); err != nil {
			return err
		}
		if err := sameData(out, in); err != nil {
			return err
		}
	}
	after, err := statFd(src)
	if err != nil {
		return err
	}
	got, err := statFd(fd)
	if err != nil {
		return err
	}
	if after.size != before.size || after.mtime != before.mtime || got.size != before.size {
		return errChanged
	}
	if err := c.finish(fd, src, *fi); err != nil {
		return err
	}
	*fi = after
	return nil
}

// apart: opening the file, for which its mode was changed, gave it a number of
// its own. So does overlayfs with a file of a lower layer that has several names;
// the others keep the old one.
func (c *copier) apart(srcdir int, name string, open, was finfo) bool {
	now, err := lstatAt(srcdir, name)
	return err == nil && now.same(open) && int(was.uid) == c.uid && was.nlink > 1 && was.mode&0o400 == 0 &&
		now.mode == was.mode && now.uid == was.uid && now.size == was.size && now.mtime == was.mtime
}

// openFile opens the source to read, also an own file whose mode forbids it.
func (c *copier) openFile(srcdir int, name string, fi finfo) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
	fd, err := openAt(srcdir, name, flags, 0)
	if err == unix.EACCES && int(fi.uid) == c.uid {
		err = withRead(srcdir, name, fi, func() error {
			fd, err = openAt(srcdir, name, flags, 0)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// copyData copies the ranges that hold data; what is a hole stays one.
func copyData(out, in *os.File, size int64) error {
	for pos := int64(0); ; {
		start, end, ok := nextData(int(in.Fd()), pos, size)
		if !ok {
			break
		}
		if _, err := in.Seek(start, io.SeekStart); err != nil {
			return bare(err)
		}
		if _, err := out.Seek(start, io.SeekStart); err != nil {
			return bare(err)
		}
		n, err := io.CopyN(out, in, end-start)
		if err == io.EOF || err == nil && n < end-start {
			return errChanged
		}
		if err != nil {
			return bare(err)
		}
		pos = end
	}
	return bare(out.Truncate(size))
}

// sameData compares the copy with its source, from start to end.
func sameData(out, in *os.File) error {
	for _, f := range []*os.File{out, in} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return bare(err)
		}
	}
	const chunk = 256 << 10
	a, b := make([]byte, chunk), make([]byte, chunk)
	for {
		n, err1 := io.ReadFull(in, a)
		m, err2 := io.ReadFull(out, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return errChanged
		}
		end1 := err1 == io.EOF || err1 == io.ErrUnexpectedEOF
		end2 := err2 == io.EOF || err2 == io.ErrUnexpectedEOF
		switch {
		case end1 && end2:
			return nil
		case err1 != nil && !end1:
			return bare(err1)
		case err2 != nil && !end2:
			return bare(err2)
		}
	}
}

// bare is the errno in an error of package os.
func bare(err error) error {
	var no unix.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// removeSource unlinks what was copied and has not changed since. The first
// error is kept in c.failed.
func (c *copier) removeSource(dirfd int, name, show string) bool {
	fail := func(err error) bool {
		if c.failed == nil {
			c.failed = c.err(show, "remove", err)
		}
		return false
	}
	fi, err := lstatAt(dirfd, name)
	if err == unix.ENOENT {
		return true
	}
	if err != nil {
		return fail(err)
	}
	was, ok := c.seen[devIno{fi.dev, fi.ino}]
	if !ok {
		c.changed = true
		return fail(errors.New("it is new since the copy was made"))
	}
	if fi.isDir() {
		f, _, undo, err := openOwn(dirfd, name, c.uid)
		if err != nil {
			return fail(err)
		}
		es, err := readAll(f)
		all := err == nil
		for _, e := range es {
			all = c.removeSource(int(f.Fd()), e.name, strings.TrimSuffix(show, "/")+"/"+e.name) && all
		}
		f.Close()
		if !all {
			undo()
			if err != nil {
				return fail(err)
			}
			return false
		}
		if err := again(func() error { return unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR) }); err != nil {
			undo()
			return fail(err)
		}
		undo()
		return true
	}
	now := stampOf(fi)
	if was.linked {
		now.linked, now.ctime = true, was.ctime
	}
	if now != was {
		c.changed = true
		return fail(errors.New("it changed since the copy was made"))
	}
	if err := again(func() error { return unix.Unlinkat(dirfd, name, 0) }); err != nil {
		return fail(err)
	}
	return true
}
