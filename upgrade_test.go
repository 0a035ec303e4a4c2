package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// In a home directory that has become read-only, `init --undo` says for each
// file what it could not do and leaves none in between; once it may write, it leaves no
// trace.
func TestUndoInReadOnlyHome(t *testing.T) {
	p := newPlace(t)
	home, run := p.anotherHome(0o755)
	p.write("theirs/.bashrc", "alias ll=ls\n", 0o644)
	if err := os.Chown(home+"/.bashrc", 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if out, err := run("init", "--yes"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tree := func() map[string]string {
		out := map[string]string{}
		err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasPrefix(path, home+"/.safeshell/") {
				b, _ := os.ReadFile(path)
				out[strings.TrimPrefix(path, home+"/")] = string(b)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := tree()
	if err := os.Chmod(home, 0o555); err != nil {
		t.Fatal(err)
	}
	out, err := run("init", "--undo", "--yes")
	if err == nil || !strings.Contains(out, ".profile") || !strings.Contains(out, "permission denied") || !strings.Contains(out, "safeshell init --undo") {
		t.Errorf("read-only: %v: %s", err, out)
	}
	for f, text := range tree() {
		if before[f] != text && text != "alias ll=ls\n" { // .bashrc itself may still be written
			t.Errorf("%s was changed to %q", f, text)
		}
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := run("init", "--undo", "--yes"); err != nil {
		t.Errorf("writable again: %v: %s", err, out)
	}
	if got := tree(); len(got) != 1 || got[".bashrc"] != "alias ll=ls\n" {
		t.Errorf("left: %q", got)
	}
}
