package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/spool"
)

// clickOn presses the left button where a text is on the screen, carrying out an
// answer.
func (r *rig) clickOn(text string) {
	r.t.Helper()
	lines := strings.Split(r.screenText(), "\n")
	for y := len(lines) - 2; y > 0; y-- { // the choices stand below what is said of them
		if before, _, ok := strings.Cut(lines[y], text); ok {
			r.clickAt(width(before), y)
			return
		}
	}
	r.t.Fatalf("%q is not on the screen:\n%s", text, r.screenText())
}

func (r *rig) clickAt(x, y int) {
	r.t.Helper()
	cmd := r.update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	r.relayout()
	if r.cur != nil && r.cur.sending {
		r.carry(cmd)
	}
}

func TestAnswersCanBeClicked(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 15}, {100, 40}} {
		for _, c := range choices {
			r := newRig(t, size[0], size[1], full("r1"))
			r.ready()
			text := label(c, false)
			if r.area().compact {
				text = c.String()
				if !strings.Contains(r.screenText(), text) {
					text = fmt.Sprint(int(c)) + " "
				}
			}
			if !r.cur.readAll {
				r.press("end")
			}
			r.clickOn(text)
			r.answers(fmt.Sprintf("r1 %d", c))
		}
	}
}

// A click answers under the guards of the keys, and nothing beside the answers
// does.
func TestClicksThatAnswerNothing(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.clickOn("allow once")
	r.pass(quiet - time.Millisecond)
	r.clickOn("allow once")
	r.pass(quiet - time.Millisecond)
	r.clickOn("allow once")
	r.answers()
	r.ready()
	r.clickOn("git push --force")
	r.clickOn("Answer  1-4")
	for y, line := range strings.Split(r.screenText(), "\n") {
		if strings.Contains(line, "allow once") {
			r.clickAt(70, y) // the empty part of its line
			r.clickAt(0, y)
		}
	}
	r.answers()
	// The pane is brought to the front first; so is the window.
	r.press("f3")
	r.clickOn("allow once")
	r.answers()
	if r.focus != approvalPane || !r.cur.shut(r.src.clock.now()) {
		t.Error("the click did not bring the pane to the front, or its answers are open")
	}
	r.ready()
	r.update(tea.FocusMsg{})
	r.clickOn("allow once")
	r.answers()
	r.ready()
	// Other buttons, help and the question whether to quit.
	r.update(tea.MouseClickMsg{X: 5, Y: 14, Button: tea.MouseRight})
	r.press("?")
	r.clickAt(5, 14)
	r.clickOn("allow once")
	r.answers()
	r.ready()
	r.press("q")
	r.clickOn("allow once")
	r.clickOn("allow once")
	r.answers()
	// Nothing is allowed that was not read.
	r = newRig(t, 80, 24, long(""))
	r.ready()
	r.clickOn("allow once")
	r.answers()
	if !strings.Contains(r.screenText(), "read the command to its end first") {
		t.Errorf("not said:\n%s", r.screenText())
	}
	r.ready()
	r.clickOn("4  deny")
	r.answers("long 4")
	// Nor where answers are refused.
	r = newRig(t, 80, 24, full("r1"))
	r.o.Refuse = "an agent is calling"
	r.ready()
	r.clickOn("allow once")
	r.answers()
}

func TestMouseElsewhere(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.clickOn("Reason:")
	r.press("n", "o")
	if r.cur.reason != "no" {
		t.Errorf("the reason is %q", r.cur.reason)
	}
	r.clickOn("deny")
	r.answers("r1 4 no")
	// The wheel scrolls what it is over.
	r = newRig(t, 80, 24, long(""))
	r.update(tea.MouseWheelMsg{X: 10, Y: 5, Button: tea.MouseWheelDown})
	r.relayout()
	if r.cur.top == 0 {
		t.Error("the command did not scroll")
	}
	r = newRig(t, 200, 50)
	for i := range 200 {
		r.say(info, fmt.Sprint("line ", i))
	}
	r.clickOn("Log")
	r.update(tea.MouseWheelMsg{X: 150, Y: 40, Button: tea.MouseWheelUp})
	r.relayout()
	if r.focus != logPane || r.scroll[logPane] != wheelLines {
		t.Errorf("focus %d, scroll %d", r.focus, r.scroll[logPane])
	}
	// The mouse can be left to the terminal.
	if r.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("no clicks are reported")
	}
	r.press("m")
	if r.View().MouseMode != tea.MouseModeNone {
		t.Error("the terminal did not get its mouse back")
	}
}

