// Command chaos drives the real safeshell, and the spool package in processes of
// its own, through faults and load in a scratch home, and prints what was tried,
// how often, and how many promises were broken. It exits 1 if any was.
//
//	go run ./chaos -binary bin/safeshell [-seed 1] [-duration 5m] [-rows approval,load-rate]
//	go run ./chaos -list
//
// The duration is shared by the rows that run by the clock; the others take
// the time that they need. The seed makes the plan: who is started when, as
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

	"safeshell/trash/faulttest"
)

func main() {
	faulttest.Begin()
	binary := flag.String("binary", "bin/safeshell", "the safeshell to test")
	seed := flag.Uint64("seed", 1, "makes the plan")
	duration := flag.Duration("duration", time.Minute, "for all rows that run by the clock, together; sweeps (-list) take what they need, and load rows a minute or so")
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
	ok, err := runAll(ctx, *binary, *seed, *duration, *names, *keep)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
	if !ok || err != nil {
		leave(1)
	}
	leave(0)
}

// runAll runs the chosen rows and prints the table; ok means no violation.
func runAll(ctx context.Context, binary string, seed uint64, duration time.Duration, names string, keep bool) (ok bool, err error) {
	abs, err := filepath.Abs(binary)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(abs); err != nil {
		return false, fmt.Errorf("%w; run: make build", err)
	}
	chosen, err := choose(names)
	if err != nil {
		return false, err
	}
	timed := 0
	for _, r := range chosen {
		timed += r.weight
	}
	work, err := os.MkdirTemp("", "safeshell-chaos")
	if err != nil {
		return false, err
	}
	if keep {
		fmt.Println("scratch directory:", work)
	} else {
		defer os.RemoveAll(work)
	}
	fmt.Printf("seed %d, duration %s\n", seed, duration)
	ok = true
	var done []*run
	for _, row := range chosen {
		r := &run{
			ctx: ctx, row: row, binary: abs, seed: seed, work: filepath.Join(work, row.name),
			counts: map[string]int{},
		}
		if timed > 0 {
			r.duration = duration * time.Duration(row.weight) / time.Duration(timed)
		}
		if err := os.Mkdir(r.work, 0o700); err != nil {
			return false, err
		}
		if row.sweep {
			fmt.Fprintf(os.Stderr, "%s:%s\n", row.name, row.long())
		}
		start := time.Now()
		if err := row.run(r); err != nil {
			r.violate("the row could not be run: %v", err)
		}
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
			return nil, fmt.Errorf("no row %q; see: go run ./chaos -list", n)
		}
	}
	return out, nil
}
