package trash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// restoreAll restores what sel names and returns the errors.
func restoreAll(t *testing.T, e Env, sel Selection, o RestoreOptions) ([]Outcome, []error) {
	t.Helper()
	items, errs := Select(list(t, e), sel, e.now())
	outs := Restore(withMounts(t, e), items, o)
	for _, o := range outs {
		if o.Err != nil {
			errs = append(errs, o.Err)
		}
	}
	return outs, errs
}

func TestRestoreDoesNotOverwrite(t *testing.T) {
	for _, c := range []struct {
		there, why string
		over       bool // --overwrite does it
	}{
		{"f=new", "something is at", true}, {"f->nowhere", "something is at", true}, {"f/", "a directory is at", false}, {"f|", "something is at", true},
	} {
		e, _, _ := scratchEnv(t)
		build(t, e.Dir, "f=old", "g=other")
		put(t, e, "f", "g")
		build(t, e.Dir, c.there)
		before := tree(t, filepath.Join(e.Dir, "f"))
		_, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{})
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), c.why) || !strings.Contains(errs[0].Error(), "safeshell trash restore --") {
			t.Errorf("%s: %v", c.there, errs)
		}
		if !there(filepath.Join(e.Dir, "g")) {
			t.Errorf("%s: one failure stopped the rest", c.there)
		}
		if after := tree(t, filepath.Join(e.Dir, "f")); after != before {
			t.Errorf("%s: became %s", c.there, after)
		}
		outs, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{Overwrite: true})
		if (len(errs) == 0) != c.over {
			t.Errorf("%s: overwrite: %v", c.there, errs)
		}
		if !c.over {
			continue
		}
		if b, _ := os.ReadFile(filepath.Join(e.Dir, "f")); string(b) != "old" {
			t.Errorf("%s: %q", c.there, b)
		}
		// What was overwritten can be restored in its turn.
		if outs[0].Displaced == "" || !there(outs[0].Displaced) || tree(t, outs[0].Displaced) != before {
			t.Errorf("%s: lost: %+v", c.there, outs[0])
		}
		if items := list(t, e); len(items) != 1 || items[0].Path != filepath.Join(e.Dir, "f") {
			t.Errorf("%s: %+v", c.there, items)
		}
	}
}

func TestRestoreParents(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, ".ssh/ 0700", ".ssh/keys/ 0500", ".ssh/keys/id=k 0600", "pub/ 01777", "pub/x/y")
	os.Chmod(filepath.Join(e.Dir, ".ssh/keys"), 0o700)
	put(t, e, ".ssh/keys/id", "pub/x/y")
	if err := os.RemoveAll(filepath.Join(e.Dir, ".ssh")); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(e.Dir, "pub"))
	if _, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{}); len(errs) != 2 || !strings.Contains(errs[0].Error(), "--parents") {
		t.Error(errs)
	}
	if there(filepath.Join(e.Dir, ".ssh")) {
		t.Error("made without being asked")
	}
	if _, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{Parents: true}); len(errs) != 0 {
		t.Error(errs)
	}
	for p, want := range map[string]os.FileMode{".ssh": 0o700, ".ssh/keys": 0o700, ".ssh/keys/id": 0o600, "pub": 0o777 | os.ModeSticky, "pub/x": 0o755} {
		if fi, err := os.Lstat(filepath.Join(e.Dir, p)); err != nil || fi.Mode()&^os.ModeDir != want {
			t.Errorf("%s: %v %v", p, fi, err)
		}
	}
}

func TestRestoreParentsThatAreReadOnly(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "d/e/f=1", "d/e/g=2")
	put(t, e, "d/e/f", "d/e/g")
	for _, it := range list(t, e) {
		p := filepath.Join(trashDir(e), "info", it.Name+infoSuffix)
		b, _ := os.ReadFile(p)
		write(t, p, strings.Replace(string(b), "X-SafeShell-Parents=755,", "X-SafeShell-Parents=555,", 1))
	}
	os.RemoveAll(filepath.Join(e.Dir, "d"))
	if _, errs := restoreAll(t, e, Selection{All: true}, RestoreOptions{Parents: true}); len(errs) != 0 {
		t.Error(errs)
	}
	if fi, err := os.Stat(filepath.Join(e.Dir, "d/e")); err != nil || fi.Mode().Perm() != 0o555 {
		t.Error(fi.Mode(), err)
	}
	unlockTree(e.Dir)
}

