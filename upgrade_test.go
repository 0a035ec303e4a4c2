package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Two versions side by side, with different formats of the cache, leave each
// other's files alone: once both have compiled the rules, neither writes again.
func TestTwoVersions(t *testing.T) {
	p := newPlace(t)
	other := filepath.Join(p.dir, "other", "safeshell")
	build := exec.Command("go", "build", "-ldflags", "-X safeshell/eval.cacheFormat=2", "-o", other, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("go build is needed: %v\n%s", err, out)
	}
	old := time.Now().Add(-time.Hour) // past the time in which a file may change unseen
	for _, f := range []string{"rules.yaml", "config.yaml"} {
		if err := os.Chtimes(filepath.Join(p.home, ".safeshell", f), old, old); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2100 * time.Millisecond) // the same for their ctime
	both := func() map[string]time.Time {
		for _, b := range []string{"safeshell", other} {
			if out, err := p.command(b, "check", "--", "probe x").CombinedOutput(); err == nil {
				t.Fatalf("%s does not know the rule: %s", b, out)
			}
		}
		files, _ := filepath.Glob(p.home + "/.safeshell/cache/*")
		out := map[string]time.Time{}
		for _, f := range files {
			if fi, err := os.Stat(f); err == nil {
				out[f] = fi.ModTime()
			}
		}
		return out
	}
	first := both()
	for range 3 {
		now := both()
		for f, at := range now {
			if !first[f].Equal(at) {
				t.Errorf("%s was written again", filepath.Base(f))
			}
		}
	}
	if len(first) < 2 {
		t.Errorf("cached: %v", first)
	}
}
