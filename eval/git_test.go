package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/script"
)

// commit makes a repository with one commit.
func (w *world) repo(dir, branch string) string {
	w.t.Helper()
	needsGit(w.t)
	w.mkdir(dir)
	w.git(dir, "init", "-q", "-b", branch)
	w.write(filepath.Join(dir, "tracked.txt"), "tracked\n")
	w.write(filepath.Join(dir, "sub", "file.go"), "package x\n")
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "-m", "one")
	return dir
}

func needsGit(t testing.TB) {
	t.Helper()
	if tt, ok := t.(*testing.T); ok {
		needs1(tt, "git")
	}
}

// The branch is what git says, in every kind of repository.
func TestBranch(t *testing.T) {
	w := newWorld(t)
	main := w.repo(filepath.Join(w.home, "main"), "main")
	topic := w.repo(filepath.Join(w.home, "topic"), "topic/a-b")
	unborn := filepath.Join(w.home, "unborn")
	w.mkdir(unborn)
	w.git(unborn, "init", "-q", "-b", "trunk")
	detached := w.repo(filepath.Join(w.home, "detached"), "main")
	w.git(detached, "checkout", "-q", "--detach")
	work := filepath.Join(w.home, "work")
	w.git(main, "worktree", "add", "-q", "-b", "hotfix", work)
	bare := filepath.Join(w.home, "bare.git")
	w.git(w.home, "init", "-q", "--bare", "-b", "bare", bare)
	sub := filepath.Join(w.home, "super")
	w.repo(sub, "super")
	w.git(sub, "-c", "protocol.file.allow=always", "submodule", "add", "-q", topic, "mod")
	r, _ := w.rules()
	for _, c := range []struct{ dir, cmd, want string }{
		{main, "git commit", "main"},
		{filepath.Join(main, "sub"), "git commit", "main"},
		{topic, "git commit", "topic/a-b"},
		{unborn, "git commit", "trunk"},
		{detached, "git commit", ""},
		{work, "git commit", "hotfix"},
		{filepath.Join(work, "sub"), "git commit", "hotfix"},
		{filepath.Join(sub, "mod"), "git commit", "topic/a-b"},
		{bare, "git commit", "bare"},
		{filepath.Join(main, ".git"), "git commit", "main"},
		{w.proj, "git commit", ""},
		{w.proj, "git -C " + topic + " commit", "topic/a-b"},
		{w.home, "git -C main -C sub commit", "main"},
		{w.proj, "git --git-dir=" + main + "/.git commit", "main"},
		{w.proj, "git --git-dir " + main + "/.git commit", "main"},
		{w.home, "git --git-dir=main/.git commit", "main"},
		{w.proj, "GIT_DIR=" + main + "/.git git commit", "main"},
		{filepath.Join(w.home, "nowhere"), "git commit", ""},
		// What earlier commands of the line change.
		{main, "git checkout -b new && git commit", "new"},
		{main, "git switch -c new; git commit", "new"},
		{main, "git switch --create=new; git commit", "new"},
		{topic, "git checkout main && git commit", "main"},
		{topic, "git switch main && git commit", "main"},
		{main, "git checkout --detach && git commit", ""},
		{main, "git checkout -- tracked.txt && git commit", "main"},
		{main, "git checkout tracked.txt && git commit", "main"},
		{main, "git status && git commit", "main"},
		{main, "git -C " + topic + " checkout -b other && git commit", "main"},
		{main, `git checkout "$X" && git commit`, ""},
	} {
		a := script.Parse(c.cmd, script.Options{Dialect: script.Bash, Dir: c.dir, Lookup: w.lookup})
		name, k := newView(r, &a, len(a.Commands)-1).branch()
		if name != c.want || (k == sure) != (c.want != "") {
			t.Errorf("%s in %s: %q (%d), want %q", c.cmd, strings.TrimPrefix(c.dir, w.home), name, k, c.want)
		}
	}
	// The same as real git, where the line changes nothing before.
	for _, dir := range []string{main, topic, unborn, detached, work, filepath.Join(sub, "mod"), bare} {
		a := script.FromArgv([]string{"git", "commit"}, script.Options{Dir: dir})
		name, _ := newView(r, &a, 0).branch()
		if got := strings.TrimSpace(w.git(dir, "branch", "--show-current")); got != name {
			t.Errorf("%s: git says %q, not %q", dir, got, name)
		}
	}
}

