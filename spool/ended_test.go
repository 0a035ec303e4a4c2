package spool

import (
	"testing"
	"time"
)

// What has ended is read once, remembered no longer than it lies in done/, and
// a late answer is seen all the same.
func TestEndedIsReadOnce(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	gaveUp := giveUp(t, s, request("x"))
	decided := ask(t, s, request("y"), answering(func(r Request) {
		if _, err := s.Answer(r.ID, Once, "", ByMonitor); err != nil {
			t.Error(err)
		}
	}))
	for range 2 {
		if got := lateIDs(t, s); len(got) != 1 || got[0] != gaveUp {
			t.Fatalf("late: %v, expected %s", got, gaveUp)
		}
	}
	if len(s.endedSeen) != 2 || s.endedSeen[decided.ID] == nil {
		t.Errorf("remembered: %v", s.endedSeen)
	}
	if _, err := s.Answer(gaveUp, Once, "", ByMonitor); err != nil {
		t.Fatal(err)
	}
	if got := lateIDs(t, s); len(got) != 0 {
		t.Errorf("late after its answer: %v", got)
	}
	if err := s.GC(time.Now().Add(Keep + time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := lateIDs(t, s); len(got) != 0 || len(s.endedSeen) != 0 {
		t.Errorf("after gc: %v, remembered %v", got, s.endedSeen)
	}
}

func BenchmarkPendingManyEnded(b *testing.B) {
	s := newSpool(b)
	m := watched(b, s)
	for range 2000 {
		ask(b, s, request("y"), answering(func(r Request) { _, _ = s.Answer(r.ID, Once, "", ByMonitor) }))
	}
	m.Close()
	for b.Loop() {
		if _, err := s.Pending(); err != nil {
			b.Fatal(err)
		}
	}
}
