package eval

import (
	"io/fs"
	"path"
	"path/filepath"
	"safeshell/command"
	"safeshell/gitrepo"
	"safeshell/internal/files"
	"strings"

	"golang.org/x/sys/unix"
)

// maxWalk bounds how many files of a directory are looked at to say that all
// of it can be had again; of all directories that a command names, four times
// as many.
const maxWalk = 5000

// maxExpand bounds the names that a pattern is expanded to, and four times as
// many those of all patterns of a command.
const maxExpand = 1000

// isScratch says that a path lies in a directory for temporary files. Where a
// home or a repository lives in one (containers, tests), what is beside the
// home and what is in the repository is somebody's work, not scratch.
func (v *view) isScratch(p tpath) bool {
	if p.rootless {
		return false
	}
	home := v.r.o.Paths.User
	for _, d := range [...]string{"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders", v.r.getenv("TMPDIR"), v.r.getenv("XDG_RUNTIME_DIR")} {
		if !p.below(d) {
			continue
		}
		if below(home, d) {
			first, _, _ := strings.Cut(home[len(d)+1:], "/")
			if p.belowOrIs(d + "/" + first) {
				continue
			}
		}
		if v.c.Remote == "" {
			if s, ok := p.literalPrefix(); ok && below(v.r.gitTopOf(s), d) {
				continue
			}
		}
		return true
	}
	return false
}

// scratchTarget says it of a target: also of what links lead to from there.
func (v *view) scratchTarget(t *target) bool {
	if !v.isScratch(t.path) {
		return false
	}
	if t.path.glob && len(v.links()) == 0 {
		return true // the names that it stands for
	}
	for i := range t.real {
		if x := &t.real[i]; !v.isScratch(*x) && !v.belowLinked(x, "/tmp") && !v.belowLinked(x, "/var/tmp") && !v.belowLinked(x, v.r.tempDir()) {
			return false
		}
	}
	return true
}

// belowLinked says that a path lies in what a directory for temporary files is a
// link to.
func (v *view) belowLinked(p *tpath, dir string) bool {
	real := v.r.realDirOf(dir)
	return real != dir && p.below(real)
}

// Where servers keep projects that need not be repositories.
const projectHomes = "/srv /opt /var/www /usr/src /usr/local/src /mnt /media /Volumes"

// inProject says that a path lies in a project, whatever directory that is in:
// in the home (a service's may be below /var), in a repository, unless the
// system itself is one (etckeeper), or in the working directory where projects
// are kept.
func (v *view) inProject(p tpath) bool {
	if p.rootless || v.c.Remote != "" {
		return false
	}
	if home := v.r.o.Paths.User; strings.Count(home, "/") > 1 && p.below(home) {
		return true
	}
	s, ok := p.literalPrefix()
	if !ok {
		return false
	}
	if top := v.r.gitTopOf(s); top != "" && p.belowOrIs(top) {
		return strings.Count(top, "/") > 1 && !strings.HasPrefix(top, "/etc/")
	}
	for d := range strings.FieldsSeq(projectHomes) {
		if below(v.dir, d) && p.belowOrIs(v.dir) {
			return true
		}
	}
	return false
}

// isTempDir says that the path is a directory for temporary files itself.
func (v *view) isTempDir(p tpath) bool {
	s, ok := p.exact()
	return ok && (s == "/tmp" || s == "/var/tmp" || s == "/dev/shm" || s == "/private/tmp" || s == v.r.tempDir())
}

// below says that the path lies in directory d and is not d itself.
func (p tpath) below(d string) bool { return p.inside(d, false) }

func (p tpath) belowOrIs(d string) bool { return p.inside(d, true) }

