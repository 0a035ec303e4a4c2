package permit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Area is the project around a directory, without symbolic links.
type Area struct {
	// Root is the worktree's top directory; outside a repository the nearest
	// directory with .safeshell, else the directory itself.
	Root string
	// Main is the root of the repository's main worktree (for a bare
	// repository, the repository): all worktrees share it. It is Root where
	// there is only one.
	Main string
	// GitDirs are git's own directories outside Root, which git must write to
	// from a linked worktree or a submodule.
	GitDirs []string
}

// Hash names the project in SAFESHELL_HOME/permits.
func (a Area) Hash() string {
	sum := sha256.Sum256([]byte(a.Main))
	return hex.EncodeToString(sum[:16])
}

// FindArea returns the project around dir. It reads git's files, but runs no
// git. The error says that dir is gone or cannot be entered.
func FindArea(dir string) (Area, error) {
	if !filepath.IsAbs(dir) {
		return Area{}, errors.New("the working directory is gone; change to one that is there: cd ~")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Area{}, fmt.Errorf("the working directory %s cannot be used: %w; change to another: cd ~", Show(dir), bare(err))
	}
	marked := ""
	for d := real; ; d = filepath.Dir(d) {
		if fi, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return gitArea(d, fi), nil
		}
		if marked == "" && isFile(filepath.Join(d, ".safeshell", "permissions.yaml")) {
			marked = d
		}
		if d == "/" {
			break
		}
	}
	if marked != "" {
		real = marked
	}
	return Area{Root: real, Main: real}, nil
}

func isFile(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

// gitArea follows a .git file and commondir, as gitrepository-layout(5) says.
func gitArea(top string, git fs.FileInfo) Area {
	a := Area{Root: top, Main: top}
	if git.IsDir() {
		return a
	}
	dir := followGitFile(filepath.Join(top, ".git"), top)
	if dir == "" {
		return a
	}
	a.GitDirs = append(a.GitDirs, dir)
	common := dir
	if line := firstLine(filepath.Join(dir, "commondir")); line != "" {
		common = line
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		if r, err := filepath.EvalSymlinks(common); err == nil {
			common = r
		}
	}
	if common == dir {
		return a // a submodule: a repository of its own
	}
	if _, inside := below(dir, common); !inside {
		// A worktree's directory lies in its repository. What says otherwise was
		// made by hand, and is not let share another project's answers.
		return Area{Root: top, Main: top}
	}
	// Only a repository that knows this worktree shares its answers with it.
	back := firstLine(filepath.Join(dir, "gitdir"))
	if !filepath.IsAbs(back) {
		back = filepath.Join(dir, back)
	}
	if !sameFile(back, filepath.Join(top, ".git")) {
		return Area{Root: top, Main: top}
	}
	a.GitDirs = []string{common}
	a.Main = common
	if filepath.Base(common) == ".git" {
		a.Main = filepath.Dir(common)
	}
	return a
}

// followGitFile returns the directory that a .git file names; "" when none.
func followGitFile(file, top string) string {
	if fi, err := os.Stat(file); err == nil && fi.IsDir() { // .git is a link to a directory
		if r, err := filepath.EvalSymlinks(file); err == nil {
			return r
		}
		return ""
	}
	dir, ok := strings.CutPrefix(firstLine(file), "gitdir:")
	dir = strings.TrimSpace(dir)
	if !ok || dir == "" {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	r, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return r
}

// firstLine reads at most 4 KiB of a regular file.
func firstLine(path string) string {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 4<<10)).ReadString('\n')
	return strings.TrimRight(line, "\r\n")
}

// bare strips the path from an error that is shown beside it.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
