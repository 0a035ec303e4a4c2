package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// rival is one way to run a command.
type rival struct {
	name  string
	exe   string
	argv  []string // argv[0] may differ from exe
	env   []string
	dir   string
	stdin string
	every int // it takes part in each round of this number; 0: all
	// over is the rival that it is compared with.
	over string
	// rate turns medians into the ratio that has a limit.
	rate  func(m map[string]figure, f figure) float64
	unit  string
	limit float64
	// prepare makes what the command consumes; it is not timed.
	prepare func() error
}

func (r rival) once() (time.Duration, error) {
	if r.prepare != nil {
		if err := r.prepare(); err != nil {
			return 0, err
		}
	}
	c := exec.Command(r.exe)
	c.Args, c.Env, c.Dir = r.argv, r.env, r.dir
	if r.stdin != "" {
		c.Stdin = strings.NewReader(r.stdin)
	}
	start := time.Now()
	err := c.Run()
	return time.Since(start), err
}

// interleave runs all rivals in turn and returns their figures. Each round has an
// order of its own: what runs behind a large program finds the processor's caches
// cold, and that must not always be the same one.
func interleave(rivals []rival, runs int) ([]figure, error) {
	times := make([][]time.Duration, len(rivals))
	for round := -3; round < runs; round++ {
		for _, i := range rand.New(rand.NewPCG(1, uint64(round+3))).Perm(len(rivals)) {
			r := rivals[i]
			if r.every > 1 && round%r.every != 0 {
				continue
			}
			d, err := r.once()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			if round >= 0 { // the first rounds warm the caches
				times[i] = append(times[i], d)
			}
		}
	}
	figures := make([]figure, len(rivals))
	byName := map[string]figure{}
	for i, r := range rivals {
		f := summary(r.name, times[i])
		if r.over != "" {
			f.Over, f.AddedUS = r.over, f.MedianUS-byName[r.over].MedianUS
		}
		figures[i], byName[r.name] = f, f
	}
	for i, r := range rivals {
		if r.rate != nil {
			figures[i].Ratio, figures[i].Unit, figures[i].Limit = r.rate(byName, figures[i]), r.unit, r.limit
		}
	}
	return figures, nil
}

const (
	floorName = "Go floor shim"
	helloName = "Go hello-world"
	hookEvent = `{"session_id":"b","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"},"cwd":"/"}`
)

func inFloors(m map[string]figure, f figure) float64 { return f.AddedUS / m[floorName].AddedUS }

func inHellos(m map[string]figure, f figure) float64 { return f.AddedUS / m[helloName].MedianUS }

