package permit

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/config"
)

// What git runs, and where it looks, stands in the project, which a script may
// write to: core.fsmonitor in .git/config would run outside of the confinement at
// the next git status. Landlock cannot take away below a directory what it gives
// for it, so that these are kept as they are by other means: a mount of their own
// where the kernel lets the run have one, and in any case the keeper puts back
// what was changed when the run has ended.

// gitNames are the files and directories of a repository that say what git runs.
var gitNames = []string{"config", "config.worktree", "hooks", "info", "commondir", "gitdir"}

// maxKept bounds how many paths are kept, maxSought how many are looked at to
// find the repositories of a project.
const (
	maxKept   = 400
	maxSought = 20000
)

// keep fills in what a run must leave as it is. git: the run may start git, which
// must be able to commit. guarded are files below the project's root by which
// agents and safeshell itself are ruled. Without Landlock the run's own commands
// write there, so that nothing is kept.
func (c *Confinement) keep(area Area, paths config.Paths, getenv func(string) string, git bool, guarded []string) {
	if _, ok := KernelSays(); !ok {
		return
	}
	c.Repositories = append(gitDirsBelow(area.Root), area.GitDirs...)
	user := userGitConfigs(paths, getenv)
	for _, link := range c.Repositories {
		g, err := filepath.EvalSymlinks(link)
		if err != nil {
			continue
		}
		if fi, err := os.Stat(g); err != nil || !git || !fi.IsDir() {
			c.keepOne(g)
		} else {
			c.holdAbove(filepath.Join(g, "config"))
			c.keepParts(g)
		}
		hooks := []string{filepath.Join(g, "hooks")}
		top := filepath.Dir(link)
		for _, f := range namedByConfig(g, top, user) {
			if fi, err := os.Stat(f); err == nil && fi.IsDir() {
				hooks = append(hooks, f)
			}
			if !contains(f, area.Root) && !contains(g, f) {
				c.guard(f)
			}
		}
		for _, h := range hooks {
			if real, err := filepath.EvalSymlinks(h); err == nil && real != h {
				c.guard(real)
			}
			c.keepHooks(h, top)
		}
	}
	for _, f := range guarded {
		if !strings.HasPrefix(f, "~") {
			c.guard(filepath.Join(area.Root, f))
		}
	}
	if home, err := filepath.EvalSymlinks(paths.User); err == nil && contains(area.Root, home) {
		c.keepHome(home)
	}
	for _, own := range []string{paths.Home, paths.Spool} {
		// Also where it may not be written to: Landlock covers no modes and owners.
		if real, err := filepath.EvalSymlinks(own); err == nil && !slices.ContainsFunc(c.Keep, func(k string) bool { return contains(k, real) }) {
			c.Keep = append(c.Keep, real)
		}
	}
	slices.Sort(c.Hold) // the outer ones first
}

// guard keeps a path that the run could write to, whether it is there or not.
func (c *Confinement) guard(p string) {
	if len(c.Guarded) < maxKept && !slices.Contains(c.Guarded, p) && c.holdAbove(p) {
		c.Guarded = append(c.Guarded, p)
	}
	c.keepOne(p)
}

// keepOne keeps what a path leads to.
func (c *Confinement) keepOne(p string) {
	real, err := filepath.EvalSymlinks(p)
	if err == nil && len(c.Keep) < maxKept && !slices.Contains(c.Keep, real) && c.holdAbove(real) {
		c.Keep = append(c.Keep, real)
	}
}

// holdAbove holds the directories for settings in which the run could move a path
// away, and says whether it could write to it at all. Others are not held: scripts
// move and remove files in them.
func (c *Confinement) holdAbove(p string) (could bool) {
	for _, w := range c.Write {
		if w == p || !contains(w, p) {
			continue
		}
		could = true
		for d := filepath.Dir(p); d != w && len(d) > 1; d = filepath.Dir(d) {
			if fi, err := os.Lstat(d); err == nil && fi.IsDir() && filepath.Base(d)[0] == '.' && !slices.Contains(c.Hold, d) {
				c.Hold = append(c.Hold, d)
			}
		}
	}
	return could
}

