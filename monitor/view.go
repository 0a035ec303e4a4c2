package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// View implements tea.Model.
func (m *model) View() tea.View {
	var v tea.View
	v.AltScreen = true
	v.ReportFocus = true
	if !m.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = "safeshell watch"
	if n := m.live(); n > 0 {
		v.WindowTitle = fmt.Sprintf("(%d) safeshell: approval waiting", n)
	}
	if m.w > 0 && m.h > 0 {
		v.Content = strings.Join(m.screen(), "\n")
	}
	return v
}

// screen is the whole screen, exactly m.h lines of at most m.w cells.
func (m *model) screen() []string {
	out := []string{m.header()}
	switch {
	case m.small():
		out = append(out, wrap("Too small: make the window 20 x 6 or larger.", m.w)...)
	case m.help > 0:
		page, more := m.helpLines()
		right := "any key closes"
		if more {
			right = "any key: more"
		}
		out = append(out, m.st.frame("Help", right, "", page, m.w, m.h-2, true)...)
	default:
		out = append(out, m.body()...)
	}
	for len(out) < m.h-1 {
		out = append(out, "")
	}
	out = out[:max(m.h-1, 0)]
	return append(out, m.footer())
}

// body joins the boxes, left ones with the right ones beside them.
func (m *model) body() []string {
	var left, right []string
	x := 0
	for _, b := range m.boxes() {
		lines := m.draw(b)
		if b.x > 0 {
			right, x = append(right, lines...), b.x
		} else {
			left = append(left, lines...)
		}
	}
	for i := range right {
		if i < len(left) {
			left[i] = m.cs.pad(left[i], x) + right[i]
		}
	}
	return left
}

// draw renders one pane, exactly b.h lines.
func (m *model) draw(b box) []string {
	w, h := b.inner()
	var title, right, note string
	var body []string
	switch b.pane {
	case approvalPane:
		title, right = m.approvalTitle()
		body = m.approval(w, h)
		if m.cur == nil && m.fresh() { // on another request it would seem to be about that
			note = m.notice
		}
	case historyPane:
		title, right, body = "History", m.below(historyPane, len(m.history)), m.historyLines(w, h)
	case logPane:
		title, right, body = "Log", m.below(logPane, len(m.shownLog())), m.logLines(w, h)
		if m.level != "info" {
			title += m.st.dot + m.level
		}
	}
	focus := b.pane == m.focus
	if b.framed {
		if focus {
			title = m.st.bold.Render(title)
		}
		return m.st.frame(title, right, note, body, b.w, b.h, focus)
	}
	for len(body) < b.h {
		body = append(body, "")
	}
	for i := range body {
		body[i] = m.cs.cut(body[i], b.w)
	}
	return body[:b.h]
}

// below says how many newer lines are out of sight.
func (m *model) below(p pane, n int) string {
	if s := min(m.scroll[p], n); s > 0 {
		return fmt.Sprintf("%d newer below", s)
	}
	return ""
}

// header is the first line: what this is, what waits, the time.
func (m *model) header() string {
	left := " safeshell watch"
	if m.w >= 60 && m.o.Version != "" {
		left += " " + m.cs.line(m.o.Version)
	}
	var parts []string
	live := m.live()
	if live > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", live))
	} else {
		parts = append(parts, "none waiting")
	}
	if late := len(m.queue) - live; late > 0 {
		parts = append(parts, fmt.Sprintf("%d gave up", late))
	}
	switch {
	case m.stalled:
		parts = []string{"the spool does not answer"}
	case m.scanErr != "":
		parts = []string{"the spool cannot be read"}
	}
	right := strings.Join(parts, m.st.dot) + " "
	if full := strings.Join(append(parts, clockTime(m.o.Now())), m.st.dot) + " "; width(left)+width(full) < m.w {
		right = full
	}
	if width(left)+width(right) >= m.w {
		left = " safeshell"
	}
	if width(left)+width(right) >= m.w {
		left = ""
	}
	right = m.cs.cut(right, m.w)
	return m.st.head.Render(m.cs.pad(left, max(m.w-width(right), 0)) + right)
}

// footer is the last line: the keys of the focused pane, or a question.
func (m *model) footer() string {
	if m.quit {
		question := " Quit? y/n"
		if long := " Quit? " + verb(m.live(), "command waits and is denied without a monitor.", "commands wait and are denied without a monitor.") +
			" y yes, other keys no"; width(long) <= m.w {
			question = long
		}
		return m.st.warn.Render(m.cs.cut(question, m.w))
	}
	var hints []string
	switch {
	case m.small():
	case m.help > 0:
		hints = []string{"any key goes on"}
	case m.focus == logPane:
		hints = []string{"j/k scroll", "l level", "Tab next pane", "Esc approval", "? help", "q quit"}
	case m.focus != approvalPane:
		hints = []string{"j/k scroll", "Tab next pane", "Esc approval", "? help", "q quit"}
	case m.cur != nil && m.fresh() && !m.onScreen(logPane):
		hints = []string{m.cs.cut("Before: "+m.notice, m.w-1)}
	case m.cur == nil:
		hints = []string{"Tab next pane", "? help", "q quit"}
	case m.cur.inReason:
		hints = []string{"Enter sends", "Up/Down choose", "Esc back"}
	default:
		hints = []string{"1-4 answer", "Tab reason", "? help", "q quit"}
		if len(m.queue) > 1 {
			hints = append([]string{"1-4 answer", "Left/Right other requests"}, hints[1:]...)
		}
	}
	out := ""
	for _, hint := range hints {
		next := out + m.st.dot + hint
		if out == "" {
			next = " " + hint
		}
		if width(next) > m.w {
			break
		}
		out = next
	}
	if _, shown := m.approvalBox(); !shown && m.help == 0 && m.live() > 0 && m.w >= 30 {
		out = m.st.warn.Render(m.cs.cut(fmt.Sprintf(" %s for approval: Esc", verb(m.live(), "waits", "wait")), m.w))
	}
	return m.st.dim.Render(out)
}

