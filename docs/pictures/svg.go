package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// A picture is a terminal's screen, as `tmux capture-pane -e` gives it.
type picture struct{ name, title, screen string }

// A cell is drawn on a fixed grid; frames are lines, so that no font leaves gaps.
const (
	cellW, cellH = 8.43, 18.0
	margin, bar  = 16.0, 34.0
	ground, ink  = "#1d2129", "#d4d8df"
)

var palette = [16]string{
	"#3b4048", "#f0717b", "#9ecb78", "#e6c06e", "#6cb2f0", "#cf8ce6", "#5fc4cf", "#c8ccd4",
	"#767d8a", "#ff8b92", "#b4e08d", "#f5d48a", "#8ac6ff", "#e0a4f5", "#7bdce6", "#ffffff",
}

// style is what SGR sequences have set; colours are "" by default.
type style struct {
	fg, bg                      string
	bold, faint, reverse, under bool
}

type cell struct {
	r rune
	style
}

// frames says of each line-drawing character where its lines go, clockwise from
// the top: 0 nowhere, 1 light, 2 heavy.
var frames = map[rune][4]int{
	'─': {0, 1, 0, 1}, '│': {1, 0, 1, 0}, '╭': {0, 1, 1, 0}, '╮': {0, 0, 1, 1}, '╯': {1, 0, 0, 1}, '╰': {1, 1, 0, 0},
	'━': {0, 2, 0, 2}, '┃': {2, 0, 2, 0}, '┏': {0, 2, 2, 0}, '┓': {0, 0, 2, 2}, '┛': {2, 0, 0, 2}, '┗': {2, 2, 0, 0},
	'├': {1, 1, 1, 0}, '┤': {1, 0, 1, 1}, '┬': {0, 1, 1, 1}, '┴': {1, 1, 0, 1}, '┼': {1, 1, 1, 1},
}

func (p picture) svg() []byte {
	var lines [][]cell
	width := 0
	for text := range strings.Lines(strings.TrimRight(p.screen, "\n ")) {
		lines = append(lines, cells(strings.TrimSuffix(text, "\n")))
		width = max(width, len(lines[len(lines)-1]))
	}
	w, h := 2*margin+float64(max(width, 100))*cellW, bar+margin+float64(len(lines))*cellH
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="8" fill="%s"/>`+"\n", w, h, ground)
	fmt.Fprintf(&b, `<text x="%.0f" y="21" fill="%s" text-anchor="middle" font-family="system-ui, sans-serif" font-size="13">%s</text>`+"\n", w/2, palette[8], escape(p.title))
	for y, line := range lines {
		for x := 0; x < len(line); {
			n := run(line[x:])
			drawRun(&b, line[x:x+n], margin+float64(x)*cellW, bar+float64(y)*cellH)
			x += n
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// run is how many cells are drawn as one: of one style, a piece of a frame or a
// text without wide blanks.
func run(line []cell) int {
	ends, frame := frames[line[0].r]
	for n := 1; n < len(line); n++ {
		switch _, other := frames[line[n].r]; {
		case line[n].style != line[0].style:
			return n
		case frame:
			if line[n].r != line[0].r || ends[1] == 0 || ends[3] == 0 {
				return n
			}
		case other:
			return n
		case line[n].r == ' ' && line[n-1].r == ' ' && line[0].bg == "" && !line[0].reverse:
			return n
		}
	}
	return len(line)
}

func drawRun(b *bytes.Buffer, cells []cell, x, y float64) {
	st := cells[0].style
	fg, bg := st.fg, st.bg
	if fg == "" {
		fg = ink
	}
	if st.reverse {
		if bg == "" {
			bg = ground
		}
		fg, bg = bg, fg
	}
	if st.faint {
		fg = mix(fg, ground)
	}
	w := float64(len(cells)) * cellW
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%.0f" fill="%s"/>`+"\n", x, y, w, cellH, bg)
	}
	more := ""
	if st.bold {
		more += ` font-weight="bold"`
	}
	if st.under {
		more += ` text-decoration="underline"`
	}
	if ends, ok := frames[cells[0].r]; ok {
		drawFrame(b, ends, x+cellW/2, y+cellH/2, w-cellW, fg)
		return
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteRune(c.r)
	}
	if s := text.String(); strings.TrimSpace(s) != "" {
		fmt.Fprintf(b, `<text xml:space="preserve" x="%.1f" y="%.0f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
			x, y+13, w, fg, more, escape(s))
	}
}

// drawFrame draws the lines from the middle of a cell, to the right so much farther
// where the cell is the first of several.
func drawFrame(b *bytes.Buffer, ends [4]int, x, y, more float64, fg string) {
	to := [4][2]float64{{0, -cellH / 2}, {cellW/2 + more, 0}, {0, cellH / 2}, {-cellW / 2, 0}}
	for i, weight := range ends {
		if weight > 0 {
			fmt.Fprintf(b, `<path d="M%.2f %.0fl%.2f %.0f" stroke="%s" stroke-width="%d" stroke-linecap="square"/>`+"\n",
				x, y, to[i][0], to[i][1], fg, weight)
		}
	}
}

// mix is a colour that goes towards another.
func mix(a, b string) string {
	var x, y [3]int
	_, _ = fmt.Sscanf(a+b, "#%02x%02x%02x#%02x%02x%02x", &x[0], &x[1], &x[2], &y[0], &y[1], &y[2])
	return fmt.Sprintf("#%02x%02x%02x", (3*x[0]+2*y[0])/5, (3*x[1]+2*y[1])/5, (3*x[2]+2*y[2])/5)
}

// cells takes a captured line apart.
func cells(line string) []cell {
	var out []cell
	var st style
	for line != "" {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			params, after, _ := strings.Cut(rest, "m")
			st.set(strings.Split(params, ";"))
			line = after
			continue
		}
		r := []rune(line)[0]
		line = line[len(string(r)):]
		if r >= ' ' {
			out = append(out, cell{r, st})
		}
	}
	return out
}

func (st *style) set(params []string) {
	for len(params) > 0 {
		n, _ := strconv.Atoi(params[0])
		params = params[1:]
		switch {
		case n == 0:
			*st = style{}
		case n == 1:
			st.bold = true
		case n == 2:
			st.faint = true
		case n == 4:
			st.under = true
		case n == 7:
			st.reverse = true
		case n >= 30 && n <= 37:
			st.fg = palette[n-30]
		case n >= 90 && n <= 97:
			st.fg = palette[n-82]
		case n >= 40 && n <= 47:
			st.bg = palette[n-40]
		case n >= 100 && n <= 107:
			st.bg = palette[n-92]
		case n == 39:
			st.fg = ""
		case n == 49:
			st.bg = ""
		}
	}
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
