package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Removal is what Uninstall, and `safeshell uninstall`, take out for one agent:
// of the user's files, of the project's, and of every file that a record names.
type Removal struct {
	Agent Agent
	Files []FileChange // what would be done
	Errs  []error      // what stands in the way; the rest is done all the same

	env     Env
	opts    InstallOptions
	targets []target
}

// Removals finds everything of ours in agents' files, and changes nothing. A file
// that cannot be read as the agent would is an error only where we are in it.
func Removals(env Env, binary string) (out []Removal) {
	recorded := env.records()
	for _, a := range All() {
		r := Removal{Agent: a, env: env, opts: InstallOptions{Binary: binary}}
		var forms []target
		for _, project := range []bool{false, true} {
			e := env
			known := !project || filepath.IsAbs(env.ProjectDir)
			if !known {
				e.ProjectDir = "/" // the form of its files is all that is wanted
			}
			ts, err := targets(e, a, InstallOptions{Project: project, Binary: binary})
			if err != nil {
				continue // no place for a hook
			}
			forms = append(forms, ts...)
			for _, t := range ts {
				if known {
					r.add(t)
				}
			}
		}
		for _, file := range recorded[a.Name] {
			i := slices.IndexFunc(forms, func(t target) bool { return filepath.Base(t.path) == filepath.Base(file) })
			if i >= 0 {
				t := forms[i]
				t.path = file
				r.add(t)
			}
		}
		if r.look(); len(r.Files)+len(r.Errs) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// add takes each file once: a project may be the home directory.
func (r *Removal) add(t target) {
	if !slices.ContainsFunc(r.targets, func(have target) bool { return have.path == t.path }) {
		r.targets = append(r.targets, t)
	}
}

// look keeps the targets in which something of ours is, or was.
func (r *Removal) look() {
	var ours []target
	for _, t := range r.targets {
		p, err := r.env.planRemoval(r.Agent, t.path, t, r.opts)
		switch rec := r.env.loadRecord(r.Agent.Name, t.path); {
		case err != nil && (rec != nil || r.env.mayHold(t.path)):
			if !strings.Contains(err.Error(), t.path) {
				err = fmt.Errorf("%s: %w", t.path, err)
			}
			r.Errs = append(r.Errs, toRemove(err))
		case p != nil:
			r.Files = append(r.Files, FileChange{Path: t.path, Change: p.change})
			ours = append(ours, t)
		case rec != nil && err == nil:
			ours = append(ours, t) // taken out by hand: the record goes
		}
	}
	r.targets = ours
	if path, err := r.env.codexConfig(r.Agent); r.Agent.Name == "codex" && err == nil && r.env.loadRecord("codex", path) != nil {
		r.Files = append(r.Files, FileChange{Path: path, Change: Changed})
	}
}

// mayHold says whether a file could hold a hook of ours, as far as it can be read.
func (env Env) mayHold(path string) bool {
	data, found, err := readConfig(path)
	return found && (err != nil && !errors.Is(err, fs.ErrNotExist) || bytes.Contains(data, []byte("safeshell")))
}

// Do takes it out.
func (r Removal) Do() (Result, error) {
	res, _, err := r.env.takeOut(r.Agent, r.targets, r.opts)
	return res, errors.Join(append(r.Errs, next(err))...)
}

// records lists the files that records name, by agent.
func (env Env) records() map[string][]string {
	out := map[string][]string{}
	path, err := env.recordPath("", "")
	if err != nil {
		return out
	}
	dir := filepath.Dir(path)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		var r record
		data, found, err := readConfig(filepath.Join(dir, e.Name()))
		if err == nil && found && json.Unmarshal(data, &r) == nil && filepath.IsAbs(r.File) {
			out[r.Agent] = append(out[r.Agent], r.File)
		}
	}
	return out
}
