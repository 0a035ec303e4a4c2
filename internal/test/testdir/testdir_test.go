package testdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a test started and left is gone with its directory, also where it keeps
// writing into it, in a session of its own.
func TestNew(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("/proc is needed")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is needed")
	}
	var dir string
	if !t.Run("a part, 'odd' $name", func(t *testing.T) {
		dir = New(t)
		if strings.ContainsAny(dir, " ,'$") {
			t.Errorf("%q needs quoting", dir)
		}
		for _, script := range []string{
			`while :; do mkdir -p "$D/a/b"; : > "$D/a/b/$((n += 1))"; done`,
			`exec setsid sh -c 'while :; do mkdir -p "$D/c"; : > "$D/c/$((n += 1))"; done'`,
		} {
			c := exec.Command("sh", "-c", script)
			c.Env = append(os.Environ(), "D="+dir)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { _ = c.Wait() }()
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			_, a := os.Stat(filepath.Join(dir, "a/b/9"))
			_, c := os.Stat(filepath.Join(dir, "c/9"))
			if a == nil && c == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("nothing is written")
			}
		}
	}) {
		return
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is there: %v", dir, err)
	}
}
