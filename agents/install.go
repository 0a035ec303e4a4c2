package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// InstallOptions say what Install writes, and where.
type InstallOptions struct {
	Project bool   // into the project instead of the user's files
	Binary  string // safeshell's absolute path, as the hook shall call it
	// TimeoutSeconds is the hook's time limit; 0 means 330, which leaves a
	// person 300 s.
	TimeoutSeconds int
	// TrustCodex also writes the hash by which Codex recognises a hook that
	// its user has accepted, in config.toml.
	TrustCodex bool
}

// Change is what became of a file.
type Change string

// The changes.
const (
	Unchanged Change = "unchanged"
	Created   Change = "created"
	Changed   Change = "changed"
	Restored  Change = "restored" // byte for byte as it was before Install
	Removed   Change = "removed"
)

// FileChange is one file that was looked at.
type FileChange struct {
	Path   string
	Change Change
	Backup string // where the content from before is; empty when there is none
}

// Result is what Install or Uninstall did.
type Result struct {
	Files []FileChange
	Notes []string // what only the user can do, or must know
}

// ErrNotInstalled is returned by Uninstall when no file holds our hook.
var ErrNotInstalled = errors.New("there is no safeshell hook")

// Install writes the hook into the agent's configuration.
//
// Everything else in the file stays as it is, byte for byte; the content from
// before is kept beside it. Doing it again changes nothing. A file that is
// broken, or holds something else where the hook has to go, is refused with
// its place, and nothing is changed; several files are all checked first.
func Install(env Env, a Agent, o InstallOptions) (Result, error) {
	res, err := env.install(a, o)
	return res, next(err)
}

func (env Env) install(a Agent, o InstallOptions) (Result, error) {
	if !filepath.IsAbs(o.Binary) {
		return Result{}, fmt.Errorf("the hook needs safeshell's absolute path, not %q", o.Binary)
	}
	ts, err := targets(env, a, o)
	if err != nil {
		return Result{}, err
	}
	var res Result
	var plans []*plan
	for _, t := range ts {
		p, err := env.planInstall(a, t, o)
		if err != nil {
			return Result{}, err
		}
		plans = append(plans, p)
	}
	for _, p := range plans {
		c, err := env.carryOut(a, p)
		if err != nil {
			return res, fmt.Errorf("%s: %w", p.path, err)
		}
		res.Files = append(res.Files, c)
	}
	if a.Name == "codex" && o.TrustCodex {
		c, err := env.trustCodex(a, o)
		if err != nil {
			return res, err
		}
		res.Files = append(res.Files, c)
	}
	res.Notes = notes(env, a, o, plans)
	return res, nil
}

// Uninstall takes the hook out again: byte for byte as it was, where nothing
// else changed since, and else just what is ours.
func Uninstall(env Env, a Agent, o InstallOptions) (Result, error) {
	res, err := env.uninstall(a, o)
	return res, next(err)
}

func (env Env) uninstall(a Agent, o InstallOptions) (Result, error) {
	ts, err := targets(env, a, o)
	if err != nil {
		return Result{}, err
	}
	res, found, err := env.takeOut(a, ts, o)
	if err == nil && !found {
		err = fmt.Errorf("%w of %s in %s", ErrNotInstalled, a.Display, ts[0].path)
	}
	return res, err
}

// takeOut takes the hook out of all that targets name, and goes on after errors.
func (env Env) takeOut(a Agent, ts []target, o InstallOptions) (res Result, found bool, err error) {
	var errs []error
	made := map[string][]string{} // directories of ours, by file
	defer func() {
		for path, dirs := range made {
			removeDirs(path, dirs)
		}
	}()
	for _, t := range ts {
		p, err := env.planRemoval(a, t.path, t, o)
		if err != nil {
			errs = append(errs, toRemove(err))
			continue
		}
		if p == nil {
			if rec := env.loadRecord(a.Name, t.path); rec != nil { // taken out by hand
				found, made[t.path] = true, rec.Dirs
				env.forget(a.Name, t.path, rec)
				res.Notes = append(res.Notes, "there is no safeshell hook any more in "+t.path)
			}
			continue
		}
		found = true
		if p.rec != nil {
			made[p.path] = p.rec.Dirs
		}
		c, err := env.carryOut(a, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.path, err))
			continue
		}
		res.Files = append(res.Files, c)
		res.Notes = append(res.Notes, p.notes...)
	}
	if a.Name == "codex" {
		c, err := env.untrustCodex(a, o)
		errs = append(errs, err)
		if c != nil {
			res.Files = append(res.Files, *c)
		}
	}
	return res, found, errors.Join(errs...)
}

// A plan is a change that has been worked out, but not made.
type plan struct {
	path   string
	old    []byte // nil: there was no file
	new    []byte // nil: the file is to go
	mode   fs.FileMode
	change Change
	spare  bool    // the old content is worth nothing: no backup
	rec    *record // to be kept; nil: to be dropped
	notes  []string
}