// What git holds can be had again.
func TestRecoverable(t *testing.T) {
	w := newWorld(t)
	repo := w.repo(filepath.Join(w.home, "repo"), "main")
	file := func(name, text string) { w.write(filepath.Join(repo, name), text) }
	file("dirty.txt", "one\n")
	file("staged.txt", "one\n")
	file("touched.txt", "same\n")
	file("gone.txt", "one\n")
	file("clean/a", "a\n")
	file("clean/b", "b\n")
	file("mixed/tracked", "a\n")
	file("link", "x")
	os.Remove(filepath.Join(repo, "link"))
	os.Symlink("tracked.txt", filepath.Join(repo, "link"))
	file("build/tracked-in-build", "x\n")
	file("with space/ü", "x\n")
	w.git(repo, "add", "-A", "-f")
	w.git(repo, "commit", "-q", "-m", "two")
	file("dirty.txt", "two\n")
	file("staged.txt", "two\n")
	w.git(repo, "add", "staged.txt")
	os.Remove(filepath.Join(repo, "gone.txt"))
	later := time.Now().Add(time.Hour)
	os.Chtimes(filepath.Join(repo, "touched.txt"), later, later)
	file("mixed/loose", "b\n")
	file("loose.txt", "x\n")
	file("empty.txt", "")
	file("dist/out.js", "x\n")
	file("node_modules/a/b.js", "x\n")
	file("app.log", "x\n")
	file("data.db", "x\n")
	os.MkdirAll(filepath.Join(repo, "nested", ".git"), 0o755)
	file("nested/x", "x\n")
	file("build/loose", "x\n")
	w.write(filepath.Join(w.home, "outside.txt"), "x\n")
	w.write(filepath.Join(w.home, "other", "node_modules", "x"), "x\n")
	r, _ := w.rules()
	recoverable := func(kind accessKind, name string) bool {
		a := script.FromArgv([]string{"x", name}, script.Options{Dir: repo})
		v := newView(r, &a, 0)
		w1 := script.Lit(name)
		if strings.ContainsAny(name, "*?") {
			w1 = script.Word{Parts: []script.Part{{Kind: script.Glob, Text: name}}}
		}
		tg := target{kind: kind, word: w1, recursive: true}
		v.resolve(&tg)
		return v.recoverable(&tg)
	}
	for name, want := range map[string]bool{
		"tracked.txt": true, "sub/file.go": true, "sub": true, "clean": true, "clean/a": true, "with space/ü": true, "link": true,
		"dirty.txt": false, "staged.txt": true, "touched.txt": true, "gone.txt": true, "never-was": true,
		"mixed": false, "mixed/tracked": true, "mixed/loose": false, "loose.txt": false, "empty.txt": true,
		"dist": true, "dist/out.js": true, "node_modules": true, "app.log": true, "data.db": false, "nested": false,
		".": false, ".git": false, ".git/config": false, "..": false, "../outside.txt": false, "../other/node_modules": true, "../other": false,
		"build/tracked-in-build": true, "build/loose": false,
		"*.log": true, "*.txt": false, "clean/*": true, "*.none": true,
		"/tmp/x/y": true, "/var/tmp/x": true, "/etc/passwd": false, filepath.Join(repo, "clean", "..", "dirty.txt"): false,
	} {
		if got := recoverable(accDelete, name); got != want {
			t.Errorf("delete %s: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"tracked.txt": true, "dirty.txt": false, "loose.txt": true, ".": false, "clean": true, "mixed": true, "gone.txt": true} {
		if got := recoverable(accDiscard, name); got != want {
			t.Errorf("discard %s: %v, want %v", name, got, want)
		}
	}
	// Agreement with git about every tracked file.
	status := w.git(repo, "status", "--porcelain", "-z", "--untracked-files=no")
	for _, name := range strings.Split(strings.TrimRight(w.git(repo, "ls-files", "-z"), "\x00"), "\x00") {
		dirty := strings.Contains("\x00"+status, "M "+name+"\x00") && !strings.Contains("\x00"+status, "\x00M  "+name+"\x00")
		if got := recoverable(accDelete, name); got == dirty {
			t.Errorf("%s: recoverable %v, by git dirty %v", name, got, dirty)
		}
	}
}

// Index formats that git writes.
func TestIndexFormats(t *testing.T) {
	for _, format := range []string{"2", "3", "4", "split", "sha256"} {
		t.Run(format, func(t *testing.T) {
			w := newWorld(t)
			needs1(t, "git")
			repo := filepath.Join(w.home, "repo")
			w.mkdir(repo)
			if format == "sha256" {
				w.git(repo, "init", "-q", "--object-format=sha256")
			} else {
				w.git(repo, "init", "-q")
			}
			for _, n := range []string{"a", "a/b", "a.b", "dir/one", "dir/two", "dir.x", strings.Repeat("long", 40), "ü"} {
				if n != "a" {
					w.write(filepath.Join(repo, n), n+"\n")
				}
			}
			w.git(repo, "add", "-A")
			if format == "3" {
				w.write(filepath.Join(repo, "intent"), "x\n")
				w.git(repo, "add", "-N", "intent") // needs extended flags
			}
			switch format {
			case "4":
				w.git(repo, "update-index", "--index-version", "4")
			case "split":
				w.git(repo, "update-index", "--split-index")
			}
			w.git(repo, "commit", "-q", "-m", "x")
			w.write(filepath.Join(repo, "dir", "two"), "changed\n")
			r, _ := w.rules()
			for name, want := range map[string]bool{"dir/one": true, "dir/two": false, "a/b": true, "ü": true, "dir": false, "a": true} {
				a := script.FromArgv([]string{"x"}, script.Options{Dir: repo})
				v := newView(r, &a, 0)
				tg := target{kind: accDelete, word: script.Lit(name), recursive: true}
				v.resolve(&tg)
				if got := v.recoverable(&tg); got != want {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
			if format == "3" {
				a := script.FromArgv([]string{"x"}, script.Options{Dir: repo})
				v := newView(r, &a, 0)
				tg := target{kind: accDelete, word: script.Lit("intent")}
				v.resolve(&tg)
				if v.recoverable(&tg) {
					t.Error("a file that is only intended counts as held")
				}
			}
		})
	}
}

// Line ends that git converts do not make a clean file look changed.
func TestFilteredContent(t *testing.T) {
	w := newWorld(t)
	repo := w.repo(filepath.Join(w.home, "repo"), "main")
	w.write(filepath.Join(repo, ".gitattributes"), "*.txt text eol=crlf\n")
	w.write(filepath.Join(repo, "crlf.txt"), "a\r\nb\r\n")
	w.git(repo, "add", "-A")
	w.git(repo, "commit", "-q", "-m", "x")
	later := time.Now().Add(time.Hour)
	os.Chtimes(filepath.Join(repo, "crlf.txt"), later, later)
	r, _ := w.rules()
	a := script.FromArgv([]string{"x"}, script.Options{Dir: repo})
	v := newView(r, &a, 0)
	tg := target{kind: accDelete, word: script.Lit("crlf.txt")}
	v.resolve(&tg)
	if !v.recoverable(&tg) {
		t.Error("a touched file with converted line ends counts as changed")
	}
}

// What git throws away is said in git's terms, with git's own way out: the rule
// of all deletions, whose way out is rm, is not in front of those for git.
func TestGitDiscardsInGitsTerms(t *testing.T) {
	w := newWorld(t)
	w.proj = w.repo(filepath.Join(w.home, "repo"), "topic")
	w.write("tracked.txt", "changed\n")
	w.write("notes.txt", "nobody has this\n")
	for line, rule := range map[string]string{
		"git reset --hard":                       "git-reset-hard",
		"git reset --merge HEAD~1":               "git-reset-hard",
		"git checkout -- tracked.txt":            "git-discard",
		"git checkout .":                         "git-discard",
		"git restore tracked.txt":                "git-discard",
		"git rm -f tracked.txt":                  "git-discard",
		"git checkout-index -fa":                 "git-discard",
		"git clean -fd":                          "git-clean",
		"cd sub && git -C .. clean -fdx":         "git-clean",
		"/usr/bin/git reset --hard":              "git-reset-hard",
		"/usr/lib/git-core/git-reset --hard":     "git-reset-hard",
		"git.exe reset --hard":                   "git-reset-hard",
		"unlink notes.txt":                       "core-delete-unrecoverable",
		"git status; find . -name '*.t' -delete": "core-delete-unrecoverable",
	} {
		if d := w.judge(line); d.Action != RequireApproval || d.Rule != rule {
			t.Errorf("%s: %s by %s, not by %s", line, d.Action, d.Rule, rule)
		}
	}
}