// TestPermissionReadOnlyParent: what is in a directory that may not be written
// stays, though rm empties a directory in it; into one nothing is restored. All
// of it comes back once that is possible.
func TestPermissionReadOnlyParent(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs a user whom permissions bind; TestAsUser runs it")
	}
	e, _, errw := scratchEnv(t)
	build(t, e.Dir, "q/f=1", "q/d/a=2", "q/d/s/b=3")
	q := filepath.Join(e.Dir, "q")
	before := tree(t, q)
	chmod := func(m os.FileMode) {
		t.Helper()
		if err := os.Chmod(q, m); err != nil {
			t.Fatal(err)
		}
	}
	chmod(0o555)
	r := Put(e, Config{}, "rm", []string{"-r", "q/f", "q/d"}, "")
	if r.Code != 1 || len(r.Moved) != 2 || !there(filepath.Join(q, "f")) || errw.String() != "rm: cannot remove 'q/f': Permission denied\nrm: cannot remove 'q/d': Permission denied\n" {
		t.Error(r, errw.String())
	}
	if _, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{}); len(errs) != 0 {
		t.Error(errs)
	}
	if after := tree(t, q); strings.Replace(after, ". dr-xr-xr-x", ". drwxr-xr-x", 1) != before {
		t.Fatalf("before\n%safter\n%s", before, after)
	}
	chmod(0o755)
	put(t, e, "-r", "q/f", "q/d")
	chmod(0o555)
	_, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{})
	if len(errs) != 2 || !strings.Contains(fmt.Sprint(errs), "Permission denied") {
		t.Error(errs)
	}
	if items := list(t, e); len(items) != 2 {
		t.Errorf("%+v", items)
	}
	chmod(0o755)
	if _, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{}); len(errs) != 0 {
		t.Error(errs)
	}
	if after := tree(t, q); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

func TestRestoreTo(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a/f=1", "b/f=2", "out/")
	put(t, e, "a/f", "b/f")
	outs, errs := restoreAll(t, e, Selection{Last: true}, RestoreOptions{To: "out"})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "something is at") {
		t.Error(errs)
	}
	if outs[0].Path == "" && outs[1].Path == "" || !there(filepath.Join(e.Dir, "out/f")) {
		t.Error(outs)
	}
	if _, errs := restoreAll(t, e, Selection{All: true}, RestoreOptions{To: "new/er"}); len(errs) != 1 {
		t.Error(errs)
	}
	if _, errs := restoreAll(t, e, Selection{All: true}, RestoreOptions{To: filepath.Join(e.Dir, "new/er"), Parents: true}); len(errs) != 0 || !there(filepath.Join(e.Dir, "new/er/f")) {
		t.Error(errs)
	}
}

