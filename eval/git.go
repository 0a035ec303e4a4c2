package eval

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/gitrepo"
	"safeshell/internal/files"
	"safeshell/script"

	"golang.org/x/sys/unix"
)

// gitPlaceOf finds the repository of a git command: its directory (git -C is
// already applied to that), --git-dir, GIT_DIR. k is maybe when a part is not known, never when there is
// no repository.
func (v *view) gitPlaceOf() (p gitrepo.Repo, k certainty) {
	p.Dir, p.Ask = v.dir, v.r.gitAsker()
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
	if !unknown && p.Dir == "" && gitDir == "" && v.inFresh() {
		// What mktemp made is in no repository; one that the text makes there
		// has no branches yet that could be protected.
		return p, never
	}
	if unknown || p.Dir == "" {
		return p, maybe
	}
	top, named := "", gitDir != ""
	if named {
		if !filepath.IsAbs(gitDir) {
			gitDir = filepath.Join(p.Dir, gitDir)
		}
		top = p.Dir
	} else if top = v.r.gitTopOf(filepath.Clean(p.Dir)); top != "" {
		gitDir = gitrepo.FollowFile(filepath.Join(top, ".git"))
	} else if gitrepo.IsGitDir(p.Dir) { // inside .git or a bare repository
		gitDir = p.Dir
	} else {
		return p, never
	}
	p = gitrepo.At(p.Ask, p.Dir, top, gitDir, named)
	if !gitrepo.IsGitDir(gitDir) {
		return p, never
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
		if s.via != len(v.c.Via) || s.k != k || s.place.GitDir != place.GitDir || s.place.Dir != place.Dir && s.place.GitDir == "" {
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
	return branchOf(place)
}

// unbornBranch says that the current branch has no commit when the command runs.
// One that the text makes begins where another one is.
func (v *view) unbornBranch(name string) bool {
	place, k := v.gitPlaceOf()
	head, hk := branchOf(place)
	return k == sure && hk == sure && head == name && place.Unborn(name) && !v.commitsBefore(place)
}

// commitsBefore says that an earlier command of the text commits there.
func (v *view) commitsBefore(place gitrepo.Repo) bool {
	for i := range v.i {
		before := newView(v.r, v.a, i)
		if before.line.name != "git" || before.line.sub != "commit" {
			continue
		}
		if p, _ := before.gitPlaceOf(); p.GitDir == place.GitDir {
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
	p := gitrepo.Around(r.gitAsker(), top)
	name, known = p.Branch()
	return name, known && gitrepo.IsGitDir(p.GitDir)
}

// branchOf returns the current branch; never when HEAD is detached.
func branchOf(p gitrepo.Repo) (string, certainty) {
	switch name, known := p.Branch(); {
	case !known:
		return "", maybe
	case name == "":
		return "", never
	default:
		return name, sure
	}
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
	if known && (place.HasRef(first) || !isPath(place.Dir, first)) {
		ops = ops[1:] // a branch, or a commit from which files are taken
	} else if !known && len(ops) == 1 && !v.pathOf(ops[0], place.Dir).glob {
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
	return files.Exists(s)
}

// overwritesBranch says that the branch which git checkout -B or switch -C
// would make exists already, or may.
func (v *view) overwritesBranch() bool {
	place, k := v.gitPlaceOf()
	found := false
	for _, f := range [...]string{"-B", "-C", "--force-create"} {
		v.line.eachOptionWord(f, func(w script.Word) {
			name, known := w.Text()
			found = found || !known || k != sure || place.HasBranch(name)
		})
	}
	return found
}
