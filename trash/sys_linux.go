package trash

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lstatAt is lstat below a directory.
func lstatAt(dirfd int, name string) (finfo, error) {
	return statxAt(dirfd, name, unix.AT_SYMLINK_NOFOLLOW)
}

// statAt is stat below a directory.
func statAt(dirfd int, name string) (finfo, error) { return statxAt(dirfd, name, 0) }

func statFd(fd int) (finfo, error) { return statxAt(fd, "", unix.AT_EMPTY_PATH) }

func statxAt(dirfd int, name string, flags int) (finfo, error) {
	var sx unix.Statx_t
	const mask = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID
	err := again(func() error { return unix.Statx(dirfd, name, flags|unix.AT_NO_AUTOMOUNT, mask, &sx) })
	if err == unix.ENOSYS || err == unix.EPERM { // old kernel, or a seccomp filter that does not know statx
		return fstatAt(dirfd, name, flags)
	}
	if err != nil {
		return finfo{}, err
	}
	f := finfo{
		dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), ino: sx.Ino, mnt: sx.Mnt_id,
		rdev: unix.Mkdev(sx.Rdev_major, sx.Rdev_minor),
		mode: uint32(sx.Mode), uid: sx.Uid, gid: sx.Gid, nlink: sx.Nlink,
		size: int64(sx.Size), blocks: int64(sx.Blocks),
		atime: unix.NsecToTimespec(sx.Atime.Sec*1e9 + int64(sx.Atime.Nsec)),
		mtime: unix.NsecToTimespec(sx.Mtime.Sec*1e9 + int64(sx.Mtime.Nsec)),
		ctime: unix.NsecToTimespec(sx.Ctime.Sec*1e9 + int64(sx.Ctime.Nsec)),
	}
	if sx.Mask&unix.STATX_MNT_ID == 0 {
		f.mnt = f.dev
	}
	return f, nil
}

func fstatAt(dirfd int, name string, flags int) (finfo, error) {
	var st unix.Stat_t
	err := again(func() error {
		if name == "" && flags&unix.AT_EMPTY_PATH != 0 {
			return unix.Fstat(dirfd, &st)
		}
		return unix.Fstatat(dirfd, name, &st, flags)
	})
	if err != nil {
		return finfo{}, err
	}
	return finfo{
		dev: uint64(st.Dev), ino: st.Ino, mnt: uint64(st.Dev), rdev: uint64(st.Rdev),
		mode: st.Mode, uid: st.Uid, gid: st.Gid, nlink: uint32(st.Nlink),
		size: st.Size, blocks: st.Blocks, atime: st.Atim, mtime: st.Mtim, ctime: st.Ctim,
	}, nil
}

// openDir opens a directory as a place to work in, which needs no permission
// to read it.
func openDir(dirfd int, name string) (int, error) {
	return openAt(dirfd, name, unix.O_PATH|unix.O_DIRECTORY, 0)
}

// openDirNoFollow is openDir, but fails for a symbolic link.
func openDirNoFollow(dirfd int, name string) (int, error) {
	return openAt(dirfd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// openBeneath is openDir, and fails when the way leads out of dirfd, through
// ".." or a symbolic link.
func openBeneath(dirfd int, name string) (fd int, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	}
	err = again(func() error {
		fd, err = unix.Openat2(dirfd, name, &how)
		if err == unix.EAGAIN {
			return unix.EINTR
		}
		return err
	})
	if err == unix.ENOSYS || err == unix.EPERM {
		return openBeneathSlowly(dirfd, name)
	}
	return fd, err
}

// realPath is the canonical path of an open directory; fallback is a path to
// it, for a system without /proc.
func realPath(fd int, fallback string) (string, error) {
	p, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err == nil && filepath.IsAbs(p) {
		if strings.HasSuffix(p, " (deleted)") {
			if st, err := statFd(fd); err != nil || st.nlink == 0 {
				return "", unix.ENOENT
			}
		}
		return p, nil
	}
	if fallback == "" {
		return "", err
	}
	return filepath.EvalSymlinks(fallback)
}

// chmodFd sets the mode of an open directory, also one from openDir.
func chmodFd(fd int, mode uint32) error {
	return again(func() error { return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode) })
}

// renameNew renames and fails with EEXIST if the target exists.
func renameNew(oldfd int, old string, newfd int, name string) error {
	err := step("rename-flag")
	if err == nil {
		err = again(func() error { return unix.Renameat2(oldfd, old, newfd, name, unix.RENAME_NOREPLACE) })
	}
	if err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP {
		return renameOverPlaceholder(oldfd, old, newfd, name)
	}
	return err
}

