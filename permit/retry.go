package permit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
)

// Limits of the retry store.
const (
	RetryTTL   = 5 * time.Minute // a retry id lives so long, by the clock since boot
	MaxRetries = 100             // the oldest goes
	maxRetry   = 32 << 20        // bytes of one stored retry
	usedTTL    = 30 * time.Minute
)

// Kind says what a retry would run.
type Kind string

// The kinds.
const (
	CheckOnly Kind = "check"      // nothing: the commands are permitted, no more
	Shell     Kind = "shell"      // a shell script
	Module    Kind = "typescript" // a TypeScript module
)

// Retry is what was stopped, kept exactly, so that it can go on after a human's
// answer. All texts may hold any bytes.
type Retry struct {
	ID       string
	Kind     Kind
	Commands []string      // all that was declared
	Script   []byte        // the text that was checked
	File     string        // where it came from; empty: from no file
	Args     []string      // the script's arguments
	Dir      string        // working directory
	Environ  []string      // whole
	Limit    time.Duration // time limit of the script; 0: none
	Session  string
	Agent    string
	Context  string // ai, human
	Created  time.Time
}

// Errors of Take and Peek (errors.Is). None of them runs anything.
var (
	ErrNoRetry = errors.New("no such retry id")
	ErrExpired = errors.New("the retry id has expired")
	ErrUsed    = errors.New("the retry id was used already")
	ErrDenied  = errors.New("the user denied this")
)

// RetryState is what becomes of a taken retry.
type RetryState string

// The states.
const (
	waiting  RetryState = "waiting"
	UsedUp   RetryState = "used"
	UserDeny RetryState = "denied"
)

// record is a retry on disk. []byte is base64 in JSON, so any bytes survive.
type record struct {
	V        int        `json:"v"`
	ID       string     `json:"id"`
	State    RetryState `json:"state"`
	Stamp    stamp      `json:"stamp"`
	Created  time.Time  `json:"created"` // display; order
	Kind     Kind       `json:"kind,omitempty"`
	Commands [][]byte   `json:"commands,omitempty"`
	Script   []byte     `json:"script,omitempty"`
	File     []byte     `json:"file,omitempty"`
	Args     [][]byte   `json:"args,omitempty"`
	Dir      []byte     `json:"dir,omitempty"`
	Environ  [][]byte   `json:"environ,omitempty"`
	LimitNS  int64      `json:"limit_ns,omitempty"`
	Session  []byte     `json:"session,omitempty"`
	Agent    []byte     `json:"agent,omitempty"`
	Context  string     `json:"context,omitempty"`
	End      bool       `json:"end"`
}

// Retries is the store of one user, a file (0600) each. Every change is made
// under one lock, so that of two processes at one moment exactly one takes a
// retry.
type Retries struct {
	dir   string
	clock clock
	wall  func() time.Time
}

// OpenRetries returns the store. Nothing is made before the first Put.
func OpenRetries(p config.Paths) *Retries {
	return &Retries{dir: filepath.Join(p.Home, "retries"), clock: systemClock(), wall: time.Now}
}

func (s *Retries) path(id string) string { return filepath.Join(s.dir, id+".json") }

