package trash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNSForeignTrash: what belongs to others, or lies elsewhere, is not used;
// the home trash takes a copy.
func TestNSForeignTrash(t *testing.T) {
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, ".Trash-0/files/", ".Trash-0/info/", "d/f=1 0640", "d/s/g=2", "d/l->f", "d/ro/x=3 0444", "d/ro/ 0555", "d/p|")
	os.Chmod(filepath.Join(m, ".Trash-0"), 0o700)
	if err := os.Chown(filepath.Join(m, ".Trash-0"), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2001, 2, 3, 4, 5, 6, 7000, time.UTC)
	os.Chtimes(filepath.Join(m, "d/f"), old, old)
	if err := os.Link(filepath.Join(m, "d/f"), filepath.Join(m, "d/s/hard")); err != nil {
		t.Fatal(err)
	}
	note := []byte("kept")
	err := unix.Setxattr(filepath.Join(m, "d/f"), "user.note", note, 0)
	if err != nil && err != unix.ENOTSUP {
		t.Fatal(err)
	}
	noted := err == nil && unix.Setxattr(e.Home, "user.note", note, 0) == nil // both file systems have them
	kept := func(path string) {
		t.Helper()
		fi, err := statAt(atFDCWD, path)
		if err != nil || fi.atime.Nano() != old.UnixNano() || fi.mtime.Nano() != old.UnixNano() {
			t.Errorf("times are lost: %v %v %v", fi.atime, fi.mtime, err)
		}
		b := make([]byte, 16)
		if n, err := unix.Getxattr(path, "user.note", b); noted && (err != nil || string(b[:n]) != string(note)) {
			t.Errorf("the attribute is lost: %v", err)
		}
	}
	hole, _ := os.Create(filepath.Join(m, "d/sparse"))
	hole.WriteAt([]byte("end"), 64<<20)
	hole.Close()
	before := tree(t, filepath.Join(m, "d"))
	os.Chtimes(filepath.Join(m, "d/f"), old, old) // it was read
	r := Put(e, Config{}, "rm", []string{"-rv", "m/d"}, "")
	out, errs := said()
	if r.Code != 0 || len(r.Moved) != 1 || !under(r.Moved[0].Trash, trashDir(e)) || there(filepath.Join(m, "d")) {
		t.Fatalf("%+v %s", r, errs)
	}
	kept(filepath.Join(r.Moved[0].Trash, "f"))
	if !strings.Contains(errs, "belongs to user 65534, not to 0") || !strings.HasSuffix(out, "removed directory 'm/d'\n") {
		t.Errorf("%q %q", out, errs)
	}
	if after := tree(t, r.Moved[0].Trash); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	a, _ := os.Stat(filepath.Join(r.Moved[0].Trash, "f"))
	b, _ := os.Stat(filepath.Join(r.Moved[0].Trash, "s/hard"))
	if !os.SameFile(a, b) || !a.ModTime().Equal(old) {
		t.Error("links or times are lost")
	}
	var st unix.Stat_t
	if unix.Stat(filepath.Join(r.Moved[0].Trash, "sparse"), &st); st.Blocks*512 > 32<<20 {
		t.Errorf("the hole was filled: %d blocks", st.Blocks)
	}
	// And back, over the same border.
	os.Chtimes(filepath.Join(r.Moved[0].Trash, "f"), old, old)
	items := mine(t, e)
	o := Restore(e, items, RestoreOptions{})
	if o[0].Err != nil {
		t.Fatal(o[0].Err)
	}
	kept(filepath.Join(m, "d/f"))
	if after := tree(t, filepath.Join(m, "d")); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	if es, _ := os.ReadDir(filepath.Join(trashDir(e), "files")); len(es) != 0 || len(mine(t, e)) != 0 {
		t.Error("still in the trash")
	}
}

