package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"safeshell/spool"
)

var waitingRow = row{
	name: "load-waiting",
	what: "500 approvals waiting at once, all answered; memory of a shim",
	run:  manyWaiting,
}

// memoryLimit is what no shim may exceed.
const memoryLimit = 30 << 10 // KiB

// manyWaiting has 500 shims wait, looks at their memory and at the monitor,
// and answers all: half of them yes.
func manyWaiting(r *run) error {
	l, err := newLoad(r, true)
	if err != nil {
		return err
	}
	if err := l.measure(); err != nil {
		return err
	}
	m, err := l.inTerminal(nil, "watch")
	if err != nil {
		return err
	}
	warm(l, m)
	files := descriptors(m.c.Process.Pid)
	n, look := room(500), 4*time.Second
	if r.short {
		n, look = room(150), time.Second
	}
	var all sync.WaitGroup
	var pids []int
	for i := range n {
		word := fmt.Sprint("wait", i)
		l.mu.Lock()
		l.want[word] = "asked-deny"
		if i%2 == 0 {
			l.want[word], l.runs[strconv.Itoa(i)] = "asked-allow", true
		}
		l.mu.Unlock()
		c := exec.Command(l.shim("mark"), word)
		c.Env, c.Dir = l.env(fmt.Sprint("CHAOS_N=", i), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s"), l.path("work")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			return err
		}
		pids = append(pids, c.Process.Pid)
		all.Go(func() { l.ended(word, c.Wait()) })
	}
	s, err := l.spool()
	if err != nil {
		return err
	}
	var waiting []spool.Pending
	for deadline := time.Now().Add(80 * time.Second); len(waiting) < n && time.Now().Before(deadline) && r.ctx.Err() == nil; {
		if waiting, err = s.Pending(); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(waiting) < n {
		r.violate("only %d of %d requests are listed", len(waiting), n)
	}
	most := 0
	for _, pid := range pids {
		most = max(most, peak(pid))
	}
	l.memory("a shim that waits", most)
	r.note("monitor with %d waiting: %s", len(waiting), <-responsive(r.ctx, m, look))
	start := time.Now()
	for _, p := range waiting { // as another monitor would
		i, _ := strconv.Atoi(strings.TrimPrefix(last(strings.Join(p.Argv, " ")), "wait"))
		c := spool.Refuse
		if i%2 == 0 {
			c = spool.Once
		}
		if _, err := s.Answer(p.ID, c, "", spool.ByMonitor); err != nil {
			r.violate("request %s: %v", p.ID, err)
		}
	}
	all.Wait()
	r.note("%d answered and ended within %s", len(waiting), time.Since(start).Round(10*time.Millisecond))
	r.try(n)
	l.checkDescriptors("the monitor", m.c.Process.Pid, files)
	if err := l.checkLocks([]int{m.c.Process.Pid}); err != nil {
		return err
	}
	_ = m.c.Process.Signal(syscall.SIGTERM)
	m.wait()
	return l.check()
}

// peak is the most memory that a living process has had, in KiB, since its
// last exec.
func peak(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			k, _ := strconv.Atoi(strings.Fields(v)[0])
			return k
		}
	}
	return 0
}

func (l *load) memory(what string, kib int) {
	l.r.note("most memory of %s: %.1f MB", what, float64(kib)/1024)
	if kib == 0 || kib >= memoryLimit {
		l.r.violate("%s took %d KiB; the limit is %d", what, kib, memoryLimit)
	}
}

// measure notes what shims take that do not wait. A child starts with its
// parent's peak, so a small process of our own starts them.
func (l *load) measure() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if strings.HasSuffix(filepath.Base(self), ".test") {
		return nil // not this program, and large
	}
	for what, argv := range map[string][]string{
		"a shim that lets pass": {l.shim("pass"), "small"}, "a shim that denies": {l.shim("stop"), "small"},
		"the wrapper with a line of 100 commands": {l.r.binary, "-c", strings.Repeat("pass a; ", 100)},
	} {
		c := exec.Command(self, append([]string{"-measure-memory", "--"}, argv...)...)
		c.Env, c.Dir = l.env("CHAOS_N=", "SAFESHELL_CONTEXT=ai"), l.path("work")
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("measuring memory: %w", err)
		}
		var most struct{ Own, Most int }
		if err := json.Unmarshal(out, &most); err != nil {
			return err
		}
		l.memory(fmt.Sprintf("%s (its starter: %.1f MB)", what, float64(most.Own)/1024), most.Most)
	}
	return nil
}

// measureMemory runs argv some times and prints the largest resident set, and
// its own, below which nothing can be seen.
func measureMemory(argv []string) int {
	most := 0
	for range 20 {
		c := exec.Command(argv[0], argv[1:]...)
		_ = c.Run()
		if c.ProcessState == nil {
			return 1
		}
		most = max(most, int(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss))
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]int{"Own": peak(os.Getpid()), "Most": most})
	return 0
}

// responsive presses keys in the monitor for a while and tells how long the
// screen took to change.
func responsive(ctx context.Context, m *terminal, length time.Duration) <-chan string {
	out := make(chan string, 1)
	go func() {
		var times []time.Duration
		end, lost := time.Now().Add(length), 0
		for i := 0; time.Now().Before(end) && ctx.Err() == nil; i++ {
			pause(ctx, 150*time.Millisecond)
			at := time.Now()
			_, _ = io.WriteString(m.f, []string{"\t", "\x1b[Z"}[i%2]) // to the next pane and back
			took := time.Duration(0)
			for took == 0 && time.Since(at) < 5*time.Second {
				time.Sleep(time.Millisecond)
				m.mu.Lock()
				if m.last.After(at) {
					took = m.last.Sub(at)
				}
				m.mu.Unlock()
			}
			if took == 0 {
				lost++
			} else {
				times = append(times, took)
			}
		}
		if len(times) == 0 {
			out <- fmt.Sprintf("no key changed the screen (%d tries)", lost)
			return
		}
		slices.Sort(times)
		out <- fmt.Sprintf("key to screen %s median, %s at worst, %d keys, %d without a change within 5 s",
			times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond), len(times)+lost, lost)
	}()
	return out
}
