package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/config"
	"safeshell/internal/test/testdir"
	"safeshell/shims"
)

// Who has put a binary where it is, is told by its place: what its links name, and
// what removes it.
func TestPlaces(t *testing.T) {
	dir := testdir.New(t)
	binary := func(path string) string {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), testdir.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := &app{p: shims.Process{Environ: []string{"PATH=/usr/bin:/bin"}}, paths: config.Paths{User: filepath.Join(dir, "home"), Home: filepath.Join(dir, "home/.safeshell")}}
	if err := os.MkdirAll(filepath.Join(dir, "brew/opt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../Cellar/safeshell/0.1.0", filepath.Join(dir, "brew/opt/safeshell")); err != nil {
		t.Fatal(err)
	}
	const npx, global = ".npm/_npx/1/node_modules/@safeshell/linux-x64/bin/safeshell", "lib/node_modules/safeshell/node_modules/@safeshell/linux-x64/bin/safeshell"
	for _, c := range []struct {
		place, link string
		copied      bool
		remove      string
	}{
		{"brew/Cellar/safeshell/0.1.0/bin/safeshell", "brew/opt/safeshell/bin/safeshell", false, "brew uninstall safeshell"},
		{global, global, false, "npm uninstall -g safeshell"},
		{npx, npx, true, "nothing to do, npx keeps it in its cache"},
		{"proj/node_modules/@safeshell/linux-x64/bin/safeshell", "proj/node_modules/@safeshell/linux-x64/bin/safeshell", true, "cd " + dir + "/proj && npm uninstall safeshell"},
		{"share/pnpm/global/5/.pnpm/s/node_modules/@safeshell/linux-x64/bin/safeshell", "share/pnpm/global/5/.pnpm/s/node_modules/@safeshell/linux-x64/bin/safeshell", true, "npm uninstall safeshell (or"},
		{"usr/bin/safeshell", "usr/bin/safeshell", false, "/bin/rm " + dir + "/usr/bin/safeshell"},
	} {
		p := binary(c.place)
		if to, copied := a.lasting(p); to != filepath.Join(dir, c.link) || copied != c.copied {
			t.Errorf("%s: links name %s, copied %v", c.place, to, copied)
		}
		if do := a.removal(p); !strings.Contains(do, c.remove) {
			t.Errorf("%s: removed by %q, want %q", c.place, do, c.remove)
		}
	}
}

// The package manager of the system names the package.
func TestPackageOf(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed")
	}
	if out, err := exec.Command("dpkg", "-S", "/usr/bin/env").CombinedOutput(); err != nil {
		t.Skipf("dpkg knows no package here: %s", out)
	}
	a := &app{p: shims.Process{Environ: []string{"PATH=/usr/bin:/bin"}}}
	if do := a.removal("/usr/bin/env"); do != "sudo apt remove coreutils" {
		t.Errorf("coreutils: %s", do)
	}
}
