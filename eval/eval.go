// Package eval judges commands by rules. It is pure: it asks nobody, waits for
// nobody (but for a condition's bounded bash) and prints nothing.
package eval

import (
	"time"

	"safeshell/config"
	"safeshell/script"
)

// Action is what a rule wants done, ordered from mild to strict.
type Action uint8

// The actions, mildest first, so that the strictest of several is the largest.
const (
	Allow Action = iota
	Redirect
	RequireApproval
	Deny
)

// String returns the action's name in rule files and JSON.
func (a Action) String() string {
	return [...]string{"allow", "redirect", "require_approval", "deny"}[a]
}

// Context is who runs a command.
type Context string

// The contexts.
const (
	Human Context = "human"
	AI    Context = "ai"
)

// Options decide which rules apply and what they may look at.
type Options struct {
	Paths config.Paths
	// Context is asked at most once, and only when a rule depends on it.
	Context func() Context
	// Environ is the environment of the command, for conditions and for paths
	// (NAME=value).
	Environ []string
	// ConditionTimeout bounds the conditions of one decision.
	ConditionTimeout time.Duration
	// FailOpen: a condition that cannot be judged does not hold
	// (unreachable_behavior: fail_open).
	FailOpen bool
}

// Problem is something wrong with a rules file, to be said to the user.
type Problem struct {
	File         string
	Line, Column int // 0 when it concerns the whole file
	Message      string
	Fix          string // a command, or what to change
}

// Decision is the verdict on one command.
type Decision struct {
	Action Action
	// Rule is the name of the deciding rule; empty when none matched, and
	// "unknown-command" when something could not be known.
	Rule    string
	Source  string // file of the rule, or "built-in:<pack>"
	Message string
	Suggest string
	// AllowOverride: a deny that a human may approve (then it is asked).
	AllowOverride bool
	// Redirect is the argv to run instead (Action Redirect). Redirect[0] is
	// "trash" for safeshell's own trash.
	Redirect []string
	// Matched says in words what matched, for `check`.
	Matched []string
	// Notes are to be journaled (a condition that timed out, an untrusted
	// repository rule that was skipped).
	Notes []string
}

// Open finds the rules that apply. It never fails: a file that cannot be read
// is reported in the problems, and its last good version stays in force. It
// reads no more than the sources' metadata; rules are loaded when a command
// that they name is judged.
func Open(o Options) (*Rules, []Problem) {
	return &Rules{o: o}, nil
}

// Rules are the rules in force.
type Rules struct{ o Options }

// Judge returns the verdict on command i of the analysis: the most restrictive
// action of all rules that match it (deny > require_approval > redirect >
// allow; among equals the first loaded). Repository rules are those of the
// command's own directory.
func (r *Rules) Judge(a *script.Analysis, i int) Decision {
	return Decision{}
}
