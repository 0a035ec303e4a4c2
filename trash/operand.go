package trash

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// target is an operand and what is known of it.
type target struct {
	arg    string // as shown in messages
	dirArg string // of the directory it is in, as given
	base   string
	real   string // absolute path, without symbolic links above the last component
	parent string // of that, the directory
	pmnt   uint64 // mount of the directory
	fi     finfo

	err    error    // it is not there, or rm could not remove it: GNU's error
	state  int      // of the states below
	class  int      // if stateAct
	why    string   // of classRefuse
	skip   []string // mount points in it that --one-file-system leaves
	lookup error    // what lstat says where err is what unlink would say
}

const (
	stateAct     = iota
	stateErr     // err, which rm meets too
	stateFail    // err, which rm need not meet
	stateDots    // . or ..
	stateRoot    // the root directory
	stateDevice  // --preserve-root=all and a mount point
	stateLinkDir // a link to a directory, with a slash behind it
)

// inspect looks at an operand without changing anything.
func (p *putter) inspect(arg string) target {
	t := target{arg: trimSlashes(arg), state: stateErr}
	bare := strings.TrimRight(arg, "/")
	if bare == "" && arg != "" {
		bare = "/"
	}
	if t.fi, t.err = lstatAt(p.cwdfd, bare); t.err != nil {
		return t
	}
	slashed := bare != arg && bare != "/"
	through := false // a link, followed because of the slash
	if slashed && !t.fi.isDir() {
		fi, err := statAt(p.cwdfd, arg)
		if err != nil || !t.fi.isLink() {
			t.err, t.lookup = unix.ENOTDIR, err
			return t
		}
		t.fi, through = fi, true
	}
	if t.fi.isDir() {
		if !p.o.recursive && !(p.o.dir && isEmptyDir(p.cwdfd, bare)) && !(p.o.dir && through && isEmptyTarget(p.cwdfd, arg)) {
			t.err = unix.EISDIR
			if p.o.dir {
				t.err = unix.ENOTEMPTY
			}
			return t
		}
		if base := bare[strings.LastIndexByte(bare, '/')+1:]; base == "." || base == ".." {
			t.state = stateDots
			return t
		}
		if p.isRoot(t.fi) {
			t.state = stateRoot
			return t
		}
		if p.o.preserveAll {
			up, err := lstatAt(p.cwdfd, bare+"/..")
			if t.err = err; err != nil || up.dev != t.fi.dev {
				t.state = stateDevice
				return t
			}
		}
		if through {
			t.state = stateLinkDir
			return t
		}
	}
	i := strings.LastIndexByte(bare, '/') + 1
	t.dirArg, t.base = bare[:i], bare[i:]
	if t.err = p.openParent(&t); t.err != nil {
		t.state = stateFail
		return t
	}
	t.parent, t.pmnt = p.dir.real, p.dir.fi.mnt
	t.real = filepath.Join(t.parent, t.base)
	t.class, t.why = p.classify(&t)
	t.state = stateAct
	return t
}

// stays: rm cannot remove it, so that it does no harm to have rm say so. That is
// not said of what could not be looked at (EACCES, EIO), which rm might remove
// the next moment.
func (t *target) stays() bool {
	if t.state != stateErr {
		return false
	}
	switch t.err {
	case unix.ENOENT, unix.ENOTDIR, unix.EISDIR, unix.ENOTEMPTY, unix.ELOOP:
		return true
	}
	return false
}

func isEmptyTarget(dirfd int, arg string) bool { return isEmptyDir(dirfd, arg+"/.") }

// trimSlashes leaves one of several slashes at the end, as fts does; "//"
// stays.
func trimSlashes(s string) string {
	if len(s) > 2 && s[len(s)-1] == '/' {
		for len(s) > 1 && s[len(s)-2] == '/' {
			s = s[:len(s)-1]
		}
	}
	return s
}

func (p *putter) isRoot(fi finfo) bool {
	if p.rootInfo == nil {
		r, err := lstatAt(atFDCWD, "/")
		if err != nil {
			return false
		}
		p.rootInfo = &r
	}
	return fi.same(*p.rootInfo)
}

// openParent makes p.dir the directory of t. It is kept from operand to
// operand, until a directory was moved.
func (p *putter) openParent(t *target) error {
	arg := t.dirArg
	if arg == "" {
		arg = "."
	}
	if p.dir != nil && p.dir.arg == arg && !p.moved {
		return nil
	}
	fd, err := openDir(p.cwdfd, arg)
	if err != nil {
		return err
	}
	d := &openParent{arg: arg, fd: fd}
	if d.fi, err = statFd(fd); err == nil {
		way := arg
		if !filepath.IsAbs(way) {
			way = filepath.Join(p.e.dir(), arg)
		}
		d.real, err = realPath(fd, way)
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	p.setDir(d)
	return nil
}

func (p *putter) setDir(d *openParent) {
	if p.dir != nil {
		unix.Close(p.dir.fd)
	}
	p.dir = d
}
