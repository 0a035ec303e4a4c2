package eval

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"safeshell/script"
)

// aliased is what the analysis makes of a line with the world's aliases: the
// commands that git runs for it.
func (w *world) aliased(r *Rules, dir, line string) (out []string) {
	w.t.Helper()
	a := script.Parse(line, script.Options{Dialect: script.Bash, Dir: dir, Lookup: w.lookup, GitAliases: r.GitAliases})
	for _, u := range a.Unknown {
		out = append(out, "unknown: "+u.Reason)
	}
	for _, c := range a.Commands {
		if len(c.Via) == 0 {
			continue
		}
		words := make([]string, 0, len(c.Argv))
		for _, a := range c.Argv {
			s, _ := a.Text()
			words = append(words, s)
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// Aliases are found wherever git finds them.
func TestGitAliasPlaces(t *testing.T) {
	w := newWorld(t)
	repo := w.repo(filepath.Join(w.home, "repo"), "main")
	tree := filepath.Join(w.home, "tree")
	w.git(repo, "config", "extensions.worktreeConfig", "true")
	w.git(repo, "worktree", "add", "-q", "-b", "other", tree)
	w.git(repo, "config", "alias.here", "push --force")
	w.git(tree, "config", "--worktree", "alias.tree", "!rm -rf build")
	w.write(filepath.Join(w.home, ".gitconfig"), "[alias]\n\thome = reset \\\n --hard\n\tCase = stash \"clear\" # a comment\n"+
		"[alias \"two\"]\n\tcommand = clean -f\n[include]\n\tpath = more\n[includeIf \"gitdir:"+repo+"/\"]\n\tpath = only\n")
	w.write(filepath.Join(w.home, "more"), "[alias]\n\tincluded = branch -D\n\tempty =\n\tbare\n")
	w.write(filepath.Join(w.home, "only"), "[alias]\n\tonly = reflog expire\n")
	w.write(filepath.Join(w.home, ".config/git/config"), "[alias]\n\txdg = gc\n")
	w.write(filepath.Join(w.home, "env"), "[alias]\n\tenv = prune\n")
	r, _ := w.rules()
	for _, c := range []struct{ dir, line, want string }{
		{repo, "git here origin", "git push --force origin"},
		{filepath.Join(repo, "sub"), "git here", "git push --force"},
		{tree, "git here", "git push --force"},
		{tree, "git tree", "rm -rf build"},
		{repo, "git tree", ""},
		{w.proj, "git here", ""},
		{w.proj, "git -C ../repo here", "git push --force"},
		{w.proj, "git --git-dir=" + repo + "/.git here", "git --git-dir=" + repo + "/.git push --force"},
		{w.proj, "GIT_DIR=" + repo + "/.git git here", "git push --force"},
		{w.proj, "git home", "git reset --hard"},
		{w.proj, "git case", "git stash clear"},
		{w.proj, "git CASE", "git stash clear"},
		{w.proj, "git two", "git clean -f"},
		{w.proj, "git included x", "git branch -D x"},
		{w.proj, "git empty", ""},
		{w.proj, "git bare", ""},
		{w.proj, "git only", ""},
		{repo, "git only", "git reflog expire"},
		{w.proj, "git xdg", "git gc"},
		{w.proj, "GIT_CONFIG_GLOBAL=" + filepath.Join(w.home, "env") + " git env", "git prune"},
		{w.proj, "GIT_CONFIG_GLOBAL=" + filepath.Join(w.home, "env") + " git home", ""},
		{filepath.Join(w.home, "not", "there"), "git home", "git reset --hard"},
		{"", "git home", "git reset --hard"},
	} {
		if got := strings.Join(w.aliased(r, c.dir, c.line), "; "); got != c.want {
			t.Errorf("%s, in %s: %q, not %q", c.line, strings.TrimPrefix(c.dir, w.root), got, c.want)
		}
	}
}

// An alias's words, and where it runs, are what the real git makes of it.
func TestGitAliasLikeGit(t *testing.T) {
	w := newWorld(t)
	repo := w.repo(filepath.Join(w.home, "re po"), "main")
	r, _ := w.rules()
	for _, text := range []string{
		`a b`, `'a b' c`, `"a b"  c`, `a\ b`, `'a'"b"c`, `"a'b"`, `'a"b'`, `"a\"b"`, `a\\b`, `"x\\y"`, "a\tb", `'' b`, `""`, `'a\b'`, `a"b c"d`, `$HOME`, `*`, `~`, `# x`, `;x`, `"a\nb"`,
	} {
		w.git(repo, "config", "alias.q", "rev-parse --sq-quote "+text)
		cmd := exec.Command("git", "q", "operand")
		cmd.Dir, cmd.Env = filepath.Join(repo, "sub"), w.env
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: git: %v", text, err)
			continue
		}
		a := script.Parse("git q operand", script.Options{Dialect: script.Bash, Dir: cmd.Dir, Lookup: w.lookup, GitAliases: r.GitAliases})
		theirs := script.Parse("echo"+string(out), script.Options{Dialect: script.Bash, Lookup: w.lookup}).Commands[0].Argv[1:]
		if len(a.Commands) != 2 || len(a.Unknown) > 0 {
			t.Errorf("%s: %d commands, %v", text, len(a.Commands), a.Unknown)
			continue
		}
		ours := a.Commands[1].Argv[3:]
		if !slices.EqualFunc(ours, theirs, func(x, y script.Word) bool {
			s, known := x.Text()
			u, _ := y.Text()
			return known && s == u
		}) {
			t.Errorf("%s: %v, git says %s", text, ours, out)
		}
	}
	w.git(repo, "config", "alias.where", "!pwd >"+filepath.Join(w.home, "where"))
	cmd := exec.Command("git", "where")
	cmd.Dir, cmd.Env = filepath.Join(repo, "sub"), w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	where, _ := os.ReadFile(filepath.Join(w.home, "where"))
	a := script.Parse("git where", script.Options{Dialect: script.Bash, Dir: cmd.Dir, Lookup: w.lookup, GitAliases: r.GitAliases})
	if dir, _ := a.Commands[len(a.Commands)-1].Dir.Text(); dir+"\n" != string(where) {
		t.Errorf("it runs in %s, git says %s", dir, where)
	}
}

// A git that does not answer, or is not there, and a configuration that it
// refuses.
func TestGitAliasesUnanswered(t *testing.T) {
	needsGit(t)
	w := newWorld(t)
	w.write(filepath.Join(w.home, ".gitconfig"), "[alias\n")
	r, _ := w.rules()
	if got := w.aliased(r, w.proj, "git x"); got != nil {
		t.Errorf("a broken configuration: %q", got)
	}
	bin := filepath.Join(w.root, "bin")
	w.mkdir(bin)
	w.env = []string{"HOME=" + w.home, "PATH=" + bin}
	r, _ = w.rules()
	if got := w.aliased(r, w.proj, "git x"); got != nil {
		t.Errorf("no git: %q", got)
	}
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + w.home, "PATH=" + bin + ":/usr/bin:/bin"}
	r, _ = w.rules()
	if got := w.aliased(r, w.proj, "git x"); len(got) != 1 || !strings.HasPrefix(got[0], "unknown: git cannot be asked whether x is an alias: git config did not answer") {
		t.Errorf("a git that hangs: %q", got)
	}
}