func TestSelect(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "foo/f=1", "foobar/f=2", "x=1")
	e.Now = at("2020-01-01T00:00:00")
	put(t, e, "foo/f", "foobar/f", "x")
	build(t, e.Dir, "x=2")
	e.Now = at("2020-01-03T00:00:00")
	put(t, e, "x")
	items := list(t, e)
	now := at("2020-01-03T12:00:00")()
	count := func(s Selection) string {
		got, errs := Select(items, s, now)
		out := ""
		for _, it := range got {
			rel, _ := filepath.Rel(e.Dir, it.Path)
			out += rel + " "
		}
		for _, err := range errs {
			out += "! " + strings.SplitN(err.Error(), e.Dir, 2)[0]
		}
		return strings.TrimSpace(out)
	}
	for i, c := range []struct {
		s    Selection
		want string
	}{
		{Selection{Paths: []string{e.Dir + "/x"}}, "x"},
		{Selection{Names: []string{"x"}}, "x"},
		{Selection{Names: []string{"f"}}, "! 2 items in the trash have the name f; give one of these ids: " + items[1].ID + " ("},
		{Selection{Under: []string{e.Dir + "/foo"}}, "foo/f"},
		{Selection{Under: []string{e.Dir + "/foo/", e.Dir + "/foobar/f"}}, "foo/f foobar/f"},
		{Selection{Under: []string{"/"}}, "x foo/f foobar/f x"},
		{Selection{Last: true}, "x"},
		{Selection{Groups: []string{items[1].Group}}, "foo/f foobar/f x"},
		{Selection{All: true}, "x foo/f foobar/f x"},
		{Selection{Older: 24 * time.Hour}, "foo/f foobar/f x"},
		{Selection{Older: 24 * time.Hour, Names: []string{"x"}}, "x"},
		{Selection{Older: 24 * 1000 * time.Hour}, ""},
		{Selection{IDs: []string{items[0].ID}}, "x"},
		{Selection{IDs: []string{items[0].ID[:6]}}, "x"},
		{Selection{IDs: []string{"abc"}}, "! abc is too short for an id: give at least 4 characters of it"},
		{Selection{IDs: []string{"zzzzzz"}}, "! no item in the trash has the id zzzzzz; to see all: safeshell trash list"},
		{Selection{Paths: []string{"/nope"}, Last: true}, "x ! no item in the trash has the path /nope; to see all: safeshell trash list"},
		{Selection{Session: "other", All: true}, ""},
		{Selection{}, ""},
	} {
		if got := count(c.s); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	got, _ := Select(items, Selection{Names: []string{"x"}}, now)
	if b, _ := os.ReadFile(got[0].DataPath()); string(b) != "2" {
		t.Error("not the newest x")
	}
}

// Items are known by paths without links. Who named a file through one finds it in
// the trash by the same name, though not where another was there by just that.
func TestSelectThroughLinks(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "real/d/f=1", "real/g=1")
	if err := os.Symlink("real", e.Dir+"/link"); err != nil {
		t.Fatal(err)
	}
	put(t, e, "link/d/f", "link/g")
	os.RemoveAll(e.Dir + "/real/d")
	items := list(t, e)
	for _, s := range []Selection{{Paths: []string{e.Dir + "/link/d/f"}}, {Under: []string{e.Dir + "/link/d"}}, {Paths: []string{e.Dir + "/link//d/../d/f"}}} {
		if got, errs := Select(items, s, time.Now()); len(errs) > 0 || len(got) != 1 || got[0].Path != e.Dir+"/real/d/f" {
			t.Errorf("%v: got %v, %v", s, got, errs)
		}
	}
	os.Rename(e.Dir+"/link", e.Dir+"/was")
	build(t, e.Dir, "link/g=2")
	put(t, e, "link/g")
	os.Remove(e.Dir + "/link")
	os.Rename(e.Dir+"/was", e.Dir+"/link")
	items = list(t, e)
	for _, s := range []Selection{{Paths: []string{e.Dir + "/link/g"}}, {Under: []string{e.Dir + "/link"}}} {
		if got, errs := Select(items, s, time.Now()); len(errs) > 0 || len(got) != 1 || got[0].Path != e.Dir+"/link/g" {
			t.Errorf("%v: got %v, %v", s, got, errs)
		}
	}
}

