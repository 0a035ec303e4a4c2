package eval

import (
	"strings"

	"golang.org/x/sys/unix"
)

// workDir is what is known of a view's working directory while its operands are
// looked at one after the other.
type workDir struct {
	// A directory below it of which nothing is a symlink, and whether there is
	// one. Empty: itself.
	real    string
	hasReal bool

	mayOpen bool // the view closes it again
	opened  bool // fd is it, or negative when it could not be opened
	fd      int
}

// openFrom is how many operands make it worth opening the directory: looking for
// a name in it then takes half the time.
const openFrom = 4

// isReal says that no part of a path relative to the working directory is a
// symlink, or of that directory itself; of the last component that is asked only
// when final. The path is clean, but for a slash at its end. It may say no of a
// path that is.
func (v *view) isReal(rel string, final bool) bool {
	rel = strings.TrimSuffix(rel, "/")
	parent := rel[:max(strings.LastIndexByte(rel, '/'), 0)]
	if !v.at.hasReal || v.at.real != parent {
		dir := v.dir
		if parent != "" {
			dir += "/" + parent
		}
		if v.r.realDirOf(dir) != dir {
			return false
		}
		v.at.real, v.at.hasReal = parent, true
	}
	return !final || !v.isLink(rel)
}

// isLink says that a path relative to the working directory is a symlink that can
// be read.
func (v *view) isLink(rel string) bool {
	var text [1]byte // reading a link says what lstat does, for less
	if fd := v.workFD(); fd >= 0 {
		_, err := unix.Readlinkat(fd, rel, text[:])
		return err == nil
	}
	_, err := unix.Readlink(v.dir+"/"+rel, text[:])
	return err == nil
}

// workFD returns the working directory's descriptor; negative when there is none.
func (v *view) workFD() int {
	d := &v.at
	if !d.mayOpen || !d.opened && len(v.accesses) < openFrom {
		return -1
	}
	if !d.opened {
		fd, err := unix.Open(v.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			fd = -1
		}
		d.fd, d.opened = fd, true
	}
	return d.fd
}

// close ends the use of the directory.
func (d *workDir) close() {
	if d.opened && d.fd >= 0 {
		unix.Close(d.fd)
	}
	*d = workDir{}
}