// commands is the table of single commands.
func commands(s *scene, o options) ([]figure, error) {
	sys := s.env("home", sysPath)
	in := func(dir string) []string { return s.env("home", s.path(dir)+":"+sysPath) }
	shim := func(home, name string) string { return s.shims(home) + "/" + name }
	list := []rival{
		{name: "true", exe: "/usr/bin/true", argv: []string{"true"}, env: sys},
		{name: helloName, exe: s.path("hello"), argv: []string{"hello"}, env: sys},
		{name: floorName, exe: s.path("dir-floor", "true"), argv: []string{"true"}, env: in("dir-floor"), over: "true", rate: inFloors, unit: "floors"},
		{name: "#!/bin/sh shim", exe: s.path("dir-sh", "true"), argv: []string{s.path("dir-sh", "true")}, env: in("dir-sh"), over: "true", rate: inFloors, unit: "floors"},
		{name: "pyenv-style bash shim", exe: s.path("dir-pyenv", "true"), argv: []string{s.path("dir-pyenv", "true")}, env: in("dir-pyenv"), over: "true", rate: inFloors, unit: "floors"},
		{name: "shim, no matching rule", exe: shim("home", "true"), argv: []string{"true"}, env: s.guarded("home"), over: "true", rate: inFloors, unit: "floors", limit: 1.5},
		{name: "shim, 10 rules for others", exe: shim("ten", "true"), argv: []string{"true"}, env: s.guarded("ten"), over: "true", rate: inFloors, unit: "floors"},
		{name: "shim, 10000 rules for others", exe: shim("many", "true"), argv: []string{"true"}, env: s.guarded("many"), over: "true",
			rate: func(m map[string]figure, f figure) float64 { return f.AddedUS / m["shim, 10 rules for others"].AddedUS }, unit: "x with 10", limit: 1.1},
		{name: "git status", exe: "/usr/bin/git", argv: []string{"git", "status"}, env: sys, dir: s.path("repo")},
		{name: "shim, git status, repo rules", exe: shim("home", "git"), argv: []string{"git", "status"}, env: s.guarded("home"), dir: s.path("repo"), over: "git status", rate: inFloors, unit: "floors", limit: 2},
		{name: "git commit --dry-run", exe: "/usr/bin/git", argv: []string{"git", "commit", "--dry-run", "-q"}, env: sys, dir: s.path("plainrepo")},
		{name: "shim, rule with two conditions", exe: shim("seed", "git"), argv: []string{"git", "commit", "--dry-run", "-q"}, env: s.guarded("seed"), dir: s.path("plainrepo"), over: "git commit --dry-run", rate: inFloors, unit: "floors", limit: 2.2},
		{name: "bash -c true", exe: "/bin/bash", argv: []string{"bash", "-c", "true"}, env: sys},
		{name: "safeshell -c true", exe: s.binary, argv: []string{"safeshell", "-c", "true"}, env: sys, over: "bash -c true", rate: inFloors, unit: "floors", limit: 2},
		{name: "hook, plain command", exe: s.binary, argv: []string{"safeshell", "hook", "claude-code"}, env: sys, stdin: hookEvent, every: 2,
			rate: func(m map[string]figure, f figure) float64 { return f.MedianUS / m[helloName].MedianUS }, unit: "hellos", limit: 2.5},
	}
	list = append(list, installed(s, sys)...)
	for _, sh := range []string{"bash", "zsh", "fish"} {
		exe, err := exec.LookPath(sh)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed, its start-up is left out\n", sh)
			continue
		}
		eval := `eval "$(` + s.binary + ` init - --shell ` + sh + `)"`
		noRC := map[string]string{"bash": "--norc", "zsh": "-f", "fish": "--no-config"}[sh]
		list = append(list,
			rival{name: sh + " start-up", exe: exe, argv: []string{sh, noRC, "-c", ":"}, env: sys, every: 5},
			rival{name: sh + `, eval "$(safeshell init -)"`, exe: exe, argv: []string{sh, noRC, "-c", eval}, env: sys, every: 5, over: sh + " start-up", rate: inHellos, unit: "hellos", limit: 3})
	}
	return interleave(list, o.runs)
}

// installed are the rivals that the machine has: what a hook in JavaScript costs
// before its first line, a real pyenv shim, and direnv's work at each prompt.
func installed(s *scene, sys []string) []rival {
	var list []rival
	if node, err := exec.LookPath("node"); err == nil {
		list = append(list, rival{name: "node -e 0 (a hook in JavaScript)", exe: node, argv: []string{"node", "-e", "0"}, env: sys, every: 5,
			rate: func(m map[string]figure, f figure) float64 { return f.MedianUS / m[helloName].MedianUS }, unit: "hellos"})
	}
	if pyenv, err := exec.LookPath("pyenv"); err == nil {
		root := s.path("pyenv")
		program := filepath.Join(root, "versions", "1", "bin", "true")
		shim := filepath.Join(root, "shims", "true")
		text := "#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT=" + root + "\nexec " + pyenv + " exec \"${0##*/}\" \"$@\"\n" // as `pyenv rehash` writes it
		err := os.MkdirAll(filepath.Dir(program), 0o755)
		if err == nil {
			err = os.Symlink("/usr/bin/true", program)
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(shim), 0o755)
		}
		if err == nil {
			err = os.WriteFile(shim, []byte(text), 0o755)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: pyenv is left out: %v\n", err)
		} else {
			env := append(slices.Clone(sys), "PYENV_ROOT="+root, "PYENV_VERSION=1")
			list = append(list, rival{name: "pyenv shim", exe: shim, argv: []string{"true"}, env: env, every: 5, over: "true", rate: inFloors, unit: "floors"})
		}
	}
	if direnv, err := exec.LookPath("direnv"); err == nil {
		list = append(list, rival{name: "direnv export bash (each prompt)", exe: direnv, argv: []string{"direnv", "export", "bash"}, env: sys, dir: s.work, every: 5,
			rate: func(m map[string]figure, f figure) float64 { return f.MedianUS / m[helloName].MedianUS }, unit: "hellos"})
	}
	return list
}
