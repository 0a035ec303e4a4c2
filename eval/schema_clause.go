package eval

import (
	"strings"

	"safeshell/config/yamltree"
)

// clauses reads match or unless: one mapping, or a list of which any holds.
func (s *schema) clauses(n *yamltree.Node, what string) []clause {
	if n.Kind != yamltree.Sequence {
		return []clause{s.clause(n, what)}
	}
	if len(n.Content) == 0 {
		s.bad(n, "remove "+what, "%s is an empty list", what)
	}
	var out []clause
	for _, c := range n.Content {
		out = append(out, s.clause(c, what))
	}
	return out
}

func (s *schema) clause(n *yamltree.Node, what string) clause {
	var c clause
	list := func(to *[]string) func(k, v *yamltree.Node) {
		return func(k, v *yamltree.Node) { *to = s.list(v, k.Value) }
	}
	paths := func(to *[]string) func(k, v *yamltree.Node) {
		return func(k, v *yamltree.Node) { *to = s.paths(v, k.Value) }
	}
	yesNo := func(to *tri) func(k, v *yamltree.Node) {
		return func(k, v *yamltree.Node) { *to = s.tri(v, k.Value) }
	}
	regex := func(to *pattern) func(k, v *yamltree.Node) {
		return func(k, v *yamltree.Node) { *to = s.regexp(v, k.Value) }
	}
	ok := s.mapping(n, what, map[string]func(k, v *yamltree.Node){
		"subcommand":      func(_, v *yamltree.Node) { c.subcommand = s.subcommands(v) },
		"flags":           func(_, v *yamltree.Node) { c.flags = s.flags(v) },
		"options":         func(_, v *yamltree.Node) { c.options = s.options(v) },
		"args":            regex(&c.args),
		"operand":         regex(&c.operand),
		"word":            regex(&c.word),
		"operands":        func(_, v *yamltree.Node) { c.operands = s.someNone(v) },
		"paths":           paths(&c.paths),
		"reads":           paths(&c.reads),
		"writes":          paths(&c.writes),
		"deletes":         paths(&c.deletes),
		"empties":         paths(&c.empties),
		"replaces":        paths(&c.replaces),
		"removes":         paths(&c.removes),
		"covers":          paths(&c.covers),
		"recoverable":     yesNo(&c.recoverable),
		"scratch":         yesNo(&c.scratch),
		"project":         yesNo(&c.project),
		"recursive":       yesNo(&c.recursive),
		"pipes_to":        list(&c.pipesTo),
		"fed_by":          list(&c.fedBy),
		"gives_to":        list(&c.givesTo),
		"branch":          regex(&c.branch),
		"existing_branch": yesNo(&c.existingBranch),
		"via":             list(&c.via),
		"remote":          yesNo(&c.remote),
		"unknown": func(_, v *yamltree.Node) {
			c.unknown = s.words(v, "unknown", "operand", "option", "subcommand", "path")
		},
		"assigns": list(&c.assigns),
		"is": func(_, v *yamltree.Node) {
			c.is = s.words(v, "is", "fork_bomb", "network_shell", "bare_shell", "without_shims", "temporary_path", "redefined", "unknown_use", "in_own_files", "names_monitor")
		},
		"mode": func(_, v *yamltree.Node) {
			c.mode = s.words(v, "mode", "others_write", "others", "setid", "nothing", "unusable")
		},
		"mounts":    paths(&c.mounts),
		"program":   regex(&c.program),
		"input":     regex(&c.input),
		"variables": regex(&c.variables),
		"sql":       func(_, v *yamltree.Node) { c.sql = s.words(v, "sql", "drop", "truncate", "delete", "change", "admin") },
		"code":      func(_, v *yamltree.Node) { c.code = s.words(v, "code", "fetched", "decoded", "unseen") },
	})
	if ok && len(n.Content) == 0 {
		s.bad(n, "remove "+what+", or give it a key", "%s is empty", what)
	}
	return c
}

func (s *schema) subcommands(n *yamltree.Node) [][]string {
	var out [][]string
	for _, e := range s.list(n, "subcommand") {
		words := strings.Fields(e)
		if strings.HasPrefix(words[0], "-") {
			s.bad(n, "write flags: ["+words[0]+"]", "subcommand: %q is an option", e)
		}
		out = append(out, words)
	}
	return out
}

func (s *schema) flags(n *yamltree.Node) []string {
	flags := s.list(n, "flags")
	for _, f := range flags {
		if len(f) < 2 || f[0] != '-' && f[0] != '+' || strings.ContainsAny(f, " \t\n") {
			s.bad(n, "write it as it stands on the command line: -f, --force, --name=value", "flags: %q is not an option", f)
		}
	}
	return flags
}

func (s *schema) options(n *yamltree.Node) []optionPattern {
	if n.Kind != yamltree.Mapping {
		s.bad(n, "write options: {--volume: 'regexp'}", "options must map options to regexps, not %s", n.Show())
		return nil
	}
	var out []optionPattern
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yamltree.Scalar || len(k.Value) < 2 || k.Value[0] != '-' {
			s.bad(k, "write -v or --volume", "options: a key must be an option")
			continue
		}
		if seen[k.Value] {
			s.bad(k, "join the two regexps with |", "options: %s is given twice", k.Value)
		}
		seen[k.Value] = true
		out = append(out, optionPattern{k.Value, s.regexp(v, "options "+k.Value)})
	}
	if len(out) == 0 && len(n.Content) == 0 {
		s.bad(n, "remove options", "options is empty")
	}
	return out
}

func (s *schema) someNone(n *yamltree.Node) tri {
	switch w, _ := s.word(n, "operands", "some", "none"); w {
	case "some":
		return yes
	case "none":
		return no
	}
	return unset
}

func (s *schema) words(n *yamltree.Node, what string, allowed ...string) []string {
	out := s.list(n, what)
	for _, w := range out {
		found := false
		for _, a := range allowed {
			found = found || a == w
		}
		if !found {
			s.bad(n, "write one of: "+strings.Join(allowed, ", "), "%s cannot be %q", what, w)
		}
	}
	return out
}

// paths checks path patterns: absolute, ~, a name for any directory, "*" for
// all; ! in front takes away what an earlier one gave.
func (s *schema) paths(n *yamltree.Node, what string) []string {
	out := s.list(n, what)
	for i, p := range out {
		bare := strings.TrimPrefix(p, "!")
		switch {
		case bare == "":
			s.bad(n, "name a path after !", "%s: %q names no path", what, p)
		case i == 0 && bare != p:
			s.bad(n, "name first what the exception is from, or \"*\"", "%s: the first entry cannot be an exception", what)
		case strings.HasPrefix(bare, "~") && bare != "~" && !strings.HasPrefix(bare, "~/"):
			s.bad(n, "write the directory out", "%s: %q: only ~ and ~/ are known", what, p)
		case strings.Contains("/"+bare+"/", "/../"):
			s.bad(n, "write the path without ..", "%s: %q holds ..", what, p)
		case !validGlob(bare):
			s.bad(n, `close the [, or write \[`, "%s: %q is not a valid pattern", what, p)
		}
	}
	return out
}
