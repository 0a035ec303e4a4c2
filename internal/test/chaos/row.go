package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// row is one line of the table. weight is its part of the duration; 0: it
// takes the time that it needs, many minutes if it is a sweep: that tries every
// point there is, whatever the duration.
type row struct {
	name, what string
	weight     int
	sweep      bool
	run        func(*run) error
}

// long says of a sweep that it takes long.
func (r row) long() string {
	if r.sweep {
		return " (a sweep of all points: many minutes, but with -each or -short)"
	}
	return ""
}

// rows are all there are, each in a file of its own.
func rows() []row {
	return []row{approvalRow, spoolGoneRow, protocolRow, killPointsRow, crowdRow, rateRow, waitingRow, trashFaultsRow, trashMountsRow, trashProgramRow, trashLoadRow}
}

// run is one row while it runs: what it is given and what it counts.
type run struct {
	ctx      context.Context
	row      row
	binary   string // absolute
	work     string // a scratch directory of its own
	seed     uint64
	duration time.Duration
	each     time.Duration // how long a sweep may take; 0: it tries every point
	short    bool          // fewer actors, beside other tests
	// noCommandLine: nobody answers with approve and deny, only monitors do.
	noCommandLine bool

	mu         sync.Mutex
	tries      int
	violations int
	first      []string // of the violations
	counts     map[string]int
	notes      []string
	took       time.Duration
}

// shownViolations are told in words; the others only counted.
const shownViolations = 12

// progress says every half minute how far the row is, until it is stopped.
func (r *run) progress(start time.Time) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(30 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				r.mu.Lock()
				fmt.Fprintf(os.Stderr, "%s: %s: %d tried, %d violations so far\n", r.row.name, time.Since(start).Round(time.Second), r.tries, r.violations)
				r.mu.Unlock()
			}
		}
	}()
	return func() { close(done) }
}

// violate notes a broken promise.
func (r *run) violate(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violations++
	if len(r.first) < shownViolations {
		r.first = append(r.first, fmt.Sprintf(format, args...))
	}
}

// try counts outcomes.
func (r *run) try(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries += n
}

// count adds to what the notes tell.
func (r *run) count(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what] += n
}

func (r *run) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// rnd is the source of one actor's plan: it depends on the seed and the
// actor's name alone.
func (r *run) rnd(actor string, n ...int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, r.row.name, "/", actor, n)
	return rand.New(rand.NewPCG(r.seed, h.Sum64()))
}

// ms is a random time below n milliseconds.
func ms(rnd *rand.Rand, n int) time.Duration { return time.Duration(rnd.IntN(n)) * time.Millisecond }

// pause waits, or less if the row ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// remarks are the notes and counts in one line each.
func (r *run) remarks() []string {
	var keys []string
	for k := range r.counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s %d", k, r.counts[k]))
	}
	out := slices.Clone(r.notes)
	if len(parts) > 0 {
		out = append(out, strings.Join(parts, ", "))
	}
	return out
}

// printTable prints what was tried, how often, and the violations.
func printTable(w io.Writer, runs []*run) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "row\ttried\tviolations\twhat")
	tries, violations := 0, 0
	for _, r := range runs {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\n", r.row.name, r.tries, r.violations, r.row.what)
		tries, violations = tries+r.tries, violations+r.violations
	}
	fmt.Fprintf(tw, "all\t%d\t%d\t\n", tries, violations)
	_ = tw.Flush()
	for _, r := range runs {
		for i, s := range r.remarks() {
			if i == 0 {
				fmt.Fprintf(w, "\n%s:\n", r.row.name)
			}
			fmt.Fprintf(w, "  %s\n", s)
		}
		for _, s := range r.first {
			fmt.Fprintf(w, "  VIOLATION: %s\n", s)
		}
	}
}
