package initscript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxStartup bounds the size of a start-up file that is read, in bytes.
const maxStartup = 8 << 20

// errChanged says that somebody else wrote to a file meanwhile.
var errChanged = errors.New("the file was changed meanwhile; run the command again")

// file is a start-up file as found.
type file struct {
	path string      // with all links followed
	info os.FileInfo // nil when it does not exist
	text []byte
}

// load reads a start-up file. A file that does not exist is no error; a link
// that leads nowhere, a directory or anything else that is no file is one.
func load(path string) (file, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return file{}, fmt.Errorf("it is a link to %s, which does not exist", to)
		}
		return file{path: path}, nil
	}
	if err != nil {
		if _, err := os.Stat(path); errors.Is(err, unix.ELOOP) { // EvalSymlinks has words of its own
			return file{}, errors.New("it is a link that leads back to itself")
		}
		return file{}, err
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return file{}, err
	case info.IsDir():
		return file{}, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return file{}, fmt.Errorf("it is no regular file (%s)", real)
	case info.Size() > maxStartup:
		return file{}, fmt.Errorf("it is larger than %d bytes", maxStartup)
	}
	text, err := os.ReadFile(real)
	return file{path: real, info: info, text: text}, err
}

// writable says why a file should not be written; nil when it may be. Its mode
// counts for root too: people lock their start-up files against installers.
func (f file) writable() error {
	if f.info != nil {
		err := unix.Access(f.path, unix.W_OK)
		if errors.Is(err, unix.EROFS) {
			return errors.New("it is on a read-only file system")
		}
		if f.info.Mode()&0o222 == 0 || err != nil {
			return fmt.Errorf("it is read-only (mode %04o)", f.info.Mode().Perm())
		}
		return nil
	}
	dir := filepath.Dir(f.path)
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
			dir = filepath.Dir(dir)
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no directory", dir)
		case unix.Access(dir, unix.W_OK) != nil:
			return fmt.Errorf("%s is not writable", dir)
		}
		return nil
	}
}

// missingDirs counts the directories above a path that do not exist.
func missingDirs(path string) (n int) {
	for dir := filepath.Dir(path); !exists(dir) && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		n++
	}
	return n
}

// store replaces the file's text, keeping mode, owner and hard links. It
// refuses when the file is no longer as it was loaded.
func (f file) store(text []byte) error {
	now, err := os.ReadFile(f.path)
	switch {
	case f.info == nil && errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
	case err != nil:
		return err
	case f.info == nil || !bytes.Equal(now, f.text):
		return errChanged
	}
	return replaceFile(f.path, text, f.info)
}

// replaceFile writes a file whole or not at all: a temporary file beside it is
// renamed onto it. old is the file to be like; nil makes a new one (mode 0644
// under the umask, of root in a user's directory: that user's).
//
// A file with several hard links, or one that cannot be renamed onto (a mount,
// a directory without write permission), is written in place.
func replaceFile(path string, text []byte, old os.FileInfo) error {
	if old != nil && links(old) > 1 {
		return overwrite(path, text)
	}
	tmp, err := create(path)
	if err == nil {
		if err = fill(tmp, text, old); err == nil {
			err = os.Rename(tmp.Name(), path)
		}
		if err != nil {
			os.Remove(tmp.Name())
		}
	}
	if old != nil {
		for _, cannot := range []error{unix.EACCES, unix.EPERM, unix.EBUSY, unix.EXDEV} {
			if errors.Is(err, cannot) {
				return overwrite(path, text)
			}
		}
	}
	return err
}

// create makes the temporary file beside path, under the umask.
func create(path string) (*os.File, error) {
	for i := 0; ; i++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.safeshell-%d-%d", baseName(path), os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil || i > 100 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

func fill(tmp *os.File, text []byte, old os.FileInfo) error {
	_, err := tmp.Write(text)
	like := old
	if like == nil && os.Geteuid() == 0 {
		like, _ = os.Stat(filepath.Dir(tmp.Name()))
	}
	if err == nil && like != nil {
		if st, ok := like.Sys().(*syscall.Stat_t); ok {
			err = own(tmp, int(st.Uid), int(st.Gid), old == nil)
		}
	}
	if err == nil && old != nil {
		err = tmp.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = tmp.Sync()
	}
	return errors.Join(err, tmp.Close())
}

// own gives the file to its owner. A new file may stay ours where that is not
// allowed; an existing one may lose its group, never its owner.
func own(tmp *os.File, uid, gid int, fresh bool) error {
	err := tmp.Chown(uid, gid)
	if err == nil || fresh {
		return nil
	}
	if uid != os.Geteuid() {
		return err
	}
	return nil
}

// overwrite writes in place; when that fails (a full disk), it puts the old
// text back, for which the room is there.
func overwrite(path string, text []byte) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	write := func(text []byte) error {
		if _, err := f.WriteAt(text, 0); err != nil {
			return err
		}
		if err := f.Truncate(int64(len(text))); err != nil {
			return err
		}
		return f.Sync()
	}
	if err = write(text); err != nil {
		err = errors.Join(err, write(old))
	}
	return errors.Join(err, f.Close())
}

func owned(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func links(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

func baseName(path string) string { return filepath.Base(path) }
