package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// Spool is an open approval spool. It may be used by several goroutines.
type Spool struct {
	dir       string
	uid       int
	monitorID atomic.Pointer[string] // set by Watch, stands in decisions

	newer     atomic.Pointer[[]string]
	endedMu   sync.Mutex
	endedSeen map[string]*Pending // of the last look at done/; nil: without a decision

	// What tests replace.
	wall       func() time.Time
	boot       func() time.Duration
	bootID     func() string
	newWatcher func() (*fsnotify.Watcher, error)
	mkfifo     func(path string, mode uint32) error
	keep       time.Duration
	keepStaged time.Duration
}

// Open returns the spool in the absolute directory dir, making it (0700) when
// it is not there. Everything in it must be the caller's own, without access
// for others and no symbolic link; anything else is an error that says what to
// do and wraps ErrUnusable.
func Open(dir string) (*Spool, error) {
	s := &Spool{
		dir: filepath.Clean(dir), uid: os.Geteuid(),
		wall: time.Now, boot: bootNow, bootID: sync.OnceValue(bootID),
		newWatcher: fsnotify.NewWatcher,
		mkfifo:     unix.Mkfifo,
		keep:       Keep, keepStaged: keepStaged,
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%w: its path must be absolute: %q; check SAFESHELL_HOME and SAFESHELL_SPOOL", ErrUnusable, dir)
	}
	if err := s.layout(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return s, nil
}

// Dir is where the spool lives.
func (s *Spool) Dir() string { return s.dir }

func (s *Spool) path(elem ...string) string {
	return s.dir + "/" + strings.Join(elem, "/")
}

// dirs are the directories of a spool.
var dirs = []string{"tmp", "req", "done", "grant", "pass"}

// layout makes and checks S, its directories and VERSION.
func (s *Spool) layout() error {
	err := makeDir(s.dir, s.uid)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeParents(filepath.Dir(s.dir)); err != nil {
			return err
		}
		err = makeDir(s.dir, s.uid)
	}
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if err := makeDir(s.path(d), s.uid); err != nil {
			return err
		}
	}
	v, err := readStrict(s.path("VERSION"), s.uid, 2, 64)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.linkNew([]byte(Version+"\n"), s.path("VERSION")); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		v, err = readStrict(s.path("VERSION"), s.uid, 2, 64)
	}
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(v)); got != Version {
		return &UnsafeError{s.dir, fmt.Sprintf("has layout version %q, this safeshell knows %s", got, Version),
			"update safeshell, or close all monitors and run: mv " + quote(s.dir) + " " + quote(s.dir+".old")}
	}
	return nil
}

// stage writes data to a new file in tmp/ and returns its path. done removes
// that name again; until then the lock on it keeps gc away.
func (s *Spool) stage(data []byte) (path string, done func(), err error) {
	path = s.path("tmp", "d-"+newID(s.wall()))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return "", nil, err
	}
	done = func() {
		os.Remove(path)
		f.Close()
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err != nil {
		done()
		return "", nil, err
	}
	return path, done, nil
}

// Check tells whether a request could be written now.
func (s *Spool) Check() error {
	for _, d := range dirs {
		if err := unix.Access(s.path(d), unix.R_OK|unix.W_OK|unix.X_OK); err != nil {
			return fmt.Errorf("%w: %w", ErrUnusable, s.withHint(&fs.PathError{Op: "write in", Path: s.path(d), Err: err}))
		}
	}
	err := room(s.path("tmp", "d-"+newID(s.wall())))
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) { // whose name tells nobody anything
		err = &fs.PathError{Op: "write in", Path: s.path("tmp"), Err: pe.Err}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, s.withHint(err))
	}
	return nil
}

// room writes as much as a long record takes to a new file at path, which
// has no name any more while that is done. A full disk often has room for a file,
// and for some bytes in the last block of one.
func room(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	os.Remove(path)
	_, err = f.Write(make([]byte, 16<<10))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// linkNew makes the file target with data, complete or not at all. Only the
// first to do so succeeds; the others get fs.ErrExist.
func (s *Spool) linkNew(data []byte, target string) error {
	var err error
	for range publishTries { // a gc whose clock has just been set takes what is staged
		tmp, done, stageErr := s.stage(data)
		if stageErr != nil {
			return stageErr
		}
		err = os.Link(tmp, target)
		done()
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// idAlphabet is Crockford's base 32 in lower case: its order is that of time.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// newID returns 26 characters: milliseconds (48 bits) and 80 random bits.
func newID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	Random(b[6:])
	var out [26]byte
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	for i := 25; i >= 0; i-- {
		out[i] = idAlphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// ShortID is how many of an id's last characters, which are random, are shown to
// people: 30 bits.
const ShortID = 6

// ValidID reports whether id has the form of a request's id. Readers skip
// every other name.
func ValidID(id string) bool {
	if len(id) != 26 {
		return false
	}
	for i := 0; i < len(id); i++ {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// newNonce returns 128 random bits in hexadecimal.
func newNonce() string {
	var b [16]byte
	Random(b[:])
	return fmt.Sprintf("%x", b)
}