// What lies in a directory in the trash is restored by its path, with the modes of
// the directories on its way; what is beside it stays.
func TestRestorePart(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "d/sub/a b=1 0640", "d/sub/c=2", "d/ro/x=3", "d/s->sub", "d/sub/ 0750", "d/ 0711")
	before := tree(t, e.Dir+"/d")
	put(t, e, "-r", "d")
	link := Selection{Paths: []string{e.Dir + "/d/s/c"}, Parts: true}
	if outs, _ := restoreAll(t, e, link, RestoreOptions{}); len(outs) > 0 && outs[0].Err == nil {
		t.Errorf("a link in the trash was followed: %+v", outs)
	}
	purge, errs := Select(list(t, e), Selection{Paths: []string{e.Dir + "/d/sub/c"}}, time.Now())
	if len(purge) != 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), "to restore it: safeshell trash restore "+Quote(e.Dir+"/d/sub/c", false)) {
		t.Errorf("a part is no item of its own: %v, %v", purge, errs)
	}
	for _, tt := range []struct {
		sel  Selection
		want string
	}{
		{Selection{Paths: []string{e.Dir + "/d/sub/a b"}}, "/d/sub/a b"},
		{Selection{Under: []string{e.Dir + "/d/ro"}}, "/d/ro"},
		{Selection{Paths: []string{e.Dir + "/d/s"}}, "/d/s"},
	} {
		tt.sel.Parts = true
		outs, errs := restoreAll(t, e, tt.sel, RestoreOptions{})
		if len(errs) > 0 || len(outs) != 1 || outs[0].Err != nil || outs[0].Path != e.Dir+tt.want {
			t.Fatalf("%v: %+v, %v", tt.sel, outs, errs)
		}
	}
	if fi, err := os.Stat(e.Dir + "/d/sub"); err != nil || fi.Mode().Perm() != 0o750 {
		t.Errorf("sub: %v, %v", fi, err)
	}
	if fi, err := os.Stat(e.Dir + "/d"); err != nil || fi.Mode().Perm() != 0o711 {
		t.Errorf("d: %v, %v", fi, err)
	}
	if there(e.Dir+"/d/sub/c") || len(list(t, e)) != 1 {
		t.Error("more was restored than was meant")
	}
	for _, sel := range []Selection{
		{Paths: []string{e.Dir + "/d/nope"}}, {Under: []string{e.Dir + "/d/sub/a b"}},
	} {
		sel.Parts = true
		outs, errs := restoreAll(t, e, sel, RestoreOptions{})
		if len(errs) == 0 && len(outs) == 1 && outs[0].Err == nil {
			t.Errorf("%v: restored %v", sel, outs[0].Path)
		}
	}
	sel := Selection{Paths: []string{e.Dir + "/d/sub/c"}, Parts: true}
	if outs, errs := restoreAll(t, e, sel, RestoreOptions{}); len(errs) > 0 || outs[0].Err != nil {
		t.Errorf("%+v %v", outs, errs)
	}
	if after := tree(t, e.Dir+"/d"); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

// What is above the directory that went is made on request only, as for whole items.
func TestRestorePartWithoutParents(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "p/d/x=1")
	put(t, e, "-r", "p/d")
	os.Remove(e.Dir + "/p")
	sel := Selection{Paths: []string{e.Dir + "/p/d/x"}, Parts: true}
	outs, _ := restoreAll(t, e, sel, RestoreOptions{})
	if outs[0].Err == nil || !strings.Contains(outs[0].Err.Error(), "safeshell trash restore --parents "+Quote(e.Dir+"/p/d/x", false)) {
		t.Errorf("%+v", outs)
	}
	if outs, _ = restoreAll(t, e, sel, RestoreOptions{Parents: true}); outs[0].Err != nil || !there(e.Dir+"/p/d/x") {
		t.Errorf("%+v", outs)
	}
}

// What many calls of rm removed comes back by session or by time.
func TestSelectSessionAndSince(t *testing.T) {
	e, _, _ := scratchEnv(t)
	for i, when := range []string{"2020-01-01T00:00:00", "2020-01-02T00:00:00", "2020-01-03T00:00:00"} {
		build(t, e.Dir, "f=1", "g=1")
		e.Now, e.Session = at(when), []string{"one", "two", "two"}[i]
		put(t, e, "f")
		put(t, e, "g")
	}
	items := list(t, e)
	for _, tt := range []struct {
		sel  Selection
		want int
	}{
		{Selection{Session: "one"}, 2},
		{Selection{Session: "two"}, 2}, // the newest of each path
		{Selection{Session: "none"}, 0},
		{Selection{Since: e.Now().Add(-36 * time.Hour)}, 2},
		{Selection{Since: e.Now().Add(time.Hour)}, 0},
		{Selection{Session: "one", Names: []string{"f"}}, 1},
		{Selection{Session: "one", Since: e.Now()}, 0},
	} {
		got, errs := Select(items, tt.sel, e.Now())
		if len(got) != tt.want || len(errs) > 0 {
			t.Errorf("%+v: %v, %v", tt.sel, got, errs)
		}
	}
}

