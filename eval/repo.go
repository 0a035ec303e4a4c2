package eval

import (
	"os"
	"path/filepath"
	"safeshell/internal/files"
	"slices"
	"strings"
)

// dirInfo is what is known about a directory.
type dirInfo struct {
	gitTop string // nearest directory upwards that holds .git; empty when none
}

// gitTopOf returns the nearest directory from dir upwards that holds .git, a
// directory or (in worktrees and submodules) a file.
func (r *Rules) gitTopOf(dir string) string {
	if d, ok := r.dirs[dir]; ok {
		return d.gitTop
	}
	top := ""
	for d := dir; ; d = filepath.Dir(d) {
		if known, ok := r.dirs[d]; ok {
			top = known.gitTop
			break
		}
		if files.Exists(d + "/.git") {
			top = d
			break
		}
		if d == "/" || d == "." {
			break
		}
	}
	r.dirs[dir] = dirInfo{gitTop: top}
	return top
}

// repoSources returns the rules of the repository around dir: from its root
// down to dir. Outside a repository only dir itself counts.
func (r *Rules) repoSources(dir string) []*source {
	if dir == "" || !filepath.IsAbs(dir) {
		return nil
	}
	if list, ok := r.repos[dir]; ok {
		return list
	}
	dir = filepath.Clean(dir)
	if list, ok := r.repos[dir]; ok {
		return list
	}
	top := r.gitTopOf(dir)
	if top == "" {
		top = dir
	}
	var list []*source
	from := top
	if above, ok := r.repos[filepath.Dir(dir)]; ok && dir != top {
		list, from = slices.Clone(above), dir
	}
	for _, d := range between(from, dir) {
		if !files.Exists(d+"/.safeshell") || d+"/.safeshell" == r.o.Paths.Home {
			continue
		}
		// One file has one name, so that it is trusted however it is reached.
		if real, err := filepath.EvalSymlinks(d); err == nil {
			d = real
		}
		file := filepath.Join(d, ".safeshell", "rules.yaml")
		if r.isGlobal(file) {
			continue
		}
		if s := openSource(file, fromRepo, r.o.Paths.Cache); s != nil {
			s.trusted = trustedKey(r.o.Paths, s.trustKey)
			list = append(list, s)
		}
	}
	r.repos[dir] = list
	return list
}

// isGlobal says that file is the user's or the system's own, as it is for a
// home directory that is a repository.
func (r *Rules) isGlobal(file string) bool {
	for _, p := range []string{r.o.Paths.Rules, r.o.Paths.System} {
		if p == file {
			return true
		}
		x, err := os.Stat(p)
		if err != nil {
			continue
		}
		if y, err := os.Stat(file); err == nil && os.SameFile(x, y) {
			return true
		}
	}
	return false
}

// between returns the directories from top down to dir, which lies in it.
func between(top, dir string) []string {
	out := []string{top}
	rest := strings.TrimPrefix(strings.TrimPrefix(dir, top), "/")
	if rest == "" {
		return out
	}
	d := top
	for _, c := range strings.Split(rest, "/") {
		d = filepath.Join(d, c)
		out = append(out, d)
	}
	return out
}

// RepoProblems returns what is wrong with the rules files of the repository
// around dir, and names files whose rules wait for trust.
func (r *Rules) RepoProblems(dir string) []Problem {
	var out []Problem
	for _, s := range r.repoSources(dir) {
		out = append(out, s.problems...)
		if s.trusted || s.blob == nil {
			continue
		}
		rules, err := s.blob.all()
		if err != nil {
			continue
		}
		waiting := 0
		for _, x := range rules {
			if x.runsCode() {
				waiting++
			}
		}
		if waiting > 0 {
			out = append(out, Problem{File: s.path, Warning: true,
				Message: plural(waiting, "rule") + " with conditions or redirect_to not in force, because the file is not trusted",
				Fix:     trustCommand(s.path)})
		}
	}
	return out
}

func trustCommand(file string) string {
	return "safeshell trust " + quote(filepath.Dir(filepath.Dir(file)))
}
