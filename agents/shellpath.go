package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"safeshell/config"
)

// The shell that an agent spawns has a PATH of its own making, which decides
// whether the shims are met behind the hook. Measured with Claude Code 2.1.330
// (its own PATH, from the snapshot's last line, or settings.json) and Codex
// 0.169.0 (that of a login shell which has read .bashrc too).

// shellPath checks that the shims come first in that PATH.
func (d *doctor) shellPath() {
	if d.env.Shims == "" || d.env.Shadowed == nil {
		return
	}
	add := func(fix, format string, args ...any) {
		d.findings = append(d.findings, Finding{Level: Warn, Text: fmt.Sprintf(format, args...), Fix: fix, NoPlace: d.a.Hook == NoHook})
	}
	if _, err := os.Stat(filepath.Join(d.env.Shims, "rm")); errors.Is(err, fs.ErrPermission) {
		add(config.Mend(err), "no shell can find the shims: %v", err)
		return
	}
	path, fix := d.env.getenv("PATH"), `eval "$(safeshell init -)"`
	switch d.a.Name {
	case "claude-code":
		for _, f := range []string{d.a.UserFile, ".claude/settings.json", ".claude/settings.local.json"} {
			if file, err := d.env.path(d.a, f); err == nil {
				if s, ok := settings(file).lookup([]string{"env", "PATH"}).text(); ok {
					path, fix = s, ""
				}
			}
		}
	case "codex", "continue":
		fix = "safeshell init"
		ask := []string{"/bin/bash", "-l", "-c", `[ ! -r ~/.bashrc ] || . ~/.bashrc >/dev/null 2>&1; printf '\n%s' "$PATH"`}
		if shell := d.env.getenv("SHELL"); d.a.Name == "continue" {
			if ask[3] = `printf '\n%s' "$PATH"`; filepath.IsAbs(shell) {
				ask[0] = shell
			}
		}
		out, err := d.env.runLimited(ask, d.env.Home, "", probeTime)
		if err != nil || out.code != 0 {
			d.add(Warn, "", "the PATH that the commands of %s get is not known: %s -l fails", d.a.Display, ask[0])
			return
		}
		path = out.stdout[strings.LastIndexByte(out.stdout, '\n')+1:]
	}
	if !slices.Contains(filepath.SplitList(path), d.env.Shims) {
		what := "behind its hook nothing judges them again"
		if d.a.Hook == NoHook {
			what = "nothing judges them"
		}
		add(fix, "the commands of %s, started from here, do not find the shims: %s", d.a.Display, what)
		return
	}
	var names []string
	shadowed := d.env.Shadowed(d.env.Shims, path)
	for n := range shadowed {
		names = append(names, n)
	}
	if sort.Strings(names); len(names) > 0 {
		add(fix, "the commands of %s, started from here, find %s before the shim (and %d more like it)", d.a.Display, shadowed[names[0]], len(names)-1)
		return
	}
	d.add(OK, "", "the shell that %s spawns finds the shims first", d.a.Display)
}
