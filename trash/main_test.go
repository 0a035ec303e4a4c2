package trash

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/faulttest"
)

var (
	full     = flag.Bool("trash.full", false, "faults: every point, not a sample; loads of full size")
	sweepFor = flag.Duration("trash.for", 0, "faults: as many points as fit into this time, in random order")
	seed     = flag.Uint64("trash.seed", 1, "faults: which points are in the sample")
)

// childEnv marks a process that runs one Put for another test.
const childEnv = "TRASH_TEST_PUT"

func TestMain(m *testing.M) {
	if req := os.Getenv(childEnv); req != "" {
		childPut(req)
	}
	if req, ok := faulttest.Begin(); ok {
		childInject(req)
	}
	syscall.Umask(0o022) // modes are compared
	os.Exit(m.Run())
}

// putRequest is what childPut does in a process of its own.
type putRequest struct {
	Home, Dir, MountInfo string
	Args                 []string
	Die                  string // step at which to be killed
	Times                int
	As                   int // the user to be
}

func childPut(req string) {
	var r putRequest
	if err := json.Unmarshal([]byte(req), &r); err != nil {
		panic(err)
	}
	if r.Die != "" {
		testOnlyStep = func(step string) error {
			if step == r.Die {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		}
	}
	e := Env{Dir: r.Dir, Home: r.Home, Stdout: os.Stdout, Stderr: os.Stderr, UID: os.Geteuid(), MountInfo: r.MountInfo}
	os.Exit(Put(e, Config{}, "rm", r.Args, "").Code)
}

// inChild runs a Put in a process of its own.
func inChild(t testing.TB, r putRequest) (string, error) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	if dir := os.Getenv("SAFESHELL_COVERDIR"); dir != "" {
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+dir)
	}
	if r.As != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(r.As), Gid: uint32(r.As)}}
	}
	out, err := cmd.CombinedOutput()
	return faulttest.WithoutCoverage(string(out)), err
}

// scratchEnv is an environment below a temporary directory, with a work
// directory in it.
func scratchEnv(t testing.TB) (e Env, out, errw *bytes.Buffer) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return envIn(t, root)
}

func envIn(t testing.TB, root string) (e Env, out, errw *bytes.Buffer) {
	t.Helper()
	for _, d := range []string{"home", "w"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, errw = new(bytes.Buffer), new(bytes.Buffer)
	e = Env{
		Getenv: func(string) string { return "" }, Environ: []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")},
		Dir: filepath.Join(root, "w"), Home: filepath.Join(root, "home"), UID: os.Geteuid(),
		SafeshellHome: filepath.Join(root, "home/.safeshell"),
		Stdout:        out, Stderr: errw, Ancestors: func() []string { return nil },
	}
	return e, out, errw
}

// build makes files from lines: "d/" a directory, "l->x" a link, "p|" a fifo,
// "f" or "f=content" a file; " 0555" behind any is its mode, set at the end.
func build(t testing.TB, dir string, lines ...string) {
	t.Helper()
	type chmod struct {
		p string
		m os.FileMode
	}
	var later []chmod
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for _, l := range lines {
		name := l
		if i := strings.LastIndex(l, " 0"); i >= 0 && (len(l)-i == 5 || len(l)-i == 6) {
			var m os.FileMode
			fmt.Sscanf(l[i+1:], "%o", &m)
			if m&0o1000 != 0 {
				m = m&0o777 | os.ModeSticky
			}
			name = l[:i]
			later = append(later, chmod{filepath.Join(dir, strings.TrimRight(strings.SplitN(name, "=", 2)[0], "/")), m})
		}
		p := filepath.Join(dir, name)
		switch {
		case strings.HasSuffix(name, "/"):
			must(os.MkdirAll(p, 0o755))
			continue
		case strings.HasSuffix(name, "|"):
			must(os.MkdirAll(filepath.Dir(p), 0o755))
			must(syscall.Mkfifo(strings.TrimSuffix(p, "|"), 0o644))
			continue
		}
		if a, b, ok := strings.Cut(name, "->"); ok {
			p = filepath.Join(dir, a)
			must(os.MkdirAll(filepath.Dir(p), 0o755))
			must(os.Symlink(b, p))
			continue
		}
		a, b, _ := strings.Cut(name, "=")
		p = filepath.Join(dir, a)
		must(os.MkdirAll(filepath.Dir(p), 0o755))
		must(os.WriteFile(p, []byte(b), 0o644))
	}
	slices.SortFunc(later, func(a, b chmod) int { return len(b.p) - len(a.p) })
	for _, l := range later {
		must(os.Chmod(l.p, l.m))
	}
	t.Cleanup(func() { unlockTree(filepath.Dir(dir)) })
}

// unlockTree lets the test's cleaning remove what a test made unwritable.
func unlockTree(dir string) {
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Type()&os.ModeSymlink == 0 {
			os.Chmod(p, 0o755)
		}
		return nil
	})
}

