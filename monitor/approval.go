package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"safeshell/spool"
)

// labelWidth is the column of the labels, when there is room for one.
const labelWidth = 12

// approvalTitle is the frame's title and its right end.
func (m *model) approvalTitle() (string, string) {
	if m.cur == nil {
		return "Approval", ""
	}
	title := "Approval"
	if i, n := m.index(), len(m.queue); n > 1 && i >= 0 {
		title += fmt.Sprintf(" %d of %d", i+1, n)
	}
	now, p := m.o.Now(), m.cur.p
	if p.Late {
		if p.Decision != nil && !p.Decision.At.IsZero() {
			return title, m.st.warn.Render("gave up " + ago(now.Sub(p.Decision.At)))
		}
		return title, m.st.warn.Render("gave up")
	}
	if p.NotAfter.IsZero() {
		return title, ""
	}
	left := p.NotAfter.Sub(now)
	right := countdown(left) + " left"
	if left < 30*time.Second {
		right = m.st.warn.Render(right)
	}
	return title, right
}

// approval is the pane's content. It has at most h lines.
func (m *model) approval(w, h int) []string {
	if m.cur == nil {
		t := m.idleText(w, h)
		return t[:min(len(t), h)]
	}
	out, _ := m.approvalLines(w, h)
	return out
}

// approvalLines are what the request says, and then the form, whose first choice
// is in line form.
func (m *model) approvalLines(w, h int) (out []string, form int) {
	d, a := m.cur, m.area()
	lines, _ := m.details(w, a.details)
	if total := len(lines); total > a.details {
		shown := a.shown(total)
		out = append(out, lines[d.top:min(d.top+shown, total)]...)
		if shown < a.details {
			out = append(out, m.st.warn.Render(m.cs.cut(m.moreText(d.top, total-d.top-shown, w), w)))
		}
	} else {
		out = append(out, lines...)
		if total < a.details {
			out = append(out, "")
		}
	}
	out = append(out, m.cs.cut(m.status(w), w))
	form = len(out)
	lines = d.lines(m.st)
	switch {
	case !a.compact:
		out = append(out, lines...)
	case d.inReason:
		out = append(out, lines[len(lines)-1])
	default:
		out = append(out, m.choiceLine(w))
	}
	return out[:min(len(out), h)], form
}

// moreText tells how much is out of sight.
func (m *model) moreText(above, below, w int) string {
	s := m.st.ell + " "
	switch {
	case w < 44 && below > 0:
		return s + fmt.Sprintf("%d more (PgDn)", below)
	case w < 44:
		return s + fmt.Sprintf("%d above (PgUp)", above)
	case below > 0 && above > 0:
		return s + fmt.Sprintf("%d lines above, %d below (PgUp, PgDn)", above, below)
	case below > 0:
		return s + verb(below, "more line", "more lines") + " (PgDn)"
	}
	return s + verb(above, "line", "lines") + " above (PgUp)"
}

// status is the form's heading: whether keys act, and what they do.
func (m *model) status(w int) string {
	d := m.cur
	left := d.opens.Sub(m.o.Now())
	switch {
	case d.sending:
		return m.st.warn.Render("Sending your answer" + m.st.ell)
	case m.o.Refuse != "":
		return m.st.warn.Render("Answers are refused here: " + m.cs.line(m.o.Refuse))
	case left > 0 && d.failed != "":
		return m.st.warn.Render(fmt.Sprintf("%s (%s)", d.failed, gateText(left)))
	case left > 0 && w < 30:
		return m.st.warn.Render(gateText(left))
	case left > 0:
		return m.st.warn.Render("Answer: " + gateText(left))
	case d.failed != "":
		return m.st.warn.Render(d.failed)
	case d.inReason:
		return m.st.bold.Render(fmt.Sprintf("Enter sends: %d %s", d.choice, label(d.choice, d.p.Late)))
	case !d.readAll:
		text := "Read the command to its end (PgDn), then answer; 4 denies at once"
		if width(text) > w {
			text = "PgDn to its end"
		}
		return m.st.warn.Render(text)
	case w < 44:
		return m.st.bold.Render("1-4 acts at once")
	}
	return m.st.bold.Render("Answer") + "  1-4 acts at once (or click)" + m.st.dot + "Up/Down and Enter" + m.st.dot + "Tab for a reason"
}

