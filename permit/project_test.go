package permit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"safeshell/config"
	"safeshell/internal/test/testdir"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// Worktrees, also of a bare repository, share their project; submodules and
// clones are projects of their own. Real git makes them all.
func TestFindArea(t *testing.T) {
	top, err := filepath.EvalSymlinks(testdir.New(t))
	must(t, err)
	must(t, os.MkdirAll(top+"/main/deep/er", 0o755))
	git(t, top+"/main", "init", "-q", "-b", "topic")
	git(t, top+"/main", "commit", "-q", "--allow-empty", "-m", "x")
	git(t, top+"/main", "worktree", "add", "-q", "../other")
	git(t, top, "clone", "-q", "--bare", "main", "bare.git")
	git(t, top+"/bare.git", "worktree", "add", "-q", "../of-bare", "topic")
	git(t, top, "clone", "-q", "main", "clone")
	git(t, top+"/main", "-c", "protocol.file.allow=always", "submodule", "-q", "add", top+"/clone", "sub")
	must(t, os.Symlink(top+"/main/deep", top+"/link"))
	must(t, os.MkdirAll(top+"/plain/below/.safeshell", 0o755))
	must(t, os.WriteFile(top+"/plain/below/.safeshell/permissions.yaml", nil, 0o600))
	must(t, os.MkdirAll(top+"/plain/below/x", 0o755))
	for _, c := range []struct{ dir, root, main string }{
		{"main", "main", "main"},
		{"main/deep/er", "main", "main"},
		{"link/er", "main", "main"},
		{"other", "other", "main"},
		{"of-bare", "of-bare", "bare.git"},
		{"clone", "clone", "clone"},
		{"main/sub", "main/sub", "main/sub"},
		{"plain", "plain", "plain"},
		{"plain/below/x", "plain/below", "plain/below"},
	} {
		a, err := FindArea(filepath.Join(top, c.dir))
		if err != nil || a.Root != filepath.Join(top, c.root) || a.Main != filepath.Join(top, c.main) {
			t.Errorf("%s: %+v, %v", c.dir, a, err)
		}
	}
	if a, _ := FindArea(top + "/other"); len(a.GitDirs) != 1 || a.GitDirs[0] != top+"/main/.git" {
		t.Errorf("a worktree's git directory: %+v", a)
	}
	if a, _ := FindArea(top + "/main/sub"); len(a.GitDirs) != 1 || a.GitDirs[0] != top+"/main/.git/modules/sub" {
		t.Errorf("a submodule's git directory: %+v", a)
	}
}

