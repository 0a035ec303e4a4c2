package trash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestChrootWithProc(t *testing.T)    { testChroot(t, true) }
func TestChrootWithoutProc(t *testing.T) { testChroot(t, false) }

// testChroot is for the commands that nobody may try where it matters: this
// process's root directory is a temporary one from here on.
func testChroot(t *testing.T, proc bool) {
	e, _ := namespace(t)
	root := e.Dir
	mountAt(t, "tmpfs", root, "tmpfs", 0, "mode=0755")
	build(t, root, "etc/passwd=x", "usr/bin/x", "usr/share/doc/y", "bin->usr/bin", "var/lib/z", "home/u/f", "home/u/.local/", "root/", "proc/", "tmp/ 01777", "srv/data/x", "mnt/all/")
	if proc {
		mountAt(t, "proc", filepath.Join(root, "proc"), "proc", 0, "")
	}
	if err := unix.Chroot(root); err != nil {
		t.Skip("cannot chroot: ", err)
	}
	//nolint:usetesting // there is no way back from the new root
	if err := os.Chdir("/"); err != nil {
		t.Fatal(err)
	}
	if testing.CoverMode() != "" {
		for _, dir := range []string{os.TempDir(), os.Getenv("SAFESHELL_COVERDIR")} { // coverage is written at the end, from in here
			if err := os.MkdirAll(dir, 0o755); err != nil && dir != "" {
				t.Fatal(err)
			}
		}
	}
	if there("/" + filepath.Base(os.Args[0])) {
		t.Fatal("not in the new root")
	}
	if err := unix.Mount("/", "/mnt/all", "", unix.MS_BIND, ""); err != nil {
		t.Skip("cannot mount: ", err)
	}
	var errw strings.Builder
	e = Env{Home: "/home/u", Dir: "/home/u", Stderr: &errw, UID: 0, SafeshellHome: "/home/u/.safeshell", Ancestors: func() []string { return nil }}
	snapshot := func() string {
		s := ""
		for _, d := range []string{"/etc", "/usr", "/bin", "/var", "/home", "/root", "/srv"} {
			s += tree(t, d)
		}
		return s
	}
	before := snapshot()
	const dangerous = "rm: it is dangerous to operate recursively on %s\nrm: use --no-preserve-root to override this failsafe\n"
	for args, want := range map[string]string{
		"-rf /":                    fmt.Sprintf(dangerous, "'/'"),
		"-rf //":                   fmt.Sprintf(dangerous, "'//' (same as '/')"),
		"-rf ///":                  fmt.Sprintf(dangerous, "'/'"),
		"-rf /mnt/all":             fmt.Sprintf(dangerous, "'/mnt/all' (same as '/')"),
		"-rf /mnt/all/":            fmt.Sprintf(dangerous, "'/mnt/all/' (same as '/')"),
		"-rf ../..":                "rm: refusing to remove '.' or '..' directory: skipping '../..'\n",
		"-rf /etc/../":             "rm: refusing to remove '.' or '..' directory: skipping '/etc/../'\n",
		"/":                        "rm: cannot remove '/': Is a directory\n",
		"-d /":                     "rm: cannot remove '/': Directory not empty\n",
		"-rf --no-preserve-root /": "rm: it is dangerous to operate recursively on '/'\nrm: --no-preserve-root does not override this failsafe here\n",
		"-rf /etc":                 "rm: refusing to remove '/etc': it is a system directory\n",
		"-rf /bin":                 "rm: refusing to remove '/bin': it is a system directory\n",
		"-rf /bin/":                "",
		"-rf /usr/bin /var/lib":    "rm: refusing to remove '/usr/bin': it is a system directory\nrm: refusing to remove '/var/lib': it is a system directory\n",
		"-rf ../../home":           "rm: refusing to remove '../../home': it is a system directory\n",
		"-rf ../u":                 "rm: refusing to remove '../u': it is your home directory\n",
		"-rf /usr":                 "rm: refusing to remove '/usr': it is a system directory\n",
		"-rf /tmp":                 "rm: refusing to remove '/tmp': it is a system directory\n",
	} {
		errw.Reset()
		r := Put(e, Config{}, "rm", strings.Fields(args), "")
		if errw.String() != want || (r.Code == 0) != (want == "") || r.ExecReal || len(r.Moved) > 0 {
			t.Errorf("rm %s: %+v\n%s", args, r, errw.String())
		}
	}
	if after := snapshot(); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	// What is in a system directory may go, and comes back.
	r := Put(e, Config{}, "rm", []string{"-r", "/srv/data", "/usr/share/doc"}, "")
	if r.Code != 0 || len(r.Moved) != 2 {
		t.Errorf("%+v %s", r, errw.String())
	}
	if proc {
		items, errs := List(e)
		if len(items) != 2 {
			t.Errorf("%+v %v", items, errs)
		}
		for _, o := range Restore(e, items, RestoreOptions{}) {
			if o.Err != nil {
				t.Error(o.Err)
			}
		}
		os.RemoveAll("/home/u/.local/share")
		if after := snapshot(); after != before {
			t.Errorf("before\n%safter\n%s", before, after)
		}
	}
}
