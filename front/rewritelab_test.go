package front

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/internal/test/testdir"
)

// A lab runs command lines in which every command word is a recorder: it writes
// its name and arguments down and does nothing else. PATH holds only recorders
// and emulated carriers (sudo, env, find ...), so that rm never is rm, and a
// text that names a program elsewhere is refused.
type lab struct {
	t      testing.TB
	root   string
	work   string // where the texts are judged
	bin    string
	binary string // the recorder that stands for safeshell
	shell  map[string]string
	env    []string
	paths  config.Paths
	gate   *gate.Gate
	// plainWords: lines are for Codex.
	plainWords bool
	n          atomic.Int64
}

// recorder notes its name and arguments in one write. The argument "fail" makes
// it fail, so that && and || are seen to work; ls has files to say.
const recorder = `#!/bin/dash
printf '%s\0' "$#" "${0##*/}" "$@" >> "$REC_LOG"
[ "${0##*/}" = ls ] && printf '%s\n' l1 "l 2"
for a; do [ "$a" = fail ] && exit 1; done
exit 0
`

// tailCarrier drops its own options and runs the rest.
const tailCarrier = `#!/bin/dash
while :; do case $1 in
  -u|-n|-k|-p) shift 2;;
  --) shift; break;;
  -*|*=*) shift;;
  *) break;;
esac; done
[ "${0##*/}" = timeout ] && shift
exec "$@"
`

// findCarrier runs what -exec names, for two files that it never looks for.
const findCarrier = `
while [ $# -gt 0 ]; do
  a=$1; shift
  [ "$a" = -exec ] || continue
  c=()
  while [ "$1" != ";" ] && ! { [ "$1" = + ] && [ "${c[${#c[@]}-1]}" = "{}" ]; }; do
    [ $# -gt 0 ] || exit 1
    c+=("$1"); shift
  done
  if [ "$1" = + ]; then
    unset "c[${#c[@]}-1]"; "${c[@]}" ./f1 "./f 2"
  else
    for f in ./f1 "./f 2"; do
      r=(); for w in "${c[@]}"; do r+=("${w//"{}"/$f}"); done
      "${r[@]}"
    done
  fi
done
`

var recorded = []string{"rm", "ls", "git", "mv", "make", "rec", "my rm"}

func newLab(t testing.TB, binary string) *lab {
	t.Helper()
	if _, err := os.Stat("/bin/dash"); err != nil {
		t.Skip("dash is not installed")
	}
	root, err := filepath.EvalSymlinks(testdir.New(t))
	must(t, err)
	l := &lab{t: t, root: root, bin: filepath.Join(root, "bin"), shell: map[string]string{}}
	for _, s := range []string{"bash", "zsh"} {
		if p, err := exec.LookPath(s); err == nil {
			l.shell[s] = p
		}
	}
	if l.shell["bash"] == "" {
		t.Skip("bash is not installed")
	}
	l.binary = filepath.Join(root, binary)
	must(t, os.MkdirAll(filepath.Dir(l.binary), 0o755))
	must(t, os.MkdirAll(l.bin, 0o755))
	write := func(path, text string) { must(t, os.WriteFile(path, []byte(text), 0o755)) }
	write(l.binary, strings.Replace(recorder, `"${0##*/}"`, `"shim ${0##*/}"`, 1))
	for _, n := range recorded {
		write(filepath.Join(l.bin, n), recorder)
	}
	for _, n := range []string{"sudo", "env", "nice", "nohup", "timeout"} {
		write(filepath.Join(l.bin, n), tailCarrier)
	}
	write(filepath.Join(l.bin, "find"), "#!"+l.shell["bash"]+findCarrier)
	if p, err := exec.LookPath("xargs"); err == nil {
		write(filepath.Join(l.bin, "xargs"), "#!/bin/dash\nexec "+p+` "$@"`+"\n")
	}
	home := filepath.Join(filepath.Dir(l.binary), "home")
	l.env = []string{"HOME=" + home, "PATH=" + l.bin, "LC_ALL=C.UTF-8", "FUNCNEST=50", "BIN=" + l.bin}
	l.paths, err = config.Locate(gate.Env{Environ: l.env}.Getenv)
	must(t, err)
	l.paths.System = filepath.Join(root, "no-system-rules.yaml")
	must(t, os.MkdirAll(l.paths.Home, 0o700))
	l.work = filepath.Join(root, "work")
	must(t, os.Mkdir(l.work, 0o755))
	l.gate = gate.New(gate.Env{Environ: l.env, Paths: l.paths, Binary: l.binary})
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dir makes a fresh directory with the files that every run begins with.
func (l *lab) dir() string {
	d := filepath.Join(l.root, "runs", strconv.FormatInt(l.n.Add(1), 10), "p", "w")
	must(l.t, os.MkdirAll(filepath.Join(d, "sub"), 0o755))
	for _, f := range []string{"a.o", "b c.o", "list"} {
		must(l.t, os.WriteFile(filepath.Join(d, f), []byte("x y\nz\n"), 0o644))
	}
	return d
}

// absolute finds a path that begins at the root.
var absolute = regexp.MustCompile(`(^|[^\w.~*}"/])/\w\S*`)

// run returns the argv of every recorder that a text starts in a real shell, in
// order.
func (l *lab) run(shell, text string) [][]string {
	if p := absolute.FindString(strings.NewReplacer(l.first(), "", l.put(""), ".", l.put("HOME"), ".", l.root, ".", "/dev/null", "").Replace(text)); p != "" {
		l.t.Fatalf("%q names a program outside of the lab: %s", text, p)
	}
	dir := l.dir()
	log := filepath.Join(filepath.Dir(dir), "log")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	argv := []string{l.shell[shell], "--norc", "--noprofile", "-c", text}
	if shell == "zsh" {
		argv = []string{l.shell[shell], "-f", "-c", text}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append([]string{}, l.env...), "REC_LOG="+log, "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// The end of this pipe is the end of the last process that the text started.
	r, w, err := os.Pipe()
	must(l.t, err)
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	must(l.t, w.Close())
	must(l.t, err)
	must(l.t, r.SetReadDeadline(time.Now().Add(time.Minute)))
	_ = cmd.Wait()
	_, err = io.ReadAll(r)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	must(l.t, r.Close())
	if err != nil {
		l.t.Fatalf("%q did not end: %v", text, err)
	}
	b, _ := os.ReadFile(log)
	f := strings.Split(string(b), "\x00")
	var all [][]string
	for i := 0; i+1 < len(f); {
		n, err := strconv.Atoi(f[i])
		if err != nil || i+2+n > len(f) {
			l.t.Fatalf("broken record in %q of %q", f, text)
		}
		all = append(all, f[i+1:i+2+n])
		i += 2 + n
	}
	must(l.t, os.RemoveAll(filepath.Dir(filepath.Dir(dir))))
	return all
}

// inOrder makes runs comparable whose order the shell leaves open.
func inOrder(text string, runs []string) []string {
	if strings.ContainsAny(strings.ReplaceAll(text, "&&", ""), "|&") || strings.Contains(text, "<(") || strings.Contains(text, ">(") || strings.Contains(text, "coproc") {
		sort.Strings(runs)
	}
	return runs
}
