package eval

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// maxDir bounds how many names of a directory are read.
const maxDir = 20000

// readNames lists a directory. A directory that does not exist is empty; ok is
// false when it cannot be read or is too large.
func readNames(dir string) (names []string, ok bool) {
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
