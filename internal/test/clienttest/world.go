package clienttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
)

// A World is a scratch home, a scratch repository and the safeshell under test.
// What runs in it sees nothing of this machine's environment but PATH's system
// part.
type World struct {
	T     *testing.T
	Root  string // holds Home and Repo; fixtures are scrubbed of it
	Home  string
	Repo  string // a git repository on branch main with one commit
	Bin   string // safeshell
	Model *Model
	Env   map[string]string
}

// clientTime bounds one run of a client or of safeshell.
const clientTime = 3 * time.Minute

// New makes a world, or skips the test where client (its name in
// node_modules/.bin) or the binary under test is not to be had.
func New(t *testing.T, client string) *World {
	t.Helper()
	dir := os.Getenv("SAFESHELL_TEST_CLIENTS")
	if dir == "" {
		t.Skip(client + ": SAFESHELL_TEST_CLIENTS names no directory with node_modules; run: make clients")
	}
	bins := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bins, client)); err != nil {
		t.Skipf("%s is not installed in %s", client, dir)
	}
	bin := os.Getenv("SAFESHELL_TEST_BINARY")
	if bin == "" {
		t.Skip("safeshell: SAFESHELL_TEST_BINARY names no binary; run: make clients")
	}
	for _, tool := range []string{"git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not in PATH")
		}
	}
	root := testdir.New(t) // it ends what a client leaves running
	w := &World{T: t, Root: root, Home: filepath.Join(root, "home"), Repo: filepath.Join(root, "repo"), Bin: bin, Model: NewModel(t)}
	for _, d := range []string{w.Home, w.Repo, filepath.Join(root, "tmp"), filepath.Join(w.Home, ".ssh")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(filepath.Join(w.Home, ".ssh", "id_rsa"), "-----BEGIN OPENSSH PRIVATE KEY-----\nnot a key\n")
	path := filepath.Join(w.Home, ".safeshell", "shims") + ":" + bins + ":/usr/local/bin:/usr/bin:/bin"
	if node, err := exec.LookPath("node"); err == nil && filepath.Dir(node) != "/usr/bin" && filepath.Dir(node) != "/usr/local/bin" {
		path += ":" + filepath.Dir(node)
	}
	w.Env = map[string]string{
		"HOME": w.Home, "PATH": path, "TMPDIR": filepath.Join(root, "tmp"), "SHELL": "/bin/bash", "SHLVL": "1",
		"TERM": "dumb", "LC_ALL": "C.UTF-8", "USER": "u", "NO_PROXY": "*",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
		"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
	}
	w.must(w.Repo, "git", "init", "-q", "-b", "main")
	w.Write(filepath.Join(w.Repo, "README"), "a\n")
	w.must(w.Repo, "git", "add", ".")
	w.must(w.Repo, "git", "-c", "core.hooksPath=", "commit", "-q", "-m", "first")
	w.must(w.Root, bin, "refresh")
	return w
}

// Write writes a file, with its directory.
func (w *World) Write(path, text string) {
	w.T.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// Read returns a file's text; "" when it is not there.
func (w *World) Read(path string) string {
	w.T.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		w.T.Fatal(err)
	}
	return string(b)
}

// Exists says whether path is there.
func (w *World) Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (w *World) environ() []string {
	var out []string
	for k, v := range w.Env {
		out = append(out, k+"="+v)
	}
	return out
}

// An Output is what a program said.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a program in the world, in a session of its own, and kills what it
// leaves behind.
func (w *World) Run(dir string, argv ...string) Output {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clientTime)
	defer cancel()
	prog := argv[0]
	if !strings.Contains(prog, "/") {
		for _, d := range filepath.SplitList(w.Env["PATH"]) {
			if _, err := os.Stat(filepath.Join(d, prog)); err == nil && d != filepath.Join(w.Home, ".safeshell", "shims") {
				prog = filepath.Join(d, prog)
				break
			}
		}
	}
	cmd := exec.CommandContext(ctx, prog, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Dir, cmd.Env = dir, w.environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	o := Output{Stdout: out.String(), Stderr: errs.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		w.T.Fatalf("%v did not end\n%s%s", argv, o.Stdout, o.Stderr)
	case errors.As(err, &exit):
		o.Code = exit.ExitCode()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		w.T.Fatalf("%v: %v", argv, err)
	}
	return o
}

func (w *World) must(dir string, argv ...string) Output {
	w.T.Helper()
	o := w.Run(dir, argv...)
	if o.Code != 0 {
		w.T.Fatalf("%v: exit %d\n%s%s", argv, o.Code, o.Stdout, o.Stderr)
	}
	return o
}

// Safeshell runs the binary under test in the repository; it must succeed.
func (w *World) Safeshell(args ...string) string {
	w.T.Helper()
	return w.must(w.Repo, append([]string{w.Bin}, args...)...).Stdout
}

// Questions counts the requests for approval so far.
func (w *World) Questions() int {
	return strings.Count(w.Read(filepath.Join(w.Home, ".safeshell", "log", "journal.jsonl")), `"kind":"request"`)
}

// A Monitor is `safeshell watch --plain` on a terminal.
type Monitor struct {
	mu     sync.Mutex
	screen bytes.Buffer
	term   *os.File
	ended  chan struct{}
	stop   func()
}

// Watch starts a monitor that types answer ("1", "4 not today") to each request
// that it shows; with "" it only looks on. It ends with the test or by Stop.
func (w *World) Watch(answer string) *Monitor {
	w.T.Helper()
	cmd := exec.Command(w.Bin, "watch", "--plain")
	cmd.Dir, cmd.Env = w.Root, w.environ()
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		w.T.Fatal(err)
	}
	mon := &Monitor{term: term, ended: make(chan struct{})}
	var once sync.Once
	mon.stop = func() {
		once.Do(func() {
			close(mon.ended)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = term.Close()
		})
	}
	w.T.Cleanup(mon.stop)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := term.Read(buf)
			mon.mu.Lock()
			mon.screen.Write(buf[:n])
			mon.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if strings.Contains(w.Run(w.Root, w.Bin, "status").Stdout, "a monitor is running") {
			break
		}
		if time.Now().After(end) {
			w.T.Fatalf("the monitor did not start\n%s", mon.Screen())
		}
	}
	if answer != "" {
		go w.answer(mon, answer)
	}
	return mon
}

// answer types answer to each request in turn, again until it is taken: what is
// typed too early is not.
func (w *World) answer(mon *Monitor, answer string) {
	for n := 1; ; time.Sleep(300 * time.Millisecond) {
		screen, asked := mon.Screen(), "Request "+strconv.Itoa(n)+": "
		switch {
		case strings.Contains(screen, asked+"you "), strings.Contains(screen, "Request "+strconv.Itoa(n)+" is gone"):
			n++
		case strings.Contains(screen, asked):
			if _, err := mon.term.WriteString(strconv.Itoa(n) + " " + answer + "\n"); err != nil {
				return
			}
		}
		select {
		case <-mon.ended:
			return
		default:
		}
	}
}

// Screen is what the monitor has shown so far.
func (m *Monitor) Screen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.ReplaceAll(m.screen.String(), "\r\n", "\n")
}

// Stop ends the monitor.
func (m *Monitor) Stop() { m.stop() }