func (p tpath) inside(d string, itself bool) bool {
	if p.rootless || len(d) < 2 || d[0] != '/' {
		return false
	}
	i := 0
	for len(d) > 0 {
		var c string
		c, d, _ = strings.Cut(d, "/")
		if c == "" {
			continue
		}
		if i >= len(p.comps) || p.comps[i].unknown || p.comps[i].glob || p.comps[i].text != c {
			return false
		}
		i++
	}
	return itself || i < len(p.comps)
}

// below says that path a lies in directory b.
func below(a, b string) bool {
	return b != "" && len(a) > len(b) && strings.HasPrefix(a, b) && (b[len(b)-1] == '/' || a[len(b)] == '/')
}

// Names of what tools make and can make again. The first list counts
// everywhere, the second inside a repository where git tracks nothing of it.
const (
	madeAnywhere = "node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .next .nuxt .svelte-kit .parcel-cache .turbo .gradle .venv venv .cache .eggs coverage .nyc_output htmlcov .ipynb_checkpoints DerivedData .dart_tool .angular .sass-cache .eslintcache .stylelintcache bower_components .vite .output storybook-static .docusaurus .jekyll-cache .hypothesis .coverage .DS_Store Thumbs.db .terraform .pnpm-store coverage.out .ccls-cache .clangd .bloop .metals .zig-cache zig-cache zig-out .stack-work dist-newstyle _build .elixir_ls CMakeFiles CMakeCache.txt .vercel .netlify .serverless .aws-sam cdk.out .expo .vagrant.d"
	madeInRepo   = "build dist out target bin obj tmp temp log logs cache vendor release Release debug Debug site public/build cmake-build-debug cmake-build-release lib-cov generated gen reports test-results playwright-report"
	madeSuffixes = ".o .a .lo .la .obj .pyc .pyo .class .log .tmp .temp .swp .swo ~ .tsbuildinfo .gcda .gcno .profraw .profdata .rlib .rmeta .elc .orig .rej .pid .cache .egg-info .dSYM .d.ts.map"
	cachesInHome = ".cache .npm/_cacache .npm/_logs .npm/_npx .yarn/cache .gradle/caches .m2/repository .cargo/registry .cargo/git go/pkg .local/share/pnpm .bun/install/cache .deno Library/Caches .nuget/packages .ivy2/cache .composer/cache .pub-cache .npm"
	cachesOfSys  = "/var/cache /var/lib/apt/lists"
)

// made says that a path is build output, a cache or a log by its name.
func (v *view) made(p tpath) bool {
	if p.rootless && len(p.comps) == 0 {
		return false
	}
	for _, d := range strings.Fields(cachesOfSys) {
		if p.below(d) {
			return true
		}
	}
	home := v.r.o.Paths.User
	if home != "" {
		for rest := cachesInHome; rest != ""; {
			var d string
			d, rest, _ = strings.Cut(rest, " ")
			if p.belowOrIs(home + "/" + d) {
				return true
			}
		}
	}
	if n := len(p.comps); n > 0 && !p.comps[n-1].unknown {
		last := p.comps[n-1].text
		if command.Has(madeAnywhere, last) {
			return true // also below directories that are not known: find . -name .DS_Store
		}
		for rest := madeSuffixes; rest != ""; {
			var s string
			s, rest, _ = strings.Cut(rest, " ")
			if strings.HasSuffix(last, s) && last != s {
				return true
			}
		}
		if i := strings.LastIndex(last, ".log."); i > 0 {
			return true
		}
	}
	// Components below the home, or the repository, or anywhere.
	first := 0
	top := ""
	if abs, ok := p.literalPrefix(); ok {
		top = v.r.gitTopOf(abs)
		switch {
		case top != "":
			first = len(exactPath(top).comps)
		case home != "" && below(abs, home):
			first = len(exactPath(home).comps)
		}
	}
	for i := first; i < len(p.comps); i++ {
		c := p.comps[i]
		if c.unknown {
			break
		}
		if command.Has(madeAnywhere, c.text) {
			return true
		}
		if command.Has(madeInRepo, c.text) && top != "" && i >= first {
			dir := tpath{comps: p.comps[:i+1]}
			if s, ok := dir.exact(); ok && v.untracked(top, s) {
				return true
			}
		}
	}
	return false
}

