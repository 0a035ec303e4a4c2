package monitor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/spool"
)

// pane is one of the three parts of the screen.
type pane int

const (
	approvalPane pane = iota
	historyPane
	logPane
	panes
)

const (
	quiet       = 500 * time.Millisecond // how long keys stay shut
	scanEvery   = time.Second            // rescan, should a hint be lost
	scanGap     = 100 * time.Millisecond // least time between scans
	stallAfter  = 3 * time.Second        // a scan that takes longer is reported
	noticeShown = 8 * time.Second
	keepLines   = 1000 // of log and of history
)

// event is a line of the log pane.
type event struct {
	at   time.Time
	kind kind
	text string // clean
}

// kind gives a line its colour.
type kind int

const (
	info kind = iota
	asks
	good
	bad
	warn
)

// model is the whole state of the panes. All of it is display: the truth is in
// the spool. It is changed by Update alone.
type model struct {
	ctx context.Context
	o   Options
	cs  charset
	st  styles
	att *attention

	w, h   int
	focus  pane
	second pane // the pane beside approval when there is room for two
	help   bool
	quit   bool // asked whether to quit

	queue  []spool.Pending         // as of the last scan
	cur    *prompt                 // the request that has the form; nil: none
	drafts map[string]*prompt      // forms of pending requests visited before
	seen   map[string]bool         // pending ids known, with whether late
	mine   map[string]spool.Choice // answered here, until the scan drops it

	scanning bool // one scan at a time
	dirty    bool // something changed since the scan began
	scanFrom time.Time
	stalled  bool
	scanErr  string

	log     []event
	history []Record
	scroll  [panes]int // lines up from the newest
	notice  string     // what became of the last request
	noticed time.Time
	ticking bool // a gate tick is on its way
}

// newModel returns the panes before the first scan.
func newModel(ctx context.Context, o Options) *model {
	cs := charsetOf(o.Getenv)
	m := &model{
		ctx: ctx, o: o, cs: cs, st: newStyles(cs), att: newAttention(o),
		focus: approvalPane, second: historyPane,
		drafts: map[string]*prompt{}, seen: map[string]bool{}, mine: map[string]spool.Choice{},
	}
	m.say(info, "watching "+cs.line(o.Spool))
	if o.Refuse != "" {
		m.say(warn, "answers are refused here: "+cs.line(o.Refuse))
	}
	return m
}

// Messages of the commands below.
type (
	tickMsg    struct{}
	gateMsg    struct{}
	rescanMsg  struct{}
	changeMsg  struct{}
	warningMsg string
	scanMsg    struct {
		pending []spool.Pending
		known   bool // pending could be read
		records []Record
		errs    []error
	}
	answerMsg struct {
		id  string
		c   spool.Choice
		d   spool.Decision
		err error
	}
	outcomeMsg struct {
		p  spool.Pending
		d  spool.Decision
		ok bool
	}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.scan(), m.tick(), m.waitChange(), m.waitWarning())
}

func (m *model) tick() tea.Cmd {
	return tea.Tick(scanEvery, func(time.Time) tea.Msg { return tickMsg{} })
}

// gateTick redraws while keys are shut.
func (m *model) gateTick() tea.Cmd {
	if m.ticking || m.cur == nil || !m.cur.shut(m.o.Now()) {
		return nil
	}
	m.ticking = true
	return tea.Tick(scanGap, func(time.Time) tea.Msg { return gateMsg{} })
}

func (m *model) waitChange() tea.Cmd {
	ch := m.o.Source.Changes()
	return func() tea.Msg {
		select {
		case <-m.ctx.Done():
			return nil
		case _, ok := <-ch:
			if !ok {
				return nil // the tick goes on
			}
			return changeMsg{}
		}
	}
}

func (m *model) waitWarning() tea.Cmd {
	ch := m.o.Source.Warnings()
	return func() tea.Msg {
		select {
		case <-m.ctx.Done():
			return nil
		case s, ok := <-ch:
			if !ok {
				return nil
			}
			return warningMsg(s)
		}
	}
}

// scan reads spool and journal, in the background and once at a time.
func (m *model) scan() tea.Cmd {
	if m.scanning {
		m.dirty = true
		return nil
	}
	m.scanning, m.dirty, m.scanFrom = true, false, m.o.Now()
	src := m.o.Source
	return func() tea.Msg { return read(src) }
}

