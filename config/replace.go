package config

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Replace writes a file (mode 0600) as a whole: who reads it meanwhile sees the
// old content or the new one, and after an error the old one is there. With
// durable the file and its name are on the disk when Replace returns, for what a
// person decided; caches do without.
func Replace(path string, data []byte, durable bool) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".new-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if durable {
		return SyncDir(dir)
	}
	return nil
}

// SyncDir has the names in a directory on the disk when it returns.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) { // not every file system can
		return err
	}
	return nil
}
