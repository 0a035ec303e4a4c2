package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"safeshell/spool"
)

// journalWatch keeps every file that ever was the journal open, so that what
// rotation drops at last can still be counted.
type journalWatch struct {
	path string
	mu   sync.Mutex
	seen map[uint64]*os.File // by inode; open, so that the number is not used again
	stop context.CancelFunc
	done chan struct{}
}

func watchJournal(ctx context.Context, path string) *journalWatch {
	ctx, stop := context.WithCancel(ctx)
	w := &journalWatch{path: path, seen: map[uint64]*os.File{}, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			w.look()
			pause(ctx, 20*time.Millisecond)
		}
		w.look()
	}()
	return w
}

func (w *journalWatch) look() {
	names, _ := filepath.Glob(w.path + "*")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range names {
		fi, err := os.Stat(n)
		if err != nil {
			continue
		}
		ino := fi.Sys().(*syscall.Stat_t).Ino
		if w.seen[ino] != nil {
			continue
		}
		f, err := os.Open(n)
		if err != nil {
			continue
		}
		if fi, err = f.Stat(); err != nil || w.seen[fi.Sys().(*syscall.Stat_t).Ino] != nil {
			f.Close()
			continue
		}
		w.seen[fi.Sys().(*syscall.Stat_t).Ino] = f
	}
}

// entries ends the watch and calls each for every line of every file, in no
// order; a line that is none is a violation. It returns the number of files.
func (w *journalWatch) entries(r *run, each func(spool.Entry)) (files int, err error) {
	w.stop()
	<-w.done
	for _, f := range w.seen {
		data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
		if err != nil {
			return 0, err
		}
		f.Close()
		if len(data) > 0 && data[len(data)-1] != '\n' {
			r.violate("the journal's last line is torn: %.80q", data[max(0, len(data)-80):])
		}
		for line := range bytes.Lines(data) {
			var e spool.Entry
			if err := json.Unmarshal(line, &e); err != nil || e.Kind == "" {
				r.violate("torn journal line: %.120q", line)
				continue
			}
			each(e)
		}
	}
	return len(w.seen), nil
}
