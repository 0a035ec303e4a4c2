package initscript

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// flags are what Undo must know and the file itself no longer shows. They are
// kept in the block, so that they cannot be lost apart from it.
type flags struct {
	newline bool // the text before the block had no final newline
	created bool // the file was made for the block
	dirs    int  // and so many directories above it
}

// lines are the flags as lines of the block.
func (f flags) lines() string {
	var s string
	if f.created {
		s = fmt.Sprintf("%s remove the file when it is empty, and %d empty directories\n", undoMark, f.dirs)
	}
	if f.newline {
		s += undoMark + " remove the newline in front, too\n"
	}
	return s
}

// read adds what such a line says.
func (f *flags) read(line string) {
	line = strings.TrimPrefix(line, undoMark)
	f.newline = f.newline || strings.Contains(line, "newline")
	if !strings.Contains(line, "the file") {
		return
	}
	f.created = true
	for _, w := range strings.Fields(line) {
		if n, err := strconv.Atoi(w); err == nil && n > 0 && n < 10 {
			f.dirs = n
		}
	}
}

// found is a block in a text.
type found struct {
	start, end int // offsets; end is after the newline of the last line
	line       int // of the first line, from 1
	flags      flags
	crlf       bool // its lines end in CR LF
}

// blocks finds the marked blocks of a text. The error says which marker has no
// counterpart; nothing may be changed then.
func blocks(text []byte) ([]found, error) {
	var out []found
	var open *found
	offset, n := 0, 0
	for line := range bytes.Lines(text) {
		n++
		end := offset + len(line)
		switch mark := strings.TrimRight(string(line), " \t\r\n"); {
		case mark == beginMark:
			if open != nil {
				return nil, fmt.Errorf("line %d: the block that begins here has no %q before line %d", open.line, endMark, n)
			}
			open = &found{start: offset, line: n, crlf: bytes.HasSuffix(line, []byte("\r\n"))}
		case mark == endMark:
			if open == nil {
				return nil, fmt.Errorf("line %d: %q without a %q above it", n, endMark, beginMark)
			}
			open.end = end
			out = append(out, *open)
			open = nil
		case open != nil && strings.HasPrefix(mark, undoMark):
			open.flags.read(mark)
		}
		offset = end
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block that begins here has no %q", open.line, endMark)
	}
	return out, nil
}

// without takes all blocks out. flags are those of the first.
func without(text []byte, in []found) (rest []byte, f flags) {
	last := len(text)
	for i := len(in) - 1; i >= 0; i-- {
		b := in[i]
		rest = append(bytes.Clone(text[b.end:last]), rest...)
		last = b.start
		// Only at the end: text that was added after the block needs it.
		if b.flags.newline && len(rest) == 0 && last > 0 && text[last-1] == '\n' {
			last--
			if b.crlf && last > 0 && text[last-1] == '\r' {
				last--
			}
		}
		f = b.flags
	}
	return append(bytes.Clone(text[:last]), rest...), f
}

// insert puts the block of a target into a text that has none.
func insert(text []byte, t target, p Params, where place, f flags) []byte {
	at := len(text)
	if where == atTop {
		at = 0
		if bytes.HasPrefix(text, []byte("#!")) {
			if i := bytes.IndexByte(text, '\n'); i >= 0 {
				at = i + 1
			} else {
				at = len(text)
			}
		}
	}
	f.newline = at > 0 && text[at-1] != '\n'
	var out []byte
	out = append(out, text[:at]...)
	if f.newline {
		out = append(out, '\n')
	}
	out = append(out, t.block(p, f)...)
	return append(out, text[at:]...)
}

// outcome of an edit, for people.
type outcome struct {
	kind, note string
}

// set returns the text with exactly one block, up to date and where it is
// reached, and what was done. The error is for a text that must not be touched.
func set(text []byte, t target, p Params, fresh flags) ([]byte, outcome, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, outcome{}, fmt.Errorf("it is not a text file (it holds NUL bytes)")
	}
	in, err := blocks(text)
	if err != nil {
		return nil, outcome{}, fmt.Errorf("%w; take the marker out by hand", err)
	}
	if len(in) == 0 {
		out, kind, note := put(text, t, p, fresh)
		return out, outcome{kind, note}, nil
	}
	_, reached, _ := placement(text, t, in)
	if len(in) == 1 && reached {
		b := in[0]
		want := t.block(p, b.flags)
		if string(text[b.start:b.end]) == want {
			return text, outcome{None, "already set up"}, nil
		}
		var out []byte
		out = append(out, text[:b.start]...)
		out = append(out, want...)
		return append(out, text[b.end:]...), outcome{Update, ""}, nil
	}
	rest, f := without(text, in)
	out, _, note := put(rest, t, p, f)
	why := "the block was there more than once"
	if len(in) == 1 {
		why = "moved to where the shell always reaches it"
	}
	if note != "" {
		why += "; " + note
	}
	return out, outcome{Update, why}, nil
}

// put inserts the block where it belongs, and says so.
func put(text []byte, t target, p Params, f flags) (out []byte, kind, note string) {
	where, _, note := placement(text, t, nil)
	if where == atEnd {
		out = insert(text, t, p, atEnd, f)
		if in, err := blocks(out); err == nil && len(in) == 1 {
			if _, reached, _ := placement(out, t, in); reached {
				return out, Append, note
			}
		}
		note = "at the top, because the last line goes on"
	}
	return insert(text, t, p, atTop, f), Insert, note
}
