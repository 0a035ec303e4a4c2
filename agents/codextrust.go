package agents

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Codex skips a hook without a word until its user has accepted it in /hooks,
// or config.toml holds its hash (measured with 0.169.0):
//
//	[hooks.state."/home/u/.codex/hooks.json:pre_tool_use:0:0"]
//	trusted_hash = "sha256:…"

// codexHash returns the hash of a hook: SHA-256 of compact JSON with sorted
// keys. Without a time limit Codex counts 600 s; a missing matcher is left out.
func codexHash(e entry) string {
	secs := int64(600)
	if e.limit > 0 {
		secs = int64(e.limit.Seconds())
	}
	doc := `{"event_name":"pre_tool_use","hooks":[{"async":` + strconv.FormatBool(e.async) +
		`,"command":` + quoteJSON(e.text)
	if e.status != "" {
		doc += `,"statusMessage":` + quoteJSON(e.status)
	}
	doc += `,"timeout":` + strconv.FormatInt(secs, 10) + `,"type":"command"}]`
	if e.matcher != "" {
		doc += `,"matcher":` + quoteJSON(e.matcher)
	}
	return "sha256:" + digest([]byte(doc+"}"))
}

// codexKey names a hook: file, event, index of the group, index in it.
func codexKey(e entry) string {
	return fmt.Sprintf("%s:pre_tool_use:%d:%d", e.file, e.group, e.index)
}

// codexConfig is the user's config.toml, which holds the trust also for the
// hooks of projects.
func (env Env) codexConfig(a Agent) (string, error) {
	hooks, err := env.path(a, a.UserFile)
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(hooks), "config.toml"), nil
}

// codexHasHooks says whether config.toml holds hooks, and not only their trust.
func codexHasHooks(path string) bool {
	data, found, err := readConfig(path)
	if err != nil || !found {
		return false
	}
	items, serr := parseTOML(data)
	if serr != nil {
		return false
	}
	for _, it := range items {
		if it.header && len(it.keys) > 1 && it.keys[0] == "hooks" && it.keys[1] != "state" {
			return true
		}
	}
	return false
}

// codexEntry returns our hook in hooks.json, or nil.
func (env Env) codexEntry(a Agent, project bool) (*entry, error) {
	file := a.UserFile
	if project {
		file = a.ProjectFile
	}
	path, err := env.path(a, file)
	if err != nil {
		return nil, err
	}
	data, found, err := readConfig(path)
	if err != nil || !found {
		return nil, err
	}
	doc, err := parseFor(a, path, data)
	if err != nil {
		return nil, err
	}
	binary := ""
	if rec := env.loadRecord(a.Name, path); rec != nil {
		binary = rec.Binary
	}
	have := jsonEntries(a, path, doc, binary, env.Binary)
	if len(have) == 0 {
		return nil, nil
	}
	return &have[0], nil
}

// codexTrusted returns the hash that config.toml holds for a key.
func codexTrusted(items []tomlItem, key string) (hash *tomlItem, header *tomlItem) {
	for i := range items {
		it := &items[i]
		if !it.header || it.array || !sameKeys(it.keys, []string{"hooks", "state", key}) {
			continue
		}
		for j := i + 1; j < len(items) && !items[j].header; j++ {
			if sameKeys(items[j].keys, []string{"trusted_hash"}) {
				return &items[j], it
			}
		}
		return nil, it
	}
	return nil, nil
}

