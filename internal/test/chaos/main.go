// Command chaos drives the real safeshell, and the spool package in processes of
// its own, through faults and load in a scratch home, and prints what was tried,
// how often, and how many promises were broken. It exits 1 if any was.
//
//	go run ./internal/test/chaos -binary bin/safeshell [-seed 1] [-each 60s] [-rows approval,load-rate]
//	go run ./internal/test/chaos -short
//	go run ./internal/test/chaos -list
//
// By default the rows that run by the clock take 60 s together, and the sweeps
// of the trash try every point, which takes most of an hour. With -each every
// row takes about that long, a sweep tries as many points as fit, in random
// order. -short ends within five minutes. The seed makes the plan: who is started when, as
// what, and when it is stopped or killed. The scheduler does the rest, so a run
// with the same seed tries the same things but need not find the same.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"safeshell/internal/test/faulttest"
)

func main() {
	faulttest.Begin()
	binary := flag.String("binary", "bin/safeshell", "the safeshell to test")
	seed := flag.Uint64("seed", 1, "makes the plan")
	duration := flag.Duration("duration", time.Minute, "for all rows that run by the clock, together; sweeps (-list) take what they need, and load rows a minute or so")
	each := flag.Duration("each", 0, "for each row, sweeps too, in place of -duration; load rows take a minute or so all the same")
	short := flag.Bool("short", false, "all rows within five minutes: -each 12s, and fewer actors under load")
	names := flag.String("rows", "", "only these, with commas between")
	list := flag.Bool("list", false, "list the rows")
	keep := flag.Bool("keep", false, "keep the scratch directory")
	measure := flag.Bool("measure-memory", false, "internal: run the arguments and print the most memory that one took")
	flag.Parse()
	switch {
	case *measure:
		os.Exit(measureMemory(flag.Args()))
	case *list:
		for _, r := range rows() {
			fmt.Printf("%-16s %s%s\n", r.name, r.what, r.long())
		}
		return
	}
	if code, done := detach(); done {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if *short && *each == 0 {
		*each = 12 * time.Second
	}
	ok, err := runAll(ctx, options{*binary, *seed, *duration, *each, *short, *names, *keep})
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if !ok || err != nil {
		leave(1)
	}
	leave(0)
}

// options are what the flags ask for.
type options struct {
	binary   string
	seed     uint64
	duration time.Duration // of the rows by the clock, together
	each     time.Duration // of each row; 0: see duration
	short    bool
	names    string
	keep     bool
}

// runAll runs the chosen rows and prints the table; ok means no violation.
func runAll(ctx context.Context, p options) (ok bool, err error) {
	abs, err := filepath.Abs(p.binary)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(abs); err != nil {
		return false, fmt.Errorf("%w; run: make build", err)
	}
	chosen, err := choose(p.names)
	if err != nil {
		return false, err
	}
	timed, sweeps := 0, 0
	for _, r := range chosen {
		timed += r.weight
		if r.sweep {
			sweeps++
		}
	}
	work, err := os.MkdirTemp("", "safeshell-chaos")
	if err != nil {
		return false, err
	}
	if p.keep {
		fmt.Println("scratch directory:", work)
	} else {
		defer os.RemoveAll(work)
	}
	fmt.Printf("seed %d, %d rows\n", p.seed, len(chosen))
	if sweeps > 0 && p.each == 0 {
		fmt.Printf("%d of them try every point that there is: this takes most of an hour.\nWithin five minutes: make chaos CHAOSFLAGS=-short; a minute for each row: CHAOSFLAGS=\"-each 60s\"\n", sweeps)
	}
	ok = true
	var done []*run
	for i, row := range chosen {
		r := &run{
			ctx: ctx, row: row, binary: abs, seed: p.seed, work: filepath.Join(work, row.name),
			duration: p.each, each: p.each, short: p.short, counts: map[string]int{},
		}
		if timed > 0 && p.each == 0 {
			r.duration = p.duration * time.Duration(row.weight) / time.Duration(timed)
		}
		if err := os.Mkdir(r.work, 0o700); err != nil {
			return false, err
		}
		fmt.Fprintf(os.Stderr, "%d of %d, %s: %s\n", i+1, len(chosen), row.name, row.what)
		start := time.Now()
		stop := r.progress(start)
		if err := row.run(r); err != nil {
			r.violate("the row could not be run: %v", err)
		}
		stop()
		reap(r.work)
		r.took = time.Since(start)
		ok = ok && r.violations == 0
		fmt.Fprintf(os.Stderr, "%s: %s\n", row.name, r.took.Round(time.Second))
		done = append(done, r)
		if ctx.Err() != nil {
			printTable(os.Stdout, done)
			return false, fmt.Errorf("interrupted")
		}
	}
	printTable(os.Stdout, done)
	return ok, nil
}

func choose(names string) ([]row, error) {
	all := rows()
	if names == "" {
		return all, nil
	}
	var out []row
	for _, n := range strings.Split(names, ",") {
		found := false
		for _, r := range all {
			if r.name == n {
				out, found = append(out, r), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no row %q; see: go run ./internal/test/chaos -list", n)
		}
	}
	return out, nil
}
