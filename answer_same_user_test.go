package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/config"
	"safeshell/eval"
	"safeshell/spool"
)

// What a process of the same user writes past hook, wrapper and shims is
// obeyed, and docs/residual-risk.md says so; the same as a text that is judged
// is denied to agents.
func TestSameUserWrites(t *testing.T) {
	const risk = "A remembered answer, a rule, a trusted hash or config.yaml written by the\n  same user"
	page, err := os.ReadFile("docs/residual-risk.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte(risk)) {
		t.Errorf("docs/residual-risk.md does not say %q", risk)
	}
	for _, row := range []struct {
		name, judged string
		write        func(*place, config.Paths) error
	}{
		{"grants", `cp /tmp/g ~/.safeshell/grants/0123456789abcdef0123456789abcdef.json`, func(p *place, paths config.Paths) error {
			g, err := spool.OpenGrants(paths.Grants)
			if err != nil {
				return err
			}
			key := spool.Key{UID: os.Geteuid(), Dir: filepath.Join(p.dir, "work"), ArgvSHA: spool.ArgvSHA([]string{"probe", "wanted"})}
			return g.Add(spool.NewGrant("ask-probe", key, spool.Decision{Choice: spool.Always, By: "monitor"}, "probe wanted"))
		}},
		{"rules", `echo 'rules: []' > ~/.safeshell/rules.yaml`, func(p *place, paths config.Paths) error {
			return os.WriteFile(paths.Rules, []byte("rules: []\n"), 0o600)
		}},
		{"trust", `touch ~/.safeshell/trust/0`, func(p *place, paths config.Paths) error {
			dir := filepath.Join(p.dir, "work")
			if err := os.MkdirAll(filepath.Join(dir, ".safeshell"), 0o755); err != nil {
				return err
			}
			p.write("work/.safeshell/rules.yaml", "rules:\n- {name: code, commands: [probe], conditions: ['echo rule >> "+p.dir+"/ran'], action: deny, message: m}\n", 0o644)
			if out, err := p.agent("git init -q .; probe wanted").CombinedOutput(); p.ran() {
				p.t.Errorf("an untrusted condition ran: %v %s", err, out)
			}
			_, err := eval.Trust(paths, dir)
			return err
		}},
		{"config", `echo 'unreachable_behavior: fail_open' > ~/.safeshell/config.yaml`, func(p *place, paths config.Paths) error {
			return os.WriteFile(paths.Config, []byte("unreachable_behavior: fail_open\n"), 0o600)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/.safeshell/config.yaml", "approval: {timeout_seconds: 20}\n", 0o600)
			paths, err := config.Locate(func(n string) string { return map[string]string{"HOME": p.home}[n] })
			if err != nil {
				t.Fatal(err)
			}
			c := p.command("safeshell", "check", "--context", "ai", "--", row.judged)
			if out, _ := c.Output(); !strings.Contains(string(out), "denied") || !strings.Contains(string(out), "self-protection-files") {
				t.Errorf("%s: %s", row.judged, out)
			}
			if out, err := p.agent("probe wanted").CombinedOutput(); err == nil || p.ran() {
				t.Fatalf("it runs unasked, before anything was written: %v %s", err, out)
			}
			if err := row.write(p, paths); err != nil {
				t.Fatal(err)
			}
			if out, _ := p.agent("probe wanted").CombinedOutput(); !p.ran() {
				t.Errorf("it is stopped now: %s; take it out of docs/residual-risk.md", out)
			}
		})
	}
}