// TestSelectUnread: where an information file could not be read for a moment,
// nothing is taken for the newest that may not be it.
func TestSelectUnread(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "f=1", "g=1")
	e.Now = at("2020-01-01T00:00:00")
	put(t, e, "f", "g")
	build(t, e.Dir, "f=2")
	e.Now = at("2020-01-03T00:00:00")
	put(t, e, "f")
	items := list(t, e)
	newest := slices.IndexFunc(items, func(it Item) bool { return it.Deleted.Day() == 3 })
	old := items[newest]
	items[newest] = Item{ID: old.ID, Name: old.Name, TrashDir: old.TrashDir, Size: -1, Problem: "bad information file: Input/output error", unread: unix.EIO}
	now := at("2020-01-03T12:00:00")()
	for i, c := range []struct {
		s    Selection
		want int
		errs int
	}{
		{Selection{Last: true}, 0, 1},
		{Selection{Names: []string{"f"}}, 0, 1},
		{Selection{Paths: []string{e.Dir + "/f"}}, 0, 1},
		{Selection{Under: []string{e.Dir}}, 2, 1},
		{Selection{Groups: []string{items[len(items)-1].Group}}, 2, 1},
		{Selection{Older: 24 * time.Hour}, 2, 1},
		{Selection{IDs: []string{old.ID}}, 1, 0},
		{Selection{All: true}, 3, 0},
	} {
		got, errs := Select(items, c.s, now)
		if len(got) != c.want || len(errs) != c.errs {
			t.Errorf("%d: %d items, %v", i, len(got), errs)
		}
		for _, err := range errs {
			if !strings.Contains(err.Error(), "is not known whether "+old.Name+",") || !strings.Contains(err.Error(), "Input/output error") {
				t.Error(err)
			}
		}
	}
}

