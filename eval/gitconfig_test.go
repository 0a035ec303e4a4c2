package eval

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"safeshell/gitrepo"
	"safeshell/internal/files"
	"slices"
	"strings"
	"testing"
)

// entriesOf are what our reader makes of a configuration, as git config --null
// prints it.
func entriesOf(text []byte) (out []string, err error) {
	err = gitrepo.ReadConfig(text, func(key, value []byte, set bool) error {
		e := string(key)
		if set {
			e += "\n" + string(value)
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

// pieces of configurations: what the syntax is made of, and what comes near it.
var configPieces = []string{
	"[alias]\n", "[Alias]\n", "[ALIAS \"two\"]\n", "[alias \"t w\\\"o\"]\n", "[alias \"a\\\\b\"]\r\n", "[core]\n", "[alias.Sub]\n", "[a-1]\n", "[alias\t\"tab\"]\n",
	"[alias] ", "[alias \"x\"]", "[ alias]\n", "[alias ]\n", "[alias \"x]\n", "[alias \"x\" ]\n", "[alias \"\"]\n", "[]\n", "[\"x\"]\n", "[alias\n\"x\"]\n", "[al_ias]\n",
	"\tst = status\n", "ST=status -s\r\n", "x = \"a b\" c\n", "x = a # comment\n", "x = \"a # b\" ; c\n", "x =\n", "x = \"\"\n", "x\n", "x # comment\n", "bare ; c\n",
	"x = a \\\n  b\n", "x = a\\\r\nb\n", "x = \\\n\n", "x = a\\tb\\nc\\bd\\\\e\\\"f\n", "x = a\\qb\n", "x = 'a b'\n", "x = a\tb\n", "x = a\t \n", "x = a \t# c\n", "x = a   b  \n",
	"x = \"a\n", "x = \"a\\\nb\"\n", "x = \"a\tb \" \n", "x == y\n", "x y = z\n", "1x = y\n", "x_y = z\n", "x-1 = y\n", "xY9 = Z\n", "=x\n", "x = !git push \\\n --force\n", "x = \"\" a\n", "x = a \"\" \n",
	"# comment\n", "; [alias]\n", "\n", " \t\r\n", "\r", "\v", "x = \r\n", "x = a\rb\n", "x = a\r", "\xef\xbb\xbf", "x = \xff\xc3\xa9\n", "x = [a]\n", "x = a]\n", "\\\n", "x = \\", "x = a", "x = \"", "[alias",
}

// randomConfig puts pieces in a row and sometimes damages one.
func randomConfig(rnd *rand.Rand) []byte {
	var b []byte
	if rnd.IntN(12) == 0 {
		b = append(b, "\xef\xbb\xbf"...)
	}
	good := rnd.IntN(2) == 0 // of pieces that git takes, as whole files seldom are otherwise
	if good {
		b = append(b, "[alias]\n"...)
	}
	for n := 1 + rnd.IntN(8); n > 0; n-- {
		p := configPieces[rnd.IntN(len(configPieces))]
		if good && !okInFile(p) {
			continue
		}
		b = append(b, p...)
	}
	if rnd.IntN(6) == 0 && len(b) > 0 {
		const some = "\"\\#;[]=\n\r\t ax.-"
		b[rnd.IntN(len(b))] = some[rnd.IntN(len(some))]
	}
	if rnd.IntN(10) == 0 {
		b = b[:rnd.IntN(len(b)+1)]
	}
	return b
}

func okInFile(p string) bool {
	_, err := entriesOf([]byte("[a]\n" + p + "\n"))
	return err == nil
}

// What our reader makes of a configuration, git makes of it; what it does not
// take for plain may be anything.
func TestGitConfigLikeGit(t *testing.T) {
	needsGit(t)
	w := newWorld(t)
	file := filepath.Join(w.home, "config")
	read := func(text []byte) (out []string, ok bool) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("git", "config", "--file", file, "--no-includes", "--null", "--list")
		c.Dir, c.Env = w.home, w.env
		b, err := c.Output()
		if err != nil {
			return nil, false
		}
		for e := range strings.SplitSeq(strings.TrimSuffix(string(b), "\x00"), "\x00") {
			if len(b) > 0 {
				out = append(out, e)
			}
		}
		return out, true
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	taken, entries := 0, 0
	for i := range 500 {
		var text []byte
		if i < len(configPieces) {
			text = []byte("[alias]\n" + configPieces[i])
		} else {
			text = randomConfig(rnd)
		}
		ours, err := entriesOf(text)
		if err != nil {
			continue // git is asked
		}
		taken++
		entries += len(ours)
		theirs, ok := read(text)
		if !ok || !slices.Equal(ours, theirs) {
			t.Errorf("%q: we read %q, git %q (%v)", text, ours, theirs, ok)
		}
	}
	if taken < 180 || entries < 300 {
		t.Errorf("only %d files with %d entries were read without git", taken, entries)
	}
	t.Logf("%d files, %d entries", taken, entries)
	for _, plain := range []string{
		"[alias]\n\tst = status\n\tci = commit -v # all\n[user]\n\tname = A \"B\" C\n[alias \"Two\"]\n\tcommand = !f() { \\\n  git log; }; f\n",
		"[core]\r\n\trepositoryformatversion = 0\r\n\tfilemode = true\r\n[remote \"origin\"]\r\n\turl = git@host:a/b.git\r\n\tfetch = +refs/heads/*:refs/remotes/origin/*\r\n",
	} {
		if _, err := entriesOf([]byte(plain)); err != nil {
			t.Errorf("%q: %v", plain, err)
		}
	}
}

func FuzzGitConfig(f *testing.F) {
	for _, p := range configPieces {
		f.Add([]byte("[alias]\n" + p))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := entriesOf(text)
		if err != nil && !errors.Is(err, gitrepo.ErrOddConfig) {
			t.Fatal(err)
		}
		for _, e := range entries {
			key, _, _ := strings.Cut(e, "\n")
			if !strings.Contains(key, ".") || bytes.ContainsRune([]byte(e), 0) {
				t.Fatalf("%q", e)
			}
		}
	})
}

// From the files that git would read, we take what git takes, in every place; or
// git is asked.
func TestPlainAliasesLikeGit(t *testing.T) {
	needsGit(t)
	w := newWorld(t)
	repo := w.repo(filepath.Join(w.home, "repo"), "main")
	tree, bare, sub, xdg := filepath.Join(w.home, "tree"), filepath.Join(w.home, "bare.git"), filepath.Join(repo, "vendored"), filepath.Join(w.home, "xdg")
	w.git(repo, "worktree", "add", "-q", "-b", "other", tree)
	w.git(w.home, "init", "-q", "--bare", bare)
	w.repo(sub, "main")
	for _, d := range []string{sub + "/in/side", tree + "/deep", filepath.Join(repo, "empty/.git"), filepath.Join(w.home, "plain/dir")} {
		w.mkdir(d)
	}
	if err := os.Symlink(repo, filepath.Join(w.home, "link")); err != nil {
		t.Fatal(err)
	}
	w.git(sub, "config", "alias.vendored", "gc")
	w.git(bare, "config", "alias.bare", "gc")
	repoConfig, err := os.ReadFile(filepath.Join(repo, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	plain, asked := 0, 0
	compare := func(what, dir string, env ...string) (isPlain bool) {
		t.Helper()
		r, _ := w.rules()
		r.o.Environ = append(slices.Clone(w.env), env...)
		ask := r.gitAsker().Command(dir, "", nil, func(n string) bool { return strings.HasPrefix(n, "GIT_") })
		entries, err := gitrepo.PlainAliases(ask.Program, dir, ask.Env)
		if err != nil {
			asked++
			return false
		}
		plain++
		out, err := ask.Run([]string{"config", "--null", "--get-regexp", `^alias\.`})
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Errorf("%s, in %s %q: git refuses what we read: %v", what, dir, env, err)
		}
		if theirs := strings.FieldsFunc(out, func(r rune) bool { return r == 0 }); !slices.Equal(entries, theirs) {
			t.Errorf("%s, in %s %q: we read %q, git %q", what, dir, env, entries, theirs)
		}
		return true
	}
	dirs := []string{repo, repo + "/sub", tree, tree + "/deep", bare, bare + "/refs", sub + "/in/side", repo + "/.git", repo + "/empty", w.home + "/plain/dir", w.home + "/link", w.home + "/link/sub", "/"}
	text := func() string {
		b := randomConfig(rnd)
		if rnd.IntN(3) == 0 || !okInFile(string(b)) {
			return fmt.Sprintf("[alias]\n\tst = status\n\tx%d = \"a b\" c\n", rnd.IntN(3))
		}
		return string(b)
	}
	for range 40 {
		w.write(filepath.Join(w.home, ".gitconfig"), text())
		w.write(filepath.Join(w.home, ".config/git/config"), text())
		w.write(filepath.Join(xdg, "git/config"), text())
		w.write(filepath.Join(repo, ".git/config"), string(repoConfig)+text())
		var env []string
		if rnd.IntN(3) == 0 {
			env = []string{"XDG_CONFIG_HOME=" + xdg}
		}
		compare("generated", dirs[rnd.IntN(len(dirs))], env...)
	}
	if _, err := os.Stat("/usr/bin/git"); err == nil && plain < 8 {
		t.Errorf("only %d of %d were read without git", plain, plain+asked)
	}
	t.Logf("%d read, %d asked", plain, asked)

	w.write(filepath.Join(w.home, ".gitconfig"), "[alias]\n\tst = status\n")
	w.write(filepath.Join(repo, ".git/config"), string(repoConfig))
	if !compare("plain", repo) && files.Exists("/usr/bin/git") && !files.Exists("/usr/etc/gitconfig") && !files.Exists("/usr/local/etc/gitconfig") {
		t.Error("an ordinary repository is not plain")
	}
	for _, c := range []struct{ what, file, text string }{
		{"an included file", filepath.Join(w.home, ".gitconfig"), "[include]\n\tpath = more\n"},
		{"a condition", filepath.Join(w.home, ".gitconfig"), "[INCLUDEIF \"gitdir:/\"]\n\tpath = more\n"},
		{"a mistake", filepath.Join(w.home, ".gitconfig"), "[alias\n"},
		{"a worktree's own", filepath.Join(repo, ".git/config"), string(repoConfig) + "[extensions]\n\tworktreeConfig = true\n"},
		{"another format", filepath.Join(repo, ".git/config"), "[core]\n\trepositoryformatversion = 1\n"},
	} {
		old, _ := os.ReadFile(c.file)
		w.write(c.file, c.text)
		if compare(c.what, repo) {
			t.Errorf("%s is taken for plain", c.what)
		}
		w.write(c.file, string(old))
	}
	for _, env := range []string{
		"GIT_DIR=" + bare, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=0", "GIT_CEILING_DIRECTORIES=/", "HOME=", "HOME=x", "XDG_CONFIG_HOME=x",
	} {
		if compare(env, repo, env) {
			t.Errorf("with %s it is taken for plain", env)
		}
	}
}
