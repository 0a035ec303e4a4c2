package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"safeshell/config"
)

// fileID tells whether a file is still the one that was read.
type fileID struct {
	size, mtime, ctime int64 // bytes, nanoseconds
	ino, dev           uint64
}

func idOf(st *unix.Stat_t) fileID {
	return fileID{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), uint64(st.Ino), uint64(st.Dev)}
}

// fileError is why a rules file cannot be used, and what to do.
type fileError struct {
	msg, fix string
	err      error
}

func (e *fileError) Error() string { return e.msg }
func (e *fileError) Unwrap() error { return e.err }

// statSource looks at a rules file without opening it. Files of the user and
// the system must belong to the user or root, and be writable by them alone; a
// repository's file must not be a symlink. The error is fs.ErrNotExist when
// there is none.
func statSource(path string, kind sourceKind) (fileID, error) {
	var st unix.Stat_t
	stat := unix.Stat
	if kind == fromRepo {
		stat = unix.Lstat
	}
	err := stat(path, &st)
	for err == unix.EINTR {
		err = stat(path, &st)
	}
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return fileID{}, fs.ErrNotExist
	case err != nil:
		return fileID{}, &fileError{"cannot be read: " + err.Error(), mendRead(path, err), err}
	}
	return idOf(&st), checkStat(path, &st, kind)
}

// mendRead says what to do about a file that cannot be read.
func mendRead(path string, err error) string {
	if fix := config.MendFile(path, err); fix != "" {
		return fix
	}
	return "see: /bin/ls -ld " + quote(path)
}

func checkStat(path string, st *unix.Stat_t, kind sourceKind) error {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		return &fileError{msg: "is a symbolic link, which a repository's rules must not be", fix: "replace it by the file itself"}
	case unix.S_IFDIR:
		return &fileError{msg: "is a directory", fix: "move it away: /bin/mv " + quote(path) + " " + quote(path+".old")}
	default:
		return &fileError{msg: "is not a regular file", fix: "remove it: /bin/rm " + quote(path)}
	}
	if st.Size > MaxFileSize {
		return &fileError{msg: fmt.Sprintf("has more than %d bytes", MaxFileSize), fix: "split it, or remove rules"}
	}
	if kind == fromRepo {
		return nil // its content restricts at most, and is trusted by hash
	}
	if st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return &fileError{msg: fmt.Sprintf("belongs to another user (uid %d)", st.Uid), fix: fmt.Sprintf("sudo chown %d %s", os.Geteuid(), quote(path))}
	}
	if st.Mode&0o022 != 0 {
		return &fileError{msg: "can be changed by other users", fix: "/bin/chmod go-w " + quote(path)}
	}
	return nil
}

// readSource reads a rules file. What is checked, hashed and returned is the
// same open file.
func readSource(path string, kind sourceKind) ([]byte, fileID, error) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	if kind == fromRepo {
		flags |= unix.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fileID{}, fs.ErrNotExist
		}
		return nil, fileID{}, &fileError{"cannot be read: " + errors.Unwrap(err).Error(), mendRead(path, err), err}
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, fileID{}, &fileError{msg: "cannot be read: " + err.Error(), err: err}
	}
	if err := checkStat(path, &st, kind); err != nil {
		return nil, idOf(&st), err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, idOf(&st), &fileError{msg: "cannot be read: " + err.Error(), err: err}
	}
	return data, idOf(&st), nil
}

// trustKey names a content at a path: sha256(path NUL content).
func trustKey(path string, content []byte) string {
	h := sha256.New()
	io.WriteString(h, path)
	h.Write([]byte{0})
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// fileHandle is an open file without the poller that os.File sets up, which
// costs more than reading a small file. Zero is no file: it is never the number
// of one, because openPrivate keeps clear of the standard files.
type fileHandle int

// openPrivate opens a regular file that can have been written by the user
// alone, and returns its size. The handle is 0 when there is no such file.
func openPrivate(path string) (f fileHandle, size, mtime int64) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return 0, 0, 0
	}
	f = fileHandle(fd)
	var st unix.Stat_t
	if fd <= 2 || unix.Fstat(fd, &st) != nil ||
		st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		_ = unix.Close(fd)
		return 0, 0, 0
	}
	return f, st.Size, st.Mtim.Nano()
}

func (f fileHandle) close() {
	if f > 0 {
		_ = unix.Close(int(f))
	}
}

// readAt fills buf from the offset off.
func (f fileHandle) readAt(buf []byte, off int) error {
	for len(buf) > 0 {
		n, err := unix.Pread(int(f), buf, int64(off))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		buf, off = buf[n:], off+n
	}
	return nil
}

func dirOf(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}
