package agents

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// carryOut makes a planned change.
func (env Env) carryOut(a Agent, p *plan) (FileChange, error) {
	c := FileChange{Path: p.path, Change: p.change}
	if p.change == Unchanged {
		if p.rec != nil && p.rec.Format == recordFormat {
			return c, env.saveRecord(p.rec)
		}
		return c, nil
	}
	mode := p.mode
	if fi, err := os.Stat(p.path); err == nil {
		mode = fi.Mode().Perm()
	}
	before := env.loadRecord(a.Name, p.path)
	if p.old != nil && !p.spare && (before == nil || before.After != digest(p.old)) {
		// What is there now is not what Install left: keep it.
		name, err := backup(p.path, p.old, mode)
		if err != nil {
			return c, err
		}
		c.Backup = name
		if p.rec != nil {
			p.rec.Before = digest(p.old)
		}
	} else if before != nil && p.rec != nil {
		p.rec.Before = before.Before
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
	}
	if p.rec != nil && p.rec.Format == recordFormat {
		return c, env.saveRecord(p.rec)
	}
	if c.Backup != "" { // what the user had written into a file of ours
		env.dropRecord(a.Name, p.path)
		return c, nil
	}
	env.forget(a.Name, p.path, before)
	return c, nil
}

// forget drops the record of a file, with the copy that Install kept beside it
// or that says nothing which the file does not say.
func (env Env) forget(agent, path string, rec *record) {
	real := path
	if to, err := filepath.EvalSymlinks(path); err == nil {
		real = to
	}
	if old, found, err := readConfig(backupName(real)); err == nil && found {
		now, _, _ := readConfig(real)
		if rec != nil && rec.Before == digest(old) || bytes.Equal(now, old) {
			_ = os.Remove(backupName(real)) // a spare copy that stays does no harm
		}
	}
	env.dropRecord(agent, path)
}
