package trash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// put is Put without a real rm, which must succeed silently.
func put(t testing.TB, e Env, args ...string) Result {
	t.Helper()
	var errw bytes.Buffer
	e.Stderr = &errw
	r := Put(e, Config{}, "rm", args, "")
	if r.Code != 0 || errw.Len() > 0 {
		t.Fatalf("rm %q: %d, %s", args, r.Code, errw.String())
	}
	return r
}

func trashDir(e Env) string { return filepath.Join(e.Home, ".local/share/Trash") }

func TestOneCallIsOneGroup(t *testing.T) {
	e, _, _ := scratchEnv(t)
	e.Session = "s 1"
	build(t, e.Dir, "a=1", "d/x=2", "d/y/z=3", "l->a", "sub/ 0750", "sub/f 0640")
	before := tree(t, e.Dir)
	r := put(t, e, "-r", "a", "d", "l", "sub/f")
	put(t, e, "-r", "sub")
	items := list(t, e)
	if len(items) != 5 {
		t.Fatalf("%d items", len(items))
	}
	last, errs := Select(items, Selection{Last: true}, time.Now())
	if len(errs) > 0 || len(last) != 1 || last[0].Path != filepath.Join(e.Dir, "sub") || !last[0].IsDir || last[0].Session != "s 1" || last[0].Cwd != e.Dir {
		t.Fatalf("%+v %v", last, errs)
	}
	first, errs := Select(items, Selection{Groups: []string{r.Group}}, time.Now())
	if len(errs) > 0 || len(first) != 4 || len(r.Moved) != 4 {
		t.Fatalf("%+v %v", first, errs)
	}
	for _, m := range r.Moved {
		if !there(m.Trash) || there(m.Path) {
			t.Error(m)
		}
	}
	// sub/f comes back into a directory made again as it was.
	for _, o := range Restore(withMounts(t, e), first, RestoreOptions{Parents: true}) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	if after := tree(t, e.Dir); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	if rest := list(t, e); len(rest) != 1 || rest[0].Name != "sub" {
		t.Errorf("%+v", rest)
	}
}

// withMounts is e that sees no trash directories of this machine.
func withMounts(t testing.TB, e Env) Env {
	e.MountInfo = noMounts(t)
	return e
}

func TestTrashIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a")
	put(t, e, "a")
	for _, p := range []string{"", "files", "info"} {
		fi, err := os.Stat(filepath.Join(trashDir(e), p))
		if err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", p, fi.Mode(), err)
		}
	}
	fi, err := os.Stat(filepath.Join(trashDir(e), "info/a.trashinfo"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("info: %v %v", fi.Mode(), err)
	}
}

func TestNames(t *testing.T) {
	e, _, _ := scratchEnv(t)
	utf := strings.Repeat("é", 126) + "a" // 253 bytes
	for _, n := range []string{
		strings.Repeat("n", 245), strings.Repeat("n", 246), strings.Repeat("n", 255), strings.Repeat("x", 246) + ".tar.gz",
		utf, "x" + utf, "\xff\xfe", strings.Repeat("\xff", 250), "a\nb", " ", "-", "%41", "a+b", "a=b", ".hidden", ".x.trashinfo", "x.trashinfo",
		".partial-x", ".", "ends.", strings.Repeat(".", 250), "." + strings.Repeat("e", 254),
	} {
		if n == "." {
			continue
		}
		for i := range 3 {
			if err := os.WriteFile(filepath.Join(e.Dir, n), []byte{byte(i)}, 0o600); err != nil {
				t.Fatal(err)
			}
			r := put(t, e, "--", n)
			base := filepath.Base(r.Moved[0].Trash)
			if len(base) > 245 || i == 0 && len(n) <= 245 && base != n {
				t.Errorf("%q became %q (%d bytes)", n, base, len(base))
			}
			if len(n) > 245 && strings.HasSuffix(n, ".gz") && !strings.HasSuffix(base, ".gz") {
				t.Errorf("%q lost its extension: %q", n, base)
			}
			if strings.ContainsRune(n, 'é') && strings.ContainsRune(base, '\uFFFD') {
				t.Errorf("cut within a character: %q", base)
			}
		}
		items, errs := Select(list(t, e), Selection{Paths: []string{filepath.Join(e.Dir, n)}}, time.Now())
		if len(items) != 1 || len(errs) > 0 {
			t.Fatalf("%q: %d items, %v", n, len(items), errs)
		}
		if o := Restore(withMounts(t, e), items, RestoreOptions{})[0]; o.Err != nil || o.Path != filepath.Join(e.Dir, n) {
			t.Errorf("%q: %v", n, o)
		}
		if b, err := os.ReadFile(filepath.Join(e.Dir, n)); err != nil || !bytes.Equal(b, []byte{2}) {
			t.Errorf("%q: not the newest came back: %v %v", n, b, err)
		}
	}
}

