package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/faulttest"
)

var trashProgramRow = row{
	name: "trash-program", sweep: true,
	what: "the real rm shim, trash restore, purge and empty, killed at, and failed with each error in, each system call on a file",
	run:  runTrashProgram,
}

// programFaults are the errors that each call of the real program is made to
// fail with. The calls are those on files in the scratch home (the trash,
// safeshell's own) and in the work directory: what the Go runtime and the loader
// do before there is a program (mmap, futex, clone, reading /proc and /sys) is
// not ours, and failing it would prove nothing.
var programFaults = []syscall.Errno{
	unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EXDEV, unix.EROFS, unix.EACCES, unix.ENAMETOOLONG, unix.EMFILE,
}

// trashCase is one command line whose every call is to be hit.
type trashCase struct {
	name   string
	op     string
	files  []string   // in the work directory: "f=content", "l->target", "d/"
	before [][]string // commands that run first
	more   func(work string) error
	argv   []string // rm, or a subcommand of safeshell trash
	other  bool     // the work directory is on another file system than the home
}

var (
	programTree = []string{"d/a=1", "d/s/b=22", "d/s/l->../a", "d/e/"}
	programAll  = append([]string{"f=1", "l->f"}, programTree...)
)

func trashCases() []trashCase {
	newer := func(work string) error { return os.WriteFile(filepath.Join(work, "f"), []byte("newer"), 0o644) }
	return []trashCase{
		{name: "rm a file", op: faulttest.Put, files: []string{"f=1"}, argv: []string{"rm", "f"}},
		{name: "rm several", op: faulttest.Put, files: programAll, argv: []string{"rm", "-rvf", "f", "d", "nope", "l"}},
		{name: "rm to another file system", op: faulttest.Put, files: programAll, argv: []string{"rm", "-rv", "f", "d"}, other: true},
		{name: "restore", op: faulttest.Restore, files: programAll, before: [][]string{{"rm", "-r", "f", "d", "l"}}, argv: []string{"restore"}},
		{name: "restore with parents", op: faulttest.Restore, files: []string{"p/q/f=1", "p/g=2"}, before: [][]string{{"rm", "p/q/f", "p/g"}}, more: func(work string) error {
			return errors.Join(os.Remove(filepath.Join(work, "p/q")), os.Remove(filepath.Join(work, "p")))
		}, argv: []string{"restore", "--parents"}},
		{name: "restore over a file", op: faulttest.Restore, files: []string{"f=1"}, before: [][]string{{"rm", "f"}}, more: newer, argv: []string{"restore", "--overwrite"}},
		{name: "restore to another file system", op: faulttest.Restore, files: programAll, before: [][]string{{"rm", "-r", "f", "d"}}, argv: []string{"restore"}, other: true},
		{name: "restore over a file there", op: faulttest.Restore, files: []string{"f=1"}, before: [][]string{{"rm", "f"}}, more: newer, argv: []string{"restore", "--overwrite"}, other: true},
		{name: "purge", op: faulttest.Purge, files: programAll, before: [][]string{{"rm", "-r", "f", "d", "l"}}, argv: []string{"purge", "--yes", "--last"}},
		{name: "empty", op: faulttest.Empty, files: programAll, before: [][]string{{"rm", "-r", "d", "l"}, {"rm", "f"}}, argv: []string{"empty", "--yes"}},
	}
}

// trashWorld is the scratch home and work directory of one case. The home stays
// from point to point, with all that killed commands left in it.
type trashWorld struct {
	r     *run
	c     trashCase
	dir   string
	work  string
	trash string
	roots []string
	tree  faulttest.Tree
	seen  map[string]bool // see first
}

// runTrashProgram runs all cases, a few at a time.
func runTrashProgram(r *run) error {
	cases := trashCases()
	errs := make([]error, len(cases))
	next := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range next {
				errs[i] = r.trashCase(cases[i], r.rnd(cases[i].name))
			}
		})
	}
	for i := range cases {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if errors.Is(err, faulttest.ErrUnsupported) {
			r.note("not here: %v", err)
			return nil
		}
	}
	return errors.Join(errs...)
}

// point is a call and what happens to it.
type point struct {
	n     int
	fault syscall.Errno
}

