package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/spool/mask"
)

// Limits of the journal.
const (
	maxCommand  = 2 << 10  // bytes of a command in the journal and in grants
	maxEntry    = 64 << 10 // bytes of a line; readers skip longer ones
	journalSize = 10 << 20
	journalKeep = 5 // rotated files beside the current one
)

// Kind is the kind of a journal entry.
type Kind string

// The kinds. An answer is flushed to disk before Append returns.
const (
	KindDecision Kind = "decision" // what was done with a command
	KindRequest  Kind = "request"  // a human is asked
	KindAnswer   Kind = "answer"   // a human answered
	KindTrash    Kind = "trash"    // something went to the trash or came back
	KindNote     Kind = "note"     // anything else worth keeping
)

// LateNote is the note of an answer that came after its request gave up.
const LateNote = "late answer, for the next try"

// Entry is one line of the journal. Append fills in V and, if they are empty,
// Time and PID; it masks secrets in Command, Reason and Notes and cuts Command
// to 2 KB.
type Entry struct {
	V       int       `json:"v"`
	Time    time.Time `json:"time"`
	Kind    Kind      `json:"kind"`
	ID      string    `json:"id,omitempty"`     // of the request
	Action  string    `json:"action,omitempty"` // allow, redirect, deny, asked-allow, asked-deny, timeout, nomonitor, fail-open, ...
	Rule    string    `json:"rule,omitempty"`
	Source  string    `json:"source,omitempty"` // where the rule comes from
	Command string    `json:"command,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Layer   string    `json:"layer,omitempty"`
	Context string    `json:"context,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Choice  Choice    `json:"choice,omitempty"`
	By      string    `json:"by,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Waited  float64   `json:"waited_s,omitempty"` // seconds
	Notes   []string  `json:"notes,omitempty"`
}

// Journal is the log of decisions: one JSON object per line, appended by many
// processes at once, rotated by size.
//
// Writers share a lock on the current file, rotation holds it alone, and after
// getting the lock both check that the file is still the current one. So no
// line is torn by a rotation or lands in a file that is about to be removed.
type Journal struct {
	path string
	uid  int
	size int64 // rotate at
	keep int
	wall func() time.Time

	patience   time.Duration // with a rotation that does not end
	newWatcher func() (*fsnotify.Watcher, error)
}

// OpenJournal returns the journal whose current file is path. Nothing is
// touched before the first Append.
func OpenJournal(path string) *Journal {
	return &Journal{
		path: filepath.Clean(path), uid: os.Geteuid(), size: journalSize, keep: journalKeep,
		wall: time.Now, patience: time.Second, newWatcher: fsnotify.NewWatcher,
	}
}

// Path is the current file.
func (j *Journal) Path() string { return j.path }

// Append writes e as one line. It never waits for more than about a second: a
// full disk, a foreign file or a stuck lock is an error, and what to do then is
// the caller's decision.
func (j *Journal) Append(e Entry) error {
	line, err := j.encode(e)
	if err != nil {
		return j.failed(err)
	}
	fd, size, err := j.open(unix.LOCK_SH, j.patience)
	if err != nil {
		return j.failed(err)
	}
	if torn(fd) {
		_ = unix.Close(fd)
		if fd, size, err = j.openQuiet(); err != nil {
			return j.failed(err)
		}
		if torn(fd) { // a fragment that a full disk left: our line gets its own
			line = append([]byte{'\n'}, line...)
		}
	}
	err = j.write(fd, line)
	if err == nil && e.Kind == KindAnswer {
		err = unix.Fsync(fd)
	}
	_ = unix.Close(fd) // and unlock: locks are not upgraded, that could lose them to another
	if err != nil {
		return j.failed(err)
	}
	if size+int64(len(line)) >= j.size {
		j.rotate()
	}
	return nil
}

// Check tells whether a line could be written now, without writing one.
func (j *Journal) Check() error {
	fd, _, err := j.open(unix.LOCK_SH, j.patience)
	if err == nil {
		_ = unix.Close(fd)
		err = room(filepath.Join(filepath.Dir(j.path), ".room-"+newID(j.wall())))
	}
	if err != nil {
		return j.failed(err)
	}
	return nil
}

func (j *Journal) failed(err error) error {
	fix := "run: safeshell doctor"
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		fix = config.MakeRoom(filepath.Dir(j.path))
	}
	return fmt.Errorf("the journal cannot be written: %w; %s", err, fix)
}

// encode makes the line, with everything in it of a bounded size.
func (j *Journal) encode(e Entry) ([]byte, error) {
	e.V = 1
	if e.Time.IsZero() {
		e.Time = j.wall()
	}
	e.Time = e.Time.UTC().Round(0) // a local time would read the zone files
	if e.PID == 0 {
		e.PID = os.Getpid()
	}
	// What is far too long is cut first, well outside of what is kept.
	e.Command, _ = cutMiddle(e.Command, 16*maxCommand)
	e.Command, _ = cutMiddle(escapeInvalid(mask.Text(e.Command)), maxCommand)
	e.Reason = escapeInvalid(mask.Text(e.Reason))
	for _, s := range []*string{&e.Rule, &e.Source, &e.Dir, &e.Layer, &e.Context, &e.Agent, &e.Session, &e.By, &e.Reason, &e.ID, &e.Action} {
		*s, _ = cutMiddle(escapeInvalid(*s), maxReason/2)
	}
	if len(e.Notes) > 16 {
		e.Notes = append(e.Notes[:16:16], fmt.Sprintf("%d notes left out", len(e.Notes)-16))
	}
	notes := make([]string, len(e.Notes))
	for i, n := range e.Notes {
		notes[i], _ = cutMiddle(escapeInvalid(mask.Text(n)), maxReason/8)
	}
	e.Notes = notes
	line, err := appendEntry(make([]byte, 0, 512), &e)
	if err == nil && len(line) > maxEntry {
		// Only control characters, six bytes each in JSON, grow so much.
		e.Notes, e.Reason = nil, Visible(e.Reason)
		e.Command, e.Dir = Visible(e.Command), Visible(e.Dir)
		line, err = appendEntry(line[:0], &e)
	}
	return line, err
}

// escapeInvalid writes bytes that are not UTF-8 as \xff: JSON would merge them.
func escapeInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// open returns the current file, locked, and its size. It is made when it is not
// there. These are bare system calls, as few as will do: each guarded command
// makes them, and an os.File makes more.
func (j *Journal) open(how int, patience time.Duration) (fd int, size int64, err error) {
	deadline := time.Now().Add(patience)
	pause := 50 * time.Microsecond
	for {
		fd, err := openPlain(j.path, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT)
		if errors.Is(err, fs.ErrNotExist) {
			if err = makeParents(filepath.Dir(j.path)); err == nil && time.Now().Before(deadline) {
				continue
			}
		}
		if err != nil {
			return -1, 0, err
		}
		st, err := checkNew(fd, j.path, j.uid)
		if err == nil {
			err = flockFd(fd, j.path, how|unix.LOCK_NB)
		}
		if err == nil && isNamed(&st, j.path) {
			return fd, st.Size, nil
		}
		_ = unix.Close(fd)
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return -1, 0, err
		}
		if time.Now().After(deadline) {
			return -1, 0, fmt.Errorf("%s is locked by another process; see: fuser %s", Visible(j.path), quote(j.path))
		}
		time.Sleep(pause)
		pause = min(pause*2, 5*time.Millisecond)
	}
}

// openPlain opens a file. Opening a FIFO for reading and writing does not wait
// for another end.
func openPlain(path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR:
			continue
		}
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}

// write appends line with one system call.
func (j *Journal) write(fd int, line []byte) error {
	for len(line) > 0 {
		n, err := unix.Write(fd, line)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return &fs.PathError{Op: "write", Path: j.path, Err: err}
		}
		line = line[n:]
	}
	return nil
}

// torn reports whether the file ends within a line: a fragment, or a line that
// another process is just writing, as a file grows page by page.
func torn(fd int) bool {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Size == 0 {
		return false
	}
	var last [1]byte
	n, err := unix.Pread(fd, last[:], st.Size-1)
	return err == nil && n == 1 && last[0] != '\n'
}

// openQuiet opens the journal while nobody else writes, so that a line that is
// not whole is known for a fragment. If that cannot be had soon (a writer was
// stopped) it is opened as always; at the worst an empty line is added.
func (j *Journal) openQuiet() (fd int, size int64, err error) {
	if fd, size, err = j.open(unix.LOCK_EX, j.patience/2); err == nil {
		return fd, size, nil
	}
	return j.open(unix.LOCK_SH, j.patience)
}

// rotate renames the current file to .1 and so on. It gives up when others are
// writing: the next of them tries again.
func (j *Journal) rotate() {
	fd, size, err := j.open(unix.LOCK_EX, 50*time.Millisecond)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if size < j.size {
		return
	}
	// Move up what lies below the first free number: there are fewer files
	// yet, or a rotation was killed half way. Without one the oldest goes.
	free := 1
	for free < j.keep && exists(j.rotated(free)) {
		free++
	}
	for i := free; i > 1; i-- {
		if os.Rename(j.rotated(i-1), j.rotated(i)) != nil {
			return
		}
	}
	_ = os.Rename(j.path, j.rotated(1)) // last: it lets writers make a new one
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (j *Journal) rotated(i int) string { return fmt.Sprintf("%s.%d", j.path, i) }

// decodeEntry reads one line. Fields of newer versions are ignored.
func decodeEntry(line []byte) (Entry, error) {
	var e Entry
	if len(line) > maxEntry {
		return e, fmt.Errorf("line of %d bytes", len(line))
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return Entry{}, err
	}
	if e.Time.IsZero() || e.Kind == "" {
		return Entry{}, errors.New("not a journal entry")
	}
	return e, nil
}
