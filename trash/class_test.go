package trash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRefused(t *testing.T) {
	for _, c := range []struct{ path, why string }{
		{"home", "it is your home directory"},
		{"home/.", "refusing to remove '.' or '..' directory: skipping"},
		{"up", "the working directory is in it"},
		{"up/w", "the working directory is in it"},
		{"up/l", ""},
		{"up/w/cw", ""}, // the working directory itself may go
		{"home/.local", "the trash is in it"},
		{"home/.local/share/Trash", "it is the trash; to empty that: safeshell trash empty"},
		{"home/.local/share/Trash/files", "it is in the trash"},
		{"home/.local/share/Trash/files/old", "it is in the trash; to delete it for good: safeshell trash list, then safeshell trash purge ID"},
		{"home/.safeshell", "it belongs to safeshell itself"},
		{"home/.safeshell/rules.yaml", "it belongs to safeshell itself"},
		{"link/.safeshell/rules.yaml", "it belongs to safeshell itself"},
		{"home/.safeshellx", ""},
		{"homeless", ""},
		{"link", ""},
	} {
		t.Run(c.path, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			e, _, errw := envIn(t, root)
			build(t, root, "home/.local/share/Trash/files/ 0700", "home/.local/share/Trash/info/ 0700", "home/.local/share/Trash/files/old",
				"home/.local/share/Trash/ 0700", "home/.safeshell/rules.yaml", "home/.safeshellx", "homeless/x", "up/w/cw/", "link->home", "up/l->w")
			e.Dir = filepath.Join(root, "up/w/cw")
			before := tree(t, root)
			for _, flags := range []string{"-r", "-rf", "-rfv"} {
				if c.why == "" && flags != "-r" {
					break
				}
				errw.Reset()
				arg := root + "/" + c.path
				r := Put(e, Config{}, "rm", []string{flags, arg}, "/bin/false")
				switch {
				case c.why == "" && (r.Code != 0 || there(arg)):
					t.Errorf("%d %s", r.Code, errw.String())
				case c.why != "" && (r.Code != 1 || r.ExecReal || !strings.Contains(errw.String(), c.why)):
					t.Errorf("%+v %s", r, errw.String())
				case c.why != "" && !strings.HasPrefix(errw.String(), "rm: refusing to remove '"):
					t.Error(errw.String())
				}
			}
			if after := tree(t, root); c.why != "" && after != before {
				t.Errorf("before\n%safter\n%s", before, after)
			}
		})
	}
}

func TestRefusedHolders(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, _, errw := envIn(t, filepath.Join(root, "users/u"))
	e.SafeshellHome = filepath.Join(root, "conf/safe")
	build(t, root, "conf/safe/rules.yaml", "data/")
	e.Getenv = func(k string) string {
		return map[string]string{"XDG_DATA_HOME": root + "/data/x"}[k]
	}
	e.Dir = "/"
	for p, why := range map[string]string{"users": "your home directory is in it", "conf": "safeshell's own directory is in it", "data": "the trash is in it"} {
		errw.Reset()
		if r := Put(e, Config{}, "rm", []string{"-rf", filepath.Join(root, p)}, "/bin/false"); r.Code != 1 || !strings.Contains(errw.String(), why) {
			t.Errorf("%s: %+v %s", p, r, errw.String())
		}
	}
}

