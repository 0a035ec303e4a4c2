package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// The oracle runs harmless lines in real shells. Every command that exists in
// them is a recorder, which writes down its directory and arguments; PATH holds
// nothing else. What was run must be what the analysis predicted, or the
// analysis must say that it does not know.

const recorder = `#!/bin/dash
{ printf '%s\0' "$#" "$(pwd -P)" "${0##*/}" "$@"; } >> "$REC_LOG"
`

// recNames are the commands that the texts may use.
var recNames = []string{"rec", "ra", "rb", "rc", "Qr"}

type lab struct {
	t     testing.TB
	bin   string
	shell map[Dialect]string
	n     atomic.Int64
	root  string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	if _, err := os.Stat("/bin/dash"); err != nil {
		t.Skip("dash is not installed")
	}
	l := &lab{t: t, root: testdir.New(t), shell: map[Dialect]string{}}
	if p, err := filepath.EvalSymlinks(l.root); err == nil {
		l.root = p
	}
	l.bin = filepath.Join(l.root, "bin")
	must(t, os.Mkdir(l.bin, 0o755))
	for _, n := range recNames {
		must(t, os.WriteFile(filepath.Join(l.bin, n), []byte(recorder), 0o755))
	}
	for d, name := range map[Dialect]string{Bash: "bash", POSIX: "dash", Zsh: "zsh"} {
		if p, err := exec.LookPath(name); err == nil {
			l.shell[d] = p
		}
	}
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ran is one command that a shell executed.
type ran struct {
	dir  string
	argv []string
}

// dir makes a fresh working directory, deep enough that a few .. stay inside.
func (l *lab) dir() string {
	d := filepath.Join(l.root, "r", strconv.FormatInt(l.n.Add(1), 10), "p", "q", "w")
	for _, s := range []string{"d1/sub", "d2"} {
		must(l.t, os.MkdirAll(filepath.Join(d, s), 0o755))
	}
	for _, f := range []string{"f1.txt", "f2.txt", "g.md"} {
		must(l.t, os.WriteFile(filepath.Join(d, f), []byte("line\n"), 0o644))
	}
	must(l.t, os.MkdirAll(filepath.Join(d, "home"), 0o755))
	must(l.t, os.MkdirAll(d+".scr", 0o755))
	return d
}

// run executes argv (a shell) in dir and returns what it ran, and whether a cd
// failed: the analysis takes it to succeed.
func (l *lab) run(dir string, argv ...string) (rs []ran, lost bool) {
	log := dir + ".log"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = l.env(dir, log)
	// Whatever the shell leaves behind ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if ctx.Err() != nil {
		l.t.Logf("%q did not end", argv)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		l.t.Fatalf("%q: %v", argv, err)
	}
	b, _ := os.ReadFile(log)
	os.Remove(log)
	f := strings.Split(string(b), "\x00")
	for i := 0; i+2 < len(f); {
		n, err := strconv.Atoi(f[i])
		if err != nil || i+3+n > len(f) {
			l.t.Fatalf("broken record in %q", f)
		}
		rs = append(rs, ran{f[i+1], f[i+2 : i+3+n]})
		i += 3 + n
	}
	text := out.String()
	for _, s := range []string{"cd:", "can't cd", "pushd:", "popd:"} {
		lost = lost || strings.Contains(text, s)
	}
	return rs, lost
}

func (l *lab) env(dir, log string) []string {
	return []string{"PATH=" + l.bin, "HOME=" + filepath.Join(dir, "home"), "LC_ALL=C.UTF-8", "REC_LOG=" + log, "ENVX=from env", "FUNCNEST=50", "SCR=" + dir + ".scr", "R=" + dir, "PWD=" + dir, "TMPPREFIX=" + dir + ".zsh"}
}

