package trash

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"safeshell/internal/test/faulttest"
)

// job is what a supervised process does.
type job struct {
	Op                   string // put, restore, purge, empty
	Home, Dir, MountInfo string
	Args                 []string // put: rm's arguments
	Options              RestoreOptions
}

// supervise runs a job in a process of this test program.
func supervise(j job, roots []string, decide faulttest.Verdict) (faulttest.Result, error) {
	req, err := json.Marshal(j)
	if err != nil {
		return faulttest.Result{}, err
	}
	return faulttest.Run(faulttest.Job{Text: string(req), Env: os.Environ()}, roots, decide)
}

// childInject is the supervised process.
func childInject(req string) {
	var j job
	if err := json.Unmarshal([]byte(req), &j); err != nil {
		panic(err)
	}
	e := Env{Dir: j.Dir, Home: j.Home, Stdout: os.Stdout, Stderr: os.Stderr, UID: os.Geteuid(), MountInfo: j.MountInfo, Ancestors: func() []string { return nil }}
	code := 0
	say := func(err error) {
		code = 1
		fmt.Fprintln(os.Stderr, err)
	}
	tell := func(outs []Outcome) {
		for _, o := range outs {
			if o.Err != nil {
				say(o.Err)
			}
		}
	}
	switch j.Op {
	case faulttest.Put:
		code = Put(e, Config{}, "rm", j.Args, "").Code
	case faulttest.Restore, faulttest.Purge:
		items, errs := List(e)
		for _, err := range errs {
			say(err)
		}
		for _, it := range items {
			if it.Problem != "" {
				say(errors.New(it.Problem))
			}
		}
		if j.Op == faulttest.Restore {
			tell(Restore(e, items, j.Options))
		} else {
			tell(Purge(e, items))
		}
	case faulttest.Empty:
		outs, errs := Empty(e)
		for _, err := range errs {
			say(err)
		}
		tell(outs)
	}
	syscall.Exit(code) // os.Exit would write coverage, through the faults
}

func needsSupervision(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, faulttest.ErrUnsupported) {
		t.Skip("needs seccomp user notifications (Linux 5.19 or later): ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
