package eval

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"safeshell/script"

	"golang.org/x/sys/unix"
)

// gitPlace is the repository that a git command would work on.
type gitPlace struct {
	dir    string // directory that git would run in
	gitDir string // its .git: HEAD and index are here
	common string // .git of the main worktree: refs and config are here
	top    string // top of the working tree; empty when bare or not known
	named  bool   // by --git-dir or GIT_DIR, not found from the directory
}

// gitPlaceOf finds the repository of a git command: its directory (git -C is
// already applied to that), --git-dir, GIT_DIR. k is maybe when a part is not known, never when there is
// no repository.
func (v *view) gitPlaceOf() (p gitPlace, k certainty) {
	p.dir = v.dir
	gitDir := ""
	unknown := false
	if v.line.name == "git" {
		v.line.eachOptionWord("--git-dir", func(w script.Word) {
			s, ok := w.Text()
			gitDir, unknown = s, unknown || !ok
		})
	}
	if gitDir == "" {
		gitDir = v.r.getenv("GIT_DIR")
		for _, a := range v.c.Assigns {
			if a.Name == "GIT_DIR" {
				s, ok := a.Value.Text()
				gitDir, unknown = s, unknown || !ok
			}
		}
	}
	if !unknown && p.dir == "" && gitDir == "" && v.inFresh() {
		// What mktemp made is in no repository; one that the text makes there
		// has no branches yet that could be protected.
		return p, never
	}
	if unknown || p.dir == "" {
		return p, maybe
	}
	if gitDir != "" {
		if !filepath.IsAbs(gitDir) {
			gitDir = filepath.Join(p.dir, gitDir)
		}
		p.gitDir = gitDir
		p.top, p.named = p.dir, true
	} else if p.top = v.r.gitTopOf(filepath.Clean(p.dir)); p.top != "" {
		p.gitDir = followGitFile(filepath.Join(p.top, ".git"))
	} else if isGitDir(p.dir) { // inside .git or a bare repository
		p.gitDir = p.dir
	} else {
		return p, never
	}
	if !isGitDir(p.gitDir) {
		return p, never
	}
	p.common = p.gitDir
	if data, err := readSmall(filepath.Join(p.gitDir, "commondir")); err == nil {
		c := strings.TrimSpace(data)
		if !filepath.IsAbs(c) {
			c = filepath.Join(p.gitDir, c)
		}
		p.common = filepath.Clean(c)
	}
	return p, sure
}

// inFresh says that the command runs in a fresh directory, or in what the text
// makes there: not in what it links there.
func (v *view) inFresh() bool {
	return isFresh(v.c.Dir) && (len(v.links()) == 0 || len(v.throughLinks(v.buildPath(v.c.Dir, "", false), true)) == 0)
}

// isFresh says that a directory is one that mktemp makes, or lies in it.
func isFresh(dir script.Word) bool {
	if len(dir.Parts) == 0 || dir.Parts[0].Kind != script.TempPath {
		return false
	}
	for _, p := range dir.Parts[1:] {
		if p.Kind != script.Literal || strings.Contains(p.Text, "..") {
			return false
		}
	}
	return true
}

func isGitDir(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && (exists(filepath.Join(dir, "objects")) || exists(filepath.Join(dir, "commondir")))
}

