package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"safeshell/internal/test/denotest"
	"safeshell/internal/test/testbinary"
	"safeshell/internal/test/testdir"
	"safeshell/permit"
)

// binary is the real program, built once as `make build` does.
var binary string

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m, &binary)) }

// helpers are commands that scenarios guard.
var helpers = map[string]string{
	"hello":    "#!/bin/sh\necho hello there \"$@\"\n",
	"probe":    "#!/bin/bash\necho $$\nfor a; do echo \"arg=$a\"; done\n",
	"exitwith": "#!/bin/sh\nexit $1\n",
	"dies":     "#!/bin/sh\nkill -TERM $$\n",
}

// TestScripts runs the scenarios in testdata/script through the real binary,
// each in a scratch HOME.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			for _, d := range []string{home, filepath.Join(e.WorkDir, "tmp")} {
				if err := os.MkdirAll(d, 0o700); err != nil {
					return err
				}
			}
			bin := filepath.Join(e.WorkDir, ".bin")
			if err := os.MkdirAll(bin, 0o755); err != nil {
				return err
			}
			for name, text := range helpers {
				if err := testdir.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
					return err
				}
			}
			for _, n := range []string{"safeshell", "safeshell-wrapper"} {
				if err := os.Symlink(binary, filepath.Join(bin, n)); err != nil {
					return err
				}
			}
			e.Setenv("HOME", home)
			e.Setenv("BIN", bin)
			e.Setenv("SHIMS", filepath.Join(home, ".safeshell", "shims"))
			e.Setenv("PATH", filepath.Join(home, ".safeshell", "shims")+":"+bin+":/usr/local/bin:/usr/bin:/bin")
			e.Setenv("LC_ALL", "C")
			if dir := os.Getenv("SAFESHELL_COVERDIR"); dir != "" {
				e.Setenv("GOCOVERDIR", dir) // .ci/cover
			}
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_AUTHOR_NAME", "t")
			e.Setenv("GIT_AUTHOR_EMAIL", "t@example.org")
			e.Setenv("GIT_COMMITTER_NAME", "t")
			e.Setenv("GIT_COMMITTER_EMAIL", "t@example.org")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if p, ok := strings.CutPrefix(cond, "root"); ok && p == "" {
				return os.Geteuid() == 0, nil
			}
			if cond == "landlock" {
				_, ok := permit.KernelSays()
				return ok, nil
			}
			if cond == "deno" {
				return denotest.Find() != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tty":         cmdTTY,
			"waitpending": cmdWaitPending,
			"waitfile":    cmdWaitFile,
			"monitor":     cmdMonitor,
			"code":        cmdCode,
			"octal":       cmdOctal,
			"plain":       cmdPlain,
			"hostile":     cmdHostile,
			"screen":      cmdScreen,
			"mcp":         cmdMCP,
			"deno":        cmdDeno,
		},
	})
}

// cmdTTY runs a program with a terminal of its own: `tty [-keys text] prog args`.
// The keys are typed when it has asked: drawn something, then nothing for a while.
// Its screen goes to the file "screen".
func cmdTTY(ts *testscript.TestScript, neg bool, args []string) {
	keys := ""
	if len(args) > 2 && args[0] == "-keys" {
		keys, args = unescape(args[1]), args[2:]
	}
	if len(args) == 0 {
		ts.Fatalf("usage: tty [-keys text] program [args]")
	}
	c := command(ts, args)
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 200})
	ts.Check(err)
	defer f.Close()
	var out bytes.Buffer
	done, drawn := make(chan struct{}), make(chan struct{}, 1)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				close(done)
				return
			}
			select {
			case drawn <- struct{}{}:
			default:
			}
		}
	}()
	if keys != "" {
		for quiet := time.Minute; ; quiet = 700 * time.Millisecond {
			select {
			case <-drawn:
				continue
			case <-done:
			case <-time.After(quiet):
			}
			break
		}
		_, _ = f.WriteString(keys)
	}
	timer := time.AfterFunc(60*time.Second, func() { _ = c.Process.Kill() })
	err = c.Wait()
	timer.Stop()
	<-done
	ts.Check(os.WriteFile(ts.MkAbs("screen"), bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n")), 0o600))
	ts.Logf("[screen]\n%s", out.String())
	if (err != nil) != neg {
		ts.Fatalf("tty %q: %v", args, err)
	}
}

// command makes a command with the script's own environment and PATH.
func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	prog := args[0]
	if !strings.Contains(prog, "/") {
		for _, d := range filepath.SplitList(ts.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(d, prog)); err == nil {
				prog = filepath.Join(d, prog)
				break
			}
		}
	}
	c := exec.Command(prog, args[1:]...)
	c.Args[0] = args[0]
	c.Dir = ts.MkAbs(".")
	c.Env = environ(ts)
	return c
}

// environ is the environment that `env` would set for the script's commands.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, k := range []string{"HOME", "PATH", "WORK", "TMPDIR", "LC_ALL", "SAFESHELL_HOME", "SAFESHELL_CONTEXT", "SAFESHELL_SPOOL",
		"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "GIT_CONFIG_NOSYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
		"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "XDG_DATA_HOME", "NO_COLOR", "AI_AGENT"} {
		if v := ts.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	return append(env, "TERM=xterm-256color")
}

func unescape(s string) string {
	if u, err := strconv.Unquote(`"` + s + `"`); err == nil {
		return u
	}
	return s
}

// cmdWaitPending waits until N requests wait and sets ID (and ID1, ID2, ...).
func cmdWaitPending(ts *testscript.TestScript, neg bool, args []string) {
	want := 1
	if len(args) > 0 {
		want, _ = strconv.Atoi(args[0])
	}
	var ids []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
		c := command(ts, []string{"safeshell", "pending", "--json"})
		out, _ := c.Output()
		ids = nil
		for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			var p struct {
				ID   string `json:"id"`
				Late bool
			}
			if json.Unmarshal([]byte(l), &p) == nil && p.ID != "" && !p.Late {
				ids = append(ids, p.ID)
			}
		}
		if len(ids) == want {
			break
		}
	}
	if len(ids) != want {
		ts.Fatalf("%d requests wait, want %d", len(ids), want)
	}
	for i, id := range ids {
		if i == 0 {
			ts.Setenv("ID", id)
		}
		ts.Setenv("ID"+strconv.Itoa(i+1), id)
	}
}

// cmdWaitFile waits until a file is there.
func cmdWaitFile(ts *testscript.TestScript, neg bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear", args[0])
}

// cmdMonitor starts `safeshell watch` on a terminal in the background and ends
// it with the script.
func cmdMonitor(ts *testscript.TestScript, neg bool, args []string) {
	c := command(ts, append([]string{"safeshell", "watch"}, args...))
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 100})
	ts.Check(err)
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := f.Read(buf); err != nil {
				return
			}
		}
	}()
	ts.Defer(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		f.Close()
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
		out, _ := command(ts, []string{"safeshell", "status"}).Output()
		if bytes.Contains(out, []byte("a monitor is running")) {
			return
		}
	}
	ts.Fatalf("the monitor did not start")
}

// cmdCode runs a program and checks its exact exit code: `code 126 git commit`.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		got = ee.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdOctal checks a file's mode: `octal 700 path`.
func cmdOctal(ts *testscript.TestScript, neg bool, args []string) {
	fi, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", fi.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}
