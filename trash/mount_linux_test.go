package trash

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// nsEnv marks the test process that has a mount namespace of its own; the
// tests called TestNS run only there.
const nsEnv = "TRASH_TEST_NAMESPACE"

// TestInNamespace runs the tests that mount, in a private namespace.
func TestInNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	for _, tests := range []string{"^TestNS", "^TestChrootWithProc$", "^TestChrootWithoutProc$"} {
		dir := userDir(t)
		out, err := reexec(t, dir, tests, nsEnv+"=1", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS})
		if strings.Contains(out, "SKIP") {
			t.Log(out)
		}
		if err != nil || !strings.Contains(out, "--- ") {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// namespace is scratchEnv where mounting is possible and touches nobody.
func namespace(t *testing.T) (Env, func() (out, errw string)) {
	t.Helper()
	if os.Getenv(nsEnv) == "" {
		t.Skip("needs a mount namespace of its own; TestInNamespace and TestFaultsMounted run it in one")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip("cannot make mounts private: ", err)
	}
	e, out, errw := scratchEnv(t)
	return e, func() (string, string) {
		defer out.Reset()
		defer errw.Reset()
		return out.String(), errw.String()
	}
}

// mountAt mounts and unmounts at the end.
func mountAt(t *testing.T, src, dir, fstype string, flags uintptr, data string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(src, dir, fstype, flags, data); err != nil {
		t.Skipf("cannot mount %s: %v", fstype, err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
}

// mine are the items below e.Dir; the machine may have others.
func mine(t *testing.T, e Env) []Item {
	t.Helper()
	items, _ := List(e)
	var ms []Item
	for _, it := range items {
		if under(it.TrashDir, filepath.Dir(e.Dir)) {
			ms = append(ms, it)
		}
	}
	return ms
}

func TestNSTopDirectory(t *testing.T) {
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m nt")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, "d/f=1", "g=2", "d/h=3")
	before := tree(t, m)
	put(t, e, "m nt/d/f")
	put(t, e, "-r", "m nt/g", "m nt/d")
	dir := filepath.Join(m, ".Trash-0")
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Fatal(fi, err)
	}
	b, _ := os.ReadFile(filepath.Join(dir, "info/f.trashinfo"))
	if !strings.Contains(string(b), "\nPath=d/f\n") {
		t.Errorf("%s", b)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(b) != "*\n" {
		t.Errorf("%q", b)
	}
	if there(trashDir(e)) {
		t.Error("the home trash was made for nothing")
	}
	items := mine(t, e)
	if len(items) != 3 || items[2].Path != filepath.Join(m, "d/f") {
		t.Fatalf("%+v", items)
	}
	for _, o := range Restore(e, items, RestoreOptions{}) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	os.RemoveAll(dir)
	if after := tree(t, m); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	// What is in it is not trashed again.
	put(t, e, "m nt/g")
	if r := Put(e, Config{}, "rm", []string{"-rf", dir, filepath.Join(dir, "files/g")}, ""); r.Code != 1 {
		t.Error(r)
	}
	if _, errs := said(); strings.Count(errs, "it is in the trash") != 1 || strings.Count(errs, "it is the trash") != 1 {
		t.Error(errs)
	}
}

func TestNSSharedTrash(t *testing.T) {
	for _, c := range []struct {
		lines []string
		into  string
		warn  string
	}{
		{[]string{".Trash/ 01777"}, ".Trash/0", ""},
		{[]string{".Trash/ 0777"}, ".Trash-0", "it has no sticky bit; to repair: sudo chmod 1777"},
		{[]string{"t/ 01777", ".Trash->t"}, ".Trash-0", "a symbolic link is not followed"},
		{[]string{".Trash=file"}, ".Trash-0", "it is not a directory"},
		{[]string{".Trash/0/ 0777", ".Trash/ 01777"}, ".Trash-0", "others may write to it"},
		{nil, ".Trash-0", ""},
	} {
		t.Run(strings.Join(c.lines, " "), func(t *testing.T) {
			e, said := namespace(t)
			m := filepath.Join(e.Dir, "m")
			mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
			build(t, m, c.lines...)
			build(t, m, "f", "g")
			if r := Put(e, Config{}, "rm", []string{"m/f", "m/g"}, ""); r.Code != 0 {
				t.Error(r)
			}
			_, errs := said()
			if !strings.Contains(errs, c.warn) || c.warn == "" && errs != "" || strings.Count(errs, "\n") > 1 {
				t.Errorf("%q", errs)
			}
			if !there(filepath.Join(m, c.into, "files/f")) {
				t.Error(tree(t, m))
			}
			if items := mine(t, e); len(items) != 2 || items[0].Path != filepath.Join(m, "f") {
				t.Errorf("%+v", items)
			}
		})
	}
}

// TestNSBothTrashes: what is in .Trash-$uid is still there when an administrator
// has made .Trash.
func TestNSBothTrashes(t *testing.T) {
	e, _ := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, "f=1", "d/g=2")
	before := tree(t, m)
	put(t, e, "m/f")
	build(t, m, ".Trash/ 01777")
	put(t, e, "-r", "m/d")
	items := mine(t, e)
	if len(items) != 2 || items[0].TrashDir != filepath.Join(m, ".Trash/0") || items[1].TrashDir != filepath.Join(m, ".Trash-0") {
		t.Fatalf("%+v", items)
	}
	for _, o := range Restore(e, items, RestoreOptions{}) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	os.RemoveAll(filepath.Join(m, ".Trash"))
	os.RemoveAll(filepath.Join(m, ".Trash-0"))
	if after := tree(t, m); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

func TestNSFullTrash(t *testing.T) {
	e, said := namespace(t)
	mountAt(t, "tmpfs", filepath.Join(e.Home, ".local"), "tmpfs", 0, "mode=0755,size=64k")
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, ".Trash-0=no", "big="+strings.Repeat("x", 1<<20), "d/a="+strings.Repeat("x", 40<<10), "d/b="+strings.Repeat("x", 40<<10))
	before := tree(t, m)
	r := Put(e, Config{MaxBytes: 1 << 30}, "rm", []string{"-r", "m/big", "m/d"}, "")
	_, errs := said()
	if r.Code != 1 || strings.Count(errs, "No space left on device; the trash is empty; make room, see: df -h "+filepath.Join(e.Home, ".local")) != 2 {
		t.Error(r, errs)
	}
	if after := tree(t, m); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	if items := mine(t, e); len(items) != 0 {
		t.Error(items)
	}
	// A full filesystem with its own trash: no room for the description.
	full := filepath.Join(e.Dir, "full")
	mountAt(t, "tmpfs", full, "tmpfs", 0, "mode=0755,size=64k")
	build(t, full, "f=1")
	put(t, e, "full/f")
	build(t, full, "g=2")
	os.WriteFile(filepath.Join(full, "fill"), make([]byte, 1<<20), 0o600)
	r = Put(e, Config{}, "rm", []string{"full/g"}, "")
	if _, errs := said(); r.Code == 0 || !strings.Contains(errs, "No space left on device; to make room: safeshell trash empty\n") || !there(filepath.Join(full, "g")) {
		t.Error(r, errs)
	}
	if _, err := os.Stat(filepath.Join(full, ".Trash-0/info/g.trashinfo")); err == nil {
		t.Error("half an information file stays")
	}
	// Purging by age is named only where it frees something.
	old := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Join(full, ".Trash-0/info/f.trashinfo"), old, old); err != nil {
		t.Fatal(err)
	}
	Put(e, Config{}, "rm", []string{"full/g"}, "")
	if _, errs := said(); !strings.Contains(errs, "to make room: safeshell trash purge --older 7d\n") {
		t.Error(errs)
	}
}

// TestNSNoInodes: a filesystem without room for another file can be emptied, and
// what is in its trash comes back.
func TestNSNoInodes(t *testing.T) {
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755,nr_inodes=40,size=1m")
	build(t, m, "a=1", "b=2", "c=3", "d/x=4")
	if r := Put(e, Config{}, "rm", []string{"-r", "m/a", "m/b", "m/c", "m/d"}, ""); r.Code != 0 || len(r.Moved) != 4 {
		_, errs := said()
		t.Fatalf("%+v %s", r, errs)
	}
	n := 0
	for ; n < 100; n++ {
		if err := os.WriteFile(filepath.Join(m, "fill"+strconv.Itoa(n)), nil, 0o600); err != nil {
			break
		}
	}
	if n == 100 {
		t.Skip("the kernel does not count inodes of a tmpfs")
	}
	byName := map[string]Item{}
	for _, it := range mine(t, e) {
		byName[it.Name] = it
	}
	if outs := Restore(e, []Item{byName["a"]}, RestoreOptions{}); outs[0].Err != nil {
		t.Errorf("restore: %v", outs[0].Err)
	}
	if outs := Restore(e, []Item{byName["b"]}, RestoreOptions{To: e.Home}); outs[0].Err != nil {
		t.Errorf("restore elsewhere: %v", outs[0].Err)
	}
	os.WriteFile(filepath.Join(m, "again"), nil, 0o600) // what that freed is used again
	os.WriteFile(filepath.Join(m, "again2"), nil, 0o600)
	if outs := Purge(e, []Item{byName["c"]}); outs[0].Err != nil {
		t.Errorf("purge: %v", outs[0].Err)
	}
	e.Only = byName["d"].TrashDir
	if outs, errs := Empty(e); len(errs) > 0 || len(outs) != 1 || outs[0].Err != nil {
		t.Errorf("empty: %+v %v", outs, errs)
	}
}

// TestNSNodes: pipes and sockets keep their access lists and modes on the way to
// another filesystem and back.
func TestNSNodes(t *testing.T) {
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	if err := os.MkdirAll(filepath.Join(m, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	// user::rw-, user:nobody:rw-, group::r--, mask::rw-, other::---
	acl := []byte("\x02\x00\x00\x00\x01\x00\x06\x00\xff\xff\xff\xff\x02\x00\x06\x00\xfe\xff\x00\x00\x04\x00\x04\x00\xff\xff\xff\xff\x10\x00\x06\x00\xff\xff\xff\xff\x20\x00\x00\x00\xff\xff\xff\xff")
	const attr = "system.posix_acl_access"
	for name, kind := range map[string]uint32{"pipe": unix.S_IFIFO, "socket": unix.S_IFSOCK} {
		p := filepath.Join(m, "d", name)
		if err := unix.Mknod(p, kind|0o600, 0); err != nil {
			t.Fatal(err)
		}
		if err := unix.Setxattr(p, attr, acl, 0); err != nil {
			t.Skip("no access lists here: ", err)
		}
	}
	if err := unix.Setxattr(e.Home, attr, nil, 0); err == unix.ENOTSUP {
		t.Skip("no access lists at home: ", err)
	}
	has := func(dir string) {
		t.Helper()
		for _, name := range []string{"pipe", "socket"} {
			b := make([]byte, 100)
			n, err := unix.Getxattr(filepath.Join(dir, name), attr, b)
			if err != nil || string(b[:n]) != string(acl) {
				t.Errorf("%s: %q %v", name, b[:n], err)
			}
			if fi, err := lstatAt(atFDCWD, filepath.Join(dir, name)); err != nil || fi.perm() != 0o660 {
				t.Errorf("%s: mode %o, %v", name, fi.perm(), err)
			}
		}
	}
	r := Put(e, Config{}, "rm", []string{"-r", "m/d"}, "")
	if _, errs := said(); r.Code != 0 || len(r.Moved) != 1 {
		t.Fatalf("%+v %s", r, errs)
	}
	for _, it := range mine(t, e) {
		if outs := Restore(e, []Item{it}, RestoreOptions{To: e.Home}); outs[0].Err != nil {
			t.Fatal(outs[0].Err)
		}
	}
	has(filepath.Join(e.Home, "d"))
}

func TestNSReadOnly(t *testing.T) {
	e, said := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, "f=1", "d/x")
	if err := unix.Mount("", m, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip("cannot remount: ", err)
	}
	want := runReal(t, e, []string{"-rf", "m/f", "m/nope"})
	_, wantErr := said()
	r := Put(e, Config{}, "rm", []string{"-rf", "m/f", "m/nope"}, "")
	if _, errs := said(); r.Code != want || errs != wantErr {
		t.Errorf("%d %s, want %d %s", r.Code, errs, want, wantErr)
	}
}

func TestNSBindMounts(t *testing.T) {
	e, said := namespace(t)
	build(t, e.Dir, "src/d/f=1", "src/g=2")
	b := filepath.Join(e.Dir, "bind")
	mountAt(t, filepath.Join(e.Dir, "src"), b, "", unix.MS_BIND, "")
	b2 := filepath.Join(e.Dir, "bind2")
	mountAt(t, filepath.Join(e.Dir, "src"), b2, "", unix.MS_BIND, "")
	put(t, e, "-r", "bind/d")
	if !there(filepath.Join(b, ".Trash-0/files/d")) {
		t.Error("not in the mount's own trash")
	}
	if items := mine(t, e); len(items) != 1 {
		t.Errorf("listed %d times", len(items))
	}
	if o := Restore(e, mine(t, e), RestoreOptions{}); o[0].Err != nil || !there(filepath.Join(e.Dir, "src/d/f")) {
		t.Error(o)
	}
	// Mount points, and what holds them, stay.
	said()
	before := tree(t, e.Dir)
	r := Put(e, Config{}, "rm", []string{"-rf", "bind"}, "")
	if _, errs := said(); r.Code != 1 || errs != "rm: refusing to remove 'bind': it is a mount point\n" {
		t.Error(errs)
	}
	e.Dir = filepath.Dir(e.Dir)
	defer func() { e.Dir += "/w" }()
	r = Put(Env{Dir: "/", Home: e.Home, UID: e.UID, Stderr: e.Stderr}, Config{}, "rm", []string{"-rf", filepath.Join(e.Dir, "w")}, "")
	if _, errs := said(); r.Code != 1 || !strings.Contains(errs, "a filesystem is mounted in it, at '"+b+"'") {
		t.Error(errs)
	}
	if after := tree(t, filepath.Join(e.Dir, "w")); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

// TestNSOneFileSystem leaves what is mounted, as rm does, with the directories
// above it.
func TestNSOneFileSystem(t *testing.T) {
	gnuRm(t)
	var got [2]string
	for i := range got {
		e, said := namespace(t)
		build(t, e.Dir, "d/a", "d/s/b", "d/s/m/", "d/t/c")
		m := filepath.Join(e.Dir, "d/s/m")
		mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
		build(t, m, "keep")
		args := []string{"-rf", "--one-file-system", "d"}
		code := 0
		if i == 0 {
			code = runReal(t, e, args)
		} else {
			code = Put(e, Config{}, "rm", args, "").Code
		}
		_, errs := said()
		got[i] = fmt.Sprint(code, errs, tree(t, e.Dir))
	}
	if got[0] != got[1] || !strings.Contains(got[0], "keep") {
		t.Errorf("rm %s\nours %s", got[0], got[1])
	}
}

func TestNSPreserveRootAll(t *testing.T) {
	gnuRm(t)
	var got [2]string
	for i := range got {
		e, said := namespace(t)
		m := filepath.Join(e.Dir, "m")
		mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
		build(t, m, "keep")
		args := []string{"-rf", "--preserve-root=all", "m"}
		code := 0
		if i == 0 {
			code = runReal(t, e, args)
		} else {
			code = Put(e, Config{}, "rm", args, "").Code
		}
		_, errs := said()
		got[i] = fmt.Sprint(code, errs, tree(t, e.Dir))
	}
	if got[0] != got[1] {
		t.Errorf("rm %s\nours %s", got[0], got[1])
	}
}

// TestNSOverlay: a directory of the lower layer cannot be renamed.
func TestNSOverlay(t *testing.T) {
	e, said := namespace(t)
	base := filepath.Join(filepath.Dir(e.Dir), "o")
	mountAt(t, "tmpfs", base, "tmpfs", 0, "mode=0755")
	build(t, base, "lower/w/d/f=1", "lower/w/d/s/g=2", "lower/w/file=3", "lower/home/", "upper/", "work/")
	o := filepath.Join(base, "mnt")
	mountAt(t, "overlay", o, "overlay", 0, "lowerdir="+base+"/lower,upperdir="+base+"/upper,workdir="+base+"/work")
	e.Dir, e.Home = filepath.Join(o, "w"), filepath.Join(o, "home")
	build(t, e.Dir, "new/x=4")
	if err := os.Rename(filepath.Join(e.Dir, "d"), filepath.Join(e.Dir, "d2")); err == nil {
		t.Skip("this overlay renames directories of its lower layer")
	}
	before := tree(t, e.Dir)
	r := Put(e, Config{}, "rm", []string{"-rv", "d", "file", "new"}, "")
	out, errs := said()
	if r.Code != 0 || errs != "" || !strings.Contains(out, "removed 'd/s/g'\n") {
		t.Fatalf("%+v %s %s", r, out, errs)
	}
	if es, _ := os.ReadDir(e.Dir); len(es) != 0 {
		t.Error(es)
	}
	for _, m := range r.Moved {
		if !under(m.Trash, e.Home) {
			t.Error(m)
		}
	}
	e.MountInfo = noMounts(t)
	sel, _ := Select(list(t, e), Selection{Last: true}, time.Now())
	for _, o := range Restore(e, sel, RestoreOptions{}) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	if after := tree(t, e.Dir); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}

// TestMountsUnknown: where the table of mounts cannot be read, no directory that
// may have a mount in it goes, and no trash is made where no list would look.
func TestMountsUnknown(t *testing.T) {
	e, _, errw := scratchEnv(t)
	build(t, e.Dir, "d/x", "f")
	e.MountInfo = e.Dir // reading it is an error
	if r := Put(e, Config{}, "rm", []string{"-rf", "d", "f"}, ""); r.Code != 1 || len(r.Moved) != 1 || !there(filepath.Join(e.Dir, "d/x")) {
		t.Errorf("%+v", r)
	}
	if want := "rm: refusing to remove 'd': it cannot be told whether a filesystem is mounted in it (Is a directory); try again\n"; errw.String() != want {
		t.Errorf("%q", errw.String())
	}
	p := newPutter(e, "rm")
	defer p.close()
	if s, err := p.openTop(finfo{mnt: 1 << 60}, e.Dir); err == nil || there(filepath.Join(e.Dir, ".Trash-"+strconv.Itoa(e.UID))) {
		t.Error(s, err)
	}
}

// TestNSPurgeStaysOnItsFilesystem: what is mounted in the trash is not deleted.
func TestNSPurgeStaysOnItsFilesystem(t *testing.T) {
	e, _ := namespace(t)
	build(t, e.Dir, "d/f=1", "d/m/", "d/b/", "src/precious=1")
	put(t, e, "-r", "d")
	m, b := filepath.Join(trashDir(e), "files/d/m"), filepath.Join(trashDir(e), "files/d/b")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, "precious")
	mountAt(t, filepath.Join(e.Dir, "src"), b, "", unix.MS_BIND, "")
	e.MountInfo = noMounts(t)
	outs := Purge(e, list(t, e))
	if outs[0].Err == nil || !strings.Contains(outs[0].Err.Error(), "another filesystem is mounted there (and 1 more)") {
		t.Error(outs[0].Err)
	}
	if !there(filepath.Join(m, "precious")) || !there(filepath.Join(e.Dir, "src/precious")) {
		t.Error("deleted what is mounted")
	}
	if there(filepath.Join(trashDir(e), "files/d/f")) {
		t.Error("did not go on")
	}
	unix.Unmount(m, unix.MNT_DETACH)
	unix.Unmount(b, unix.MNT_DETACH)
	if outs := Purge(e, list(t, e)); outs[0].Err != nil {
		t.Error(outs[0].Err)
	}
}

// TestNSRestoreFails: where it cannot be restored to, it stays in the trash,
// whole, and nothing is left beside the target.
func TestNSRestoreFails(t *testing.T) {
	for name, c := range map[string]struct {
		flags uintptr
		data  string
		want  string
	}{
		"read-only": {unix.MS_RDONLY, "mode=0755", "Read-only file system"},
		"full":      {0, "mode=0755,size=64k", "No space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := namespace(t)
			e.MountInfo = noMounts(t)
			write(t, filepath.Join(e.Dir, "d/s/big"), strings.Repeat("0123456789abcdef", 16<<10))
			write(t, filepath.Join(e.Dir, "d/a"), "1")
			before := tree(t, filepath.Join(e.Dir, "d"))
			put(t, e, "-r", "d")
			m := filepath.Join(e.Dir, "m")
			mountAt(t, "tmpfs", m, "tmpfs", c.flags, c.data)
			items, _ := List(e)
			o := Restore(e, items, RestoreOptions{To: m})
			if len(o) != 1 || o[0].Err == nil || !strings.Contains(o[0].Err.Error(), c.want) || strings.Contains(o[0].Err.Error(), "\n") {
				t.Fatalf("%+v", o)
			}
			if got := tree(t, items[0].DataPath()); got != before {
				t.Errorf("before\n%safter\n%s", before, got)
			}
			if es, _ := os.ReadDir(m); len(es) != 0 {
				t.Error("left: ", es)
			}
			if es, _ := filepath.Glob(filepath.Join(trashDir(e), notePrefix+"*")); c.flags == 0 && len(es) != 0 {
				t.Error("left: ", es)
			}
			if o := Restore(e, items, RestoreOptions{}); o[0].Err != nil || tree(t, filepath.Join(e.Dir, "d")) != before {
				t.Error(o[0].Err)
			}
		})
	}
}

// TestNSPurgeReadOnly: a trash on a read-only file system is listed, and what
// is in it stays listed.
func TestNSPurgeReadOnly(t *testing.T) {
	e, _ := namespace(t)
	m := filepath.Join(e.Dir, "m")
	mountAt(t, "tmpfs", m, "tmpfs", 0, "mode=0755")
	build(t, m, "d/a=1", "f=1")
	put(t, e, "-r", "m/d", "m/f")
	if err := unix.Mount("", m, "", unix.MS_REMOUNT|unix.MS_RDONLY, "mode=0755"); err != nil {
		t.Skip("cannot remount: ", err)
	}
	items := mine(t, e)
	if len(items) != 2 {
		t.Fatalf("%+v", items)
	}
	for _, o := range append(Purge(e, items), Restore(e, items, RestoreOptions{})...) {
		if o.Err == nil || strings.Contains(o.Err.Error(), "\n") {
			t.Errorf("%s: %v", o.Item.Path, o.Err)
		}
	}
	if items := mine(t, e); len(items) != 2 {
		t.Errorf("%+v", items)
	}
}

func TestNSPseudoFilesystems(t *testing.T) {
	e, _ := namespace(t)
	m := filepath.Join(e.Dir, "proc")
	mountAt(t, "proc", m, "proc", 0, "")
	if r := Put(e, Config{}, "rm", []string{"proc/version"}, "/bin/false"); !r.ExecReal {
		t.Errorf("%+v", r)
	}
}
