package monitor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/spool"
)

// rig drives a model by messages, without a terminal. Commands are run at
// once, except those that wait for time or hints.
type rig struct {
	t   *testing.T
	src *fake
	*model
}

func newRig(t *testing.T, w, h int, ps ...spool.Pending) *rig {
	t.Helper()
	src := newFake(newClock())
	src.queue = ps
	o := Options{Source: src, Getenv: env(), Now: src.clock.now, Spool: "/s", Version: "0.1.0"}
	r := &rig{t, src, newModel(context.Background(), o)}
	r.send(tea.WindowSizeMsg{Width: w, Height: h})
	r.rescan()
	return r
}

// rescan reads the source as the tick does.
func (r *rig) rescan() {
	r.t.Helper()
	r.send(read(r.src))
}

// send gives a message to the model and carries out what it asks for, as far
// as that is ours and ends.
func (r *rig) send(msg tea.Msg) {
	r.t.Helper()
	r.Update(msg)
	r.View()
}

// carry runs the command that an update returned and sends back its message.
func (r *rig) carry(cmd tea.Cmd) {
	r.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			r.carry(c)
		}
	case answerMsg, outcomeMsg, scanMsg:
		next := r.update(msg)
		r.relayout()
		r.carry(next)
	}
}

// press types keys by name, carrying out answers.
func (r *rig) press(names ...string) {
	r.t.Helper()
	for _, n := range names {
		cmd := r.key(keyPress(n))
		r.relayout()
		if r.cur != nil && r.cur.sending {
			r.carry(cmd)
		}
	}
}

// pass lets time go by.
func (r *rig) pass(d time.Duration) { r.src.clock.add(d) }

// ready opens the keys.
func (r *rig) ready() { r.pass(quiet) }

// keyPress is a key press by bubbletea's name for it.
func keyPress(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace,
		"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4,
	}
	var mod tea.KeyMod
	base := name
	if s, ok := strings.CutPrefix(base, "ctrl+"); ok {
		mod, base = tea.ModCtrl, s
	} else if s, ok := strings.CutPrefix(base, "shift+"); ok {
		mod, base = tea.ModShift, s
	} else if s, ok := strings.CutPrefix(base, "alt+"); ok {
		mod, base = tea.ModAlt, s
	}
	if c, ok := codes[base]; ok {
		return tea.KeyPressMsg{Code: c, Mod: mod}
	}
	k := tea.KeyPressMsg{Code: []rune(base)[0], Mod: mod}
	if mod == 0 {
		k.Text = base
	}
	return k
}

func (r *rig) answers(want ...string) {
	r.t.Helper()
	if got := r.src.given(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("answers: %q, want %q", got, want)
	}
}

func (r *rig) screenText() string { return plainText(strings.Join(r.screen(), "\n")) }

func TestDigitsAnswerAtOnce(t *testing.T) {
	for i := 1; i <= 4; i++ {
		r := newRig(t, 80, 24, full("r1"))
		r.ready()
		r.press(fmt.Sprint(i))
		r.answers(fmt.Sprintf("r1 %d", i))
	}
}

func TestEnterDeniesByDefault(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("enter")
	r.answers("r1 4")
}

func TestArrowsAndEnter(t *testing.T) {
	for ups, want := range []string{"r1 4", "r1 3", "r1 2", "r1 1", "r1 4"} {
		r := newRig(t, 80, 24, full("r1"))
		r.ready()
		for range ups {
			r.press("up")
		}
		if c := r.cur.choice; !strings.Contains(r.screenText(), fmt.Sprintf("> %d  %s", c, label(c, false))) {
			t.Errorf("%d times up: choice %d is not the highlighted one:\n%s", ups, c, r.screenText())
		}
		r.press("enter")
		r.answers(want)
	}
}

func TestKeysAreShutForHalfASecond(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	if !strings.Contains(r.screenText(), "keys open in 0.5 s") {
		t.Errorf("not said on the screen:\n%s", r.screenText())
	}
	r.press("1", "enter", "up", "down", "up", "q", "x")
	r.pass(quiet - time.Millisecond)
	r.press("1")
	r.answers()
	if r.cur.inReason || r.cur.choice != spool.Refuse || r.quit {
		t.Error("a key acted while keys were shut")
	}
	// The last key shut them anew.
	r.pass(quiet - time.Millisecond)
	r.press("1")
	r.answers()
	r.pass(quiet)
	r.press("1")
	r.answers("r1 1")
}

