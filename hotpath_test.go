package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// What a guarded command may cost before the real one runs: no other process,
// no rules or configuration in YAML, and few files. Counted, not timed.
func TestHotPathSystemCalls(t *testing.T) {
	for _, tool := range []string{"strace", "git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	home := testdir.New(t)
	dir := filepath.Join(home, ".safeshell")
	env := []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	run := func(in string, argv ...string) {
		t.Helper()
		c := exec.Command(argv[0], argv[1:]...)
		c.Env, c.Dir = env, in
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	repo := filepath.Join(home, "repo")
	for _, d := range []string{dir, filepath.Join(repo, ".safeshell")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{
		filepath.Join(dir, "rules.yaml"): `rules:
- {name: t, commands: ["true"], directory: '^/nowhere$', action: deny, message: never}
- name: protected
  commands: [git]
  conditions:
  - "echo '$CMD' | grep -qE '^git\\s+commit'"
  - "git branch --show-current | grep -qE '^(main|master|develop)$'"
  action: deny
  message: never
`,
		filepath.Join(dir, "config.yaml"):               "log_level: info\n",
		filepath.Join(repo, ".safeshell", "rules.yaml"): "rules:\n- {name: r, commands: [git], match: {subcommand: [tag]}, action: deny, message: no}\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		// Older than what counts as perhaps still changing.
		run(home, "touch", "-d", "1 hour ago", file)
	}
	run(home, "git", "init", "-q", "-b", "feature", repo)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[alias]\n\tst = status\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(home, binary, "refresh", "--quiet")
	event := filepath.Join(home, "event.json")
	if err := os.WriteFile(event, []byte(`{"session_id":"b","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"},"cwd":"/"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	shim := func(name string) string { return filepath.Join(dir, "shims", name) }

	for _, c := range []struct {
		name  string
		argv  []string
		opens int
	}{
		// What was seen of PATH, compiled rules of the user and of the repository, and
		// the journal.
		{"a rule that does not match", []string{shim("true")}, 4},
		// And .git/HEAD or the like.
		{"git, repository rules", []string{shim("git"), "status"}, 5},
		// And git's own configuration: the program's first bytes, the system's, two
		// of the user and the repository's, and HEAD.
		{"git, an alias", []string{shim("git"), "st"}, 12},
		// And config.yaml's copy, .git/HEAD and what leads there.
		{"two conditions", []string{shim("git"), "commit", "--dry-run"}, 9},
		{"safeshell -c", []string{binary, "-c", "true"}, 5},
		{"hook", []string{"sh", "-c", `exec "$1" hook claude-code <"$2"`, "sh", binary, event}, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func() string {
				trace := filepath.Join(testdir.New(t), "trace")
				cmd := exec.Command("strace", append([]string{"-f", "-qq", "-s", "300", "-o", trace, "-e", "trace=open,openat,execve,clone,clone3,fork,vfork"}, c.argv...)...)
				cmd.Env, cmd.Dir = append(env[:len(env):len(env)], "SAFESHELL_CONTEXT=ai"), repo
				out, err := cmd.CombinedOutput()
				b, readErr := os.ReadFile(trace)
				if readErr != nil || !strings.Contains(string(b), "execve(") {
					t.Skipf("strace cannot trace here: %v\n%s", err, out)
				}
				return string(b)
			}
			// Files count as settled two seconds after their last change; the
			// first run compiles what is stale, the next ones only read that.
			trace := run()
			for range 30 {
				if !strings.Contains(ours(trace), ".yaml") {
					break
				}
				time.Sleep(100 * time.Millisecond)
				trace = run()
			}
			before := ours(trace)
			if before == "" {
				t.Fatalf("the trace has no start of safeshell:\n%s", trace)
			}
			opens := 0
			for line := range strings.Lines(before) {
				switch {
				case strings.Contains(line, "resumed>"):
					// The rest of a call that another thread interrupted: it is counted where it begins.
				case strings.Contains(line, "open") && strings.Contains(line, `.yaml"`):
					t.Errorf("reads YAML: %s", line)
				case strings.Contains(line, "clone") && !strings.Contains(line, "CLONE_THREAD"), strings.Contains(line, "fork("):
					t.Errorf("starts a process: %s", line)
				case strings.Contains(line, `"/sys/`), strings.Contains(line, "/proc/self/cgroup"), strings.Contains(line, "/proc/self/mountinfo"):
					// The Go runtime's.
				case strings.Contains(line, "open"):
					opens++
				}
			}
			if opens > c.opens {
				t.Errorf("opens %d files, more than %d:\n%s", opens, c.opens, before)
			}
			t.Logf("%d files opened", opens)
		})
	}
}

// ours is the part of a trace from safeshell's start to the exec of the real
// command, or to the end.
func ours(trace string) string {
	for {
		_, rest, ok := strings.Cut(trace, "execve(")
		if !ok {
			return ""
		}
		before, _, more := strings.Cut(rest, "execve(")
		// The shell in front of a hook, which opens the event for it.
		if more && strings.HasPrefix(rest, `"/`) && strings.HasPrefix(filepath.Base(rest[1:1+strings.IndexByte(rest[1:], '"')]), "sh") {
			trace = rest
			continue
		}
		return before
	}
}

// What scripts and agents call all the time is served without the large program
// that the binary carries: copying that into memory costs ten times the rest.
func TestLeanCommands(t *testing.T) {
	for _, tool := range []string{"strace", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	home := testdir.New(t)
	file := filepath.Join(home, "s.sh")
	if err := os.WriteFile(file, []byte("initcmds cat\ncat /dev/null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(home, "trace")
	for _, argv := range [][]string{
		{"permit", "check", "cat"}, {"permit", "check", "--json", "--", "cat"}, {"run", file}, {"run", "--time-limit", "1m", "--", file},
	} {
		cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", trace, "-e", "trace=memfd_create,execve", binary}, argv...)...)
		cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}, home
		out, err := cmd.CombinedOutput()
		b, readErr := os.ReadFile(trace)
		if readErr != nil || !strings.Contains(string(b), "execve(") {
			t.Skipf("strace cannot trace here: %v\n%s", err, out)
		}
		if err != nil {
			t.Errorf("%q: %v\n%s", argv, err, out)
		}
		if strings.Contains(string(b), "memfd_create(") {
			t.Errorf("%q starts the whole program:\n%s", argv, b)
		}
	}
}
