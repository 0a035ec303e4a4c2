//go:build amd64 || arm64

package trash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/faulttest"
)

// layout is what is mounted for a scenario: below mountDir are the home, the work
// directory or both, on an overlay whose lower layer they come from, or on a bind
// mount of their own file system. The zero layout mounts nothing.
type layout struct {
	name   string
	fstype string // overlay or bind
	home   bool   // the home is on it
	work   bool   // the work directory is on it
	// top is what the mount of the work directory is taken for: with noTrash it
	// has none of its own.
	top string
	// image: all is in lower layers when the operation starts, also what is in the
	// trash; as in a container that was made of a committed one.
	image bool
}

// mountDir is the mount point in the root of a stage.
const mountDir = "m"

func layouts() []layout {
	return []layout{
		{name: "on overlay", fstype: "overlay", home: true, work: true, top: "overlay"},
		{name: "on overlay, image", fstype: "overlay", home: true, work: true, top: "overlay", image: true},
		{name: "from overlay, own trash", fstype: "overlay", work: true, top: "overlay"},
		{name: "from overlay, image, own trash", fstype: "overlay", work: true, top: "overlay", image: true},
		{name: "from overlay", fstype: "overlay", work: true, top: noTrash},
		{name: "to overlay", fstype: "overlay", home: true, top: noTrash},
		{name: "to overlay, image", fstype: "overlay", home: true, top: noTrash, image: true},
		{name: "from bind mount, own trash", fstype: "bind", work: true, top: "ext4"},
		{name: "from bind mount", fstype: "bind", work: true, top: noTrash},
		{name: "to bind mount", fstype: "bind", home: true, top: noTrash},
	}
}

// mountedFaults are the errors of the issue; EINTR and EPERM are tried where
// nothing is mounted.
var mountedFaults = []syscall.Errno{faulttest.Dies, unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EXDEV, unix.EROFS, unix.EACCES, unix.ENAMETOOLONG, unix.EMFILE}

// mountedScenarios are the operations for a layout.
func mountedScenarios(l layout) (out []scenario) {
	files := []string{"f=1", "d/a=22", "d/s/l->../a"}
	add := func(sc scenario) {
		sc.on, sc.name = l, sc.name+" "+l.name
		out = append(out, sc)
	}
	add(scenario{name: "restore", files: files, trash: []string{"-r", "d", "f"}, job: job{Op: faulttest.Restore}})
	if l.home || l.top != noTrash {
		add(scenario{name: "purge", files: files, trash: []string{"-r", "d", "f"}, job: job{Op: faulttest.Purge}})
	}
	if l.image { // as without
		return out
	}
	add(scenario{name: "put", files: files, job: job{Op: faulttest.Put, Args: []string{"-r", "f", "d"}}})
	add(scenario{name: "restore over a file", files: files[:1], trash: []string{"f"}, more: func(t *testing.T, e Env) {
		write(t, filepath.Join(e.Dir, "f"), "newer")
	}, job: job{Op: faulttest.Restore, Options: RestoreOptions{Overwrite: true}}})
	return out
}

// mounted is what a stage has mounted.
type mounted struct {
	layout
	root, point, upper string
	under              []string // layers, the uppermost first
	n                  int
}

// mount makes the files and mounts what the layout has.
func (st *stage) mount(t *testing.T) {
	t.Helper()
	under, point := filepath.Join(st.root, "under"), filepath.Join(st.root, mountDir)
	on := func(here bool, name string) string {
		if !here {
			return filepath.Join(st.root, name)
		}
		if err := os.MkdirAll(filepath.Join(under, name), 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(point, name)
	}
	st.e.Home, st.e.Dir = on(st.on.home, "home"), on(st.on.work, "w")
	files := st.e.Dir
	if st.on.work {
		files = filepath.Join(under, "w")
	}
	build(t, files, st.files...)
	if err := os.MkdirAll(point, 0o755); err != nil {
		t.Fatal(err)
	}
	st.mnt = mounted{layout: st.on, root: st.root, point: point, under: []string{under}}
	st.mnt.mount(t)
	st.mountTable(t)
}

// commit makes what there is the lower layers of a new mount.
func (st *stage) commit(t *testing.T) {
	t.Helper()
	st.mnt.unmount()
	st.mnt.under = append([]string{st.mnt.upper}, st.mnt.under...)
	st.mnt.mount(t)
	st.mountTable(t)
}

func (st *stage) mountTable(t *testing.T) {
	t.Helper()
	switch {
	case st.on.home && st.on.work:
		st.topDirs(t, st.mnt.point, st.on.top)
	case st.on.work:
		st.topDirs(t, st.mnt.point, st.on.top, st.root, "ext4")
	default:
		st.topDirs(t, st.root, st.on.top, st.mnt.point, "ext4")
	}
}

func (m *mounted) mount(t *testing.T) {
	t.Helper()
	if m.fstype == "bind" {
		if err := unix.Mount(m.under[0], m.point, "", unix.MS_BIND, ""); err != nil {
			t.Skip("cannot mount: ", err)
		}
		return
	}
	m.n++
	m.upper = filepath.Join(m.root, fmt.Sprint("upper", m.n))
	work := filepath.Join(m.root, fmt.Sprint("work", m.n))
	for _, d := range []string{m.upper, work} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Without redirect_dir, as is usual, a directory of a lower layer cannot be
	// renamed.
	data := "redirect_dir=off,lowerdir=" + strings.Join(m.under, ":") + ",upperdir=" + m.upper + ",workdir=" + work
	if err := unix.Mount("overlay", m.point, "overlay", 0, data); err != nil {
		t.Skip("cannot mount overlay: ", err)
	}
}

func (m *mounted) unmount() {
	if m.point != "" {
		_ = unix.Unmount(m.point, unix.MNT_DETACH)
	}
}

// TestFaultsMounted is TestFaults with the trash or the files on overlay and
// bind mounts, in a mount namespace of its own.
//
//	go test ./trash -run FaultsMounted -trash.full -trash.seed=N
func TestFaultsMounted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount")
	}
	args := []string{fmt.Sprintf("-trash.seed=%d", *seed), fmt.Sprintf("-trash.full=%t", *full), fmt.Sprint("-trash.for=", *sweepFor)}
	out, err := reexec(t, t.TempDir(), "^TestInNSFaults$", nsEnv+"=1", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}, args...)
	tried := 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "faults: ") {
			fmt.Print(line)
			tried++
		}
	}
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(out, "--- SKIP"):
		t.Skip("needs mounts, as the test inside says: ", out)
	case tried == 0:
		t.Errorf("nothing was tried: %s", out)
	}
}

// TestInNSFaults is what TestFaultsMounted runs.
func TestInNSFaults(t *testing.T) {
	e, _ := namespace(t)
	base := filepath.Join(filepath.Dir(e.Dir), "faults")
	mountAt(t, "tmpfs", base, "tmpfs", 0, "mode=0755")
	rnd := rand.New(rand.NewPCG(*seed, 1))
	var all int
	for _, l := range layouts() {
		all += len(mountedScenarios(l))
	}
	for _, l := range layouts() {
		for _, sc := range mountedScenarios(l) {
			t.Run(sc.name, func(t *testing.T) {
				if *full {
					t.Parallel()
				}
				runFaults(t, sc, base, rnd, mountedFaults, 1, *sweepFor/time.Duration(all))
			})
		}
	}
}
