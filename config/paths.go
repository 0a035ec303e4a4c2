// Package config knows where safeshell's files live and reads config.yaml.
//
// It reads the environment only through the function that it is given, so that
// tests and the shims decide what it sees.
package config

import (
	"errors"
	"os/user"
	"path/filepath"
)

// Paths are the absolute places of safeshell's files (docs/design.md "Files").
type Paths struct {
	Home    string // SAFESHELL_HOME, default ~/.safeshell
	Config  string // config.yaml
	Rules   string // rules.yaml
	System  string // /etc/safeshell/rules.yaml
	Shims   string // directory of command links
	Shell   string // directory of shell links
	Spool   string // SAFESHELL_SPOOL, default Home/spool
	Trust   string
	Grants  string
	Journal string // log/journal.jsonl
	Cache   string
	User    string // the user's home directory
}

// ErrNoHome says that neither SAFESHELL_HOME nor a home directory is known.
var ErrNoHome = errors.New("no home directory: HOME is not set and the user database has none; set SAFESHELL_HOME to an absolute path")

// Locate returns the places for the environment that getenv shows. It touches
// no file but the user database, and that only when HOME is not set.
func Locate(getenv func(string) string) (Paths, error) {
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		home = ""
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		}
	}
	h := getenv("SAFESHELL_HOME")
	if !filepath.IsAbs(h) {
		if home == "" {
			return Paths{}, ErrNoHome
		}
		h = filepath.Join(home, ".safeshell")
	}
	h = filepath.Clean(h)
	p := Paths{
		Home:    h,
		Config:  filepath.Join(h, "config.yaml"),
		Rules:   filepath.Join(h, "rules.yaml"),
		System:  "/etc/safeshell/rules.yaml",
		Shims:   filepath.Join(h, "shims"),
		Shell:   filepath.Join(h, "shell"),
		Spool:   filepath.Join(h, "spool"),
		Trust:   filepath.Join(h, "trust"),
		Grants:  filepath.Join(h, "grants"),
		Journal: filepath.Join(h, "log", "journal.jsonl"),
		Cache:   filepath.Join(h, "cache"),
		User:    home,
	}
	if s := getenv("SAFESHELL_SPOOL"); filepath.IsAbs(s) {
		p.Spool = filepath.Clean(s)
	}
	return p, nil
}
