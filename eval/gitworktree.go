package eval

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"safeshell/script"
)

// worksElsewhere says that git would change other files than those of the
// working tree around it, or may: by --work-tree, GIT_WORK_TREE, or a
// core.worktree, which a repository can bring along. What is lost there cannot
// be told by what is here.
func (v *view) worksElsewhere(p gitPlace) bool {
	other := false
	is := func(dir, base string) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		other = other || p.top == "" || v.r.realDirOf(filepath.Clean(dir)) != v.r.realDirOf(p.top)
	}
	named := false
	word := func(w script.Word) {
		s, ok := w.Text()
		named, other = true, other || !ok
		if ok {
			is(s, p.dir)
		}
	}
	v.line.eachOptionWord("--work-tree", word)
	if !named {
		for _, a := range v.c.Assigns {
			if a.Name == "GIT_WORK_TREE" {
				word(a.Value)
			}
		}
	}
	if s := v.r.getenv("GIT_WORK_TREE"); s != "" && !named {
		named = true
		is(s, p.dir)
	}
	if named {
		return other // it comes before core.worktree
	}
	v.line.eachOptionWord("-c", func(w script.Word) {
		other = other || strings.HasPrefix(strings.ToLower(w.String()), "core.worktree")
	})
	v.line.eachOptionWord("--config-env", func(w script.Word) {
		other = other || strings.HasPrefix(strings.ToLower(w.String()), "core.worktree")
	})
	if p.gitDir == "" {
		return other
	}
	for _, f := range [...]string{filepath.Join(p.common, "config"), filepath.Join(p.gitDir, "config.worktree")} {
		if f == filepath.Join(p.gitDir, "config.worktree") && !exists(f) {
			continue
		}
		data, err := readRegular(f, maxGitConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return true
		}
		low := bytes.ToLower(data)
		if !bytes.Contains(low, []byte("worktree")) && !bytes.Contains(low, []byte("include")) {
			continue
		}
		err = readGitConfig(data, func(key, value []byte, _ bool) error {
			switch {
			case string(key) == "core.worktree":
				is(string(value), p.gitDir)
			case bytes.HasPrefix(key, []byte("include")):
				return errOddConfig // what it includes may say it, too
			}
			return nil
		})
		if err != nil {
			return true
		}
	}
	return other
}
