package eval

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/gitrepo"
	"safeshell/script"
)

// Loss says in a person's terms what command i of the analysis would destroy:
// how many files that cannot be had again, which and how large, how many
// commits. It looks at the disk and may ask git, so it is for who is about to be
// asked; nil when nothing is known to be lost.
func (r *Rules) Loss(a *script.Analysis, i int) []string {
	v := newView(r, a, i)
	if v.c.Remote != "" {
		return nil
	}
	for _, inner := range v.inner() {
		for k := range inner.Commands {
			if out := newView(r, inner, k).loss(); out != nil {
				return out
			}
		}
	}
	return v.loss()
}

func (v *view) loss() []string {
	if v.line.name == "git" {
		if out, known := v.gitLoss(); known {
			return out
		}
	}
	return v.fileLoss()
}

// lost are files that would be lost.
type lost struct {
	count int
	bytes int64
	names []string // the first few
	more  bool     // there are more than were looked at
	base  string
}

// shownNames is how many names are said.
const shownNames = 3

func (l *lost) add(file string, size int64) {
	l.count++
	l.bytes += size
	if len(l.names) < shownNames {
		if rel, err := filepath.Rel(l.base, file); err == nil && !strings.HasPrefix(rel, "../") {
			file = rel
		}
		l.names = append(l.names, quote(file))
	}
}

// text says how many, how large and which.
func (l *lost) text(what string) string {
	if l.count == 0 {
		return ""
	}
	if l.count == 1 && !l.more {
		return fmt.Sprintf("%s (1 file, %s)%s", l.names[0], sizeText(l.bytes), what)
	}
	n := fmt.Sprint(l.count)
	if l.more {
		n = "more than " + n
	}
	return fmt.Sprintf("%s files (%s)%s: %s", n, sizeText(l.bytes), what, listText(l.names, l.count))
}

// listText names the first of count things.
func listText(names []string, count int) string {
	s := strings.Join(names, ", ")
	if count > len(names) {
		s += fmt.Sprintf(" and %d more", count-len(names))
	}
	return s
}

func sizeText(n int64) string {
	if n < 1024 {
		return plural(int(n), "byte")
	}
	x, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if x /= 1024; x < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", x, unit)
}

// fileLoss counts the files that the command deletes or empties and that cannot
// be had again; those of rm go to the trash, all of them.
func (v *view) fileLoss() []string {
	l := lost{base: v.dir}
	var out []string
	trash := v.line.name == "rm" || v.line.name == "grm"
	seen := map[string]bool{}
	for i := range v.targets() {
		t := &v.accesses[i]
		if t.kind != accDelete && t.kind != accEmpty {
			continue
		}
		v.resolve(t)
		roots, pattern, known := t.roots()
		if !known {
			out = append(out, "what "+clip(v.textOf(t.word))+" stands for is not known")
			continue
		}
		for _, root := range roots {
			if !seen[root] {
				seen[root] = true
				v.count(&l, root, pattern, t, trash)
			}
		}
	}
	what := ""
	if trash {
		what = ", to the trash"
	}
	if s := l.text(what); s != "" {
		out = append(out, s)
	}
	return out
}

// roots are the files and directories that a target stands for, and the pattern
// that names in them must have: what find lists is below a directory.
func (t *target) roots() (roots []string, pattern string, known bool) {
	switch p := t.path; {
	case p.rootless:
		return nil, "", false
	case p.unknown:
		dir, ok := p.literalPrefix()
		last := p.comps[len(p.comps)-1]
		if !ok || dir == "/" {
			return nil, "", false
		}
		if !last.unknown && last.text != "*" {
			pattern = last.text
		}
		return []string{dir}, pattern, true
	case p.glob:
		for _, x := range t.real {
			if s, ok := x.exact(); ok {
				roots = append(roots, s)
			}
		}
		slices.Sort(roots)
		return roots, "", !t.expandFailed
	}
	s, ok := t.path.exact()
	return []string{s}, "", ok
}

// count adds what would be lost of a file or of all below a directory.
func (v *view) count(l *lost, root, pattern string, t *target, all bool) {
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if v.walked++; v.walked > maxWalk {
			return fs.ErrInvalid
		}
		if err != nil || d.IsDir() {
			if err == nil && file != root && t.kind == accEmpty {
				return fs.SkipDir
			}
			return nil
		}
		if pattern != "" && !globMatch(pattern, d.Name()) || !all && v.recoverableFile(file, t) {
			return nil
		}
		var st unix.Stat_t
		if unix.Lstat(file, &st) == nil {
			l.add(file, st.Size)
		}
		return nil
	})
	l.more = l.more || err != nil
}

