package spool

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// giveUp asks and times out; it returns the request's id.
func giveUp(t *testing.T, s *Spool, r Request) string {
	t.Helper()
	d := ask(t, s, r, AskOptions{Timeout: time.Millisecond})
	if d.Verdict != TimedOut {
		t.Fatalf("got %+v", d)
	}
	return d.ID
}

func lateIDs(t *testing.T, s *Spool) []string {
	t.Helper()
	all, err := s.Pending()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range all {
		if !p.Late || p.Decision == nil || p.Decision.Verdict != TimedOut {
			t.Errorf("not late: %+v", p)
		}
		ids = append(ids, p.ID)
	}
	return ids
}

func TestLateAnswer(t *testing.T) {
	for _, c := range []Choice{Once, Session, Always, Refuse} {
		s := newSpool(t)
		watched(t, s)
		r := request("make", "deploy")
		first := giveUp(t, s, r)
		id := giveUp(t, s, r)
		if ids := lateIDs(t, s); len(ids) != 1 || ids[0] != id {
			t.Fatalf("of %s and %s listed %v", first, id, ids)
		}
		d, err := s.Answer(id, c, "why", ByMonitor)
		if err != nil || !d.Late || d.Verdict != verdictOf(c) {
			t.Fatalf("got %+v, %v", d, err)
		}
		if ids := lateIDs(t, s); len(ids) != 0 {
			t.Errorf("still listed: %v", ids)
		}
		for _, id := range []string{id, first} {
			if d, err := s.Answer(id, Once, "", ByCLI); !errors.Is(err, ErrDecided) || d.Choice != c {
				t.Errorf("answered twice: %+v, %v", d, err)
			}
		}
		// Another command, directory, session or executable gets nothing.
		key := s.prepare(r, AskOptions{}).Key()
		key.ArgvSHA = ArgvSHA(r.Argv)
		for _, other := range []func(k *Key){
			func(k *Key) { k.ArgvSHA = ArgvSHA([]string{"make", "deploy", ""}) },
			func(k *Key) { k.ArgvSHA = LineSHA("make deploy") },
			func(k *Key) { k.Dir += "/sub" },
			func(k *Key) { k.Session = "s2" },
			func(k *Key) { k.Exe = "/tmp/make" },
		} {
			k := key
			other(&k)
			if d, ok := s.TakeLateAnswer(k); ok {
				t.Errorf("%+v got %+v", k, d)
			}
		}
		// The next try of exactly this one, once.
		got, ok := s.TakeLateAnswer(key)
		if !ok || got.Verdict != verdictOf(c) || got.Choice != c || got.Reason != "why" || got.By != ByLate || got.ID != id {
			t.Errorf("got %+v, %v", got, ok)
		}
		if d, ok := s.TakeLateAnswer(key); ok {
			t.Errorf("taken twice: %+v", d)
		}
		if ids := lateIDs(t, s); len(ids) != 0 {
			t.Errorf("listed after use: %v", ids)
		}
		if d, err := s.Answer(id, Once, "", ByCLI); !errors.Is(err, ErrDecided) {
			t.Errorf("answered again after use: %+v, %v", d, err)
		}
	}
}

// Ask itself takes a late answer, so that no caller forgets it.
func TestAskTakesLateAnswer(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	r := request("make", "deploy", "--token", "secret")
	if _, err := s.Answer(giveUp(t, s, r), Refuse, "not on friday", ByMonitor); err != nil {
		t.Fatal(err)
	}
	d := ask(t, s, r, AskOptions{Timeout: time.Minute})
	if d.Verdict != Denied || d.By != ByLate || d.Reason != "not on friday" {
		t.Errorf("got %+v", d)
	}
	giveUp(t, s, r)
}

// A retry that is answered live, or waits, replaces its earlier tries.
func TestLateIsHiddenByRetry(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	r := request("x")
	giveUp(t, s, r)
	ask(t, s, r, answering(func(r Request) {
		if all, _ := s.Pending(); len(all) != 1 || all[0].Late {
			t.Errorf("got %+v", all)
		}
		s.Answer(r.ID, Refuse, "", ByMonitor)
	}))
	if ids := lateIDs(t, s); len(ids) != 0 {
		t.Errorf("got %v", ids)
	}
	all, err := s.History()
	if err != nil || len(all) != 2 || all[0].Decision.Verdict != Denied || all[1].Decision.Verdict != TimedOut {
		t.Errorf("history: %+v, %v", all, err)
	}
}

