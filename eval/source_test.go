package eval

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/files"
	"safeshell/script"
)

const denyX = "rules:\n  - {name: r, commands: [x], action: deny, message: m}\n"

func (w *world) open1() (*Rules, []Problem, Decision) {
	r, problems := w.rules()
	a := script.FromArgv([]string{"x"}, script.Options{Dir: w.proj})
	return r, problems, r.Judge(&a, 0)
}

func TestLastGood(t *testing.T) {
	w := newWorld(t)
	w.user(denyX)
	if _, problems, d := w.open1(); len(problems) > 0 || d.Action != Deny {
		t.Fatal(problems, d)
	}
	for name, broken := range map[string]string{"syntax": "rules: [", "unknown key": "rule: []\n", "condition": "rules:\n  - {name: r, commands: [x], action: deny, message: m, conditions: ['eval $CMD']}\n"} {
		w.user(broken)
		for range 3 { // the second time the answer is remembered
			r, problems, d := w.open1()
			if len(problems) == 0 || !problems[0].LastGood || problems[0].Fatal || r.Broken() != nil {
				t.Fatalf("%s: problems %v", name, problems)
			}
			if d.Action != Deny {
				t.Fatalf("%s: the last good rules are not in force", name)
			}
			if s := problems[0].String(); !strings.HasPrefix(s, w.paths.Rules+":") || !strings.Contains(s, "last good") {
				t.Fatalf("%s: %s", name, s)
			}
		}
	}
	w.user("rules: []\n")
	if _, problems, d := w.open1(); len(problems) > 0 || d.Action != Allow {
		t.Error("mended: ", problems, d.Rule)
	}
}

func TestNoLastGood(t *testing.T) {
	w := newWorld(t)
	w.user("rules: [")
	r, problems, d := w.open1()
	if len(problems) != 1 || !problems[0].Fatal || r.Broken() == nil || d.Action != Allow {
		t.Error(problems, d)
	}
	// The other sources stay in force.
	if d := w.judgeWith(r, "rm -rf /"); d.Action != Deny {
		t.Error("the packs are off")
	}
}

// Files that must not be read, or not believed.
func TestBadSources(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		says string
	}{
		"fifo":           {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "not a regular file"},
		"directory":      {func(p string) error { return os.Mkdir(p, 0o700) }, "is a directory"},
		"symlink loop":   {func(p string) error { return os.Symlink(p, p) }, "cannot be read"},
		"link to fifo":   {func(p string) error { os.Symlink(p+".fifo", p); return syscall.Mkfifo(p+".fifo", 0o600) }, "not a regular file"},
		"device":         {func(p string) error { return os.Symlink("/dev/zero", p) }, "not a regular file"},
		"group writable": {func(p string) error { os.WriteFile(p, []byte(denyX), 0o600); return os.Chmod(p, 0o660) }, "changed by other users"},
		"world writable": {func(p string) error { os.WriteFile(p, []byte(denyX), 0o600); return os.Chmod(p, 0o606) }, "changed by other users"},
		"too large":      {func(p string) error { return os.WriteFile(p, make([]byte, MaxFileSize+1), 0o600) }, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if err := c.make(w.paths.Rules); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			var problems []Problem
			var r *Rules
			go func() { defer close(done); r, problems, _ = w.open1() }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("hangs")
			}
			if len(problems) != 1 || !problems[0].Fatal || !strings.Contains(problems[0].Message, c.says) || r.Broken() == nil {
				t.Errorf("%v", problems)
			}
			if strings.Contains(name, "writable") && !strings.Contains(problems[0].Fix, "chmod go-w ") {
				t.Errorf("fix %q", problems[0].Fix)
			}
		})
	}
	// A symlink to a good file is the user's own business.
	w := newWorld(t)
	os.Symlink(w.write(filepath.Join(w.home, "dotfiles", "rules.yaml"), denyX), w.paths.Rules)
	if _, problems, d := w.open1(); len(problems) > 0 || d.Action != Deny {
		t.Error(problems, d)
	}
	// In a repository it is not.
	w = newWorld(t)
	w.mkdir(filepath.Join(w.proj, ".safeshell"))
	os.Symlink(w.write(filepath.Join(w.home, "secret.yaml"), denyX), filepath.Join(w.proj, ".safeshell", "rules.yaml"))
	if _, _, d := w.open1(); len(d.Problems) != 1 || !d.Problems[0].Fatal || !strings.Contains(d.Problems[0].Message, "symbolic link") {
		t.Errorf("%+v", d)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	w := newWorld(t)
	w.user(denyX)
	os.Chmod(w.paths.Rules, 0)
	if _, problems, _ := w.open1(); len(problems) != 1 || !problems[0].Fatal {
		t.Error(problems)
	}
}

// A cache that is damaged, foreign or cannot be written is done without.
func TestCacheIsOptional(t *testing.T) {
	w := newWorld(t)
	w.user(denyX)
	w.open1()
	files, _ := filepath.Glob(filepath.Join(w.paths.Cache, "*.rules"))
	if len(files) != 1 {
		t.Fatalf("cache: %v", files)
	}
	if fi, _ := os.Stat(files[0]); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	good, _ := os.ReadFile(files[0])
	for i := 0; i < len(good); i += 7 {
		bad := append([]byte(nil), good...)
		bad[i] ^= 0xff
		os.WriteFile(files[0], bad, 0o600)
		if _, problems, d := w.open1(); len(problems) > 0 || d.Action != Deny {
			t.Fatalf("byte %d: %v %v", i, problems, d)
		}
	}
	for _, n := range []int{0, 1, 39, 40, len(good) / 2, len(good) - 1} {
		os.WriteFile(files[0], good[:n], 0o600)
		if _, problems, d := w.open1(); len(problems) > 0 || d.Action != Deny {
			t.Fatalf("cut to %d: %v %v", n, problems, d)
		}
	}
	// Another user could have written it.
	os.WriteFile(files[0], good, 0o600)
	os.Chmod(files[0], 0o666)
	if b, _ := openCached(files[0], w.paths.Rules); b != nil {
		t.Error("a writable cache is believed")
	}
	// A file in the place of the directory.
	os.RemoveAll(w.paths.Cache)
	w.write(w.paths.Cache, "x")
	if _, problems, d := w.open1(); len(problems) > 0 || d.Action != Deny {
		t.Error("unwritable: ", problems, d)
	}
}

