package front_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"safeshell/cli"
	"safeshell/front"
	"safeshell/permit"
	"safeshell/shims"
)

const (
	asVar     = "SAFESHELL_FRONT_TEST"
	notServed = 99
)

// TestMain is the program under test when it is started as one: front or the
// command line alone.
func TestMain(m *testing.M) {
	as := os.Getenv(asVar)
	if len(os.Args) == 4 && os.Args[1] == "run" && os.Args[2] == "--keeper" {
		as = "front" // a run has started it
	}
	id := shims.Identify(os.Args)
	if as == "" && id.Run == "" {
		if os.Getenv(permit.RunVar) != "" {
			os.Exit(notServed) // nothing in a run may start the tests
		}
		os.Exit(m.Run())
	}
	_ = os.Unsetenv(asVar)
	p := shims.Process{
		Argv: append([]string{"safeshell"}, os.Args[1:]...), Environ: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	p.Identity = id
	switch {
	case id.Run != "" && id.Role == shims.Declare:
		os.Exit(shims.RunDeclare(p))
	case id.Run != "":
		os.Exit(shims.RunShim(p))
	case as == "cli":
		os.Exit(cli.Run(p))
	}
	code, served := front.Run(p)
	if !served {
		code = notServed
	}
	os.Exit(code)
}

// world is a scratch home that is set up, with files to lose.
type world struct{ home, work string }

func newWorld(t *testing.T) world {
	t.Helper()
	// A name that no shell has to quote.
	dir, err := os.MkdirTemp("", "front")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := world{home: filepath.Join(dir, "home")}
	w.work = filepath.Join(w.home, "work")
	w.write(t, map[string]string{filepath.Join(w.home, ".safeshell", "rules.yaml"): `rules:
- {name: no-ls, commands: [ls], match: {flags: [-Z]}, action: deny, message: not that one, suggest: ls}
- {name: no-cd, commands: [cd], match: {args: '^/nowhere$'}, action: deny, message: there is nothing}
- {name: printf-for-echo, commands: [zecho], action: redirect, redirect_to: "printf %s,\\n $ARGS", message: use printf}
`})
	w.fresh(t)
	if out, code := w.run(t, "cli", "", "refresh", "--quiet"); code != 0 {
		t.Fatalf("refresh: %d\n%s", code, out)
	}
	return w
}

// fresh makes the files that a case may have lost.
func (w world) fresh(t *testing.T) {
	t.Helper()
	w.write(t, map[string]string{
		filepath.Join(w.work, "file"):             "f\n",
		filepath.Join(w.work, "-dash"):            "d\n",
		filepath.Join(w.work, "tree", "sub", "x"): "x\n",
		filepath.Join(w.work, "ok.sh"):            "initcmds cat\necho \"$# $*\"; exit 3\n",
		filepath.Join(w.work, "none.sh"):          "echo a\n",
		filepath.Join(w.work, "blocked.sh"):       "initcmds curl-nope cat\n",
		filepath.Join(w.work, "asks.sh"):          "initcmds awk\n",
		filepath.Join(w.work, "dash.sh"):          "#!/bin/sh\ninitcmds\nnope\n",
		filepath.Join(w.work, "broken.sh"):        "if\n",
		filepath.Join(w.work, "mod.ts"):           "const [c] = await initCmds([\"cat\"])\n",
		filepath.Join(w.work, "bad.ts"):           "nothing()\n",
	})
}

func (w world) write(t *testing.T, files map[string]string) {
	t.Helper()
	for file, text := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// run returns what was printed, with the home's path taken out, and the exit
// code.
func (w world) run(t *testing.T, as, stdin string, args ...string) (string, int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Dir = w.work
	c.Env = []string{"HOME=" + w.home, "PATH=/usr/bin:/bin", "LC_ALL=C", "SAFESHELL_CONTEXT=ai", asVar + "=" + as}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		c.Env = append(c.Env, "GOCOVERDIR="+dir) // else a test binary with coverage warns
	}
	c.Stdin = strings.NewReader(strings.ReplaceAll(stdin, "@WORK@", w.work))
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text := fmt.Sprintf("stdout:\n%s\nstderr:\n%s", stdout.String(), stderr.String())
	return strings.ReplaceAll(text, w.home, "@HOME@"), c.ProcessState.ExitCode()
}

// A second file of one name gets random characters in the trash.
var varying = regexp.MustCompile(`\.[0-9a-z]{8}(\.trashinfo)?$`)

// files are the names of all files below the home but the caches, without what
// differs from run to run.
func (w world) files(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "/.safeshell/run") {
			return fs.SkipDir // a run's directory goes when its keeper does
		}
		if err == nil && !strings.Contains(path, "/cache/") {
			out = append(out, varying.ReplaceAllString(strings.TrimPrefix(path, w.home), ".*$1"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// only returns what is in a and not in b.
func only(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

const event = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"},"cwd":"@WORK@"}`

// What front serves, the command line would have answered in the same way:
// output, errors, exit code and files. What it does not know it leaves alone.
func TestFrontIsTheCommandLine(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	for _, c := range []struct {
		served bool
		stdin  string
		args   []string
	}{
		{true, "", []string{"init", "-", "--shell", "bash"}},
		{true, "", []string{"init", "-", "--shell=zsh"}},
		{true, "", []string{"init", "--shell", "fish", "-"}},
		{true, "", []string{"init", "--shell=sh", "-"}},
		{false, "", []string{"init", "-", "--shell", "nosuch"}},
		{false, "", []string{"init", "-", "--shell"}},
		{false, "", []string{"init", "-", "--nonsense"}},
		{false, "", []string{"init", "-", "-"}},
		{false, "", []string{"init", "--help"}},
		{true, "", []string{"exec", "--", "printf", "%s|", "a b", "", "-c"}},
		{true, "in\n", []string{"exec", "--", "cat", "-"}},
		{true, "", []string{"exec", "--", "false"}},
		{true, "", []string{"exec", "--", "sh", "-c", "exit 7"}},
		{true, "", []string{"exec", "--", "no-such-command-here"}},
		{true, "", []string{"exec", "--", "./nope"}},
		{true, "", []string{"exec", "--", "ls", "-Z"}},
		{true, "", []string{"exec", "--", "zecho", "a b", "c"}},
		{true, "", []string{"exec", "--", "rm", "file"}},
		{true, "", []string{"exec", "--builtin", "--", "cd", "/"}},
		{true, "", []string{"exec", "--builtin", "--", "cd", "/nowhere"}},
		{false, "", []string{"exec", "--"}},
		{false, "", []string{"exec", "--", ""}},
		{false, "", []string{"exec", "printf", "x"}},
		{false, "", []string{"exec", "--help"}},
		{true, "", []string{"trash", "put", "file"}},
		{true, "", []string{"trash", "put", "-rv", "tree"}},
		{true, "", []string{"trash", "put", "tree"}},
		{true, "", []string{"trash", "put", "missing"}},
		{true, "", []string{"trash", "put", "-f", "missing"}},
		{true, "", []string{"trash", "put", "--", "-dash"}},
		{true, "", []string{"trash", "put", "--no-such-option", "file"}},
		{true, "", []string{"trash", "put", "--help"}},
		{false, "", []string{"trash", "put"}},
		{false, "", []string{"trash", "list"}},
		{true, fmt.Sprintf(event, "ls -l"), []string{"hook", "claude-code"}},
		{true, fmt.Sprintf(event, "ls -Z"), []string{"hook", "claude-code"}},
		{true, fmt.Sprintf(event, "rm file"), []string{"hook", "--timeout=9", "claude-code"}},
		{true, fmt.Sprintf(event, "echo 'broken"), []string{"hook", "claude-code", "--timeout", "9"}},
		{true, "no event", []string{"hook", "claude-code"}},
		{true, "", []string{"hook", "claude-code"}},
		{true, "{}", []string{"hook", "no-such-agent"}},
		{false, "{}", []string{"hook", "claude-code", "more"}},
		{false, "{}", []string{"hook", "claude-code", "--timeout=x"}},
		{false, "{}", []string{"hook", "claude-code", "--timeout=-1"}},
		{false, "{}", []string{"hook", "--help"}},
		{false, "", []string{"hook"}},
		{true, "", []string{"run", "ok.sh"}},
		{true, "", []string{"run", "./ok.sh", "a", "-x", "--json", "--", "b c"}},
		{true, "", []string{"run", "--time-limit=90s", "ok.sh", "--time-limit=1s"}},
		{true, "", []string{"run", "--time-limit", "10m", "--json", "ok.sh"}},
		{true, "", []string{"run", "none.sh"}},
		{true, "", []string{"run", "blocked.sh"}},
		{true, "", []string{"run", "--json", "blocked.sh"}},
		{true, "", []string{"run", "asks.sh", "arg"}},
		{true, "", []string{"run", "--json", "asks.sh"}},
		{true, "", []string{"run", "dash.sh"}},
		{true, "", []string{"run", "broken.sh"}},
		{true, "", []string{"run", "file"}},
		{true, "", []string{"run", "tree"}},
		{true, "", []string{"run", "missing.sh"}},
		{true, "", []string{"run", "mod.ts"}},
		{true, "", []string{"run", "bad.ts"}},
		{true, "", []string{"run", "--keeper", "/nowhere"}},
		{false, "", []string{"run"}},
		{false, "", []string{"run", ""}},
		{false, "", []string{"run", "-dash"}},
		{false, "", []string{"run", "--"}},
		{true, "", []string{"run", "--", "ok.sh"}},
		{true, "", []string{"run", "--json", "--", "./ok.sh", "-a", "--", "--json"}},
		{true, "", []string{"run", "--", "-dash"}},
		{false, "", []string{"run", "--", "--", "ok.sh"}},
		{false, "", []string{"run", "--explain", "ok.sh"}},
		{false, "", []string{"run", "--time-limit", "x", "ok.sh"}},
		{false, "", []string{"run", "--time-limit=-1s", "ok.sh"}},
		{false, "", []string{"run", "--time-limit=0s", "ok.sh"}},
		{false, "", []string{"run", "--time-limit"}},
		{false, "", []string{"run", "--json"}},
		{false, "", []string{"run", "--help"}},
		{true, "", []string{"permit", "check", "cat", "grep", "cat"}},
		{true, "", []string{"permit", "check", "--json", "cat", "true"}},
		{true, "", []string{"permit", "check", "cat", "awk", "./file", "no-such-command"}},
		{false, "", []string{"permit", "check", "cat", "awk", "--json"}},
		{true, "", []string{"permit", "check", "--json", "awk", "\xff", "a b"}},
		{false, "", []string{"permit", "check", "cat", "--help"}},
		{false, "", []string{"permit", "check"}},
		{false, "", []string{"permit", "check", "--json"}},
		{true, "", []string{"permit", "check", "--", "cat", "--", "-x"}},
		{true, "", []string{"permit", "check", "--json", "--", "-x"}},
		{false, "", []string{"permit", "check", "--"}},
		{false, "", []string{"permit", "check", ""}},
		{false, "", []string{"permit", "check", "--help"}},
		{false, "", []string{"permit", "list"}},
		{false, "", []string{"permit"}},
		{false, "", []string{"status", "--json"}},
		{false, "", []string{"--version"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			a.fresh(t)
			b.fresh(t)
			before := a.files(t)
			got, code := a.run(t, "front", c.stdin, c.args...)
			if !c.served {
				if code != notServed || got != "stdout:\n\nstderr:\n" {
					t.Errorf("served with %d:\n%s", code, got)
				}
				if after := a.files(t); !slices.Equal(before, after) {
					t.Errorf("not served, but there is now %q and no more %q", only(after, before), only(before, after))
				}
				return
			}
			want, wantCode := b.run(t, "cli", c.stdin, c.args...)
			if got != want || code != wantCode {
				t.Errorf("front gives %d:\n%s\nthe command line %d:\n%s", code, got, wantCode, want)
			}
			if x, y := a.files(t), b.files(t); !slices.Equal(x, y) {
				t.Errorf("front alone leaves %q, the command line alone %q", only(x, y), only(y, x))
			}
		})
	}
}

// A home that is not complete is made by the command line.
func TestInitLeavesAnIncompleteHomeAlone(t *testing.T) {
	w := newWorld(t)
	if err := os.Remove(filepath.Join(w.home, ".safeshell", "shims", "safeshell-wrapper")); err != nil {
		t.Fatal(err)
	}
	if out, code := w.run(t, "front", "", "init", "-", "--shell", "bash"); code != notServed {
		t.Errorf("served with %d:\n%s", code, out)
	}
}