// A .git file made by hand does not share another project's answers.
func TestForgedWorktree(t *testing.T) {
	top, err := filepath.EvalSymlinks(testdir.New(t))
	must(t, err)
	for _, d := range []string{"victim/.git/worktrees/w", "evil", "evil2/fake"} {
		must(t, os.MkdirAll(filepath.Join(top, d), 0o755))
	}
	must(t, os.WriteFile(top+"/victim/.git/worktrees/w/commondir", []byte("../..\n"), 0o644))
	must(t, os.WriteFile(top+"/victim/.git/worktrees/w/gitdir", []byte(top+"/gone/.git\n"), 0o644))
	must(t, os.WriteFile(top+"/evil/.git", []byte("gitdir: "+top+"/victim/.git/worktrees/w\n"), 0o644))
	must(t, os.WriteFile(top+"/evil2/.git", []byte("gitdir: fake\n"), 0o644))
	must(t, os.WriteFile(top+"/evil2/fake/commondir", []byte(top+"/victim/.git\n"), 0o644))
	must(t, os.WriteFile(top+"/evil2/fake/gitdir", []byte(top+"/evil2/.git\n"), 0o644))
	for _, d := range []string{"evil", "evil2"} {
		if a, err := FindArea(filepath.Join(top, d)); err != nil || a.Main != filepath.Join(top, d) || len(a.GitDirs) != 0 {
			t.Errorf("%s: %+v, %v", d, a, err)
		}
	}
	for _, text := range []string{"", "gitdir:", "gitdir: /no/such", "\xff\x00", "gitdir: ."} {
		must(t, os.WriteFile(top+"/evil/.git", []byte(text), 0o644))
		if a, err := FindArea(top + "/evil"); err != nil || a.Root != top+"/evil" {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
	}
	if _, err := FindArea(top + "/nope"); err == nil {
		t.Error("a directory that is not there")
	}
	if _, err := FindArea(""); err == nil {
		t.Error("a directory that is gone")
	}
}

func TestRemembered(t *testing.T) {
	w := newWorld(t)
	area, err := FindArea(w.proj)
	must(t, err)
	r, err := OpenRemembered(w.paths(), area)
	must(t, err)
	must(t, r.Add(Always, "", "cli", []string{"curl", "project:scripts/build.sh"}))
	must(t, r.Add(Session, "s", "monitor", []string{"git"}))
	must(t, r.Add(Always, "", "cli", []string{"curl"})) // nothing is lost, nothing doubled
	s := w.load(t, w.sub, config.Permissions{})
	for command, scope := range map[string]Scope{"curl": Always, "git": Session, "scripts/build.sh": Always, "wget": ""} {
		if d := s.Decide(command); d.Scope != scope {
			t.Errorf("%s: %+v", command, d)
		}
	}
	other, err := Load(Env{Paths: w.paths(), Environ: []string{"PATH=" + w.bin}, Dir: w.proj, Session: "another"})
	must(t, err)
	if d := other.Decide("git"); d.Status != NotAllowed {
		t.Errorf("another session: %+v", d)
	}
	if err := r.Add(Session, "", "cli", []string{"x"}); err == nil {
		t.Error("no session")
	}
	elsewhere := w.load(t, w.out, config.Permissions{})
	if d := elsewhere.Decide("curl"); d.Status != NotAllowed {
		t.Errorf("another project: %+v", d)
	}

	// A session's answer ends with its time and with the boot.
	r.clock.boot = func() (int64, string) { ns, id := systemClock().boot(); return ns + int64(9*3600e9), id }
	if l, err := r.load(Session, "s"); err != nil || len(l) != 0 {
		t.Errorf("after nine hours: %v, %v", l, err)
	}
	r.clock = clock{func() (int64, string) { return 1, "another boot" }}
	if l, err := r.load(Session, "s"); err != nil || len(l) != 0 {
		t.Errorf("after a boot: %v, %v", l, err)
	}
	r.clock = systemClock()

	gone, err := r.Remove("s", []string{"curl", "git", "wget"})
	if err != nil || len(gone) != 2 {
		t.Errorf("%v, %v", gone, err)
	}
	if d := w.load(t, w.proj, config.Permissions{}).Decide("curl"); d.Status != NotAllowed {
		t.Errorf("revoked: %+v", d)
	}
	if fi, err := os.Stat(r.file(Always, "")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
}

// A damaged file permits nothing, is named, and is neither overwritten nor lost.
func TestRememberedDamaged(t *testing.T) {
	w := newWorld(t)
	area, _ := FindArea(w.proj)
	r, _ := OpenRemembered(w.paths(), area)
	must(t, r.Add(Always, "", "cli", []string{"curl"}))
	file := r.file(Always, "")
	good, _ := os.ReadFile(file)
	for name, data := range map[string]string{
		"truncated": string(good[:len(good)/2]), "empty": "", "newer": `{"v":2,"end":true}`, "no end": `{"v":1,"project":"` + area.Main + `","commands":[]}`,
		"another project's": `{"v":1,"project":"/elsewhere","commands":[{"command":"curl"}],"end":true}`, "binary": "\x00\xff",
	} {
		must(t, os.WriteFile(file, []byte(data), 0o600))
		s := w.load(t, w.proj, config.Permissions{})
		if d := s.Decide("curl"); d.Status != NotAllowed || len(s.Warnings) != 1 {
			t.Errorf("%s: %+v, %q", name, d, s.Warnings)
		}
		if err := r.Add(Always, "", "cli", []string{"wget"}); err == nil {
			t.Errorf("%s was overwritten", name)
		}
		if now, _ := os.ReadFile(file); string(now) != data {
			t.Errorf("%s was changed", name)
		}
	}
	must(t, os.WriteFile(file, good, 0o600))
	must(t, os.Chmod(file, 0o644))
	if s := w.load(t, w.proj, config.Permissions{}); s.Decide("curl").Status != NotAllowed {
		t.Error("a file that others can read counts")
	}
}
