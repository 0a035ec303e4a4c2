package spool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// followPoll is how often Follow looks when file events tell nothing.
const followPoll = time.Second

// ReadOptions choose entries of the journal.
type ReadOptions struct {
	Since time.Time // not older than this
	Limit int       // the last so many; 0: all
	// Keep, if not nil, tells which entries are wanted.
	Keep func(*Entry) bool
	// Skipped, if not nil, counts the lines that could not be read: torn by a
	// crash or a full disk, or no entries at all. Lines that are appended
	// later, during Tail, are not counted.
	Skipped *int
}

// Read returns entries of the current and the rotated files, oldest first. No
// journal yet is no error.
func (j *Journal) Read(o ReadOptions) ([]Entry, error) {
	files, err := j.snapshot()
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	var out []Entry // newest first
	for _, f := range files {
		if o.Limit > 0 && len(out) >= o.Limit {
			break
		}
		data, err := io.ReadAll(f)
		if err != nil {
			return nil, err
		}
		out = lastEntries(out, data, o)
	}
	for i, k := 0, len(out)-1; i < k; i, k = i+1, k-1 {
		out[i], out[k] = out[k], out[i]
	}
	return out, nil
}

// lastEntries appends the entries of data from its end.
func lastEntries(out []Entry, data []byte, o ReadOptions) []Entry {
	for len(data) > 0 && (o.Limit <= 0 || len(out) < o.Limit) {
		data = bytes.TrimRight(data, "\n")
		i := bytes.LastIndexByte(data, '\n') + 1
		line := data[i:]
		data = data[:i]
		if len(line) == 0 {
			continue
		}
		e, err := decodeEntry(line)
		if err != nil {
			if o.Skipped != nil {
				*o.Skipped++
			}
			continue
		}
		if !o.Since.IsZero() && e.Time.Before(o.Since) {
			continue // clocks jump: older lines may still follow newer ones
		}
		if o.Keep != nil && !o.Keep(&e) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// snapshot opens the current file and the rotated ones, newest first, at one
// moment between rotations.
func (j *Journal) snapshot() ([]*os.File, error) {
	var files []*os.File
	deadline := time.Now().Add(time.Second)
	for {
		f, err := os.OpenFile(j.path, readOnly, 0)
		if errors.Is(err, fs.ErrNotExist) {
			break // rotated and not written since, or no journal
		}
		if err != nil {
			return nil, err
		}
		if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
			f.Close()
			return nil, &UnsafeError{j.path, "is not a regular file", "move it away: mv " + quote(j.path) + " " + quote(j.path+".old")}
		}
		locked := flock(f, unix.LOCK_SH|unix.LOCK_NB) == nil
		if locked && sameFile(f, j.path) || time.Now().After(deadline) {
			defer func() { _ = flock(f, unix.LOCK_UN) }() // reading itself holds up nobody
			files = append(files, f)
			break
		}
		f.Close()
		time.Sleep(time.Millisecond)
	}
	for i := 1; i <= j.keep; i++ {
		f, err := os.OpenFile(j.rotated(i), readOnly, 0)
		if err != nil {
			continue // a rotation was killed half way, or there are not so many
		}
		if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() || known(files, fi) {
			f.Close()
			continue
		}
		files = append(files, f)
	}
	return files, nil
}

func known(files []*os.File, fi os.FileInfo) bool {
	for _, f := range files {
		if other, err := f.Stat(); err == nil && os.SameFile(fi, other) {
			return true
		}
	}
	return false
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// Follow returns the entries that are appended from now on, across rotations,
// until ctx ends; then the channel is closed.
func (j *Journal) Follow(ctx context.Context) <-chan Entry {
	return j.follow(ctx, ReadOptions{}, false)
}

// Tail is Read and Follow without a gap between them: first what Read(o)
// returns, then what is appended.
func (j *Journal) Tail(ctx context.Context, o ReadOptions) <-chan Entry {
	return j.follow(ctx, o, true)
}

func (j *Journal) follow(ctx context.Context, o ReadOptions, history bool) <-chan Entry {
	out := make(chan Entry)
	t := &tail{j: j, o: o, out: out}
	t.watch()
	files, _ := j.snapshot() // an unreadable journal has no entries yet
	first := t.start(files, history)
	go func() {
		defer close(out)
		defer t.close()
		for _, e := range first {
			if !t.send(ctx, e) {
				return
			}
		}
		t.run(ctx)
	}()
	return out
}

// tail follows one file to its end, and then the files that came after it.
type tail struct {
	j    *Journal
	o    ReadOptions
	out  chan<- Entry
	f    *os.File // nil: no file yet
	part []byte   // of a line that is not complete yet

	events *eventSource
}

func (t *tail) watch() {
	if t.events = newEventSource(t.j.newWatcher); t.events == nil {
		return
	}
	if t.events.w.Add(filepath.Dir(t.j.path)) != nil { // not there yet
		t.events.close()
		t.events = nil
	}
}

func (t *tail) close() {
	t.events.close()
	if t.f != nil {
		t.f.Close()
	}
}

// start reads the history and leaves the newest file open at its end.
func (t *tail) start(files []*os.File, history bool) []Entry {
	var out []Entry
	for i, f := range files {
		if i > 0 && !history {
			f.Close()
			continue
		}
		data, err := io.ReadAll(f)
		if i > 0 {
			f.Close()
		} else {
			t.f = f
			if end := bytes.LastIndexByte(data, '\n') + 1; err == nil {
				t.part = bytes.Clone(data[end:])
				data = data[:end]
			}
		}
		if history {
			out = lastEntries(out, data, t.o)
		}
	}
	for i, k := 0, len(out)-1; i < k; i, k = i+1, k-1 {
		out[i], out[k] = out[k], out[i]
	}
	return out
}

func (t *tail) run(ctx context.Context) {
	tick := time.NewTicker(followPoll)
	defer tick.Stop()
	for t.catchUp(ctx) {
		events, errs := t.events.channels()
		ok := true
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if t.events == nil {
				t.watch()
			}
		case _, ok = <-events:
		case _, ok = <-errs:
		}
		if !ok {
			t.events.close()
			t.events = nil
		}
	}
}

// catchUp delivers all that is there now; false when ctx has ended.
func (t *tail) catchUp(ctx context.Context) bool {
	for {
		if !t.drain(ctx) {
			return false
		}
		if t.f != nil && sameFile(t.f, t.j.path) {
			return true
		}
		// Rotated, or the first file: go on with the one that came next.
		files, err := t.j.snapshot()
		if err != nil || len(files) == 0 {
			return true
		}
		next := t.after(files)
		for i, f := range files {
			if i != next {
				f.Close()
			}
		}
		if next < 0 {
			return true
		}
		// Nobody writes to a file once it has its rotated name, so this is all.
		if !t.drain(ctx) {
			files[next].Close()
			return false
		}
		if t.f != nil {
			t.f.Close()
		}
		t.f, t.part = files[next], nil
	}
}

// after returns the index of the file that follows ours; files are newest
// first. If ours is gone, the oldest follows.
func (t *tail) after(files []*os.File) int {
	if t.f == nil {
		return len(files) - 1
	}
	fi, err := t.f.Stat()
	if err != nil {
		return len(files) - 1
	}
	for i, f := range files {
		if other, err := f.Stat(); err == nil && os.SameFile(fi, other) {
			return i - 1 // -1: still the newest
		}
	}
	return len(files) - 1
}

// drain delivers the complete lines up to the end of the file.
func (t *tail) drain(ctx context.Context) bool {
	if t.f == nil {
		return true
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := t.f.Read(buf)
		data := append(t.part, buf[:n]...)
		t.part = nil
		for {
			i := bytes.IndexByte(data, '\n')
			if i < 0 {
				break
			}
			if e, err := decodeEntry(data[:i]); err == nil && (t.o.Keep == nil || t.o.Keep(&e)) {
				if !t.send(ctx, e) {
					return false
				}
			}
			data = data[i+1:]
		}
		if len(data) <= maxEntry {
			t.part = bytes.Clone(data)
		}
		if n == 0 || err != nil {
			return true
		}
	}
}

func (t *tail) send(ctx context.Context, e Entry) bool {
	select {
	case t.out <- e:
		return true
	case <-ctx.Done():
		return false
	}
}
