// Package denotest finds the real Deno for tests.
package denotest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Path returns Deno's path: the one in PATH, else one that npm installs into the
// user's cache directory, once. Where it is not to be had, the test is skipped.
func Path(t testing.TB) string {
	t.Helper()
	p, why := find()
	if p == "" {
		t.Skip("deno: not in PATH, and " + why)
	}
	return p
}

// Find is Path without a test; "" where Deno is not to be had.
func Find() string {
	p, _ := find()
	return p
}

var find = sync.OnceValues(func() (path, why string) {
	if p, err := exec.LookPath("deno"); err == nil {
		return real(p), ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err.Error()
	}
	dir := filepath.Join(cache, "safeshell-test", "deno")
	p := filepath.Join(dir, "node_modules", ".bin", "deno")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err.Error()
	}
	l := flock.New(filepath.Join(dir, "lock"))
	if err := l.Lock(); err != nil {
		return "", err.Error()
	}
	defer func() { _ = l.Close() }()
	if _, err := os.Stat(p); err != nil {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return "", "npm is not there to install it"
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, npm, "install", "--prefix", dir, "--no-audit", "--no-fund", "deno")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return "", "npm could not install it: " + err.Error() + "\n" + string(out)
		}
	}
	return real(p), ""
})

// real is the program behind npm's script, which needs node in PATH.
func real(p string) string {
	out, err := exec.Command(p, "eval", "console.log(Deno.execPath())").Output()
	if err != nil || len(out) < 2 {
		return p
	}
	return string(out[:len(out)-1])
}