func TestLateAnswerExpires(t *testing.T) {
	for name, f := range map[string]func(s *Spool){
		"age":     func(s *Spool) { s.boot = func() time.Duration { return bootNow() + Keep + time.Second } },
		"reboot":  func(s *Spool) { s.bootID = func() string { return "another" } },
		"no boot": func(s *Spool) { s.bootID = func() string { return "" } },
		"rewound": func(s *Spool) { s.boot = func() time.Duration { return bootNow() - time.Hour } },
	} {
		s := newSpool(t)
		watched(t, s)
		r := request("x")
		key := Key{UID: s.uid, Session: r.Session, Dir: r.Dir, Exe: r.Exe, ArgvSHA: ArgvSHA(r.Argv)}
		answered, open := giveUp(t, s, r), giveUp(t, s, request("y"))
		if _, err := s.Answer(answered, Once, "", ByMonitor); err != nil {
			t.Fatal(err)
		}
		f(s)
		if d, ok := s.TakeLateAnswer(key); ok {
			t.Errorf("%s: got %+v", name, d)
		}
		if d, err := s.Answer(open, Once, "", ByMonitor); !errors.Is(err, ErrGone) {
			t.Errorf("%s: answered %+v, %v", name, d, err)
		}
		if ids := lateIDs(t, s); len(ids) != 0 {
			t.Errorf("%s: listed %v", name, ids)
		}
	}
}

