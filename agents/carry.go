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
