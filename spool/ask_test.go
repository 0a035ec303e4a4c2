package spool

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestAskAndAnswer(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	for c, want := range map[Choice]Verdict{Once: Allowed, Session: Allowed, Always: Allowed, Refuse: Denied} {
		answered := make(chan Decision, 1)
		d := ask(t, s, request("rm", "-rf", c.String()), answering(func(r Request) {
			d, err := s.Answer(r.ID, c, "my reason", ByMonitor)
			if err != nil {
				t.Errorf("Answer: %v", err)
			}
			answered <- d
		}))
		if d.Verdict != want || d.Choice != c || d.Reason != "my reason" || d.By != ByMonitor || d.MonitorID == "" {
			t.Errorf("choice %d: got %+v", c, d)
		}
		if a := <-answered; a.ID != d.ID || a.Verdict != d.Verdict || a.Late {
			t.Errorf("answered %+v, obeyed %+v", a, d)
		}
		if names := listing(t, s, "req"); len(names) != 0 {
			t.Errorf("left in req: %v", names)
		}
	}
}

func TestNoMonitor(t *testing.T) {
	s := newSpool(t)
	d := ask(t, s, request("x"), AskOptions{})
	if d.Verdict != NoMonitor || d.By != ByRequester {
		t.Errorf("got %+v", d)
	}
	for _, dir := range []string{"req", "tmp", "done"} {
		if names := listing(t, s, dir); len(names) != 0 {
			t.Errorf("left in %s: %v", dir, names)
		}
	}
	// Hoping for one: published, so that `approve` from a terminal serves too.
	d = ask(t, s, request("x"), AskOptions{WaitForMonitor: time.Minute, Waiting: func(r Request) {
		go s.Answer(r.ID, Once, "", ByCLI)
	}})
	if d.Verdict != Allowed || d.By != ByCLI {
		t.Errorf("got %+v", d)
	}
	d = ask(t, s, request("x"), AskOptions{WaitForMonitor: 20 * time.Millisecond})
	if d.Verdict != NoMonitor || !d.Again {
		t.Errorf("got %+v", d)
	}
	// One that comes in time.
	d = ask(t, s, request("y"), AskOptions{WaitForMonitor: time.Minute, Waiting: func(r Request) {
		go func() {
			m, err := s.Watch(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			for range m.Changes() {
				if p, _ := s.Lookup(r.ID); p.ID == r.ID {
					s.Answer(r.ID, Once, "", ByMonitor)
					return
				}
			}
		}()
	}})
	if d.Verdict != Allowed {
		t.Errorf("got %+v", d)
	}
}

func TestMonitorLostWhileWaiting(t *testing.T) {
	s := newSpool(t)
	m := watched(t, s)
	d := ask(t, s, request("x"), AskOptions{NoMonitorGrace: 30 * time.Millisecond, Waiting: func(Request) { m.Close() }})
	if d.Verdict != NoMonitor {
		t.Errorf("got %+v", d)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	d := ask(t, s, request("x"), AskOptions{Timeout: 10 * time.Millisecond})
	if d.Verdict != TimedOut || !d.Again {
		t.Errorf("timeout: got %+v", d)
	}
	for cause, again := range map[error]bool{
		SignalError{15}: true, SignalError{1}: true, SignalError{2}: false, context.Canceled: false,
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		d, err := s.Ask(ctx, request("x"), AskOptions{Waiting: func(Request) { cancel(cause) }})
		if err != nil || d.Verdict != Cancelled || d.Again != again {
			t.Errorf("%v: got %+v, %v", cause, d, err)
		}
		// Before it starts nothing is published.
		if d, err = s.Ask(ctx, request("x"), AskOptions{Waiting: func(Request) { t.Error("published") }}); err != nil || d.Verdict != Cancelled {
			t.Errorf("%v: got %+v, %v", cause, d, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if d, err := s.Ask(ctx, request("x"), AskOptions{}); err != nil || d.Verdict != TimedOut {
		t.Errorf("deadline: got %+v, %v", d, err)
	}
}

// The first link wins, whoever makes it; everybody sees the same decision.
func TestFirstAnswerWins(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	other, err := Open(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won []Decision
	start := make(chan struct{})
	wg.Add(8)
	d := ask(t, s, request("x"), AskOptions{Timeout: time.Minute, Waiting: func(r Request) {
		for i := range 8 {
			go func() {
				defer wg.Done()
				<-start
				d, err := []*Spool{s, other}[i%2].Answer(r.ID, Choice(1+i%4), "", ByMonitor)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won = append(won, d)
				case !errors.Is(err, ErrDecided):
					t.Errorf("Answer: %v", err)
				}
			}()
		}
		close(start)
	}})
	wg.Wait()
	if len(won) != 1 || won[0].Choice != d.Choice || won[0].Verdict != d.Verdict {
		t.Errorf("won %+v, obeyed %+v", won, d)
	}
	// Also after the end.
	if first, err := s.Answer(d.ID, Refuse, "", ByCLI); !errors.Is(err, ErrDecided) || first.Verdict != d.Verdict {
		t.Errorf("got %+v, %v", first, err)
	}
}

func TestAnswerRefusesNonsense(t *testing.T) {
	s := newSpool(t)
	id := newID(time.Now())
	for _, tt := range []struct {
		id string
		c  Choice
		by string
	}{{"", Once, ByCLI}, {"../../etc/passwd", Once, ByCLI}, {id, 0, ByCLI}, {id, 5, ByCLI}, {id, Once, ByRequester}, {id, Once, ByCLI}} {
		if d, err := s.Answer(tt.id, tt.c, "", tt.by); err == nil {
			t.Errorf("%+v: got %+v", tt, d)
		}
	}
	if _, err := s.Answer(id, Once, "", ByCLI); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

func TestRequestIsMaskedCutAndBound(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	secret := []string{"curl", "-u", "me:hunter2", "https://a:b@h", "bad\xff\xfebyte", strings.Repeat("\x01", 200<<10), "the end"}
	in := request(secret...)
	in.Dir = "/tmp/\xffdir"
	ask(t, s, in, answering(func(r Request) {
		defer s.Answer(r.ID, Refuse, "", ByCLI)
		all, err := s.Pending()
		if err != nil || len(all) != 1 {
			t.Errorf("Pending: %v, %v", all, err)
			return
		}
		p := all[0].Request
		if !reflect.DeepEqual(p.Argv, r.Argv) || p.Dir != in.Dir || r.Dir != in.Dir {
			t.Errorf("stored %q in %q, announced %q in %q", p.Argv, p.Dir, r.Argv, r.Dir)
		}
		if p.ArgvSHA != ArgvSHA(secret) {
			t.Error("the hash is not that of the real command")
		}
		shown := strings.Join(p.Argv, " ")
		if strings.Contains(shown, "hunter2") || !strings.Contains(shown, "me:***") || !strings.Contains(shown, "a:***@h") {
			t.Errorf("not masked: %.200q", shown)
		}
		if !strings.Contains(shown, "bad\xff\xfebyte") || !strings.HasSuffix(shown, "the end") || p.Cut < 100<<10 {
			t.Errorf("cut %d: %.200q", p.Cut, shown)
		}
		if fi, err := os.Stat(s.path("req", r.ID, "request")); err != nil || fi.Size() > 64<<10 {
			t.Errorf("record: %v, %v", fi, err)
		}
		if p.PID != os.Getpid() || p.UID != os.Geteuid() || p.BootID == "" || p.StartTicks == 0 {
			t.Errorf("identity: %+v", p)
		}
	}))
	if !strings.HasPrefix(secret[2], "me:h") {
		t.Error("Ask changed the caller's arguments")
	}
}

// Changing any part of the decision or the request makes it a denial.
func TestTamperedDecision(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	other := newID(time.Now())
	for name, change := range map[string]func(d *Decision){
		"id":            func(d *Decision) { d.ID = other },
		"nonce":         func(d *Decision) { d.Nonce = newNonce() },
		"no nonce":      func(d *Decision) { d.Nonce = "" },
		"hash":          func(d *Decision) { d.ReqSHA = LineSHA("x") },
		"verdict":       func(d *Decision) { d.Verdict = "ALLOW" },
		"choice 4":      func(d *Decision) { d.Choice = Refuse },
		"choice 0":      func(d *Decision) { d.Choice = 0 },
		"version":       func(d *Decision) { d.V = 2 },
		"end":           func(d *Decision) { d.End = false },
		"late":          func(d *Decision) { d.Late = true },
		"own timeout":   func(d *Decision) { d.Verdict = TimedOut },
		"another world": func(d *Decision) { *d = Decision{} },
	} {
		d, err := s.Ask(context.Background(), request("x"), answering(func(r Request) {
			dec := Decision{V: 1, ID: r.ID, Nonce: r.Nonce, Verdict: Allowed, Choice: Once, By: ByMonitor, End: true}
			_, dec.ReqSHA, _, _ = s.openRequest(s.path("req", r.ID))
			change(&dec)
			data, _ := encode(dec)
			if err := s.linkNew(data, s.path("req", r.ID, "decision")); err != nil {
				t.Error(err)
			}
		}))
		if !errors.Is(err, ErrTampered) || d.Verdict != Denied {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}
}

func TestDecisionFileInDoubt(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	good := func(r Request) []byte {
		dec := Decision{V: 1, ID: r.ID, Nonce: r.Nonce, Verdict: Allowed, Choice: Once, By: ByMonitor, End: true}
		_, dec.ReqSHA, _, _ = s.openRequest(s.path("req", r.ID))
		data, _ := encode(dec)
		return data
	}
	// write makes the file complete in one step, as only such are looked at.
	write := func(r Request, data []byte, mode os.FileMode, links int) {
		tmp := s.path("tmp", "x"+r.ID)
		os.WriteFile(tmp, data, 0o600)
		os.Chmod(tmp, mode)
		for i := range links {
			os.Link(tmp, tmp+strings.Repeat("x", i+1))
		}
		if err := os.Rename(tmp, s.path("req", r.ID, "decision")); err != nil {
			t.Error(err)
		}
	}
	for name, f := range map[string]func(r Request){
		"mode":      func(r Request) { write(r, good(r), 0o644, 0) },
		"links":     func(r Request) { write(r, good(r), 0o600, 2) },
		"empty":     func(r Request) { write(r, nil, 0o600, 0) },
		"cut":       func(r Request) { write(r, good(r)[:100], 0o600, 0) },
		"two":       func(r Request) { write(r, append(good(r), good(r)...), 0o600, 0) },
		"huge":      func(r Request) { write(r, append(good(r), make([]byte, 70<<10)...), 0o600, 0) },
		"symlink":   func(r Request) { os.Symlink(s.path("VERSION"), s.path("req", r.ID, "decision")) },
		"directory": func(r Request) { os.Mkdir(s.path("req", r.ID, "decision"), 0o700) },
		"dangling":  func(r Request) { os.Symlink("/nonexistent", s.path("req", r.ID, "decision")) },
	} {
		d, err := s.Ask(context.Background(), request("x"), answering(f))
		if !errors.Is(err, ErrTampered) || d.Verdict != Denied {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}
	// And the good one passes, so that the table tests what it says.
	if d := ask(t, s, request("x"), answering(func(r Request) { write(r, good(r), 0o600, 0) })); d.Verdict != Allowed {
		t.Errorf("got %+v", d)
	}
}

// Events off, at the start or while waiting: slower, never an error.
func TestWithoutFileEvents(t *testing.T) {
	for name, f := range map[string]func() (*fsnotify.Watcher, error){
		"none": func() (*fsnotify.Watcher, error) { return nil, errors.New("too many open files") },
		"dead": func() (*fsnotify.Watcher, error) {
			w, err := fsnotify.NewWatcher()
			if err == nil {
				w.Close()
			}
			return w, err
		},
		"dies": func() (*fsnotify.Watcher, error) {
			w, err := fsnotify.NewWatcher()
			if err == nil {
				time.AfterFunc(20*time.Millisecond, func() { w.Close() })
			}
			return w, err
		},
		"overflow": func() (*fsnotify.Watcher, error) { // events are lost, and the kernel says so
			w, err := fsnotify.NewWatcher()
			if err == nil {
				w.Events, w.Errors = make(chan fsnotify.Event), make(chan error, 1)
				w.Errors <- fsnotify.ErrEventOverflow
			}
			return w, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpool(t)
			s.newWatcher = f
			m := watched(t, s)
			d := ask(t, s, request("x"), answering(func(r Request) {
				for range m.Changes() {
					if p, err := s.Pending(); err == nil && len(p) == 1 {
						time.Sleep(30 * time.Millisecond)
						s.Answer(r.ID, Once, "", ByMonitor)
						return
					}
				}
			}))
			if d.Verdict != Allowed {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// Wall clock jumps change nothing; suspend counts.
func TestClocks(t *testing.T) {
	s := newSpool(t)
	watched(t, s.clone())
	var mu sync.Mutex
	wall, boot := time.Now(), time.Hour
	step := func(w, b time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		wall, boot = wall.Add(w), boot+b
	}
	s.wall = func() time.Time { mu.Lock(); defer mu.Unlock(); return wall }
	s.boot = func() time.Duration { mu.Lock(); defer mu.Unlock(); return boot }
	for _, jump := range []time.Duration{-100 * 24 * time.Hour, 100 * 24 * time.Hour} {
		d := ask(t, s, request("x"), answering(func(r Request) {
			step(jump, 0)
			time.Sleep(2 * slowPoll) // it must look at the clock meanwhile
			if _, err := s.Answer(r.ID, Once, "", ByMonitor); err != nil {
				t.Error(err)
			}
		}))
		if d.Verdict != Allowed {
			t.Errorf("wall clock jumped by %s: got %+v", jump, d)
		}
	}
	d := ask(t, s, request("x"), answering(func(r Request) { step(0, time.Hour) }))
	if d.Verdict != TimedOut {
		t.Errorf("suspended for an hour: got %+v", d)
	}
}

func TestManyRequesters(t *testing.T) {
	s := newSpool(t)
	m := watched(t, s)
	const n = 100
	done := make(chan Decision, n)
	for i := range n {
		go func() {
			d, err := s.Ask(context.Background(), request("x", strings.Repeat("i", i)), AskOptions{Timeout: time.Minute})
			if err != nil {
				t.Error(err)
			}
			done <- d
		}()
	}
	seen := make(map[string]Choice)
	for len(seen) < n {
		<-m.Changes()
		all, err := s.Pending()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			c := Choice(1 + len(seen)%4)
			if _, err := s.Answer(p.ID, c, "", ByMonitor); err == nil {
				seen[p.ID] = c
			}
		}
	}
	for range n {
		if d := <-done; seen[d.ID] != d.Choice {
			t.Errorf("answered %s, obeyed %+v", seen[d.ID], d)
		}
	}
}
