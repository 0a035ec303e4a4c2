package trash

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestHostileTrash: what stands in info/ and beside it is no file, or not what
// it seems. Nothing waits for it, leaves the trash for it, or destroys more than
// it was told to.
func TestHostileTrash(t *testing.T) {
	e, _, _ := scratchEnv(t)
	e = withMounts(t, e)
	outside := filepath.Join(filepath.Dir(e.Dir), "outside")
	dir := trashDir(e)
	build(t, outside, "precious=1", copyPrefix+"planted=1", "dir/x=2")
	build(t, dir, "files/", "info/")
	// Information that is no file.
	for _, kind := range []string{"fifo", "dir", "link", "loop", "socket", "huge", "newline", "percent", "slashes", "parent"} {
		build(t, dir, "files/"+kind+"=x")
	}
	info := func(name string) string { return filepath.Join(dir, "info", name+infoSuffix) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(unix.Mkfifo(info("fifo"), 0o600))
	must(os.MkdirAll(info("dir")+"/sub", 0o700))
	must(os.Symlink(filepath.Join(outside, "precious"), info("link")))
	must(os.Symlink(info("loop"), info("loop")))
	must(unix.Mknod(info("socket"), unix.S_IFSOCK|0o600, 0))
	write(t, info("huge"), "[Trash Info]\nPath="+e.Dir+"/"+strings.Repeat("a", maxInfo)+"\n")
	must(os.Truncate(info("huge"), 8<<30))
	write(t, info("newline"), "[Trash Info]\nPath="+e.Dir+"/a%0Ab%0D%1B[31m\n")
	write(t, info("percent"), "[Trash Info]\nPath="+e.Dir+"/%2e%2e/%2E%2e/outside/escaped\n")
	write(t, info("slashes"), "[Trash Info]\nPath=/"+e.Dir+"//./b//c\n")
	// The parents are links: for the home trash that is how it was.
	must(os.Symlink(outside, filepath.Join(e.Dir, "way")))
	write(t, info("parent"), "[Trash Info]\nPath="+e.Dir+"/way/precious\n")
	// Data that is no file.
	must(unix.Mkfifo(filepath.Join(dir, "files/pipe"), 0o600))
	write(t, info("pipe"), "[Trash Info]\nPath="+e.Dir+"/pipe\n")
	must(os.Symlink(outside, filepath.Join(dir, "files/out")))
	write(t, info("out"), "[Trash Info]\nPath="+e.Dir+"/out\n")
	// Our own files.
	must(unix.Mkfifo(filepath.Join(dir, sizesName), 0o600))
	must(unix.Mkfifo(filepath.Join(dir, notePrefix+"fifo"), 0o600))
	must(os.Mkdir(filepath.Join(dir, notePrefix+"dir"), 0o700))
	must(os.Symlink(filepath.Join(outside, "precious"), filepath.Join(dir, notePrefix+"link")))
	write(t, filepath.Join(dir, notePrefix+"other"), filepath.Join(outside, "precious"))
	write(t, filepath.Join(dir, notePrefix+"up"), filepath.Join(outside, "dir/..", copyPrefix+"up/.."))
	write(t, filepath.Join(dir, notePrefix+"rel"), copyPrefix+"rel")
	must(os.Symlink(outside, filepath.Join(dir, "files", partialPrefix+"out")))
	before := tree(t, outside)

	done := make(chan bool)
	go func() {
		defer close(done)
		items, errs := List(e)
		if len(items) != 12 || len(errs) != 0 {
			t.Errorf("%d items, %v", len(items), errs)
		}
		Sizes(e, items)
		for _, it := range items {
			if strings.Contains(it.Problem, "\n") {
				t.Errorf("%q", it.Problem)
			}
		}
		for _, o := range Restore(e, items, RestoreOptions{Overwrite: false, Parents: true}) {
			good := map[string]string{"newline": "a\nb\r\x1b[31m", "slashes": "b/c", "pipe": "pipe", "out": "out"}[o.Item.Name]
			switch {
			case (o.Err == nil) != (good != ""):
				t.Errorf("%s: %v", o.Item.Name, o.Err)
			case o.Err == nil && o.Path != filepath.Join(e.Dir, good):
				t.Errorf("%s: at %s", o.Item.Name, o.Path)
			case o.Err != nil && strings.ContainsAny(o.Err.Error(), "\n\x1b"):
				t.Errorf("%q", o.Err)
			}
		}
		later := e
		later.Now = func() time.Time { return time.Now().Add(48 * time.Hour) }
		for _, o := range Evict(later, Config{MaxBytes: 1}).Quota {
			t.Errorf("evicted %+v", o)
		}
		items, _ = List(e)
		for _, o := range Purge(e, items) {
			if o.Err != nil && o.Item.Name != "dir" {
				t.Errorf("%s: %v", o.Item.Name, o.Err)
			}
		}
		Empty(later)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
	}
	if after := tree(t, outside); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	if items, _ := List(e); len(items) != 0 {
		t.Errorf("%+v", items)
	}
}

// TestPermissionClosedTopTrash: a trash of one's own that cannot be looked into is
// told of; what lies in somebody else's mount is not.
func TestPermissionClosedTopTrash(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs a user whom permissions bind; TestAsUser runs it")
	}
	e, _, _ := scratchEnv(t)
	own := ".Trash-" + strconv.Itoa(e.UID)
	build(t, e.Dir, own+"/files/f", own+"/info/f.trashinfo=[Trash Info]\nPath=f\n", own+"/files/ 0700", own+"/info/ 0700", own+"/ 0000")
	e.MountInfo = filepath.Join(e.Home, "mountinfo")
	write(t, e.MountInfo, "7 1 8:1 / "+e.Dir+" rw - ext4 x rw\n")
	if items, errs := List(e); len(items) != 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), own) || !strings.Contains(errs[0].Error(), "Permission denied") {
		t.Error(items, errs)
	}
	if err := os.Chmod(e.Dir, 0); err != nil {
		t.Fatal(err)
	}
	if items, errs := List(e); len(items)+len(errs) != 0 {
		t.Error(items, errs)
	}
}
