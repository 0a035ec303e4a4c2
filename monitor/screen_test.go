package monitor

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// screen is a terminal emulator, as much of one as bubbletea's renderer needs:
// cursor movement, erasing, repeating, scrolling, titles. It answers no
// queries. What it does not know it records in odd.
type screen struct {
	mu     sync.Mutex
	w, h   int
	cells  [][]rune // 0: blank; -1: right half of a wide character
	x, y   int
	top    int // scroll region
	bottom int
	last   rune
	title  string
	bells  int
	osc    []string // all but titles
	odd    []string
	rest   []byte // an unfinished sequence
	raw    []byte // all that was written
	sx, sy int
}

func newScreen(w, h int) *screen {
	s := &screen{w: w, h: h, bottom: h - 1}
	s.clear(0, 0, w, h)
	return s
}

func (s *screen) clear(x0, y0, x1, y1 int) {
	if s.cells == nil {
		s.cells = make([][]rune, s.h)
		for i := range s.cells {
			s.cells[i] = make([]rune, s.w)
		}
	}
	for y := max(y0, 0); y < min(y1, s.h); y++ {
		for x := max(x0, 0); x < min(x1, s.w); x++ {
			s.cells[y][x] = 0
		}
	}
}

// text is the screen, lines without trailing blanks.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, row := range s.cells {
		var l strings.Builder
		for _, r := range row {
			switch r {
			case 0:
				l.WriteByte(' ')
			case -1:
			default:
				l.WriteRune(r)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, p...)
	buf := append(s.rest, p...)
	for len(buf) > 0 {
		n := s.step(buf)
		if n == 0 {
			break
		}
		buf = buf[n:]
	}
	s.rest = append([]byte(nil), buf...)
	return len(p), nil
}

// step consumes one character or sequence; 0 when it is not complete.
func (s *screen) step(b []byte) int {
	switch b[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n':
		s.feed()
		return 1
	case '\b':
		s.x = max(min(s.x, s.w-1)-1, 0)
		return 1
	case '\t':
		s.x = min((s.x/8+1)*8, s.w-1)
		return 1
	case '\a':
		s.bells++
		return 1
	case 0x1b:
		return s.sequence(b)
	}
	if b[0] < 0x20 || b[0] == 0x7f {
		s.odd = append(s.odd, fmt.Sprintf("%q", b[0]))
		return 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	s.put(r)
	return n
}

func (s *screen) feed() {
	if s.y == s.bottom {
		row := s.cells[s.top]
		copy(s.cells[s.top:s.bottom], s.cells[s.top+1:s.bottom+1])
		clear(row)
		s.cells[s.bottom] = row
		return
	}
	s.y = min(s.y+1, s.h-1)
}

func (s *screen) put(r rune) {
	w := width(string(r))
	if w == 0 {
		return // a combining mark
	}
	if s.x+w > s.w {
		s.x = 0
		s.feed()
	}
	s.cells[s.y][s.x] = r
	for i := 1; i < w; i++ {
		s.cells[s.y][s.x+i] = -1
	}
	s.x += w
	s.last = r
}

// sequence consumes an escape sequence.
func (s *screen) sequence(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				s.csi(string(b[2:i]), b[i])
				return i + 1
			}
		}
		return 0
	case ']':
		for i := 2; i < len(b); i++ {
			if b[i] == '\a' {
				s.command(string(b[2:i]))
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) {
				s.command(string(b[2:i]))
				return i + 2
			}
		}
		return 0
	case '(', ')':
		if len(b) < 3 {
			return 0
		}
		return 3
	case 'M':
		s.y = max(s.y-1, 0)
	case '7':
		s.sx, s.sy = s.x, s.y
	case '8':
		s.x, s.y = s.sx, s.sy
	case '=', '>':
	default:
		s.odd = append(s.odd, fmt.Sprintf("ESC %q", b[1]))
	}
	return 2
}

func (s *screen) command(c string) {
	if kind, text, ok := strings.Cut(c, ";"); ok && (kind == "0" || kind == "1" || kind == "2") {
		s.title = text
		return
	}
	s.osc = append(s.osc, c)
}

