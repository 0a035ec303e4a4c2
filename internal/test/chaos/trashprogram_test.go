package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/faulttest"
)

// What the sweep of the real program has found, most with an error that stays:
// what cannot be looked at is neither removed for good nor passed over.
func TestTrashProgramFindings(t *testing.T) {
	binary := testBinary(t)
	info := func(c faulttest.Call) bool {
		return strings.HasSuffix(c.Paths[0], "info/f.trashinfo")
	}
	for _, c := range []struct {
		name, of string
		hit      func(faulttest.Call) bool
		errno    syscall.Errno
		code     int
		says     string
	}{
		{"work tree", "rm to another file system", func(c faulttest.Call) bool { return filepath.Base(c.Paths[0]) == ".git" }, unix.EIO, 0, ""},
		{"operand, once", "rm a file", func(c faulttest.Call) bool { return strings.HasSuffix(c.Paths[0], "/w/f") }, unix.EACCES, 1, "cannot remove 'f': Permission denied"},
		{"restore", "restore", info, unix.EIO, 1, "it is not known whether f, which is in the trash, is meant"},
		{"restore, opening", "restore with parents", info, unix.EMFILE, 1, "it is not known whether f, which is in the trash, is meant"},
		{"purge", "purge", info, unix.EIO, 1, "it is not known whether f, which is in the trash, is meant"},
		{"empty", "empty", func(c faulttest.Call) bool { return strings.HasSuffix(c.Paths[0], "Trash/info") }, unix.EIO, 1, "Input/output error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases := trashCases()
			of := cases[slices.IndexFunc(cases, func(tc trashCase) bool { return tc.name == c.of })]
			r := newRun(t, trashProgramRow)
			r.binary = binary
			w := &trashWorld{r: r, c: of, seen: map[string]bool{}, dir: filepath.Join(r.work, "w")}
			done, err := w.make()
			defer done()
			if errors.Is(err, faulttest.ErrUnsupported) || err == nil && w.work == "" {
				t.Skip("needs seccomp user notifications and a place for the trash: ", err, r.notes)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := w.reset(); err != nil {
				t.Fatal(err)
			}
			hits := 0
			res, err := w.command(func(call faulttest.Call) syscall.Errno {
				if !c.hit(call) || hits > 0 && strings.HasSuffix(c.name, "once") {
					return 0
				}
				hits++
				return c.errno
			}, of.argv)
			if err != nil {
				t.Fatal(err)
			}
			if hits == 0 || res.Code != c.code || !strings.Contains(res.Stderr, c.says) {
				t.Errorf("%d hits, exit %d, %s", hits, res.Code, res.Stderr)
			}
			bad, err := w.after(res)
			if err != nil || len(bad) > 0 {
				t.Error(err, bad)
			}
		})
	}
}
