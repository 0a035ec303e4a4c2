package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sysPath is where the real programs are.
const sysPath = "/usr/local/bin:/usr/bin:/bin"

// scene is a scratch directory with homes, repositories and rivals.
type scene struct {
	work, binary string
}

func (s *scene) path(elem ...string) string {
	return filepath.Join(append([]string{s.work}, elem...)...)
}

// env is the whole environment of a measured process.
func (s *scene) env(home, path string) []string {
	return []string{"HOME=" + s.path(home), "PATH=" + path, "LC_ALL=C", "XDG_DATA_HOME=" + s.path(home, "data")}
}

// guarded is the environment of a home whose shims are in front.
func (s *scene) guarded(home string) []string { return s.env(home, s.shims(home)+":"+sysPath) }

func (s *scene) shims(home string) string { return s.path(home, ".safeshell", "shims") }

// do runs a step of the preparation.
func (s *scene) do(env []string, dir string, argv ...string) error {
	c := exec.Command(argv[0], argv[1:]...)
	c.Env, c.Dir = env, dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// home makes a home with its own rules, compiled, and shims for them.
func (s *scene) home(name, rules string) error {
	dir := s.path(name, ".safeshell")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte(rules), 0o600); err != nil {
		return err
	}
	return s.do(s.env(name, sysPath), s.work, s.binary, "refresh", "--quiet")
}

// A rule for true that does not match, so that true has a shim.
const trueRule = `rules:
- {name: bench-true, commands: ["true"], directory: '^/nowhere$', action: deny, message: never}
`

// The documented style of conditions: two of bash, for git.
const seedRule = trueRule + `- name: bench-protected
  commands: [git]
  conditions:
  - "echo '$CMD' | grep -qE '^git\\s+commit'"
  - "git branch --show-current | grep -qE '^(main|master|develop)$'"
  action: deny
  message: never commit to a protected branch
`

const repoRules = `rules:
- {name: repo-tag, commands: [git], match: {subcommand: [tag]}, action: deny, message: tags are made by the release}
- {name: repo-push, commands: [git], match: {subcommand: [push], flags: [--tags]}, action: deny, message: tags are made by the release}
`

const approveRule = trueRule + `- {name: bench-stamp, commands: [stamp], action: require_approval, message: measured}
`

// otherRules are n rules for commands that nobody calls.
func otherRules(n int) string {
	var b strings.Builder
	b.WriteString(trueRule)
	for i := range n {
		fmt.Fprintf(&b, "- {name: o%d, commands: [zz%d], match: {flags: [-f]}, action: deny, message: no}\n", i, i)
	}
	return b.String()
}

func setUp(work, binary string) (*scene, error) {
	s := &scene{work: work, binary: binary}
	for _, n := range []string{"hello", "floor", "stamp"} {
		c := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", s.path(n), "./internal/test/bench/rivals/"+n)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", n, err, out)
		}
	}
	for name, rules := range map[string]string{
		"home": trueRule, "seed": seedRule, "ten": otherRules(10), "many": otherRules(10000), "approve": approveRule,
	} {
		if err := s.home(name, rules); err != nil {
			return nil, err
		}
	}
	plain := s.env("home", sysPath)
	for _, repo := range []string{"repo", "plainrepo"} {
		dir := s.path(repo)
		steps := [][]string{
			{"git", "init", "-q", "-b", "feature", dir},
			{"git", "-C", dir, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "--allow-empty", "-m", "first"},
		}
		for _, argv := range steps {
			if err := s.do(plain, work, argv...); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "staged"), []byte("x\n"), 0o644); err != nil {
			return nil, err
		}
		if err := s.do(plain, dir, "git", "add", "staged"); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(s.path("repo", ".safeshell"), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(s.path("repo", ".safeshell", "rules.yaml"), []byte(repoRules), 0o644); err != nil {
		return nil, err
	}
	for name, script := range map[string]string{
		"dir-floor": "", "dir-sh": "#!/bin/sh\nPATH=${PATH#*:}; exec \"${0##*/}\" \"$@\"\n", "dir-pyenv": pyenvShim,
	} {
		if err := os.Mkdir(s.path(name), 0o755); err != nil {
			return nil, err
		}
		var err error
		if script == "" {
			err = os.Symlink(s.path("floor"), s.path(name, "true"))
		} else {
			err = os.WriteFile(s.path(name, "true"), []byte(script), 0o755)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// pyenvShim does what a pyenv shim does on its way: set options, look at the
// arguments, and search PATH in bash.
const pyenvShim = `#!/usr/bin/env bash
set -e
program="${0##*/}"
for arg; do case "$arg" in -c*|--) break ;; */*) [ -f "$arg" ] && export SHIM_FILE_ARG="$arg" && break ;; esac; done
IFS=: read -ra dirs <<<"$PATH"
self=$(cd "$(dirname "$0")" && pwd)
for d in "${dirs[@]}"; do [ "$d" != "$self" ] && [ -x "$d/$program" ] && exec "$d/$program" "$@"; done
exit 127
`
