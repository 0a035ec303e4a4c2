// Package files reads files and directories that somebody else may have put there:
// no pipe or device is waited for, and no more is read than a limit.
package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxDir bounds how many names of a directory are read.
const maxDir = 20000

// Names lists a directory. A directory that does not exist is empty; ok is
// false when it cannot be read or is too large.
func Names(dir string) (names []string, ok bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	defer f.Close()
	names, err = f.Readdirnames(maxDir)
	if err != nil && err != io.EOF {
		return nil, false
	}
	return names, len(names) < maxDir
}

// ReadRegular reads a whole file that a repository may have put there: no pipe
// or device is waited for, and no more than limit bytes are taken. The error
// for anything but a regular file, or a longer one, is ErrOdd.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > limit {
		return nil, ErrOdd
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = ErrOdd
	}
	return data, err
}

// ErrOdd says that a file is none that is read here.
var ErrOdd = errors.New("not a regular file, or too large")

// ReadHead reads the first 4 KiB of a regular file.
func ReadHead(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return "", ErrOdd
	}
	buf := make([]byte, 4096)
	n, err := f.Read(buf)
	if n == 0 && err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// Exists says that there is something of that name, if only a link to nothing.
func Exists(path string) bool {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	for err == unix.EINTR {
		err = unix.Lstat(path, &st)
	}
	return err == nil
}
