package eval

import (
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/gitrepo"
	"safeshell/internal/files"
	"safeshell/script"
)

// sourceCommit is what git checkout or git restore takes files from; empty when
// it takes them from the index, known is false when the text does not say.
func (v *view) sourceCommit() (commit string, known bool) {
	l := &v.line
	known = true
	switch l.sub {
	case "restore":
		if l.flag("-S") || l.flag("--staged") {
			commit = "HEAD"
		}
		v.optionWords(func(w script.Word) { commit, known = w.Text() }, "-s", "--source")
	case "checkout":
		if !v.fromCommit() {
			return "", true
		}
		commit = "HEAD"
		if ops := v.operandList(1); len(ops) > 0 {
			commit, known = ops[0].Text()
		}
	}
	return commit, known
}

// overwritesUntracked says that git checkout or git restore would put files of a
// commit over ones that git does not track, below rel; they are asked of git,
// and where that cannot be, there must be none at all.
func (v *view) overwritesUntracked(place gitrepo.Repo, rel string) bool {
	commit, known := v.sourceCommit()
	if known && commit == "" {
		return false
	}
	x, ok := v.r.index(place.Top)
	if !ok {
		x = &gitrepo.Index{Top: place.Top}
	}
	at := rel
	if at == "" {
		at = "."
	}
	if known && commit[0] != '-' {
		args := []string{"ls-tree", "-r", "-z", "--full-tree", commit}
		if rel != "" {
			args = append(args, "--", rel)
		}
		if out, err := place.Git(args...); err == nil {
			return v.overwritten(x, out)
		}
	}
	return !v.onlyTracked(x, filepath.Join(place.Top, at))
}

// overwritten looks for a file of a listed tree that lies about untracked, with
// another content.
func (v *view) overwritten(x *gitrepo.Index, listed string) bool {
	for line := range strings.SplitSeq(listed, "\x00") {
		// mode SP type SP object TAB name
		fields, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(fields)
		if !ok || len(f) != 3 || f[1] != "blob" || len(x.Find(name)) > 0 {
			continue
		}
		file := filepath.Join(x.Top, name)
		var st unix.Stat_t
		if unix.Lstat(file, &st) != nil || v.made(exactPath(file)) {
			continue
		}
		e := gitrepo.Entry{Size: uint32(st.Size)}
		link := uint32(st.Mode)&unix.S_IFMT == unix.S_IFLNK
		if !link && (uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG || st.Size == 0) {
			if uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG {
				continue // empty
			}
			return true
		}
		if n, err := hex.Decode(e.SHA[:], []byte(f[2])[:min(len(f[2]), 40)]); err != nil || n != 20 || len(f[2]) != 40 || !gitrepo.SameBlob(file, link, &e) {
			return true
		}
	}
	return false
}

// onlyTracked says that below a path there is nothing but what git tracks, and
// what can be made again.
func (v *view) onlyTracked(x *gitrepo.Index, root string) bool {
	count := 0
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if count++; count > maxWalk || v.walked > 4*maxWalk {
			return fs.ErrInvalid
		}
		v.walked++
		switch {
		case err != nil && file == root:
			return nil // it does not exist
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || file != x.Top && files.Exists(filepath.Join(file, ".git"))):
			return fs.SkipDir
		case v.made(exactPath(file)):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && len(x.Find(relTo(x.Top, file))) == 0:
			return fs.ErrInvalid
		}
		return nil
	}) == nil
}
