package eval

import (
	"os"
	"path/filepath"
	"safeshell/internal/files"
	"testing"
	"time"
)

// Compiled rules go when their repository is gone or nobody used them for long;
// a use keeps them.
func TestSweepCache(t *testing.T) {
	w := newWorld(t)
	const text = "rules:\n- {name: x, commands: [x], action: deny, message: m}\n"
	cached := func(repo, text string) (dir, file string) {
		dir = filepath.Join(w.home, repo)
		w.mkdir(filepath.Join(dir, ".git"))
		rules := w.write(filepath.Join(dir, ".safeshell", "rules.yaml"), text)
		r, _ := w.rules()
		r.repoSources(dir)
		kind := ".rules"
		if text != "" && text[0] == '?' {
			kind = ".bad"
		}
		file = cacheBase(rules, w.paths.Cache) + kind
		if !files.Exists(file) {
			t.Fatalf("%s: nothing was compiled", repo)
		}
		return dir, file
	}
	_, kept := cached("kept", text)
	usedIn, used := cached("used", text)
	_, unused := cached("unused", text)
	goneIn, gone := cached("gone", text)
	badIn, bad := cached("bad", "? broken: [\n")
	_, broken := cached("broken", "? broken: [\n")
	w.write(w.paths.Cache+"/config-1", "")
	w.write(w.paths.Cache+"/0123-1.rules", "")
	for _, dir := range []string{goneIn, badIn} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-100 * 24 * time.Hour)
	for _, f := range []string{used, unused, w.paths.Cache + "/config-1", w.paths.Cache + "/0123-1.rules"} {
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	r, _ := w.rules()
	r.repoSources(usedIn) // a use, from the cache
	if n := SweepCache(w.paths.Cache, time.Now()); n != 3 {
		t.Errorf("%d files were removed", n)
	}
	for f, want := range map[string]bool{kept: true, used: true, unused: false, gone: false, bad: false, broken: true, w.paths.Cache + "/config-1": true, w.paths.Cache + "/0123-1.rules": true} {
		if files.Exists(f) != want {
			t.Errorf("%s is there: %t", f, !want)
		}
	}
	if n := SweepCache(filepath.Join(w.root, "nowhere"), time.Now()); n != 0 {
		t.Error(n)
	}
}
