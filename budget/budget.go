// Package budget bounds the work of one judgement, from parsing to the last
// rule: any text has its verdict within a quarter of a second of processor time
// and 100 MB. Past the budget the verdict is a question, never a wait and never
// an allow.
//
// Work is counted in units, about a microsecond each, so that the same text has
// the same verdict however busy the machine is. The processor's clock and the
// memory in use are looked at as well, but only a machine several times slower
// than what the units were set on gets that far.
package budget

import (
	"math"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// The parts of a judgement have a share each: what reading a text found is held
// against the rules however much there was to read.
const (
	Reading = 60_000 // parsing, expansions, loops, functions, code in other languages
	Ruling  = 60_000 // rules, files, git, conditions

	readingTime = 120 * time.Millisecond
	rulingTime  = 180 * time.Millisecond // both

	lookEvery = 8192     // units between looks at clock and memory
	maxHeap   = 56 << 20 // bytes more in use than before
	softHeap  = 40 << 20 // beyond this, garbage is collected eagerly
)

// Budget is what is left for one judgement. A nil one has no end: for what is
// not a judgement.
type Budget struct {
	left   int
	look   int // units left at which clock and memory are looked at
	ruling bool
	begun  time.Duration // processor time; 0: not yet looked at
	heap   uint64        // in use then
	over   string
	before int   // spent for reading, once that is over
	limit  int64 // the collector's, before this judgement; 0: as it was
}

// New returns a budget whose first part, for reading, has begun.
func New() *Budget {
	return &Budget{left: Reading, look: Reading - lookEvery}
}

// Rule begins the part for rules.
func (b *Budget) Rule() {
	if b != nil && !b.ruling {
		b.ruling, b.before = true, b.Work()
		b.left, b.look = Ruling, Ruling-lookEvery
	}
}

// Spend takes n units of work, about to be done or just done. It reports whether
// more may be done.
func (b *Budget) Spend(n int) bool {
	if b == nil {
		return true
	}
	if b.left -= n; b.left > b.look {
		return true
	}
	return b.spent()
}

// Left returns the units that are left of this part.
func (b *Budget) Left() int {
	if b == nil {
		return math.MaxInt
	}
	return b.left
}

// Work returns the units spent.
func (b *Budget) Work() int {
	if b.ruling {
		return b.before + Ruling - b.left
	}
	return Reading - b.left
}

// spent is Spend where a look is due, or nothing is left.
func (b *Budget) spent() bool {
	if b.left <= 0 {
		b.left, b.look = 0, 0
		b.Exceed("")
		return false
	}
	b.look = b.left - lookEvery
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if b.begun == 0 {
		// What came before the first look is not worth looking at a clock for
		// every command.
		b.begun, b.heap = processorTime(), m.HeapAlloc
		b.limit = debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + softHeap)
	}
	until := readingTime
	if b.ruling {
		until = rulingTime
	}
	if processorTime()-b.begun > until || m.HeapAlloc > b.heap+maxHeap {
		b.left, b.look = 0, 0
		b.Exceed("")
		return false
	}
	return true
}

// Exceed notes what was too much: a clause for people, "a value is too long to
// analyse"; empty: the work. The first that says more than that stays.
func (b *Budget) Exceed(what string) {
	switch {
	case b == nil:
	case what == "" && b.over == "":
		b.over = tooMuch
	case what != "" && (b.over == "" || b.over == tooMuch):
		b.over = what
	}
}

const tooMuch = "there is too much in it to judge at once"

// Over returns what was too much; empty while nothing was.
func (b *Budget) Over() string {
	if b == nil {
		return ""
	}
	return b.over
}

// Done gives back what the budget took of the process: to be called when the
// verdict stands.
func (b *Budget) Done() {
	if b != nil && b.limit > 0 {
		debug.SetMemoryLimit(b.limit)
		b.limit = 0
	}
}

// processorTime is what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