// literalPrefix is the directory of the path as far as it is literal.
func (p tpath) literalPrefix() (string, bool) {
	if p.rootless {
		return "", false
	}
	var b strings.Builder
	for _, c := range p.comps {
		if c.unknown || c.glob {
			break
		}
		b.WriteByte('/')
		b.WriteString(c.text)
	}
	if b.Len() == 0 {
		return "/", true
	}
	return b.String(), true
}

func (v *view) untracked(top, file string) bool {
	x, _ := v.r.index(top)
	return x != nil && len(x.Find(relTo(top, file))) == 0
}

func relTo(top, file string) string {
	if top == file {
		return ""
	}
	return strings.TrimPrefix(file, strings.TrimSuffix(top, "/")+"/")
}

// index returns the index of the repository at top, read once. known is false
// when only git itself can read it.
func (r *Rules) index(top string) (x *gitrepo.Index, known bool) {
	if c, ok := r.indexes[top]; ok {
		return c.x, c.known
	}
	p := gitrepo.Around(r.gitAsker(), top)
	x, known = gitrepo.ReadIndex(p)
	if r.indexes == nil {
		r.indexes = map[string]cachedIndex{}
	}
	r.indexes[top] = cachedIndex{x, known, p}
	return x, known
}

type cachedIndex struct {
	x     *gitrepo.Index
	known bool
	place gitrepo.Repo
}

// recoverable says that what would be lost can be had again: it is scratch,
// build output or a cache, it does not exist, or git holds it.
func (v *view) recoverable(t *target) bool {
	p := t.path
	switch {
	case v.c.Remote != "":
		return v.isScratch(p)
	case p.rootless || p.unknown:
		return v.isScratch(p) || v.made(p)
	case p.glob:
		if len(t.real) == 0 {
			return !t.expandFailed // nothing matches: nothing is lost
		}
		for _, x := range t.real {
			if s, ok := x.exact(); !ok || !v.recoverableFile(s, t) {
				return false
			}
		}
		return true
	}
	s, _ := p.exact()
	if !v.recoverableFile(s, t) {
		return false
	}
	for _, x := range t.real {
		if s, ok := x.exact(); !ok || !v.recoverableFile(s, t) {
			return false
		}
	}
	return true
}

func (v *view) recoverableFile(file string, t *target) bool {
	if !v.spend(4) {
		return false
	}
	var st unix.Stat_t
	if err := unix.Lstat(file, &st); err == unix.ENOENT || err == unix.ENOTDIR {
		return true
	}
	p := exactPath(file)
	if t.kind != accDiscard && (v.isScratch(p) || v.made(p)) {
		return true
	}
	kind := uint32(st.Mode) & unix.S_IFMT
	if kind == unix.S_IFREG && st.Size == 0 && t.kind != accDiscard {
		return true
	}
	if t.kind == accEmpty && kind != unix.S_IFREG && kind != unix.S_IFLNK && kind != unix.S_IFDIR {
		return kind != unix.S_IFBLK // a device or a pipe: nothing is emptied, but a disk is
	}
	top := v.r.gitTopOf(filepath.Dir(file))
	if kind == unix.S_IFDIR {
		top = v.r.gitTopOf(file)
	}
	if top == "" || file == filepath.Join(top, ".git") || below(file, filepath.Join(top, ".git")) {
		return false
	}
	x, known := v.r.index(top)
	if !known || t.staged && x != nil && len(x.Find(relTo(top, file))) > 0 {
		return v.cleanByGit(top, file, t)
	}
	rel := relTo(top, file)
	entries := x.Find(rel)
	if kind != unix.S_IFDIR || t.kind == accDiscard {
		if len(entries) == 0 {
			// Git touches only what it tracks; but out of a commit it takes a file
			// over one that it does not track.
			return t.kind == accDiscard && (!t.staged || !v.overwritesUntracked(v.r.indexes[top].place, rel))
		}
		if len(entries) > maxWalk {
			return v.cleanByGit(top, file, t)
		}
		for i := range entries {
			if clean, exists := x.Clean(&entries[i]); exists && !clean {
				return v.mayBeFiltered(top) && v.cleanByGit(top, file, t)
			}
		}
		return true
	}
	return v.cleanTree(x, top, file)
}

