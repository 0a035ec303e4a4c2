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

func TestMovingBetweenRequests(t *testing.T) {
	r := newRig(t, 80, 24, req("a", "ls"), req("b", "ls"), req("c", "ls"))
	r.ready()
	r.press("right")
	if r.cur.p.ID != "b" {
		t.Fatal(r.cur.p.ID)
	}
	r.press("1") // shut
	r.answers()
	r.ready()
	r.press("tab", "x", "esc")
	r.ready()
	r.press("left")
	r.ready()
	r.press("left")
	if r.cur.p.ID != "c" {
		t.Fatal(r.cur.p.ID)
	}
	r.ready()
	r.press("left")
	if r.cur.p.ID != "b" || r.cur.reason != "x" {
		t.Error("the draft is gone")
	}
	r.ready()
	r.press("4")
	r.answers("b 4 x")
}

func TestPanes(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	r.press("tab", "tab") // reason, history
	if r.focus != historyPane {
		t.Fatal(r.focus)
	}
	r.press("1", "4", "enter")
	r.answers()
	r.press("tab")
	if r.focus != logPane || r.second != logPane || !strings.Contains(r.screenText(), "Log") {
		t.Fatal(r.focus)
	}
	r.press("tab")
	if r.focus != approvalPane {
		t.Fatal(r.focus)
	}
	r.press("1") // shut: it took the focus
	r.answers()
	r.ready()
	r.press("f3")
	r.press("f4")
	r.press("f2")
	r.ready()
	r.press("shift+tab")
	if r.focus != logPane {
		t.Fatal(r.focus)
	}
	r.press("esc", "1")
	r.answers()
	r.ready()
	r.press("f1")
	if !strings.Contains(r.screenText(), "F2 F3 F4") {
		t.Error("no help")
	}
	r.press("1", "1")
	r.answers()
	r.ready()
	r.press("1")
	r.answers("r1 1")
}

func TestARequestTakesTheFocusWhenNoneHasIt(t *testing.T) {
	r := newRig(t, 80, 24)
	r.press("tab", "?")
	r.src.ask(full("r1"))
	r.rescan()
	if r.focus != approvalPane || r.help > 0 {
		t.Error("the request is hidden")
	}
	r.press("1")
	r.answers()
}

func TestHistoryScrolls(t *testing.T) {
	r := newRig(t, 80, 24)
	for i := range 100 {
		r.src.past = append(r.src.past, Record{At: start, Command: fmt.Sprintf("cmd-%03d", i), Outcome: "denied", By: "rule"})
	}
	r.rescan()
	r.press("f3")
	if s := r.screenText(); !strings.Contains(s, "cmd-099") {
		t.Errorf("the newest is not in sight:\n%s", s)
	}
	r.press("k", "k", "k")
	if s := r.screenText(); strings.Contains(s, "cmd-099") || !strings.Contains(s, "cmd-096") || !strings.Contains(s, "3 newer below") {
		t.Errorf("not scrolled:\n%s", s)
	}
	r.src.past = append(r.src.past, Record{At: start, Command: "cmd-100", Outcome: "denied"})
	r.rescan()
	if s := r.screenText(); !strings.Contains(s, "cmd-096") || !strings.Contains(s, "4 newer below") {
		t.Errorf("what was read moved away:\n%s", s)
	}
	r.press("g")
	if s := r.screenText(); !strings.Contains(s, "cmd-000") {
		t.Errorf("not at the top:\n%s", s)
	}
	r.press("G")
	if s := r.screenText(); !strings.Contains(s, "cmd-100") {
		t.Errorf("not at the end:\n%s", s)
	}
}

func TestManyRequests(t *testing.T) {
	var ps []spool.Pending
	for i := range 500 {
		ps = append(ps, req(fmt.Sprintf("r%03d", i), "rm", fmt.Sprint(i)))
	}
	r := newRig(t, 80, 24, ps...)
	if s := r.screenText(); !strings.Contains(s, "Approval 1 of 500") || !strings.Contains(s, "500 waiting") {
		t.Errorf("not said:\n%s", s)
	}
	if n := len(r.drafts); n != 1 {
		t.Errorf("%d forms were made for one request on the screen", n)
	}
	r.ready()
	r.press("left")
	if r.cur.p.ID != "r499" {
		t.Error(r.cur.p.ID)
	}
	for range 30 {
		r.ready()
		r.press("4")
	}
	if n := len(r.src.given()); n != 30 || !strings.Contains(r.screenText(), "470 waiting") {
		t.Errorf("%d answers", n)
	}
}

