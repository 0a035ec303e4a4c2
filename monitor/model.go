package monitor

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/config"
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

// level is that of the event, as log_level names it.
func (e event) level() string {
	switch e.kind {
	case trace:
		return "debug"
	case warn:
		return "warn"
	case fault:
		return "error"
	}
	return "info"
}

// kind gives a line its colour.
type kind int

const (
	info kind = iota
	asks
	good
	bad
	warn
	fault
	trace // what layers say at log_level debug
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
	help   int  // page of the help that is shown, from 1; 0: none
	quit   bool // asked whether to quit

	noMouse bool   // it is left to the terminal
	level   string // the log shows what is of this level, or above

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
	unread  []string // alerts of the log that nobody has seen there
	ticking bool     // a gate tick is on its way
}

// newModel returns the panes before the first scan.
func newModel(ctx context.Context, o Options) *model {
	cs := charsetOf(o.Getenv)
	m := &model{
		ctx: ctx, o: o, cs: cs, st: newStyles(cs), att: newAttention(o),
		focus: approvalPane, second: historyPane,
		level:  cmp.Or(o.LogLevel, "info"),
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
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.FocusMsg:
		m.closeKeys() // the click or the keys that brought the window to the front are not for us
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
		m.alert(m.cs.line(string(msg)))
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

// sayAt adds a line in its place by time: some things are heard of late.
func (m *model) sayAt(at time.Time, k kind, text string) {
	e, i := event{at, k, text}, len(m.log)
	for i > 0 && m.log[i-1].at.After(at) {
		i--
	}
	m.log = slices.Insert(m.log, i, e)
	if len(m.log) > keepLines { // what layers look at goes first
		i := max(slices.IndexFunc(m.log[:keepLines/2], func(e event) bool { return e.kind == trace }), 0)
		m.log = slices.Delete(m.log, i, i+1)
	}
	if m.scroll[logPane] > 0 && m.shows(e) {
		m.scroll[logPane]++ // stay at what is being read
	}
}

// shows reports whether the log pane shows an event at the level chosen.
func (m *model) shows(e event) bool {
	return slices.Index(config.Levels, e.level()) >= slices.Index(config.Levels, m.level)
}

// shownLog are the events that the log pane shows.
func (m *model) shownLog() []event {
	if m.level == config.Levels[0] {
		return m.log
	}
	return slices.DeleteFunc(slices.Clone(m.log), func(e event) bool { return !m.shows(e) })
}

// nextLevel has the log pane show the next level's lines.
func (m *model) nextLevel() {
	m.level = config.Levels[(slices.Index(config.Levels, m.level)+1)%len(config.Levels)]
	m.scroll[logPane] = 0
	if m.level == "debug" && m.o.LogLevel != "debug" {
		m.say(info, "rules that are looked at are told where config.yaml has log_level: debug")
	}
}

// tell is say, and shows the text at the approval pane for a while.
func (m *model) tell(k kind, text string) { m.tellAt(m.o.Now(), k, text) }

func (m *model) tellAt(at time.Time, k kind, text string) {
	m.sayAt(at, k, text)
	m.notice, m.noticed = text, m.o.Now()
}

// alert is tell for what keeps requests from being seen or answered. It stands in
// the empty approval pane until the log has been looked at, which smaller
// terminals do not show.
func (m *model) alert(text string) {
	m.tell(warn, text)
	m.unread = append(m.unread, text)
	if n := len(m.unread) - 3; n > 0 {
		m.unread = slices.Delete(m.unread, 0, n)
	}
}

// addRecords puts decisions into the history. Of one request there is one
// line: what its asker journals completes what the answering side did.
func (m *model) addRecords(rs []Record) {
	added := 0
	for _, r := range rs {
		if r.Note != "" {
			m.sayAt(r.At, map[string]kind{"DEBUG": trace, "WARN": warn, "ERROR": fault}[r.Level], m.cs.line(r.Note))
			continue
		}
		if i := m.record(r.ID); i >= 0 && !(decided(r) && !decided(m.history[i])) {
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

// decided tells a decision, which somebody made, from a request's end without one.
// What is decided after such an end has a line of its own.
func decided(r Record) bool { return r.Verdict == spool.Allowed || r.Verdict == spool.Denied }

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
