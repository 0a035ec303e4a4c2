package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	ts, err := targets(env, a, o)
	if err != nil {
		return Result{}, err
	}
	var res Result
	found := false
	made := map[string][]string{} // directories of ours, by file
	defer func() {
		for path, dirs := range made {
			removeDirs(path, dirs)
		}
	}()
	for _, t := range ts {
		p, err := env.planRemoval(a, t.path, t, o)
		if err != nil {
			return res, err
		}
		if p == nil {
			continue
		}
		found = true
		if p.rec != nil {
			made[p.path] = p.rec.Dirs
		}
		c, err := env.carryOut(a, p)
		if err != nil {
			return res, fmt.Errorf("%s: %w", p.path, err)
		}
		res.Files = append(res.Files, c)
		res.Notes = append(res.Notes, p.notes...)
	}
	if a.Name == "codex" {
		c, err := env.untrustCodex(a, o)
		if err != nil {
			return res, err
		}
		if c != nil {
			res.Files = append(res.Files, *c)
		}
	}
	if !found {
		return res, fmt.Errorf("%w of %s in %s", ErrNotInstalled, a.Display, ts[0].path)
	}
	return res, nil
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
	fresh := &record{Format: 1, Agent: a.Name, File: t.path, Binary: o.Binary, Created: !found}
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

// mode returns how an agent's JSON may deviate.
func (a Agent) jsonMode() jsonMode {
	if a.Comments == No {
		return strictJSON
	}
	return looseJSON
}

// parseFor reads a JSON file for an agent and refuses what cannot hold a hook.
func parseFor(a Agent, path string, data []byte) (*document, error) {
	doc, serr := parseJSON(data, a.jsonMode(), true)
	if serr != nil {
		return nil, refuse(inFile(serr, path), "mend the file, then run: safeshell agents install "+a.Name)
	}
	if doc.root != nil && doc.root.kind != '{' {
		return nil, refuse(inFile(shapeError(doc, doc.root, "this is %s where an object is due", doc.root.kindName()), path),
			"mend the file, then run: safeshell agents install "+a.Name)
	}
	return doc, nil
}

func parseTOMLFor(a Agent, path string, data []byte) ([]tomlItem, error) {
	items, serr := parseTOML(data)
	if serr != nil {
		return nil, refuse(inFile(serr, path), "mend the file, then run: safeshell agents install "+a.Name)
	}
	return items, nil
}

// inPlace says whether the file already holds exactly the wanted hooks and no
// other of ours.
func inPlace(a Agent, t target, data []byte, o InstallOptions, rec *record) (bool, error) {
	if t.kind == tomlTarget {
		items, err := parseTOMLFor(a, t.path, data)
		if err != nil {
			return false, err
		}
		have := tomlEntries(a, t.path, data, items, binariesOf(o, rec)...)
		want, serr := parseTOML([]byte(t.text))
		if serr != nil || len(have) != 1 {
			return false, nil
		}
		w := tomlHooks(want)[0]
		for _, kv := range w.pairs {
			v := have[0].toml.get(kv.keys[0])
			if v == nil || v.kind != kv.val.kind || v.str != kv.val.str ||
				v.kind == '0' && string(data[v.start:v.end]) != t.text[kv.val.start:kv.val.end] {
				return false, nil
			}
		}
		return true, nil
	}
	doc, err := parseFor(a, t.path, data)
	if err != nil || doc.root == nil {
		return false, err
	}
	if len(jsonEntries(a, t.path, doc, binariesOf(o, rec)...)) != len(t.wants) {
		return false, nil
	}
	for _, w := range t.wants {
		elem, serr := parseJSON([]byte(w.elem), strictJSON, false)
		list := doc.root.lookup(w.path)
		ok := false
		if serr == nil && list.is('[') {
			for _, el := range list.elems {
				ok = ok || sameJSON(data, el, elem.src, elem.root)
			}
		}
		if !ok {
			return false, nil
		}
	}
	for _, kv := range t.keys {
		if !doc.root.has(kv[0]) {
			return false, nil
		}
	}
	return true, nil
}