func (l *lab) options(d Dialect, dir string) Options {
	env := map[string]string{}
	for _, kv := range l.env(dir, dir+".log") {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return Options{Dialect: d, Dir: dir, Lookup: func(n string) (string, bool) { v, ok := env[n]; return v, ok }}
}

// shellArgv is how a text is given to a shell.
func (l *lab) shellArgv(d Dialect, text string) []string {
	switch d {
	case Bash:
		return []string{l.shell[d], "--norc", "--noprofile", "-c", text}
	case Zsh:
		return []string{l.shell[d], "-f", "-c", text}
	}
	return []string{l.shell[d], "-c", text}
}

// check runs a text in one shell and compares; the error says what differs.
func (l *lab) check(d Dialect, text string) (unknown bool, err error) {
	dir := l.dir()
	defer os.RemoveAll(filepath.Dir(filepath.Dir(filepath.Dir(dir))))
	a := Parse(text, l.options(d, dir))
	rs, lost := l.run(dir, l.shellArgv(d, text)...)
	if lost && !strings.Contains(text, "nowhere") {
		return false, nil
	}
	return len(a.Unknown) > 0, compare(a, rs)
}

// compare looks for each executed command among the predicted ones.
func compare(a Analysis, rs []ran) error {
	if len(a.Unknown) > 0 {
		return nil
	}
	for _, r := range rs {
		found := false
		for i := range a.Commands {
			c := &a.Commands[i]
			if c.Function || len(c.Argv) == 0 || !matchDir(c.Dir, r.dir) {
				continue
			}
			argv := r.argv
			if c.Name() == argv[0] && matchWords(c.Argv[1:], argv[1:]) {
				found = true
				break
			}
		}
		if !found {
			return fmt.Errorf("executed %q in %s, predicted only\n%s", r.argv, r.dir, describe(a))
		}
	}
	return nil
}

func describe(a Analysis) string {
	var b strings.Builder
	for _, c := range a.Commands {
		fmt.Fprintf(&b, "  in %s:", show(c.Dir))
		for _, w := range c.Argv {
			b.WriteString(" " + show(w))
		}
		b.WriteString("\n")
	}
	for _, u := range a.Unknown {
		fmt.Fprintf(&b, "  unknown: %s\n", u.Reason)
	}
	return b.String()
}

// show prints a word with its unknown parts in angle brackets.
func show(w Word) string {
	if t, ok := w.Text(); ok {
		return strconv.Quote(t)
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case Literal:
			b.WriteString(strconv.Quote(p.Text))
		case Glob:
			b.WriteString("<" + p.Text + ">")
		case TempPath:
			b.WriteString("<tmp>")
		default:
			b.WriteString("<$" + p.Name + ">")
		}
		if p.Split {
			b.WriteString("*")
		}
	}
	return b.String()
}

func matchDir(w Word, dir string) bool {
	if t, ok := w.Text(); ok {
		return t == dir
	}
	return matchPart(w.Parts, dir)
}

// matchPart matches a text against parts, unknown ones standing for anything.
func matchPart(ps []Part, s string) bool {
	if len(ps) == 0 {
		return s == ""
	}
	if ps[0].Kind == Literal {
		rest, ok := strings.CutPrefix(s, ps[0].Text)
		return ok && matchPart(ps[1:], rest)
	}
	for i := 0; i <= len(s); i++ {
		if matchPart(ps[1:], s[i:]) {
			return true
		}
	}
	return false
}

// matchWords matches an argv against words; a part that splits may stand for
// any number of arguments.
func matchWords(ws []Word, argv []string) bool {
	if len(ws) == 0 {
		return len(argv) == 0
	}
	if !mayBeMany(ws[0]) {
		return len(argv) > 0 && matchPart(ws[0].Parts, argv[0]) && matchWords(ws[1:], argv[1:])
	}
	for n := 0; n <= len(argv); n++ {
		if matchMany(ws[0].Parts, argv[:n]) && matchWords(ws[1:], argv[n:]) {
			return true
		}
	}
	return false
}

// matchMany matches several arguments against one word whose unknown parts may
// hold the breaks between them.
func matchMany(ps []Part, argv []string) bool {
	if len(argv) == 0 {
		for _, p := range ps {
			if p.Kind == Literal && p.Text != "" {
				return false
			}
		}
		return true
	}
	if ps[0].Kind == Glob || len(argv) == 1 && matchPart(ps, argv[0]) {
		return true
	}
	return matchPart(ps, strings.Join(argv, " "))
}
