package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"safeshell/config"
)

// maxConfig bounds a configuration file.
const maxConfig = 8 << 20

// readConfig reads a configuration file; missing is told by found.
func readConfig(path string) (data []byte, found bool, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is refused below, not waited for
	if errors.Is(err, fs.ErrNotExist) {
		if fi, lerr := os.Lstat(path); lerr == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return nil, false, unusable(path, "is a symbolic link to nothing")
		}
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !fi.Mode().IsRegular() {
		return nil, false, unusable(path, "is not a regular file")
	}
	data, err = io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = unusable(path, fmt.Sprintf("is larger than %d MiB", maxConfig>>20))
	}
	return data, true, err
}

// unusable says what a path is that a configuration file or its directory is
// due at.
func unusable(path, what string) error {
	return fmt.Errorf("%s %s; to put it aside: mv %s %s", path, what, shellQuote(path), shellQuote(path+".old"))
}

// next adds what to do to an error of the file system.
func next(err error) error {
	var path string
	pe, le, errno := (*fs.PathError)(nil), (*os.LinkError)(nil), syscall.Errno(0)
	switch {
	case !errors.As(err, &errno):
		return err
	case errors.As(err, &pe):
		path = pe.Path
	case errors.As(err, &le):
		path = le.New
	default:
		return err
	}
	switch errno {
	case syscall.ENOTDIR, syscall.ELOOP:
		if do := config.MendFile(path, errno); do != "" {
			return fmt.Errorf("%w; %s", err, do)
		}
	case syscall.ENOSPC, syscall.EDQUOT:
		return fmt.Errorf("%w; %s", err, config.MendFile(path, errno))
	case syscall.EROFS:
		path = filepath.Dir(path)
	}
	see := shellQuote(filepath.Dir(path))
	if _, err := os.Lstat(path); err == nil {
		see += " " + shellQuote(path)
	}
	return fmt.Errorf("%w; see: ls -ld %s", err, see)
}

// errChanged says that somebody else wrote a file while we were at work.
var errChanged = errors.New("another program changed the file meanwhile; run this again")

// writeConfig replaces a file's content in one step: a crash leaves the old or
// the new one, never half of it. Mode, owner, access control list, extended
// attributes and the target of a symbolic link are kept; a new file gets mode. The content must still be old (nil: the file
// must still be missing), else errChanged.
func writeConfig(path string, old, data []byte, mode fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	uid, gid := -1, -1
	if fi, err := os.Stat(path); err == nil {
		if old == nil {
			return errChanged
		}
		if !fi.Mode().IsRegular() {
			return unusable(path, "is not a regular file")
		}
		mode = fi.Mode().Perm()
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			uid, gid = int(st.Uid), int(st.Gid)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if old != nil {
		return errChanged
	}
	tmp, err := os.CreateTemp(dir, ".safeshell-*")
	if err != nil {
		return err
	}
	name := tmp.Name()
	done := false
	defer func() {
		if !done {
			tmp.Close()
			os.Remove(name)
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if uid >= 0 && (uid != os.Geteuid() || gid != os.Getegid()) {
		if err := tmp.Chown(uid, gid); err != nil && uid != os.Geteuid() {
			return fmt.Errorf("%s belongs to user %d; run this as that user", path, uid)
		}
	}
	if old != nil {
		if err := copyAttributes(path, name); err != nil {
			return fmt.Errorf("%s has access rules or attributes that cannot be kept: %w", path, err)
		}
	}
	if err := tmp.Chmod(mode); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	now, found, err := readConfig(path)
	if err != nil {
		return err
	}
	if found != (old != nil) || !bytes.Equal(now, old) {
		return errChanged
	}
	if err := os.Rename(name, path); err != nil {
		return err
	}
	done = true
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// makeDirs makes a directory and returns those that were missing, the
// outermost first.
func makeDirs(dir string, mode fs.FileMode) ([]string, error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		fi, err := os.Stat(d)
		if err == nil {
			if !fi.IsDir() {
				return nil, unusable(d, "is not a directory")
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			return nil, err
		}
		missing = append([]string{d}, missing...)
	}
	for _, d := range missing {
		if err := os.Mkdir(d, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return missing, nil
}

// backupName is where a file's content from before our change is kept.
func backupName(path string) string { return path + ".safeshell-backup" }

// backup keeps data beside path, readable by the owner at most.
func backup(path string, data []byte, mode fs.FileMode) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	name := backupName(path)
	old, found, err := readConfig(name)
	if err != nil {
		return "", err
	}
	if !found {
		old = nil
	} else if bytes.Equal(old, data) {
		return name, nil
	} else if err := os.Chmod(name, mode&0o600); err != nil {
		return "", err
	}
	return name, writeConfig(name, old, data, mode&0o600)
}
