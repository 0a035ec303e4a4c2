package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// flock locks, unlocks or probes f; unix.EWOULDBLOCK means that another open
// file holds it. Closing f frees the lock. Never fcntl locks: any close of the
// file in the process drops them.
func flock(f *os.File, how int) error { return flockFd(int(f.Fd()), f.Name(), how) }

func flockFd(fd int, path string, how int) error {
	for {
		err := unix.Flock(fd, how)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: "flock", Path: path, Err: err}
		}
		return nil
	}
}

// held reports whether another open file holds f exclusively. A file system
// without flock counts as held: a living owner must not be taken for dead.
func held(f *os.File) bool { return flock(f, unix.LOCK_SH|unix.LOCK_NB) != nil }

// UnsafeError is a file or directory that cannot be trusted.
type UnsafeError struct {
	Path string
	Why  string
	Fix  string // a command, or what to change
}

// Error names the path, what is wrong and what to do.
func (e *UnsafeError) Error() string {
	s := Visible(e.Path) + ": " + e.Why
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// checkDir demands a real directory of our own that nobody else may enter.
func checkDir(path string, uid int) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch st, _ := fi.Sys().(*syscall.Stat_t); {
	case fi.Mode()&fs.ModeSymlink != 0:
		return &UnsafeError{path, "is a symbolic link, not a directory", "run: unlink " + quote(path)}
	case !fi.IsDir():
		return &UnsafeError{path, "is not a directory", "move it away: mv " + quote(path) + " " + quote(path+".old")}
	case st == nil || int(st.Uid) != uid:
		return &UnsafeError{path, fmt.Sprintf("does not belong to you (uid %d)", uid), fmt.Sprintf("run: sudo chown -R %d %s", uid, quote(path))}
	case fi.Mode().Perm()&0o077 != 0:
		return &UnsafeError{path, fmt.Sprintf("mode %#o lets other users in", fi.Mode().Perm()), "run: chmod 700 " + quote(path)}
	}
	return nil
}

// makeDir makes sure that path is a directory as checkDir wants it.
func makeDir(path string, uid int) error {
	err := checkDir(path, uid)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Mkdir(path, 0o700); err == nil {
		err = os.Chmod(path, 0o700) // whatever the umask took away
		if err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkDir(path, uid)
}

// makeParents makes path and what is missing above it, for the user alone.
// Directories that exist are not looked at: they are the user's business.
func makeParents(path string) error {
	if fi, err := os.Stat(path); err == nil {
		if !fi.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeParents(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(path, 0o700)
}

// checkNew is checkFile for an open file that may just have been made: the umask
// may have taken the owner's own rights from it. It returns what fstat told.
func checkNew(fd int, path string, uid int) (st unix.Stat_t, err error) {
	if err := unix.Fstat(fd, &st); err != nil {
		return st, &fs.PathError{Op: "fstat", Path: path, Err: err}
	}
	regular := uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG
	if err := checkOwn(path, regular, st.Uid, uint32(st.Mode)&0o777, uint64(st.Nlink), uid, 1); err != nil {
		return st, err
	}
	if uint32(st.Mode)&0o777 != 0o600 {
		if err := unix.Fchmod(fd, 0o600); err != nil {
			return st, &fs.PathError{Op: "chmod", Path: path, Err: err}
		}
	}
	return st, nil
}

// checkFile demands a regular file of our own, mode 0600 or stricter, with at
// most links names.
func checkFile(path string, fi fs.FileInfo, uid int, links uint64) error {
	st, _ := fi.Sys().(*syscall.Stat_t)
	if st == nil {
		return &UnsafeError{path, "has no owner that is known", ""}
	}
	return checkOwn(path, fi.Mode().IsRegular(), st.Uid, uint32(fi.Mode().Perm()), uint64(st.Nlink), uid, links)
}

func checkOwn(path string, regular bool, owner, perm uint32, names uint64, uid int, links uint64) error {
	switch {
	case !regular:
		return &UnsafeError{path, "is not a regular file", "move it away: mv " + quote(path) + " " + quote(path+".old")}
	case int(owner) != uid:
		return &UnsafeError{path, fmt.Sprintf("does not belong to you (uid %d)", uid), fmt.Sprintf("run: sudo chown %d %s", uid, quote(path))}
	case perm&0o177 != 0:
		return &UnsafeError{path, fmt.Sprintf("has mode %#o instead of 0600", perm), "run: chmod 600 " + quote(path)}
	case names > links:
		return &UnsafeError{path, fmt.Sprintf("has %d names instead of %d", names, links), ""}
	}
	return nil
}

// readOnly never follows a link and never waits for a FIFO's writer.
const readOnly = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK

// readStrict returns the content of a record after the checks of checkFile,
// and refuses more than limit bytes.
func readStrict(path string, uid int, links uint64, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, readOnly, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readChecked(f, uid, links, limit)
}

func readChecked(f *os.File, uid int, links uint64, limit int64) ([]byte, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkFile(f.Name(), fi, uid, links); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &UnsafeError{f.Name(), fmt.Sprintf("is larger than %d bytes", limit), ""}
	}
	return data, nil
}

// sameFile reports whether f is still what path names.
func sameFile(f *os.File, path string) bool {
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) == nil && isNamed(&st, path)
}

// isNamed reports whether path itself, not what it links to, is the file of st.
func isNamed(st *unix.Stat_t, path string) bool {
	var now unix.Stat_t
	err := unix.Lstat(path, &now)
	for err == unix.EINTR {
		err = unix.Lstat(path, &now)
	}
	return err == nil && now.Dev == st.Dev && now.Ino == st.Ino
}

// quote makes a path one word of a POSIX shell.
func quote(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("/._-+:@%,", c) >= 0
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
