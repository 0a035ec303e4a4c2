package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// removals is rm, redirected, beside the real one: of one file, and of trees
// of two sizes.
func removals(s *scene, o options) ([]figure, error) {
	dir := s.path("files")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	victim := filepath.Join(dir, "victim")
	fresh := func() error { return os.WriteFile(victim, []byte("x"), 0o644) }
	list := []rival{
		{name: "true", exe: "/usr/bin/true", argv: []string{"true"}, env: s.env("home", sysPath)},
		{name: floorName, exe: s.path("dir-floor", "true"), argv: []string{"true"}, env: s.env("home", s.path("dir-floor")+":"+sysPath), over: "true", rate: inFloors, unit: "floors"},
		{name: "rm of a file", exe: "/bin/rm", argv: []string{"rm", "victim"}, env: s.env("home", sysPath), dir: dir, prepare: fresh},
		{name: "rm of a file, redirected", exe: s.shims("home") + "/rm", argv: []string{"rm", "victim"}, env: s.guarded("home"), dir: dir, prepare: fresh, over: "rm of a file", rate: inFloors, unit: "floors", limit: 3},
	}
	figures, err := interleave(list, o.runs)
	if err != nil {
		return nil, err
	}
	for _, n := range []int{max(o.tree/10, 1), o.tree} {
		tree := filepath.Join(dir, "tree")
		grow := func() error { return plant(tree, n) }
		real, shim := fmt.Sprintf("rm -r of %d files", n), fmt.Sprintf("rm -r of %d files, redirected", n)
		list := []rival{
			{name: real, exe: "/bin/rm", argv: []string{"rm", "-r", "tree"}, env: s.env("home", sysPath), dir: dir, prepare: grow},
			{name: shim, exe: s.shims("home") + "/rm", argv: []string{"rm", "-r", "tree"}, env: s.guarded("home"), dir: dir, prepare: grow, over: real,
				rate: func(m map[string]figure, f figure) float64 { return f.MedianUS / m[real].MedianUS }, unit: "x real rm", limit: 1},
		}
		fs, err := interleave(list, 3)
		if err != nil {
			return nil, err
		}
		figures = append(figures, fs...)
	}
	return figures, nil
}

// plant makes a tree of n empty files, a hundred in a directory.
func plant(root string, n int) error {
	for i := range n {
		d := filepath.Join(root, strconv.Itoa(i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return err
			}
		}
		f, err := os.Create(filepath.Join(d, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// trashSizes measures list, restore and empty for two sizes of the trash. Their
// limit is a time for each entry above what the file system itself takes for
// the same calls.
func trashSizes(s *scene, o options) ([]figure, error) {
	var figures []figure
	before, last := map[string]float64{}, 0 // of the smaller size
	for _, n := range []int{max(o.entries/10, 1), max(o.entries, 2)} {
		home := fmt.Sprintf("trash%d", n)
		if err := s.home(home, trueRule); err != nil {
			return nil, err
		}
		origin := s.path(home, "origin")
		if err := os.Mkdir(origin, 0o755); err != nil {
			return nil, err
		}
		// The same calls without safeshell, in a directory of its own.
		bare := s.path(home, "bare")
		if err := fill(bare, origin, n); err != nil {
			return nil, err
		}
		fs := map[string]time.Duration{}
		for _, step := range []struct {
			name string
			do   func(files, info string) error
		}{{"list", readEntry}, {"restore", moveEntry}, {"empty", dropEntry}} {
			if step.name == "empty" {
				if err := os.RemoveAll(bare); err != nil {
					return nil, err
				}
				if err := fill(bare, origin, n); err != nil {
					return nil, err
				}
			}
			start := time.Now()
			for i := range n {
				name := "e" + strconv.Itoa(i)
				if err := step.do(filepath.Join(bare, "files", name), filepath.Join(bare, "info", name+".trashinfo")); err != nil {
					return nil, err
				}
			}
			fs[step.name] = time.Since(start)
		}
		trash := s.path(home, "data", "Trash")
		for _, step := range []struct {
			name string
			args []string
		}{
			{"list", []string{"trash", "list"}},
			{"restore", []string{"trash", "restore", "--under", origin}},
			{"empty", []string{"trash", "empty", "--yes"}},
		} {
			if step.name != "restore" {
				if err := os.RemoveAll(trash); err != nil {
					return nil, err
				}
				if err := fill(trash, origin, n); err != nil {
					return nil, err
				}
			}
			r := rival{exe: s.binary, argv: append([]string{"safeshell"}, step.args...), env: s.env(home, sysPath), dir: s.work}
			d, err := r.once()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", step.name, err)
			}
			f := summary(fmt.Sprintf("trash %s, %d entries", step.name, n), []time.Duration{d})
			f.Over, f.AddedUS = "the file system's own cost", us(d-fs[step.name])
			if small, ok := before[step.name]; ok {
				// From the smaller size to the larger: the start of the process is in
				// both.
				f.Ratio, f.Unit, f.Limit = (f.AddedUS-small)/float64(n-last), "us an entry", 10
			}
			before[step.name] = f.AddedUS
			figures = append(figures, f)
			if step.name == "restore" {
				if err := os.RemoveAll(origin); err != nil {
					return nil, err
				}
				if err := os.Mkdir(origin, 0o755); err != nil {
					return nil, err
				}
			}
		}
		last = n
	}
	return figures, nil
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

func readEntry(file, info string) error {
	if _, err := os.Lstat(file); err != nil {
		return err
	}
	_, err := os.ReadFile(info)
	return err
}

func moveEntry(file, info string) error {
	if _, err := os.ReadFile(info); err != nil {
		return err
	}
	if err := os.Rename(file, file+".back"); err != nil {
		return err
	}
	return os.Remove(info)
}

func dropEntry(file, info string) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	return os.Remove(info)
}
