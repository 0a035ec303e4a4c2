package monitor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/spool"
)

// TestMain runs the tests, or, when the environment says so, a monitor on this
// terminal with a fake source: so another process can be watched, resized and
// killed, and a person can look at it:
//
//	SAFESHELL_MONITOR_DEMO=live go test ./monitor
func TestMain(m *testing.M) {
	time.Local = time.UTC // golden files hold times of day
	if kind := os.Getenv("SAFESHELL_MONITOR_DEMO"); kind != "" {
		if err := demo(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// demo shows requests: of the real spool in the directory after "spool:"; of
// the kind "still" with a clock that stands; else one after another.
func demo(kind string) error {
	c := newClock()
	src := newFake(c)
	src.past = past()
	o := Options{
		Source: src, In: os.Stdin, Out: os.Stdout, Getenv: os.Getenv, Now: c.now, Notify: []string{"bell"},
		Version: "0.1.0", Spool: "/home/u/.safeshell/spool", Plain: kind == "plain",
	}
	if dir, ok := strings.CutPrefix(kind, "spool:"); ok {
		sp, err := spool.Open(dir)
		if err != nil {
			return err
		}
		live, err := Open(context.Background(), sp, spool.OpenJournal(filepath.Join(filepath.Dir(dir), "log", "journal.jsonl")))
		if err != nil {
			return err
		}
		defer live.Close()
		o.Source, o.Now, o.Spool = live, time.Now, dir
		return Run(context.Background(), o)
	}
	if kind == "still" {
		src.queue = append(src.queue, full("r1"), req("r2", "terraform", "apply"))
		return Run(context.Background(), o)
	}
	o.Now = time.Now
	go func() {
		for i := 0; ; i++ {
			for _, p := range []func(string) (p pending){full, evil, long, multi} {
				q := p(fmt.Sprint(i))
				q.ID = fmt.Sprintf("%d-%s", i, q.ID)
				q.Created = time.Now()
				q.NotAfter = q.Created.Add(5 * time.Minute)
				src.ask(q)
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
		}
	}()
	return Run(context.Background(), o)
}