// followGitFile returns the directory that a .git file of a worktree or
// submodule names; a directory is returned as it is.
func followGitFile(path string) string {
	fi, err := os.Stat(path)
	if err != nil || fi.IsDir() {
		return path
	}
	data, err := readSmall(path)
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

// readSmall reads the first 4 KiB of a regular file.
func readSmall(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return "", errOddFile
	}
	buf := make([]byte, 4096)
	n, err := f.Read(buf)
	if n == 0 && err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// branchFact remembers what is known about the branch.
type branchFact struct {
	name string
	k    certainty
}

// branch returns the current branch of the repository that the command works
// on, as it will be when the command runs: earlier commands of the text may
// change it. k is never when there is no branch (no repository, a detached
// HEAD), maybe when it cannot be known.
func (v *view) branch() (string, certainty) {
	if v.branches == nil {
		name, k := v.findBranch()
		v.branches = &branchFact{name, k}
	}
	return v.branches.name, v.branches.k
}

func (v *view) findBranch() (string, certainty) {
	place, k := v.gitPlaceOf()
	for _, s := range slices.Backward(v.switchesBefore()) {
		if !v.spend(1) {
			break
		}
		if s.via != len(v.c.Via) || s.k != k || s.place.gitDir != place.gitDir || s.place.dir != place.dir && s.place.gitDir == "" {
			continue
		}
		if s.name == "" {
			// To somewhere that is not known. The shim sees the truth.
			return "", never
		}
		return s.name, sure
	}
	if k != sure {
		return "", k
	}
	return place.branchName(v.r)
}

// unbornBranch says that the current branch has no commit when the command runs.
// One that the text makes begins where another one is.
func (v *view) unbornBranch(name string) bool {
	place, k := v.gitPlaceOf()
	head, hk := place.branchName(v.r)
	return k == sure && hk == sure && head == name && place.unborn(v.r, name) && !v.commitsBefore(place)
}

// unborn says that a branch has no commit yet, here or at a remote: there is
// nothing on it to protect. In doubt it has one.
func (p gitPlace) unborn(r *Rules, name string) bool {
	if exists(filepath.Join(p.common, "reftable")) {
		out, err := p.git(r, "for-each-ref", "--format=%(refname)")
		for ref := range strings.Lines(out) {
			if ref = strings.TrimSpace(ref); strings.HasPrefix(ref, "refs/") && strings.HasSuffix(ref, "/"+name) {
				return false
			}
		}
		return err == nil
	}
	remotes, ok := readNames(filepath.Join(p.common, "refs", "remotes"))
	if !ok || p.hasBranch(name) {
		return false
	}
	for _, remote := range remotes {
		if exists(filepath.Join(p.common, "refs", "remotes", remote, name)) {
			return false
		}
	}
	packed, _ := readRegular(filepath.Join(p.common, "packed-refs"), maxIndex)
	return !strings.Contains(string(packed), "/"+name+"\n")
}

// commitsBefore says that an earlier command of the text commits there.
func (v *view) commitsBefore(place gitPlace) bool {
	for i := range v.i {
		before := newView(v.r, v.a, i)
		if before.line.name != "git" || before.line.sub != "commit" {
			continue
		}
		if p, _ := before.gitPlaceOf(); p.gitDir == place.gitDir {
			return true
		}
	}
	return false
}

// switchesTo returns the branch that git checkout, switch or symbolic-ref changes
// to.
func (v *view) switchesTo() (name string, changed bool) {
	l := &v.line
	if l.sub == "symbolic-ref" {
		ops := v.operandList(1)
		if len(ops) != 2 {
			return "", false // it only shows
		}
		if ref, ok := ops[0].Text(); ok && ref != "HEAD" {
			return "", false
		}
		name, _ := ops[1].Text()
		return strings.TrimPrefix(name, "refs/heads/"), true
	}
	for _, f := range [...]string{"-b", "-B", "-c", "-C", "--orphan", "--create", "--force-create"} {
		v.line.eachOptionWord(f, func(w script.Word) { name, _ = w.Text(); changed = true })
	}
	if changed {
		return name, true
	}
	if l.flag("--detach") || l.flag("-d") {
		return "", true
	}
	ops := v.operandList(1)
	for _, k := range l.kinds {
		if k == argEnd && l.sub == "checkout" {
			return "", false // paths
		}
	}
	if len(ops) != 1 {
		return "", false
	}
	name, ok := ops[0].Text()
	if ok && l.sub == "checkout" && len(v.discarded()) > 0 {
		return "", false
	}
	return name, true
}

// branchIn returns what git branch --show-current prints in dir, as the files of a
// usual repository tell; else git has to be asked.
func (r *Rules) branchIn(dir string) (name string, known bool) {
	for _, e := range r.o.Environ {
		for _, name := range [...]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG"} {
			if strings.HasPrefix(e, name) {
				return "", false
			}
		}
	}
	top := r.gitTopOf(filepath.Clean(dir))
	var st unix.Stat_t
	if top == "" || unix.Stat(top, &st) != nil || int(st.Uid) != os.Geteuid() {
		return "", false
	}
	p := gitPlace{dir: dir, top: top, gitDir: followGitFile(filepath.Join(top, ".git"))}
	name, k := p.branchName(r)
	return name, k == sure && isGitDir(p.gitDir)
}

