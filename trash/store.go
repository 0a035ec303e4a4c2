package trash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"safeshell/config"
)

// store is an open trash directory that passed the checks of the
// specification ("Trash directories") and of checkOwn.
type store struct {
	path            string // absolute
	top             string // the top directory that its paths are relative to; "" in the home trash
	fd, files, info int
	mnt, dev        uint64
	id              devIno // of the directory, whatever its path
	longest         int    // bytes in a file name
	buf             []byte // see buffer
}

func (s *store) close() {
	for _, fd := range []int{s.fd, s.files, s.info} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// distrust says why a trash directory is not used.
type distrust struct{ path, why, fix string }

func (d *distrust) Error() string {
	s := "not using the trash " + Show(d.path) + ": " + d.why
	if d.fix != "" {
		s += "; to repair: " + d.fix
	}
	return s
}

// repair is a command that mends what err says of a trash, or "".
func repair(err error) string {
	var d *distrust
	var pe *pathError
	switch {
	case errors.As(err, &d):
		return d.fix
	case errors.As(err, &pe) && (errors.Is(err, unix.EACCES) && pe.op != "mkdir" || errors.Is(err, unix.EMFILE)): // nobody has to have one at home
		return config.MendFile(pe.path, pe.err)
	}
	return ""
}

// openStore opens a trash directory. It must belong to uid, and be writable by
// nobody else unless the filesystem makes up its modes (loose). A symbolic link
// in its place is not followed. With create, what is missing is made,
// but not path itself; without, a missing files or info is ENOENT.
func openStore(path, top string, uid int, create, loose bool) (*store, error) {
	s := &store{path: path, top: top, fd: -1, files: -1, info: -1, longest: 255}
	var err error
	if s.fd, err = openDirNoFollow(atFDCWD, path); err != nil {
		if err == unix.ENOTDIR || err == unix.ELOOP {
			if fi, err := lstatAt(atFDCWD, path); err == nil && fi.isLink() {
				return nil, &distrust{path, "it is a symbolic link, which is not followed", "unlink " + Quote(path, false)}
			}
			return nil, &distrust{path, "it is not a directory", ""}
		}
		return nil, &pathError{"open", path, err}
	}
	fi, err := checkOwn(s.fd, path, top, uid, loose)
	if err != nil {
		s.close()
		return nil, err
	}
	s.mnt, s.dev, s.id = fi.mnt, fi.dev, devIno{fi.dev, fi.ino}
	for _, d := range []struct {
		name string
		fd   *int
	}{{"files", &s.files}, {"info", &s.info}} {
		p := filepath.Join(path, d.name)
		*d.fd, err = openDirNoFollow(s.fd, d.name)
		if err == unix.ENOENT && create {
			if err = again(func() error { return unix.Mkdirat(s.fd, d.name, 0o700) }); err == nil || err == unix.EEXIST {
				*d.fd, err = openDirNoFollow(s.fd, d.name)
			}
		}
		switch err {
		case nil:
			fi, err := checkOwn(*d.fd, p, top, uid, loose)
			if err == nil && (fi.dev != s.dev || fi.mnt != s.mnt) {
				err = &distrust{p, "it is on another filesystem than the trash", ""}
			}
			if err != nil {
				s.close()
				return nil, err
			}
		case unix.ENOTDIR, unix.ELOOP:
			s.close()
			return nil, &distrust{p, "it is not a directory (a symbolic link is not followed)", ""}
		default:
			s.close()
			return nil, &pathError{"open", p, err}
		}
	}
	return s, nil
}

func checkOwn(fd int, path, top string, uid int, loose bool) (finfo, error) {
	fi, err := statFd(fd)
	foreign := uint32(0o022)
	if top == "" && int(fi.gid) == uid {
		foreign = 0o002 // the user's own group, by the custom of giving it his number
	}
	switch {
	case err != nil:
		return fi, &pathError{"stat", path, err}
	case int(fi.uid) != uid:
		return fi, &distrust{path, fmt.Sprintf("it belongs to user %d, not to %d", fi.uid, uid), ""}
	case fi.mode&foreign != 0 && !loose:
		return fi, &distrust{path, "others may write to it", "chmod go-w " + Quote(path, false)}
	}
	return fi, nil
}

// pathError is fs.PathError with GNU's wording of the error.
type pathError struct {
	op, path string
	err      error
}

func (e *pathError) Error() string { return Show(e.path) + ": " + errText(e.err) }
func (e *pathError) Unwrap() error { return e.err }

// errText words an error as strerror(3) does.
func errText(err error) string {
	var no unix.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	if no == unix.ESTALE {
		return "Stale file handle"
	}
	s := no.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

// infoPath is what to write for an item that was at real, an absolute path
// without symbolic links above its last component.
func (s *store) infoPath(real string) string {
	if s.top == "" {
		return real
	}
	return strings.TrimPrefix(strings.TrimPrefix(real, s.top), "/")
}

// maxTries bounds the search for a free name.
const maxTries = 16

// name is a candidate for the name of base in the trash: base itself at the
// first try, later with a random suffix, shortened so that the information
// file's name fits, at a character's border and with its extension.
func (s *store) name(base string, try int) string {
	room := s.longest - len(infoSuffix)
	if try == 0 && len(base) <= room {
		return base
	}
	suffix := "." + randomSuffix()
	if room -= len(suffix); len(base) > room {
		ext := filepath.Ext(base)
		if len(ext) > 16 || ext == base || !utf8.ValidString(ext) {
			ext = ""
		}
		keep := max(room-len(ext), 0)
		stem := base[:len(base)-len(ext)]
		if keep < len(stem) {
			for n := 0; n < utf8.UTFMax-1 && keep > 0 && !utf8.RuneStart(stem[keep]); n++ {
				keep--
			}
			stem = stem[:keep]
		}
		return stem + suffix + ext
	}
	return base + suffix
}

// trashSideError is an error of the trash, not of the file to be moved.
type trashSideError struct {
	s   *store
	err error
}

func (e *trashSideError) Error() string {
	hint := ""
	switch {
	case errors.Is(e.err, unix.ENOSPC), errors.Is(e.err, unix.EDQUOT):
		hint = "; " + e.s.makeRoom()
	case errors.Is(e.err, unix.EFBIG), errors.Is(e.err, unix.EMFILE):
		hint = "; " + config.MendFile(e.s.path, e.err)
	case errors.Is(e.err, unix.EACCES):
		if fix := repair(e.s.closed()); fix != "" {
			hint = "; to repair: " + fix
		}
	}
	return "cannot write to the trash " + Show(e.s.path) + ": " + errText(e.err) + hint
}
func (e *trashSideError) Unwrap() error { return e.err }

// closed names the directory of the trash whose mode lets nobody write there.
func (s *store) closed() error {
	for _, d := range []string{s.path, s.path + "/files", s.path + "/info"} {
		if err := unix.Faccessat(unix.AT_FDCWD, d, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			return &pathError{"access", d, err}
		}
	}
	return nil
}

// makeRoom says how room comes about where the trash lies: by purging what is
// older than a week, if there is any, else all of it, else elsewhere.
func (s *store) makeRoom() string {
	infos, err := os.ReadDir(filepath.Join(s.path, "info"))
	if err == nil && len(infos) == 0 {
		return "the trash is empty; " + config.MakeRoom(s.path)
	}
	week := time.Now().Add(-7 * 24 * time.Hour)
	for _, i := range infos {
		if fi, err := i.Info(); err == nil && fi.ModTime().Before(week) {
			return "to make room: safeshell trash purge --older 7d"
		}
	}
	return "to make room: safeshell trash empty"
}

// writeInfo creates the information file of name, whole or not at all. EEXIST
// means that the name is taken.
func (s *store) writeInfo(name string, data []byte) error {
	if err := step("create-info"); err != nil {
		return err
	}
	name += infoSuffix
	fd, err := openAt(s.info, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	err = step("write-info")
	for len(data) > 0 && err == nil {
		var n int
		if n, err = unix.Write(fd, data); err == unix.EINTR {
			err = nil
		}
		data = data[max(n, 0):]
	}
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	if err != nil {
		_ = s.dropInfo(name[:len(name)-len(infoSuffix)])
	}
	return err
}

func (s *store) dropInfo(name string) error {
	return again(func() error { return unix.Unlinkat(s.info, name+infoSuffix, 0) })
}

// put describes and moves parent/base, which is the file fi at the path real,
// into the store. Errors of the store are trashSideErrors; unix.EXDEV says
// that it must be copied (the information is gone again then).
func (s *store) put(parent int, base, real string, in info) (string, error) {
	name, err := s.reserve(base, real, in, func(name string) error {
		err := step("rename")
		if err == nil {
			err = renameNew(parent, base, s.files, name)
		}
		return err
	})
	if err == unix.EACCES && accessible(s.files, ".", unix.W_OK|unix.X_OK) != nil {
		err = &trashSideError{s, err}
	}
	return name, err
}

// reserve finds a name, writes its information and has move put the data
// there. When move fails the information is removed again; with EEXIST the
// next name is tried.
func (s *store) reserve(base, real string, in info, move func(name string) error) (string, error) {
	in.path = s.infoPath(real)
	data := in.encode()
	var err error
	for try := range maxTries {
		name := s.name(base, try)
		err = s.writeInfo(name, data)
		if err == nil {
			if err = move(name); err == nil {
				_ = step("done")
				return name, nil
			}
			_ = s.dropInfo(name)
			if err != unix.EEXIST {
				return "", err
			}
			continue
		}
		switch err {
		case unix.EEXIST:
		case unix.ENAMETOOLONG:
			if n := nameMax(s.files); n < s.longest {
				s.longest = n
				continue
			}
			return "", &trashSideError{s, err}
		default:
			// EACCES EPERM ENOSPC EDQUOT EROFS EMFILE: another name is no help.
			return "", &trashSideError{s, err}
		}
	}
	return "", &trashSideError{s, err}
}

// renameOverPlaceholder is for filesystems without RENAME_NOREPLACE. A file has
// both names for a moment; where it cannot, and for a directory, what is created
// in its place, or cannot be, settles who owns the name.
func renameOverPlaceholder(oldfd int, old string, newfd int, name string) error {
	fi, err := lstatAt(oldfd, old)
	if err != nil {
		return err
	}
	flag := 0
	if fi.isDir() {
		flag = unix.AT_REMOVEDIR
		err = again(func() error { return unix.Mkdirat(newfd, name, 0o700) })
	} else {
		err = again(func() error { return unix.Linkat(oldfd, old, newfd, name, 0) })
		if err == nil {
			if err = again(func() error { return unix.Unlinkat(oldfd, old, 0) }); err != nil {
				_ = unix.Unlinkat(newfd, name, 0)
			}
			return err
		}
		if err == unix.EEXIST || err == unix.EXDEV {
			return err
		}
		var fd int
		if fd, err = openAt(newfd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600); err == nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		return err
	}
	if err = again(func() error { return unix.Renameat(oldfd, old, newfd, name) }); err != nil {
		_ = again(func() error { return unix.Unlinkat(newfd, name, flag) })
	}
	return err
}

func randomSuffix() string { return base32Digits(rand.Uint64(), 8) }
