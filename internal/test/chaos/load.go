package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/spool"
)

var crowdRow = row{
	name: "load-at-once",
	what: "1,000 shims at the same moment: allowed, denied, and asking without a monitor",
	run:  crowdOfShims,
}

var rateRow = row{
	name: "load-rate", weight: 3,
	what: "200 shims a second while the journal is rotated and followed",
	run:  steadyRate,
}

// load is a scene under load, and what each command was to do.
type load struct {
	*scene
	before  map[string]bool
	journal *journalWatch
	mu      sync.Mutex
	want    map[string]string // word: the action that the journal must have, once
	runs    map[string]bool   // words that must have run, once
}

// fillJournal has the journal almost full at the start, so that it is rotated
// early on.
func newLoad(r *run, fill bool) (*load, error) {
	s, err := newScene(r, "home", "approval: {timeout_seconds: 100, notify: []}\n")
	if err != nil {
		return nil, err
	}
	l := &load{scene: s, want: map[string]string{}, runs: map[string]bool{}}
	if fill {
		if err := os.MkdirAll(filepath.Dir(s.journal()), 0o700); err != nil {
			return nil, err
		}
		line := `{"v":1,"time":"2026-01-01T00:00:00Z","kind":"note","action":"filler","reason":"` + strings.Repeat("x", 3800) + "\"}\n"
		if err := os.WriteFile(s.journal(), []byte(strings.Repeat(line, (10<<20-200<<10)/len(line))), 0o600); err != nil {
			return nil, err
		}
	}
	// One of everything, so that what is made once is there.
	for _, name := range []string{"pass", "stop"} {
		c := exec.Command(s.shim(name), "first")
		c.Env, c.Dir = s.env("CHAOS_N=0"), s.path("work")
		_ = c.Run()
	}
	if err := os.Truncate(s.ran, 0); err != nil {
		return nil, err
	}
	if l.before, err = s.tree(); err != nil {
		return nil, err
	}
	l.journal = watchJournal(context.Background(), s.journal())
	return l, nil
}

// shimFor is the ith command: the shim and its word. The word is long, so that
// a journal line takes some pages now and then.
func (l *load) shimFor(i int, asks bool) (shim, word string) {
	word = fmt.Sprintf("w%d-%s", i, strings.Repeat("y", i*37%1900))
	name, action := "pass", "allow"
	switch i % 4 {
	case 2:
		name, action = "stop", "deny"
	case 3:
		if asks {
			name, action = "mark", "nomonitor"
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want[word] = action
	if action == "allow" {
		l.runs[strconv.Itoa(i)] = true
	}
	return l.shim(name), word
}

// code is the exit code that goes with the action.
func (l *load) code(word string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.want[word] == "allow" || l.want[word] == "asked-allow" {
		return 0
	}
	return 126
}

// ended compares an exit with what was due.
func (l *load) ended(word string, err error) {
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		l.r.violate("a command could not be run: %v", err)
		return
	}
	if want := l.code(word); code != want {
		l.r.violate("%.20s exits %d instead of %d", word, code, want)
	}
}

// check counts runs and journal lines.
func (l *load) check() error {
	ran, err := lines(l.ran)
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, x := range ran {
		n, _, _ := strings.Cut(x, " ")
		times[n]++
	}
	for n := range l.runs {
		if times[n] != 1 {
			l.r.violate("command %s ran %d times instead of once", n, times[n])
		}
		delete(times, n)
	}
	delete(times, "")
	for n, k := range times {
		l.r.violate("command %s ran %d times and was not to run", n, k)
	}
	got := map[string][]string{}
	files, err := l.journal.entries(l.r, func(e spool.Entry) {
		if e.Kind == spool.KindDecision {
			word := last(e.Command)
			got[word] = append(got[word], e.Action)
		}
	})
	if err != nil {
		return err
	}
	for word, action := range l.want {
		if len(got[word]) != 1 || got[word][0] != action {
			l.r.violate("the journal has %v for %.20s, expected one %s", got[word], word, action)
		}
	}
	l.r.count("journal lines looked for", len(l.want))
	l.r.count("journal files", files)
	return l.checkLitter(l.before)
}

// room is how many shims this machine bears at once.
func room(want int) int {
	n := want
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &lim) == nil && lim.Cur != unix.RLIM_INFINITY {
		n = min(n, int(lim.Cur/20)) // with the threads of each
	}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) == nil {
		n = min(n, int(lim.Cur/4))
	}
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		for l := range strings.Lines(string(b)) {
			if kb, ok := strings.CutPrefix(l, "MemAvailable:"); ok {
				if k, err := strconv.Atoi(strings.Fields(kb)[0]); err == nil {
					n = min(n, k/(16<<10))
				}
			}
		}
	}
	for _, f := range []string{"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"} {
		if b, err := os.ReadFile(f); err == nil {
			if k, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
				n = min(n, k/20)
			}
		}
	}
	return max(n, 10)
}

