package spool

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"
)

// To a collector whose clock was just set everything is old. What somebody waits
// for stays all the same: each request ends with a decision, none as gone.
func TestGCTakesNothingThatIsWaitedFor(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	stop := make(chan struct{})
	var collectors, requesters sync.WaitGroup
	for range 3 {
		collectors.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_ = s.GC(time.Now().Add(24 * time.Hour)) // another one may be faster
			}
		})
	}
	for range 8 {
		requesters.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				if d, err := s.Ask(ctx, request("x"), AskOptions{Timeout: time.Minute}); errors.Is(err, ErrGone) {
					t.Errorf("%s: %v", d.Verdict, err)
				}
				cancel()
			}
		})
	}
	requesters.Wait()
	close(stop)
	collectors.Wait()
}

// A retired request stays as long as its owner is there to read the decision.
func TestGCKeepsRetiredOfTheLiving(t *testing.T) {
	s := newSpool(t)
	w := &waiter{s: s, r: s.prepare(request("x"), AskOptions{Timeout: time.Minute})}
	if err := w.publish(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.reqDir(), w.doneDir()); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(24 * time.Hour)
	if err := s.GC(later); err != nil || s.absent("done", w.r.ID, "request") {
		t.Errorf("swept although its owner lives (%v)", err)
	}
	w.close()
	if err := s.GC(later); err != nil || !s.absent("done", w.r.ID) {
		t.Errorf("not swept after its owner's end (%v)", err)
	}
}
