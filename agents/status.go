package agents

import (
	"os"
	"path/filepath"
	"strings"
)

// State is what is configured for one agent in one place.
type State struct {
	Agent     Agent
	Detected  bool     // the tool, or a directory of it, is on this machine
	Installed bool     // our hook is in the file
	Current   bool     // it is exactly what Install would write now
	Files     []string // where it is, or would be
	Err       error    // why that cannot be told
}

// Status looks at one agent's configuration; it changes nothing.
func Status(env Env, a Agent, o InstallOptions) State {
	s := State{Agent: a, Detected: Detected(env, a)}
	ts, err := targets(env, a, o)
	if err != nil {
		s.Err = err
		return s
	}
	s.Installed, s.Current = true, true
	for _, t := range ts {
		s.Files = append(s.Files, t.path)
		have, same, err := env.look(a, t, o)
		if err != nil {
			s.Err = err
		}
		s.Installed = s.Installed && have
		s.Current = s.Current && same
	}
	return s
}

// look says whether a target holds our hook, and whether as it would be now.
func (env Env) look(a Agent, t target, o InstallOptions) (have, same bool, err error) {
	data, found, err := readConfig(t.path)
	if err != nil || !found {
		return false, false, err
	}
	rec := env.loadRecord(a.Name, t.path)
	if t.kind == wholeTarget {
		return env.oursWhole(a, t, data, rec), string(data) == t.text, nil
	}
	entries, err := entriesIn(a, t.path, t.kind, data, binariesOf(o, rec)...)
	if err != nil {
		return false, false, err
	}
	same, err = inPlace(a, t, data, o, rec)
	return len(entries) > 0, same, err
}

// entriesIn finds our hooks in a file of configuration.
func entriesIn(a Agent, path string, kind targetKind, data []byte, binaries ...string) ([]entry, error) {
	if kind == tomlTarget {
		items, err := parseTOMLFor(a, path, data)
		if err != nil {
			return nil, err
		}
		return tomlEntries(a, path, data, items, binaries...), nil
	}
	doc, err := parseFor(a, path, data)
	if err != nil {
		return nil, err
	}
	return jsonEntries(a, path, doc, binaries...), nil
}

// Detected says whether the tool is on this machine: its program in PATH, or
// one of its directories.
func Detected(env Env, a Agent) bool {
	for _, b := range a.Binaries {
		if _, err := env.lookPath(b); err == nil {
			return true
		}
	}
	for _, d := range a.Dirs {
		if !filepath.IsAbs(env.Home) {
			continue
		}
		if fi, err := os.Stat(filepath.Join(env.Home, strings.TrimPrefix(d, "~/"))); err == nil && fi.IsDir() {
			return true
		}
	}
	return false
}

// Called is a program that a configured hook of ours calls.
type Called struct {
	Agent, File, Program string
	Project              bool
	Dir                  string // the project's
}

// CalledPrograms returns what the hooks of all agents call, of the user and of the project.
func CalledPrograms(env Env) (out []Called) {
	for _, a := range All() {
		for _, h := range env.configured(a) {
			if words := h.words(); h.err == nil && len(words) > 0 && filepath.IsAbs(words[0]) {
				out = append(out, Called{a.Name, h.file, words[0], h.project, env.ProjectDir})
			}
		}
	}
	return out
}