// keepHooks keeps what hooks are links to, and what they call by a path.
func (c *Confinement) keepHooks(dir, top string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries[:min(len(entries), maxKept)] {
		p := filepath.Join(dir, e.Name())
		if strings.HasSuffix(p, ".sample") {
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
			c.guard(real)
		}
		for _, w := range strings.FieldsFunc(string(readConfig(p)), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`", r) }) {
			if f := filepath.Join(top, w); strings.Contains(w, "/") && isFile(f) {
				c.guard(f)
			}
		}
	}
}

// homeNames are what shells and logins obey in a home directory, there or not.
var homeNames = strings.Fields(".bashrc .bash_profile .bash_login .bash_logout .profile .zshenv .zprofile .zshrc .zlogin .zlogout .config/fish .config/git .ssh .gitconfig .inputrc .local/bin bin")

// keepHome keeps what is obeyed in a home directory that lies in the project.
func (c *Confinement) keepHome(home string) {
	for _, n := range homeNames {
		c.guard(filepath.Join(home, n))
	}
	entries, _ := os.ReadDir(home)
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, ".") && !slices.Contains([]string{".git", ".cache", ".local"}, n) {
			c.keepOne(filepath.Join(home, n))
		}
	}
}

// keepParts keeps what says what git runs in a repository, those of its
// submodules and worktrees too.
func (c *Confinement) keepParts(g string) {
	for _, n := range gitNames {
		p := filepath.Join(g, n)
		if n == "hooks" || n == "info" {
			_ = os.Mkdir(p, 0o755) // as git init makes them: what is not there cannot be kept
		}
		c.keepOne(p)
	}
	for _, sub := range []string{"modules", "worktrees"} {
		_ = filepath.WalkDir(filepath.Join(g, sub), func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || len(c.Keep) > maxKept:
				return fs.SkipAll
			case d.IsDir() && (d.Name() == "objects" || d.Name() == "refs" || d.Name() == "logs"):
				return fs.SkipDir
			case slices.Contains(gitNames, d.Name()):
				c.Keep = append(c.Keep, p)
				if d.IsDir() {
					return fs.SkipDir
				}
			}
			return nil
		})
	}
}

// gitDirsBelow are the .git of a project, and of what lies in it.
func gitDirsBelow(root string) (out []string) {
	count := 0
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if count++; count > maxSought || len(out) > maxKept {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return fs.SkipDir
		case d.Name() == ".git":
			out = append(out, p)
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".venv" || d.Name() == "target"):
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// runsKey are the keys of git's configuration whose values are run, or say where
// more configuration is.
var runsKey = regexp.MustCompile(`(?mi)^\s*(?:\[[^]]*\]\s*)?(fsmonitor|hookspath|sshcommand|pager|editor|askpass|program|clean|smudge|process|textconv|command|driver|helper|path|cmd|external|worktreeconfig)\s*=\s*(.*)$|^\s*\[alias`)

// userGitConfigs are the files of git's configuration that are no repository's.
func userGitConfigs(paths config.Paths, getenv func(string) string) []string {
	xdg := getenv("XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = filepath.Join(paths.User, ".config")
	}
	return []string{filepath.Join(paths.User, ".gitconfig"), filepath.Join(xdg, "git/config"), "/etc/gitconfig", getenv("GIT_CONFIG_GLOBAL")}
}

// readConfig reads a small regular file; nothing else.
func readConfig(path string) []byte {
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() || fi.Size() > 1<<20 {
		return nil
	}
	text, _ := os.ReadFile(path)
	return text
}

// namedByConfig are what git's configuration of a repository names as what git
// runs or reads, in the repository's own files, the user's, and those that they
// include: core.hooksPath and include.path, there or not, and files in the values
// of the others. git is its directory, top that of its work tree.
func namedByConfig(git, top string, user []string) (out []string) {
	files := append([]string{filepath.Join(git, "config"), filepath.Join(git, "config.worktree")}, user...)
	add := func(p string) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for i := 0; i < len(files) && i < maxKept; i++ {
		at := func(base, w string) string {
			if rest, ok := strings.CutPrefix(w, "~/"); ok {
				return filepath.Join(filepath.Dir(user[0]), rest)
			}
			if filepath.IsAbs(w) {
				return filepath.Clean(w)
			}
			return filepath.Join(base, w)
		}
		for _, m := range runsKey.FindAllSubmatch(readConfig(files[i]), maxKept) {
			value := strings.Trim(strings.TrimSpace(string(m[2])), `"'`)
			switch key := strings.ToLower(string(m[1])); {
			case value == "":
			case key == "hookspath":
				dir := at(top, value)
				add(dir)
				if filepath.Base(dir) == "_" {
					add(filepath.Dir(dir)) // husky's, whose hooks start those beside it
				}
			case key == "path":
				f := at(filepath.Dir(files[i]), value)
				add(f)
				files = append(files, f)
			default:
				for _, w := range strings.Fields(value) {
					if f := at(top, strings.Trim(w, `"'`)); isFile(f) {
						add(f)
					}
				}
			}
		}
	}
	return out
}

// kept is the state of what must stay as it is, in the run's manifest.
type kept struct {
	Path []byte      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	Data []byte      `json:"data,omitempty"` // of a file; the target of a link
	Gone bool        `json:"gone,omitempty"` // it is not there
	Git  bool        `json:"git,omitempty"`  // it is in a repository
	All  bool        `json:"all,omitempty"`  // of a directory: new files in it count
	Real string      `json:"real,omitempty"` // which place that is
}

// maxState bounds what the state of all kept files may take, in bytes.
const maxState = 4 << 20

