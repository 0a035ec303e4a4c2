// Command bench measures what safeshell costs, as whole processes from fork to
// wait, beside what else could stand in its place. All cases of a table are
// run in turn, round by round, so that a busy machine is unkind to all of them
// alike; what counts are the ratios of one run. Nothing here asserts: it prints
// each limit beside its figure and says whether it holds.
//
//	go run ./internal/test/bench -binary bin/safeshell [-runs 200] [-json file] [-only text]
//	go run ./internal/test/bench -compare before.json after.json
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// options are the command line's.
type options struct {
	binary  string
	runs    int
	entries int // in the trash
	tree    int // files of the tree that is removed
	waiting int // requests that wait beside the measured one
	only    string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/safeshell", "the safeshell to measure")
	flag.IntVar(&o.runs, "runs", 200, "rounds of the process table")
	flag.IntVar(&o.entries, "entries", 5000, "entries in the trash (100000 for the full size)")
	flag.IntVar(&o.tree, "tree", 10000, "files of the removed tree (100000 for the full size)")
	flag.IntVar(&o.waiting, "waiting", 500, "requests that wait beside the measured one")
	flag.StringVar(&o.only, "only", "", "one part: commands, rm, trash, approval, permit or budget")
	out := flag.String("json", "", "write the figures to this file")
	compare := flag.Bool("compare", false, "hold two results side by side")
	flag.Parse()
	var err error
	if *compare {
		if flag.NArg() != 2 {
			err = fmt.Errorf("-compare takes two files that -json has written")
		} else {
			err = compareFiles(os.Stdout, flag.Arg(0), flag.Arg(1))
		}
	} else {
		err = run(o, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options, jsonFile string) error {
	abs, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	o.binary = abs
	work, err := os.MkdirTemp("", "safeshell-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	s, err := setUp(work, o.binary)
	if err != nil {
		return err
	}
	var figures []figure
	for _, part := range []struct {
		name string
		run  func(*scene, options) ([]figure, error)
	}{{"commands", commands}, {"rm", removals}, {"trash", trashSizes}, {"approval", approvals}, {"permit", permits}, {"budget", budgets}} {
		if o.only != "" && o.only != part.name {
			continue
		}
		fs, err := part.run(s, o)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		printTable(os.Stdout, fs)
		figures = append(figures, fs...)
	}
	fmt.Println("floor = the smallest Go program that finds and execs the next `true` in PATH, less `true` itself")
	if jsonFile == "" {
		return nil
	}
	return writeJSON(jsonFile, figures)
}