// What only looks around is not shut out, and shuts nothing out longer.
func TestLookingAroundIsNeverShutOut(t *testing.T) {
	r := newRig(t, 80, 24, long("1"), full("r2"))
	r.press("pgdown")
	if r.cur.top == 0 {
		t.Error("PgDn is shut out")
	}
	r.press("f3")
	if r.focus != historyPane {
		t.Error("F3 is shut out")
	}
	r.press("f2", "tab")
	if !r.cur.inReason {
		t.Error("Tab is shut out")
	}
	r.press("shift+tab", "right")
	if r.cur.p.ID != "r2" {
		t.Error("Right is shut out")
	}
	r.press("?")
	if r.help != 1 {
		t.Error("? is shut out")
	}
	r.press("esc")
	r.pass(quiet / 2)
	r.press("left")
	r.pass(quiet - time.Millisecond)
	r.press("end", "home", "pgup")
	r.pass(time.Millisecond)
	if r.cur.shut(r.src.clock.now()) {
		t.Error("looking around shut the answers out longer")
	}
	r.answers()
	// Text typed into the reason before it could be meant is not kept.
	r.press("right", "tab", "g", "o", "enter")
	if r.answers(); r.cur.reason != "" {
		t.Errorf("reason %q", r.cur.reason)
	}
}

func TestTypingOnAnswersNothing(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"), full("r2"))
	r.ready()
	for _, c := range "see line 1 of 2, then 3\n" {
		if c == '\n' {
			r.press("enter")
			continue
		}
		r.press(string(c))
		r.pass(200 * time.Millisecond)
	}
	r.answers()
	// The answer to one request does not run over into the next.
	r.ready()
	r.press("1", "1", "1")
	r.answers("r1 1")
}

// A terminal's report that arrives in pieces looks like keys with digits.
func TestBrokenSequencesAnswerNothing(t *testing.T) {
	for _, keys := range []string{"[?2026;1$y", "[?1u", "O2P", "]11;rgb:1111/2222/3333"} {
		r := newRig(t, 80, 24, full("r1"))
		r.ready()
		r.press("esc")
		for _, k := range keys {
			r.press(string(k))
		}
		r.answers()
		if r.help > 0 || r.quit {
			t.Errorf("%q opened something", keys)
		}
	}
}

func TestPasteAnswersNothing(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.send(tea.PasteMsg{Content: "1\n"})
	r.answers()
	r.ready()
	r.press("tab")
	r.send(tea.PasteMsg{Content: "1\n2\x1b[31m x"})
	if got := r.cur.reason; got != "1 2[31m x" && got != "1 2\x1b[31m x" {
		t.Errorf("reason %q", got)
	}
	r.answers()
	r.press("enter")
	if got := r.src.given()[0]; strings.ContainsRune(got, 0x1b) {
		t.Errorf("the reason went out raw: %q", got)
	}
}

func TestDigitsInTheReasonAreText(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("tab", "1", "2", "q", "?", "j", "4")
	r.answers()
	if r.cur.reason != "12q?j4" {
		t.Errorf("reason %q", r.cur.reason)
	}
	if s := r.screenText(); !strings.Contains(s, "12q?j4") || !strings.Contains(s, "Enter sends: 4 deny") {
		t.Errorf("the screen does not say what Enter does:\n%s", s)
	}
	r.press("backspace", "up", "up", "up", "enter")
	r.answers("r1 1 12q?j")
}

func TestEscLeavesTheReasonAndKeepsIt(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("tab", "n", "o", "esc", "1")
	r.answers()
	r.ready()
	if !strings.Contains(r.screenText(), "Reason: no") {
		t.Errorf("reason lost:\n%s", r.screenText())
	}
	r.press("4")
	r.answers("r1 4 no")
}

func TestNewRequestsDoNotStealTheFocus(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("tab", "n")
	r.src.ask(req("r0", "rm", "x"))
	r.rescan()
	r.press("o", "enter")
	r.answers("r1 4 no")
	if r.cur.p.ID != "r0" || !r.cur.shut(r.src.clock.now()) {
		t.Error("the next one does not stand there with its keys shut")
	}
}

func TestALiveRequestReplacesAnUntouchedLateOne(t *testing.T) {
	late := full("r1")
	late.Late = true
	late.Decision = &spool.Decision{Verdict: spool.TimedOut, By: "requester", At: start.Add(-2 * time.Minute)}
	r := newRig(t, 80, 24, late)
	for _, want := range []string{"gave up 2 min ago", "It gave up waiting. Your answer serves its next try", "allow its next try, once", "none waiting", "1 gave up"} {
		if s := strings.Join(strings.Fields(r.screenText()), " "); !strings.Contains(s, want) {
			t.Errorf("%q is not on the screen:\n%s", want, r.screenText())
		}
	}
	if title := r.View().WindowTitle; title != "safeshell watch" {
		t.Errorf("title %q", title)
	}
	r.src.queue = []spool.Pending{req("r2", "ls"), late}
	r.rescan()
	if r.cur.p.ID != "r2" {
		t.Fatal("the live one is not shown")
	}
	r.ready()
	r.press("right")
	r.ready()
	r.src.queue = []spool.Pending{req("r2", "ls"), req("r3", "ls"), late}
	r.rescan()
	if r.cur.p.ID != "r1" {
		t.Error("the late one was taken away although it was being answered")
	}
	r.press("1")
	r.answers("r1 1")
}

func TestGivingUpKeepsTheForm(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("tab", "o", "k")
	r.src.queue[0].Late = true
	r.rescan()
	if r.cur == nil || r.cur.reason != "ok" {
		t.Fatal("the form is gone")
	}
	r.press("enter")
	r.answers("r1 4 ok")
}

