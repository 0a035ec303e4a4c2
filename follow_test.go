package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestShimsFollowPath: a command of a built-in rule that is installed later has its
// shim at the next prompt of each shell, and after the next guarded command of each
// layer; no PATH takes away what another one leads to.
func TestShimsFollowPath(t *testing.T) {
	p := newPlace(t)
	if out, err := p.command("safeshell", "init", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Names of built-in rules, but for what this machine has.
	names := []string{"helm", "aws", "az", "gcloud", "terraform", "kubectl", "vault", "pulumi", "restic", "borg", "snapper", "doppler", "heroku", "databricks"}
	names = slices.DeleteFunc(names, func(n string) bool { _, err := exec.LookPath(n); return err == nil })
	install := func() (shim string) {
		name := names[0]
		names = names[1:]
		time.Sleep(20 * time.Millisecond) // of a directory's time and a file's, one is later
		p.write("bin/"+name, "#!/bin/sh\n", 0o755)
		return filepath.Join(p.home, ".safeshell/shims", name)
	}
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	event := `{"session_id":"s","cwd":"` + p.dir + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"t"}`
	for _, c := range []string{
		"rm -f none", "safeshell -c true", "safeshell exec -- true", "safeshell init - --shell bash",
		"echo '" + event + "' | safeshell hook claude-code",
	} {
		shim := install()
		if there(shim) {
			t.Errorf("%s is there already", shim)
		}
		if out, err := p.command("/bin/bash", "-c", c).CombinedOutput(); err != nil || !there(shim) {
			t.Errorf("after %q no %s (%v)\n%s", c, shim, err, out)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		exe, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("skipped: no %s", shell)
			continue
		}
		_, terminal := p.onTerminal(exe, "-i")
		shim := install()
		p.until(shim+" in "+shell, func() bool {
			_, _ = terminal.WriteString("\n")
			return there(shim)
		})
		t.Log(shell, time.Now())
	}
	first := install()
	for _, c := range []struct {
		path, args string
		there      bool
	}{{"", "-c true", true}, {"/usr/bin:/bin", "-c true", true}, {"/usr/bin:/bin", "refresh -q", false}, {"", "-c true", true}} {
		cmd := p.command("safeshell", strings.Fields(c.args)...)
		if c.path != "" {
			cmd.Env = append(append([]string{}, p.env...), "PATH="+c.path)
		}
		if out, err := cmd.CombinedOutput(); err != nil || there(first) != c.there {
			t.Errorf("after %s with PATH=%s: %s there %v (%v)\n%s", c.args, c.path, first, !c.there, err, out)
		}
	}
}
