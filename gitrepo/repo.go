// Package gitrepo reads git repositories as git does: HEAD, index, configuration,
// aliases. Where files do not suffice it asks git, without what a repository could
// make git run.
package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"safeshell/internal/files"
	"strings"
)

// Repo is where git works. The zero values of what is not known are empty.
type Repo struct {
	Dir    string // git's working directory
	Top    string // the working tree's root
	GitDir string // .git, or what it names
	Common string // where refs and configuration are: the main repository's .git
	Named  bool   // GitDir was named (--git-dir), not found
	Ask    *Asker
}

// Around returns the repository whose root is top.
func Around(ask *Asker, top string) Repo {
	p := Repo{Dir: top, Top: top, GitDir: FollowFile(filepath.Join(top, ".git")), Ask: ask}
	p.findCommon()
	return p
}

// At is the repository with that git directory, for git working in dir.
func At(ask *Asker, dir, top, gitDir string, named bool) Repo {
	p := Repo{Dir: dir, Top: top, GitDir: gitDir, Named: named, Ask: ask}
	p.findCommon()
	return p
}

func (p *Repo) findCommon() {
	p.Common = p.GitDir
	if data, err := files.ReadHead(filepath.Join(p.GitDir, "commondir")); err == nil {
		c := strings.TrimSpace(data)
		if !filepath.IsAbs(c) {
			c = filepath.Join(p.GitDir, c)
		}
		p.Common = filepath.Clean(c)
	}
}

// IsGitDir says that dir is what .git is, or a bare repository.
func IsGitDir(dir string) bool {
	return files.Exists(filepath.Join(dir, "HEAD")) && (files.Exists(filepath.Join(dir, "objects")) || files.Exists(filepath.Join(dir, "commondir")))
}

// FollowFile returns the directory that a .git file of a worktree or
// submodule names; a directory is returned as it is.
func FollowFile(path string) string {
	fi, err := os.Stat(path)
	if err != nil || fi.IsDir() {
		return path
	}
	data, err := files.ReadHead(path)
	if err != nil {
		return path
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(data), "gitdir:")
	if !ok {
		return path
	}
	dir = strings.TrimSpace(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(path), dir)
	}
	return filepath.Clean(dir)
}

// Unborn says that a branch has no commit yet, here or at a remote: there is
// nothing on it to protect. In doubt it has one.
func (p Repo) Unborn(name string) bool {
	if files.Exists(filepath.Join(p.Common, "reftable")) {
		out, err := p.Git("for-each-ref", "--format=%(refname)")
		for ref := range strings.Lines(out) {
			if ref = strings.TrimSpace(ref); strings.HasPrefix(ref, "refs/") && strings.HasSuffix(ref, "/"+name) {
				return false
			}
		}
		return err == nil
	}
	remotes, ok := files.Names(filepath.Join(p.Common, "refs", "remotes"))
	if !ok || p.HasBranch(name) {
		return false
	}
	for _, remote := range remotes {
		if files.Exists(filepath.Join(p.Common, "refs", "remotes", remote, name)) {
			return false
		}
	}
	packed, _ := files.ReadRegular(filepath.Join(p.Common, "packed-refs"), MaxIndex)
	return !strings.Contains(string(packed), "/"+name+"\n")
}

// Branch returns the current branch, "" when HEAD is detached. known is false when
// it cannot be told.
func (p Repo) Branch() (name string, known bool) {
	if target, err := os.Readlink(filepath.Join(p.GitDir, "HEAD")); err == nil {
		if name, ok := strings.CutPrefix(target, "refs/heads/"); ok { // very old repositories
			return name, true
		}
	}
	head, err := files.ReadHead(filepath.Join(p.GitDir, "HEAD"))
	if err != nil {
		return "", false
	}
	ref, ok := strings.CutPrefix(head, "ref:")
	if !ok {
		return "", true
	}
	name, ok = strings.CutPrefix(strings.TrimSpace(ref), "refs/heads/")
	if !ok {
		return "", true
	}
	if name == ".invalid" { // the refs are in reftable files
		out, err := p.Git("symbolic-ref", "--quiet", "--short", "HEAD")
		var exit *exec.ExitError
		if err == nil || errors.As(err, &exit) && exit.ExitCode() == 1 {
			return strings.TrimSpace(out), true
		}
		return "", false
	}
	return name, true
}

// HasRef says that a name is a branch, a tag or a remote's branch, or looks
// like a commit.
func (p Repo) HasRef(name string) bool {
	if name == "HEAD" || name == "-" || name == "@" || strings.ContainsAny(name, "~^@{") {
		return true
	}
	if p.Common == "" || strings.Contains(name, "..") || strings.HasPrefix(name, "/") {
		return false
	}
	for _, d := range [...]string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/remotes/origin/", "refs/", ""} {
		f := filepath.Join(p.Common, d, name)
		if fi, err := os.Stat(f); err == nil && fi.Mode().IsRegular() && (d != "" || strings.HasSuffix(name, "HEAD")) {
			return true
		}
	}
	packed, err := files.ReadRegular(filepath.Join(p.Common, "packed-refs"), MaxIndex)
	if err != nil {
		return false
	}
	text := string(packed)
	for _, d := range [...]string{" refs/heads/", " refs/tags/", " refs/remotes/", " refs/remotes/origin/"} {
		if strings.Contains(text, d+name+"\n") {
			return true
		}
	}
	return false
}

// HasBranch says that there is a local branch of that name, or may be.
func (p Repo) HasBranch(name string) bool {
	if name == "" || strings.Contains(name, "..") {
		return false
	}
	if fi, err := os.Stat(filepath.Join(p.Common, "refs", "heads", name)); err == nil && fi.Mode().IsRegular() {
		return true
	}
	packed, err := files.ReadRegular(filepath.Join(p.Common, "packed-refs"), MaxIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true // it cannot be known
	}
	return strings.Contains(string(packed), " refs/heads/"+name+"\n")
}
