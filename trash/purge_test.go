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

func TestPermissionPurgeReadOnlyTrees(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "mod/a/b=1 0444", "mod/a/ 0555", "mod/c/d/e", "mod/c/d/ 0000", "out/keep=1", "mod/l->../out", "mod/c/l2->..")
	put(t, e, "-r", "mod")
	items := list(t, e)
	outs := Purge(withMounts(t, e), items)
	if outs[0].Err != nil {
		t.Error(outs[0].Err)
	}
	if es, _ := os.ReadDir(filepath.Join(trashDir(e), "files")); len(es) != 0 {
		t.Error("not gone")
	}
	if es, _ := os.ReadDir(filepath.Join(trashDir(e), "info")); len(es) != 0 {
		t.Error("information not gone")
	}
	if !there(filepath.Join(e.Dir, "out/keep")) {
		t.Error("followed a link")
	}
}

func TestPurgeOnlyWhatIsMeant(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a", "b", "c")
	e.Now = at("2020-01-01T00:00:00")
	put(t, e, "a")
	e.Now = time.Now
	put(t, e, "b", "c")
	p := filepath.Join(trashDir(e), "info/c.trashinfo")
	write(t, p, "[Trash Info]\nPath=/c\nDeletionDate=then\n")
	sel, errs := Select(list(t, e), Selection{Older: 30 * 24 * time.Hour}, time.Now())
	if len(errs) > 0 {
		t.Error(errs)
	}
	for _, o := range Purge(withMounts(t, e), sel) {
		if o.Err != nil || o.Item.Name != "a" {
			t.Errorf("%+v", o)
		}
	}
	if len(list(t, e)) != 2 {
		t.Error(list(t, e))
	}
}

func TestPurgeIsInterrupted(t *testing.T) {
	defer func() { testOnlyStep = nil }()
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "d/x")
	put(t, e, "-r", "d")
	testOnlyStep = func(s string) error {
		if s == "purged" {
			return unix.EIO
		}
		return nil
	}
	if o := Purge(withMounts(t, e), list(t, e)); o[0].Err == nil {
		t.Error(o)
	}
	testOnlyStep = nil
	if len(list(t, e)) != 0 || !there(filepath.Join(trashDir(e), "info/d.trashinfo")) {
		t.Error("data goes before information")
	}
}

// TestNotesOfDeletions: one that names what it is not about deletes nothing;
// what it is about is in no list, and goes.
func TestNotesOfDeletions(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "d/x", "f", "keep/y")
	put(t, e, "-r", "d", "f")
	items := list(t, e)
	d := items[slices.IndexFunc(items, func(it Item) bool { return it.Name == "d" })]
	f := items[slices.IndexFunc(items, func(it Item) bool { return it.Name == "f" })]
	for id, name := range map[string]string{d.ID + "x": "d", f.ID: "../../../../../w/keep", "a": "..", "b": ".", "c": "", "dd": "../info", "e": "gone", "g": e.Dir + "/keep"} {
		write(t, filepath.Join(trashDir(e), doomPrefix+id), name)
	}
	if left := list(t, e); len(left) != 1 || left[0].Name != "d" {
		t.Errorf("%+v", left)
	}
	if errs := Sweep(withMounts(t, e)); len(errs) > 0 {
		t.Error(errs)
	}
	if es, _ := filepath.Glob(filepath.Join(trashDir(e), doomPrefix+"*")); len(es) > 0 || len(list(t, e)) != 2 || !there(filepath.Join(e.Dir, "keep/y")) {
		t.Error(es, list(t, e))
	}
	write(t, filepath.Join(trashDir(e), doomPrefix+d.ID), "d")
	if o := Purge(withMounts(t, e), []Item{d}); !errors.Is(o[0].Err, errGone) {
		t.Error(o[0].Err)
	}
	if es, _ := filepath.Glob(filepath.Join(trashDir(e), "*/d*")); len(es) > 0 || len(list(t, e)) != 1 || there(filepath.Join(trashDir(e), doomPrefix+d.ID)) {
		t.Error("left", es)
	}
}

