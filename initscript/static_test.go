package initscript

import (
	"os"
	"path/filepath"
	"testing"

	"safeshell/internal/test/testdir"
)

// A start of a shell mends what it finds stale: its own file by content, the
// others when they are missing.
func TestLineMendsStaticFiles(t *testing.T) {
	home := testdir.New(t)
	p := Params{Binary: "/opt/safeshell", Home: filepath.Join(home, ".safeshell"), UserHome: home, Builtins: []string{"cd"}}
	same := func() {
		t.Helper()
		for _, s := range Shells {
			want, err := Script(s, p)
			if err != nil {
				t.Fatal(err)
			}
			if have, err := os.ReadFile(EnvFile(s, p)); err != nil || string(have) != want {
				t.Errorf("the file of %s is not as it should be (%v)", s, err)
			}
		}
	}
	for _, shell := range Shells {
		want, note, err := Line(shell, p)
		if err != nil || note != "" {
			t.Fatal(err, note)
		}
		same()
		own, _ := Script(shell, p)
		spoil := []func() error{
			func() error { return os.WriteFile(EnvFile(shell, p), []byte(own+"x"), 0o600) },
			func() error { return os.WriteFile(EnvFile(shell, p), []byte(own[:len(own)-1]), 0o600) },
			func() error { return os.WriteFile(EnvFile(shell, p), nil, 0o600) },
			func() error { return os.Remove(EnvFile(shell, p)) },
		}
		for _, s := range Shells {
			spoil = append(spoil, func() error { return os.Remove(EnvFile(s, p)) })
		}
		for i, f := range spoil {
			if err := f(); err != nil {
				t.Fatal(err)
			}
			if p.current(shell, own) {
				t.Errorf("%s: damage %d is not seen", shell, i)
			}
			if got, _, err := Line(shell, p); err != nil || got != want {
				t.Errorf("%s: damage %d: %q, %v; want %q", shell, i, got, err, want)
			}
			same()
			if !p.current(shell, own) {
				t.Errorf("%s: damage %d: the files are current and are not known to be", shell, i)
			}
		}
	}
	gated := p
	gated.Builtins = []string{"source"}
	if own, _ := Script("bash", gated); gated.current("bash", own) {
		t.Error("a rule that names source needs the gates looked at")
	}
}
