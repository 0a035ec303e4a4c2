package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"safeshell/internal/test/testdir"
)

// The chaos test: requesters and monitors are processes
// that are killed at random; the invariants are checked from what they wrote
// before they died.
//
// SAFESHELL_CHAOS=5m runs each profile for that long instead of seconds.

type chaosProfile struct {
	name           string
	timeout, grace time.Duration
	// clock: each process's wall clock is wrong by up to a day and steps, and
	// the machine is suspended now and then.
	clock bool
}

const (
	chaosKeep   = 2 * time.Second  // age for gc and late answers
	chaosMargin = 20 * time.Second // for a slow machine
)

// chaosSpool opens the spool that the environment names.
func chaosSpool() (*Spool, *rand.Rand, func(format string, args ...any)) {
	s, err := Open(os.Getenv("SPOOL_TEST_DIR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.keep, s.keepStaged = chaosKeep, chaosKeep
	seed, _ := strconv.ParseUint(os.Getenv("SPOOL_TEST_SEED"), 10, 64)
	log, err := os.OpenFile(os.Getenv("SPOOL_TEST_LOG"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if f := os.Getenv("SPOOL_TEST_CLOCK"); f != "" {
		steps := rand.New(rand.NewPCG(seed, 2))
		var mu sync.Mutex
		wrong := time.Duration(0)
		s.wall = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			if steps.IntN(3) == 0 {
				wrong = time.Duration(steps.Int64N(int64(48*time.Hour))) - 24*time.Hour
			}
			return time.Now().Add(wrong)
		}
		s.boot = func() time.Duration { // one clock for all: the file grows by a byte for 10 ms of sleep
			fi, err := os.Stat(f)
			if err != nil {
				return bootNow()
			}
			return bootNow() + time.Duration(fi.Size())*10*time.Millisecond
		}
	}
	return s, rand.New(rand.NewPCG(seed, 1)), func(format string, args ...any) {
		fmt.Fprintf(log, format+"\n", args...) // one write, so no line is torn
	}
}

func chaosRequester() int {
	s, rnd, log := chaosSpool()
	timeout, _ := time.ParseDuration(os.Getenv("SPOOL_TEST_TIMEOUT"))
	grace, _ := time.ParseDuration(os.Getenv("SPOOL_TEST_GRACE"))
	o := AskOptions{Timeout: timeout, NoMonitorGrace: grace}
	if rnd.IntN(2) == 0 {
		o.WaitForMonitor = grace
	}
	word := fmt.Sprint("unique ", os.Getpid(), rnd.Uint64())
	if rnd.IntN(2) == 0 {
		word = fmt.Sprint("retried ", rnd.IntN(4))
	}
	if rnd.IntN(4) == 0 {
		s.newWatcher = func() (*fsnotify.Watcher, error) { return nil, errors.New("none") }
		if rnd.IntN(2) == 0 {
			s.mkfifo = noFIFO
		}
	}
	ctx, stop := WithSignals(context.Background())
	d, err := s.Ask(ctx, request("x", word), o)
	stop()
	if err != nil {
		log("error %s", strings.ReplaceAll(err.Error(), "\n", " "))
		return 1
	}
	by := d.By
	if d.MonitorID != "" {
		by += "/" + d.MonitorID
	}
	log("out %s %s %s", d.ID, d.Verdict, by)
	if d.Verdict == Allowed { // in place of the exec
		f, err := os.OpenFile(filepath.Join(os.Getenv("SPOOL_TEST_MARKERS"), d.ID), os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			log("error %v", err)
			return 1
		}
		f.Close()
		return 0
	}
	Reraise(ctx)
	return 126
}

func chaosMonitor() int {
	s, rnd, log := chaosSpool()
	m, err := s.Watch(context.Background())
	if err != nil {
		log("error %v", err)
		return 1
	}
	id := *s.monitorID.Load()
	log("monitor %s %d", id, os.Getpid())
	for {
		all, err := s.Pending()
		if err != nil {
			log("error %v", err)
			return 1
		}
		for _, p := range all {
			if rnd.IntN(3) > 0 {
				continue // a slow human
			}
			d, err := s.Answer(p.ID, Choice(1+rnd.IntN(4)), "", ByMonitor)
			switch {
			case err == nil && d.Late:
				log("late %s %s %s", d.ID, d.Verdict, id)
			case err == nil:
				log("win %s %s %s", d.ID, d.Verdict, id)
			case !errors.Is(err, ErrDecided) && !errors.Is(err, ErrGone):
				log("error %v", err)
			}
		}
		if rnd.IntN(20) == 0 {
			if err := s.GC(s.wall()); err != nil {
				log("error %v", err)
			}
		}
		time.Sleep(10 * time.Millisecond)
		select {
		case w := <-m.Warnings():
			// All watches of the machine may be taken: polling is right then.
			if !strings.Contains(w, "file events are not to be had") {
				log("error monitor warns: %s", w)
			}
		default:
		}
	}
}

func TestChaos(t *testing.T) {
	length := 4 * time.Second
	if v := os.Getenv("SAFESHELL_CHAOS"); v != "" {
		var err error
		if length, err = time.ParseDuration(v); err != nil {
			t.Fatalf("SAFESHELL_CHAOS: %v", err)
		}
	} else if testing.Short() {
		length = time.Second
	}
	for _, p := range []chaosProfile{
		{"slow", 3 * time.Second, 700 * time.Millisecond, false},
		{"tight", 40 * time.Millisecond, 15 * time.Millisecond, false},
		{"clock", time.Second, 200 * time.Millisecond, true},
	} {
		t.Run(p.name, func(t *testing.T) { (&chaos{t: t, p: p}).run(length) })
	}
}

type chaos struct {
	t *testing.T
	p chaosProfile
	s *Spool

	dir   string
	env   []string
	end   time.Time
	mu    sync.Mutex
	rnd   *rand.Rand
	kills map[int]bool // pids of killed monitors
	ended map[string]int
}

// roll returns a random number below n.
func (c *chaos) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rnd.IntN(n)
}

func (c *chaos) ms(n int) time.Duration { return time.Duration(c.roll(n)) * time.Millisecond }

func (c *chaos) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended[what]++
}

func (c *chaos) run(length time.Duration) {
	t := c.t
	seed := uint64(time.Now().UnixNano())
	if v := os.Getenv("SAFESHELL_CHAOS_SEED"); v != "" {
		seed, _ = strconv.ParseUint(v, 10, 64)
	}
	t.Logf("seed %d (SAFESHELL_CHAOS_SEED)", seed)
	c.rnd = rand.New(rand.NewPCG(seed, 0))
	c.s, c.dir = newSpool(t), testdir.New(t)
	c.kills, c.ended = make(map[int]bool), make(map[string]int)
	markers, log := filepath.Join(c.dir, "markers"), filepath.Join(c.dir, "log")
	if err := errors.Join(os.Mkdir(markers, 0o700), os.WriteFile(log, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	c.env = []string{
		"SPOOL_TEST_DIR=" + c.s.Dir(), "SPOOL_TEST_LOG=" + log, "SPOOL_TEST_MARKERS=" + markers,
		"SPOOL_TEST_TIMEOUT=" + c.p.timeout.String(), "SPOOL_TEST_GRACE=" + c.p.grace.String(),
	}
	if c.p.clock {
		slept := filepath.Join(c.dir, "slept")
		if err := os.WriteFile(slept, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.env = append(c.env, "SPOOL_TEST_CLOCK="+slept)
	}
	c.end = time.Now().Add(length)
	stop := make(chan struct{})
	var requesters, others sync.WaitGroup
	for range 24 {
		requesters.Go(c.requesters)
	}
	for range 2 {
		others.Go(func() { c.monitors(stop) })
	}
	others.Go(func() { c.partial(stop) })
	if c.p.clock {
		others.Go(func() { c.sleeps(stop) })
	}
	requesters.Wait()
	close(stop)
	others.Wait()
	c.check(log, markers)
}

func (c *chaos) start(role string) *exec.Cmd {
	cmd := inRole(role, append(slices.Clip(c.env), fmt.Sprint("SPOOL_TEST_SEED=", c.roll(1<<62)))...)
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return nil
	}
	return cmd
}

// requesters runs one after the other, each in its own process.
func (c *chaos) requesters() {
	for time.Now().Before(c.end) {
		cmd := c.start("chaos-requester")
		if cmd == nil {
			return
		}
		var killer *time.Timer
		var sig os.Signal
		switch c.roll(10) {
		case 0, 1:
			sig = syscall.SIGKILL
		case 2:
			sig = syscall.SIGTERM
		}
		if sig != nil {
			killer = time.AfterFunc(c.ms(400), func() { cmd.Process.Signal(sig) })
		}
		stuck := time.AfterFunc(c.p.timeout+c.p.grace+chaosMargin, func() {
			c.t.Error("invariant 5: a requester lives too long")
			cmd.Process.Kill()
		})
		err := cmd.Wait()
		stuck.Stop()
		if killer != nil {
			killer.Stop()
		}
		var exit *exec.ExitError
		switch {
		case err == nil:
			c.count("allowed")
		case errors.As(err, &exit) && exit.ExitCode() == 126:
			c.count("not allowed")
		case errors.As(err, &exit) && sig != nil && exit.Sys().(syscall.WaitStatus).Signaled():
			c.count("killed requesters")
		default:
			c.t.Errorf("invariant 4: a requester ended with %v", err)
		}
	}
}

// monitors runs one after the other and kills each.
func (c *chaos) monitors(stop chan struct{}) {
	for {
		cmd := c.start("chaos-monitor")
		if cmd == nil {
			return
		}
		select {
		case <-stop:
		case <-time.After(50*time.Millisecond + c.ms(2500)):
		}
		c.mu.Lock()
		c.kills[cmd.Process.Pid] = true
		c.mu.Unlock()
		c.count("killed monitors")
		cmd.Process.Kill()
		cmd.Wait()
		pause := time.Duration(0)
		if c.roll(3) == 0 {
			pause = c.ms(1500)
		}
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// sleeps suspends the machine: all clocks since boot run ahead at once.
func (c *chaos) sleeps(stop chan struct{}) {
	f, err := os.OpenFile(filepath.Join(c.dir, "slept"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer f.Close()
	for {
		select {
		case <-stop:
			return
		case <-time.After(200*time.Millisecond + c.ms(1000)):
		}
		if _, err := f.Write(make([]byte, 1+c.roll(150))); err != nil {
			c.t.Error(err)
		}
		c.count("suspends")
	}
}

// partial looks for records that are visible before they are complete.
func (c *chaos) partial(stop chan struct{}) {
	for n := 0; ; {
		ids, err := c.s.ids("req")
		if err != nil {
			c.t.Error(err)
		}
		for _, id := range ids {
			for name, decode := range map[string]func([]byte) error{
				"request":  func(b []byte) error { _, err := decodeRequest(b); return err },
				"decision": func(b []byte) error { _, err := decodeDecision(b); return err },
			} {
				data, err := os.ReadFile(c.s.path("req", id, name))
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err == nil {
					err = decode(data)
				}
				if err != nil {
					c.t.Errorf("invariant 3: %s/%s: %v", id, name, err)
				}
				n++
			}
		}
		select {
		case <-stop:
			c.t.Logf("%d records looked at while in flight", n)
			return
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// check reads what the processes wrote.
func (c *chaos) check(log, markers string) {
	t := c.t
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct{ verdict, monitor string }
	wins, lates := make(map[string]answer), make(map[string]answer)
	killed := make(map[string]bool) // by monitor id
	var outs [][]string
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		switch f[0] {
		case "win", "late":
			m := wins
			if f[0] == "late" {
				m = lates
			}
			if before, ok := m[f[1]]; ok {
				t.Errorf("invariant 1: %s is won twice: %v, %v", f[1], before, f)
			}
			m[f[1]] = answer{f[2], f[3]}
			c.count(f[0])
		case "out":
			outs = append(outs, f)
			c.count(f[2])
		case "monitor":
			pid, _ := strconv.Atoi(f[2])
			killed[f[1]] = c.kills[pid]
		default:
			t.Errorf("invariant 4: %s", line)
		}
	}
	allowed := make(map[string]bool)
	used := make(map[string]bool)
	for _, f := range outs {
		id, verdict := f[1], f[2]
		by, monitor, _ := strings.Cut(f[3], "/")
		from := wins
		if by == ByLate {
			from = lates
			if used[id] {
				t.Errorf("late answer %s is used twice", id)
			}
			used[id] = true
			c.count("late answers used")
		}
		switch win, ok := from[id]; {
		case by == ByRequester && ok:
			t.Errorf("invariant 2: %s was won (%v) but obeyed %v", id, win, f)
		case by != ByRequester && !ok && !killed[monitor]:
			t.Errorf("invariant 2: nobody reported %v", f)
		case by != ByRequester && ok && (win.verdict != verdict || win.monitor != monitor):
			t.Errorf("invariant 2: %s was won as %v but obeyed %v", id, win, f)
		}
		if verdict == string(Allowed) {
			allowed[id] = true
		}
	}
	for _, path := range mustGlob(t, markers+"/*") {
		id := filepath.Base(path)
		if !allowed[id] {
			t.Errorf("invariant 6: %s ran without being allowed", id)
		}
		c.count("ran")
	}
	c.s.keep, c.s.keepStaged = 0, 0
	if err := c.s.GC(time.Now()); err != nil {
		t.Error(err)
	}
	if err := c.s.GC(time.Now()); err != nil { // the dead were retired just now
		t.Error(err)
	}
	for _, dir := range []string{"tmp", "req", "done", "grant", "pass"} {
		if names := listing(t, c.s, dir); len(names) != 0 {
			t.Errorf("invariant 7: left in %s: %v", dir, names)
		}
	}
	t.Log(c.ended)
	c.mu.Lock()
	defer c.mu.Unlock()
	outcomes := c.ended["allowed"] + c.ended["not allowed"] + c.ended["killed requesters"]
	fmt.Printf("chaos: %s: %d outcomes, %d monitors killed, %d late answers used\n", c.p.name, outcomes, c.ended["killed monitors"], c.ended["late answers used"])
}