// insert adds the hooks to a file's content, noting each step.
func insert(a Agent, t target, base []byte, rec *record) ([]byte, error) {
	step := func(data []byte, e edit) ([]byte, error) {
		rec.add(e)
		return apply(data, []edit{e})
	}
	if t.kind == tomlTarget {
		items, err := parseTOMLFor(a, t.path, base)
		if err != nil {
			return nil, err
		}
		e, serr := addTOMLHook(base, items, t.text)
		if serr != nil {
			return nil, refuse(inFile(serr, t.path), "put the hook there by hand, as docs/agents/"+a.Name+".md shows")
		}
		return step(base, e)
	}
	doc, err := parseFor(a, t.path, base)
	if err != nil {
		return nil, err
	}
	if doc.root == nil {
		// An empty file, or one of comments: give it an object.
		text := "{}\n"
		if i := bytes.LastIndexByte(base, '\n'); len(base) > 0 && i != len(base)-1 && len(bytes.TrimSpace(bytes.TrimPrefix(base, []byte(bom)))) > 0 {
			text = "\n" + text
		}
		if base, err = step(base, edit{off: len(base), with: text}); err != nil {
			return nil, err
		}
		if doc, err = parseFor(a, t.path, base); err != nil {
			return nil, err
		}
	}
	for _, kv := range t.keys {
		if doc.root.has(kv[0]) {
			continue
		}
		rec.Made = append(rec.Made, []string{kv[0]})
		if base, err = step(base, addItem(doc, doc.root, false, memberText(kv[0], kv[1]))); err != nil {
			return nil, err
		}
		if doc, err = parseFor(a, t.path, base); err != nil {
			return nil, err
		}
	}
	for i := len(t.wants) - 1; i >= 0; i-- { // the first one is to be in front
		w := t.wants[i]
		if !w.front {
			continue
		}
		if base, doc, err = insertOne(a, t, base, doc, w, rec, step); err != nil {
			return nil, err
		}
	}
	for _, w := range t.wants {
		if w.front {
			continue
		}
		if base, doc, err = insertOne(a, t, base, doc, w, rec, step); err != nil {
			return nil, err
		}
	}
	return base, nil
}

func insertOne(a Agent, t target, base []byte, doc *document, w want, rec *record,
	step func([]byte, edit) ([]byte, error)) ([]byte, *document, error) {
	e, made, serr := addElement(doc, w.path, w.elem, w.front)
	if serr != nil {
		return nil, nil, refuse(inFile(serr, t.path), "put the hook there by hand, as docs/agents/"+a.Name+".md shows")
	}
	rec.Made = append(rec.Made, made...)
	base, err := step(base, e)
	if err != nil {
		return nil, nil, err
	}
	doc, err = parseFor(a, t.path, base)
	return base, doc, err
}

// without returns the file's content without any hook of ours, and whether
// there was one. restored is set when it is byte for byte as before Install.
func (env Env) without(a Agent, t target, data []byte, rec *record, o InstallOptions) (out []byte, restored bool, err error) {
	if rec != nil {
		if back, err := rec.undo(data); err == nil {
			return back, true, nil
		}
	}
	if t.kind == tomlTarget {
		for {
			items, err := parseTOMLFor(a, t.path, data)
			if err != nil {
				return nil, false, err
			}
			have := tomlEntries(a, t.path, data, items, binariesOf(o, rec)...)
			if len(have) == 0 {
				return data, false, nil
			}
			if data, err = apply(data, []edit{removeTOMLHook(data, *have[0].toml)}); err != nil {
				return nil, false, err
			}
		}
	}
	removed := false
	for {
		doc, err := parseFor(a, t.path, data)
		if err != nil {
			return nil, false, err
		}
		have := jsonEntries(a, t.path, doc, binariesOf(o, rec)...)
		if len(have) == 0 {
			if !removed {
				return data, false, nil
			}
			break
		}
		l := have[0].removal()
		if data, err = apply(data, removeItem(doc, l.in, l.index)); err != nil {
			return nil, false, err
		}
		removed = true
	}
	// What held our hook and is empty now goes too, unless it was there before.
	made := [][]string{}
	if rec != nil {
		made = rec.Made
	} else {
		for _, w := range t.wants {
			for i := range w.path {
				made = append(made, w.path[:i+1])
			}
		}
	}
	for depth := 3; depth >= 1; depth-- {
		for _, path := range made {
			if len(path) != depth {
				continue
			}
			if data, err = prune(a, t, data, path); err != nil {
				return nil, false, err
			}
		}
	}
	return data, false, nil
}