// details are what the request says, wrapped to w cells: warnings, the command,
// what would be lost, and the rest. What must be read before anything can be
// allowed is in the first so many lines. After the command is a blank line if
// that leaves all within h lines.
func (m *model) details(w, h int) (lines []string, must int) {
	p := m.cur.p
	// A request never changes, but for giving up: its command is drawn once.
	if c := &m.cur.drawn; c.lines == nil || c.w != w || c.late != p.Late {
		c.w, c.late, c.lines = w, p.Late, nil
		for _, s := range m.cs.warnings(p) {
			for _, l := range wrap("! "+s, w) {
				c.lines = append(c.lines, m.st.bad.Render(l))
			}
		}
		for _, l := range m.st.commandLines(p.Request, w) {
			c.lines = append(c.lines, m.st.bold.Render(l))
		}
	}
	lines = slices.Clone(m.cur.drawn.lines)
	command := len(lines)
	for _, f := range m.cs.fields(p, m.o.Now()) {
		lines = append(lines, m.fieldLines(f, w)...)
		if f.loud || f.must {
			must = len(lines)
		}
	}
	if len(lines) < h {
		lines = slices.Insert(lines, command, "")
		must++
	}
	return lines, max(must, command)
}

// choiceLine is all choices on one line, the highlighted one marked; only that
// one in words where there is little room.
func (m *model) choiceLine(w int) string {
	var parts, few []string
	for _, c := range choices {
		s := fmt.Sprintf("%d %s", c, c.String())
		if c == m.cur.choice {
			s = m.st.bold.Reverse(true).Render(">" + s)
			few = append(few, s)
		} else {
			few = append(few, fmt.Sprint(int(c)))
		}
		parts = append(parts, s)
	}
	if s := strings.Join(parts, "  "); width(s) <= w {
		return s
	}
	return m.cs.cut(strings.Join(few, " "), w)
}

// commandLines shows a command whole. A short one is wrapped; the arguments of
// a long one stand on a line each; a script's lines are numbered. What is
// broken within a word or a script line goes on behind a mark. No line of a
// command begins where a label could stand.
func (st styles) commandLines(r spool.Request, w int) []string {
	var out []string
	add := func(first, text string) {
		rest := strings.Repeat(" ", max(width(first)-width(st.cont), 0)) + st.cont
		for i, l := range wrap(text, w-width(first)) {
			if i > 0 {
				first = rest
			}
			out = append(out, first+l)
		}
	}
	if len(r.Argv) == 0 {
		lines := st.cs.lines(r.Line)
		if len(lines) == 1 {
			add("$ ", lines[0])
			return out
		}
		digits := len(fmt.Sprint(len(lines)))
		for i, l := range lines {
			add(fmt.Sprintf("%*d %s", digits, i+1, st.vbar), l)
		}
		return out
	}
	words := st.cs.words(r.Argv)
	if joined := strings.Join(words, " "); width(joined) <= 2*(w-2) {
		add("$ ", joined)
		return out
	}
	for i, word := range words {
		if i == 0 {
			add("$ ", word)
		} else {
			add("    ", word)
		}
	}
	return out
}

// fieldLines is a labelled paragraph.
func (m *model) fieldLines(f field, w int) []string {
	look := m.st.of(info)
	if f.loud {
		look = m.st.bad
	}
	label, indent := m.cs.pad(f.label, labelWidth), labelWidth
	if w < 44 {
		label, indent = f.label+": ", 2
	}
	var texts []string
	less := width(label)
	for _, l := range m.cs.lines(f.text) {
		texts = append(texts, hang(l, w, less, indent)...)
		less = indent
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		if i == 0 {
			out[i] = m.st.dim.Render(label) + look.Render(t)
		} else {
			out[i] = strings.Repeat(" ", indent) + look.Render(t)
		}
	}
	return out
}

// idleText is the pane's content when nothing waits, in at most h lines if its
// blank lines can be spared.
func (m *model) idleText(w, h int) []string {
	var out []string
	for _, l := range append(wrap("Nothing waits for your approval.", w), "") {
		out = append(out, m.st.bold.Render(l))
	}
	if !m.threePanes() {
		for _, text := range m.unread {
			for _, l := range wrap("! "+text, w) {
				out = append(out, m.st.warn.Render(l))
			}
		}
		if len(m.unread) > 0 {
			out = append(out, m.st.dim.Render("F4 shows the log."), "")
		}
	}
	for _, s := range []string{
		"Guarded commands that need your word appear here. Keep this window open: without a monitor they are denied.",
		"",
		"Spool: " + m.cs.line(m.o.Spool),
		"Agents reach it after `safeshell init` and `safeshell agents install`; `safeshell doctor` checks.",
	} {
		out = append(out, wrap(s, w)...)
	}
	if len(out) > h {
		out = slices.DeleteFunc(out, func(s string) bool { return width(s) == 0 })
	}
	return out
}
