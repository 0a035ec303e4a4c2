package spool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

func newGrants(t testing.TB) *Grants {
	t.Helper()
	g, err := OpenGrants(filepath.Join(testdir.New(t), "home", "grants"))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var grantKey = Key{UID: os.Geteuid(), Session: "s1", Dir: "/p", Exe: "/usr/bin/make", ArgvSHA: ArgvSHA([]string{"make", "deploy"})}

func remember(t testing.TB, g *Grants, c Choice, rule string, k Key) {
	t.Helper()
	gr := NewGrant(rule, k, Decision{Choice: c, By: ByMonitor, Reason: "fine"}, "make deploy --token=abc")
	if err := g.Add(gr); err != nil {
		t.Fatal(err)
	}
}

func found(t testing.TB, g *Grants, rule string, k Key) *Grant {
	t.Helper()
	gr, err := g.Find(rule, k)
	if err != nil {
		t.Fatal(err)
	}
	return gr
}

func TestGrants(t *testing.T) {
	g := newGrants(t)
	if gr := found(t, g, "r", grantKey); gr != nil {
		t.Errorf("found %+v in nothing", gr)
	}
	if list, err := g.List(); err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	remember(t, g, Session, "r", grantKey)
	remember(t, g, Always, "r2", grantKey)
	change := func(f func(k *Key)) Key { k := grantKey; f(&k); return k }
	for name, tt := range map[string]struct {
		rule string
		key  Key
		want bool
	}{
		"session":                 {"r", grantKey, true},
		"always":                  {"r2", grantKey, true},
		"always, other session":   {"r2", change(func(k *Key) { k.Session = "s2" }), true},
		"always, no session":      {"r2", change(func(k *Key) { k.Session = "" }), true},
		"executable not known":    {"r", change(func(k *Key) { k.Exe = "" }), true},
		"session, other session":  {"r", change(func(k *Key) { k.Session = "s2" }), false},
		"session, no session":     {"r", change(func(k *Key) { k.Session = "" }), false},
		"other rule":              {"r3", grantKey, false},
		"other directory":         {"r2", change(func(k *Key) { k.Dir = "/p/q" }), false},
		"other executable":        {"r2", change(func(k *Key) { k.Exe = "/tmp/make" }), false},
		"same first word":         {"r2", change(func(k *Key) { k.ArgvSHA = ArgvSHA([]string{"make"}) }), false},
		"one argument more":       {"r2", change(func(k *Key) { k.ArgvSHA = ArgvSHA([]string{"make", "deploy", "x"}) }), false},
		"the same as text":        {"r2", change(func(k *Key) { k.ArgvSHA = LineSHA("make deploy") }), false},
		"joined":                  {"r2", change(func(k *Key) { k.ArgvSHA = ArgvSHA([]string{"make deploy"}) }), false},
		"rule and directory move": {"r2/", change(func(k *Key) { k.Dir = "p" }), false},
	} {
		if gr := found(t, g, tt.rule, tt.key); (gr != nil) != tt.want {
			t.Errorf("%s: found %+v", name, gr)
		}
	}
	list, err := g.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("listed %v, %v", list, err)
	}
	gr := list[0]
	if gr.Choice != Session || gr.By != ByMonitor || gr.Command != "make deploy --token=***" || gr.At.IsZero() || gr.Until.Sub(gr.At) != DefaultSessionTTL {
		t.Errorf("listed %+v", gr)
	}
	if !list[1].Until.IsZero() || list[1].Session != "" {
		t.Errorf("always: %+v", list[1])
	}
	// One revoked, the other stays.
	if err := g.Revoke("zzzz"); err == nil {
		t.Error("revoked nothing")
	}
	if err := g.Revoke(gr.ID[:6]); err != nil {
		t.Error(err)
	}
	if found(t, g, "r", grantKey) != nil || found(t, g, "r2", grantKey) == nil {
		t.Error("revoked the wrong one")
	}
}

