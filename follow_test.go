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

// TestShimsAreMet: a shell that has run a command before a rule named it meets the
// shim at its next prompt, though shells keep in mind where a program was.
func TestShimsAreMet(t *testing.T) {
	p := newPlace(t)
	if out, err := p.command("safeshell", "init", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.write("bin/deploy", "#!/bin/sh\necho deployed >> $P/deployed\n", 0o755)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		exe, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("skipped: no %s", shell)
			continue
		}
		rules := filepath.Join(p.home, ".safeshell/rules.yaml")
		refresh := func() {
			if out, err := p.command("safeshell", "refresh").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		_ = os.Remove(rules)
		refresh()
		done := filepath.Join(p.dir, "deployed")
		_, terminal := p.onTerminal(exe, "-i")
		_, _ = terminal.WriteString("deploy\n")
		p.until("deployed in "+shell, func() bool { _, err := os.Stat(done); return err == nil })
		if err := os.WriteFile(rules, []byte("rules: [{name: no-deploy, commands: [deploy], action: deny, message: no}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		refresh()
		_ = os.Remove(done)
		_, _ = terminal.WriteString("\ndeploy; echo then > $P/then\n")
		then := filepath.Join(p.dir, "then")
		p.until("then in "+shell, func() bool { _, err := os.Stat(then); return err == nil })
		if _, err := os.Stat(done); err == nil {
			t.Errorf("%s runs what is denied", shell)
		}
		_ = os.Remove(then)
	}
}
