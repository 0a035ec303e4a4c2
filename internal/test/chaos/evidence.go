package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"safeshell/spool"
)

// evidence is what a round has left behind; check holds it together.
type evidence struct {
	s           *scene
	invocations []*invocation
	answers     []answered // that command lines printed
	limit       time.Duration
	spools      []string // those that were moved away, and the last
	spoolLost   bool     // one was deleted: its records are gone

	entries   []spool.Entry
	ran       map[int][]int // invocation: pids
	decisions map[string]spool.Decision
	answerers map[string][]spool.Entry // by id: journaled answers
	asked     map[string]spool.Entry   // by id: journaled requests
	byPID     map[int][]spool.Entry    // decisions and requests
	words     map[string][]spool.Entry // the same by last word, for words of one invocation
}

// slack is between a process's own clock readings and ours; the wall clock may
// be stepped a little by others.
const slack = 2 * time.Second

// read collects the files.
func (e *evidence) read(w *journalWatch) error {
	e.ran, e.byPID = map[int][]int{}, map[int][]spool.Entry{}
	e.answerers, e.asked, e.decisions = map[string][]spool.Entry{}, map[string]spool.Entry{}, map[string]spool.Decision{}
	ran, err := lines(e.s.ran)
	if err != nil {
		return err
	}
	for _, l := range ran {
		if l == "" {
			continue
		}
		a, b, _ := strings.Cut(l, " ")
		n, err := strconv.Atoi(a)
		pid, err2 := strconv.Atoi(b)
		if err != nil || err2 != nil {
			e.s.r.violate("the guarded command wrote %q", l)
		}
		e.ran[n] = append(e.ran[n], pid)
	}
	if _, err := w.entries(e.s.r, func(x spool.Entry) {
		e.entries = append(e.entries, x)
		switch x.Kind {
		case spool.KindAnswer:
			e.answerers[x.ID] = append(e.answerers[x.ID], x)
		case spool.KindRequest:
			e.asked[x.ID] = x
			e.byPID[x.PID] = append(e.byPID[x.PID], x)
		case spool.KindDecision:
			e.byPID[x.PID] = append(e.byPID[x.PID], x)
		}
	}); err != nil {
		return err
	}
	for _, dir := range e.spools {
		for _, where := range []string{"req", "done"} {
			found, _ := filepath.Glob(dir + "/" + where + "/*/decision")
			for _, f := range found {
				var d spool.Decision
				b, err := os.ReadFile(f)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil || json.Unmarshal(b, &d) != nil || !d.End || d.ID != filepath.Base(filepath.Dir(f)) {
					e.s.r.violate("a decision that is not whole: %s", f)
					continue
				}
				e.decisions[d.ID] = d
			}
		}
	}
	return nil
}

// entriesOf are the journal's lines of one invocation, by kind.
func (e *evidence) entriesOf(v *invocation) (decisions, requests []spool.Entry) {
	if v.own { // also those of its children
		for _, x := range e.wordEntries(v.word) {
			if x.Kind == spool.KindRequest {
				requests = append(requests, x)
			} else {
				decisions = append(decisions, x)
			}
		}
		return
	}
	for _, x := range e.byPID[v.pid] {
		if x.Time.Before(v.start.Add(-slack)) || x.Time.After(v.end.Add(slack)) || !hasWord(x.Command, v.word) {
			continue
		}
		if x.Kind == spool.KindRequest {
			requests = append(requests, x)
		} else {
			decisions = append(decisions, x)
		}
	}
	return
}

func hasWord(command, word string) bool {
	f := strings.Fields(command)
	return len(f) > 0 && f[len(f)-1] == word
}

// index by word, for the words that one invocation alone uses.
func (e *evidence) wordEntries(word string) []spool.Entry {
	if e.words == nil {
		e.words = map[string][]spool.Entry{}
		for _, x := range e.entries {
			if f := strings.Fields(x.Command); len(f) > 0 && (x.Kind == spool.KindRequest || x.Kind == spool.KindDecision) {
				e.words[f[len(f)-1]] = append(e.words[f[len(f)-1]], x)
			}
		}
	}
	return e.words[word]
}

