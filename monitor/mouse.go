package monitor

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"safeshell/spool"
)

// wheelLines is how far a notch of the wheel scrolls.
const wheelLines = 3

// click acts on a press of the left button. What can be answered by a key can be
// clicked, under the same guards; a click beside the answers gives its pane the
// focus and does nothing else.
func (m *model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.small() {
		return nil
	}
	if m.quit || m.help > 0 {
		m.quit, m.help = false, 0
		m.closeKeys()
		return nil
	}
	b, x, y, ok := m.boxAt(msg.X, msg.Y)
	switch {
	case !ok:
	case b.pane != m.focus:
		m.goTo(b.pane)
	case b.pane == approvalPane && m.cur != nil:
		return m.clickPrompt(x, y)
	}
	return nil
}

// clickPrompt is a click into the approval pane, at a cell of its content.
func (m *model) clickPrompt(x, y int) tea.Cmd {
	d, now := m.cur, m.o.Now()
	c, reason := m.buttonAt(x, y)
	switch {
	case c == 0 && !reason:
		return nil
	case d.shut(now):
		d.close(now)
		return nil
	}
	d.touched = true
	if !d.sending {
		d.failed = ""
	}
	if reason {
		if d.sending {
			return nil
		}
		return d.enterReason()
	}
	return m.decide(c)
}

// buttonAt is the answer that is written at a cell of the approval pane's
// content, 0 when none is, and whether the reason field is there.
func (m *model) buttonAt(x, y int) (c spool.Choice, reason bool) {
	b, _ := m.approvalBox()
	w, h := b.inner()
	lines, form := m.approvalLines(w, h)
	if x < 0 || y < form || y >= len(lines) {
		return 0, false
	}
	a := m.area()
	switch {
	case a.compact && m.cur.inReason, !a.compact && y == form+len(choices):
		return 0, true
	case a.compact:
		return m.choiceOnLine(lines[y], x), false
	case x >= width(strings.TrimRight(ansi.Strip(lines[y]), " ")):
		return 0, false // beside the text
	}
	return choices[y-form], false
}

// choiceOnLine is the answer at a cell of the line that holds all of them: each
// reaches from its number to the blanks before the next.
func (m *model) choiceOnLine(line string, x int) (at spool.Choice) {
	text := ansi.Strip(line)
	for _, c := range choices {
		i := strings.IndexByte(text, '0'+byte(c))
		if i < 0 || x < width(text[:i])-1 { // the mark before the number is part of it
			break
		}
		at = c
	}
	if x >= width(text) {
		return 0
	}
	return at
}

// wheel scrolls what is below the pointer.
func (m *model) wheel(msg tea.MouseWheelMsg) {
	by := wheelLines
	switch msg.Button {
	case tea.MouseWheelUp:
	case tea.MouseWheelDown:
		by = -by
	default:
		return
	}
	b, _, _, ok := m.boxAt(msg.X, msg.Y)
	switch {
	case !ok || m.help > 0 || m.small():
	case b.pane != approvalPane:
		m.scroll[b.pane] += by // relayout bounds it
	case m.cur != nil:
		m.cur.top = max(m.cur.top-by, 0)
	}
}

// boxAt is the pane at a cell of the screen, and where in its content that is.
func (m *model) boxAt(x, y int) (b box, inX, inY int, ok bool) {
	for _, b := range m.boxes() {
		if x < b.x || y < b.y || x >= b.x+b.w || y >= b.y+b.h {
			continue
		}
		inX, inY = x-b.x, y-b.y
		if b.framed {
			inX, inY = inX-2, inY-1
		}
		return b, inX, inY, true
	}
	return box{}, 0, 0, false
}
