package mcp

import (
	"encoding/base64"
	"strings"
	"sync"
	"unicode/utf8"
)

// keepOutput is how many bytes of each stream of a run are kept: the last ones.
const keepOutput = 1 << 20

// output keeps the end of a stream, whose bytes are numbered from 0. It is safe
// for one writer and many readers.
type output struct {
	mu     sync.Mutex
	buf    []byte
	start  int64 // number of buf's first byte
	closed bool
}

// Write never fails and never blocks.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	if len(p) > keepOutput {
		o.start += int64(len(o.buf)) + int64(len(p)-keepOutput)
		o.buf = o.buf[:0]
		p = p[len(p)-keepOutput:]
	}
	o.buf = append(o.buf, p...)
	// Cut at twice the size, so that each byte is moved at most once.
	if len(o.buf) > 2*keepOutput {
		cut := len(o.buf) - keepOutput
		o.start += int64(cut)
		o.buf = append(o.buf[:0], o.buf[cut:]...)
	}
	return n, nil
}

// close says that nothing more comes.
func (o *output) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
}

// total is the number of bytes that came.
func (o *output) total() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.start + int64(len(o.buf))
}

// piece is a part of a stream as a tool shows it.
type piece struct {
	Text string // what is not UTF-8 stands as U+FFFD
	// Base64 has the exact bytes when they are not all UTF-8.
	Base64 string
	// Lost are the bytes in front of the text that were asked for but are not
	// kept any more.
	Lost int64
	// Next is the number of the first byte behind the text.
	Next int64
}

// from returns what came from byte number at on, at most limit bytes. A
// character that has not come whole is left for the next call, unless the
// stream has ended.
func (o *output) from(at int64, limit int) piece {
	o.mu.Lock()
	defer o.mu.Unlock()
	endAt := o.start + int64(len(o.buf))
	first := max(o.start, endAt-keepOutput)
	p := piece{Next: min(max(at, 0), endAt)}
	if p.Next < first {
		p.Lost = first - p.Next
		p.Next = first
	}
	b := o.buf[p.Next-o.start:]
	whole := o.closed
	if len(b) > limit {
		b, whole = b[:limit], false
	}
	if !whole {
		b = b[:len(b)-cutRune(b)]
	}
	p.Next += int64(len(b))
	p.Text, p.Base64 = showBytes(b)
	return p
}

// showBytes returns b as text, and in base64 if the text is not exact.
func showBytes(b []byte) (text, exact string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), base64.StdEncoding.EncodeToString(b)
}

// cutRune returns how many bytes at the end of b are the beginning of a
// character that is not there whole.
func cutRune(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