func (r *run) trashCase(c trashCase, rnd *rand.Rand) error {
	w := &trashWorld{r: r, c: c, seen: map[string]bool{}, dir: filepath.Join(r.work, strings.ReplaceAll(c.name, " ", "-"))}
	done, err := w.make()
	defer done()
	if err != nil || w.work == "" {
		return err
	}
	// Twice: the first makes what stays (the journal).
	var calls []faulttest.Call
	rounds := 2
	if r.short {
		rounds = 1
	}
	for range rounds {
		calls = nil
		if err := w.reset(); err != nil {
			return err
		}
		res, err := w.command(func(call faulttest.Call) syscall.Errno { calls = append(calls, call); return 0 }, c.argv)
		if err != nil {
			return err
		}
		if bad, err := w.after(res); err != nil || len(bad) > 0 || res.Code != 0 {
			return errors.Join(err, fmt.Errorf("%s: without a fault: exit %d, %s%q", c.name, res.Code, res.Stderr, bad))
		}
	}
	r.count("calls", len(calls))
	tried, wrong := 0, 0
	start, share := time.Now(), 2*r.each/time.Duration(len(trashCases())) // two at a time
	if !r.short {
		defer func() { // it takes long
			fmt.Fprintf(os.Stderr, "%s: %s: %d calls, %d points tried, %d violations\n", r.row.name, c.name, len(calls), tried, wrong)
		}()
	}
	for _, p := range w.points(calls, rnd) {
		if r.ctx.Err() != nil || share > 0 && time.Since(start) > share {
			break
		}
		if err := w.reset(); err != nil {
			return err
		}
		var at faulttest.Call
		res, err := w.command(func(call faulttest.Call) syscall.Errno {
			if call.N == p.n {
				at = call
				return p.fault
			}
			return 0
		}, c.argv)
		if err != nil {
			return err
		}
		bad, err := w.after(res)
		if err != nil {
			return fmt.Errorf("%s: after %v: %w", c.name, at, err)
		}
		fault := "killed"
		if p.fault != faulttest.Dies {
			fault = unix.ErrnoName(p.fault)
		}
		r.try(1)
		r.count(c.name, 1)
		tried++
		if len(bad) > 0 {
			wrong++
			slices.Sort(bad)
			text := fmt.Sprintf("%s: %v, %s: exit %d, said %q: %s", c.name, at, fault, res.Code, res.Stdout+res.Stderr, strings.Join(slices.Compact(bad), "; "))
			r.violate("%s", strings.NewReplacer(filepath.Dir(w.work)+"/", "", w.dir+"/", "").Replace(text))
		}
	}
	return nil
}

// points are all, or in a test some: kills as many as errors, and of the errors
// most in calls on the trash and the work directory.
func (w *trashWorld) points(calls []faulttest.Call, rnd *rand.Rand) (out []point) {
	var kills, fails, own []point
	for _, c := range calls {
		kills = append(kills, point{c.N, faulttest.Dies})
		in := slices.ContainsFunc(c.Paths, func(p string) bool {
			return faulttest.Within(p, w.trash) || faulttest.Within(p, filepath.Dir(w.work)) && !faulttest.Within(p, w.dir) || faulttest.Within(p, w.work)
		})
		for _, f := range programFaults {
			if in {
				fails = append(fails, point{c.N, f})
			} else {
				own = append(own, point{c.N, f})
			}
		}
	}
	for i, ps := range [][]point{kills, fails, own} {
		rnd.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
		if most := []int{2, 2, 1}[i]; w.r.short && len(ps) > most {
			ps = ps[:most]
		}
		out = append(out, ps...)
	}
	return out
}

// make makes the scratch home; without a second file system work stays "".
func (w *trashWorld) make() (done func(), err error) {
	done = func() {}
	w.trash, w.roots = filepath.Join(w.dir, "home/.local/share/Trash"), []string{w.dir}
	if err := os.MkdirAll(filepath.Join(w.dir, "home"), 0o700); err != nil {
		return done, err
	}
	work := filepath.Join(w.dir, "w")
	if w.c.other {
		there, err := otherFileSystem(w.dir)
		if err != nil {
			w.r.note("%s: not tried: %v", w.c.name, err)
			return done, nil
		}
		done = func() { _ = os.RemoveAll(there) }
		w.roots = append(w.roots, there)
		work = filepath.Join(there, "w")
	}
	w.work = work
	if err := os.MkdirAll(work, 0o700); err != nil {
		return done, err
	}
	res, err := w.start(nil, w.r.binary, []string{"safeshell", "refresh", "--quiet"})
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("safeshell refresh: %s", res.Stderr)
	}
	return done, err
}