// check holds every outcome beside the journal, the decisions on disk and what
// the answering side said.
func (e *evidence) check() {
	r := e.s.r
	used := map[string]int{}         // approvals, by id: runs that each stands for
	grants := map[string]bool{}      // words that were answered for longer
	always := map[string]time.Time{} // the first time, in the journal
	for _, x := range e.entries {
		if x.Action != "asked-allow" || x.Choice != spool.Session && x.Choice != spool.Always {
			continue
		}
		word := last(x.Command)
		grants[word] = true
		if at, ok := always[word]; x.Choice == spool.Always && x.Kind == spool.KindDecision && (!ok || x.Time.Before(at)) {
			always[word] = x.Time
		}
	}
	for _, d := range e.decisions {
		if d.Choice == spool.Session || d.Choice == spool.Always {
			if q, ok := e.asked[d.ID]; ok {
				grants[last(q.Command)] = true
			}
		}
	}
	known := map[int]bool{}
	for _, v := range e.invocations {
		known[v.n] = true
		r.try(1)
		r.count(v.outcome(), 1)
		decisions, requests := e.entriesOf(v)
		e.checkRun(v, decisions, used, grants)
		e.checkSaid(v, decisions)
		// What an answer leaves for the layer below may go with the spool.
		if len(requests) > 1 && !(e.replaced() && v.layer == "wrapper" && len(requests) == 2) {
			r.violate("invocation %d (%s %s) asked %d times", v.n, v.layer, v.word, len(requests))
		}
		if at, ok := always[v.word]; ok && len(requests) > 0 && v.start.After(at.Add(slack)) {
			r.violate("invocation %d (%s) asked although %q was allowed always before", v.n, v.layer, v.word)
		}
		if waited := v.end.Sub(v.start) - v.stopped; waited > e.limit+deadlineMargin {
			r.violate("invocation %d (%s %s) took %s; its deadline was %s", v.n, v.layer, v.word, waited, e.limit)
		}
	}
	for n, pids := range e.ran {
		if !known[n] {
			r.violate("a command ran (%v) that nobody started: %d", pids, n)
		}
	}
	e.checkAnswers()
}

func last(command string) string {
	f := strings.Fields(command)
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1]
}

// replaced tells whether the spool was moved away or deleted.
func (e *evidence) replaced() bool { return e.spoolLost || len(e.spools) > 1 }

// checkRun: what ran had an approval of its own, and what did not run has no
// reason to have run.
func (e *evidence) checkRun(v *invocation, decisions []spool.Entry, used map[string]int, grants map[string]bool) {
	r := e.s.r
	ran := len(e.ran[v.n])
	switch {
	case ran > 1:
		r.violate("invocation %d (%s %s) ran %d times", v.n, v.layer, v.word, ran)
	case ran == 1 && v.layer != "wrapper" && e.ran[v.n][0] != v.pid:
		r.violate("invocation %d (%s %s) ran as process %d instead of %d", v.n, v.layer, v.word, e.ran[v.n][0], v.pid)
	case ran == 0 && v.code == 0 && v.died == 0:
		r.violate("invocation %d (%s %s) exits 0 but did not run", v.n, v.layer, v.word)
	case v.died == 0 && v.code > 0 && v.code != 126 && v.code <= 128:
		r.violate("invocation %d (%s %s) exits %d, which is neither its command's nor a refusal", v.n, v.layer, v.word, v.code)
	case ran == 1 && v.code == 126:
		r.violate("invocation %d (%s %s) ran but exits 126", v.n, v.layer, v.word)
	}
	reasons := 0
	for _, d := range decisions {
		switch d.Action {
		case "asked-allow":
			if used[d.ID]++; used[d.ID] > 1 {
				r.violate("approval %s serves %d commands (%s)", d.ID, used[d.ID], d.Command)
			}
			e.checkApproval(v, d)
			if d.By == spool.ByLate {
				r.count("late answers used", 1)
			}
			reasons++
		case "granted":
			r.count("remembered answers used", 1)
			if !grants[v.word] {
				r.violate("invocation %d (%s) was granted by an answer that nobody gave", v.n, v.word)
			}
			reasons++
		case "passed": // the wrapper's answer, for the command below it
			if v.layer != "wrapper" {
				r.violate("invocation %d (%s %s) passed without a layer above", v.n, v.layer, v.word)
			}
		}
	}
	if ran == 1 && reasons == 0 {
		r.violate("invocation %d (%s %s) ran without an approval in the journal: %v", v.n, v.layer, v.word, actions(decisions))
	}
}