func TestOrphansDoNotStopAPut(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a=new")
	build(t, trashDir(e), "info/", "files/")
	os.Chmod(filepath.Join(trashDir(e), "files"), 0o700)
	build(t, trashDir(e), "files/a=orphan data", "info/b.trashinfo=orphan info")
	put(t, e, "a")
	build(t, e.Dir, "b=new")
	put(t, e, "b")
	for p, want := range map[string]string{"files/a": "orphan data", "info/b.trashinfo": "orphan info"} {
		if b, _ := os.ReadFile(filepath.Join(trashDir(e), p)); string(b) != want {
			t.Errorf("%s was overwritten: %q", p, b)
		}
	}
	es, _ := os.ReadDir(filepath.Join(trashDir(e), "files"))
	if len(es) != 3 {
		t.Errorf("%d files", len(es))
	}
}

func TestParallelPutsOfOneName(t *testing.T) {
	e, _, _ := scratchEnv(t)
	n, children := 50, 10 // one in so many is a process of its own
	if *full {
		n, children = 200, 1
	}
	for i := range n {
		write(t, filepath.Join(e.Dir, fmt.Sprint(i), "same"), fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i%children == 0 {
				if out, err := inChild(t, putRequest{Home: e.Home, Dir: filepath.Join(e.Dir, fmt.Sprint(i)), Args: []string{"same"}}); err != nil {
					t.Error(err, out)
				}
				return
			}
			e := e
			var errw bytes.Buffer
			e.Dir, e.Stderr = filepath.Join(e.Dir, fmt.Sprint(i)), &errw
			if r := Put(e, Config{}, "rm", []string{"same"}, ""); r.Code != 0 {
				t.Error(errw.String())
			}
		}()
	}
	wg.Wait()
	items := list(t, e)
	if len(items) != n {
		t.Fatalf("%d items", len(items))
	}
	if *full {
		fmt.Printf("load: puts of one name at once: %d tried\n", n)
	}
	for _, it := range items {
		b, _ := os.ReadFile(it.DataPath())
		if want := filepath.Base(filepath.Dir(it.Path)); string(b) != want {
			t.Errorf("%s holds %q", it.Path, b)
		}
	}
}

// TestLinkWithSlash is a deviation from rm (docs/trash.md): neither the link nor what
// it leads to is touched.
func TestLinkWithSlash(t *testing.T) {
	for args, want := range map[string]string{
		"l/":      "rm: cannot remove 'l/': Is a directory\n",
		"-d l/":   "rm: cannot remove 'l/': Directory not empty\n",
		"-r l/":   "rm: cannot remove 'l/': Not a directory\n",
		"-r l//":  "rm: cannot remove 'l/': Not a directory\n",
		"-rf l/":  "",
		"-ri l/":  "rm: cannot remove 'l/': Not a directory\n",
		"-rfv l/": "",
	} {
		e, out, errw := scratchEnv(t)
		build(t, e.Dir, "d/x", "d/y/z", "l->d")
		before := tree(t, e.Dir)
		code, _ := run(t, e, append([]string{"---presume-input-tty", "--interactive=never"}, strings.Fields(args)...)...)
		if errw.String() != want || out.Len() > 0 || (code != 0) != (want != "") {
			t.Errorf("rm %s: %d %q", args, code, errw.String())
		}
		if after := tree(t, e.Dir); after != before {
			t.Errorf("rm %s changed\n%sto\n%s", args, before, after)
		}
	}
}

