package eval

import "slices"

// Finding is a rule that a command meets, and what it wants done.
type Finding struct {
	Action Action
	// Rule is the rule's name; empty when none matched, and UnanalysedCommand
	// when something could not be known.
	Rule    string
	Source  string // file of the rule, or "built-in:<pack>"
	Message string
	Suggest string
	// AllowOverride: a deny that a human may approve (then it is asked).
	AllowOverride bool
	// Matched says in words what matched, for `check`.
	Matched []string
}

// Asked is what becomes of the command: Action, but RequireApproval for a deny
// that a human may approve.
func (f Finding) Asked() Action {
	if f.Action == Deny && f.AllowOverride {
		return RequireApproval
	}
	return f.Action
}

// Stops reports whether the command does not run by itself: it is denied, or a
// human is asked.
func (f Finding) Stops() bool { return f.Action >= RequireApproval }

// Strictness orders findings, the larger the stricter, and nothing else does:
// a deny that nobody may lift, one that a human may lift, a question, a
// redirect, allow.
func (f Finding) Strictness() int {
	n := int(f.Action) * 2
	if f.Action == Deny && !f.AllowOverride {
		n++
	}
	return n
}

// restates reports whether f says again what b says: the same rule with the
// same words.
func (f Finding) restates(b Finding) bool {
	return f.Rule == b.Rule && f.Source == b.Source && f.Message == b.Message && f.Strictness() == b.Strictness()
}

// Findings are all rules that the command has to get past, the strictest
// first: the one that decides, and, unless that is a deny which nobody may
// lift, each other one that stops it.
func (d Decision) Findings() []Finding {
	return append([]Finding{d.Finding}, d.Also...)
}

// Stricter joins decisions that hold at the same time: the stricter one leads,
// among equals the first, and what stops the command in the other one stays. A
// redirect stays, too: it is carried out when the questions are answered.
func Stricter(a, b Decision) Decision {
	notes, problems, untrusted := union(a.Notes, b.Notes), union(a.Problems, b.Problems), union(a.Untrusted, b.Untrusted)
	if b.Strictness() > a.Strictness() || a.Rule == "" && b.Rule != "" && b.Strictness() == a.Strictness() {
		a, b = b, a
	}
	if b.Stops() {
		a.Also = slices.Clip(a.Also)
		for _, f := range b.Findings() {
			if !a.restates(f) && !slices.ContainsFunc(a.Also, f.restates) {
				a.Also = append(a.Also, f)
			}
		}
	}
	if a.RedirectBy == nil {
		a.RedirectBy, a.Redirect, a.RedirectBefore, a.RedirectAfter = b.RedirectBy, b.Redirect, b.RedirectBefore, b.RedirectAfter
	}
	a.Notes, a.Problems, a.Untrusted = notes, problems, untrusted
	return a
}

// union is a and what of b is not in it: the commands of a text have the same
// notes and problems.
func union[T comparable](a, b []T) []T {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(slices.Clip(a), x)
		}
	}
	return a
}
