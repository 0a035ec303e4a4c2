package monitor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
	"safeshell/spool"
)

// home is a scratch SAFESHELL_HOME with a real spool and journal.
type home struct {
	t       *testing.T
	sp      *spool.Spool
	journal *spool.Journal
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := testdir.New(t)
	sp, err := spool.Open(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	return &home{t, sp, spool.OpenJournal(filepath.Join(dir, "log", "journal.jsonl"))}
}

// again opens the same spool as another process would.
func (h *home) again() *spool.Spool {
	h.t.Helper()
	sp, err := spool.Open(h.sp.Dir())
	if err != nil {
		h.t.Fatal(err)
	}
	return sp
}

// live opens a monitor's source.
func (h *home) live() *Live {
	h.t.Helper()
	l, err := Open(context.Background(), h.again(), h.journal)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { l.Close() })
	return l
}

// ask asks as a guarded command does.
func (h *home) ask(timeout time.Duration, argv ...string) <-chan spool.Decision {
	out := make(chan spool.Decision, 1)
	sp := h.again()
	go func() {
		d, err := sp.Ask(context.Background(), spool.Request{
			Agent: "claude-code", Context: "ai", Layer: "shim", Session: "s1", Dir: "/", Exe: "/bin/" + argv[0],
			Argv: argv, Rule: "ask-first", Reason: "because",
		}, spool.AskOptions{Timeout: timeout, WaitForMonitor: time.Minute})
		if err != nil {
			h.t.Errorf("Ask: %v", err)
		}
		out <- d
	}()
	return out
}

// watchLive runs a monitor on a pseudo-terminal over the real spool.
func (h *home) watchLive(w, rows int) *session {
	h.t.Helper()
	l := h.live()
	f := newFake(newClock()) // only its clock is used
	return watch(h.t, w, rows, f, func(o *Options) {
		o.Source, o.Spool, o.Now = l, h.sp.Dir(), time.Now
	})
}

// answer waits until the keys are open and types.
func (s *session) answer(keys string) {
	s.t.Helper()
	s.shows("1-4 acts at once")
	s.keys(keys)
}

func got(t *testing.T, ch <-chan spool.Decision) spool.Decision {
	t.Helper()
	select {
	case d := <-ch:
		return d
	case <-time.After(time.Minute):
		t.Fatal("no decision")
	}
	return spool.Decision{}
}

func TestRealAnswer(t *testing.T) {
	h := newHome(t)
	s := h.watchLive(120, 40)
	s.shows("Nothing waits")
	d := h.ask(time.Minute, "terraform", "destroy")
	s.shows("$ terraform destroy")
	s.answer("\tno \x1b[A")
	s.shows("Enter sends: 3")
	s.keys("\x1b[B4 now\r")
	if d := got(t, d); d.Verdict != spool.Denied || d.Reason != "no 4 now" || d.By != spool.ByMonitor {
		t.Errorf("decision %+v", d)
	}
	s.shows("ask-first · you")

	d = h.ask(time.Minute, "terraform", "apply")
	s.shows("$ terraform apply")
	s.answer("2")
	if d := got(t, d); d.Verdict != spool.Allowed || d.Choice != spool.Session {
		t.Errorf("decision %+v", d)
	}
	s.shows("allowed session terraform apply")

	es, err := h.journal.Read(spool.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, e := range es {
		if e.Kind == spool.KindAnswer {
			answers = append(answers, fmt.Sprint(e.Action, " ", e.Choice, " ", e.Command, " ", e.Rule, " ", e.Agent, " ", e.Reason))
		}
	}
	want := "asked-deny deny terraform destroy ask-first claude-code no 4 now\nasked-allow session terraform apply ask-first claude-code "
	if strings.Join(answers, "\n") != want {
		t.Errorf("journal: %q", answers)
	}
}

func TestRealSecondMonitor(t *testing.T) {
	h := newHome(t)
	one, other := h.watchLive(120, 40), h.live()
	d := h.ask(time.Minute, "ls")
	one.shows("$ ls")
	id := ""
	for id == "" {
		ps, err := other.Pending()
		if err != nil {
			t.Fatal(err)
		}
		if len(ps) == 1 {
			id = ps[0].ID
		}
	}
	if _, err := other.Answer(id, spool.Once, ""); err != nil {
		t.Fatal(err)
	}
	one.shows("Nothing waits")
	one.shows("answered elsewhere: allowed once by monitor ")
	if d := got(t, d); d.Verdict != spool.Allowed {
		t.Errorf("decision %+v", d)
	}
	if d, err := other.Answer(id, spool.Refuse, ""); err == nil || d.Choice != spool.Once {
		t.Errorf("a second answer: %+v %v", d, err)
	}
}

func TestRealLateAnswer(t *testing.T) {
	h := newHome(t)
	s := h.watchLive(120, 40)
	s.shows("Nothing waits")
	if d := got(t, h.ask(50*time.Millisecond, "make", "deploy")); d.Verdict != spool.TimedOut {
		t.Fatalf("decision %+v", d)
	}
	s.shows("It gave up waiting")
	s.answer("1")
	s.shows("Nothing waits")
	s.shows("you allowed once, for its next try: make deploy")
	s.shows("allowed later")
	if d := got(t, h.ask(time.Minute, "make", "deploy")); d.Verdict != spool.Allowed || d.By != spool.ByLate {
		t.Errorf("decision %+v", d)
	}
}

// A monitor that is killed loses nothing: the request waits, the next monitor
// shows it, and its answer counts.
func TestAKilledMonitorLosesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	cmd := exec.Command(self)
	cmd.Env = []string{"SAFESHELL_MONITOR_DEMO=spool:" + h.sp.Dir(), "TERM=xterm-256color", "LANG=C.UTF-8"}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer tty.Close()
	scr := newScreen(80, 24)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := tty.Read(buf)
			scr.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	d := h.ask(time.Minute, "ls", "-l")
	first := &session{t: t, tty: tty, scr: scr}
	first.shows("$ ls -l")
	first.shows("1-4 acts at once")
	first.keys("\tyes")
	first.shows("Reason: yes")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	s := h.watchLive(80, 24)
	s.shows("$ ls -l")
	s.answer("1")
	if d := got(t, d); d.Verdict != spool.Allowed || d.Reason != "" {
		t.Errorf("decision %+v", d)
	}
}