// state notes what is there before the run.
func (c Confinement) state() (out []kept) {
	size := 0
	var note func(p string, git, all bool)
	note = func(p string, git, all bool) {
		fi, err := os.Lstat(p)
		k := kept{Path: []byte(p), Git: git, All: all, Real: identity(p)}
		switch {
		case err != nil:
			k.Gone = true
		case fi.Mode().IsRegular():
			k.Mode = fi.Mode()
			if size += int(fi.Size()); size < maxState {
				k.Data, err = os.ReadFile(p)
			}
			if err != nil || size >= maxState {
				return
			}
		case fi.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			k.Mode, k.Data = fi.Mode(), []byte(to)
		default:
			k.Mode = fi.Mode()
		}
		out = append(out, k)
		if !all || !k.Mode.IsDir() {
			return
		}
		entries, _ := os.ReadDir(p)
		for _, e := range entries[:min(len(entries), maxKept)] {
			if !strings.HasSuffix(e.Name(), ".sample") {
				note(filepath.Join(p, e.Name()), git, false)
			}
		}
	}
	for _, g := range c.Repositories {
		if fi, err := os.Lstat(g); err == nil && !fi.IsDir() {
			note(g, true, false)
			continue
		}
		for _, n := range gitNames {
			note(filepath.Join(g, n), true, n == "hooks" || n == "info")
		}
	}
	for _, p := range c.Guarded {
		note(p, false, true)
	}
	return out
}

// heldFile in the run's directory says that mounts hold what is to be kept.
const heldFile = "held"

// apartFile there is for Run.Exec, where it starts the program anew.
const apartFile = "apart.json"

func held(run string) bool {
	fi, err := os.Lstat(filepath.Join(run, heldFile))
	return err == nil && fi.Size() > 0
}

// aside is the end of the name under which something that a run has made is kept.
const aside = ".set-aside-by-safeshell"

// putBack makes what has changed what it was, and returns its paths. What is new
// is set aside. held: what was there could not be changed by the run, so that
// only what it could make anew is looked at.
func putBack(before []kept, held bool) (changed []string) {
	known := map[string]bool{}
	for _, k := range before {
		known[string(k.Path)] = true
	}
	for _, k := range before {
		p := string(k.Path)
		fi, err := os.Lstat(p)
		_, parent := os.Stat(filepath.Dir(p))
		switch {
		case k.Git && parent != nil: // the repository was moved or removed: nothing of it is run
		case k.Gone && err != nil, held && k.Gone && k.Git && k.All:
		case held && !k.Gone && identity(p) == k.Real:
		case k.Gone:
			changed = append(changed, setAside(p)...)
		case k.Mode.IsDir():
			if err != nil || !fi.IsDir() {
				changed = append(changed, setAside(p)...)
				_ = os.Mkdir(p, k.Mode.Perm())
				continue
			}
			entries, _ := os.ReadDir(p)
			for _, e := range entries {
				f := filepath.Join(p, e.Name())
				if k.All && !known[f] && !strings.HasSuffix(f, aside) && !strings.HasSuffix(f, ".sample") {
					changed = append(changed, setAside(f)...)
				}
			}
		default:
			if !same(k, fi, err) && restore(k) {
				changed = append(changed, p)
			}
		}
	}
	return changed
}

// identity names what a path leads to and the directory it is in, so that another in
// its stead is noticed.
func identity(p string) string {
	real, _ := filepath.EvalSymlinks(p)
	var st unix.Stat_t
	_ = unix.Stat(filepath.Dir(real), &st)
	return fmt.Sprintf("%q %d:%d", real, st.Dev, st.Ino)
}

func same(k kept, fi fs.FileInfo, err error) bool {
	if err != nil || fi.Mode() != k.Mode {
		return false
	}
	if k.Mode&fs.ModeSymlink != 0 {
		to, err := os.Readlink(string(k.Path))
		return err == nil && to == string(k.Data)
	}
	data, err := os.ReadFile(string(k.Path))
	return err == nil && bytes.Equal(data, k.Data)
}

// restore writes a file as it was.
func restore(k kept) bool {
	p := string(k.Path)
	_ = setAside(p)
	if k.Mode&fs.ModeSymlink != 0 {
		return os.Symlink(string(k.Data), p) == nil
	}
	_ = os.MkdirAll(filepath.Dir(p), 0o755)
	return os.WriteFile(p, k.Data, k.Mode.Perm()) == nil
}

func setAside(p string) []string {
	if os.Rename(p, p+aside) != nil {
		return nil
	}
	if fi, err := os.Lstat(p + aside); err == nil && fi.Mode().IsRegular() {
		_ = os.Chmod(p+aside, 0o600)
	}
	return []string{p}
}

// defuse sets aside what a repository that a run has made would run.
func defuse(git string) (changed []string) {
	if text, err := os.ReadFile(filepath.Join(git, "config")); err != nil || runsKey.Match(text) {
		changed = append(changed, setAside(filepath.Join(git, "config"))...)
	}
	if _, err := os.Lstat(filepath.Join(git, "commondir")); err == nil {
		changed = append(changed, setAside(filepath.Join(git, "commondir"))...)
	}
	hooks, _ := os.ReadDir(filepath.Join(git, "hooks"))
	for _, h := range hooks {
		if !strings.HasSuffix(h.Name(), ".sample") {
			changed = append(changed, setAside(filepath.Join(git, "hooks", h.Name()))...)
		}
	}
	return changed
}