// otherFileSystem makes a directory that nothing in dir can be renamed to.
func otherFileSystem(dir string) (string, error) {
	const shm = "/dev/shm"
	if trashes, _ := filepath.Glob(filepath.Join(shm, ".Trash*")); len(trashes) > 0 {
		return "", fmt.Errorf("%s is somebody's trash", trashes[0])
	}
	there, err := os.MkdirTemp(shm, "safeshell-chaos")
	if err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(dir, "home"), filepath.Join(there, "home")); !errors.Is(err, unix.EXDEV) {
		back := os.Rename(filepath.Join(there, "home"), filepath.Join(dir, "home"))
		if err != nil { // it did not get there
			back = nil
		}
		return "", errors.Join(fmt.Errorf("%s is no other file system than %s", shm, dir), err, back, os.RemoveAll(there))
	}
	return there, nil
}

// start runs a program with the scratch home, supervised also where nothing is
// to fail: so that nothing else can be changed by it.
func (w *trashWorld) start(decide faulttest.Verdict, path string, argv []string) (faulttest.Result, error) {
	if decide == nil {
		decide = func(faulttest.Call) syscall.Errno { return 0 }
	}
	home := filepath.Join(w.dir, "home")
	return faulttest.Run(faulttest.Job{Path: path, Argv: argv, Dir: w.work, Env: []string{
		workVar + w.r.work, "HOME=" + home, "LC_ALL=C", "PATH=" + filepath.Join(home, ".safeshell/shims") + ":" + sysPath,
	}}, w.roots, decide)
}

// command is rm through its shim, or a subcommand of safeshell trash.
func (w *trashWorld) command(decide faulttest.Verdict, argv []string) (faulttest.Result, error) {
	if argv[0] == "rm" {
		return w.start(decide, filepath.Join(w.dir, "home/.safeshell/shims/rm"), argv)
	}
	// No other trash on this machine is looked at.
	args := append([]string{"safeshell", "trash", argv[0], "--in", w.trash}, argv[1:]...)
	return w.start(decide, w.r.binary, args)
}

// must is a command that has to do what it says, without a word of complaint.
func (w *trashWorld) must(say func(string, ...any), argv ...string) error {
	res, err := w.command(nil, argv)
	if err != nil {
		return err
	}
	if res.Code != 0 || res.Hung || res.Stderr != "" && res.Stderr != "nothing to delete\n" {
		say("then %s: exit %d, %s", strings.Join(argv, " "), res.Code, strings.TrimSpace(res.Stderr))
	}
	return nil
}

// reset makes the files of the case, and what is in the trash at its start.
func (w *trashWorld) reset() error {
	for _, dir := range []string{w.work, w.trash} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := w.plant(); err != nil {
		return err
	}
	w.tree = faulttest.Tree{Op: w.c.op, Dir: w.work, Was: faulttest.Picture(w.work, w.work)}
	removed := w.c.before
	if w.c.op == faulttest.Put {
		removed = [][]string{w.c.argv}
	}
	for _, argv := range removed {
		for _, a := range argv[1:] {
			if a[0] != '-' && a != "nope" {
				w.tree.Tops = append(w.tree.Tops, filepath.Join(w.work, a))
			}
		}
	}
	var bad []string
	for _, argv := range w.c.before {
		err := w.must(func(f string, a ...any) { bad = append(bad, fmt.Sprintf(f, a...)) }, argv...)
		if err != nil || len(bad) > 0 {
			return fmt.Errorf("%s: at the start: %q %w", w.c.name, bad, err)
		}
	}
	if w.c.more == nil {
		return nil
	}
	if err := w.c.more(w.work); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(w.work, "f")); err == nil {
		w.tree.Newer = filepath.Join(w.work, "f")
	}
	return nil
}

// plant makes the files of the case in a new work directory. That is a work
// tree, since rm really removes what lies elsewhere in /dev/shm.
func (w *trashWorld) plant() error {
	if err := os.MkdirAll(filepath.Join(w.work, ".git"), 0o755); err != nil {
		return err
	}
	for _, f := range w.c.files {
		name, content, isFile := strings.Cut(f, "=")
		link, to, isLink := strings.Cut(f, "->")
		path := filepath.Join(w.work, name)
		if isLink {
			path = filepath.Join(w.work, link)
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case isLink:
			err = errors.Join(err, os.Symlink(to, path))
		case isFile:
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644))
		default:
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