// trustCodex writes the hash of our installed hook into config.toml.
func (env Env) trustCodex(a Agent, o InstallOptions) (FileChange, error) {
	e, err := env.codexEntry(a, o.Project)
	if err != nil {
		return FileChange{}, err
	}
	if e == nil {
		return FileChange{}, fmt.Errorf("%w to be trusted; run: safeshell agents install codex", ErrNotInstalled)
	}
	path, err := env.codexConfig(a)
	if err != nil {
		return FileChange{}, err
	}
	data, found, err := readConfig(path)
	if err != nil {
		return FileChange{}, err
	}
	rec := env.loadRecord(a.Name, path)
	p := &plan{path: path, mode: 0o600, change: Changed}
	fresh := &record{Format: recordFormat, Agent: a.Name, File: path, Binary: o.Binary, Created: !found}
	if found {
		p.old = nonNil(data)
	} else {
		p.change = Created
	}
	key, hash := codexKey(*e), codexHash(*e)
	base := data
	if rec != nil {
		if back, err := rec.undo(data); err == nil {
			base, fresh.Created = back, rec.Created
		}
	}
	items, err := parseTOMLFor(a, path, base)
	if err != nil {
		return FileChange{}, err
	}
	var table []string
	for _, it := range items {
		if it.header {
			table = it.keys
			continue
		}
		at := append(table[:len(table):len(table)], it.keys...)
		for _, closed := range [][]string{{"hooks"}, {"hooks", "state"}, {"hooks", "state", key}} {
			if sameKeys(at, closed) && it.val.kind == '{' { // no header can extend it
				return FileChange{}, refuse(inFile(syntaxErrorAt(base, it.start, "%s is written as an inline table here", strings.Join(closed[:min(len(closed), 2)], ".")), path),
					"accept the hook by /hooks in Codex instead")
			}
		}
	}
	var ed edit
	switch have, header := codexTrusted(items, key); {
	case have != nil:
		ed = edit{off: have.val.start, old: string(base[have.val.start:have.val.end]), with: quoteTOML(hash)}
	case header != nil:
		ed = edit{off: header.end, with: tomlNewline(base) + "trusted_hash = " + quoteTOML(hash)}
	default:
		ed = appendBlock(base, "[hooks.state."+quoteTOML(key)+"]\ntrusted_hash = "+quoteTOML(hash)+"\n")
	}
	fresh.add(ed)
	if p.new, err = apply(base, []edit{ed}); err != nil {
		return FileChange{}, err
	}
	if string(p.new) == string(data) {
		p.change, p.rec = Unchanged, rec
	} else {
		fresh.After = digest(p.new)
		p.rec = fresh
	}
	return env.carryOut(a, p)
}

// untrustCodex takes the hash out again; nil when there was none of ours.
func (env Env) untrustCodex(a Agent, o InstallOptions) (*FileChange, error) {
	path, err := env.codexConfig(a)
	if err != nil {
		return nil, err
	}
	rec := env.loadRecord(a.Name, path)
	if rec == nil {
		return nil, nil // accepted in Codex itself, if at all: not ours
	}
	data, found, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	if !found {
		env.dropRecord(a.Name, path)
		return nil, nil
	}
	p := &plan{path: path, old: nonNil(data), change: Restored}
	if back, err := rec.undo(data); err == nil {
		p.new = nonNil(back)
		if rec.Created && len(back) == 0 {
			p.new, p.change, p.spare = nil, Removed, true
		}
		c, err := env.carryOut(a, p)
		return &c, err
	}
	// The file has changed since: take out the table that holds our hash.
	items, err := parseTOMLFor(a, path, data)
	if err != nil {
		return nil, err
	}
	p.change, p.new = Changed, data
	for _, step := range rec.Steps {
		for _, e := range step {
			for i, it := range items {
				if !it.header || len(it.keys) != 3 || it.keys[0] != "hooks" || it.keys[1] != "state" ||
					i+1 >= len(items) || items[i+1].header || items[i+1].val.str == "" || !strings.Contains(e.With, items[i+1].val.str) ||
					i+2 < len(items) && !items[i+2].header {
					continue
				}
				if p.new, err = apply(data, []edit{removeLines(data, it.start, items[i+1].end)}); err != nil {
					return nil, err
				}
			}
		}
	}
	if string(p.new) == string(data) {
		env.dropRecord(a.Name, path)
		return nil, nil
	}
	c, err := env.carryOut(a, p)
	return &c, err
}