func (s *screen) csi(params string, final byte) {
	if params != "" && strings.ContainsAny(params[:1], "?<=>") {
		if final == 'h' && (params == "?1049" || params == "?47") {
			s.clear(0, 0, s.w, s.h)
			s.x, s.y = 0, 0
		}
		return // modes, queries, keyboard protocols
	}
	var n []int
	for _, f := range strings.Split(params, ";") {
		v, err := strconv.Atoi(f)
		if err != nil {
			v = -1
		}
		n = append(n, v)
	}
	arg := func(i, def int) int {
		if i < len(n) && n[i] > 0 {
			return n[i]
		}
		return def
	}
	if s.x >= s.w && final != 'm' {
		s.x = s.w - 1 // a pending wrap
	}
	switch final {
	case 'A':
		s.y = max(s.y-arg(0, 1), 0)
	case 'B', 'e':
		s.y = min(s.y+arg(0, 1), s.h-1)
	case 'C', 'a':
		s.x = min(s.x+arg(0, 1), s.w-1)
	case 'D':
		s.x = max(s.x-arg(0, 1), 0)
	case 'E':
		s.x, s.y = 0, min(s.y+arg(0, 1), s.h-1)
	case 'F':
		s.x, s.y = 0, max(s.y-arg(0, 1), 0)
	case 'G', '`':
		s.x = min(arg(0, 1), s.w) - 1
	case 'd':
		s.y = min(arg(0, 1), s.h) - 1
	case 'H', 'f':
		s.y, s.x = min(arg(0, 1), s.h)-1, min(arg(1, 1), s.w)-1
	case 'I':
		s.x = min((s.x/8+arg(0, 1))*8, s.w-1)
	case 'Z':
		s.x = max(((s.x+7)/8-arg(0, 1))*8, 0)
	case 'J':
		switch arg(0, 0) {
		case 0:
			s.clear(s.x, s.y, s.w, s.y+1)
			s.clear(0, s.y+1, s.w, s.h)
		case 1:
			s.clear(0, 0, s.w, s.y)
			s.clear(0, s.y, s.x+1, s.y+1)
		default:
			s.clear(0, 0, s.w, s.h)
		}
	case 'K':
		switch arg(0, 0) {
		case 0:
			s.clear(s.x, s.y, s.w, s.y+1)
		case 1:
			s.clear(0, s.y, s.x+1, s.y+1)
		default:
			s.clear(0, s.y, s.w, s.y+1)
		}
	case 'X':
		s.clear(s.x, s.y, s.x+arg(0, 1), s.y+1)
	case 'P':
		row, k := s.cells[s.y], arg(0, 1)
		for x := s.x; x < s.w; x++ {
			row[x] = 0
			if x+k < s.w {
				row[x] = row[x+k]
			}
		}
	case '@':
		row, k := s.cells[s.y], arg(0, 1)
		for x := s.w - 1; x >= s.x; x-- {
			if x-k >= s.x {
				row[x] = row[x-k]
			} else {
				row[x] = 0
			}
		}
	case 'L', 'M', 'S', 'T':
		s.shift(final, arg(0, 1))
	case 'b':
		for range arg(0, 1) {
			s.put(s.last)
		}
	case 'r':
		s.top, s.bottom = arg(0, 1)-1, arg(1, s.h)-1
		s.x, s.y = 0, 0
	case 'm', 'h', 'l', 'q', 't', 'n', 'c', 'u', 'p':
	default:
		s.odd = append(s.odd, fmt.Sprintf("CSI %s %c", params, final))
	}
}

// shift inserts or deletes lines.
func (s *screen) shift(how byte, n int) {
	top := s.top
	if how == 'L' || how == 'M' {
		top = s.y
	}
	region := s.cells[top : s.bottom+1]
	for range min(n, len(region)) {
		if how == 'L' || how == 'T' {
			last := region[len(region)-1]
			copy(region[1:], region)
			clear(last)
			region[0] = last
		} else {
			first := region[0]
			copy(region, region[1:])
			clear(first)
			region[len(region)-1] = first
		}
	}
}