// No size of the terminal breaks a line, adds one, or panics; below 20 x 6
// nothing can be answered.
func TestEverySize(t *testing.T) {
	shapes := map[string][]spool.Pending{
		"idle": nil, "full": {full("r1")}, "evil": {evil("")}, "long": {long("")}, "script": {multi("")},
	}
	for name, ps := range shapes {
		for _, w := range []int{1, 19, 20, 34, 44, 80, 110, 200} {
			for _, h := range []int{1, 2, 5, 6, 10, 13, 18, 36, 50} {
				r := newRig(t, 80, 24, ps...)
				r.src.past = past()
				r.rescan()
				r.ready()
				r.send(tea.WindowSizeMsg{Width: w, Height: h})
				for _, k := range []string{"", "pgdown", "end", "tab", "f3", "k", "f4", "f2", "?"} {
					if k != "" {
						r.ready()
						r.press(k)
						r.View()
					}
					lines := r.screen()
					if len(lines) != h {
						t.Fatalf("%s %dx%d after %q: %d lines", name, w, h, k, len(lines))
					}
					for _, l := range lines {
						if width(l) > w {
							t.Fatalf("%s %dx%d after %q: line too wide: %q", name, w, h, k, plainText(l))
						}
					}
				}
				r.answers()
			}
		}
	}
	r := newRig(t, 19, 24, full("r1"))
	r.ready()
	r.press("1", "4", "enter")
	r.answers()
	r = newRig(t, 20, 6, full("r1"))
	r.ready()
	r.press("end", "1")
	r.answers("r1 1")
}

func TestAHungSpoolDoesNotHoldTheKeys(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"))
	r.ready()
	if r.scan() == nil { // one is under way and will not end
		t.Fatal("no scan")
	}
	if cmd := r.scan(); cmd != nil {
		t.Error("a second scan was begun beside the first")
	}
	r.pass(stallAfter + time.Second)
	r.update(tickMsg{})
	if !strings.Contains(r.screenText(), "the spool does not answer") {
		t.Errorf("not said:\n%s", r.screenText())
	}
	r.press("tab", "h", "i")
	if r.cur.reason != "hi" {
		t.Error("keys do nothing")
	}
	// An answer on its way is said to be, and not sent twice.
	if cmd := r.key(keyPress("enter")); cmd == nil || !strings.Contains(r.screenText(), "Sending your answer") {
		t.Error("not sent")
	}
	if cmd := r.key(keyPress("enter")); cmd != nil {
		t.Error("sent twice")
	}
	r.update(read(r.src))
	if strings.Contains(r.screenText(), "the spool does not answer") {
		t.Error("still said")
	}
}

// On a terminal that has no room for the log, what keeps requests away is said where
// one looks, until the log was read or it holds no longer.
func TestAlertsAreSeenWithoutTheLog(t *testing.T) {
	const said = "no request arrives"
	r := newRig(t, 80, 24)
	r.update(warningMsg(said + ": no space left on device; make room, see: df -h /somewhere/that/is/long/enough/to/be/wrapped"))
	r.pass(noticeShown + time.Second)
	if text := r.screenText(); !strings.Contains(text, said) || !strings.Contains(text, "wrapped") || !strings.Contains(text, "F4") {
		t.Errorf("not said:\n%s", text)
	}
	r.press("f4", "f3")
	if text := r.screenText(); strings.Contains(text, said) {
		t.Errorf("still said:\n%s", text)
	}
	// While a request is shown, for a while below it.
	r = newRig(t, 80, 24, full("r1"))
	r.ready()
	r.update(warningMsg(said))
	if text := r.screenText(); !strings.Contains(text, said) {
		t.Errorf("not said:\n%s", text)
	}
	// With all panes, in the log alone.
	r = newRig(t, 120, 40)
	r.update(warningMsg(said))
	r.pass(noticeShown + time.Second)
	if text := r.screenText(); strings.Count(text, said) != 1 {
		t.Errorf("said %d times:\n%s", strings.Count(text, said), text)
	}
}

func TestTheTitleCounts(t *testing.T) {
	r := newRig(t, 80, 24, full("r1"), full("r2"))
	if title := r.View().WindowTitle; title != "(2) safeshell: approval waiting" {
		t.Errorf("title %q", title)
	}
}

func BenchmarkLargestCommand(b *testing.B) {
	src := newFake(newClock())
	src.queue = []spool.Pending{script("r1", strings.Repeat("echo something of a script; ", 64<<10/28)+"\n# é")}
	m := newModel(context.Background(), Options{Source: src, Getenv: env(), Now: src.clock.now})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(read(src))
	for b.Loop() {
		m.Update(gateMsg{})
		m.View()
	}
}
