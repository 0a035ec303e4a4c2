package eval

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of a commit go over untracked ones of the same name: asked where git
// really does it, and not where it does not.
func TestUntrackedUnderACommit(t *testing.T) {
	const mine = "nobody else has this\n"
	w := newWorld(t)
	pattern := w.repo(filepath.Join(w.home, "repo"), "main")
	w.git(pattern, "checkout", "-q", "-b", "other")
	w.write(pattern+"/sub/new.go", "package new\n")
	w.write(pattern+"/ignored.txt", "committed\n")
	w.git(pattern, "add", "-A")
	w.git(pattern, "commit", "-q", "-m", "two")
	w.git(pattern, "checkout", "-q", "main")
	w.write(pattern+"/.git/info/exclude", "ignored.txt\n")
	for _, c := range []struct{ line, untracked, content string }{
		{"git checkout other -- sub", "sub/new.go", mine},
		{"git checkout other sub", "sub/new.go", mine},
		{"git checkout other -- .", "sub/new.go", mine},
		{"git checkout other~0 .", "sub/new.go", mine},
		{"git checkout other -- sub/new.go", "sub/new.go", mine},
		{"git restore --source=other sub", "sub/new.go", mine},
		{"git restore -s other -SW .", "sub/new.go", mine},
		{"cd sub && git checkout other -- .", "sub/new.go", mine},
		{"cd sub && git restore -s other ..", "ignored.txt", mine},
		{"git checkout other -- .", "ignored.txt", mine},
		{"git checkout -f other", "sub/new.go", mine},
		// Nothing of it is in the commit, or nothing would be lost.
		{"git checkout other -- .", "own.txt", mine},
		{"git checkout other -- .", "sub/own.txt", mine},
		{"git restore --source=HEAD .", "sub/new.go", mine},
		{"git checkout HEAD -- .", "sub/new.go", mine},
		{"git checkout main -- sub", "sub/new.go", mine},
		{"git checkout -- .", "sub/new.go", mine},
		{"git checkout other -- tracked.txt", "sub/new.go", mine},
		{"git checkout other -- .", "sub/new.go", "package new\n"},
		{"git checkout other -- .", "", ""},
	} {
		w.proj = filepath.Join(w.home, "copy")
		if err := errors.Join(os.RemoveAll(w.proj), os.CopyFS(w.proj, os.DirFS(pattern))); err != nil {
			t.Fatal(err)
		}
		if c.untracked != "" {
			w.write(c.untracked, c.content)
		}
		asked := w.judge(c.line).Action == RequireApproval
		dir, args := w.proj, strings.Fields(c.line)
		if args[0] == "cd" {
			dir, args = filepath.Join(dir, args[1]), args[3:]
		}
		w.git(dir, args[1:]...)
		lost := false
		if c.untracked != "" {
			now, _ := os.ReadFile(filepath.Join(w.proj, c.untracked))
			lost = string(now) != c.content
		}
		if asked != lost {
			t.Errorf("%s with %s: asked %t, lost %t", c.line, c.untracked, asked, lost)
		}
	}
}

// Where the commit is not known, or git cannot be asked about the repository,
// untracked files are asked about as such, and nothing is where there are none.
func TestUntrackedUnderAnUnknownCommit(t *testing.T) {
	w := newWorld(t)
	w.proj = w.repo(filepath.Join(w.home, "repo"), "main")
	for _, c := range []struct {
		line, untracked string
		want            Action
	}{
		{"git checkout $(git merge-base a b) -- sub", "", Allow},
		{"git checkout $(git merge-base a b) -- sub", "sub/own.txt", RequireApproval},
		{"git checkout $(git merge-base a b) -- sub", "own.txt", Allow},
		{"git checkout $(git merge-base a b) -- sub", "sub/__pycache__/a.pyc", Allow},
		{"git fetch -q && git checkout origin/fresh -- sub", "sub/own.txt", RequireApproval},
		{"git fetch -q && git checkout origin/fresh -- sub", "", Allow},
	} {
		if c.untracked != "" {
			w.write(c.untracked, "nobody else has this\n")
		}
		if d := w.judge(c.line); d.Action != c.want {
			t.Errorf("%s with %s: %s by %s", c.line, c.untracked, d.Action, d.Rule)
		}
		if c.untracked != "" {
			os.Remove(filepath.Join(w.proj, c.untracked))
		}
	}
}