// TestClasses asks how single operands are classed.
func TestClasses(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, _, _ := envIn(t, root)
	e.Getenv = func(k string) string {
		return map[string]string{"TMPDIR": root + "/tmplink", "XDG_RUNTIME_DIR": root + "/run", "XDG_CACHE_HOME": root + "/home"}[k]
	}
	build(t, root,
		"tmp/f", "tmp/d/x", "tmplink->tmp", "run/s", "tmp/clone/.git/HEAD", "tmp/clone/src/f", "tmp/wt/.git=gitdir: x", "tmp/wt/f", "tmp/in->clone",
		"home/.cache/x", "w/conftest", "w/conftest.c", "w/confdefs.h", "w/conftest.py", "w/tests/conftest.py.bak", "w/conftest.d/x", "w/myconftest.c",
		"w/a.o", "w/b.tmp", "w/a.lock", "w/p|", "w/dir.o/x",
		"w/repo/.git/HEAD", "w/repo/.gitignore=*.log\r\nnode_modules/\r\n/dist\n**/target/\nbuild\n!build\n", "w/repo/node_modules/x", "w/repo/dist/x", "w/repo/sub/target/x",
		"w/repo/build/x", "w/repo/.venv/x", "w/repo/sub/.gitignore=.venv", "w/repo/sub/.venv/x", "w/repo/sub/dist=a file", "w/repo/.env", "w/node_modules/x", "w/.gitignore=node_modules",
	)
	for path, want := range map[string]int{
		"tmp/f": classScratch, "tmp/d": classScratch, "tmp/d/x": classScratch, "tmplink/f": classScratch, "run/s": classScratch,
		"tmp": classKeep, "tmplink": classKeep, "tmp/clone/src/f": classKeep, "tmp/clone": classKeep, "tmp/clone/.git": classKeep, "tmp/in/src": classKeep, "tmp/in": classScratch,
		"tmp/wt/f": classKeep,
		// XDG_CACHE_HOME is where the user lives; and his ~/.cache is not the cache then.
		"home/.cache/x": classKeep,
		"w/conftest":    classScratch, "w/conftest.c": classScratch, "w/confdefs.h": classScratch, "w/conftest.py": classKeep, "w/tests/conftest.py.bak": classKeep, "w/conftest.d": classKeep,
		"w/myconftest.c": classKeep, "w/a.o": classRegenerable, "w/b.tmp": classRegenerable, "w/a.lock": classKeep, "w/p": classScratch, "w/dir.o": classKeep,
		"w/repo/node_modules": classRegenerable, "w/repo/dist": classRegenerable, "w/repo/sub/target": classRegenerable, "w/repo/build": classKeep, "w/repo/.venv": classKeep,
		"w/repo/sub/.venv": classRegenerable, "w/repo/sub/dist": classKeep, "w/repo/.env": classKeep, "w/node_modules": classKeep,
	} {
		p := &putter{e: e, cwdfd: atFDCWD, o: options{recursive: true}}
		if got := p.inspect(filepath.Join(root, path)); got.state != stateAct || got.class != want {
			t.Errorf("%s: state %d class %d, want %d (%v %s)", path, got.state, got.class, want, got.err, got.why)
		}
		p.close()
	}
	// ~/.cache, and a home below /tmp that makes /tmp no place for scratch.
	e.Getenv = func(string) string { return "" }
	p := &putter{e: e, cwdfd: atFDCWD, o: options{recursive: true}}
	defer p.close()
	for path, want := range map[string]bool{"/dev/null": true, "/dev/tty": true, "/dev/shm": true, "/dev/shm/x": false, "/devx": false} {
		if why := p.refuses(&target{real: path}); (why != "") != want {
			t.Errorf("%s: %q", path, why)
		}
	}
	if got := p.inspect(root + "/home/.cache/x"); got.class != classScratch {
		t.Error("~/.cache is a cache", got)
	}
	if under(root, "/tmp") {
		if got := p.inspect(root + "/tmp/f"); got.class != classKeep {
			t.Error("somebody lives in /tmp", got)
		}
	}
	e.Home, e.SafeshellHome = "/nonexistent", "/nonexistent/.safeshell"
	q := &putter{e: e, cwdfd: atFDCWD, o: options{recursive: true}}
	defer q.close()
	if got := q.inspect(root + "/tmp/f"); under(root, "/tmp") && got.class != classScratch {
		t.Error("nobody lives in /tmp", got)
	}
}