// prune removes the key at path if nothing is left in it.
func prune(a Agent, t target, data []byte, path []string) ([]byte, error) {
	doc, err := parseFor(a, t.path, data)
	if err != nil || doc.root == nil {
		return data, err
	}
	in := doc.root.lookup(path[:len(path)-1])
	if !in.is('{') {
		return data, nil
	}
	for i, m := range in.members {
		if m.key.str != path[len(path)-1] || m.val.kind != '{' && m.val.kind != '[' {
			continue
		}
		if len(m.val.members)+len(m.val.elems) > 0 ||
			len(bytes.TrimSpace(data[m.val.start+1:m.val.end-1])) > 0 {
			continue // also a comment is worth keeping
		}
		return apply(data, removeItem(doc, in, i))
	}
	return data, nil
}

func (env Env) planRemoval(a Agent, path string, t target, o InstallOptions) (*plan, error) {
	data, found, err := readConfig(path)
	if err != nil || !found {
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
	p.new = nonNil(out)
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

// carryOut makes a planned change.
func (env Env) carryOut(a Agent, p *plan) (FileChange, error) {
	c := FileChange{Path: p.path, Change: p.change}
	if p.change == Unchanged {
		if p.rec != nil && p.rec.Format == 1 {
			return c, env.saveRecord(p.rec)
		}
		return c, nil
	}
	mode := p.mode
	if fi, err := os.Stat(p.path); err == nil {
		mode = fi.Mode().Perm()
	}
	if p.old != nil && !p.spare && p.change != Restored {
		// What is there now is not what Install left: keep it.
		if rec := env.loadRecord(a.Name, p.path); rec == nil || rec.After != digest(p.old) {
			name, err := backup(p.path, p.old, mode)
			if err != nil {
				return c, err
			}
			c.Backup = name
		}
	}
	switch {
	case p.new == nil: // the file goes
		if err := os.Remove(p.path); err != nil {
			return c, err
		}
	case p.old == nil: // a new file
		dirMode := fs.FileMode(0o755)
		if strings.HasPrefix(p.path, env.Home+"/") && p.mode&0o004 == 0 {
			dirMode = 0o700
		}
		dirs, err := makeDirs(filepath.Dir(p.path), dirMode)
		if err != nil {
			return c, err
		}
		p.rec.Dirs = dirs
		if err := writeConfig(p.path, nil, p.new, p.mode); err != nil {
			return c, err
		}
	default:
		if err := writeConfig(p.path, p.old, p.new, mode); err != nil {
			return c, err
		}
		if p.change == Restored {
			dropBackup(p.path, p.new)
		}
	}
	if p.rec != nil && p.rec.Format == 1 {
		return c, env.saveRecord(p.rec)
	}
	env.dropRecord(a.Name, p.path)
	return c, nil
}

// dropBackup removes a backup that says nothing which the file does not say.
func dropBackup(path string, content []byte) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	name := backupName(path)
	if old, found, err := readConfig(name); err == nil && found && bytes.Equal(old, content) {
		_ = os.Remove(name) // a spare copy that stays does no harm
	}
}