func TestDeepTree(t *testing.T) {
	e, _, _ := scratchEnv(t)
	fd, err := openDir(atFDCWD, e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	const depth = 1200 // 12,000 bytes of path
	for range depth {
		if err := unix.Mkdirat(fd, "deep-deep-", 0o755); err != nil {
			t.Fatal(err)
		}
		f, _ := openAt(fd, "file", unix.O_CREAT|unix.O_WRONLY, 0o600)
		unix.Close(f)
		next, err := openDir(fd, "deep-deep-")
		unix.Close(fd)
		if err != nil {
			t.Fatal(err)
		}
		fd = next
	}
	unix.Close(fd)
	put(t, e, "-r", "deep-deep-")
	items := list(t, e)
	Sizes(withMounts(t, e), items)
	if items[0].Size < depth*4096/2 {
		t.Error(items[0].Size)
	}
	if o := Purge(withMounts(t, e), items); o[0].Err != nil {
		t.Error(o[0].Err)
	}
	if es, _ := os.ReadDir(filepath.Join(trashDir(e), "files")); len(es) != 0 {
		t.Error("not gone")
	}
}

func TestEmpty(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a", "d/x")
	put(t, e, "-r", "a", "d")
	build(t, trashDir(e), "files/orphan/x", "files/.partial-zz/y", "info/stale.trashinfo", "info/fresh.trashinfo")
	old := time.Now().Add(-2 * time.Hour)
	os.Chtimes(filepath.Join(trashDir(e), "info/stale.trashinfo"), old, old)
	outs, errs := Empty(withMounts(t, e))
	if len(outs) != 3 || len(errs) > 0 {
		t.Errorf("%+v %v", outs, errs)
	}
	for _, o := range outs {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	files, _ := os.ReadDir(filepath.Join(trashDir(e), "files"))
	infos, _ := os.ReadDir(filepath.Join(trashDir(e), "info"))
	if len(files) != 0 || len(infos) != 1 || infos[0].Name() != "fresh.trashinfo" {
		t.Error(files, infos)
	}
}

func TestEvict(t *testing.T) {
	e, _, _ := scratchEnv(t)
	day := func(n int) time.Time { return time.Date(2024, 5, 1+n, 12, 0, 0, 0, time.Local) }
	big := "=" + strings.Repeat("x", 100<<10)
	for _, c := range []struct {
		day  int
		file string
	}{{0, "expired"}, {20, "old"}, {25, "older.o"}, {28, "mid" + big}, {29, "gen.tmp" + big}, {30, "late.o"}, {31, "young" + big}} {
		build(t, e.Dir, c.file)
		e.Now = func() time.Time { return day(c.day) }
		name, _, _ := strings.Cut(c.file, "=")
		put(t, e, name)
	}
	write(t, filepath.Join(trashDir(e), "info/foreign.trashinfo"), "[Trash Info]\nPath=/foreign\nDeletionDate=2001-01-01T00:00:00\n")
	write(t, filepath.Join(trashDir(e), "files/foreign"), "x")
	e.Now = func() time.Time { return day(31).Add(6 * time.Hour) }
	names := func(outs []Outcome) string {
		s := ""
		for _, o := range outs {
			if o.Err != nil {
				t.Error(o.Err)
			}
			s += o.Item.Name + " "
		}
		return s
	}
	if !EvictDue(withMounts(t, e)) {
		t.Error("not due")
	}
	ev := Evict(withMounts(t, e), Config{KeepDays: 30, MaxBytes: 150 << 10})
	if EvictDue(withMounts(t, e)) {
		t.Error("due again")
	}
	if got := names(ev.Expired); got != "late.o gen.tmp older.o expired " {
		t.Error(got)
	}
	if got := names(ev.Quota); got != "old mid " {
		t.Error(got)
	}
	if ev.Over != 0 || len(ev.Errs) > 0 {
		t.Errorf("%+v", ev)
	}
	ev = Evict(withMounts(t, e), Config{KeepDays: 30, MaxBytes: 1})
	if len(ev.Expired)+len(ev.Quota) != 0 || ev.Over <= 0 {
		t.Errorf("%+v", ev)
	}
	e.Now = func() time.Time { return day(33) }
	if !EvictDue(withMounts(t, e)) {
		t.Error("not due the next day")
	}
	items := list(t, e)
	if len(items) != 2 || items[0].Name != "young" || items[1].Name != "foreign" {
		t.Errorf("%+v", items)
	}
}

func TestSizesAreCached(t *testing.T) {
	e, _, _ := scratchEnv(t)
	t.Setenv("TMPDIR", filepath.Join(e.Dir, "nope")) // what is renamed is made in the trash itself
	build(t, e.Dir, "d/x="+strings.Repeat("x", 50<<10), "f="+strings.Repeat("y", 9<<10), "a b%/z")
	put(t, e, "-r", "d", "f", "a b%")
	items := list(t, e)
	Sizes(withMounts(t, e), items)
	for _, it := range items {
		if it.Size < map[string]int64{"d": 50 << 10, "f": 9 << 10, "a b%": 1}[it.Name] {
			t.Errorf("%s: %d", it.Name, it.Size)
		}
	}
	cache := filepath.Join(trashDir(e), sizesName)
	b, err := os.ReadFile(cache)
	fi, _ := os.Stat(filepath.Join(trashDir(e), "info/d.trashinfo"))
	if err != nil || strings.Count(string(b), "\n") != 2 || !strings.Contains(string(b), fmt.Sprintf(" %d d\n", fi.ModTime().Unix())) || !strings.Contains(string(b), " a%20b%25\n") {
		t.Errorf("%q %v", b, err)
	}
	// What the cache says is believed, unless the item is another.
	write(t, cache, fmt.Sprintf("77 %d d\n5 1 a%%20b%%25\nrubbish\n-1 1 x\n1 1 a%%2fb\n", fi.ModTime().Unix()))
	items = list(t, e)
	Sizes(withMounts(t, e), items)
	for _, it := range items {
		if it.Name == "d" && it.Size != 77 || it.Name == "a b%" && it.Size < 1000 {
			t.Errorf("%s: %d", it.Name, it.Size)
		}
	}
	sel, _ := Select(items, Selection{Names: []string{"d"}}, time.Now())
	Restore(withMounts(t, e), sel, RestoreOptions{})
	if b, _ := os.ReadFile(cache); strings.Contains(string(b), " d\n") || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%q", b)
	}
	Empty(withMounts(t, e))
	if b, _ := os.ReadFile(cache); len(b) != 0 {
		t.Errorf("%q", b)
	}
}

func TestLockIsShared(t *testing.T) {
	e, _, _ := scratchEnv(t)
	build(t, e.Dir, "a")
	put(t, e, "a")
	s, err := openStore(trashDir(e), "", e.UID, false, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	u1, err1 := s.lock(true)
	u2, err2 := s.lock(true)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	u1()
	u2()
	u3, err := s.lock(false)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		u, err := s.lock(false)
		if err == nil {
			u()
		}
		done <- err
	}()
	u3()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func BenchmarkList(b *testing.B) {
	e, _, _ := scratchEnv(b)
	build(b, trashDir(e), "files/", "info/")
	for i := range 100_000 {
		n := fmt.Sprint(i)
		os.WriteFile(filepath.Join(trashDir(e), "files", n), nil, 0o600)
		in := info{path: "/x/" + n, deleted: time.Now(), group: groupID(time.Now(), uint64(i)), cwd: "/x"}
		os.WriteFile(filepath.Join(trashDir(e), "info", n+infoSuffix), in.encode(), 0o600)
	}
	e.MountInfo = "/dev/null"
	for b.Loop() {
		if items, _ := List(e); len(items) != 100_000 {
			b.Fatal(len(items))
		}
	}
}
