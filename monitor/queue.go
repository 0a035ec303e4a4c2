package monitor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/spool"
)

// scanned takes in what a scan found.
func (m *model) scanned(msg scanMsg) tea.Cmd {
	m.scanning = false
	if m.stalled {
		m.stalled = false
		m.say(info, "the spool answers again")
	}
	var cmds []tea.Cmd
	if m.dirty {
		cmds = append(cmds, tea.Tick(scanGap, func(time.Time) tea.Msg { return rescanMsg{} }))
	}
	text := ""
	if err := errors.Join(msg.errs...); err != nil {
		text = m.cs.line(err.Error())
		if text != m.scanErr {
			m.say(warn, text)
		}
	}
	m.scanErr = text
	m.addRecords(msg.records)
	if !msg.known {
		return tea.Batch(cmds...) // not known is not gone
	}

	here := map[string]bool{}
	var fresh, queue []spool.Pending
	for _, p := range msg.pending {
		here[p.ID] = true
		if _, done := m.mine[p.ID]; done {
			continue // answered here; its command has not taken it up yet
		}
		queue = append(queue, p)
		late, known := m.seen[p.ID]
		m.seen[p.ID] = p.Late
		switch {
		case !known && !p.Late:
			fresh = append(fresh, p)
			m.say(asks, fmt.Sprintf("%s asks: %s", m.cs.line(asker(p.Request)), m.cs.brief(p.Request)))
		case !known:
			m.say(info, "gave up before, may still be answered: "+m.cs.brief(p.Request))
		case p.Late && !late:
			m.say(warn, "gave up waiting: "+m.cs.brief(p.Request))
		}
	}
	for _, p := range m.queue {
		if !here[p.ID] {
			cmds = append(cmds, m.gone(p))
		}
	}
	for id := range m.mine {
		if !here[id] {
			delete(m.mine, id)
		}
	}
	m.queue = queue
	m.refocus()
	if len(fresh) > 0 {
		cmds = append(cmds, m.att.call(fresh, m.live()))
	}
	return tea.Batch(cmds...)
}

// gone forgets a request that is no longer pending and finds out what became
// of it. While an answer of ours is on its way, that answer's result tells.
func (m *model) gone(p spool.Pending) tea.Cmd {
	delete(m.seen, p.ID)
	if d := m.drafts[p.ID]; d != nil && d.sending {
		return nil
	}
	delete(m.drafts, p.ID)
	src := m.o.Source
	return func() tea.Msg {
		d, ok := src.Outcome(p.ID)
		return outcomeMsg{p, d, ok}
	}
}

// at is when a decision was made that is heard of now.
func (m *model) at(d spool.Decision) time.Time {
	if now := m.o.Now(); d.At.IsZero() || d.At.After(now) {
		return now
	}
	return d.At
}

// ended reports how a request ended without us.
func (m *model) ended(msg outcomeMsg) {
	if _, ours := m.mine[msg.p.ID]; ours {
		return
	}
	command := m.cs.brief(msg.p.Request)
	switch {
	case !msg.ok:
		m.tell(info, "gone, its command ended before an answer: "+command)
	case msg.d.Verdict == spool.Allowed, msg.d.Verdict == spool.Denied:
		m.tellAt(m.at(msg.d), verdictKind(msg.d.Verdict), fmt.Sprintf("answered elsewhere: %s: %s", m.cs.line(verdictBy(msg.d)), command))
	default:
		m.tellAt(m.at(msg.d), info, fmt.Sprintf("%s: %s", m.cs.line(verdictBy(msg.d)), command))
	}
}

// send hands an answer to the spool.
func (m *model) send(p *prompt, c spool.Choice) tea.Cmd {
	p.sending, p.failed = true, ""
	src, id, reason := m.o.Source, p.p.ID, charset{}.line(strings.TrimSpace(p.reason))
	return func() tea.Msg {
		d, err := src.Answer(id, c, reason)
		return answerMsg{id, c, d, err}
	}
}

// answered takes in what the spool said to an answer.
func (m *model) answered(msg answerMsg) tea.Cmd {
	p := m.drafts[msg.id] // kept while an answer is under way
	p.sending = false
	command := m.cs.brief(p.p.Request)
	switch {
	case msg.err == nil:
		k, s := good, outcome(spool.Allowed, msg.c)
		if msg.c == spool.Refuse {
			k, s = bad, outcome(spool.Denied, msg.c)
		}
		if msg.d.Late {
			s += ", for its next try"
		}
		m.tell(k, fmt.Sprintf("you %s: %s", s, command))
	case errors.Is(msg.err, spool.ErrDecided) && msg.d.Verdict != "":
		m.tellAt(m.at(msg.d), verdictKind(msg.d.Verdict), fmt.Sprintf("answered elsewhere: %s: %s", m.cs.line(verdictBy(msg.d)), command))
	case errors.Is(msg.err, spool.ErrDecided):
		m.tell(info, "answered elsewhere before you: "+command)
	case errors.Is(msg.err, spool.ErrGone):
		m.tell(info, "gone, its command ended before your answer: "+command)
	default:
		text := "nothing was decided: " + m.cs.line(cause(msg.err))
		m.tell(warn, text+": "+command)
		p.failed = text
		p.close(m.o.Now())
		m.refocus()
		return m.scan()
	}
	m.mine[msg.id] = msg.c
	delete(m.drafts, msg.id)
	delete(m.seen, msg.id)
	m.queue = slices.DeleteFunc(m.queue, func(q spool.Pending) bool { return q.ID == msg.id })
	m.refocus()
	return m.scan()
}

// refocus keeps the form on its request while that is pending, and else gives
// it to the next. A request that gave up and was not touched yields to one
// that still waits.
func (m *model) refocus() {
	now, idle := m.o.Now(), m.cur == nil
	if m.cur != nil {
		i := m.index()
		switch {
		case i < 0 && m.cur.sending:
			return // the answer's result comes first
		case i >= 0:
			m.cur.p = m.queue[i]
			if !m.cur.p.Late || m.cur.touched || m.live() == 0 {
				return
			}
		}
	}
	m.cur = nil
	if len(m.queue) > 0 {
		m.show(m.queue[0], now)
		if idle {
			m.focus, m.help = approvalPane, 0
		}
	}
}

// show gives the form to a request; keys are shut for a moment.
func (m *model) show(p spool.Pending, now time.Time) {
	d := m.drafts[p.ID]
	if d == nil {
		d = newPrompt(p, m.st)
		m.drafts[p.ID] = d
	}
	m.cur, d.p, m.quit = d, p, false
	d.close(now)
	d.leaveReason()
}

// index is the place of the current request in the queue, or -1.
func (m *model) index() int {
	return slices.IndexFunc(m.queue, func(p spool.Pending) bool { return p.ID == m.cur.p.ID })
}

// live counts the requests whose commands wait.
func (m *model) live() int {
	n := 0
	for _, p := range m.queue {
		if !p.Late {
			n++
		}
	}
	return n
}

// cause says why nothing could be written, the reason before the path: a narrow
// pane cuts the end.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Sprintf("%v (%s %s)", pe.Err, pe.Op, pe.Path)
	}
	return strings.TrimPrefix(err.Error(), "nothing is decided: ")
}
