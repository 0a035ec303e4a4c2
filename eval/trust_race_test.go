package eval

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"safeshell/script"
)

// A repository's rules are judged as they were hashed: while a writer swaps a
// trusted harmless file and one of the same size and times that would run code,
// by rename and in place, the code never runs; also through the cache, which
// all rounds share.
func TestTrustWhileSwapped(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.proj, ".git"))
	ran := filepath.Join(w.root, "ran")
	code := "rules:\n- {name: code, commands: [x], conditions: ['touch " + ran + "'], action: deny, message: m}\n"
	harmless := "rules:\n- {name: good, commands: [x], action: deny, message: m}\n#"
	for len(harmless) < len(code) {
		harmless += "."
	}
	file := w.write(".safeshell/rules.yaml", harmless)
	if _, err := Trust(w.paths, w.proj); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	at := time.Now().Add(-time.Hour)
	go func() {
		defer close(done)
		next := filepath.Join(w.root, "next")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			text := []string{code, harmless}[i%2]
			if i/2%2 == 0 {
				_ = os.WriteFile(next, []byte(text), 0o644)
				_ = os.Chtimes(next, at, at)
				_ = os.Rename(next, file)
			} else if f, err := os.OpenFile(file, os.O_WRONLY, 0); err == nil {
				_, _ = f.WriteString(text)
				_ = f.Close()
				_ = os.Chtimes(file, at, at)
			}
		}
	}()
	seen := map[string]int{}
	a := script.FromArgv([]string{"x"}, script.Options{Dir: w.proj})
	for range 2000 {
		r, _ := Open(Options{Paths: w.paths, Environ: w.env, Context: func() Context { return w.who }})
		seen[r.Judge(&a, 0).Rule]++
		r.Close()
	}
	close(stop)
	<-done
	if seen["code"] > 0 {
		t.Errorf("rules that nobody trusts were in force %d times", seen["code"])
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("their code ran")
	}
	t.Log(seen)
}
