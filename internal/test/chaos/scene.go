package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"safeshell/spool"
)

// sysPath is where the real programs are.
const sysPath = "/usr/local/bin:/usr/bin:/bin"

// The guarded command, in several versions by name. It notes its run with one
// append: the number of the invocation and its own process.
var guarded = map[string]string{
	"mark": "asked", "pass": "allowed", "stop": "denied",
}

const markScript = `#!/bin/sh
echo "$CHAOS_N $$" >> "$CHAOS_RAN"
`

const sceneRules = `rules:
- {name: ask-mark, commands: [mark], action: require_approval, message: marks are delicate}
- {name: let-pass, commands: [pass], action: allow, message: passes}
- {name: no-stop, commands: [stop], action: deny, message: never}
`

// scene is a scratch home with shims, in which one round plays.
type scene struct {
	r    *run
	dir  string
	ran  string // file to which guarded commands append
	home string // SAFESHELL_HOME
}

// newScene makes a home with the configuration and compiled rules.
func newScene(r *run, name, config string) (*scene, error) {
	s := &scene{r: r, dir: filepath.Join(r.work, name)}
	s.home, s.ran = filepath.Join(s.dir, ".safeshell"), filepath.Join(s.dir, "ran")
	for _, d := range []string{s.dir, s.home, s.path("bin"), s.path("work")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	files := map[string]string{s.ran: "", filepath.Join(s.home, "rules.yaml"): sceneRules, filepath.Join(s.home, "config.yaml"): config}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for name := range guarded {
		if err := os.WriteFile(s.path("bin", name), []byte(markScript), 0o755); err != nil {
			return nil, err
		}
	}
	c := exec.Command(r.binary, "refresh", "--quiet")
	c.Env, c.Dir = s.env(), s.path("work")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("safeshell refresh: %w\n%s", err, out)
	}
	return s, nil
}

func (s *scene) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *scene) spoolDir() string { return filepath.Join(s.home, "spool") }
func (s *scene) journal() string  { return filepath.Join(s.home, "log", "journal.jsonl") }
func (s *scene) shim(name string) string {
	return filepath.Join(s.home, "shims", name)
}

// workVar is in the environment of everything that a row starts: by it, and by
// nothing else, processes that outlive their row are found.
const workVar = "CHAOS_WORK="

// env is the whole environment of a process in the scene.
func (s *scene) env(more ...string) []string {
	return append([]string{
		workVar + s.r.work, "HOME=" + s.dir, "TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"PATH=" + filepath.Join(s.home, "shims") + ":" + s.path("bin") + ":" + sysPath, "CHAOS_RAN=" + s.ran,
	}, more...)
}

// spool opens the scene's spool, as a process of its own kind.
func (s *scene) spool() (*spool.Spool, error) { return spool.Open(s.spoolDir()) }

// lines are those of a file.
func lines(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), nil
}