// TestCraftedInfo: what others, or bugs, left in a trash.
func TestCraftedInfo(t *testing.T) {
	e, _, _ := scratchEnv(t)
	dir := trashDir(e)
	build(t, dir, "files/", "info/")
	for name, text := range map[string]string{
		"relative": "[Trash Info]\nPath=x/y\n", "dotdot": "[Trash Info]\nPath=" + e.Dir + "/a/../../b\n", "empty": "", "binary": "\x00\xff",
		"nodate": "[Trash Info]\nPath=" + e.Dir + "/nodate\n", "baddate": "[Trash Info]\nPath=" + e.Dir + "/baddate\nDeletionDate=soon\n",
		"nul": "[Trash Info]\nPath=/a%00\n", "good": "[Trash Info]\nPath=" + e.Dir + "/go%6fd+\nDeletionDate=2020-01-01T00:00:00\n",
		"root": "[Trash Info]\nPath=/\nDeletionDate=2020-01-01T00:00:00\n",
	} {
		write(t, filepath.Join(dir, "info", name+".trashinfo"), text)
		write(t, filepath.Join(dir, "files", name), name)
	}
	build(t, dir, "files/orphan=x", "info/nodata.trashinfo=[Trash Info]", "info/notes", "files/.partial-abc")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "info/link.trashinfo")); err != nil {
		t.Fatal(err)
	}
	build(t, dir, "files/link=x")
	if err := unix.Mkfifo(filepath.Join(dir, "info/fifo.trashinfo"), 0o600); err != nil {
		t.Fatal(err)
	}
	build(t, dir, "files/fifo=x")
	items := list(t, e)
	problems := map[string]string{}
	for _, it := range items {
		problems[it.Name] = it.Problem
	}
	for name, want := range map[string]string{
		"relative": "not absolute", "dotdot": `".."`, "empty": "bad information file", "binary": "bad information file", "nul": "NUL",
		"orphan": "no information", "link": "bad information file", "fifo": "bad information file",
	} {
		if got, ok := problems[name]; !ok || !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"good", "nodate", "baddate", "root"} {
		if got, ok := problems[name]; !ok || got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if len(items) != 12 {
		t.Errorf("%d items: %v", len(items), problems)
	}
	before := tree(t, filepath.Dir(e.Dir))
	old, _ := Select(items, Selection{Older: time.Hour}, time.Now())
	if len(old) != 2 {
		t.Errorf("older than an hour: %+v", old)
	}
	var bad []Item
	for _, it := range items {
		if it.Problem != "" || it.Name == "root" {
			bad = append(bad, it)
		}
	}
	for _, o := range Restore(withMounts(t, e), bad, RestoreOptions{Overwrite: true, Parents: true}) {
		if o.Err == nil {
			t.Errorf("restored %+v", o)
		}
	}
	if after := tree(t, filepath.Dir(e.Dir)); strings.ReplaceAll(after, "./home/.local/share/Trash/"+lockName+" -rw------- e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n", "") != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	// Elsewhere they can be restored.
	for _, o := range Restore(withMounts(t, e), bad, RestoreOptions{To: "rescue", Parents: true}) {
		if o.Err != nil && o.Item.Name != "root" {
			t.Errorf("%s: %v", o.Item.Name, o.Err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(e.Dir, "rescue/orphan")); string(b) != "x" {
		t.Error("the orphan is lost")
	}
	if _, errs := restoreAll(t, e, Selection{Names: []string{"good+"}}, RestoreOptions{}); len(errs) > 0 || !there(filepath.Join(e.Dir, "good+")) {
		t.Error(errs)
	}
}

// TestTopDirTrash: the trash of a top directory is trusted no further than the
// directory goes. A mountinfo of our own makes a directory a top directory.
func TestTopDirTrash(t *testing.T) {
	e, _, _ := scratchEnv(t)
	top := filepath.Join(e.Dir, "top")
	id := fmt.Sprint(e.UID)
	dir := filepath.Join(top, ".Trash-"+id)
	build(t, e.Dir, "victim=precious", "out/", "top/in/")
	build(t, dir, "files/", "info/", "../real/", "../link->../out", "../inner->real")
	os.Chmod(dir, 0o700)
	for name, path := range map[string]string{
		"abs": e.Dir + "/victim2", "up": "../victim2", "encoded": "%2e%2e/victim2", "through": "link/x", "deep": "in/../../victim2", "new": "link/new/x",
		"fine": "in/fine", "inner": "inner/y", "fresh": "fresh/dir/z", "itself": ".", "over": "link/../victim",
		"slash": "in%2f..%2F..%2Fvictim2", "twice": "%252e%252e/victim2", "newline": "in/%0Avictim2%0D", "second": "in/second\nPath=../victim2", "broken": "in/%zz", "nul": "in/%00",
	} {
		write(t, filepath.Join(dir, "info", name+".trashinfo"), "[Trash Info]\nPath="+path+"\nDeletionDate=2020-01-01T00:00:00\n")
		write(t, filepath.Join(dir, "files", name), name)
	}
	e.MountInfo = filepath.Join(e.Home, "mountinfo")
	write(t, e.MountInfo, "25 1 8:1 / "+top+" rw - ext4 /dev/x rw\n26 1 8:1 / "+top+" rw - ext4 /dev/x rw\nrubbish\n")
	items, errs := List(e)
	if len(items) != 17 || len(errs) != 0 {
		t.Fatalf("%d items, %v", len(items), errs)
	}
	outs := Restore(e, items, RestoreOptions{Parents: true, Overwrite: true})
	for _, o := range outs {
		ok := slices.Contains([]string{"fine", "inner", "fresh", "twice", "newline", "second"}, o.Item.Name)
		if (o.Err == nil) != ok {
			t.Errorf("%s: %v", o.Item.Name, o.Err)
		}
	}
	for _, p := range []string{"in/fine", "real/y", "fresh/dir/z", "%2e%2e/victim2", "in/\nvictim2\r", "in/second"} {
		if !there(filepath.Join(top, p)) {
			t.Errorf("%s is not back", p)
		}
	}
	if there(filepath.Join(e.Dir, "victim2")) || there(filepath.Join(e.Dir, "out/x")) || there(filepath.Join(e.Dir, "out/new")) {
		t.Error("restored outside")
	}
	if b, _ := os.ReadFile(filepath.Join(e.Dir, "victim")); string(b) != "precious" {
		t.Error("overwrote a file outside")
	}
}

func TestDistrustedTopTrash(t *testing.T) {
	id := fmt.Sprint(os.Geteuid())
	for _, c := range []struct {
		lines []string
		why   string
	}{
		{[]string{".Trash-" + id + "/ 0777", ".Trash-" + id + "/files/", ".Trash-" + id + "/info/"}, "others may write to it"},
		{[]string{"t/files/", "t/info/", ".Trash-" + id + "->t"}, "it is a symbolic link, which is not followed"},
		{[]string{".Trash-" + id + "/info/", "files/", ".Trash-" + id + "/files->../files"}, "not a directory (a symbolic link is not followed)"},
		{[]string{".Trash-" + id + "/info/ 0775", ".Trash-" + id + "/files/"}, "others may write to it; to repair: chmod go-w"},
		{[]string{".Trash/" + id + "/info/", ".Trash/" + id + "/files/", ".Trash/ 0777"}, "sticky bit"},
		{[]string{"t/" + id + "/info/", "t/" + id + "/files/", "t/ 01777", ".Trash->t"}, "sticky bit"},
		{[]string{".Trash-" + id + "=file"}, ""},
		{[]string{".Trash/ 01777", ".Trash/" + id + "/info/"}, ""},
	} {
		e, _, _ := scratchEnv(t)
		build(t, e.Dir, c.lines...)
		e.MountInfo = filepath.Join(e.Home, "mountinfo")
		write(t, e.MountInfo, "25 1 8:1 / "+e.Dir+" rw - ext4 /dev/x rw\n")
		items, errs := List(e)
		if len(items) > 0 || c.why == "" && len(errs) > 0 && !strings.Contains(errs[0].Error(), "directory") || c.why != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), c.why)) {
			t.Errorf("%q: %v %v", c.lines, items, errs)
		}
	}
}