func TestFromInsideTheDirectory(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "cw/x")
	e.Dir = filepath.Join(e.Dir, "cw")
	put(t, e, "-rf", "../cw")
	if there(e.Dir) {
		t.Error("still there")
	}
}

func TestParentsAreResolved(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "real/f=1", "real/g->f", "l->real")
	r := put(t, e, "l/f", "l/g")
	if r.Moved[0].Path != filepath.Join(e.Dir, "real/f") || r.Moved[1].Path != filepath.Join(e.Dir, "real/g") {
		t.Error(r.Moved)
	}
	if !there(filepath.Join(e.Dir, "l")) {
		t.Error("the link went")
	}
}

// TestLaterOperands: an operand below one that went to the trash is not there
// any more, even though an open directory would still lead to it.
func TestLaterOperands(t *testing.T) {
	e, _, errw := scratchEnv(t)
	build(t, e.Dir, "w/x=1", "k/y=2", "l->k")
	if r := Put(e, Config{}, "rm", []string{"-r", "w/x", "w", "w/x", "l", "l/y", "k/y"}, ""); r.Code != 1 || len(r.Moved) != 4 {
		t.Errorf("%+v", r)
	}
	if want := "rm: cannot remove 'w/x': No such file or directory\nrm: cannot remove 'l/y': No such file or directory\n"; errw.String() != want {
		t.Error(errw.String())
	}
}

func TestMovedKeepsAttributes(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a=1 0640", "d/ 0711", "d/x")
	old := time.Date(2001, 2, 3, 4, 5, 6, 7000, time.UTC)
	for _, n := range []string{"a", "d"} {
		if err := os.Chtimes(filepath.Join(e.Dir, n), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range put(t, e, "-r", "a", "d").Moved {
		fi, err := os.Stat(m.Trash)
		if err != nil || !fi.ModTime().Equal(old) || fi.Mode().Perm()&0o077 == 0 {
			t.Error(m, fi, err)
		}
	}
}

// TestPermissionOwnReadOnlyDirectory: rename needs to write to the directory
// that moves, rm does not if it is empty.
func TestPermissionOwnReadOnlyDirectory(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "d/ 0555", "n/ 0000")
	before := tree(t, e.Dir)
	put(t, e, "-r", "d", "n")
	for _, it := range list(t, e) {
		fi, err := os.Lstat(it.DataPath())
		if want := map[string]os.FileMode{"d": 0o555, "n": 0}[it.Name]; err != nil || fi.Mode().Perm() != want {
			t.Error(it.Name, fi.Mode(), err)
		}
	}
	sel, _ := Select(list(t, e), Selection{All: true}, time.Now())
	for _, o := range Restore(withMounts(t, e), sel, RestoreOptions{}) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	if after := tree(t, e.Dir); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

// TestPermissionNoTrash: nothing is removed where nothing can be kept.
func TestPermissionNoTrash(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs a user whom permissions bind; TestAsUser runs it")
	}
	e, _, errw := scratchEnv(t)
	build(t, e.Dir, "f=1")
	os.Chmod(e.Home, 0o555)
	defer os.Chmod(e.Home, 0o755)
	r := Put(e, Config{}, "rm", []string{"-f", "f"}, "")
	if r.Code != 1 || !there(filepath.Join(e.Dir, "f")) || !strings.Contains(errw.String(), "rm: cannot remove 'f': there is no usable trash for it (") ||
		!strings.Contains(errw.String(), "sudo install -d -m 1777 '/") {
		t.Error(r, errw.String())
	}
	t.Log(errw.String())
}

// TestPermissionClosedHomeTrash: a trash of one's own that its mode closes is named,
// with the command that opens it.
func TestPermissionClosedHomeTrash(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs a user whom permissions bind; TestAsUser runs it")
	}
	e, _, errw := scratchEnv(t)
	if fix, err := CheckHome(e); err != nil || fix != "" {
		t.Errorf("not made yet: %v, %s", err, fix)
	}
	build(t, e.Dir, "f=1", "g=1")
	put(t, e, "g")
	if fix, err := CheckHome(e); err != nil || fix != "" {
		t.Errorf("used: %v, %s", err, fix)
	}
	for _, d := range []string{"", "/files", "/info"} {
		errw.Reset()
		dir := trashDir(e) + d
		os.Chmod(dir, 0o500)
		r := Put(e, Config{}, "rm", []string{"-f", "f"}, "")
		want := "/bin/chmod u+rwx " + dir
		if d == "" { // nothing is written there but locks and notes
			want = ""
		}
		if (r.Code == 0) != (want == "") || !strings.Contains(errw.String(), want) || (r.Code == 0) == there(filepath.Join(e.Dir, "f")) {
			t.Errorf("%s: %v: %s", dir, r, errw.String())
		}
		build(t, e.Dir, "f=1")
		if fix, err := CheckHome(e); err == nil || fix != "/bin/chmod u+rwx "+dir {
			t.Errorf("%s: %v, %s", dir, err, fix)
		}
		os.Chmod(dir, 0o700)
	}
	os.Chmod(trashDir(e), 0)
	errw.Reset()
	r := Put(e, Config{}, "rm", []string{"-f", "f"}, "")
	os.Chmod(trashDir(e), 0o700)
	if r.Code != 1 || !strings.HasSuffix(errw.String(), "; to repair: /bin/chmod u+rwx "+trashDir(e)+"\n") || !there(filepath.Join(e.Dir, "f")) {
		t.Errorf("%v: %s", r, errw.String())
	}
}