// cleanTree says that each file in a directory can be had again.
func (v *view) cleanTree(x *gitrepo.Index, top, dir string) bool {
	count := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if count++; count > maxWalk || v.walked > 4*maxWalk || !v.spend(4) {
			return fs.ErrInvalid
		}
		v.walked++
		if v.made(exactPath(file)) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if d.Name() == ".git" || file != dir && files.Exists(filepath.Join(file, ".git")) {
				return fs.ErrInvalid
			}
			return nil
		}
		entries := x.Find(relTo(top, file))
		if len(entries) != 1 {
			if fi, err := d.Info(); err == nil && fi.Mode().IsRegular() && fi.Size() == 0 {
				return nil
			}
			return fs.ErrInvalid
		}
		if clean, _ := x.Clean(&entries[0]); !clean {
			return fs.ErrInvalid
		}
		return nil
	})
	return err == nil
}

// mayBeFiltered says that stored and checked out content may differ (line ends,
// filters), so that only git can compare them.
func (v *view) mayBeFiltered(top string) bool {
	if files.Exists(filepath.Join(top, ".gitattributes")) {
		return true
	}
	config, _ := files.ReadHead(filepath.Join(v.r.indexes[top].place.Common, "config"))
	config = strings.ToLower(config)
	return strings.Contains(config, "autocrlf") || strings.Contains(config, "[filter")
}

// cleanByGit asks git.
func (v *view) cleanByGit(top, file string, t *target) bool {
	kind := t.kind
	place := v.r.indexes[top].place
	place.Dir = top
	untracked := "all"
	ignored := "matching"
	if kind == accDiscard {
		untracked, ignored = "no", "no"
	}
	rel := relTo(top, file)
	if rel == "" {
		rel = "."
	}
	known, err := place.Git("ls-files", "--stage", "-v", "-z", "--", ":(literal)"+rel)
	if err != nil {
		return false
	}
	for _, entry := range strings.Split(strings.TrimSuffix(known, "\x00"), "\x00") {
		// Only what git looks at when it is asked for changes (assume-unchanged,
		// skip-worktree have other letters). Submodules are repositories of their
		// own; git would run in each under its configuration.
		if entry != "" && !strings.HasPrefix(entry, "H ") || strings.HasPrefix(entry, "H 160000 ") {
			return false
		}
	}
	out, err := place.Git("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--untracked-files="+untracked, "--ignored="+ignored, "--", ":(literal)"+rel)
	if err != nil {
		return false
	}
	for _, line := range strings.Split(out, "\x00") {
		if len(line) < 4 {
			continue
		}
		if line[1] != ' ' || t.staged { // staged only: git holds the content
			return false
		}
	}
	// A file that git does not know at all gives no line when it is alone in
	// an ignored directory; tracked files do.
	if kind == accDiscard {
		return !t.staged || !v.overwritesUntracked(place, rel)
	}
	return known != ""
}