// crowdOfShims holds a thousand shells at a gate and opens it.
func crowdOfShims(r *run) error {
	l, err := newLoad(r, true)
	if err != nil {
		return err
	}
	total := 1000
	if r.short {
		total = 300
	}
	batch := room(total)
	for from := 0; from < total && r.ctx.Err() == nil; from += batch {
		pr, pw, err := os.Pipe()
		if err != nil {
			return err
		}
		var all sync.WaitGroup
		for i := from; i < min(from+batch, total); i++ {
			shim, word := l.shimFor(i, true)
			c := exec.Command("/bin/sh", "-c", `read x; exec "$0" "$1"`, shim, word)
			c.Env, c.Dir, c.Stdin = l.env(fmt.Sprint("CHAOS_N=", i), "SAFESHELL_CONTEXT=ai"), l.path("work"), pr
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := c.Start(); err != nil {
				return err
			}
			all.Go(func() { l.ended(word, c.Wait()) })
		}
		pr.Close()
		start := time.Now()
		pw.Close() // go
		all.Wait()
		r.note("%d at once, all ended after %s", min(batch, total-from), time.Since(start).Round(100*time.Millisecond))
		r.try(min(batch, total-from))
	}
	return l.check()
}

// steadyRate starts 200 shims each second, beside one that follows the journal
// and a monitor; both must have nothing more open at the end.
func steadyRate(r *run) error {
	l, err := newLoad(r, true)
	if err != nil {
		return err
	}
	const rate = 200
	var followed countLines
	follow := exec.Command(r.binary, "log", "-f", "--json", "--since", "0s")
	follow.Env, follow.Dir, follow.Stdout = l.env(), l.path("work"), &followed
	if err := follow.Start(); err != nil {
		return err
	}
	m, err := l.inTerminal(nil, "watch")
	if err != nil {
		return err
	}
	warm(l, m)
	files := map[int]map[string]int{follow.Process.Pid: descriptors(follow.Process.Pid), m.c.Process.Pid: descriptors(m.c.Process.Pid)}
	length := max(r.duration, 2*time.Second)
	start := time.Now()
	var all sync.WaitGroup
	slots := make(chan bool, room(1000))
	keys := responsive(r.ctx, m, length)
	n := 0
	for ; r.ctx.Err() == nil && time.Since(start) < length; n++ {
		time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / rate)))
		slots <- true
		shim, word := l.shimFor(n, false)
		c := exec.Command(shim, word)
		c.Env, c.Dir = l.env(fmt.Sprint("CHAOS_N=", n), "SAFESHELL_CONTEXT=ai"), l.path("work")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		all.Go(func() {
			l.ended(word, c.Run())
			<-slots
		})
	}
	took := time.Since(start)
	all.Wait()
	r.try(n)
	r.note("%.0f a second for %s (%d wanted)", float64(n)/took.Seconds(), took.Round(time.Second), rate)
	r.note("monitor beside it: %s", <-keys)
	for deadline := time.Now().Add(20 * time.Second); followed.n() < n && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	if got := followed.n(); got < n {
		r.violate("`log -f` printed %d of %d lines", got, n)
	}
	l.checkDescriptors("`log -f`", follow.Process.Pid, files[follow.Process.Pid])
	l.checkDescriptors("the monitor", m.c.Process.Pid, files[m.c.Process.Pid])
	if err := l.checkLocks([]int{m.c.Process.Pid}); err != nil {
		return err
	}
	_ = follow.Process.Signal(syscall.SIGTERM)
	_ = follow.Wait()
	_ = m.c.Process.Signal(syscall.SIGTERM)
	m.wait()
	return l.check()
}

// warm waits until the monitor counts as one and has drawn.
func warm(l *load, m *terminal) {
	for range 400 {
		if s, err := l.spool(); err == nil && s.MonitorAlive() {
			m.mu.Lock()
			drawn := !m.last.IsZero()
			m.mu.Unlock()
			if drawn {
				break
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	time.Sleep(time.Second)
}

// countLines counts the lines that are decisions.
type countLines struct {
	mu   sync.Mutex
	part []byte
	k    int
}

func (c *countLines) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data := append(c.part, p...)
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		if bytes.Contains(data[:i], []byte(`"kind":"decision"`)) {
			c.k++
		}
		data = data[i+1:]
	}
	c.part = bytes.Clone(data)
	return len(p), nil
}

func (c *countLines) n() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.k
}