// TestGroupWritableTrash: a umask of 002 with a group of one's own is custom;
// any other group is somebody else.
func TestGroupWritableTrash(t *testing.T) {
	for mode, ok := range map[os.FileMode]bool{0o770: true, 0o777: false, 0o707: false} {
		e, _, errw := scratchEnv(t)
		build(t, e.Dir, "f")
		build(t, trashDir(e), "files/", "info/")
		os.Chmod(trashDir(e), 0o700)
		os.Chmod(filepath.Join(trashDir(e), "info"), mode)
		os.Chown(filepath.Join(trashDir(e), "info"), e.UID, e.UID)
		fi, err := os.Stat(filepath.Join(trashDir(e), "info"))
		if err != nil || fi.Sys().(*syscall.Stat_t).Gid != uint32(e.UID) {
			t.Skip("needs a group of the user's number")
		}
		s, err := openStore(trashDir(e), "", e.UID, true, false)
		if err == nil {
			s.close()
		}
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("%v: %v %s", mode, err, errw)
		}
	}
}

func TestVerboseWalksOnlyWhenAsked(t *testing.T) {
	e, out, _ := scratchEnv(t)
	build(t, e.Dir, "d/1", "d/s/2", "e/")
	put(t, e, "-rv", "d/", "e")
	if got := strings.Split(strings.TrimSpace(out.String()), "\n"); len(got) != 5 || !slices.Contains(got, "removed 'd/s/2'") || got[3] != "removed directory 'd/'" || got[4] != "removed directory 'e'" {
		t.Errorf("%q", got)
	}
}

func TestUsageWithoutRealRm(t *testing.T) {
	for args, want := range map[string]string{
		"":                      "rm: missing operand\nTry 'rm --help' for more information.\n",
		"-x":                    "rm: invalid option -- 'x'\nTry 'rm --help' for more information.\n",
		"--nope":                "rm: unrecognized option '--nope'\nTry 'rm --help' for more information.\n",
		"--no-pres x":           "rm: you may not abbreviate the --no-preserve-root option\n",
		"--preserve-root=foo x": "rm: unrecognized --preserve-root argument: 'foo'\n",
	} {
		e, _, errw := scratchEnv(t)
		if r := Put(e, Config{}, "rm", strings.Fields(args), ""); r.Code != 1 || r.ExecReal || errw.String() != want {
			t.Errorf("rm %s: %+v %q", args, r, errw.String())
		}
	}
}

