//go:build amd64 || arm64

package trash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/faulttest"
)

// faults are the errors that each call is made to fail with.
var faults = []syscall.Errno{faulttest.Dies, unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EXDEV, unix.EROFS, unix.EACCES, unix.EPERM, unix.ENAMETOOLONG, unix.EMFILE, unix.EINTR}

// scenario is an operation whose every call is to fail once.
type scenario struct {
	name  string
	files []string // in the work directory, for build
	trash []string // rm's arguments for what is in the trash at the start
	more  func(t *testing.T, e Env)
	job   job
	// standing is what the file system cannot do in all of the run.
	standing faulttest.Verdict
	noFlag   bool
	other    bool // the work directory is on another file system than the home
	on       layout
	moved    func(path string) string
}

// across is a border between the directories of the work and those of the trash.
func across(c faulttest.Call) syscall.Errno {
	if c.Nr == unix.SYS_RENAMEAT2 && uint32(c.Args[0]) != uint32(c.Args[2]) {
		return unix.EXDEV
	}
	return 0
}

// noFlag is a file system without RENAME_NOREPLACE.
func noFlag(c faulttest.Call) syscall.Errno {
	if c.Nr == unix.SYS_RENAMEAT2 && c.Args[4] != 0 {
		return unix.EINVAL
	}
	return 0
}

// stuck is a file system that renames no directory, as overlayfs one of a lower
// layer: what is to be deleted stays where it is.
func stuck(c faulttest.Call) syscall.Errno {
	if c.Nr == unix.SYS_RENAMEAT2 && strings.HasPrefix(filepath.Base(c.Paths[1]), partialPrefix) {
		return unix.EXDEV
	}
	return 0
}

var aTree = []string{"d/a=1", "d/s/b=22", "d/s/l->../a", "d/e/", "d/x=3 0755"}

func scenarios() []scenario {
	back := RestoreOptions{}
	return []scenario{
		{name: "put a file", files: []string{"f=1"}, job: job{Op: "put", Args: []string{"f"}}},
		{name: "put a link", files: []string{"f=1", "l->f"}, job: job{Op: "put", Args: []string{"l"}}},
		{name: "put a tree", files: aTree, job: job{Op: "put", Args: []string{"-rv", "d"}}},
		{name: "put several", files: append([]string{"f=1", "l->f", "g=2"}, aTree...), job: job{Op: "put", Args: []string{"-rf", "f", "d", "nope", "l", "g"}}},
		{name: "put a file by copy", files: []string{"f=1"}, job: job{Op: "put", Args: []string{"f"}}, standing: across},
		{name: "put a tree by copy", files: aTree, job: job{Op: "put", Args: []string{"-r", "d"}}, standing: across},
		{name: "put without the flag", files: append([]string{"f=1"}, aTree...), job: job{Op: "put", Args: []string{"-r", "f", "d"}}, standing: noFlag, noFlag: true},
		{name: "put to another file system", files: append([]string{"f=1"}, aTree...), job: job{Op: "put", Args: []string{"-r", "f", "d"}}, other: true},
		{name: "restore a file", files: []string{"f=1"}, trash: []string{"f"}, job: job{Op: "restore"}},
		{name: "restore a tree", files: append([]string{"f=1"}, aTree...), trash: []string{"-r", "d", "f"}, job: job{Op: "restore"}},
		{name: "restore with parents", files: []string{"p/q/f=1", "p/g=2"}, trash: []string{"p/q/f", "p/g"}, more: func(t *testing.T, e Env) {
			os.Remove(filepath.Join(e.Dir, "p/q"))
			os.Remove(filepath.Join(e.Dir, "p"))
		}, job: job{Op: "restore", Options: RestoreOptions{Parents: true}}},
		{name: "restore over a file", files: []string{"f=1"}, trash: []string{"f"}, more: func(t *testing.T, e Env) {
			write(t, filepath.Join(e.Dir, "f"), "newer")
		}, job: job{Op: "restore", Options: RestoreOptions{Overwrite: true}}},
		{name: "restore elsewhere", files: aTree, trash: []string{"-r", "d"}, job: job{Op: "restore", Options: RestoreOptions{To: "rescue", Parents: true}},
			moved: func(p string) string { return filepath.Join(filepath.Dir(p), "rescue", filepath.Base(p)) }},
		{name: "restore by copy", files: append([]string{"f=1"}, aTree...), trash: []string{"-r", "d", "f"}, job: job{Op: "restore", Options: back}, standing: across},
		{name: "restore over a file by copy", files: []string{"f=1"}, trash: []string{"f"}, more: func(t *testing.T, e Env) {
			write(t, filepath.Join(e.Dir, "f"), "newer")
		}, job: job{Op: "restore", Options: RestoreOptions{Overwrite: true}}, standing: across},
		{name: "restore without the flag", files: append([]string{"f=1"}, aTree...), trash: []string{"-r", "d", "f"}, job: job{Op: "restore"}, standing: noFlag, noFlag: true},
		{name: "restore to another file system", files: append([]string{"f=1"}, aTree...), trash: []string{"-r", "f", "d"}, job: job{Op: "restore"}, other: true},
		{name: "purge a file", files: []string{"f=1"}, trash: []string{"f"}, job: job{Op: "purge"}},
		{name: "purge trees", files: append([]string{"f=1", "g/h/i=2"}, aTree...), trash: []string{"-r", "d", "f", "g"}, job: job{Op: "purge"}},
		{name: "purge a tree that stays", files: aTree, trash: []string{"-r", "d"}, job: job{Op: "purge"}, standing: stuck},
		{name: "empty", files: append([]string{"f=1"}, aTree...), trash: []string{"-r", "d", "f"}, more: func(t *testing.T, e Env) {
			build(t, trashDir(e), "files/orphan/x=1", "files/.partial-abc/x=1", "info/nodata.trashinfo=[Trash Info]")
		}, job: job{Op: "empty"}},
	}
}

