package initscript

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
)

// sandbox is a scratch home with a safeshell that is a shell script: it logs
// what it is asked to judge and denies everything that holds "deny-me".
type sandbox struct {
	t    *testing.T
	p    Params
	root string
	log  string
}

// newSandbox makes one whose SAFESHELL_HOME and binary lie in a directory of
// the given name.
func newSandbox(t *testing.T, name string, builtins ...string) sandbox {
	t.Helper()
	root := testdir.New(t)
	home := filepath.Join(root, "user")
	dir := filepath.Join(home, name)
	s := sandbox{t: t, root: root, log: filepath.Join(root, "judged")}
	s.p = Params{
		Binary:   filepath.Join(dir, "bin", "safeshell"),
		Home:     filepath.Join(dir, ".safeshell"),
		UserHome: home,
		Builtins: builtins,
	}
	s.write(s.p.Binary, `#!/bin/sh
{ printf '<%s>' "$@"; echo; } >>`+quoteSh(s.log)+`
if [ -t 0 ]; then echo 'the judge got a terminal' >>`+quoteSh(s.log)+`; fi
case "$*" in
*deny-me*) echo '[SafeShell] BLOCKED' >&2; exit 126 ;;
*break-me*) exit 1 ;;
esac
`)
	must(t, os.Chmod(s.p.Binary, 0o755))
	must(t, os.MkdirAll(s.p.shims(), 0o755))
	must(t, os.Mkdir(filepath.Join(s.p.Home, "bin"), 0o755))
	must(t, os.Symlink(s.p.Binary, filepath.Join(s.p.Home, "bin", "safeshell")))
	return s
}

func (s sandbox) write(path, text string) {
	s.t.Helper()
	must(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(s.t, os.WriteFile(path, []byte(text), 0o644))
}

// env is the environment of the sandbox, with more on top.
func (s sandbox) env(more ...string) []string {
	// zsh keeps here-strings in TMPPREFIX*, by default below /tmp, which may not be the user's to write.
	return append([]string{"HOME=" + s.p.UserHome, "TMPPREFIX=" + s.root + "/zsh", "PATH=/usr/bin:/bin", "TERM=dumb", "SHLVL=1", "LC_ALL=C.UTF-8"}, more...)
}

// static writes the static files.
func (s sandbox) static() sandbox {
	s.t.Helper()
	_, err := WriteStatic(s.p)
	must(s.t, err)
	return s
}

// judged returns what the judge was asked, and forgets it.
func (s sandbox) judged() string {
	b, _ := os.ReadFile(s.log)
	_ = os.Remove(s.log)
	return string(b)
}

type result struct {
	out, err string
	code     int
}

// run starts a program in the sandbox's root.
func (s sandbox) run(env []string, stdin string, argv ...string) result {
	s.t.Helper()
	need(s.t, argv[0])
	path, _ := exec.LookPath(argv[0])
	c := exec.Command(path, argv[1:]...)
	c.Args[0] = argv[0]
	c.Dir, c.Env, c.Stdin = s.root, env, strings.NewReader(stdin)
	c.WaitDelay = 20 * time.Second
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return result{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

// terminal types lines into an interactive shell on a terminal; the last must
// end it. It returns all that the terminal showed.
func (s sandbox) terminal(env []string, lines []string, argv ...string) string {
	s.t.Helper()
	need(s.t, argv[0])
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = s.root, env
	f, err := pty.Start(c)
	must(s.t, err)
	defer f.Close()
	go func() {
		for _, l := range lines {
			_, _ = f.WriteString(l + "\n")
		}
	}()
	var out bytes.Buffer
	_, _ = out.ReadFrom(f) // EIO at its end
	_ = c.Wait()
	return out.String()
}

func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skip(tool + " is not installed")
	}
}

func has(tool string) bool {
	_, err := exec.LookPath(tool)
	return err == nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// odd are names that a directory may have.
var odd = []string{
	"plain", "with blank", "two  blanks\tand tab", "quo'te", "'", `dou"ble`, "$HOME$(x)`x`", `back\slash\`, "new\nline",
	"glob*[x]?", "~", "ünï", "semi;amp&|<>", "(paren)", "-dash", "@NAME@@SHIMS@", "#hash", "!bang!!", "{a,b}", "=eq", "^caret", "%s%d", "\x01\x7f",
	"latin-\xe9", "cr\r",
}

// posix are the shells that read env.sh, with the script that they read
// better if there is one.
var posix = []struct {
	name  string
	argv  []string
	shell string
}{
	{"bash", []string{"bash", "--norc"}, "bash"},
	{"bash as sh text", []string{"bash", "--norc"}, "sh"},
	{"bash --posix", []string{"bash", "--posix", "--norc"}, "sh"},
	{"bash --posix, own", []string{"bash", "--posix", "--norc"}, "bash"},
	{"dash", []string{"dash"}, "sh"},
	{"busybox ash", []string{"busybox", "ash"}, "sh"},
	{"zsh as sh text", []string{"zsh", "-f"}, "sh"},
	{"zsh", []string{"zsh", "-f"}, "zsh"},
}

// prefixes are options under which a script is read.
func prefixes(shell string) []string {
	out := []string{"", "set -eu", "set -f", "set -euf", "set -C", "set -a"}
	if strings.HasPrefix(shell, "bash") {
		out = append(out, "set -o posix", "set -eEuTo pipefail", "shopt -s failglob nullglob nocasematch extglob", "set -o pipefail -u; shopt -s expand_aliases")
	}
	if strings.HasPrefix(shell, "zsh") {
		out = append(out,
			"setopt sh_word_split ksh_arrays no_unset err_exit", "setopt err_return no_unset glob_subst null_glob csh_null_glob",
			"setopt rc_quotes extended_glob ksh_glob", "setopt warn_create_global warn_nested_var", "setopt ignore_braces", "setopt ignore_close_braces",
			"setopt posix_builtins posix_identifiers posix_aliases", "emulate sh", "emulate ksh", "setopt all_export auto_cd cdable_vars",
			"setopt sh_glob", "setopt no_aliases no_multios no_bare_glob_qual", "setopt csh_junkie_loops", "setopt typeset_silent no_global_export")
	}
	return out
}

// wanted is what PATH must be after the script.
func wanted(path, shims string) string {
	if path == "" || path == shims || strings.HasPrefix(path, shims+":") {
		return path
	}
	entries := strings.Split(path, ":")
	return strings.Join(append([]string{shims}, slices.DeleteFunc(entries, func(e string) bool { return e == shims })...), ":")
}