// checkApproval: the answer that the requester obeyed is the one on disk and
// the one that somebody gave.
func (e *evidence) checkApproval(v *invocation, d spool.Entry) {
	r := e.s.r
	onDisk, ok := e.decisions[d.ID]
	switch {
	case !ok && !e.spoolLost:
		r.violate("invocation %d obeyed decision %s, which is not in the spool", v.n, d.ID)
	case ok && d.By != spool.ByLate && onDisk.Verdict != spool.Allowed:
		r.violate("invocation %d ran, but %s says %s", v.n, d.ID, onDisk.Verdict)
	case ok && d.By == spool.ByLate && !onDisk.Again:
		r.violate("invocation %d took a late answer of %s, which had not given up (%s)", v.n, d.ID, onDisk.Verdict)
	}
	given := e.answerers[d.ID]
	if len(given) == 0 {
		r.count("answerers killed before they could journal", 1)
	}
	for _, a := range given {
		if a.Action != "asked-allow" {
			r.violate("invocation %d ran by %s, but the journal says %s by %s", v.n, d.ID, a.Action, a.By)
		}
	}
}

// checkSaid: the journal says what the command was told. Whoever was killed
// may have written nothing.
func (e *evidence) checkSaid(v *invocation, decisions []spool.Entry) {
	r := e.s.r
	if v.layer == "wrapper" && v.code == 0 {
		return // two lines, of two layers
	}
	if v.died == 0 && len(decisions) != 1 && v.layer != "wrapper" {
		r.violate("invocation %d (%s %s, %s) has %d journal lines: %v", v.n, v.layer, v.word, v.outcome(), len(decisions), actions(decisions))
		return
	}
	want := map[string]string{
		"USER DENIED": "asked-deny", "APPROVAL TIMED OUT": "timeout", "NO MONITOR": "nomonitor",
		"APPROVAL CANCELLED": "cancelled", "BLOCKED": "deny",
	}[v.said]
	if v.code == 126 && v.died == 0 && (want == "" || len(decisions) == 0 || decisions[len(decisions)-1].Action != want) {
		r.violate("invocation %d (%s %s) was told %q, the journal says %v", v.n, v.layer, v.word, v.said, actions(decisions))
	}
	for _, d := range decisions {
		onDisk, ok := e.decisions[d.ID]
		if !ok || d.By == spool.ByLate || d.Action == "deny" {
			continue
		}
		if is := map[spool.Verdict]string{spool.Allowed: "asked-allow", spool.Denied: "asked-deny", spool.TimedOut: "timeout",
			spool.NoMonitor: "nomonitor", spool.Cancelled: "cancelled"}[onDisk.Verdict]; is != d.Action {
			r.violate("invocation %d: the journal says %s of %s, the spool %s", v.n, d.Action, d.ID, is)
		}
	}
}

// checkAnswers: each request has at most one answer, whoever was asked.
func (e *evidence) checkAnswers() {
	r := e.s.r
	for id, given := range e.answerers {
		r.count("answers journaled", len(given))
		if len(given) > 1 {
			r.violate("%s was answered %d times: by %s and %s", id, len(given), given[0].By, given[1].By)
		}
	}
	said := map[string]bool{}
	for _, a := range e.answers {
		r.count("answers by command line", 1)
		if said[a.id] {
			r.violate("two command lines answered %s", a.id)
		}
		said[a.id] = true
		for _, g := range e.answerers[a.id] {
			if (g.Action == "asked-allow") != (a.word == "approved") {
				r.violate("%s was %s by a command line, the journal says %s", a.id, a.word, g.Action)
			}
		}
		if len(e.answerers[a.id]) == 0 {
			r.violate("%s was %s by a command line, the journal has no answer", a.id, a.word)
		}
	}
}

func actions(list []spool.Entry) []string {
	out := []string{}
	for _, x := range list {
		out = append(out, string(x.Kind)+":"+x.Action+" by "+x.By+" "+x.ID)
	}
	return out
}