func TestAnsweredElsewhere(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.src.elsewhere("r1", spool.Decision{Verdict: spool.Allowed, Choice: spool.Once, By: "monitor", MonitorID: "k3f9"})
	// Seen before an answer was given.
	cmd := r.scanned(read(r.src))
	r.carry(cmd)
	if s := r.screenText(); r.cur != nil || !strings.Contains(s, "answered elsewhere: allowed once by monitor k3f9") {
		t.Errorf("not said:\n%s", s)
	}

	// Found out by answering second.
	r = newRig(t, 80, 24, full("r1"))
	r.ready()
	r.src.outcomes["r1"] = spool.Decision{Verdict: spool.Denied, Choice: spool.Refuse, By: "cli", Reason: "no\x1b[2J"}
	r.press("1")
	r.answers()
	if s := r.screenText(); r.cur != nil || !strings.Contains(s, "answered elsewhere: denied by safeshell approve or deny (no<ESC>[2J)") {
		t.Errorf("not said:\n%s", s)
	}
}

func TestGone(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.src.queue = nil
	r.carry(r.scanned(read(r.src)))
	if s := r.screenText(); r.cur != nil || !strings.Contains(s, "gone, its command ended before an answer") {
		t.Errorf("not said:\n%s", s)
	}
	r = newRig(t, 80, 24, full("r1"))
	r.ready()
	r.src.queue = nil
	r.press("1")
	if s := r.screenText(); r.cur != nil || !strings.Contains(s, "gone, its command ended before your answer") {
		t.Errorf("not said:\n%s", s)
	}
}

func TestAFailedAnswerStays(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.src.err = errDisk
	r.press("tab", "w", "h", "y", "enter")
	if s := r.screenText(); r.cur == nil || r.cur.sending || r.cur.reason != "why" || !strings.Contains(s, "nothing was decided: write decision: no space") {
		t.Errorf("not said, or lost:\n%s", s)
	}
	r.src.err = nil
	r.ready()
	r.press("enter")
	r.answers("r1 4 why")
}

func TestAnUnreadableSpoolKeepsTheRequests(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.src.pendErr = errDisk
	r.src.queue = nil
	r.rescan()
	if s := r.screenText(); r.cur == nil || !strings.Contains(s, "the spool cannot be read") {
		t.Errorf("not said, or lost:\n%s", s)
	}
}

func TestALongCommandMustBeReadBeforeItIsAllowed(t *testing.T) {
	r := newRig(t, 80, 24, long(""))
	r.ready()
	if s := r.screenText(); !strings.Contains(s, "more lines (PgDn)") || !strings.Contains(s, "Read the command to its end") {
		t.Errorf("not said:\n%s", s)
	}
	r.press("1")
	r.answers()
	if s := r.screenText(); !strings.Contains(s, "read the command to its end first") || !strings.Contains(s, "> 4  deny") {
		t.Errorf("not said, or no longer on deny:\n%s", s)
	}
	r.ready()
	r.press("end")
	if s := r.screenText(); !strings.Contains(s, "lines above") {
		t.Errorf("the end is not shown:\n%s", s)
	}
	r.press("1")
	r.answers("long 1")

	r = newRig(t, 80, 24, long(""))
	r.ready()
	seen := ""
	for range 20 {
		seen += r.screenText()
		r.press("pgdown")
	}
	for i := range 80 {
		if !strings.Contains(seen, fmt.Sprintf("argument-%02d", i)) {
			t.Errorf("argument %d was never on the screen", i)
		}
	}
	r.press("2")
	r.answers("long 2")

	r = newRig(t, 80, 24, long(""))
	r.ready()
	r.press("4")
	r.answers("long 4")
}

func TestQuitAsksWhileRequestsWait(t *testing.T) {
	quits := func(cmd tea.Cmd) bool {
		if cmd == nil {
			return false
		}
		_, ok := cmd().(tea.QuitMsg)
		return ok
	}
	r := newRig(t, 80, 24)
	if !quits(r.key(keyPress("q"))) {
		t.Error("q does not quit an idle monitor")
	}
	r = newRig(t, 80, 24, full("r1"))
	r.ready()
	if quits(r.key(keyPress("q"))) || !strings.Contains(r.screenText(), "Quit? 1 command waits and is denied without a monitor. y yes") {
		t.Errorf("did not ask:\n%s", r.screenText())
	}
	r.press("1")
	r.answers()
	r.ready()
	r.key(keyPress("q"))
	if !quits(r.key(keyPress("y"))) {
		t.Error("y does not quit")
	}
	r = newRig(t, 80, 24, full("r1"))
	if quits(r.key(keyPress("ctrl+c"))) || !quits(r.key(keyPress("ctrl+c"))) {
		t.Error("ctrl+c must ask once and quit the second time, also while keys are shut")
	}
}

func TestRefusedAnswers(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.o.Refuse = "an agent is calling"
	r.ready()
	r.press("1")
	r.answers()
	if !strings.Contains(r.screenText(), "Answers are refused here: an agent is calling") {
		t.Errorf("not said:\n%s", r.screenText())
	}
}
