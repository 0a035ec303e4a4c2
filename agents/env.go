package agents

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Env is the surroundings in which agents are looked for and configured.
// Nothing in this package that installs or probes looks past it.
type Env struct {
	Getenv     func(string) string
	Environ    func() []string // for the processes that Doctor and Probe start
	Home       string          // the user's home directory, absolute
	ProjectDir string          // the project, absolute; empty outside of one
	LookPath   func(string) (string, error)
	Root       string // in front of system-wide files such as /etc/codex; empty: /
	Binary     string // this program, absolute
	// Shims is the directory of the shims, and Shadowed tells for a PATH which of
	// them something else comes before; empty: Doctor does not look at PATH.
	Shims    string
	Shadowed func(dir, path string) map[string]string
	// Rules says what is wrong with files of rules, each with a command that mends it.
	Rules    []Finding
	FailOpen bool          // commands run where rules cannot be read
	Approval time.Duration // how long a person may take to answer; 0: 300 s
}

func (env Env) getenv(k string) string {
	if env.Getenv == nil {
		return ""
	}
	return env.Getenv(k)
}

func (env Env) lookPath(name string) (string, error) {
	if env.LookPath == nil {
		return "", exec.ErrNotFound
	}
	return env.LookPath(name)
}

func (env Env) approval() time.Duration {
	if env.Approval <= 0 {
		return 300 * time.Second
	}
	return env.Approval
}

// system returns the place of a system-wide file.
func (env Env) system(path string) string { return filepath.Join("/", env.Root, path) }

var (
	errNoHome    = errors.New("the home directory is not known; set HOME")
	errNoProject = errors.New("there is no project here; run this inside one")
)

// path makes one of the table's paths absolute.
func (env Env) path(a Agent, p string) (string, error) {
	rest, user := strings.CutPrefix(p, "~/")
	if !user {
		if !filepath.IsAbs(env.ProjectDir) {
			return "", errNoProject
		}
		return filepath.Join(env.ProjectDir, p), nil
	}
	if a.BaseVar != "" {
		if dir := env.getenv(a.BaseVar); filepath.IsAbs(dir) {
			if below, ok := strings.CutPrefix(p, a.Base+"/"); ok {
				return filepath.Join(dir, below), nil
			}
		}
	}
	if !filepath.IsAbs(env.Home) {
		return "", errNoHome
	}
	return filepath.Join(env.Home, rest), nil
}
