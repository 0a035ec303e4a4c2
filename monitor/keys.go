package monitor

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"safeshell/spool"
)

// key acts on one key press.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	switch {
	case k == "ctrl+c":
		return m.askQuit(m.quit)
	case m.quit:
		m.quit = false
		if k == "y" || k == "Y" {
			return tea.Quit
		}
		m.closeKeys()
		return nil
	case m.help > 0:
		if _, more := m.helpLines(); more && !m.small() {
			m.help++
		} else {
			m.help = 0
		}
		m.closeKeys()
		return nil
	case m.focus != approvalPane:
		return m.listKey(k)
	case m.cur == nil:
		return m.idleKey(k)
	}
	return m.promptKey(k, msg)
}

// closeKeys shuts the keys of the request on the screen, if any.
func (m *model) closeKeys() {
	if m.cur != nil {
		m.cur.close(m.o.Now())
	}
}

// askQuit quits; when commands wait, only if asked before.
func (m *model) askQuit(sure bool) tea.Cmd {
	if sure || m.live() == 0 {
		return tea.Quit
	}
	m.quit = true
	return nil
}

// moves reports whether a key only looks around: at the request, at others, at
// the other panes. It answers nothing and chooses no answer, so that it is not
// shut out with those that do.
func moves(k string) bool {
	switch k {
	case "tab", "shift+tab", "f1", "f2", "f3", "f4", "pgup", "pgdown", "home", "end", "ctrl+home", "ctrl+end", "left", "right", "?":
		return true
	}
	return false
}

// promptKey is a key while the approval pane has the focus. Keys that answer, and
// text, are shut out for a moment after a request took it. One pressed meanwhile,
// and any key that means nothing here, shuts them out anew: whoever types on
// answers nothing.
func (m *model) promptKey(k string, msg tea.KeyPressMsg) tea.Cmd {
	d, now := m.cur, m.o.Now()
	if m.small() || d.shut(now) && !moves(k) {
		d.close(now)
		return nil
	}
	d.touched = true
	if !d.sending {
		d.failed = ""
	}
	switch k {
	case "tab":
		if !d.inReason && !d.sending {
			return d.enterReason()
		}
		d.leaveReason()
		m.move(+1)
	case "shift+tab":
		if d.inReason {
			d.leaveReason()
		} else {
			m.move(-1)
		}
	case "f1", "f2", "f3", "f4":
		m.functionKey(k)
	case "pgdown", "pgup":
		by := max(m.area().details-2, 1)
		if k == "pgup" {
			by = -by
		}
		d.top = max(d.top+by, 0) // relayout bounds it
	case "ctrl+home":
		d.top = 0
	case "ctrl+end":
		d.top = 1 << 30
	case "up":
		d.choose(-1)
	case "down":
		d.choose(+1)
	case "enter":
		return m.decide(d.choice)
	default:
		if d.inReason {
			return m.reasonKey(k, msg)
		}
		return m.choiceKey(k)
	}
	return nil
}

// choiceKey is a key while the choices have the focus.
func (m *model) choiceKey(k string) tea.Cmd {
	d := m.cur
	switch k {
	case "1", "2", "3", "4":
		return m.decide(choices[k[0]-'1'])
	case "right":
		m.next(+1)
	case "left":
		m.next(-1)
	case "home":
		d.top = 0
	case "end":
		d.top = 1 << 30
	case "?":
		m.help = 1
	case "m":
		m.toggleMouse()
	case "q":
		return m.askQuit(false)
	default:
		d.close(m.o.Now())
	}
	return nil
}

// reasonKey is a key while the reason field has the focus: text.
func (m *model) reasonKey(k string, msg tea.KeyPressMsg) tea.Cmd {
	switch k {
	case "esc":
		m.cur.leaveReason()
		m.cur.close(m.o.Now()) // it may have begun a sequence that came in pieces
		return nil
	case "ctrl+v":
		return nil // would run a program to read the clipboard; a terminal's paste works
	}
	return m.cur.update(msg)
}

// decide answers the request on the screen. Nothing is allowed that has not
// been on the screen to its end.
func (m *model) decide(c spool.Choice) tea.Cmd {
	d := m.cur
	switch {
	case d.sending, m.o.Refuse != "", m.index() < 0:
		return nil
	case c != spool.Refuse && !d.readAll:
		d.failed = "read the command to its end first (PgDn or End), or deny"
		d.close(m.o.Now())
		return nil
	}
	d.choose(int(c) - int(d.choice))
	return m.send(d, c)
}

// next shows another request of the queue.
func (m *model) next(by int) {
	n := len(m.queue)
	if n == 0 {
		return
	}
	i := m.index()
	if i < 0 && by > 0 {
		i = -1
	}
	i = ((i+by)%n + n) % n
	if m.queue[i].ID != m.cur.p.ID {
		m.show(m.queue[i], m.o.Now())
		m.cur.touched = true // chosen by hand
	}
}

// functionKey is help or a pane.
func (m *model) functionKey(k string) {
	if k == "f1" {
		m.help = 1
		return
	}
	m.goTo(pane(k[1] - '2'))
}

// move gives the focus to the next or previous pane.
func (m *model) move(by int) { m.goTo((m.focus + pane(by) + panes) % panes) }

// goTo gives a pane the focus. A request that so gets it has its keys shut.
func (m *model) goTo(p pane) {
	if p == m.focus {
		return
	}
	if m.cur != nil {
		m.cur.leaveReason()
	}
	m.focus = p
	if p == logPane {
		m.unread = nil
	}
	if p == approvalPane {
		m.closeKeys()
	} else {
		m.second = p
	}
}

// listKey is a key in history or log.
func (m *model) listKey(k string) tea.Cmd {
	page := max(m.listHeight()-1, 1)
	s := &m.scroll[m.focus]
	switch k {
	case "k", "up":
		*s++
	case "j", "down":
		*s--
	case "pgup", "ctrl+u":
		*s += page
	case "pgdown", "ctrl+d":
		*s -= page
	case "g", "home":
		*s = 1 << 30
	case "G", "end":
		*s = 0
	case "esc":
		m.goTo(approvalPane)
	case "l":
		if m.focus == logPane {
			m.nextLevel()
		}
	default:
		return m.idleKey(k)
	}
	return nil // relayout bounds it
}

// idleKey is a key when no request has the focus.
func (m *model) idleKey(k string) tea.Cmd {
	switch k {
	case "tab":
		m.move(+1)
	case "shift+tab":
		m.move(-1)
	case "f1", "f2", "f3", "f4":
		m.functionKey(k)
	case "?":
		m.help = 1
	case "m":
		m.toggleMouse()
	case "q":
		return m.askQuit(false)
	}
	return nil
}

// toggleMouse leaves the mouse to the terminal, whose own selection of text it
// else takes Shift for, or takes it back.
func (m *model) toggleMouse() {
	m.noMouse = !m.noMouse
	m.tell(info, map[bool]string{true: "the mouse is the terminal's: select text as ever", false: "the mouse is ours: answers can be clicked"}[m.noMouse])
}

// paste is text pasted in one piece: for the reason field, never an answer.
func (m *model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.cur == nil || m.focus != approvalPane || m.quit || m.help > 0 {
		return nil
	}
	if !m.cur.inReason || m.cur.shut(m.o.Now()) {
		m.closeKeys()
		return nil
	}
	m.cur.touched = true
	msg.Content = strings.Join(strings.Fields(msg.Content), " ")
	return m.cur.update(msg)
}
