package agents

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"
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
	case "codex":
		fix = "safeshell init"
		out, err := d.env.runLimited([]string{"/bin/bash", "-l", "-c",
			`[ ! -r ~/.bashrc ] || . ~/.bashrc >/dev/null 2>&1; printf '\n%s' "$PATH"`}, d.env.Home, "", probeTime)
		if err != nil || out.code != 0 {
			d.add(Warn, "", "the PATH that Codex's commands get is not known: a login shell of bash fails")
			return
		}
		path = out.stdout[strings.LastIndexByte(out.stdout, '\n')+1:]
	}
	if !slices.Contains(filepath.SplitList(path), d.env.Shims) {
		d.add(Warn, fix, "the commands of %s, started from here, do not find the shims: behind its hook nothing judges them again", d.a.Display)
		return
	}
	var names []string
	shadowed := d.env.Shadowed(d.env.Shims, path)
	for n := range shadowed {
		names = append(names, n)
	}
	if sort.Strings(names); len(names) > 0 {
		d.add(Warn, fix, "the commands of %s, started from here, find %s before the shim (and %d more like it)", d.a.Display, shadowed[names[0]], len(names)-1)
		return
	}
	d.add(OK, "", "the shell that %s spawns finds the shims first", d.a.Display)
}
