package monitor

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// debugFirst and debugMost bound what is read of the debug log at first and at
// once, in bytes.
const (
	debugFirst = 16 << 10
	debugMost  = 256 << 10
)

// debugTail reads what is added to the debug log, which is there at log_level
// debug alone.
type debugTail struct {
	path string
	at   int64 // read so far
	last os.FileInfo
}

// read returns the lines that are new, as notes.
func (t *debugTail) read() (out []Record) {
	f, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	switch {
	case t.last == nil:
		t.at = max(fi.Size()-debugFirst, 0)
	case !os.SameFile(t.last, fi) || fi.Size() < t.at: // full, and begun anew
		t.at = 0
	}
	first := t.last == nil && t.at > 0
	t.last = fi
	data := make([]byte, min(fi.Size()-t.at, debugMost))
	n, err := f.ReadAt(data, t.at)
	if err != nil && err != io.EOF {
		return nil
	}
	data = data[:bytes.LastIndexByte(data[:n], '\n')+1]
	t.at += int64(len(data))
	for line := range strings.Lines(string(data)) {
		if first { // it begins within a line
			first = false
			continue
		}
		at, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		when, err := time.Parse(time.RFC3339, at)
		level, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
		if err == nil && ok {
			out = append(out, Record{At: when, Note: text, Level: level})
		}
	}
	return out
}