// stage is one copy of a scenario, ready to be run.
type stage struct {
	scenario
	faulttest.Tree
	root  string
	roots []string
	e     Env
	mnt   mounted
}

func (sc scenario) prepare(t *testing.T, root, elsewhere string) *stage {
	t.Helper()
	e, _, _ := envIn(t, root)
	st := &stage{scenario: sc, root: root, roots: []string{root}, e: e}
	switch {
	case sc.on.fstype != "":
		st.mount(t)
	case sc.other:
		st.roots = append(st.roots, elsewhere)
		st.e.Dir = filepath.Join(elsewhere, "w")
		build(t, st.e.Dir, sc.files...)
		st.topDirs(t, root, "ext4", elsewhere, noTrash)
	default:
		build(t, e.Dir, sc.files...)
		st.topDirs(t, root, "ext4") // where a put turns to when the home trash fails
	}
	e = st.e
	st.Tree = faulttest.Tree{Op: sc.job.Op, Dir: e.Dir, Was: faulttest.Picture(e.Dir, e.Dir), Moved: sc.moved, NoFlag: sc.noFlag}
	if sc.trash != nil {
		put(t, e, sc.trash...)
		for _, a := range sc.trash {
			if a[0] != '-' {
				st.Tops = append(st.Tops, filepath.Join(e.Dir, a))
			}
		}
	} else {
		for _, a := range sc.job.Args {
			if a[0] != '-' && a != "nope" {
				st.Tops = append(st.Tops, filepath.Join(e.Dir, a))
			}
		}
	}
	if sc.more != nil {
		sc.more(t, e)
	}
	if b, err := os.ReadFile(filepath.Join(e.Dir, "f")); err == nil && string(b) == "newer" {
		st.Newer = filepath.Join(e.Dir, "f")
	}
	if sc.on.image {
		st.commit(t)
	}
	st.job.Home, st.job.Dir, st.job.MountInfo = e.Home, e.Dir, e.MountInfo
	return st
}

// noTrash is a file system that has no trash of its own.
const noTrash = "cifs"

