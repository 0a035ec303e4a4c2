// Package trash is a FreeDesktop.org trash (specification 1.0) with a front
// that takes rm's command line and answers as GNU rm does.
//
// What the package guarantees:
//
//   - Nothing in a trash is ever overwritten, and no file is unlinked by Put
//     except what rm itself is asked to unlink (scratch files, see class.go)
//     and the source of a copy that was verified byte by byte.
//   - Each item is described by its .trashinfo alone; there is no database
//     beside it. What this package adds stands in X-SafeShell-* keys, which
//     other programs ignore.
//   - Interrupted at any point, a Put leaves the file where it was or in the
//     trash with its description.
//   - Nothing outside is read but what Env shows.
package trash

import (
	"io"
	"os"
	"strings"
	"time"
)

// Env is everything that comes from outside.
type Env struct {
	Getenv  func(string) string // nil: an empty environment
	Environ []string            // environment of a real rm that Put starts; nil: the process's own
	Dir     string              // working directory, absolute; "": the process's own
	Stdin   io.Reader           // answers to prompts; nil: end of file
	Stdout  io.Writer           // nil: discarded
	Stderr  io.Writer           // nil: discarded

	StdinTTY bool             // stdin is a terminal: rm asks about write-protected files
	Now      func() time.Time // nil: time.Now
	UID      int              // effective user id

	Home          string // the user's home directory; "": not known
	SafeshellHome string // safeshell's own directory, which Put refuses to remove
	Session       string // recorded with each item
	// Begin is called before the first thing is moved or removed; nil: nothing is.
	Begin func()

	// Only is the one trash directory that is listed, restored from, purged and
	// swept; "": all of the user's.
	Only      string
	MountInfo string          // default /proc/self/mountinfo
	Ancestors func() []string // names of the ancestor processes, nearest first; nil: from /proc
}

// Config is what the user can set. The zero value means the defaults.
type Config struct {
	KeepDays int   // days that an item is kept; 0: 30
	MaxBytes int64 // most that may lie in the trash; 0: the smaller of 10 GiB and a tenth of the filesystem
}

const (
	defaultKeepDays = 30
	defaultMaxBytes = 10 << 30
	// minAge protects young items from eviction, and is how long regenerable
	// ones (class 2) are kept.
	minAge = 24 * time.Hour
	// staleInfo is the age at which an information file without data can no
	// longer belong to a put that is under way.
	staleInfo = time.Hour
)

func (e Env) getenv(k string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(k)
}

// isSet reports whether a variable is set, even to nothing, as far as that
// can be seen.
func (e Env) isSet(k string) bool {
	for _, kv := range e.Environ {
		if strings.HasPrefix(kv, k+"=") {
			return true
		}
	}
	return e.getenv(k) != ""
}

func (e Env) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

func (e Env) stdout() io.Writer {
	if e.Stdout == nil {
		return io.Discard
	}
	return e.Stdout
}

func (e Env) stderr() io.Writer {
	if e.Stderr == nil {
		return io.Discard
	}
	return e.Stderr
}

func (e Env) mountInfo() string {
	if e.MountInfo == "" {
		return procMounts
	}
	return e.MountInfo
}

// dir is the working directory as an absolute path, "" if it has none.
func (e Env) dir() string {
	if e.Dir != "" {
		return e.Dir
	}
	d, err := os.Getwd()
	if err != nil {
		return ""
	}
	return d
}

// testOnlyStep, when set, is called with the name of each step of a put or a
// restore; an error it returns is taken for that of the step.
var testOnlyStep func(step string) error

func step(name string) error {
	if testOnlyStep == nil {
		return nil
	}
	return testOnlyStep(name)
}