func (p gitPlace) branchName(r *Rules) (string, certainty) {
	if target, err := os.Readlink(filepath.Join(p.gitDir, "HEAD")); err == nil {
		if name, ok := strings.CutPrefix(target, "refs/heads/"); ok { // very old repositories
			return name, sure
		}
	}
	head, err := readSmall(filepath.Join(p.gitDir, "HEAD"))
	if err != nil {
		return "", maybe
	}
	ref, ok := strings.CutPrefix(head, "ref:")
	if !ok {
		return "", never // detached
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(ref), "refs/heads/")
	if !ok {
		return "", never
	}
	if name == ".invalid" { // the refs are in reftable files
		out, err := p.git(r, "symbolic-ref", "--quiet", "--short", "HEAD")
		var exit *exec.ExitError
		switch {
		case err == nil:
			return strings.TrimSpace(out), sure
		case errors.As(err, &exit) && exit.ExitCode() == 1:
			return "", never // detached
		}
		return "", maybe
	}
	return name, sure
}

// hasRef says that a name is a branch, a tag or a remote's branch, or looks
// like a commit.
func (p gitPlace) hasRef(name string) bool {
	if name == "HEAD" || name == "-" || name == "@" || strings.ContainsAny(name, "~^@{") {
		return true
	}
	if p.common == "" || strings.Contains(name, "..") || strings.HasPrefix(name, "/") {
		return false
	}
	for _, d := range [...]string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/remotes/origin/", "refs/", ""} {
		f := filepath.Join(p.common, d, name)
		if fi, err := os.Stat(f); err == nil && fi.Mode().IsRegular() && (d != "" || strings.HasSuffix(name, "HEAD")) {
			return true
		}
	}
	packed, err := readRegular(filepath.Join(p.common, "packed-refs"), maxIndex)
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

// discarded returns the files whose local changes git checkout or git restore
// would throw away.
func (v *view) discarded() []script.Word {
	l := &v.line
	if l.flag("-p") || l.flag("--patch") {
		return nil
	}
	ops := v.operandList(1)
	switch l.sub {
	case "checkout-index":
		if !l.flag("-f") && !l.flag("--force") {
			return nil
		}
		if l.flag("-a") || l.flag("--all") {
			return []script.Word{script.Lit(".")}
		}
		return ops
	case "rm":
		if !l.flag("-f") && !l.flag("--force") || l.flag("--cached") || l.flag("-n") || l.flag("--dry-run") {
			return nil // git refuses to remove what differs
		}
		return ops
	}
	if l.sub == "restore" {
		if (l.flag("-S") || l.flag("--staged")) && !l.flag("-W") && !l.flag("--worktree") {
			return nil
		}
		return ops
	}
	for _, f := range [...]string{"-b", "-B", "--orphan", "--detach", "--track", "-t"} {
		if l.flag(f) {
			return nil
		}
	}
	if l.flag("-f") || l.flag("--force") {
		return []script.Word{script.Lit(".")}
	}
	for i, k := range l.kinds {
		if k == argEnd {
			return l.words[i+1:]
		}
	}
	if len(ops) == 0 {
		return nil
	}
	place, _ := v.gitPlaceOf()
	first, known := ops[0].Text()
	if known && (place.hasRef(first) || !isPath(place.dir, first)) {
		ops = ops[1:] // a branch, or a commit from which files are taken
	} else if !known && len(ops) == 1 && !v.pathOf(ops[0], place.dir).glob {
		return nil // git checkout "$BRANCH"
	}
	return ops
}

// isPath says that an operand of git checkout names files.
func isPath(dir, s string) bool {
	if s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, ":") || strings.HasSuffix(s, "/") || strings.ContainsAny(s, "*?") {
		return true
	}
	if !filepath.IsAbs(s) {
		if dir == "" {
			return strings.Contains(s, ".")
		}
		s = filepath.Join(dir, s)
	}
	return exists(s)
}

// overwritesBranch says that the branch which git checkout -B or switch -C
// would make exists already, or may.
func (v *view) overwritesBranch() bool {
	place, k := v.gitPlaceOf()
	found := false
	for _, f := range [...]string{"-B", "-C", "--force-create"} {
		v.line.eachOptionWord(f, func(w script.Word) {
			name, known := w.Text()
			found = found || !known || k != sure || place.hasBranch(name)
		})
	}
	return found
}

func (p gitPlace) hasBranch(name string) bool {
	if name == "" || strings.Contains(name, "..") {
		return false
	}
	if fi, err := os.Stat(filepath.Join(p.common, "refs", "heads", name)); err == nil && fi.Mode().IsRegular() {
		return true
	}
	packed, err := readRegular(filepath.Join(p.common, "packed-refs"), maxIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true // it cannot be known
	}
	return strings.Contains(string(packed), " refs/heads/"+name+"\n")
}