// topDirs writes what the run takes for the table of mounts: pairs of a
// directory and the type of its file system.
func (st *stage) topDirs(t *testing.T, pairs ...string) {
	t.Helper()
	mounts := ""
	for pair := range slices.Chunk(pairs, 2) {
		fi, err := statAt(atFDCWD, pair[0])
		if err != nil {
			t.Fatal(err)
		}
		mounts += fmt.Sprintf("%d 1 8:1 / %s rw - %s x rw\n", fi.mnt, pair[0], pair[1])
	}
	st.e.MountInfo = filepath.Join(st.root, "mountinfo")
	write(t, st.e.MountInfo, mounts)
}

// clean removes all that the stage has made.
func (st *stage) clean() {
	st.mnt.unmount()
	for _, r := range st.roots {
		unlockTree(r)
		os.RemoveAll(r)
	}
}

// after checks what an ended run has left.
func (st *stage) after(t *testing.T, res faulttest.Result) (bad []string) {
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	faulttest.Ended(res, []int{0, 1}, len(st.Tops)+1, say)
	st.Whole(st.items(say), res, say)
	// What the next one finds; later, so that nothing can be under way.
	later := st.e
	later.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	for _, err := range Sweep(later) {
		say("sweep: %v", err)
	}
	st.Whole(st.items(say), faulttest.Result{Killed: true}, say)
	own := ".Trash-" + fmt.Sprint(st.e.UID)
	for _, dir := range []string{trashDir(st.e), filepath.Join(st.root, own), filepath.Join(st.root, mountDir, own)} {
		faulttest.Litter(dir, []string{lockName, stampName, sizesName, ".gitignore"}, say)
	}
	faulttest.LeftBeside(st.e.Dir, say)
	st.again(t, later, say)
	return bad
}

func (st *stage) items(say func(string, ...any)) (out []faulttest.Item) {
	items, errs := List(st.e)
	for _, err := range errs {
		say("list: %v", err)
	}
	for _, it := range items {
		out = append(out, faulttest.Item{Name: it.Name, Path: it.Path, Problem: it.Problem, Data: it.DataPath()})
	}
	return out
}

// again does it all again without a fault: nothing that was left is in the way.
func (st *stage) again(t *testing.T, e Env, say func(string, ...any)) {
	var errw strings.Builder
	e.Stderr = &errw
	switch st.Op {
	case "put":
		args := append([]string{"-rf"}, st.Tops...)
		if r := Put(e, Config{}, "rm", args, ""); r.Code != 0 {
			say("a second rm: %s", errw.String())
		}
	case "restore":
		items, _ := List(e)
		for _, o := range Restore(e, items, RestoreOptions{To: "again", Parents: true}) {
			if o.Err != nil && !strings.Contains(o.Err.Error(), "at "+filepath.Join(e.Dir, "again")) {
				say("a second restore: %v", o.Err)
			}
		}
	default:
		outs, errs := Empty(e)
		for _, o := range outs {
			if o.Err != nil {
				errs = append(errs, o.Err)
			}
		}
		for _, err := range errs {
			say("a second purge: %v", err)
		}
		if items, _ := List(e); len(items) > 0 {
			say("a second purge left %d", len(items))
		}
	}
}

// TestTries: a name that is taken is tried 16 times at most, with others; other
// errors at once end it.
func TestTries(t *testing.T) {
	for _, errno := range []syscall.Errno{unix.EEXIST, unix.EACCES, unix.EPERM, unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EMFILE, unix.ENAMETOOLONG} {
		for _, nr := range []int32{unix.SYS_OPENAT, unix.SYS_RENAMEAT2} {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			st := scenario{files: []string{"f=1"}, job: job{Op: faulttest.Put, Args: []string{"f"}}}.prepare(t, root, "")
			tries := 0
			res, err := supervise(st.job, st.roots, func(c faulttest.Call) syscall.Errno {
				if c.Nr != nr || nr == unix.SYS_OPENAT && filepath.Ext(c.Paths[0]) != infoSuffix {
					return 0
				}
				tries++
				return errno
			})
			needsSupervision(t, err)
			want := 1
			if errno == unix.EEXIST {
				want = maxTries
			}
			if tries != want || res.Code != 1 || strings.Count(res.Stderr, "\n") != 1 {
				t.Errorf("%s: %d tries, exit %d, %s", unix.ErrnoName(errno), tries, res.Code, res.Stderr)
			}
			if bad := st.after(t, res); len(bad) > 0 {
				t.Errorf("%s: %q", unix.ErrnoName(errno), bad)
			}
		}
	}
}