func TestRegenerableIsRecorded(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a.o", "b")
	put(t, e, "a.o", "b")
	for _, it := range list(t, e) {
		if want := map[string]int{"a.o": 2, "b": 0}[it.Name]; it.Class != want {
			t.Errorf("%s: class %d", it.Name, it.Class)
		}
	}
}

func TestPackageManagers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: package managers are only known to run as root")
	}
	for name, want := range map[string]bool{"dpkg": true, "apt-get": true, "pacman": true, "make": false, "npm": false, "git": false, "dpkg-buildpacka": false} {
		e, _, _ := scratchEnv(t)
		build(t, e.Dir, "a")
		e.Ancestors = func() []string { return []string{"sh", name, "init"} }
		if r := Put(e, Config{}, "rm", []string{"a"}, "/bin/false"); r.ExecReal != want {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if a := ancestors(); len(a) == 0 {
		t.Error("no ancestors")
	}
}

// TestWholeScratchCallsAreHandedOn: no process stays in the middle.
func TestWholeScratchCallsAreHandedOn(t *testing.T) {
	for args, want := range map[string]bool{
		"p": true, "-f p nope": true, "conftest.c conftest.o": true, "nope": true, "d": true, "p a": false, "a": false, "--help": true, "-x": false, "-y": true, "": true,
		"-f": false, "-f nope": false, "-r p .": false, "-i p": true,
	} {
		e, _, _ := scratchEnv(t)
		build(t, e.Dir, "a", "p|", "conftest.c", "conftest.o", "d/x")
		if r := Put(e, Config{}, "rm", strings.Fields(args), "/bin/true"); r.ExecReal != want {
			t.Errorf("rm %s: %+v", args, r)
		}
	}
}

// TestForeignHome: under sudo with the caller's HOME nothing is put there.
func TestForeignHome(t *testing.T) {
	e, _, _ := scratchEnv(t)
	if e.UID == 0 {
		if err := os.Chown(e.Home, nobody, nobody); err != nil {
			t.Skip("needs chown")
		}
	} else {
		e.Home = "/"
	}
	if p, err := e.homeTrash(); err == nil && under(p, e.Home) && e.Home != "/" || e.UID != 0 && err == nil {
		t.Errorf("%s, %v", p, err)
	}
	if e.UID == 0 {
		e.Getenv = func(k string) string { return map[string]string{"XDG_DATA_HOME": e.Home + "/new/data"}[k] }
		if p, _ := e.homeTrash(); under(p, e.Home) {
			t.Error(p)
		}
	}
}

// TestForeignDirectories: an empty directory of another user in one's own can
// be removed, though not renamed.
func TestForeignDirectories(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to make another user's directory")
	}
	dir := userDir(t)
	for _, l := range []string{"w/empty", "w/full", "home"} {
		if err := os.MkdirAll(filepath.Join(dir, l), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "w/full/x"), "1")
	for _, l := range []string{"w", "home"} {
		os.Chown(filepath.Join(dir, l), nobody, nobody)
	}
	out, err := reexec(t, dir, "^TestAsNobodyForeign$", asUserEnv+"="+dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}})
	if err != nil || !strings.Contains(out, "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAsNobodyForeign is run by TestForeignDirectories.
func TestAsNobodyForeign(t *testing.T) {
	dir := os.Getenv(asUserEnv)
	if !filepath.IsAbs(dir) {
		t.Skip("needs the directories of TestForeignDirectories")
	}
	e, out, errw := envIn(t, dir)
	r := Put(e, Config{}, "rm", []string{"-rfv", "empty", "full"}, "")
	got := fmt.Sprint(r.Code, out.String(), errw.String())
	if want := "1removed directory 'empty'\nrm: cannot remove 'full/x': Permission denied\n"; got != want {
		t.Errorf("%s", got)
	}
	if there(filepath.Join(e.Dir, "empty")) || !there(filepath.Join(e.Dir, "full/x")) {
		t.Error("wrong ones gone")
	}
}
