package eval

import (
	"bytes"
	"safeshell/eval/condition"
	"strings"
)

// lintRule finds rules that are well formed and yet do nothing: they can never
// match, can never change a verdict, or have a condition that bash refuses.
func lintRule(path string, r *rule) (out []Problem) {
	bad := func(message, fix string) {
		out = append(out, Problem{File: path, Line: r.line, Column: 1, Message: shortened("rule " + r.name + " " + message), Fix: shortened(fix)})
	}
	if r.action == Allow {
		bad("allows, which never changes a verdict: the strictest rule wins", "write unless: in the rule that is too strict, or an override of it")
	}
	if len(r.match) > 0 {
		possible := false
		why := ""
		for i := range r.match {
			m := &r.match[i]
			if reason := impossible(r, m); reason != "" {
				why = reason
			} else if excepted(m, r.unless) {
				why = "unless excepts all that match names"
			} else {
				possible = true
			}
		}
		if !possible {
			bad("can never match: "+why, "see docs/rules.md for the keys")
		}
	}
	if d := r.directory; d.set() {
		absolute := d.kind != patPrefix && d.kind != patExact
		for _, w := range d.words {
			absolute = absolute || strings.HasPrefix(w, "/")
		}
		if !absolute {
			bad("can never match: directory is compared with an absolute path", "begin it with ^/")
		}
	}
	for _, c := range r.conditions {
		if text := condition.Refused(c.Script); text != "" {
			bad("has a condition that bash does not accept: "+text, "try it: bash -n -c "+quote(c.Written))
		}
	}
	return out
}

// impossible says why a clause can hold for no command of the rule.
func impossible(r *rule, c *clause) string {
	only := func(names ...string) bool {
		for _, cmd := range r.commands {
			if cmd == everyCommand {
				return true
			}
			for _, n := range names {
				if canonicalName(cmd) == n || strings.HasPrefix(cmd, n+"-") {
					return true
				}
			}
		}
		return false
	}
	switch {
	case c.operands == no && (c.operand.set() || c.paths != nil):
		return "operands: none, and a key about an operand"
	case c.existingBranch != unset && !only("git"):
		return "existing_branch is about git, which commands do not name"
	}
	return ""
}

// excepted says that an exception holds whenever the clause does: its keys are
// among the clause's, with the same values.
func excepted(m *clause, unless []clause) bool {
	for i := range unless {
		u := &unless[i]
		if u.usesTargets() || u.keys()&^m.keys() != 0 {
			continue // about all files, not some; or it asks for more
		}
		// The clause reduced to the exception's keys must be the exception.
		var a, b encoder
		reduced := clause{}
		a.clause(m)
		d := decoder{s: string(a.b)}
		d.clause(&reduced)
		reduced.keep(u.keys())
		var x encoder
		x.clause(&reduced)
		b.clause(u)
		if bytes.Equal(x.b, b.b) {
			return true
		}
	}
	return false
}

// keep clears all keys but those of the mask.
func (c *clause) keep(mask int) {
	if mask&kSubcommand == 0 {
		c.subcommand = nil
	}
	if mask&kOptions == 0 {
		c.options = nil
	}
	for _, f := range c.lists() {
		if mask&f.bit == 0 {
			*f.to = nil
		}
	}
	for _, f := range c.patterns() {
		if mask&f.bit == 0 {
			*f.to = pattern{}
		}
	}
	for _, f := range c.tris() {
		if mask&f.bit == 0 {
			*f.to = unset
		}
	}
}
