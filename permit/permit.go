// Package permit decides which external commands a script may declare, keeps
// what the user answered, and runs scripts with exactly the commands that they
// declared (docs/design.md "Upfront permission").
//
// Its promises: all commands that are not permitted are reported at once; an
// empty list permits nothing; a repository cannot permit itself; a retry id
// works once, in one process; the choice 4 runs nothing.
package permit

import (
	"fmt"
	"path/filepath"
	"strings"

	"safeshell/config"
	"safeshell/spool"
)

// Status says whether a declared command may be used.
type Status uint8

// The statuses. Only Allowed lets a command run.
const (
	NotAllowed Status = iota // COMMAND_NOT_ALLOWED: a human may permit it
	NotFound                 // COMMAND_NOT_FOUND: it can only be corrected
	Allowed
)

// String returns the word that JSON answers use.
func (s Status) String() string {
	switch s {
	case Allowed:
		return "ALLOWED"
	case NotFound:
		return "COMMAND_NOT_FOUND"
	}
	return "COMMAND_NOT_ALLOWED"
}

// Scope names the list that permits a command.
type Scope string

// The scopes, which are added together.
const (
	Builtin Scope = "built-in" // Defaults
	User    Scope = "user"     // permissions in config.yaml
	Project Scope = "project"  // .safeshell/permissions.yaml, once trusted
	Always  Scope = "always"   // answered "always" for this project
	Session Scope = "session"  // answered "session"
	Once    Scope = "once"     // answered "once", for this run
)

// Decision is the answer for one declared command.
type Decision struct {
	Command string // as it was declared
	Status  Status
	Scope   Scope  // which list permits it; empty when none does
	Path    string // the executable, absolute, symbolic links as they are; empty when not found
	Detail  string // what is wrong with it, for people; empty when nothing is
	// Key is what a human's answer for this command is kept under: a bare name,
	// an absolute path, or project:path for a file of the project.
	Key string
}

// Result is the answer for a list of commands, in their order, each once.
type Result []Decision

// OK reports whether every command may be used.
func (r Result) OK() bool {
	for _, d := range r {
		if d.Status != Allowed {
			return false
		}
	}
	return true
}

// Blocked returns what may not be used.
func (r Result) Blocked() Result {
	var out Result
	for _, d := range r {
		if d.Status != Allowed {
			out = append(out, d)
		}
	}
	return out
}

// Permittable returns what a human could permit.
func (r Result) Permittable() Result {
	var out Result
	for _, d := range r {
		if d.Status == NotAllowed {
			out = append(out, d)
		}
	}
	return out
}

// Env is what a decision depends on.
type Env struct {
	Paths   config.Paths
	Config  config.Permissions
	Environ []string // NAME=value: PATH and HOME count
	Dir     string   // absolute working directory of the script
	Session string   // what "this session" means (gate.Caller.Session); empty: none
}

func (e Env) lookup(name string) (string, bool) {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Environ[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// Set is everything that is permitted for one directory and session.
type Set struct {
	env     Env
	project Area
	lists   []list
	// projectCommands: scripts of the project need no question.
	projectCommands bool
	strict          bool
	write           []string
	// Warnings say what does not count and why, a line each, with the command
	// that mends it.
	Warnings []string
}

// list is one scope's commands.
type list struct {
	scope Scope
	has   map[string]bool
}

// Load reads all scopes. What is broken or not trusted counts for nothing and
// is named in Warnings; the error is for a directory that is gone.
func Load(env Env) (*Set, error) {
	area, err := FindArea(env.Dir)
	if err != nil {
		return nil, err
	}
	s := &Set{env: env, project: area, projectCommands: env.Config.AllowProjectCommands, strict: env.Config.StrictPaths}
	s.add(Builtin, Defaults)
	s.add(User, env.Config.Commands)
	s.loadProject()
	remembered, err := OpenRemembered(env.Paths, area)
	if err != nil {
		s.Warnings = append(s.Warnings, err.Error())
		return s, nil
	}
	for _, scope := range []Scope{Always, Session} {
		l, err := remembered.load(scope, env.Session)
		if err != nil {
			s.Warnings = append(s.Warnings, err.Error())
		}
		names := make([]string, 0, len(l))
		for _, p := range l {
			names = append(names, p.Command)
		}
		s.add(scope, names)
	}
	return s, nil
}

func (s *Set) add(scope Scope, names []string) {
	if len(names) == 0 {
		return
	}
	l := list{scope, make(map[string]bool, len(names))}
	for _, n := range names {
		if n = s.entry(n); n != "" {
			l.has[n] = true
		}
	}
	s.lists = append(s.lists, l)
}

// entry is a listed name as Decide looks it up: a relative path is one of the
// project, ~ is the user's home.
func (s *Set) entry(n string) string {
	switch {
	case strings.HasPrefix(n, projectPrefix), !strings.Contains(n, "/"):
		return n
	case filepath.IsAbs(n):
		return n
	case strings.HasPrefix(n, "~/"):
		if s.env.Paths.User == "" {
			return ""
		}
		return filepath.Join(s.env.Paths.User, n[2:])
	}
	return projectPrefix + filepath.Clean(n)
}

// Permit adds commands for this run alone (choice 1). Give it Decision.Key.
func (s *Set) Permit(keys ...string) { s.add(Once, keys) }

// Area returns the project that the set is for.
func (s *Set) Area() Area { return s.project }

// Writable returns the directories beside the project and the temporary ones
// that the trusted permissions.yaml lets scripts write to.
func (s *Set) Writable() []string { return s.write }

// allowed is "on a list?" of docs/permit.md: is x on one?
func (s *Set) allowed(x ...string) Scope {
	for _, l := range s.lists {
		for _, k := range x {
			if k != "" && l.has[k] {
				return l.scope
			}
		}
	}
	return ""
}

// Listed is one permitted command, for `permit list`.
type Listed struct {
	Command string `json:"command"`
	Scope   Scope  `json:"scope"`
}

// List returns all that is permitted, by scope, each scope in its own order of
// names.
func (s *Set) List() []Listed {
	out := []Listed{}
	for _, l := range s.lists {
		for _, n := range sortedKeys(l.has) {
			out = append(out, Listed{n, l.scope})
		}
	}
	return out
}

// Check decides about all commands. A repeated one is reported once.
func (s *Set) Check(commands []string) Result {
	var out Result
	seen := map[string]bool{}
	for _, c := range commands {
		if seen[c] {
			continue
		}
		seen[c] = true
		out = append(out, s.Decide(c))
	}
	return out
}

// Show returns a command's name for people, on one line.
func Show(command string) string {
	if command == "" {
		return "''"
	}
	v := spool.Visible(command)
	if v != command || strings.ContainsAny(v, " '\"") {
		return spool.Visible(fmt.Sprintf("%q", command))
	}
	return v
}