// binariesOf lists the names by which our hook may be called in this file.
func binariesOf(o InstallOptions, rec *record) []string {
	out := []string{o.Binary}
	if rec != nil {
		out = append(out, rec.Binary)
	}
	return out
}

func (env Env) planInstall(a Agent, t target, o InstallOptions) (*plan, error) {
	data, found, err := readConfig(t.path)
	if err == nil {
		err = env.newer(a.Name, t.path)
	}
	if err != nil {
		return nil, err
	}
	rec := env.loadRecord(a.Name, t.path)
	p := &plan{path: t.path, mode: 0o600, change: Changed}
	if o.Project {
		p.mode = 0o644
	}
	if found {
		p.old = nonNil(data)
	} else {
		p.change = Created
	}
	if t.exec {
		p.mode |= p.mode >> 2 & 0o111 // who may read may execute
	}
	fresh := &record{Format: recordFormat, Agent: a.Name, File: t.path, Binary: o.Binary, Created: !found}
	if rec != nil {
		fresh.Dirs = rec.Dirs
	}
	if t.kind == wholeTarget {
		text := []byte(t.text)
		if found && !bytes.Equal(data, text) && !env.oursWhole(a, t, data, rec) {
			return nil, fmt.Errorf("%s is not a file of safeshell; move it away or merge the two by hand, then run: safeshell agents install %s", t.path, a.Name)
		}
		p.new, fresh.Created, p.rec = text, true, fresh
		if found && bytes.Equal(data, text) {
			p.change = Unchanged
			if rec != nil {
				p.rec = rec
			}
		}
		p.rec.After = digest(text)
		return p, nil
	}

	if found {
		same, err := inPlace(a, t, data, o, rec)
		if err != nil {
			return nil, err
		}
		if same {
			p.new, p.change, p.rec = data, Unchanged, rec
			return p, nil
		}
	}
	// Start from the file without any hook of ours.
	base, _, err := env.without(a, t, data, rec, o)
	if err != nil {
		return nil, err
	}
	if rec != nil && rec.Created {
		fresh.Created = true
	}
	added, err := insert(a, t, base, fresh)
	if err != nil {
		return nil, err
	}
	p.new, p.rec = added, fresh
	p.rec.After = digest(added)
	return p, nil
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// oursWhole says whether a whole file is one that Install wrote.
func (env Env) oursWhole(a Agent, t target, data []byte, rec *record) bool {
	if rec != nil && digest(data) == rec.After {
		return true
	}
	if filepath.Base(t.path) == "plugin.json" { // Goose's manifest
		doc, err := parseJSON(data, strictJSON, false)
		if err != nil {
			return false
		}
		name, _ := doc.root.get("name").text()
		return name == "safeshell"
	}
	return ourPlugin(a, string(data))
}

func (env Env) planRemoval(a Agent, path string, t target, o InstallOptions) (*plan, error) {
	data, found, err := readConfig(path)
	if err != nil || !found {
		return nil, err
	}
	if err := env.newer(a.Name, path); err != nil {
		return nil, err
	}
	rec := env.loadRecord(a.Name, path)
	p := &plan{path: path, old: nonNil(data), change: Changed}
	if t.kind == wholeTarget {
		if !env.oursWhole(a, t, data, rec) {
			return nil, nil
		}
		if rec != nil {
			p.rec = &record{Dirs: rec.Dirs}
		}
		p.change = Removed
		return p, nil
	}
	out, restored, err := env.without(a, t, data, rec, o)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(out, data) {
		return nil, nil
	}
	p.new, p.spare = nonNil(out), true // nothing but ours is taken out
	if restored {
		p.change = Restored
	}
	if rec != nil {
		p.rec = &record{Dirs: rec.Dirs}
		if rec.Created && bare(t, out) {
			p.new, p.change, p.spare = nil, Removed, true
		}
	} else if bare(t, out) && a.OwnFile {
		p.new, p.change, p.spare = nil, Removed, true
	}
	if a.Name == "codex" && !restored && p.new != nil {
		p.notes = append(p.notes, "hooks that stood behind safeshell's have moved up; Codex asks for them again: run /hooks in Codex")
	}
	return p, nil
}

// bare says whether a file holds nothing but what Install puts around a hook.
func bare(t target, data []byte) bool {
	if t.kind == tomlTarget {
		return len(bytes.TrimSpace(data)) == 0
	}
	doc, err := parseJSON(data, strictJSON, true) // a comment is worth keeping
	if err != nil {
		return false
	}
	if doc.root == nil {
		return true
	}
	if doc.root.kind != '{' {
		return false
	}
	for _, m := range doc.root.members {
		ours := false
		for _, kv := range t.keys {
			ours = ours || kv[0] == m.key.str && kv[1] == string(m.val.raw(data))
		}
		if !ours {
			return false
		}
	}
	return true
}