// TestUnknownOptionsAreNotHandedOn: what another rm would understand must not
// make it remove things.
func TestUnknownOptionsAreNotHandedOn(t *testing.T) {
	for _, o := range []string{"-P", "-W", "-g", "--progress", "-rx", "--no-such"} {
		e, _, errw := scratchEnv(t)
		build(t, e.Dir, "a")
		if r := Put(e, Config{}, "rm", []string{o, "a"}, "/bin/false"); r.ExecReal || r.Code != 1 || errw.Len() == 0 {
			t.Errorf("%s: %+v", o, r)
		}
	}
}

func TestHugeTreeIsOneRename(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "d/a/b/c", "d/a/d", "d/e/f")
	steps := 0
	testOnlyStep = func(string) error { steps++; return nil }
	defer func() { testOnlyStep = nil }()
	if r := put(t, e, "-rf", "d"); len(r.Moved) != 1 || steps > 5 {
		t.Errorf("%d steps, %+v", steps, r.Moved)
	}
}

// TestHugeTree puts a tree to the trash and back, and deletes it.
func TestHugeTree(t *testing.T) {
	n := 2_000
	if *full {
		n = 100_000
	}
	e, _, _ := scratchEnv(t)
	for i := range n {
		d := filepath.Join(e.Dir, "d", fmt.Sprint(i/1000), fmt.Sprint(i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, e.Dir)
	put(t, e, "-r", "d")
	if _, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{}); errs != nil || tree(t, e.Dir) != before {
		t.Fatal("not all of it is back: ", errs)
	}
	put(t, e, "-r", "d")
	if o := Purge(withMounts(t, e), list(t, e)); len(o) != 1 || o[0].Err != nil {
		t.Fatalf("%+v", o)
	}
	if es, _ := os.ReadDir(filepath.Join(trashDir(e), "files")); len(es) != 0 {
		t.Error(es)
	}
	if *full {
		fmt.Printf("load: files of a tree, put, restored and purged: %d tried\n", n)
	}
}

func BenchmarkPut(b *testing.B) {
	e, _, _ := scratchEnv(b)
	e.Ancestors = nil
	for b.Loop() {
		write(b, filepath.Join(e.Dir, "f"), "x")
		if r := Put(e, Config{}, "rm", []string{"f"}, ""); r.Code != 0 {
			b.Fatal(r)
		}
	}
}

// A link in the place of the home trash is not followed, which is said.
func TestHomeTrashIsALink(t *testing.T) {
	e, _, errw := scratchEnv(t)
	build(t, e.Dir, "f=1", "elsewhere/")
	home := trashDir(e)
	os.MkdirAll(filepath.Dir(home), 0o700)
	if err := os.Symlink(filepath.Join(e.Dir, "elsewhere"), home); err != nil {
		t.Fatal(err)
	}
	e.MountInfo = noMounts(t)
	if os.Geteuid() == 0 {
		t.Skip("root's would go to a trash of the whole file system, which is not the test's")
	}
	res := Put(e, Config{}, "rm", []string{"f"}, rmPath(t))
	if !strings.Contains(errw.String(), "not using the trash "+home+": it is a symbolic link, which is not followed; to repair: unlink "+Quote(home, false)) {
		t.Errorf("%d %s", res.Code, errw)
	}
	if es, err := os.ReadDir(filepath.Join(e.Dir, "elsewhere")); err != nil || len(es) > 0 {
		t.Errorf("%v %v", es, err)
	}
	if _, errs := List(e); len(errs) == 0 {
		t.Error("list says nothing")
	}
}