// A change is seen even when size and modification time stay.
func TestStale(t *testing.T) {
	w := newWorld(t)
	w.user(denyX)
	past := time.Now().Add(-time.Hour)
	os.Chtimes(w.paths.Rules, past, past)
	if _, _, d := w.open1(); d.Action != Deny {
		t.Fatal("not denied")
	}
	w.user(strings.Replace(denyX, "[x]", "[y]", 1))
	os.Chtimes(w.paths.Rules, past, past)
	if _, _, d := w.open1(); d.Action != Allow {
		t.Error("the old rules stay")
	}
	os.Remove(w.paths.Rules)
	if _, problems, d := w.open1(); d.Action != Allow || len(problems) > 0 {
		t.Error("a removed file stays in force", problems)
	}
}

func TestTrust(t *testing.T) {
	needs1(t, "bash")
	w := newWorld(t)
	w.mkdir(filepath.Join(w.proj, ".git"))
	file := w.write(".safeshell/rules.yaml", "rules:\n"+one("plain", "p", "deny", "")+
		"  - {name: cond, commands: [c], action: deny, message: m, conditions: ['touch ran; true']}\n"+
		"  - {name: redir, commands: [r], action: redirect, message: m, redirect_to: other}\n")
	judge := func(cmd string) Decision { return w.argv(cmd) }
	check := func(trusted bool) {
		t.Helper()
		if d := judge("p"); d.Action != Deny {
			t.Error("a rule that runs nothing is not in force")
		}
		for cmd, want := range map[string]Action{"c": Deny, "r": Redirect} {
			d := judge(cmd)
			if trusted && d.Action != want || !trusted && d.Action != Allow {
				t.Errorf("trusted %v: %s is %v", trusted, cmd, d.Action)
			}
			if !trusted && (len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "safeshell trust "+w.proj)) {
				t.Errorf("notes %q", d.Notes)
			}
		}
	}
	check(false)
	if files.Exists(filepath.Join(w.proj, "ran")) {
		t.Fatal("a condition of an untrusted file ran")
	}
	list, err := Trust(w.paths, w.proj)
	if err != nil || len(list) != 1 || list[0].File != file {
		t.Fatal(list, err)
	}
	check(true)
	if !files.Exists(filepath.Join(w.proj, "ran")) {
		t.Error("the condition did not run")
	}
	data, _ := os.ReadFile(file)
	if !Trusted(w.paths, file, data) || Trusted(w.paths, file, append(data, '#')) || Trusted(w.paths, file+"x", data) {
		t.Error("trust is not bound to path and content")
	}
	// An edit ends it.
	w.write(".safeshell/rules.yaml", string(data)+"# edited\n")
	check(false)
	all, err := TrustList(w.paths)
	if err != nil || len(all) != 1 || all[0].Current || all[0].File != file {
		t.Error(all, err)
	}
	if _, err := Trust(w.paths, filepath.Join(w.proj, ".")); err != nil {
		t.Error(err)
	}
	check(true)
	// By another way to the same directory.
	link := filepath.Join(w.home, "link")
	os.Symlink(w.proj, link)
	if list, err := Untrust(w.paths, link); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
	check(false)
	if _, err := Untrust(w.paths, w.proj); err == nil {
		t.Error("nothing to untrust, and no error")
	}
	if _, err := Trust(w.paths, w.home); err == nil || !strings.Contains(err.Error(), "nothing to trust") {
		t.Error(err)
	}
	w.write(".safeshell/rules.yaml", "rules: [")
	if _, err := Trust(w.paths, w.proj); err == nil || !strings.Contains(err.Error(), "not valid YAML") {
		t.Error(err)
	}
	w.write(".safeshell/rules.yaml", "rules: []\n")
	w.write(".safeshell/permissions.yaml", "commands: [curl]\n")
	if list, err := Trust(w.paths, w.proj); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
}

// A broken repository file is reported with the decision.
func TestBrokenRepository(t *testing.T) {
	w := newWorld(t)
	w.mkdir(filepath.Join(w.proj, ".git"))
	file := w.write(".safeshell/rules.yaml", "rules:\n"+one("r", "x", "deny", ""))
	if d := w.argv("x"); d.Action != Deny {
		t.Fatal(d)
	}
	w.write(".safeshell/rules.yaml", "rules:\n  - {name: r}\n")
	d := w.argv("x")
	if d.Action != Deny || len(d.Problems) == 0 || !d.Problems[0].LastGood || d.Problems[0].File != file {
		t.Errorf("%+v", d)
	}
	os.RemoveAll(w.paths.Cache)
	if d := w.argv("x"); len(d.Problems) == 0 || !d.Problems[0].Fatal {
		t.Errorf("%+v", d)
	}
	r, _ := w.rules()
	if p := r.RepoProblems(w.proj); len(p) == 0 {
		t.Error("RepoProblems is silent")
	}
}