// resolve reads a target's path, follows its symlinks and expands its
// patterns.
func (v *view) resolve(t *target) {
	if t.resolved {
		return
	}
	t.resolved = true
	v.spend(1)
	if s := t.same; s != nil {
		v.resolve(s)
		t.path, t.real, t.expanded, t.expandFailed = s.path, s.real, s.expanded, s.expandFailed
		return
	}
	dir := v.dir
	if t.dir != "" {
		dir = t.dir
	}
	plain := v.plainPath(&t.path, t.word, dir)
	linked := v.i > 0 && len(v.links()) > 0
	if plain && !linked && dir == v.dir && v.r.dirPlain && v.c.Remote == "" && v.isReal(t.word.Parts[0].Text, t.followed() || t.path.slash) {
		return
	}
	if !plain {
		t.path = v.pathOf(t.word, dir)
		t.path.findHome(v.r.o.Paths.User)
	}
	s, exact := t.path.exact()
	// A directory that one is in is what its name leads to.
	followed := t.followed() || t.path.slash || t.path.base > 0 && t.path.base == len(t.path.comps)
	if dir != v.dir {
		t.path.base = 0 // what is known of the working directory says nothing here
	}
	if linked {
		for _, x := range v.throughLinks(t.path, followed) {
			x.findHome(v.r.o.Paths.User)
			if x.glob && !x.unknown && !x.rootless && v.c.Remote == "" {
				v.expand(t, x)
			} else {
				t.real = append(t.real, x)
			}
		}
	}
	if v.c.Remote != "" {
		return
	}
	if exact {
		real := v.r.realPath(s, followed)
		if real != s {
			t.real = append(t.real, exactPath(real))
		}
		return
	}
	if t.path.glob && !t.path.unknown && !t.path.rootless {
		v.expand(t, t.path)
	}
}

// expand adds the files that a pattern stands for.
func (v *view) expand(t *target, p tpath) {
	if v.expanded > 4*maxExpand {
		t.expandFailed = true
		return
	}
	names, complete := v.r.expandPath(p)
	t.expanded = true
	v.expanded += len(names)
	t.expandFailed = t.expandFailed || !complete
	for _, n := range names {
		t.real = append(t.real, exactPath(n))
	}
}

// realPath resolves the symlinks of a clean absolute path as far as it exists;
// the last component only when final.
func (r *Rules) realPath(s string, final bool) string {
	at := strings.LastIndexByte(s, '/')
	dir, base := s[:max(at, 1)], s[at+1:]
	joined := s
	if real := r.realDirOf(dir); real != dir {
		joined = filepath.Join(real, base)
	}
	if !final || base == "" {
		return joined
	}
	r.budget.Spend(2)
	var st unix.Stat_t
	if unix.Lstat(joined, &st) == nil && uint32(st.Mode)&unix.S_IFMT == unix.S_IFLNK {
		if real, err := filepath.EvalSymlinks(joined); err == nil {
			return real
		}
	}
	return joined
}

// realDirOf resolves a directory, remembering the answer.
func (r *Rules) realDirOf(dir string) string {
	if d, ok := r.realDirs[dir]; ok {
		return d
	}
	if dir == "/" || !r.budget.Spend(2+len(dir)/64) {
		return dir
	}
	real := r.realPath(dir, true)
	if r.realDirs == nil {
		r.realDirs = map[string]string{}
	}
	r.realDirs[dir] = real
	return real
}

// expandPath returns the existing files that a path's patterns match.
func (r *Rules) expandPath(p tpath) (names []string, complete bool) {
	names = []string{"/"}
	for i, c := range p.comps {
		var next []string
		for _, dir := range names {
			if !c.glob {
				f := path.Join(dir, c.text)
				if !r.budget.Spend(2) {
					return nil, false
				}
				if i == len(p.comps)-1 && !files.Exists(f) {
					continue
				}
				next = append(next, f)
				continue
			}
			list, ok := files.Names(dir)
			if !ok || !r.budget.Spend(8+len(list)/4) {
				return nil, false
			}
			for _, n := range list {
				if globMatch(c.text, n) {
					if next = append(next, path.Join(dir, n)); len(next) > maxExpand {
						return nil, false
					}
				}
			}
		}
		names = next
	}
	return names, true
}
