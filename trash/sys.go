package trash

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const atFDCWD = unix.AT_FDCWD

// finfo is what is known of a file.
type finfo struct {
	dev, ino, mnt uint64 // mnt: mount id, or dev where the kernel has none
	rdev          uint64
	mode          uint32 // st_mode: type and permissions
	uid, gid      uint32
	nlink         uint32
	size, blocks  int64 // bytes; units of 512 bytes
	atime, mtime  unix.Timespec
	ctime         unix.Timespec
}

func (f finfo) kind() uint32      { return f.mode & unix.S_IFMT }
func (f finfo) isDir() bool       { return f.kind() == unix.S_IFDIR }
func (f finfo) isLink() bool      { return f.kind() == unix.S_IFLNK }
func (f finfo) isReg() bool       { return f.kind() == unix.S_IFREG }
func (f finfo) perm() uint32      { return f.mode & 07777 }
func (f finfo) usage() int64      { return f.blocks * 512 }
func (f finfo) same(g finfo) bool { return f.dev == g.dev && f.ino == g.ino }

// again calls f until it is not interrupted by a signal.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func openAt(dirfd int, name string, flags int, mode uint32) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(dirfd, name, flags|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

// accessible asks the kernel, for the effective user.
func accessible(dirfd int, name string, how uint32) error {
	return again(func() error { return unix.Faccessat(dirfd, name, how, unix.AT_EACCESS) })
}

// copyAttrs copies the extended attributes (with them the access lists) of open
// files.
func copyAttrs(dst, src int) error {
	return copyAttrsBy(
		func(b []byte) (int, error) { return unix.Flistxattr(src, b) },
		func(name string, b []byte) (int, error) { return unix.Fgetxattr(src, name, b) },
		func(name string, b []byte) error { return unix.Fsetxattr(dst, name, b, 0) },
	)
}

// copyAttrsBy copies extended attributes. Those that the target cannot have or
// this user cannot set are left out.
func copyAttrsBy(list func([]byte) (int, error), get func(string, []byte) (int, error), set func(string, []byte) error) error {
	n, err := list(nil)
	if err != nil || n == 0 {
		return nil //nolint:nilerr // a file system without attributes
	}
	names := make([]byte, n+256)
	if n, err = list(names); err != nil {
		return nil //nolint:nilerr // changed since
	}
	all := strings.Split(strings.TrimRight(string(names[:n]), "\x00"), "\x00")
	// Last the access control list, which may take the right to write the others.
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(b, a) })
	for _, name := range all {
		n, err := get(name, nil)
		if err != nil {
			continue
		}
		val := make([]byte, n)
		if n > 0 {
			if n, err = get(name, val); err != nil {
				continue
			}
		}
		switch err := set(name, val[:n]); err {
		case unix.ENOSPC, unix.EDQUOT, unix.E2BIG, unix.ERANGE, unix.EIO:
			return err
		}
	}
	return nil
}
