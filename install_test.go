package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/internal/test/testdir"
)

// make install says what is wrong with a PREFIX, and with PATH, and what to run; and
// uninstall names just the files that it has put there.
func TestMakeInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the man pages")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	dir := testdir.New(t)
	home := filepath.Join(dir, "home")
	other := filepath.Join(dir, "other")
	for _, d := range []string{home, other} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := testdir.WriteFile(filepath.Join(other, "safeshell"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	install := func(prefix string, path ...string) (string, error) {
		c := exec.Command("make", "-s", "-o", "build", "install", "BIN="+binary, "PREFIX="+prefix)
		c.Env = append(os.Environ(), "PATH="+strings.Join(append(path, os.Getenv("PATH")), ":"))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	readOnly := filepath.Join(dir, "readonly")
	if err := os.Mkdir(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		readOnly = "/proc/1" // root may write anywhere else
	}
	out, err := install(readOnly)
	if err == nil || !strings.Contains(out, readOnly+"/bin cannot be written: make install PREFIX=$HOME/.local, or: sudo make install") {
		t.Errorf("read-only: %v: %s", err, out)
	}
	prefix := filepath.Join(home, ".local")
	out, err = install(prefix)
	if err != nil || !strings.Contains(out, prefix+"/bin is not in your PATH; set up with: "+prefix+"/bin/safeshell init") {
		t.Errorf("not in PATH: %v: %s", err, out)
	}
	out, err = install(prefix, other, filepath.Join(prefix, "bin"))
	if err != nil || !strings.Contains(out, other+"/safeshell comes before "+prefix+"/bin/safeshell in your PATH; which of them judges: "+prefix+"/bin/safeshell status") {
		t.Errorf("two in PATH: %v: %s", err, out)
	}
	if out, err = install(prefix, filepath.Join(prefix, "bin")); err != nil || strings.Contains(out, "PATH") {
		t.Errorf("all good: %v: %s", err, out)
	}

	p := &place{t: t, dir: dir, home: home}
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"HOME=" + home, "TERM=xterm", "LC_ALL=C", "PATH=" + prefix + "/bin:/usr/bin:/bin"}
	out, err = p.person(prefix+"/bin/safeshell", "uninstall", "--yes")
	_, command, found := strings.Cut(strings.TrimSpace(out), "The program itself, "+prefix+"/bin/safeshell: /bin/rm ")
	if err != nil || !found {
		t.Fatalf("uninstall: %v: %s", err, out)
	}
	for _, word := range strings.Fields(command) { // as the shell would
		names, _ := filepath.Glob(word)
		if len(names) == 0 {
			t.Errorf("%s is not there", word)
		}
		for _, f := range names {
			if err := os.Remove(f); err != nil {
				t.Error(err)
			}
		}
	}
	_ = filepath.WalkDir(prefix, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("left: %s", path)
		}
		return nil
	})
}