// What became of a request never stands on the frame of the next.
func TestAResultIsNotOnTheNextPrompt(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 15}, {200, 50}} {
		r := newRig(t, size[0], size[1], full("r1"), req("r2", "terraform", "apply"))
		r.ready()
		r.press("4")
		lines := strings.Split(r.screenText(), "\n")
		b, _ := r.approvalBox()
		for _, l := range lines[b.y : b.y+b.h] {
			if at := strings.Index(l, "you denied"); at >= 0 && at < b.w {
				t.Errorf("%v: %s", size, l)
			}
		}
		if r.cur == nil || r.cur.p.ID != "r2" {
			t.Fatal("the next one is not shown")
		}
		if s := r.screenText(); !strings.Contains(s, "you denied") {
			t.Errorf("%v: not said at all:\n%s", size, s)
		}
	}
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("4")
	if s := r.screenText(); !strings.Contains(s, "you denied") {
		t.Errorf("not said:\n%s", s)
	}
}

// The log is in the order of time, also for what is heard of late.
func TestTheLogIsInOrder(t *testing.T) {
	r := newRig(t, 200, 50, full("r1"))
	decided := r.src.clock.now().Add(10 * time.Second)
	r.pass(12 * time.Second)
	r.say(info, "something else")
	r.src.elsewhere("r1", spool.Decision{Verdict: spool.Denied, By: "cli", At: decided})
	r.carry(r.scanned(read(r.src)))
	s := r.screenText()
	at, other := strings.Index(s, "14:03:32 answered elsewhere: denied"), strings.Index(s, "14:03:34 something else")
	if at < 0 || other < at {
		t.Errorf("not in order:\n%s", s)
	}
}

// The log pane shows the lines of a level and above; a key changes which.
func TestLogLevels(t *testing.T) {
	r := newRig(t, 200, 50)
	r.addRecords([]Record{
		{At: r.src.clock.now(), Note: "[DEBUG] Rule x matches", Level: "DEBUG"}, {At: r.src.clock.now(), Note: "[INFO] Evaluating: ls", Level: "INFO"},
		{At: r.src.clock.now(), Note: "[WARN] careful", Level: "WARN"}, {At: r.src.clock.now(), Note: "[ERROR] broken", Level: "ERROR"},
	})
	r.press("f4")
	for _, c := range []struct{ level, shown, hidden string }{
		{"info", "[INFO] Evaluating: ls", "[DEBUG]"}, {"warn", "[WARN] careful", "[INFO]"}, {"error", "[ERROR] broken", "[WARN]"},
		{"debug", "[DEBUG] Rule x matches", "nothing"}, {"info", "[WARN] careful", "[DEBUG]"},
	} {
		s := r.screenText()
		if r.level != c.level || !strings.Contains(s, c.shown) || strings.Contains(s, c.hidden) {
			t.Errorf("%s (%s):\n%s", c.level, r.level, s)
		}
		r.press("l")
	}
	// What rules were looked at never drives the rest out.
	r = newRig(t, 200, 50)
	for i := range 3 * keepLines {
		r.sayAt(r.src.clock.now(), trace, fmt.Sprint("[DEBUG] ", i))
	}
	if len(r.log) != keepLines || !strings.Contains(r.screenText(), "watching /s") {
		t.Errorf("%d lines:\n%s", len(r.log), r.screenText())
	}
}

// A person's late answer is theirs, beside that the request gave up.
func TestHistoryOfALateAnswer(t *testing.T) {
	r := newRig(t, 200, 50)
	l := &Live{answered: map[string]bool{}}
	at := r.src.clock.now()
	for _, e := range []spool.Entry{
		{Kind: spool.KindDecision, ID: "r1", Action: "timeout", By: spool.ByRequester, Time: at, Command: "git push -f", Rule: "f"},
		{Kind: spool.KindAnswer, ID: "r1", Action: "asked-allow", Choice: spool.Once, By: spool.ByCLI, Time: at.Add(time.Second), Command: "git push -f", Rule: "f", Notes: []string{spool.LateNote}},
		{Kind: spool.KindDecision, ID: "r1", Action: "asked-allow", Choice: spool.Once, By: spool.ByLate, Time: at.Add(2 * time.Second), Command: "git push -f", Rule: "f"},
	} {
		rec, ok := l.record(e)
		if !ok {
			t.Fatalf("%+v is not shown", e)
		}
		r.addRecords([]Record{rec})
	}
	var got []string
	for _, h := range r.history {
		got = append(got, h.Outcome+" by "+byWords(h.By))
	}
	if want := "gave up by nobody; allowed later by approve or deny; allowed once by a late answer"; strings.Join(got, "; ") != want {
		t.Errorf("%q", got)
	}
}