func TestGrantsRefused(t *testing.T) {
	g := newGrants(t)
	for name, gr := range map[string]Grant{
		"deny":         NewGrant("r", grantKey, Decision{Choice: Refuse}, "x"),
		"once":         NewGrant("r", grantKey, Decision{Choice: Once}, "x"),
		"no rule":      NewGrant("", grantKey, Decision{Choice: Always}, "x"),
		"no hash":      NewGrant("r", Key{Dir: "/p"}, Decision{Choice: Always}, "x"),
		"no directory": NewGrant("r", Key{ArgvSHA: grantKey.ArgvSHA}, Decision{Choice: Always}, "x"),
		"no session":   NewGrant("r", Key{Dir: "/p", ArgvSHA: grantKey.ArgvSHA}, Decision{Choice: Session}, "x"),
	} {
		if err := g.Add(gr); err == nil {
			t.Errorf("%s: added", name)
		}
	}
	if list, err := g.List(); err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	if _, err := OpenGrants("relative"); err == nil {
		t.Error("opened a relative directory")
	}
	dir := testdir.New(t)
	os.Chmod(dir, 0o755)
	if _, err := OpenGrants(dir); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("got %v", err)
	}
}

func TestSessionGrantExpires(t *testing.T) {
	for name, f := range map[string]func(g *Grants){
		"time":    func(g *Grants) { g.boot = func() time.Duration { return bootNow() + DefaultSessionTTL } },
		"reboot":  func(g *Grants) { g.id = func() string { return "another" } },
		"rewound": func(g *Grants) { g.boot = func() time.Duration { return 0 } },
	} {
		g := newGrants(t)
		remember(t, g, Session, "r", grantKey)
		remember(t, g, Always, "r2", grantKey)
		f(g)
		if found(t, g, "r", grantKey) != nil || found(t, g, "r2", grantKey) == nil {
			t.Errorf("%s: wrong one expired", name)
		}
		if list, err := g.List(); err != nil || len(list) != 1 {
			t.Errorf("%s: listed %v, %v", name, list, err)
		}
	}
	// The wall clock has no say.
	g := newGrants(t)
	remember(t, g, Session, "r", grantKey)
	g.wall = func() time.Time { return time.Now().AddDate(10, 0, 0) }
	if found(t, g, "r", grantKey) == nil {
		t.Error("expired by the wall clock")
	}
}

func TestTamperedGrant(t *testing.T) {
	for name, f := range map[string]func(path string){
		"mode":      func(path string) { os.Chmod(path, 0o644) },
		"empty":     func(path string) { os.Truncate(path, 0) },
		"cut":       func(path string) { os.Truncate(path, 100) },
		"two names": func(path string) { os.Link(path, path+"x") },
		"symlink":   func(path string) { os.Rename(path, path+"x"); os.Symlink(path+"x", path) },
		"moved":     func(path string) { os.Rename(path, filepath.Join(filepath.Dir(path), strings.Repeat("0", 32)+".json")) },
	} {
		g := newGrants(t)
		remember(t, g, Always, "r", grantKey)
		f(filepath.Join(g.dir, g.key(Always, "r", grantKey)+".json"))
		if gr := found(t, g, "r", grantKey); gr != nil {
			t.Errorf("%s: found %+v", name, gr)
		}
		list, err := g.List()
		var p *GrantProblem
		if len(list) != 0 || !errors.As(err, &p) || !strings.Contains(err.Error(), g.dir) {
			t.Errorf("%s: listed %v, %v", name, list, err)
		}
		// A new answer repairs it.
		if name != "two names" && name != "moved" {
			remember(t, g, Always, "r", grantKey)
			if found(t, g, "r", grantKey) == nil {
				t.Errorf("%s: not repaired", name)
			}
		}
	}
}

func TestGrantsTogether(t *testing.T) {
	g := newGrants(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			k := grantKey
			k.Dir = "/p/" + strings.Repeat("d", i+1)
			if err := g.Add(NewGrant("r", k, Decision{Choice: Always}, "x")); err != nil {
				t.Error(err)
			}
			if err := g.Add(NewGrant("r", grantKey, Decision{Choice: Session}, "x")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := g.List(); err != nil || len(list) != 21 {
		t.Errorf("%d listed, %v", len(list), err)
	}
}

func TestGrantInOddDirectory(t *testing.T) {
	g := newGrants(t)
	k := grantKey
	k.Dir = "/tmp/\xff"
	remember(t, g, Always, "r", k)
	other := grantKey
	other.Dir = "/tmp/\xfe"
	if found(t, g, "r", k) == nil || found(t, g, "r", other) != nil {
		t.Error("directories that are not UTF-8 are mixed up")
	}
}
