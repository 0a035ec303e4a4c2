package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// trashOp is one row (--in, so that whoever runs the bench keeps what is in the
// trash of a top directory): safeshell's command line and the least that the file
// system must be asked for the same.
type trashOp struct {
	name string
	args func(origin, trash string) []string
	// For each entry, beyond reading both directories and each information file.
	bare  func(b *bareTrash, name string) error
	empty bool // the trash is then to be filled again
}

var trashOps = []trashOp{
	{"list", func(_, t string) []string { return []string{"trash", "list", "--in", t} }, nil, false},
	{"restore of one name", func(_, t string) []string { return []string{"trash", "restore", "--in", t, "e0"} }, nil, true},
	{"restore of all", func(o, t string) []string { return []string{"trash", "restore", "--in", t, "--under", o} }, func(b *bareTrash, name string) error {
		if err := unix.Renameat(b.files, name, b.origin, name); err != nil {
			return err
		}
		return unix.Unlinkat(b.info, name+".trashinfo", 0)
	}, true},
	{"purge of all", func(o, t string) []string { return []string{"trash", "purge", "--yes", "--in", t, "--under", o} }, (*bareTrash).drop, true},
	{"empty", func(_, t string) []string { return []string{"trash", "empty", "--yes", "--in", t} }, (*bareTrash).drop, true},
}

// trashRounds are the runs of each row.
const trashRounds = 3

// trashSizes measures the trash at two sizes. The limit is a time for each entry
// above what the file system itself takes for the system calls that cannot be
// avoided, made by a plain program (bareTrash). What is compared is the processor
// time, user and system, of the best run: of seconds on the clock a busy machine
// says nothing.
func trashSizes(s *scene, o options) ([]figure, error) {
	var figures []figure
	sizes := []int{max(o.entries/10, 1), max(o.entries, 2)}
	small := map[string]float64{}
	for _, n := range sizes {
		home := fmt.Sprintf("trash%d", n)
		if err := s.home(home, trueRule); err != nil {
			return nil, err
		}
		dirs := []string{s.path(home, "origin"), s.path(home, "data", "Trash")}
		origin, trash := dirs[0], dirs[1]
		fresh := func() error {
			for _, d := range dirs {
				if err := os.RemoveAll(d); err != nil {
					return err
				}
			}
			if err := os.Mkdir(origin, 0o755); err != nil {
				return err
			}
			return fill(trash, origin, n)
		}
		if err := fresh(); err != nil {
			return nil, err
		}
		for _, op := range trashOps {
			var bare, ours, bareCPU, oursCPU []time.Duration
			for range trashRounds {
				d, cpu, err := runBare(op, trash, origin)
				if err == nil && op.bare != nil {
					err = fresh()
				}
				if err != nil {
					return nil, fmt.Errorf("%s, bare: %w", op.name, err)
				}
				bare, bareCPU = append(bare, d), append(bareCPU, cpu)
				cmd := exec.Command(s.binary, op.args(origin, trash)...)
				cmd.Env, cmd.Dir = s.env(home, sysPath), s.work
				start := time.Now()
				if err := cmd.Run(); err != nil {
					return nil, fmt.Errorf("%s: %w", op.name, err)
				}
				d = time.Since(start)
				oursCPU = append(oursCPU, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
				if left := entries(trash); op.bare != nil && left != 0 {
					return nil, fmt.Errorf("%s left %d of %d entries", op.name, left, n)
				}
				ours = append(ours, d)
				if op.empty {
					if err := fresh(); err != nil {
						return nil, err
					}
				}
			}
			b := summary(fmt.Sprintf("  the bare calls of it (cpu %.2f us an entry)", us(slices.Min(bareCPU))/float64(n)), bare)
			f := summary(fmt.Sprintf("trash %s, %d entries", op.name, n), ours)
			f.Over, f.AddedUS = b.Name, us(slices.Min(oursCPU)-slices.Min(bareCPU))
			if n == sizes[0] {
				small[op.name] = f.AddedUS
			} else {
				// From the smaller size to the larger: the start of the process is in
				// both.
				f.Ratio, f.Unit, f.Limit = (f.AddedUS-small[op.name])/float64(n-sizes[0]), "cpu us an entry", 10
			}
			figures = append(figures, f, b)
		}
	}
	return figures, nil
}

// bareTrash makes a plain program's system calls: relative to open
// directories, one pass, nothing checked.
type bareTrash struct{ files, info, origin int }

func (b *bareTrash) drop(name string) error {
	if err := unix.Unlinkat(b.files, name, 0); err != nil {
		return err
	}
	return unix.Unlinkat(b.info, name+".trashinfo", 0)
}

func runBare(op trashOp, trash, origin string) (clock, cpu time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, used := time.Now(), threadTime()
	var b bareTrash
	for dir, fd := range map[string]*int{filepath.Join(trash, "files"): &b.files, filepath.Join(trash, "info"): &b.info, origin: &b.origin} {
		if *fd, err = unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return 0, 0, err
		}
		defer unix.Close(*fd)
	}
	names, err := namesOf(b.files)
	if err != nil {
		return 0, 0, err
	}
	if _, err := namesOf(b.info); err != nil {
		return 0, 0, err
	}
	buf := make([]byte, 4096)
	for _, name := range names {
		fd, err := unix.Openat(b.info, name+".trashinfo", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		if err != nil {
			return 0, 0, err
		}
		if _, err := unix.Read(fd, buf); err != nil {
			return 0, 0, err
		}
		unix.Close(fd)
	}
	if op.bare != nil {
		for _, name := range names {
			if err := op.bare(&b, name); err != nil {
				return 0, 0, err
			}
		}
	}
	return time.Since(start), threadTime() - used, nil
}

func threadTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(whoseTime, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func namesOf(fd int) (names []string, err error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// entries is how many are left.
func entries(trash string) int {
	es, err := os.ReadDir(filepath.Join(trash, "files"))
	if err != nil {
		return -1
	}
	return len(es)
}

// fill makes a trash directory of n files that were in origin.
func fill(trash, origin string, n int) error {
	for _, d := range []string{"files", "info"} {
		if err := os.MkdirAll(filepath.Join(trash, d), 0o700); err != nil {
			return err
		}
	}
	for i := range n {
		name := "e" + strconv.Itoa(i)
		info := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=2026-01-02T03:04:05\n", filepath.Join(origin, name))
		if err := os.WriteFile(filepath.Join(trash, "info", name+".trashinfo"), []byte(info), 0o600); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(trash, "files", name), nil, 0o600); err != nil {
			return err
		}
	}
	return nil
}
