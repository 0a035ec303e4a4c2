package trash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestKilled stops a put at each of its steps: the file is in its place or can
// be restored, and the next put works.
func TestKilled(t *testing.T) {
	for _, step := range []string{"create-info", "write-info", "rename", "rename-flag", "done"} {
		t.Run(step, func(t *testing.T) {
			e, _, _ := scratchEnv(t)
			build(t, e.Dir, "d/a=1", "d/b=2")
			before := tree(t, filepath.Join(e.Dir, "d"))
			if out, err := inChild(t, putRequest{Home: e.Home, Dir: e.Dir, Args: []string{"-r", "d"}, Die: step}); err == nil {
				t.Fatal("it lived", out)
			}
			if !there(filepath.Join(e.Dir, "d")) {
				items := list(t, e)
				if len(items) != 1 {
					t.Fatalf("lost: %+v", items)
				}
				if o := Restore(withMounts(t, e), items, RestoreOptions{})[0]; o.Err != nil {
					t.Fatal(o.Err)
				}
			} else if items := list(t, e); len(items) != 0 {
				t.Errorf("listed, but not there: %+v", items)
			}
			if after := tree(t, filepath.Join(e.Dir, "d")); after != before {
				t.Errorf("before\n%safter\n%s", before, after)
			}
			put(t, e, "-r", "d")
			if items := list(t, e); len(items) != 1 {
				t.Errorf("%+v", items)
			}
			// What is left of it goes after an hour, and not before.
			infos := func() int { es, _ := os.ReadDir(filepath.Join(trashDir(e), "info")); return len(es) }
			left := infos()
			Sweep(withMounts(t, e))
			if infos() != left {
				t.Error("a fresh information file was removed")
			}
			e.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
			Sweep(withMounts(t, e))
			if infos() != 1 {
				t.Error("an old information file without data stays")
			}
		})
	}
}

func TestFailingSteps(t *testing.T) {
	defer func() { testOnlyStep = nil }()
	for _, c := range []struct {
		step string
		err  error
		want string
	}{
		{"create-info", unix.ENOSPC, "cannot write to the trash"},
		{"create-info", unix.EACCES, "Permission denied"},
		{"create-info", unix.EMFILE, "Too many open files"},
		{"write-info", unix.EDQUOT, "Disk quota exceeded; the trash is empty; make room, see: df -h /"},
		{"write-info", unix.EIO, "Input/output error"},
		{"create-info", unix.EEXIST, "File exists"},
		{"rename", unix.EBUSY, "rm: cannot remove 'a': Device or resource busy\n"},
		{"rename", unix.ENOENT, "the trash went away"},
		{"rename", unix.EIO, "rm: cannot remove 'a': Input/output error\n"},
	} {
		e, _, errw := scratchEnv(t)
		build(t, e.Dir, "a=1")
		tries := 0
		testOnlyStep = func(s string) error {
			if s != c.step {
				return nil
			}
			if tries++; tries > 100 {
				t.Fatal("endless tries")
			}
			return c.err
		}
		if r := Put(e, Config{}, "rm", []string{"a"}, ""); r.Code != 1 || !strings.Contains(errw.String(), c.want) || strings.Count(errw.String(), "\n") != 1 {
			t.Errorf("%s %v: %d, %s", c.step, c.err, r.Code, errw.String())
		}
		if c.err != unix.EEXIST && tries != 1 {
			t.Errorf("%s %v: %d tries", c.step, c.err, tries)
		}
		testOnlyStep = nil
		if b, _ := os.ReadFile(filepath.Join(e.Dir, "a")); string(b) != "1" {
			t.Errorf("%s %v: the file is gone", c.step, c.err)
		}
		if es, _ := os.ReadDir(filepath.Join(trashDir(e), "info")); len(es) != 0 {
			t.Errorf("%s %v: the information stays", c.step, c.err)
		}
	}
}

// TestNoRenameFlag is a filesystem without RENAME_NOREPLACE.
func TestNoRenameFlag(t *testing.T) {
	defer func() { testOnlyStep = nil }()
	testOnlyStep = func(s string) error {
		if s == "rename-flag" {
			return unix.EINVAL
		}
		return nil
	}
	e, _, _ := scratchEnv(t)
	for range 3 {
		build(t, e.Dir, "a=1", "d/x=2", "l->a", "e/")
		before := tree(t, e.Dir)
		put(t, e, "-r", "a", "d", "l", "e")
		sel, _ := Select(list(t, e), Selection{Last: true}, time.Now())
		for _, o := range Restore(withMounts(t, e), sel, RestoreOptions{}) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
		}
		if after := tree(t, e.Dir); after != before {
			t.Fatalf("before\n%safter\n%s", before, after)
		}
		put(t, e, "-r", "a", "d", "l", "e")
	}
	if items := list(t, e); len(items) != 12 {
		t.Errorf("%d items", len(items))
	}
}