// cloneFile makes dst share the data of src.
func cloneFile(dst, src int) error {
	return again(func() error { return unix.IoctlFileClone(dst, src) })
}

// nextData gives the next range of src that holds data; ok is false after the
// last. A filesystem that cannot tell has one range.
func nextData(src int, from, size int64) (start, end int64, ok bool) {
	if from >= size {
		return 0, 0, false
	}
	start, err := unix.Seek(src, from, unix.SEEK_DATA)
	if err == unix.ENXIO {
		return 0, 0, false
	}
	if err != nil {
		return from, size, true
	}
	end, err = unix.Seek(src, start, unix.SEEK_HOLE)
	if err != nil || end <= start {
		end = size
	}
	return start, end, true
}

func nameMax(fd int) int {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil || st.Namelen <= 0 {
		return 255
	}
	return int(st.Namelen)
}

// space is what the filesystem holds, and has free for this user, in bytes.
func space(fd int) (total, free int64, err error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return 0, 0, err
	}
	unit := int64(st.Frsize)
	if unit == 0 {
		unit = int64(st.Bsize)
	}
	return int64(st.Blocks) * unit, int64(st.Bavail) * unit, nil
}

func makeNode(dirfd int, name string, mode uint32, rdev uint64) error {
	return again(func() error { return unix.Mknodat(dirfd, name, mode, int(rdev)) })
}

// copyNodeAttrs gives a node the access lists, other extended attributes and mode
// of the one that it is a copy of. /proc names both, since opening a pipe or a
// device does something and a socket cannot be opened.
func copyNodeAttrs(srcdir int, name string, dstdir int, dname string, fi finfo) error {
	var paths [2]string
	for i, f := range []struct {
		dir  int
		name string
	}{{srcdir, name}, {dstdir, dname}} {
		fd, err := openAt(f.dir, f.name, unix.O_PATH|unix.O_NOFOLLOW, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if now, err := statFd(fd); err != nil || now.kind() != fi.kind() || i == 0 && !now.same(fi) {
			return errChanged
		}
		paths[i] = "/proc/self/fd/" + strconv.Itoa(fd)
	}
	err := copyAttrsBy(
		func(b []byte) (int, error) { return unix.Listxattr(paths[0], b) },
		func(attr string, b []byte) (int, error) { return unix.Getxattr(paths[0], attr, b) },
		func(attr string, b []byte) error { return unix.Setxattr(paths[1], attr, b, 0) },
	)
	if err != nil {
		return err
	}
	return again(func() error { return unix.Chmod(paths[1], fi.perm()) })
}

// ancestors names the processes above this one, nearest first.
func ancestors() []string {
	var names []string
	pid := os.Getppid()
	for range 64 {
		if pid <= 0 {
			break
		}
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			break
		}
		// pid (name) state ppid: the name may hold anything.
		s := string(b)
		i, j := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
		if i < 0 || j < i {
			break
		}
		names = append(names, s[i+1:j])
		f := strings.Fields(s[j+1:])
		if len(f) < 2 {
			break
		}
		if pid, err = strconv.Atoi(f[1]); err != nil {
			break
		}
	}
	return names
}

func setTimes(fd int, fi finfo) error {
	return again(func() error {
		return unix.UtimesNanoAt(atFDCWD, "/proc/self/fd/"+strconv.Itoa(fd), []unix.Timespec{fi.atime, fi.mtime}, 0)
	})
}

// withRead runs f while the owner may read the file dirfd/name, which is fi.
func withRead(dirfd int, name string, fi finfo, f func() error) error {
	fd, err := openAt(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, err := statFd(fd); err != nil || !now.same(fi) {
		return unix.EACCES
	}
	if err := chmodFd(fd, fi.perm()|0o400); err != nil {
		return err
	}
	defer func() { _ = chmodFd(fd, fi.perm()) }()
	return f()
}

func readMounts(path string) ([]mount, error) { return parseMounts(path) }

// openBeneathSlowly is openBeneath where the kernel has no openat2.
func openBeneathSlowly(dirfd int, name string) (int, error) {
	fd, err := openDir(dirfd, name)
	if err != nil {
		return -1, err
	}
	top, err := realPath(dirfd, "")
	if err == nil {
		var p string
		if p, err = realPath(fd, ""); err == nil && !within(p, top) {
			err = unix.EXDEV
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
