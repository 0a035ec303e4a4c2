package trash

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func lstatAt(dirfd int, name string) (finfo, error) {
	return fstatAt(dirfd, name, unix.AT_SYMLINK_NOFOLLOW)
}

func statAt(dirfd int, name string) (finfo, error) { return fstatAt(dirfd, name, 0) }

func fstatAt(dirfd int, name string, flags int) (finfo, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(dirfd, name, &st, flags) })
	return infoOf(&st), err
}

func statFd(fd int) (finfo, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(fd, &st) })
	return infoOf(&st), err
}

// infoOf: there are no mount ids here; a filesystem is mounted once.
func infoOf(st *unix.Stat_t) finfo {
	return finfo{
		dev: uint64(st.Dev), ino: st.Ino, mnt: uint64(st.Dev), rdev: uint64(st.Rdev),
		mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid, nlink: uint32(st.Nlink),
		size: st.Size, blocks: st.Blocks, atime: st.Atim, mtime: st.Mtim, ctime: st.Ctim,
	}
}

func openDir(dirfd int, name string) (int, error) {
	return openAt(dirfd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

func openDirNoFollow(dirfd int, name string) (int, error) {
	return openAt(dirfd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// openBeneath follows no link at all (O_NOFOLLOW_ANY); names with ".." do not
// come here.
func openBeneath(dirfd int, name string) (int, error) {
	return openAt(dirfd, name, unix.O_RDONLY|unix.O_DIRECTORY|0x20000000, 0)
}

// realPath is the canonical path of an open directory, which is at fallback.
func realPath(fd int, fallback string) (string, error) {
	if fallback == "" {
		return "", unix.ENOTSUP
	}
	return filepath.EvalSymlinks(fallback)
}

func chmodFd(fd int, mode uint32) error {
	return again(func() error { return unix.Fchmod(fd, mode) })
}

func renameNew(oldfd int, old string, newfd int, name string) error {
	err := step("rename-flag")
	if err == nil {
		err = again(func() error { return unix.RenameatxNp(oldfd, old, newfd, name, unix.RENAME_EXCL) })
	}
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		return renameOverPlaceholder(oldfd, old, newfd, name)
	}
	return err
}

func cloneFile(dst, src int) error { return unix.ENOTSUP }

func nextData(src int, from, size int64) (start, end int64, ok bool) {
	return from, size, from < size
}

func nameMax(int) int { return 255 }

func space(fd int) (total, free int64, err error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return 0, 0, err
	}
	return int64(st.Blocks) * int64(st.Bsize), int64(st.Bavail) * int64(st.Bsize), nil
}

func makeNode(dirfd int, name string, mode uint32, rdev uint64) error { return unix.ENOTSUP }

// copyNodeAttrs has nothing to do where no node is made.
func copyNodeAttrs(srcdir int, name string, dstdir int, dname string, fi finfo) error { return nil }

// ancestors: no package manager here calls rm for what it installed.
func ancestors() []string { return nil }

func setTimes(fd int, fi finfo) error {
	return again(func() error {
		return unix.Futimes(fd, []unix.Timeval{
			unix.NsecToTimeval(unix.TimespecToNsec(fi.atime)), unix.NsecToTimeval(unix.TimespecToNsec(fi.mtime)),
		})
	})
}

func withRead(dirfd int, name string, fi finfo, f func() error) error { return unix.EACCES }

// readMounts asks the kernel; there is no file to read.
func readMounts(path string) ([]mount, error) {
	if path != procMounts {
		return parseMounts(path)
	}
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return nil, os.NewSyscallError("getfsstat", err)
	}
	st := make([]unix.Statfs_t, n+8)
	if n, err = unix.Getfsstat(st, unix.MNT_NOWAIT); err != nil {
		return nil, os.NewSyscallError("getfsstat", err)
	}
	var ms []mount
	for _, s := range st[:n] {
		ms = append(ms, mount{
			id: uint64(s.Fsid.Val[0]), root: "/",
			point: unix.ByteSliceToString(s.Mntonname[:]), fstype: unix.ByteSliceToString(s.Fstypename[:]),
		})
	}
	return ms, nil
}
