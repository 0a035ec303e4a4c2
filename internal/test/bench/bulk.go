package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
