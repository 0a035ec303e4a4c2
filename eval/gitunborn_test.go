package eval

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// A branch without a commit is not protected: not in a fresh repository, and not
// for the second commit of a line. What is known of it elsewhere is a commit.
func TestUnbornBranch(t *testing.T) {
	needs1(t, "git")
	for _, who := range []Context{AI, Human} {
		w := newWorld(t)
		w.who = who
		at := func(name string) string { return filepath.Join(w.home, name) }
		w.git(w.home, "init", "-q", "-b", "main", at("fresh"))
		w.git(w.home, "init", "-q", "-b", "main", at("born"))
		w.git(at("born"), "commit", "-q", "--allow-empty", "-m", "x")
		w.git(w.home, "clone", "-q", at("born"), at("packed"))
		w.git(at("packed"), "pack-refs", "--all")
		w.git(w.home, "init", "-q", "-b", "main", at("fetched"))
		w.git(at("fetched"), "fetch", "-q", at("born"), "main:refs/remotes/origin/main")
		w.git(w.home, "init", "-q", "-b", "main", at("fetched-packed"))
		w.git(at("fetched-packed"), "fetch", "-q", at("born"), "main:refs/remotes/origin/main")
		w.git(at("fetched-packed"), "pack-refs", "--all")
		w.git(w.home, "clone", "-q", at("fresh"), at("cloned-empty"))
		w.git(at("born"), "worktree", "add", "-q", "-b", "master", at("tree"))
		w.git(w.home, "clone", "-q", at("born"), at("orphan"))
		w.git(at("orphan"), "checkout", "-q", "--orphan", "develop")
		for _, c := range []struct {
			dir, line string
			want      Action
		}{
			{"fresh", "git commit -m x", Allow},
			{"fresh", "git add -A && git commit -m x", Allow},
			{"fresh", "git commit -m x && git commit -m y", Deny},
			{"born", "git commit -m x", Deny},
			{"born", "git checkout -b production && git commit -m x", Deny},
			{"packed", "git commit -m x", Deny},
			{"fetched", "git commit -m x", Deny},
			{"fetched-packed", "git commit -m x", Deny},
			{"cloned-empty", "git commit -m x", Allow},
			{"tree", "git commit -m x", Deny},
			{"orphan", "git commit -m x", Allow},
		} {
			if d := w.judge("cd " + at(c.dir) + " && " + c.line); d.Action != c.want {
				t.Errorf("%s in %s: %v by %q, want %v", c.line, c.dir, d.Action, d.Rule, c.want)
			}
		}
	}
	w := newWorld(t)
	dir := filepath.Join(w.home, "table")
	if out, err := exec.Command("git", "init", "-q", "-b", "main", "--ref-format=reftable", dir).CombinedOutput(); err != nil {
		t.Skipf("no reftable: %s", out)
	}
	for _, want := range []Action{Allow, Deny} {
		if d := w.judge("cd " + dir + " && git commit -m x"); d.Action != want {
			t.Errorf("reftable: %v, want %v", d.Action, want)
		}
		w.git(dir, "commit", "-q", "--allow-empty", "-m", "x")
	}
}
