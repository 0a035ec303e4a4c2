package trash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// trashCLI runs a program of trash-cli in e.
func trashCLI(t *testing.T, e Env, stdin, prog string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(prog); err != nil {
		t.Skip("needs " + prog)
	}
	cmd := exec.Command(prog, args...)
	cmd.Dir, cmd.Stdin = e.Dir, strings.NewReader(stdin)
	cmd.Env = []string{"HOME=" + e.Home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	if tz, ok := os.LookupEnv("TZ"); ok { // dates are local time
		cmd.Env = append(cmd.Env, "TZ="+tz)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", prog, err, out)
	}
	return string(out)
}

var interopNames = []string{"plain", "with space", "a+b", "100%", "%41", "é", "semi;colon", "q?uestion", "#hash", "[x]", "new\nline", "tab\t", "'", `"`, `back\slash`}

func TestTrashListReadsOurs(t *testing.T) {
	e, _, _ := scratchEnv(t)
	e.Session = "x=1"
	e.Now = at("2020-02-03T04:05:06")
	for _, n := range interopNames {
		build(t, e.Dir, n)
		put(t, e, "--", n)
	}
	build(t, e.Dir, "d/x/y")
	put(t, e, "-r", "d")
	out := trashCLI(t, e, "", "trash-list")
	for _, n := range append([]string{"d"}, interopNames...) {
		if want := "2020-02-03 04:05:06 " + filepath.Join(e.Dir, n) + "\n"; !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	// trash-rm knows ours by its path (a name alone would match in every trash).
	trashCLI(t, e, "", "trash-rm", filepath.Join(e.Dir, "with space"))
	items := list(t, e)
	for _, it := range items {
		if filepath.Base(it.Path) == "with space" {
			t.Error("trash-rm left", it.Path)
		}
	}
	if len(items) != len(interopNames) {
		t.Errorf("%d items", len(items))
	}
	trashCLI(t, e, "", "trash-empty", "--trash-dir="+trashDir(e))
	if items := list(t, e); len(items) != 0 {
		t.Error(items)
	}
}

func TestTrashRestoreRestoresOurs(t *testing.T) {
	for _, n := range interopNames {
		e, _, _ := scratchEnv(t)
		build(t, e.Dir, n+"=content")
		if strings.Contains(n, "=") {
			continue
		}
		put(t, e, "--", n)
		if there(filepath.Join(e.Dir, n)) {
			t.Fatal("not trashed")
		}
		trashCLI(t, e, "0\n", "trash-restore")
		if b, err := os.ReadFile(filepath.Join(e.Dir, n)); string(b) != "content" {
			t.Errorf("%q: %v", n, err)
		}
	}
}

func TestOursRestoresTrashPut(t *testing.T) {
	e, _, _ := scratchEnv(t)
	for _, n := range interopNames {
		build(t, e.Dir, n+"=content")
	}
	build(t, e.Dir, "d/x/y=1", "l->nowhere")
	before := tree(t, e.Dir)
	start := time.Now().Add(-2 * time.Second)
	trashCLI(t, e, "", "trash-put", append([]string{"--", "d", "l"}, interopNames...)...)
	if es, _ := os.ReadDir(e.Dir); len(es) != 0 {
		t.Fatal(es)
	}
	items := list(t, e)
	if len(items) != len(interopNames)+2 {
		t.Fatalf("%d items", len(items))
	}
	for _, it := range items {
		if it.Problem != "" || it.Group != "" || it.Deleted.Before(start) || it.Deleted.After(time.Now()) {
			t.Errorf("%+v", it)
		}
	}
	// Both in one trash, and no name is used twice.
	build(t, e.Dir, "plain=ours")
	put(t, e, "plain")
	if o := Purge(withMounts(t, e), list(t, e)[:1]); o[0].Err != nil || o[0].Item.Name == "plain" {
		t.Errorf("%+v", o)
	}
	if _, errs := restoreAll(t, e, Selection{All: true}, RestoreOptions{}); len(errs) > 0 {
		t.Error(errs)
	}
	if after := tree(t, e.Dir); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	if strings.Contains(trashCLI(t, e, "", "trash-list"), e.Dir) {
		t.Error("something is left: ", fmt.Sprint(list(t, e)))
	}
}

// TestRestoreParentsUnknown: what another program trashed does not say how they
// were.
func TestRestoreParentsUnknown(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	e, _, _ := scratchEnv(t)
	build(t, trashDir(e), "files/f=1", "info/f.trashinfo=[Trash Info]\nPath="+e.Dir+"/p/q/f\n")
	if _, errs := restoreAll(t, e, Selection{All: true}, RestoreOptions{Parents: true}); len(errs) != 0 {
		t.Error(errs)
	}
	for _, p := range []string{"p", "p/q"} {
		if fi, err := os.Stat(filepath.Join(e.Dir, p)); err != nil || fi.Mode().Perm() != 0o750 {
			t.Error(p, fi, err)
		}
	}
	if !there(filepath.Join(e.Dir, "p/q/f")) {
		t.Error("not restored")
	}
}