// A stale answer in the way does not stop a new one.
func TestLateAnswerReplacesStale(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	r := request("x")
	if _, err := s.Answer(giveUp(t, s, r), Refuse, "", ByMonitor); err != nil {
		t.Fatal(err)
	}
	shift := Keep + time.Minute
	s.boot = func() time.Duration { return bootNow() + shift }
	id := s.prepare(r, AskOptions{}).KeySHA
	// Published by hand, as Ask would take the stale one out of the way.
	w := &waiter{s: s, r: s.prepare(r, AskOptions{}), o: AskOptions{Timeout: 1}, start: s.boot()}
	if err := w.publish(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.decide(TimedOut, ""); err != nil {
		t.Fatal(err)
	}
	w.close()
	if d, err := s.Answer(w.r.ID, Once, "", ByMonitor); err != nil || !d.Late {
		t.Fatalf("got %+v, %v", d, err)
	}
	if d, ok := s.takeLate(id); !ok || d.Verdict != Allowed {
		t.Errorf("got %+v, %v", d, ok)
	}
}

// Many monitors answer, many requesters take: one answer, one use.
func TestLateAnswerOnceUnderRaces(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	for range 20 {
		r := request("x")
		id := giveUp(t, s, r)
		key := s.prepare(r, AskOptions{}).KeySHA
		var answers, uses atomic.Int32
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				for range 20 {
					switch i % 3 {
					case 0:
						if _, err := s.Answer(id, Once, "", ByMonitor); err == nil {
							answers.Add(1)
						}
					case 1:
						if _, ok := s.takeLate(key); ok {
							uses.Add(1)
						}
					case 2:
						if _, err := s.Pending(); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		s.Pending() // makes good what was cut short
		if _, ok := s.takeLate(key); ok {
			uses.Add(1)
		}
		if answers.Load() != 1 || uses.Load() != 1 {
			t.Fatalf("%d answers, %d uses", answers.Load(), uses.Load())
		}
	}
}

// A monitor killed between its two links, and a taker killed between its two
// steps, lose nothing.
func TestLateAnswerSurvivesKills(t *testing.T) {
	s := newSpool(t)
	watched(t, s)
	r := request("x")
	key := s.prepare(r, AskOptions{}).KeySHA
	if _, err := s.Answer(giveUp(t, s, r), Once, "", ByMonitor); err != nil {
		t.Fatal(err)
	}
	for _, kill := range []func(){
		func() { os.Remove(s.path("grant", key)) },
		func() { os.Rename(s.path("grant", key), s.path("done", newID(time.Now())+".grant")) },
	} {
		kill()
		if _, ok := s.takeLate(key); ok {
			t.Fatal("taken from nowhere")
		}
		if ids := lateIDs(t, s); len(ids) != 0 {
			t.Errorf("listed again: %v", ids)
		}
	}
	if _, ok := s.takeLate(key); !ok {
		t.Error("lost")
	}
	lateIDs(t, s)
	if _, ok := s.takeLate(key); ok {
		t.Error("taken twice")
	}
}

func TestTamperedLateAnswer(t *testing.T) {
	for name, f := range map[string]func(s *Spool, path string){
		"mode":    func(s *Spool, path string) { os.Chmod(path, 0o644) },
		"empty":   func(s *Spool, path string) { os.Truncate(path, 0) },
		"cut":     func(s *Spool, path string) { os.Truncate(path, 60) },
		"symlink": func(s *Spool, path string) { os.Rename(path, path+"x"); os.Symlink(path+"x", path) },
		"dir":     func(s *Spool, path string) { os.Remove(path); os.Mkdir(path, 0o700) },
		"key": func(s *Spool, path string) {
			d, _ := s.readLate(path)
			d.Key = LineSHA("x")
			data, _ := encode(d)
			os.WriteFile(path, data, 0o600)
		},
	} {
		s := newSpool(t)
		watched(t, s)
		r := request("x")
		if _, err := s.Answer(giveUp(t, s, r), Once, "", ByMonitor); err != nil {
			t.Fatal(err)
		}
		key := s.prepare(r, AskOptions{}).KeySHA
		f(s, s.path("grant", key))
		if d, ok := s.takeLate(key); ok {
			t.Errorf("%s: got %+v", name, d)
		}
	}
}

func TestPass(t *testing.T) {
	s := newSpool(t)
	key := Key{Session: "s1", Dir: "/tmp/\xffp", ArgvSHA: ArgvSHA([]string{"rm", "x"})}
	if _, ok := s.TakePass(key); ok {
		t.Fatal("a pass from nowhere")
	}
	put := func(k Key, ttl time.Duration) {
		t.Helper()
		if err := s.PutPass(k, "some-rule", ttl); err != nil {
			t.Fatal(err)
		}
	}
	put(key, 0)
	put(key, 0)
	for _, k := range []Key{{Session: "s2", Dir: key.Dir, ArgvSHA: key.ArgvSHA}, {Session: "s1", Dir: "/", ArgvSHA: key.ArgvSHA},
		{Session: "s1", Dir: key.Dir, ArgvSHA: ArgvSHA([]string{"rm", "y"})}} {
		if _, ok := s.TakePass(k); ok {
			t.Errorf("%+v passes", k)
		}
	}
	resolved := key
	resolved.Exe = "/usr/bin/rm"
	for i := range 3 {
		rule, ok := s.TakePass(resolved)
		if ok != (i < 2) || ok && rule != "some-rule" {
			t.Errorf("take %d: %q, %v", i, rule, ok)
		}
	}
	// Bound to the executable where it was known.
	put(resolved, 0)
	other := key
	other.Exe = "/tmp/rm"
	if _, ok := s.TakePass(other); ok {
		t.Error("another executable passes")
	}
	put(resolved, 0)
	if _, ok := s.TakePass(resolved); !ok {
		t.Error("the same executable does not pass")
	}
	// Time, reboot, content, mode.
	put(key, time.Minute)
	since := s.boot
	s.boot = func() time.Duration { return since() + 2*time.Minute }
	if _, ok := s.TakePass(key); ok {
		t.Error("passes after its time")
	}
	put(key, time.Hour) // capped
	s.boot = func() time.Duration { return since() + 2*time.Minute + Keep + time.Second }
	if _, ok := s.TakePass(key); ok {
		t.Error("passes after the longest time")
	}
	s.boot = since
	put(key, 0)
	s.bootID = func() string { return "another" }
	if _, ok := s.TakePass(key); ok {
		t.Error("passes after a reboot")
	}
	s.bootID = bootID
	for name, f := range map[string]func(path string){
		"mode": func(path string) { os.Chmod(path, 0o640) },
		"cut":  func(path string) { os.Truncate(path, 30) },
	} {
		put(key, 0)
		for _, id := range listing(t, s, "pass/"+s.passKey(key)) {
			f(s.path("pass", s.passKey(key), id))
		}
		if _, ok := s.TakePass(key); ok {
			t.Errorf("%s: passes", name)
		}
	}
}

func TestPassOnceUnderRaces(t *testing.T) {
	s := newSpool(t)
	key := Key{Session: "s1", Dir: "/p", ArgvSHA: LineSHA("rm x")}
	const n = 50
	var taken atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range n {
				switch {
				case i%4 == 0:
					if err := s.PutPass(key, "r", 0); err != nil {
						t.Error(err)
					}
				case i%4 == 1:
					if err := s.GC(time.Now()); err != nil {
						t.Error(err)
					}
				default:
					if _, ok := s.TakePass(key); ok {
						taken.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	for {
		if _, ok := s.TakePass(key); !ok {
			break
		}
		taken.Add(1)
	}
	if taken.Load() != 2*n {
		t.Errorf("%d put, %d taken", 2*n, taken.Load())
	}
}