func TestMonitorsSeeEachOtherJoin(t *testing.T) {
	h := newHome(t)
	l := h.live()
	if err := h.journal.Append(spool.Entry{Kind: spool.KindNote, Action: "monitor-joined", PID: 4711}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		rs, err := l.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rs {
			if r.Note == "another monitor joined (process 4711)" {
				return
			}
			t.Errorf("record %+v", r)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("never seen")
}

func TestRecordsOfTheJournal(t *testing.T) {
	l := &Live{started: start, answered: map[string]bool{"mine": true}}
	at := start.Add(time.Second)
	for _, c := range []struct {
		e    spool.Entry
		want string // outcome, by; empty: not shown
	}{
		{spool.Entry{Kind: spool.KindDecision, Action: "allow"}, ""},
		{spool.Entry{Kind: spool.KindDecision, Action: "allow", Rule: "r"}, "allowed, rule"},
		{spool.Entry{Kind: spool.KindDecision, Action: "redirect", Rule: "rm"}, "redirected, rule"},
		{spool.Entry{Kind: spool.KindDecision, Action: "deny", Rule: "r"}, "denied, rule"},
		{spool.Entry{Kind: spool.KindDecision, Action: "asked-allow", Choice: spool.Always, By: "tty"}, "allowed always, tty"},
		{spool.Entry{Kind: spool.KindDecision, Action: "timeout", By: "requester"}, "gave up, requester"},
		{spool.Entry{Kind: spool.KindDecision, Action: "something-new"}, "something-new, rule"},
		{spool.Entry{Kind: spool.KindAnswer, ID: "mine", Action: "asked-deny", Choice: spool.Refuse, By: "monitor"}, "denied, you"},
		{spool.Entry{Kind: spool.KindDecision, ID: "mine", Action: "asked-allow", By: spool.ByMonitor}, "allowed once, you"}, // its asker was faster
		{spool.Entry{Kind: spool.KindAnswer, ID: "x", Action: "asked-allow", By: "cli", Notes: []string{lateNote}}, "allowed later, cli"},
		{spool.Entry{Kind: spool.KindRequest}, ""},
		{spool.Entry{Kind: spool.KindNote, Time: at, Action: "monitor-joined", PID: os.Getpid()}, ""},
		{spool.Entry{Kind: spool.KindTrash, Time: start.Add(-time.Hour), Action: "put"}, ""},
	} {
		r, ok := l.record(c.e)
		got := ""
		if ok {
			got = r.Outcome + ", " + r.By
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
	r, ok := l.record(spool.Entry{Kind: spool.KindTrash, Time: at, Action: "put", Command: "a b", Notes: []string{"2 files"}})
	if !ok || r.Note != "trash: put: a b: 2 files" {
		t.Errorf("%+v", r)
	}
}

func TestHistoryHasOneLineForARequest(t *testing.T) {
	r := newRig(t, 80, 24)
	r.addRecords([]Record{
		{ID: "a", At: start, Command: "x", Outcome: "allowed once", Verdict: spool.Allowed, By: "you", Reason: "fine", Waited: 3 * time.Second},
		{ID: "", At: start, Command: "y", Outcome: "denied"},
		{ID: "", At: start, Command: "z", Outcome: "denied"},
		{ID: "a", At: start, Command: "x", Outcome: "allowed once", Verdict: spool.Allowed, By: "monitor"},
	})
	if len(r.history) != 3 || r.history[0].By != "you" || r.history[0].Reason != "fine" || r.history[0].Waited != 3*time.Second {
		t.Errorf("%+v", r.history)
	}
}
