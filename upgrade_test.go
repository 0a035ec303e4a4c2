package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// Two versions side by side, with different formats of the cache, leave each
// other's files alone: once both have compiled the rules, neither writes again.
func TestTwoVersions(t *testing.T) {
	p := newPlace(t)
	other := filepath.Join(p.dir, "other", "safeshell")
	build := exec.Command("go", "build", "-ldflags", "-X safeshell/eval.cacheFormat=other", "-o", other, ".")
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

// Everything that a session leaves in ~/.safeshell has its line in docs/formats.md.
func TestFormatsAreListed(t *testing.T) {
	p := newPlace(t)
	home, run := p.anotherHome(0o755)
	for _, args := range [][]string{{"init", "--yes"}, {"agents", "install", "claude-code"}, {"check", "--", "ls"}, {"permit", "check", "curl"}, {"trash", "put", "nothing"}, {"pending"}} {
		_, _ = run(args...) // some have nothing to do
	}
	docs, err := os.ReadFile("docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(home + "/.safeshell")
	if err != nil || len(entries) < 10 {
		t.Fatalf("%d entries: %v", len(entries), err)
	}
	for _, e := range entries {
		if !strings.Contains(string(docs), "`"+e.Name()+"`") {
			t.Errorf("docs/formats.md says nothing of ~/.safeshell/%s", e.Name())
		}
	}
}

// What an older safeshell has left, with a command that waits and things in the
// trash, is served by this one: the oldest commit that kept today's promises is
// built and replaced while it waits.
func TestUpgradeFromOlder(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another safeshell")
	}
	p := newPlace(t)
	old := filepath.Join(p.dir, "old", "safeshell")
	buildOlder(t, old)
	bin := filepath.Join(p.dir, "own", "safeshell")
	install := func(from string) {
		t.Helper()
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
			t.Fatal(err)
		}
		// As package managers do: a new file is renamed onto the old one.
		if err := testdir.WriteFile(bin+".new", b, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(bin+".new", bin); err != nil {
			t.Fatal(err)
		}
	}
	must := func(want string, argv ...string) {
		t.Helper()
		out, err := p.command(argv[0], argv[1:]...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("%q: %v, without %q: %s", argv, err, want, out)
		}
	}
	install(old)
	if err := os.Remove(filepath.Join(p.home, ".safeshell", "version")); err != nil { // of the place
		t.Fatal(err)
	}
	must("shims:", bin, "init", "--yes")
	p.write("home/kept", "x", 0o600)
	shim := func(name string) string { return filepath.Join(p.home, ".safeshell", "shims", name) }
	must("", shim("rm"), filepath.Join(p.home, "kept"))

	p.onTerminal(bin, "watch") // of the older version, and it stays open
	p.until("the monitor", func() bool {
		out, _ := p.command(bin, "status").CombinedOutput()
		return strings.Contains(string(out), "a monitor is running")
	})
	waits := p.agent(shim("probe") + " waited")
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	id := p.asked()
	install(binary)
	must("probe waited", bin, "pending")
	if out, err := p.person(bin, "approve", id); err != nil {
		t.Errorf("approve: %v: %s", err, out)
	}
	if err := waits.Wait(); err != nil || !p.ran() {
		t.Errorf("what waited did not run: %v", err)
	}
	must("", bin, "log")
	must("kept", bin, "trash", "list")
	must("", bin, "trash", "restore", "--last")
	if b, err := os.ReadFile(filepath.Join(p.home, "kept")); err != nil || string(b) != "x" {
		t.Errorf("restored: %q, %v", b, err)
	}
	if to, err := os.Readlink(shim("rm")); err != nil || to != filepath.Join(p.home, ".safeshell", "bin", "safeshell") {
		t.Errorf("the first command did not renew the shims: %s, %v", to, err)
	}
	must("", bin, "init", "--undo", "--yes")
	left, _ := filepath.Glob(filepath.Join(p.home, ".*"))
	for _, f := range left {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), "safeshell") {
			t.Errorf("%s still has a block of the older version: %s", f, b)
		}
	}
}

// buildOlder builds the commit that an upgrade was first tried with.
func buildOlder(t *testing.T, to string) {
	t.Helper()
	commits, err := exec.Command("git", "log", "--diff-filter=A", "--format=%H", "--", "testdata/script/upgrade_files.txtar").Output()
	fields := strings.Fields(string(commits))
	if err != nil || len(fields) == 0 {
		t.Skip("git with the project's history is needed")
	}
	src := filepath.Join(filepath.Dir(to), "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	extract := exec.Command("sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", fields[len(fields)-1], src)
	if out, err := extract.CombinedOutput(); err != nil {
		t.Skipf("git and tar are needed: %v: %s", err, out)
	}
	build := exec.Command("go", "build", "-o", to, ".")
	build.Dir, build.Env = src, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("go build of an older commit is needed: %v\n%s", err, out)
	}
}