// tree is what is below dir: one line for each file, in order. Directories
// that cannot be read are opened for the moment.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	var walk func(p, rel string)
	walk = func(p, rel string) {
		fi, err := os.Lstat(p)
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", rel, err)
			return
		}
		fmt.Fprintf(&b, "%s %v", rel, fi.Mode())
		switch {
		case fi.Mode()&os.ModeSymlink != 0:
			l, _ := os.Readlink(p)
			fmt.Fprintf(&b, " -> %s\n", l)
		case fi.IsDir():
			b.WriteByte('\n')
			if fi.Mode().Perm()&0o500 != 0o500 {
				os.Chmod(p, 0o755)
				defer os.Chmod(p, fi.Mode())
			}
			es, err := os.ReadDir(p)
			if err != nil {
				fmt.Fprintf(&b, "%s: %v\n", rel, err)
			}
			for _, e := range es {
				walk(filepath.Join(p, e.Name()), rel+"/"+e.Name())
			}
		case fi.Mode().IsRegular():
			c, _ := os.ReadFile(p)
			fmt.Fprintf(&b, " %x\n", sha256.Sum256(c))
		default:
			b.WriteByte('\n')
		}
	}
	walk(dir, ".")
	return b.String()
}

// run is Put with a real rm, as a caller does it.
func run(t testing.TB, e Env, args ...string) (code int, real bool) {
	t.Helper()
	r := Put(e, Config{}, "rm", args, rmPath(t))
	if !r.ExecReal {
		return r.Code, false
	}
	return runReal(t, e, args), true
}

func rmPath(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("rm")
	if err != nil {
		t.Skip("needs rm")
	}
	return p
}

func gnuRm(t testing.TB) string {
	t.Helper()
	p := rmPath(t)
	out, err := exec.Command(p, "--version").Output()
	if err != nil || !strings.Contains(string(out), "GNU coreutils") {
		t.Skip("needs GNU rm")
	}
	return p
}

func runReal(t testing.TB, e Env, args []string) int {
	t.Helper()
	for _, a := range args {
		// A test must not be able to remove anything but its own.
		if a == "/" || strings.HasPrefix(a, "//") || strings.HasPrefix(a, "..") || a == "" && false {
			if !strings.HasPrefix(a, "../w") && a != ".." && a != "../" {
				t.Fatalf("no real rm for %q", a)
			}
		}
		if filepath.IsAbs(a) && !within(filepath.Clean(a), filepath.Dir(e.Dir)) {
			t.Fatalf("no real rm for %q", a)
		}
	}
	cmd := exec.Command(rmPath(t), args...)
	cmd.Args[0] = "rm"
	cmd.Dir, cmd.Env = e.Dir, e.Environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, e.Stdout, e.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// list is List without errors.
func list(t testing.TB, e Env) []Item {
	t.Helper()
	e.MountInfo = noMounts(t)
	items, errs := List(e)
	for _, err := range errs {
		t.Error(err)
	}
	return items
}

// noMounts is a mountinfo of the root alone, so that a test does not see the
// trash directories of this machine.
func noMounts(t testing.TB) string {
	p := filepath.Join(t.TempDir(), "mountinfo")
	write(t, p, "")
	return p
}

func at(s string) func() time.Time {
	return func() time.Time {
		d, err := time.ParseInLocation(dateLayout, s, time.Local)
		if err != nil {
			panic(err)
		}
		return d
	}
}
