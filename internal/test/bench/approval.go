package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"safeshell/spool"
)

// approvals is the time from a decision on disk to the command's first
// instructions, alone and while others wait.
func approvals(s *scene, o options) ([]figure, error) {
	dir := s.path("approve", ".safeshell", "spool")
	sp, err := spool.Open(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m, err := sp.Watch(ctx)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	var figures []figure
	waiting := 0
	for _, n := range []int{1, o.waiting} {
		for waiting < n-1 {
			published := make(chan bool, 1)
			r := spool.Request{Argv: []string{"other", strconv.Itoa(waiting)}, Dir: s.work, Context: "human", Session: "bench", Layer: "shim", Rule: "other"}
			go func() {
				_, _ = sp.Ask(ctx, r, spool.AskOptions{Timeout: time.Hour, Waiting: func(spool.Request) { published <- true }})
				published <- false
			}()
			if !<-published {
				return nil, fmt.Errorf("the request number %d was not published", waiting)
			}
			waiting++
		}
		var times []time.Duration
		for i := range max(o.runs/10, 5) {
			d, err := s.approve(sp, i)
			if err != nil {
				return nil, err
			}
			times = append(times, d)
		}
		f := summary(fmt.Sprintf("decision to running, %d waiting", n), times)
		f.Ratio, f.Unit, f.Limit = f.MedianUS/1000, "ms", 20
		figures = append(figures, f)
	}
	return figures, nil
}

// approve starts one command that needs an approval, allows it, and returns how
// long it then took to run.
func (s *scene) approve(sp *spool.Spool, i int) (time.Duration, error) {
	file := s.path(fmt.Sprintf("stamp%d", i))
	c := exec.Command(s.binary, "exec", "--", s.path("stamp"), file)
	c.Env, c.Dir = append(s.guarded("approve"), "SAFESHELL_CONTEXT=ai"), s.work
	if err := c.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = c.Wait() }()
	deadline := time.Now().Add(20 * time.Second)
	for {
		list, err := sp.Pending()
		if err != nil {
			return 0, err
		}
		for _, p := range list {
			if a := p.Request.Argv; len(a) == 2 && a[1] == file {
				time.Sleep(250 * time.Millisecond) // people think; it has settled down to wait
				if _, err := sp.Answer(p.Request.ID, spool.Once, "", spool.ByMonitor); err != nil {
					return 0, err
				}
				answered := time.Now()
				if err := c.Wait(); err != nil {
					return 0, fmt.Errorf("the approved command: %w", err)
				}
				b, err := os.ReadFile(file)
				if err != nil {
					return 0, err
				}
				os.Remove(file)
				ns, err := strconv.ParseInt(string(b), 10, 64)
				return max(0, time.Unix(0, ns).Sub(answered)), err
			}
		}
		if time.Now().After(deadline) {
			_ = c.Process.Kill()
			return 0, fmt.Errorf("the command never asked for an approval")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
