package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"safeshell/config"
)

// A record is what Install knows of its change to one file, kept under
// SAFESHELL_HOME/agents, so that Uninstall can lead back byte for byte as long
// as the file is as Install left it, and else take out exactly what is ours.
type record struct {
	Format  int            `json:"format"` // recordFormat
	Agent   string         `json:"agent"`
	File    string         `json:"file"`
	Binary  string         `json:"binary"`
	Created bool           `json:"created"` // there was no file
	After   string         `json:"after"`   // SHA-256 of the file as we left it
	Before  string         `json:"before"`  // and of the copy of what was there
	Steps   [][]recordEdit `json:"steps"`   // one after the other
	Made    [][]string     `json:"made"`    // keys that we made to hold the hook
	Dirs    []string       `json:"dirs"`    // directories that we made
}

// recordFormat changes when an older safeshell would lead back wrongly.
const recordFormat = 1

type recordEdit struct {
	Off  int    `json:"off"`
	Old  string `json:"old"`
	With string `json:"with"`
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (r *record) add(edits ...edit) {
	var step []recordEdit
	for _, e := range edits {
		step = append(step, recordEdit{e.off, e.old, e.with})
	}
	r.Steps = append(r.Steps, step)
}

// undo leads back from the file as we left it to the file as we found it.
func (r *record) undo(data []byte) ([]byte, error) {
	if digest(data) != r.After {
		return nil, errEdits
	}
	for i := len(r.Steps) - 1; i >= 0; i-- {
		var edits []edit
		for _, e := range r.Steps[i] {
			edits = append(edits, edit{e.Off, e.Old, e.With})
		}
		var err error
		if data, err = apply(data, invert(edits)); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// recordPath is where the record of a file is kept.
func (env Env) recordPath(agent, file string) (string, error) {
	p, err := config.Locate(func(k string) string {
		if k == "HOME" {
			return env.Home
		}
		return env.getenv(k)
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(p.Home, "agents", agent+"-"+digest([]byte(file))[:16]+".json"), nil
}

// loadRecord returns nil when there is none that can be used.
func (env Env) loadRecord(agent, file string) *record {
	path, err := env.recordPath(agent, file)
	if err != nil {
		return nil
	}
	data, found, err := readConfig(path)
	if err != nil || !found {
		return nil
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.Format != recordFormat || r.File != file || r.Agent != agent {
		return nil
	}
	return &r
}

// newer refuses a file whose record a newer safeshell has written: what that has
// changed is not known here.
func (env Env) newer(agent, file string) error {
	path, err := env.recordPath(agent, file)
	if err != nil {
		return err
	}
	var r struct{ Format int }
	if data, found, err := readConfig(path); err != nil || !found || json.Unmarshal(data, &r) != nil || r.Format <= recordFormat {
		return nil //nolint:nilerr // as if there were no record
	}
	return fmt.Errorf("a newer safeshell has changed it (%s is of format %d, this safeshell knows %d): update safeshell, then try again", path, r.Format, recordFormat)
}

func (env Env) saveRecord(r *record) error {
	path, err := env.recordPath(r.Agent, r.File)
	if err != nil {
		return err
	}
	if _, err := makeDirs(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("cannot keep the record for uninstall: %w", err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	old, found, err := readConfig(path)
	if err != nil {
		return err
	}
	if !found {
		old = nil
	}
	if err := writeConfig(path, old, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot keep the record for uninstall: %w", err)
	}
	return nil
}

func (env Env) dropRecord(agent, file string) {
	if path, err := env.recordPath(agent, file); err == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // a stale record is found out by its digest
		}
	}
}

// removeDirs removes the directories that we made for a file, if nothing else
// is in them.
func removeDirs(file string, dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		if strings.HasPrefix(file, dirs[i]+"/") {
			_ = syscall.Rmdir(dirs[i]) // fails, as it should, unless empty
		}
	}
}
