package spool

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The debug log is private, bounded, of whole lines, and holds no secrets.
func TestDebugLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug.log")
	line := DebugLine(time.Now(), "DEBUG", "Rule x\n matches "+strings.Repeat("y", 9000)+" TOKEN=ghp_0123456789abcdef0123456789abcdef0123\x1b[2J")
	if strings.Count(line, "\n") != 1 || len(line) > 2000 || !strings.Contains(line, " [DEBUG] Rule x") || strings.Contains(line, "ghp_") || strings.Contains(line, "\x1b") {
		t.Errorf("%d bytes: %q", len(line), line)
	}
	if err := AppendDebug(path, strings.Repeat(line, 1000)); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 || fi.Size() > maxDebug+100 {
		t.Errorf("%+v, %v", fi, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				if err := AppendDebug(path, strings.Repeat(line, 20)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, p := range []string{path, path + ".1"} {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > DebugSize+9*maxDebug {
			t.Errorf("%s has %d bytes", p, len(b))
		}
		for l := range strings.Lines(string(b)) {
			if l != line && l != "(the rest was cut)\n" {
				t.Fatalf("a torn line: %q", l)
			}
		}
	}
	// What is no file of ours is left alone, and nobody waits for it.
	if err := AppendDebug("/dev/null/x", line); err == nil {
		t.Error("no error")
	}
	link := filepath.Join(t.TempDir(), "debug.log")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := AppendDebug(link, line); err == nil {
		t.Error("a link was followed")
	}
}