// TestFaults kills each operation before each of its system calls, and fails
// each with each error: everything is in its place or can be restored, whole.
//
//	go test ./trash -run Faults -trash.full -trash.seed=N
func TestFaults(t *testing.T) {
	rnd := rand.New(rand.NewPCG(*seed, 0))
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unlockTree(base) })
	for _, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			if *full { // a sample is drawn from one source, in order
				t.Parallel()
			}
			runFaults(t, sc, base, rnd, faults, 6, *sweepFor/time.Duration(len(scenarios())))
		})
	}
}

// runFaults hits each call of sc once with each fault; in a sample most kill it
// and as many fail, or it is what fits into the share of time.
func runFaults(t *testing.T, sc scenario, base string, rnd *rand.Rand, faults []syscall.Errno, most int, share time.Duration) {
	elsewhere := ""
	if sc.other {
		dir, err := os.MkdirTemp("/dev/shm", "trash-faults")
		if err != nil {
			t.Skip("needs a tmpfs: ", err)
		}
		defer os.RemoveAll(dir)
		a, err1 := statAt(atFDCWD, dir)
		b, err2 := statAt(atFDCWD, base)
		if err1 != nil || err2 != nil || a.dev == b.dev {
			t.Skip("needs a second file system")
		}
		elsewhere = dir
	}
	n := 0
	run := func(decide func(c faulttest.Call) syscall.Errno) (*stage, faulttest.Result) {
		n++
		root := filepath.Join(base, strings.NewReplacer(" ", "-", ",", "").Replace(sc.name)+fmt.Sprint(n))
		there := filepath.Join(elsewhere, fmt.Sprint(n))
		st := sc.prepare(t, root, there)
		res, err := supervise(st.job, st.roots, func(c faulttest.Call) syscall.Errno {
			if errno := decide(c); errno != 0 {
				return errno
			}
			if sc.standing != nil {
				return sc.standing(c)
			}
			return 0
		})
		needsSupervision(t, err)
		return st, res
	}
	var calls []faulttest.Call
	st, res := run(func(c faulttest.Call) syscall.Errno { calls = append(calls, c); return 0 })
	if bad := st.after(t, res); len(bad) > 0 || res.Code != 0 {
		t.Fatalf("without a fault: %d, %s%q", res.Code, res.Stderr, bad)
	}
	st.clean()
	type point struct {
		n     int
		fault syscall.Errno
	}
	var points []point
	for _, c := range calls {
		for _, f := range faults {
			points = append(points, point{c.N, f})
		}
	}
	if !*full {
		rnd.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
	}
	if !*full && share == 0 {
		// As many that kill as that fail.
		kills, errs := 0, 0
		points = slices.DeleteFunc(points, func(p point) bool {
			n := &errs
			if p.fault == faulttest.Dies {
				n = &kills
			}
			*n++
			return *n > most
		})
	}
	tried, violations := 0, 0
	seen := map[string]int{}
	start := time.Now()
	for _, p := range points {
		if share > 0 && time.Since(start) > share {
			break
		}
		var at faulttest.Call
		st, res := run(func(c faulttest.Call) syscall.Errno {
			if c.N == p.n {
				at = c
				return p.fault
			}
			return 0
		})
		tried++
		if bad := st.after(t, res); len(bad) > 0 {
			violations++
			if seen[bad[0][:min(len(bad[0]), 20)]]++; violations <= 15 {
				fault := "killed"
				if p.fault != faulttest.Dies {
					fault = unix.ErrnoName(p.fault)
				}
				t.Errorf("%s, %s: exit %d\n%s\t%s", at, fault, res.Code, res.Stderr, strings.Join(bad, "\n\t"))
			}
		}
		st.clean()
	}
	fmt.Printf("faults: %-48s %4d calls, %5d points tried, %d violations\n", sc.name, len(calls), tried, violations)
	if violations > 15 {
		for _, k := range slices.Sorted(maps.Keys(seen)) {
			t.Logf("%d x %s", seen[k], k)
		}
	}
}