// fresh tells that the last result is still to be shown.
func (m *model) fresh() bool { return m.o.Now().Sub(m.noticed) < noticeShown }

func (m *model) onScreen(p pane) bool {
	return slices.ContainsFunc(m.boxes(), func(b box) bool { return b.pane == p })
}

// verb writes a number with the phrase for one or for many.
func verb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// tall is the height from which a decision in the history has two lines.
const tall = 8

// historyLines are the decisions in view, newest last.
func (m *model) historyLines(w, h int) []string {
	if len(m.history) == 0 {
		return []string{m.st.dim.Render("No decisions yet.")}
	}
	end := len(m.history) - m.scroll[historyPane]
	start := max(end-h/m.recordLines(h), 0)
	var out []string
	for _, r := range m.history[start:end] {
		out = append(out, m.historyLine(r, w, m.recordLines(h) > 1)...)
	}
	return out
}

// recordLines is the number of lines of a decision in a pane of h lines.
func (m *model) recordLines(h int) int {
	if h >= tall {
		return 2
	}
	return 1
}

// historyLine is one decision: time, outcome and command; then rule, who
// decided, how long that took and why, on a second line or, in one, if there
// is room.
func (m *model) historyLine(r Record, w int, two bool) []string {
	cs, look := m.cs, m.st.of(verdictKind(r.Verdict))
	about := []string{}
	for _, s := range []string{r.Rule, byWords(r.By), "", r.Reason} {
		if s != "" {
			about = append(about, cs.line(s))
		}
	}
	if r.Waited > 0 {
		about = slices.Insert(about, min(2, len(about)), lasted(r.Waited))
	}
	tail := strings.Join(about, m.st.dot)
	at, outcome := clockTime(r.At), cs.pad(cs.line(r.Outcome), 15)
	if w < 60 {
		at, outcome = at[:5], strings.TrimRight(outcome, " ")
	}
	head := at + " " + look.Render(outcome) + " "
	command := cs.line(r.Command)
	if two {
		indent := strings.Repeat(" ", len(at)+1)
		return []string{head + cs.cut(command, max(w-width(head), 0)), indent + m.st.dim.Render(cs.cut(tail, max(w-len(indent), 0)))}
	}
	if w < 60 {
		return []string{head + cs.cut(command, max(w-width(head), 0))}
	}
	tail = cs.cut(tail, max(w*2/5, w-width(head)-width(command)-1))
	return []string{head + cs.pad(command, w-width(head)-width(tail)-1) + " " + m.st.dim.Render(tail)}
}

// logLines are the events in view, newest last, one line each.
func (m *model) logLines(w, h int) []string {
	log := m.shownLog()
	end := max(len(log)-m.scroll[logPane], 0)
	start := max(end-h, 0)
	var out []string
	for _, e := range log[start:end] {
		at := clockTime(e.at)
		if w < 44 {
			at = at[:5]
		}
		out = append(out, m.st.dim.Render(at)+" "+m.st.of(e.kind).Render(m.cs.cut(e.text, max(w-len(at)-1, 0))))
	}
	return out
}

// helpText is shown on `?`, as keys and what they do.
var helpText = [][2]string{
	{"1 2 3 4", "once, session, always, deny: acts at once"},
	{"Up Down", "highlight another choice; Enter sends it"},
	{"Tab", "to the reason field: there digits are text, and Enter sends the highlighted choice with the reason"},
	{"PgUp PgDn", "the rest of a long command; Home, End"},
	{"Left Right", "another request that waits"},
	{"Mouse", "an answer that is clicked acts at once; the wheel scrolls; m leaves the mouse to the terminal, to select text"},
	{"", ""},
	{"", "Nothing answers for half a second after a request comes up. A key pressed meanwhile that would, and any key without a meaning, begins the half second anew."},
	{"", ""},
	{"F2 F3 F4", "approval, history, log; Tab and Shift+Tab move on and back"},
	{"j k g G", "scroll history and log; PgUp, PgDn"},
	{"l", "in the log: the next level (debug, info, warn, error)"},
	{"q Ctrl+C", "quit; what waits goes on waiting for its time"},
}

// helpLines are the page of the help that is on the screen, and whether there
// is another.
func (m *model) helpLines() ([]string, bool) {
	w, h := max(m.w-4, 1), max(m.h-4, 1)
	var all []string
	for _, t := range helpText {
		key, indent := m.cs.pad(t[0], labelWidth), labelWidth
		switch {
		case t[0] == "":
			key, indent = "", 0
		case w < 44:
			key, indent = t[0]+": ", 2
		}
		for i, l := range hang(t[1], w, width(key), indent) {
			if i > 0 {
				key = strings.Repeat(" ", indent)
			}
			all = append(all, key+l)
		}
	}
	first := min((m.help-1)*h, len(all))
	last := min(first+h, len(all))
	return all[first:last], last < len(all)
}

// gateText says when the keys open, in tenths of a second.
func gateText(left time.Duration) string {
	return fmt.Sprintf("keys open in %.1f s", max(left.Seconds(), 0.1))
}