// validID accepts rt1, rt2, ... and nothing that could be a path.
func validID(id string) bool {
	n, ok := strings.CutPrefix(id, "rt")
	if !ok || n == "" || n[0] == '0' || len(n) > 15 {
		return false
	}
	for _, c := range n {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Put stores what was stopped and returns its id: rt1, rt2, ..., never one that
// was given before.
func (s *Retries) Put(r Retry) (id string, err error) {
	if err := makePrivateDir(s.dir); err != nil {
		return "", err
	}
	unlock, err := lockFile(filepath.Join(s.dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	n := s.sweep(MaxRetries - 1)
	if last, err := readPrivate(filepath.Join(s.dir, "last"), 64); err == nil {
		if l, err := strconv.ParseInt(strings.TrimSpace(string(last)), 10, 64); err == nil && l > n && l < 1e14 {
			n = l
		}
	}
	n++
	id = "rt" + strconv.FormatInt(n, 10)
	rec := record{
		V: storeVersion, ID: id, State: waiting, Stamp: s.clock.now(), Created: s.wall().UTC().Round(0), Kind: r.Kind,
		Commands: toBytes(r.Commands), Script: r.Script, File: []byte(r.File), Args: toBytes(r.Args), Dir: []byte(r.Dir),
		Environ: toBytes(r.Environ), LimitNS: int64(r.Limit), Session: []byte(r.Session), Agent: []byte(r.Agent), Context: r.Context, End: true,
	}
	if rec.Stamp.BootID == "" {
		return "", errors.New("this system names no boot, so a retry could outlive it; permit the commands with: safeshell permit allow")
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return "", err
	}
	if len(data) > maxRetry {
		return "", fmt.Errorf("script and environment have more than %d bytes; permit the commands with: safeshell permit allow", maxRetry)
	}
	// The number first: an id is never given twice, even if this is interrupted.
	if err := config.Replace(filepath.Join(s.dir, "last"), []byte(strconv.FormatInt(n, 10)+"\n"), true); err != nil {
		return "", err
	}
	return id, config.Replace(s.path(id), data, true)
}

// sweep removes what has expired and the oldest beyond keep, and returns the
// highest number that is there.
func (s *Retries) sweep(keep int) (highest int64) {
	entries, _ := os.ReadDir(s.dir)
	type item struct {
		path string
		n    int64
	}
	var live []item
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if strings.HasPrefix(e.Name(), ".new-") {
			os.Remove(path) // of a killed process: the lock is ours
			continue
		}
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !validID(id) {
			continue
		}
		n, _ := strconv.ParseInt(id[2:], 10, 64)
		highest = max(highest, n)
		rec, err := s.head(id)
		switch {
		case errors.Is(err, errNewer):
			// Not ours to judge.
		case err != nil:
			if fi, serr := e.Info(); serr == nil && s.wall().Sub(fi.ModTime()).Abs() > usedTTL {
				os.Remove(path)
			}
		case rec.State != waiting:
			if !s.clock.fresh(rec.Stamp, int64(usedTTL)) {
				os.Remove(path)
			}
		case !s.clock.fresh(rec.Stamp, int64(RetryTTL)):
			os.Remove(path)
		default:
			live = append(live, item{path, n})
		}
	}
	slices.SortFunc(live, func(a, b item) int { return cmp.Compare(a.n, b.n) })
	for i := 0; i < len(live)-keep; i++ {
		os.Remove(live[i].path)
	}
	return highest
}

var errNewer = errors.New("it was written by a newer safeshell")

func (s *Retries) read(id string) (record, error) {
	data, err := readPrivate(s.path(id), maxRetry)
	if err != nil {
		return record{}, err
	}
	rec, err := decodeRetry(data)
	if err == nil && rec.ID != id {
		err = errors.New("it is another retry's")
	}
	return rec, err
}

// head is read without the script and what follows, which may be megabytes: for how
// long a retry is kept, its first fields say.
func (s *Retries) head(id string) (record, error) {
	f, err := os.OpenFile(s.path(id), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return record{}, err
	}
	defer f.Close()
	buf := make([]byte, 4096)
	if n, _ := io.ReadFull(f, buf); n < len(buf) {
		return s.read(id)
	}
	var r record
	if fields, _, ok := bytes.Cut(buf, []byte(`,"created":`)); ok && json.Unmarshal(append(fields, '}'), &r) == nil && r.V == storeVersion && r.ID == id {
		return r, nil
	}
	return s.read(id)
}

func decodeRetry(data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("it is damaged (%w)", err)
	}
	switch {
	case r.V > storeVersion:
		return record{}, errNewer
	case r.V != storeVersion || !r.End || !validID(r.ID):
		return record{}, errors.New("it is cut off")
	case r.State != waiting && r.State != UsedUp && r.State != UserDeny:
		return record{}, fmt.Errorf("its state is %q", r.State)
	case r.State == waiting && r.Kind != CheckOnly && r.Kind != Shell && r.Kind != Module:
		return record{}, fmt.Errorf("its kind is %q", r.Kind)
	case r.LimitNS < 0:
		return record{}, errors.New("its time limit is negative")
	}
	return r, nil
}

// Peek returns a retry without using it up, to show what a choice would be
// about.
func (s *Retries) Peek(id string) (Retry, error) {
	rec, err := s.look(id)
	if err != nil {
		return Retry{}, err
	}
	return rec.retry(), nil
}

// Take uses the retry up: exactly one caller gets it. state says what became of
// it, so that a second try is told.
func (s *Retries) Take(id string, state RetryState) (Retry, error) {
	if !validID(id) {
		return Retry{}, s.unknown(id)
	}
	if _, err := os.Lstat(s.path(id)); err != nil {
		return Retry{}, s.unknown(id)
	}
	unlock, err := lockFile(filepath.Join(s.dir, "lock"))
	if err != nil {
		return Retry{}, err
	}
	defer unlock()
	rec, err := s.look(id)
	if err != nil {
		return Retry{}, err
	}
	mark, err := json.Marshal(record{V: storeVersion, ID: id, State: state, Stamp: rec.Stamp, Created: rec.Created, End: true})
	if err != nil {
		return Retry{}, err
	}
	// Nothing may run that is not marked as used.
	if err := config.Replace(s.path(id), mark, true); err != nil {
		return Retry{}, fmt.Errorf("%s cannot be used up, so nothing runs: %w", id, err)
	}
	return rec.retry(), nil
}

func (s *Retries) look(id string) (record, error) {
	if !validID(id) {
		return record{}, s.unknown(id)
	}
	rec, err := s.read(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return record{}, s.unknown(id)
	case err != nil:
		return record{}, fmt.Errorf("%s cannot be used, so nothing runs: %s: %w; run the script again", id, Show(s.path(id)), err)
	case rec.State == UserDeny:
		return record{}, fmt.Errorf("%w: %s stays refused and nothing runs; ask the user what to do instead", ErrDenied, id)
	case rec.State == UsedUp:
		return record{}, fmt.Errorf("%w: %s works once, so nothing runs; run the script again for a new one", ErrUsed, id)
	case !s.clock.fresh(rec.Stamp, int64(RetryTTL)):
		return record{}, fmt.Errorf("%w: %s lived %d minutes, so nothing runs; run the script again for a new one", ErrExpired, id, int(RetryTTL.Minutes()))
	}
	return rec, nil
}

func (s *Retries) unknown(id string) error {
	return fmt.Errorf("%w: %s is unknown or has expired, so nothing runs; run the script again for a new one", ErrNoRetry, Show(id))
}

func (r record) retry() Retry {
	return Retry{
		ID: r.ID, Kind: r.Kind, Commands: toStrings(r.Commands), Script: r.Script, File: string(r.File), Args: toStrings(r.Args),
		Dir: string(r.Dir), Environ: toStrings(r.Environ), Limit: time.Duration(r.LimitNS), Session: string(r.Session),
		Agent: string(r.Agent), Context: r.Context, Created: r.Created,
	}
}

func toBytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
