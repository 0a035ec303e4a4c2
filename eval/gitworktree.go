package eval

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"safeshell/gitrepo"
	"safeshell/internal/files"
	"safeshell/script"
)

// worksElsewhere says that git would change other files than those of the
// working tree around it, or may: by --work-tree, GIT_WORK_TREE, or a
// core.worktree, which a repository can bring along. What is lost there cannot
// be told by what is here.
func (v *view) worksElsewhere(p gitrepo.Repo) bool {
	other := false
	is := func(dir, base string) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		other = other || p.Top == "" || v.r.realDirOf(filepath.Clean(dir)) != v.r.realDirOf(p.Top)
	}
	named := false
	word := func(w script.Word) {
		s, ok := w.Text()
		named, other = true, other || !ok
		if ok {
			is(s, p.Dir)
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
		is(s, p.Dir)
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
	if p.GitDir == "" {
		return other
	}
	for _, f := range [...]string{filepath.Join(p.Common, "config"), filepath.Join(p.GitDir, "config.worktree")} {
		if f == filepath.Join(p.GitDir, "config.worktree") && !files.Exists(f) {
			continue
		}
		data, err := files.ReadRegular(f, gitrepo.MaxConfig)
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
		err = gitrepo.ReadConfig(data, func(key, value []byte, _ bool) error {
			switch {
			case string(key) == "core.worktree":
				is(string(value), p.GitDir)
			case bytes.HasPrefix(key, []byte("include")):
				return gitrepo.ErrOddConfig // what it includes may say it, too
			}
			return nil
		})
		if err != nil {
			return true
		}
	}
	return other
}
