package permit

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"safeshell/spool"
)

// lockFile takes an exclusive lock and returns what frees it. The lock file is
// never removed, so that all lock the same one.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "flock", Path: path, Err: err}
	}
	return func() { f.Close() }, nil
}

// readPrivate returns a regular file of our own that nobody else can read, of
// at most limit bytes.
func readPrivate(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	st, _ := fi.Sys().(*syscall.Stat_t)
	switch {
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file; look at it, then move it away", Show(path))
	case st == nil || int(st.Uid) != os.Geteuid():
		return nil, fmt.Errorf("%s does not belong to you; look at it, then move it away", Show(path))
	case fi.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s has mode %#o instead of 0600; look at it, then run: chmod 600 %s", Show(path), fi.Mode().Perm(), Show(path))
	case fi.Size() > limit:
		return nil, fmt.Errorf("%s has more than %d bytes; look at it, then move it away", Show(path), limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// writePrivate replaces a file (0600) in one durable step.
func writePrivate(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return spool.SyncDir(filepath.Dir(path))
}

// makePrivateDir makes a directory (0700) and its parents, and refuses one that
// others may enter or that is a link.
func makePrivateDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	st, _ := fi.Sys().(*syscall.Stat_t)
	switch {
	case !fi.IsDir():
		return fmt.Errorf("%s is not a directory; move it away", Show(path))
	case st == nil || int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%s does not belong to you; move it away", Show(path))
	case fi.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s lets other users in (mode %#o); run: chmod 700 %s", Show(path), fi.Mode().Perm(), Show(path))
	}
	return nil
}

// clock measures ages over processes by the time since boot, suspend counted.
type clock struct {
	boot func() (ns int64, id string)
}

func systemClock() clock { return clock{spool.Boot} }

// stamp marks a moment.
type stamp struct {
	BootID string `json:"boot_id"`
	BootNS int64  `json:"boot_ns"`
}

func (c clock) now() stamp {
	ns, id := c.boot()
	return stamp{id, ns}
}

// fresh reports whether less than limit has passed since s. A system that names
// no boot has no fresh stamps.
func (c clock) fresh(s stamp, limit int64) bool {
	now := c.now()
	age := now.BootNS - s.BootNS
	return now.BootID != "" && now.BootID == s.BootID && age >= 0 && age < limit
}
