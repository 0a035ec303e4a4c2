package trash

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// asUserEnv marks the test process that runs as another user.
const asUserEnv = "TRASH_TEST_AS_USER"

// nobody is the user that it runs as.
const nobody = 65534

// TestAsUser runs the tests in which permissions matter again, as a user whom
// they bind.
func TestAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user; the tests of permissions run as this user")
	}
	dir := userDir(t)
	out, err := reexec(t, dir, "^(TestDifferential|TestRandom|TestForeign.*|TestPermission.*)$", asUserEnv+"=1",
		&syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}})
	if err != nil {
		t.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
	if !strings.Contains(out, "--- PASS: TestDifferential") {
		t.Errorf("nothing ran:\n%s", out)
	}
}

// userDir is a temporary directory that belongs to nobody, on a way that he
// can go.
func userDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Skip("cannot chown: ", err)
	}
	return dir
}

// reexec runs some tests of this binary in another process.
func reexec(t *testing.T, dir, tests, env string, attr *syscall.SysProcAttr, args ...string) (string, error) {
	t.Helper()
	bin := filepath.Join(dir, "trash.test")
	src, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(bin, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil {
		t.Fatal(err)
	}
	dst.Close()
	cmd := exec.Command(bin, append([]string{"-test.run", tests, "-test.v", "-rapid.nofailfile", rapidChecks()}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, env}
	if cover := os.Getenv("SAFESHELL_COVERDIR"); cover != "" && testing.CoverMode() != "" {
		cmd.Args = append(cmd.Args, "-test.gocoverdir="+cover)
		cmd.Env = append(cmd.Env, "SAFESHELL_COVERDIR="+cover)
	}
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Skip("cannot start such a process: ", err)
	}
	var b strings.Builder // what passed is of no interest
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "    --- PASS") {
			b.WriteString(line)
		}
	}
	return b.String(), err
}

// TestRandom compares Put with rm on small trees and combinations of options.
func TestRandom(t *testing.T) {
	gnuRm(t)
	rapid.Check(t, func(rt *rapid.T) {
		leaf := rapid.SampledFrom([]string{"f", "g=x", "r=1 0444", "e/", "l->f", "k->nope", "s->d", "n 0000", "q|"})
		lines := []string{}
		seen := map[string]bool{}
		for range rapid.IntRange(1, 6).Draw(rt, "n") {
			dir := rapid.SampledFrom([]string{"", "", "d/", "d/", "d/u/", "v/"}).Draw(rt, "dir")
			l := leaf.Draw(rt, "leaf")
			key := strings.FieldsFunc(dir+l, func(r rune) bool { return strings.ContainsRune("= >|", r) })[0]
			key = strings.TrimSuffix(key, "-")
			if dir != "" && strings.HasSuffix(l, "|") || seen[key] {
				continue // a fifo below a directory goes with it
			}
			seen[key] = true
			lines = append(lines, dir+l)
		}
		if m := rapid.SampledFrom([]string{"", "", "0555", "0300", "0400", "0000", "0600"}).Draw(rt, "mode"); m != "" {
			lines = append([]string{}, append(lines, "v/ "+m)...)
		}
		opts := rapid.SliceOfN(rapid.SampledFrom([]string{"-r", "-f", "-i", "-I", "-v", "-d", "-R", "-rf", "-fr", "--one-file-system",
			"--interactive=never", "--interactive=once", "--interactive", "---presume-input-tty", "--preserve-root=all", "-fi"}), 0, 3).Draw(rt, "opts")
		operand := rapid.SampledFrom([]string{"f", "g", "r", "e", "e/", "l", "l/", "k", "n", "q", "d", "d/", "d/f", "d//g", "d/u", "d/u/e", "v", "v/f", "v/e/",
			"nope", "", ".", "./", "d/.", "d/..", "./f", "f/", "f/x", "k/", "s/f", "d/e", "v/."})
		args := append(opts, rapid.SliceOfN(operand, 0, 4).Draw(rt, "operands")...)
		if rapid.Bool().Draw(rt, "late") {
			args = append(args, "-v")
		}
		stdin := ""
		for range rapid.IntRange(0, 10).Draw(rt, "answers") {
			stdin += rapid.SampledFrom([]string{"y\n", "y\n", "y\n", "n\n"}).Draw(rt, "answer")
		}
		for _, a := range args {
			// The target of s/ and l/ would be emptied; l and s are
			// links, only what is below them is named here.
			if a == "s/" || a == "l/" && seen["l"] && strings.Contains(strings.Join(lines, " "), "f/") {
				rt.Skip("this case would empty what a link leads to")
			}
		}
		root, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		type result struct {
			code           int
			out, err, tree string
		}
		var res [2]result
		for i, side := range []string{"real", "ours"} {
			e, out, errw := envIn(t, filepath.Join(root, side))
			build(t, e.Dir, lines...)
			e.Stdin = strings.NewReader(stdin)
			if i == 0 {
				res[i].code = runReal(t, e, args)
			} else {
				res[i].code, _ = run(t, e, args...)
				if n := strings.Count(tree(t, e.Dir), "\n") + countTrashed(t, e); n < strings.Count(tree(t, filepath.Join(root, "ours/w")), "\n") {
					rt.Fatalf("lost files")
				}
			}
			res[i].out, res[i].err, res[i].tree = out.String(), errw.String(), tree(t, e.Dir)
		}
		if res[0] != res[1] {
			rt.Fatalf("tree %q\nrm %q <%q\nreal: %d\n%s%s%s\nours: %d\n%s%s%s", lines, args, stdin,
				res[0].code, res[0].out, res[0].err, res[0].tree, res[1].code, res[1].out, res[1].err, res[1].tree)
		}
		unlockTree(root)
		os.RemoveAll(root)
	})
}

func countTrashed(t testing.TB, e Env) int {
	return strings.Count(tree(t, filepath.Join(e.Home, ".local/share/Trash/files")), "\n")
}

// rapidChecks hands the number of random cases on.
func rapidChecks() string {
	n := "100"
	if f := flag.Lookup("rapid.checks"); f != nil {
		n = f.Value.String()
	}
	return "-rapid.checks=" + n
}