func TestRestoreIsInterrupted(t *testing.T) {
	defer func() { testOnlyStep = nil }()
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "f=1")
	put(t, e, "f")
	testOnlyStep = func(s string) error {
		if s == "restored" {
			panic(s)
		}
		return nil
	}
	func() {
		defer func() { recover() }()
		restoreAll(t, e, Selection{Last: true}, RestoreOptions{})
	}()
	testOnlyStep = nil
	if b, _ := os.ReadFile(filepath.Join(e.Dir, "f")); string(b) != "1" {
		t.Error("lost")
	}
	if items := list(t, e); len(items) != 0 {
		t.Errorf("%+v", items)
	}
}

func TestRestoreOfWhatIsGone(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "f=1", "g=2")
	put(t, e, "f")
	items := list(t, e)
	if o := Restore(withMounts(t, e), append(items, items[0]), RestoreOptions{}); o[0].Err != nil || !errors.Is(o[1].Err, errGone) {
		t.Error(o)
	}
	// The name is that of another item now.
	e.Now = func() time.Time { return time.Now().Add(time.Minute) }
	put(t, e, "f")
	for _, o := range append(Restore(withMounts(t, e), items, RestoreOptions{}), Purge(withMounts(t, e), items)...) {
		if !errors.Is(o.Err, errGone) {
			t.Errorf("%+v", o)
		}
	}
	if len(list(t, e)) != 1 {
		t.Error("lost")
	}
	if o := Restore(withMounts(t, e), []Item{{TrashDir: "/nope", Name: "x"}}, RestoreOptions{}); o[0].Err == nil {
		t.Error(o)
	}
}

// In a sandbox the work tree may be a mount of its own. Its trash is then found
// from outside, where it is not, by whoever stands in the tree.
func TestTrashOfASandbox(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "repo/sub/x=kept", "other/")
	dir := filepath.Join(e.Dir, "repo", fmt.Sprint(".Trash-", e.UID))
	build(t, dir, "files/", "info/")
	os.Chmod(dir, 0o700)
	write(t, filepath.Join(dir, "info", "gone.trashinfo"), "[Trash Info]\nPath=sub/gone\nDeletionDate=2020-01-01T00:00:00\n")
	write(t, filepath.Join(dir, "files", "gone"), "back")
	root := e.Dir
	for _, c := range []struct {
		dir  string
		want int
	}{{"repo/sub", 1}, {"repo", 1}, {"other", 0}} {
		e.Dir, e.Only = filepath.Join(root, c.dir), dir // nothing of this machine's
		if items, errs := List(e); len(items) != c.want || len(errs) != 0 {
			t.Errorf("in %s: %d items, %v", c.dir, len(items), errs)
		}
	}
	e.Dir = filepath.Join(root, "repo/sub")
	items, _ := List(e)
	if o := Restore(e, items, RestoreOptions{}); len(o) != 1 || o[0].Err != nil || !there(filepath.Join(root, "repo/sub/gone")) {
		t.Error(o)
	}
}