// read asks a source for all there is.
func read(src Source) (msg scanMsg) {
	var err error
	if msg.pending, err = src.Pending(); err != nil {
		msg.errs = append(msg.errs, err)
	}
	msg.known = err == nil || msg.pending != nil // those that wait may be known without the late ones
	if msg.records, err = src.Records(); err != nil {
		msg.errs = append(msg.errs, err)
	}
	return msg
}

// Update implements tea.Model. It never blocks.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.relayout()
	return m, tea.Batch(cmd, m.gateTick())
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tickMsg:
		if m.scanning && !m.stalled && m.o.Now().Sub(m.scanFrom) > stallAfter {
			m.stalled = true
			m.say(warn, "the spool does not answer (slow or hung disk?); still trying")
		}
		return tea.Batch(m.tick(), m.scan())
	case gateMsg:
		m.ticking = false
	case rescanMsg:
		return m.scan()
	case changeMsg:
		return tea.Batch(m.waitChange(), m.scan())
	case warningMsg:
		m.say(warn, m.cs.line(string(msg)))
		return m.waitWarning()
	case scanMsg:
		return m.scanned(msg)
	case answerMsg:
		return m.answered(msg)
	case outcomeMsg:
		m.ended(msg)
	default:
		if m.cur != nil {
			return m.cur.update(msg) // the cursor's blinking
		}
	}
	return nil
}

// say adds a line to the log.
func (m *model) say(k kind, text string) { m.sayAt(m.o.Now(), k, text) }

func (m *model) sayAt(at time.Time, k kind, text string) {
	m.log = append(m.log, event{at, k, text})
	if n := len(m.log) - keepLines; n > 0 {
		m.log = slices.Delete(m.log, 0, n)
	}
	if m.scroll[logPane] > 0 {
		m.scroll[logPane]++ // stay at what is being read
	}
}

// tell is say, and shows the text at the approval pane for a while.
func (m *model) tell(k kind, text string) {
	m.say(k, text)
	m.notice, m.noticed = text, m.o.Now()
}

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
		m.tell(verdictKind(msg.d.Verdict), fmt.Sprintf("answered elsewhere: %s: %s", m.cs.line(verdictBy(msg.d)), command))
	default:
		m.tell(info, fmt.Sprintf("%s: %s", m.cs.line(verdictBy(msg.d)), command))
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
		m.tell(verdictKind(msg.d.Verdict), fmt.Sprintf("answered elsewhere: %s: %s", m.cs.line(verdictBy(msg.d)), command))
	case errors.Is(msg.err, spool.ErrDecided):
		m.tell(info, "answered elsewhere before you: "+command)
	case errors.Is(msg.err, spool.ErrGone):
		m.tell(info, "gone, its command ended before your answer: "+command)
	default:
		text := "nothing was decided: " + m.cs.line(msg.err.Error())
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
			m.focus, m.help = approvalPane, false
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

// addRecords puts decisions into the history. Of one request there is one
// line: what its asker journals completes what the answering side did.
func (m *model) addRecords(rs []Record) {
	added := 0
	for _, r := range rs {
		if r.Note != "" {
			m.sayAt(r.At, info, m.cs.line(r.Note))
			continue
		}
		if i := m.record(r.ID); i >= 0 {
			old := m.history[i]
			r.By = cmp.Or(old.By, r.By)
			r.Reason = cmp.Or(r.Reason, old.Reason)
			r.Waited = max(r.Waited, old.Waited)
			m.history[i] = r
			continue
		}
		m.history = append(m.history, r)
		added++
	}
	if n := len(m.history) - keepLines; n > 0 {
		m.history = slices.Delete(m.history, 0, n)
	}
	if m.scroll[historyPane] > 0 {
		m.scroll[historyPane] += added
	}
}

// record is the place of a request's line among the newest of the history, or
// -1.
func (m *model) record(id string) int {
	for i := len(m.history) - 1; id != "" && i >= max(len(m.history)-200, 0); i-- {
		if m.history[i].ID == id {
			return i
		}
	}
	return -1
}

// verdictKind is the colour of a verdict.
func verdictKind(v spool.Verdict) kind {
	switch v {
	case spool.Allowed:
		return good
	case spool.Denied:
		return bad
	}
	return warn
}
