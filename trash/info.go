package trash

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// infoSuffix ends the name of an information file.
const infoSuffix = ".trashinfo"

// maxInfo is the size in bytes that an information file may have: two paths of
// PATH_MAX, percent-encoded, and some lines.
const maxInfo = 64 << 10

// info is what a .trashinfo file says.
type info struct {
	path    string // decoded; absolute, or relative to the top directory
	date    string // as written
	deleted time.Time
	group   string
	cwd     string
	session string
	class   int
	parents []uint32 // modes of the directories above, nearest first
}

const dateLayout = "2006-01-02T15:04:05"

// encode is the content of the information file.
func (in info) encode() []byte {
	b := make([]byte, 0, 512)
	b = append(b, "[Trash Info]\nPath="...)
	b = appendEscaped(b, in.path)
	b = append(b, "\nDeletionDate="...)
	b = in.deleted.AppendFormat(b, dateLayout)
	b = append(b, "\nX-SafeShell-Group="...)
	b = append(b, in.group...)
	b = append(b, "\nX-SafeShell-Cwd="...)
	b = appendEscaped(b, in.cwd)
	b = append(b, "\nX-SafeShell-Parents="...)
	for i, m := range in.parents {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(m), 8)
	}
	if in.session != "" {
		b = append(b, "\nX-SafeShell-Session="...)
		b = appendEscaped(b, in.session)
	}
	if in.class != 0 {
		b = append(b, "\nX-SafeShell-Class="...)
		b = strconv.AppendInt(b, int64(in.class), 10)
	}
	return append(b, '\n')
}

// parseInfo reads an information file. With an error the fields that could be
// read are filled all the same. An unreadable date is no error: deleted is
// zero then.
func parseInfo(b []byte) (info, error) {
	var in info
	if len(b) > maxInfo {
		return in, fmt.Errorf("it is longer than %d bytes", maxInfo)
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	if strings.TrimRight(first, " \t\r") != "[Trash Info]" {
		return in, errors.New(`its first line is not "[Trash Info]"`)
	}
	var seen [6]bool // of the keys below; the first of each counts
	var err error
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimRight(line, "\r")
		if strings.HasPrefix(line, "[") {
			break // another section
		}
		key, val, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		again := func(i int) bool {
			was := seen[i]
			seen[i] = true
			return was
		}
		switch key {
		case "Path":
			if again(0) {
				continue
			}
			in.path, err = unescape(val)
			if err == nil && in.path == "" {
				err = errors.New("its Path is empty")
			}
		case "DeletionDate":
			if !again(1) {
				in.date = val
				in.deleted = parseDate(val)
			}
		case "X-SafeShell-Group":
			if !again(2) && validGroup(val) {
				in.group = val
			}
		case "X-SafeShell-Cwd":
			if !again(3) {
				in.cwd, _ = unescape(val)
			}
		case "X-SafeShell-Session":
			if !again(4) {
				in.session, _ = unescape(val)
			}
		case "X-SafeShell-Class":
			if !again(5) && val == "2" {
				in.class = 2
			}
		case "X-SafeShell-Parents":
			if in.parents == nil {
				in.parents = parseModes(val)
			}
		}
	}
	if !seen[0] {
		err = errors.New("it has no Path")
	}
	return in, err
}

// parseDate takes the two forms that the specification knows; zero for any other.
func parseDate(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{dateLayout, "20060102T15:04:05"} {
		// time.Parse accepts fractions of seconds; the format has none.
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil && len(s) == len(layout) {
			return t
		}
	}
	return time.Time{}
}

func parseModes(s string) []uint32 {
	ms := make([]uint32, 0, min(strings.Count(s, ",")+1, 1024))
	for f := range strings.SplitSeq(s, ",") {
		m, err := strconv.ParseUint(f, 8, 12)
		if err != nil || len(ms) == 1024 {
			break
		}
		ms = append(ms, uint32(m))
	}
	return ms
}

// validGroup: what groupID makes, and nothing that could hurt a terminal.
func validGroup(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// appendEscaped percent-encodes each byte but those that every reader takes
// for themselves. "+" is encoded because some readers take it for a space.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '/', c == '-', c == '_', c == '.', c == '~':
			b = append(b, c)
		default:
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return b
}

// unescape undoes percent-encoding as url.PathUnescape does ("+" is a plus),
// and refuses what no path can hold.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return "", errors.New("its path holds a NUL byte")
	}
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if i+2 >= len(s) {
				return "", fmt.Errorf("bad percent-encoding %q", s[i:])
			}
			h, l := unhex(s[i+1]), unhex(s[i+2])
			if h < 0 || l < 0 {
				return "", fmt.Errorf("bad percent-encoding %q", s[i:i+3])
			}
			if c = byte(h<<4 | l); c == 0 {
				return "", errors.New("its path holds a NUL byte")
			}
			i += 2
		}
		b = append(b, c)
	}
	return string(b), nil
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// base32 digits sort as their values do, and have no letters past v.
const base32 = "0123456789abcdefghijklmnopqrstuv"

func base32Digits(v uint64, n int) string {
	b := make([]byte, n)
	for i := n - 1; i >= 0; i-- {
		b[i] = base32[v&31]
		v >>= 5
	}
	return string(b)
}

// groupDigits of a group id are the time in microseconds; the rest is random.
const groupDigits = 11

// groupID names one call. Later calls have greater ids.
func groupID(t time.Time, random uint64) string {
	return base32Digits(uint64(t.UnixMicro()), groupDigits) + base32Digits(random, 4)
}

// groupTime is the time that a group id of ours holds.
func groupTime(id string) (time.Time, bool) {
	if len(id) != groupDigits+4 {
		return time.Time{}, false
	}
	var v int64
	for i := range groupDigits {
		d := strings.IndexByte(base32, id[i])
		if d < 0 {
			return time.Time{}, false
		}
		v = v<<5 | int64(d)
	}
	return time.UnixMicro(v), true
}
