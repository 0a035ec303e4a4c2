package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"safeshell/cli"
	"safeshell/internal/test/testdir"
	"safeshell/spool"
)

// Each command that has --json prints one object on one line, or one object a
// line, as docs/json.md says; and each that reads something has it.
func TestJSONShape(t *testing.T) {
	home := testdir.New(t)
	dir, proj := filepath.Join(home, ".safeshell"), filepath.Join(home, "proj")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(dir, "shims") + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	run := func(argv ...string) (stdout, stderr string) {
		t.Helper()
		c := exec.Command(argv[0], argv[1:]...)
		c.Env, c.Dir = env, proj
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		timer := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
		defer timer.Stop()
		if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatalf("%q: %v", argv, err)
		}
		return out.String(), errs.String()
	}
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(proj, "f"), "x")
	write(filepath.Join(proj, "s.sh"), "initcmds no-such-tool\n")
	write(filepath.Join(home, ".claude", "settings.json"), "{}\n")
	write(filepath.Join(home, "broken.yaml"), "rules: [{name: a, action: never}]\n")
	run(binary, "refresh")
	run(filepath.Join(dir, "shims", "rm"), "f")
	run(binary, "permit", "check", "ls", "curl")
	grants, err := spool.OpenGrants(filepath.Join(dir, "grants"))
	if err != nil {
		t.Fatal(err)
	}
	key := spool.Key{UID: os.Geteuid(), Dir: proj, ArgvSHA: spool.ArgvSHA([]string{"ls"})}
	if err := grants.Add(spool.NewGrant("r", key, spool.Decision{Verdict: spool.Allowed, Choice: spool.Always, By: "cli", At: time.Now()}, "ls")); err != nil {
		t.Fatal(err)
	}

	// The arguments of each; a command that has --json and is not here fails below.
	calls := map[string][]string{
		"agents doctor": {"claude-code"}, "agents list": nil, "check": {"--", "git push -f"}, "doctor": nil, "grants list": nil,
		"log": nil, "pending": nil, "permit check": {"curl"}, "permit list": nil, "permit retry": {"rt1"}, "refresh": nil,
		"rules lint": {filepath.Join(home, "broken.yaml")}, "rules list": nil, "rules show": {"git-push-force"}, "run": {"s.sh"},
		"status": nil, "trash list": nil, "version": nil,
		"log --stats": nil,
	}
	docs, err := os.ReadFile("docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `safeshell ([^`]+)` \\| (one [^|]*) \\|")
	lines := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(docs), -1) {
		lines[m[1]] = strings.HasPrefix(m[2], "one a line")
		if !strings.HasPrefix(m[2], "one a line") && !strings.HasPrefix(m[2], "one object") {
			t.Errorf("docs/json.md says of %s neither one object nor one a line: %s", m[1], m[2])
		}
	}
	for _, name := range withJSON(t) {
		if _, ok := calls[name]; !ok {
			t.Errorf("%s has --json and no line in this test", name)
		}
	}
	each := func(name string, args []string) {
		many, ok := lines[name]
		if !ok {
			t.Errorf("docs/json.md says nothing of %s", name)
		}
		if name == "pending" {
			defer ask(t, filepath.Join(dir, "spool"), proj, "hello")()
		}
		out, errs := run(append(append(append([]string{binary}, strings.Fields(name)...), "--json"), args...)...)
		all := strings.SplitAfter(out, "\n")
		n := len(all) - 1
		if n < 1 || all[n] != "" || !many && n != 1 {
			t.Errorf("%s --json prints %d lines:\n%s%s", name, n, out, errs)
		}
		for _, l := range all[:max(n, 0)] {
			var object map[string]any
			if err := json.Unmarshal([]byte(l), &object); err != nil || len(object) == 0 {
				t.Errorf("%s --json: %v: %q", name, err, l)
			}
		}
	}
	for name, args := range calls {
		each(name, args)
	}
}

// withJSON are the commands that have the option --json, by the grammar.
func withJSON(t *testing.T) (names []string) {
	t.Helper()
	model, err := cli.Model()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range model.Leaves(true) {
		if slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) {
			names = append(names, n.Path())
		}
	}
	return names
}

// ask lets a request wait until what it returns is called.
func ask(t *testing.T, dir, proj string, argv ...string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := spool.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	mon, err := s.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	waits, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.Ask(ctx, spool.Request{UID: os.Geteuid(), Dir: proj, Argv: argv, Rule: "r", Context: "ai", Layer: "shim"},
			spool.AskOptions{Timeout: 10 * time.Minute, Waiting: func(spool.Request) { close(waits) }})
		_ = mon.Close()
	}()
	<-waits
	return func() { cancel(); <-done }
}