// TestNSCopyFails: at each step of a copy that fails or dies the source is
// whole, or the trash has it.
func TestNSCopyFails(t *testing.T) {
	defer func() { testOnlyStep = nil }()
	for _, c := range []struct {
		step string
		kill bool
		gone bool // the source
	}{{"create-info", false, false}, {"copied", false, false}, {"copied", true, false}, {"remove-source", false, false}, {"remove-source", true, false}, {"done", true, false}} {
		t.Run(fmt.Sprint(c.step, c.kill), func(t *testing.T) {
			e, said := namespace(t)
			m := filepath.Join(e.Dir, "m")
			mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
			build(t, m, ".Trash-0=no", "d/f=1", "d/s/g=2")
			before := tree(t, filepath.Join(m, "d"))
			if c.kill {
				if out, err := inChild(t, putRequest{Home: e.Home, Dir: e.Dir, Args: []string{"-r", "m/d"}, Die: c.step}); err == nil {
					t.Fatal("it lived", out)
				}
			} else {
				testOnlyStep = func(s string) error {
					if s == c.step {
						return unix.EIO
					}
					return nil
				}
				if r := Put(e, Config{}, "rm", []string{"-r", "m/d"}, ""); r.Code != 1 {
					t.Error(r)
				}
				testOnlyStep = nil
				if _, errs := said(); !strings.Contains(errs, "Input/output error") {
					t.Error(errs)
				}
			}
			if after := tree(t, filepath.Join(m, "d")); after != before {
				t.Errorf("the source changed\n%s", after)
			}
			partials, _ := filepath.Glob(filepath.Join(trashDir(e), "files/.partial-*"))
			if len(partials) > 0 != (c.kill && c.step == "copied") {
				t.Error(partials)
			}
			for _, it := range mine(t, e) {
				if got := tree(t, it.DataPath()); got != before || it.Path != filepath.Join(m, "d") {
					t.Errorf("%+v\n%s", it, got)
				}
			}
			e.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
			e.MountInfo = noMounts(t)
			Sweep(e)
			if partials, _ := filepath.Glob(filepath.Join(trashDir(e), "files/.partial-*")); len(partials) > 0 {
				t.Error("left: ", partials)
			}
		})
	}
}

func TestNSChangedWhileCopied(t *testing.T) {
	defer func() { testOnlyStep = nil }()
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, ".Trash-0=no", "d/f=1", "d/g=2", "d/s/x=3")
	testOnlyStep = func(s string) error {
		if s == "copied" {
			write(t, filepath.Join(m, "d/new"), "new")
			write(t, filepath.Join(m, "d/f"), "changed")
		}
		return nil
	}
	if r := Put(e, Config{}, "rm", []string{"-rf", "m/d"}, ""); r.Code != 1 {
		t.Error(r)
	}
	_, errs := said()
	if !strings.Contains(errs, "the trash has a copy of it") {
		t.Error(errs)
	}
	for p, want := range map[string]string{"d/new": "new", "d/f": "changed"} {
		if b, _ := os.ReadFile(filepath.Join(m, p)); string(b) != want {
			t.Errorf("%s: %q", p, b)
		}
	}
	if there(filepath.Join(m, "d/g")) || there(filepath.Join(m, "d/s")) {
		t.Error("what was copied stays")
	}
}

func TestNSTooBigToCopy(t *testing.T) {
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, ".Trash-0=no", "big="+strings.Repeat("x", 1<<20))
	r := Put(e, Config{MaxBytes: 1 << 19}, "rm", []string{"m/big"}, "")
	if _, errs := said(); r.Code != 1 || !strings.Contains(errs, "too big to be copied") || !there(filepath.Join(m, "big")) {
		t.Error(r, errs)
	}
}

// TestNSOverlayAsUser: what belongs to a user may have any mode, and several
// names, in a lower layer, where each change of it makes a copy.
func TestNSOverlayAsUser(t *testing.T) {
	e, _ := namespace(t)
	base := filepath.Join(filepath.Dir(e.Dir), "o")
	mountAt(t, "tmpfs", base, "tmpfs", 0, "mode=0755")
	build(t, base, "lower/home/", "lower/w/d/f=1", "lower/w/d/ro/g=2", "lower/w/d/s/h=3 0400", "upper/", "work/")
	lower := filepath.Join(base, "lower/w/d")
	if err := os.Link(filepath.Join(lower, "f"), filepath.Join(lower, "s/hard")); err != nil {
		t.Fatal(err)
	}
	for p, mode := range map[string]os.FileMode{"f": 0, "ro": 0o555} {
		if err := os.Chmod(filepath.Join(lower, p), mode); err != nil {
			t.Fatal(err)
		}
	}
	_ = filepath.Walk(base, func(p string, _ os.FileInfo, _ error) error { return os.Lchown(p, nobody, nobody) })
	for p := base; p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		_ = os.Chmod(p, 0o755)
	}
	o := filepath.Join(base, "mnt")
	mountAt(t, "overlay", o, "overlay", 0, "redirect_dir=off,lowerdir="+base+"/lower,upperdir="+base+"/upper,workdir="+base+"/work")
	e.Dir, e.Home = filepath.Join(o, "w"), filepath.Join(o, "home")
	before := tree(t, filepath.Join(e.Dir, "d"))
	if out, err := inChild(t, putRequest{Home: e.Home, Dir: e.Dir, Args: []string{"-r", "d"}, As: nobody}); err != nil || out != "" {
		t.Fatal(err, out)
	}
	data := filepath.Join(trashDir(e), "files/d")
	a, err1 := os.Stat(filepath.Join(data, "f"))
	b, err2 := os.Stat(filepath.Join(data, "s/hard"))
	if after := tree(t, data); after != before || there(filepath.Join(e.Dir, "d")) || err1 != nil || err2 != nil || !os.SameFile(a, b) {
		t.Errorf("before\n%safter\n%s%v %v", before, after, err1, err2)
	}
}
