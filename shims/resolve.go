package shims

import (
	"bytes"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// defaultPath is searched when PATH is not set, as execvp does.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// Variables that a shim leaves in the environment of the program it starts.
const (
	// execVar holds pid, name and directory of the last resolution, so that two
	// tools' shims that only skip their own directory do not call each other
	// for ever. It never changes what is judged.
	execVar = "SAFESHELL_EXEC"
	// depthVar counts how often a command has started itself through PATH by
	// forking: hash of name, arguments and directory, and the count.
	depthVar = "SAFESHELL_DEPTH"
	maxDepth = 10
)

// finder searches PATH for a real command, past every entry that is safeshell.
type finder struct {
	path string
	home string // to expand a literal ~ as bash does
	self []unix.Stat_t
}

func newFinder(getenv func(string) (string, bool)) finder {
	f := finder{path: defaultPath}
	if p, ok := getenv("PATH"); ok {
		f.path = p
	}
	f.home, _ = getenv("HOME")
	// /proc/self/exe is this file even after it was replaced on disk; the
	// path's file is what new links lead to then.
	paths := []string{selfExe}
	if exe, deleted := ownPath(); carrier != "" || deleted {
		paths = append(paths, exe)
	}
	for _, p := range paths {
		var st unix.Stat_t
		if unix.Stat(p, &st) == nil {
			f.self = append(f.self, st)
		}
	}
	return f
}

// BinaryVar names the binary to the program that is run from its memory.
const BinaryVar = "SAFESHELL_BINARY"

// carrier is the binary that carries this program; empty when it is run from
// its own file.
var carrier string

// SetCarrier says which binary carries this program, which was started from
// memory: links lead there, not to /proc/self/exe.
func SetCarrier(path string) { carrier = path }

// Carried reports whether this program was started so.
func Carried() bool { return carrier != "" }

const selfExe = "/proc/self/exe"

// ApartVar asks a program that is started with an entry of its own (linux/amd64)
// for a user namespace and a mount namespace of its own.
const ApartVar = "SAFESHELL_APART"

// Executable returns safeshell's own absolute path, "" when not known.
func Executable() string {
	p, _ := ownPath()
	return p
}

// own is what ownPath has found.
var own struct {
	once    sync.Once
	path    string
	deleted bool
}

// ownPath returns safeshell's own path, and whether another file or none is
// there by now.
func ownPath() (path string, deleted bool) {
	if carrier != "" {
		return carrier, false
	}
	own.once.Do(func() {
		buf := make([]byte, unix.PathMax)
		if n, err := unix.Readlink(selfExe, buf); err == nil {
			own.path, own.deleted = strings.CutSuffix(string(buf[:n]), " (deleted)")
		} else {
			own.path, _ = os.Executable()
			if real, err := filepath.EvalSymlinks(own.path); err == nil {
				own.path = real // elsewhere a shim is told its own path
			}
		}
	})
	return own.path, own.deleted
}

// find returns the first real command called name in PATH and the PATH entry
// that holds it. With after not empty it starts behind that entry, if it is in
// PATH and something is found there.
func (f finder) find(name, after string) (exe, entry string) {
	if after != "" {
		if i, ok := f.indexOf(after); ok {
			if exe, entry = f.scan(name, i+1); exe != "" {
				return exe, entry
			}
		}
	}
	return f.scan(name, 0)
}

func (f finder) indexOf(entry string) (int, bool) {
	for i, e := range filepath.SplitList(f.path) {
		if e == entry || (e == "" && entry == ".") {
			return i, true
		}
	}
	return 0, false
}

func (f finder) scan(name string, from int) (exe, entry string) {
	rest, i := f.path, 0
	for {
		e, more, last := strings.Cut(rest, ":")
		if i >= from {
			if p := f.candidate(e, name); p != "" {
				if e == "" {
					e = "."
				}
				return p, e
			}
		}
		if !last {
			return "", ""
		}
		rest = more
		i++
	}
}

// candidate returns the path of name in the PATH entry e if it can be executed
// and is not safeshell.
func (f finder) candidate(e, name string) string {
	switch {
	case e == "":
		e = "."
	case e == "~":
		e = f.home
	case strings.HasPrefix(e, "~/"):
		e = f.home + e[1:]
	}
	p := e + "/" + name
	var st unix.Stat_t
	if unix.Stat(p, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || f.isSelf(p, &st) {
		return ""
	}
	if unix.Faccessat(unix.AT_FDCWD, p, unix.X_OK, unix.AT_EACCESS) != nil {
		return ""
	}
	return p
}

// isSelf reports whether the file is this program: the same file, or a copy.
func (f finder) isSelf(p string, st *unix.Stat_t) bool {
	for _, s := range f.self {
		if s.Dev == st.Dev && s.Ino == st.Ino {
			return true
		}
		if s.Size == st.Size && SameContent(p, selfExe) {
			return true
		}
	}
	return false
}

// SameContent reports whether two files hold the same bytes.
func SameContent(a, b string) bool {
	fa, err := os.Open(a)
	if err != nil {
		return false
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false
	}
	defer fb.Close()
	ba, bb := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		na, ea := io.ReadFull(fa, ba)
		nb, eb := io.ReadFull(fb, bb)
		if na != nb || !bytes.Equal(ba[:na], bb[:nb]) {
			return false
		}
		if ea != nil || eb != nil {
			return ea == eb
		}
	}
}

// lastEntry returns the PATH entry that this very process (same pid, so one
// chain of execs) has already used for name; "" when there is none.
func lastEntry(v, name string, pid int) string {
	p, rest, ok := strings.Cut(v, ":")
	if !ok || p != strconv.Itoa(pid) {
		return ""
	}
	n, dir, ok := strings.Cut(rest, ":")
	if !ok || n != name {
		return ""
	}
	return dir
}

// nextDepth returns the new value of depthVar for running argv in dir, and how
// often the same command has started itself already.
func nextDepth(v string, argv []string, dir string) (string, int) {
	h := fnv.New64a()
	for _, a := range argv {
		io.WriteString(h, a)
		h.Write([]byte{0})
	}
	io.WriteString(h, dir)
	sum := strconv.FormatUint(h.Sum64(), 36)
	n := 0
	if s, c, ok := strings.Cut(v, ":"); ok && s == sum {
		n, _ = strconv.Atoi(c)
	}
	return sum + ":" + strconv.Itoa(n+1), n
}

// setenv returns environ with name set to value; the other entries keep their
// order and their bytes.
func setenv(environ []string, name, value string) []string {
	kv := name + "=" + value
	for i, e := range environ {
		if strings.HasPrefix(e, name+"=") {
			out := append([]string{}, environ...)
			out[i] = kv
			return out
		}
	}
	return append(environ[:len(environ):len(environ)], kv)
}
