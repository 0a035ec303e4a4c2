package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

var approvalRow = row{
	name: "approval", weight: 5,
	what: "asking commands and monitors, started, stopped and killed at random",
	run:  func(r *run) error { return approvals(r, false) },
}

var spoolGoneRow = row{
	name: "spool-gone", weight: 2,
	what: "the same while the spool's directory is moved away or deleted, and made anew",
	run:  func(r *run) error { return approvals(r, true) },
}

// roundLength bounds a round: each has its own home, and is over before the
// spool may forget what happened in it.
const roundLength = 75 * time.Second

// How many play at once, and in a test beside others.
var (
	fullCast  = cast{200, 24, 12}
	shortCast = cast{40, 6, 2}
)

type cast struct{ requesters, monitors, answerers int }

// approvals plays round after round.
func approvals(r *run, gone bool) error {
	end := time.Now().Add(r.duration)
	rounds := max(1, int((r.duration+roundLength-1)/roundLength))
	for i := range rounds {
		left := time.Until(end) / time.Duration(rounds-i)
		if i > 0 && left < 2*time.Second {
			break
		}
		if err := playRound(r, i, max(left, 2*time.Second), gone); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
		if r.ctx.Err() != nil {
			return nil
		}
	}
	r.count("rounds", rounds)
	return nil
}

func playRound(r *run, round int, length time.Duration, gone bool) error {
	rnd, cast := r.rnd("round", round), fullCast
	if r.short {
		cast = shortCast
	}
	if r.noCommandLine {
		cast.answerers = 0
	}
	timeout := []time.Duration{3 * time.Second, 6 * time.Second, 12 * time.Second}[rnd.IntN(3)]
	config := fmt.Sprintf("approval: {timeout_seconds: %g, wait_for_monitor_seconds: %d, notify: []}\n", timeout.Seconds(), rnd.IntN(2))
	s, err := newScene(r, fmt.Sprint("round", round), config)
	if err != nil {
		return err
	}
	before, err := s.tree()
	if err != nil {
		return err
	}
	journal := watchJournal(context.Background(), s.journal())
	e := &evidence{s: s, limit: timeout + time.Second} // and the wait for a first monitor
	ctx, stop := context.WithTimeout(r.ctx, length)
	defer stop()
	var mu sync.Mutex
	var broken error
	fail := func(err error) {
		if err != nil {
			mu.Lock()
			broken = err
			mu.Unlock()
			stop()
		}
	}
	var n atomic.Int64
	var askers, others sync.WaitGroup
	for i := range cast.requesters {
		askers.Go(func() {
			rnd := r.rnd("requester", round, i)
			pause(ctx, ms(rnd, 1500))
			for k := 0; ctx.Err() == nil; k++ {
				p := nextPlan(rnd, i, k)
				v, err := s.ask(p, int(n.Add(1)), e.limit)
				if err != nil {
					fail(err)
					return
				}
				mu.Lock()
				e.invocations = append(e.invocations, v)
				mu.Unlock()
				pause(ctx, p.rest)
			}
		})
	}
	// Monitors stay until the last requester has ended: none waits for long.
	stay, leave := context.WithCancel(r.ctx)
	defer leave()
	crowd := newCrowd(stay, r.rnd("crowd", round), cast.monitors)
	for i := range cast.monitors {
		others.Go(func() {
			rnd := r.rnd("monitor", round, i)
			for stay.Err() == nil {
				l := nextLife(rnd, i)
				if here := crowd.wanted(i); here != nil {
					if err := s.watch(here, rnd, l); err != nil && stay.Err() == nil {
						fail(err)
						return
					}
				}
				pause(stay, l.rest)
			}
		})
	}
	for i := range cast.answerers {
		others.Go(func() {
			rnd := r.rnd("answerer", round, i)
			for stay.Err() == nil {
				a, err := s.answerOne(rnd)
				if err != nil {
					fail(err)
					return
				}
				if a != nil {
					mu.Lock()
					e.answers = append(e.answers, *a)
					mu.Unlock()
				}
				pause(stay, ms(rnd, 200))
			}
		})
	}
	if gone {
		others.Go(func() { s.loseSpool(ctx, r.rnd("spool", round), e) })
	}
	askers.Wait()
	leave()
	others.Wait()
	if k := reap(r.work); k > 0 {
		r.count("children of killed wrappers, ended", k)
	}
	if broken != nil {
		return broken
	}
	e.spools = append(e.spools, s.spoolDir())
	if err := e.read(journal); err != nil {
		return err
	}
	e.check()
	if err := s.checkLitter(before); err != nil {
		return err
	}
	if r.violations == 0 {
		return os.RemoveAll(s.dir)
	}
	return nil
}

// crowd says how many monitors there are to be: from none to all, anew every
// few seconds.
type crowd struct {
	mu    sync.Mutex
	limit int
	phase context.Context
}

func newCrowd(ctx context.Context, rnd *rand.Rand, all int) *crowd {
	c := &crowd{}
	next := func() context.CancelFunc {
		phase, cancel := context.WithCancel(ctx)
		c.mu.Lock()
		c.limit, c.phase = []int{0, 1, 3, all / 2, all / 2, all}[rnd.IntN(6)], phase
		c.mu.Unlock()
		return cancel
	}
	cancel := next()
	go func() {
		for ctx.Err() == nil {
			length := time.Second + ms(rnd, 9000)
			pause(ctx, length)
			cancel()
			cancel = next()
		}
		cancel()
	}()
	return c
}

// wanted is the time in which monitor i is to be there; nil if it is not.
func (c *crowd) wanted(i int) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i >= c.limit {
		return nil
	}
	return c.phase
}

// loseSpool moves the spool away or deletes it, now and then, and sometimes
// makes an empty directory in its place.
func (s *scene) loseSpool(ctx context.Context, rnd *rand.Rand, e *evidence) {
	for i := 0; ctx.Err() == nil; i++ {
		pause(ctx, 300*time.Millisecond+ms(rnd, 5000))
		if rnd.IntN(4) > 0 {
			to := filepath.Join(s.dir, fmt.Sprint("gone", i))
			if os.Rename(s.spoolDir(), to) == nil {
				e.spools = append(e.spools, to)
				s.r.count("spools moved away", 1)
			}
		} else {
			e.spoolLost = true
			_ = os.RemoveAll(s.spoolDir()) // others may be making it anew
			s.r.count("spools deleted", 1)
		}
		if rnd.IntN(3) == 0 {
			_ = os.Mkdir(s.spoolDir(), 0o700)
		}
	}
}