// gitLoss says what a git command would lose; known is false when its files say
// it.
func (v *view) gitLoss() (out []string, known bool) {
	place, k := v.gitPlaceOf()
	if k != sure {
		return nil, true
	}
	ops, ok := texts(v.operandList(1))
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	switch v.line.sub {
	case "clean":
		add(v.cleaned(place, ops))
	case "reset":
		add(changed(place, "HEAD"))
		if len(ops) == 1 && ok {
			add(commits(place, "of this branch that no other has", "HEAD", "--not", ops[0], "--exclude="+v.headBranch(place), "--branches", "--remotes", "--tags"))
		}
	case "checkout", "restore", "switch":
		paths, _ := texts(v.discarded())
		if v.line.sub == "switch" || len(paths) == 0 {
			paths = []string{"."}
		}
		add(changed(place, append([]string{"--"}, paths...)...))
	case "branch":
		for _, b := range ops {
			add(commits(place, "that only "+quote(b)+" has", "refs/heads/"+b, "--not", "--exclude="+b, "--branches", "--remotes", "--tags"))
		}
	case "stash":
		add(stashes(place, slices.Contains(ops, "clear") || v.line.flag("clear")))
	case "push":
		for _, s := range v.pushed(place, ops) {
			add(s)
		}
	default:
		return nil, false
	}
	return out, true
}

// texts are the words that are known; ok when all are, and none is an option.
func texts(words []script.Word) (out []string, ok bool) {
	ok = true
	for _, w := range words {
		s, known := w.Text()
		if !known || s == "" || s[0] == '-' {
			ok = false
			continue
		}
		out = append(out, s)
	}
	return out, ok
}

func (v *view) headBranch(p gitrepo.Repo) string {
	name, _ := p.Branch()
	return name
}

// changed counts the tracked files that differ.
func changed(p gitrepo.Repo, args ...string) string {
	out, err := p.Git(append([]string{"diff", "--no-ext-diff", "--no-textconv", "--numstat", "-z"}, args...)...)
	if err != nil || out == "" {
		return ""
	}
	n, plus, minus := 0, 0, 0
	var names []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			continue
		}
		a, _ := strconv.Atoi(f[0]) // "-" for binary files
		b, _ := strconv.Atoi(f[1])
		n, plus, minus = n+1, plus+a, minus+b
		if len(names) < shownNames {
			names = append(names, quote(f[2]))
		}
	}
	return fmt.Sprintf("uncommitted changes of %s (+%d -%d lines): %s", plural(n, "file"), plus, minus, listText(names, n))
}

// commits counts what git log lists.
func commits(p gitrepo.Repo, which string, args ...string) string {
	out, err := p.Git(append([]string{"log", "--no-show-signature", "--format=%h %s"}, append(args, "--")...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || lines[0] == "" {
		return ""
	}
	var names []string
	for _, l := range lines[:min(len(lines), shownNames)] {
		names = append(names, briefly(l))
	}
	return fmt.Sprintf("%s %s: %s", plural(len(lines), "commit"), which, listText(names, len(lines)))
}

func stashes(p gitrepo.Repo, all bool) string {
	out, err := p.Git("log", "-g", "--format=%gd %gs", "refs/stash", "--")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || lines[0] == "" {
		return ""
	}
	if all {
		return fmt.Sprintf("%s: %s", strings.Replace(plural(len(lines), "stash"), "stashs", "stashes", 1), listText(lines[:min(len(lines), shownNames)], len(lines)))
	}
	return "1 stash: " + briefly(lines[0])
}

// briefly is a line of git's, cut to a bearable length.
func briefly(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// pushed counts the remote's commits that a forced push would take from its
// branches, as they were last fetched.
func (v *view) pushed(p gitrepo.Repo, ops []string) (out []string) {
	remote, refs := "origin", []string(nil)
	if len(ops) > 0 {
		remote, refs = ops[0], ops[1:]
	}
	head := v.headBranch(p)
	if len(refs) == 0 {
		refs = []string{head}
	}
	gone := v.line.flag("--delete") || v.line.flag("-d")
	for _, ref := range refs {
		from, to, two := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if !two {
			to = from
		}
		from, to = strings.TrimPrefix(from, "refs/heads/"), strings.TrimPrefix(to, "refs/heads/")
		if to == "HEAD" {
			to = head
		}
		if strings.HasPrefix(from, "-") {
			continue // to git log it would be an option
		}
		args := []string{"refs/remotes/" + remote + "/" + to, "--not", from}
		if gone || from == "" {
			args = []string{args[0], "--not", "--branches", "--exclude=" + remote + "/" + to, "--remotes", "--tags"}
		}
		if s := commits(p, "of "+quote(remote+"/"+to)+", as it was last fetched", args...); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// cleaned counts the files that git clean would delete.
func (v *view) cleaned(p gitrepo.Repo, paths []string) string {
	args := []string{"ls-files", "--others", "-z"}
	switch {
	case v.line.flag("-X"):
		args = append(args, "--ignored", "--exclude-standard")
	case !v.line.flag("-x"):
		args = append(args, "--exclude-standard")
	}
	whole := v.line.flag("-d") || len(paths) > 0
	if !whole {
		args = append(args, "--directory")
	}
	out, err := p.Git(append(append(args, "--"), paths...)...)
	if err != nil {
		return ""
	}
	l := lost{base: p.Dir}
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" || strings.HasSuffix(name, "/") {
			continue
		}
		file := filepath.Join(p.Dir, name)
		var st unix.Stat_t
		if unix.Lstat(file, &st) == nil {
			l.add(file, st.Size)
		}
	}
	return l.text(" that git does not hold")
}
