package eval

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/config"
)

// Lint returns what is wrong with a rules file, in order of its lines; none
// when it is good. A file below a .safeshell directory that is not the user's
// own is read as a repository's.
func Lint(p config.Paths, path string) []Problem {
	kind := lintKind(p, path)
	data, _, err := readSource(path, kind)
	if errors.Is(err, fs.ErrNotExist) {
		return []Problem{{File: path, Message: "there is no such file", Fix: "name one that is there, for example " + quote(p.Rules)}}
	}
	if err != nil {
		problems := fileProblem(path, err)
		if filepath.Base(path) != "rules.yaml" && path != p.System {
			// Some other file, which is where it belongs.
			for i := range problems {
				problems[i].Fix = "name a rules file, for example " + quote(p.Rules)
			}
		}
		return problems
	}
	f, problems := parseRules(path, data, kind)
	if f == nil {
		return problems
	}
	problems = append(problems, lintOverrides(path, f)...)
	for i := range f.rules {
		problems = append(problems, lintRule(path, &f.rules[i])...)
	}
	return problems
}

func lintKind(p config.Paths, path string) sourceKind {
	switch {
	case path == p.System:
		return fromSystem
	case path == p.Rules:
		return fromUser
	case filepath.Base(path) == "rules.yaml" && filepath.Base(filepath.Dir(path)) == ".safeshell":
		return fromRepo
	}
	return fromUser
}

// lintOverrides finds overrides of rules that no pack has.
func lintOverrides(path string, f *ruleFile) []Problem {
	if len(f.overrides) == 0 {
		return nil
	}
	known := map[string]bool{}
	packs, err := parsePacks()
	if err != nil {
		return nil // the packs' own test says so
	}
	for _, x := range packs {
		known[x.name] = true
	}
	var out []Problem
	for _, o := range f.overrides {
		if !known[o.name] {
			out = append(out, Problem{
				File: path, Line: o.line, Column: o.column,
				Message: shortened("no built-in rule is called " + o.name),
				Fix:     "take a name from `safeshell rules list`" + didYouMean(o.name, known),
			})
		}
	}
	return out
}

// didYouMean offers the known name that is most like a mistyped one.
func didYouMean(name string, known map[string]bool) string {
	best := Nearest(name, known)
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// Nearest returns the known name that is most like a mistyped one: few letters
// differ, or it has all of its words; "" when none is.
func Nearest(name string, known map[string]bool) string {
	best, dist := "", 4
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	for k := range known {
		if max(len(name)-len(k), len(k)-len(name)) > 4*dist {
			continue // bytes; a name as long as the file would take seconds
		}
		d := editDistance(strings.ToLower(name), strings.ToLower(k))
		if len(name) > 2 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(k, w) }) {
			d = min(d, 3)
		}
		if d < dist || d == dist && d < 4 && k < best {
			best, dist = k, d
		}
	}
	return best
}
