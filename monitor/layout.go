package monitor

// Sizes at which the panes fold.
const (
	threeWide   = 110 // from here approval stands beside history and log
	threeHigh   = 34  // from here the three stand on each other
	twoHigh     = 18  // from here approval and one other
	framedWide  = 34  // below, frames cost more than they give
	framedHigh  = 11
	smallWide   = 20 // below, nothing can be read and no key answers
	smallHigh   = 6
	formLines   = 6 // heading, four choices, reason
	compactForm = 2 // heading and one line for all
)

// box is where a pane is drawn.
type box struct {
	pane       pane
	x, y, w, h int
	framed     bool
}

// inner is the size that a box's frame leaves.
func (b box) inner() (w, h int) {
	if b.framed {
		return max(b.w-4, 1), max(b.h-2, 0)
	}
	return max(b.w, 1), b.h
}

// area says how the lines of the approval pane are shared out.
type area struct {
	w, h    int
	details int  // lines for what the request says
	compact bool // all choices on one line
}

// small tells that the terminal is too small to read a request.
func (m *model) small() bool { return m.w < smallWide || m.h < smallHigh }

// threePanes tells that there is room for all panes at once.
func (m *model) threePanes() bool {
	return m.w >= threeWide && m.h >= twoHigh || m.w >= framedWide && m.h >= threeHigh
}

// boxes lays out the panes between the first and the last line of the screen.
func (m *model) boxes() []box {
	w, h := m.w, m.h-2
	switch {
	case w >= threeWide && h >= twoHigh-2:
		left, top := w*3/5, h/2
		return []box{
			{approvalPane, 0, 1, left, h, true},
			{historyPane, left, 1, w - left, top, true},
			{logPane, left, 1 + top, w - left, h - top, true},
		}
	case w >= framedWide && h >= threeHigh-2:
		a := m.approvalHeight(w, h, 14)
		top := (h - a) / 2
		return []box{
			{approvalPane, 0, 1, w, a, true},
			{historyPane, 0, 1 + a, w, top, true},
			{logPane, 0, 1 + a + top, w, h - a - top, true},
		}
	case w >= framedWide && h >= twoHigh-2:
		a := m.approvalHeight(w, h, 4)
		return []box{
			{approvalPane, 0, 1, w, a, true},
			{m.second, 0, 1 + a, w, h - a, true},
		}
	}
	return []box{{m.focus, 0, 1, w, max(h, 0), w >= framedWide && h >= framedHigh-2}}
}

// approvalHeight is what the approval pane needs, leaving at least rest lines
// to the others.
func (m *model) approvalHeight(w, h, rest int) int {
	need := len(m.idleText(w-4, h))
	if m.cur != nil {
		lines, _ := m.details(w-4, h)
		need = len(lines) + 1 + formLines
	}
	return min(max(need+2, 10), h-rest)
}

// approvalBox is where the approval pane is, if it is on the screen.
func (m *model) approvalBox() (box, bool) {
	for _, b := range m.boxes() {
		if b.pane == approvalPane {
			return b, true
		}
	}
	return box{}, false
}

// area shares out the approval pane. Where the details would not fit beside
// the whole form, and little of them would be seen, the form folds.
func (m *model) area() area {
	b, ok := m.approvalBox()
	if !ok || m.cur == nil {
		return area{w: 1}
	}
	w, h := b.inner()
	a := area{w: w, h: h, details: max(h-formLines, 0)}
	if a.details < 8 {
		if lines, _ := m.details(w, 0); len(lines) > a.details {
			a.compact, a.details = true, max(h-compactForm, 0)
		}
	}
	return a
}

// shown is how many of so many lines of details fit. When not all do, the last
// line of the area says how many more there are.
func (a area) shown(total int) int {
	if total <= a.details {
		return total
	}
	return max(a.details-1, 1)
}

// listHeight is the number of lines of the focused list.
func (m *model) listHeight() int {
	for _, b := range m.boxes() {
		if b.pane == m.focus {
			_, h := b.inner()
			return h
		}
	}
	return 0
}

// relayout bounds what is scrolled, sizes the form, and notes when the end of
// a command has been on the screen.
func (m *model) relayout() {
	for _, b := range m.boxes() {
		_, h := b.inner()
		n := len(m.shownLog())
		switch b.pane {
		case approvalPane:
			m.fitPrompt()
			continue
		case historyPane:
			n, h = len(m.history), h/m.recordLines(h)
		}
		m.scroll[b.pane] = min(max(m.scroll[b.pane], 0), max(n-h, 0))
	}
}

func (m *model) fitPrompt() {
	if m.cur == nil || m.small() || m.help > 0 {
		return
	}
	d, a := m.cur, m.area()
	lines, must := m.details(a.w, a.details)
	shown := a.shown(len(lines))
	d.top = min(max(d.top, 0), max(len(lines)-shown, 0))
	if d.top+shown >= must {
		d.readAll = true
	}
	d.size(a.w)
}
