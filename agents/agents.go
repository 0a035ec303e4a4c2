// Package agents knows the AI coding tools: how each hands a command to its
// hook, which answer it understands, where its configuration lives and how to
// prove that the guard is on. One file per tool.
package agents

import "time"

// Call is what a hook event asks to do, in terms that every agent shares.
type Call struct {
	Agent   string // as in All; the real sender, found from the payload
	Session string // the agent's own session id; empty when not sent
	Dir     string // absolute directory in which the commands would run
	// Lines are shell texts to be judged (Cline sends several). Empty when the
	// tool runs no command.
	Lines []string
	// PowerShell: the tool says that this shell reads the Lines.
	PowerShell bool
	// Files are paths that a file tool would read or write.
	Files []FileAccess
	// Deadline is how long a human may be waited for, safely below the agent's
	// own limit.
	Deadline time.Duration
	// SamePath: the shell that reads the Lines has the PATH of the hook.
	SamePath bool
	// PlainWords: the agent's own rules read Lines of plain words only.
	PlainWords bool
	// CanAsk: an Ask will be put to a person by the agent itself. Without it an
	// Ask becomes a Deny, so it is better to wait for a monitor.
	CanAsk bool
	// CanRewrite: replaced Lines will be run. Without it a Rewrite becomes a
	// Deny that names the command to run instead.
	CanRewrite bool
	// CanNote: the agent passes a note on with a call that runs.
	CanNote bool
}

// FileAccess is what a file tool does to one path.
type FileAccess struct {
	Path string // absolute
	Does Access
	Look string // what a search looks for
	// Names: the search shows names and counts, no lines.
	Names bool
	// Pattern: Path is a pattern of names, not a name.
	Pattern bool
}

// Access is what is done to a file.
type Access uint8

// The accesses.
const (
	Read   Access = iota
	Write         // new content, in the place of the old
	Edit          // a part is changed, and shown
	Delete        // past the trash
	Search        // the lines that match are shown
)

// Outcome is the gate's verdict on a Call.
type Outcome struct {
	Kind OutcomeKind
	// Message is for the model: the whole refusal, never empty for Deny and Ask.
	Message string
	// Lines replace Call.Lines one by one (Rewrite only).
	Lines []string
	// Note is for the user and the model while the call runs (Pass only); empty
	// for none.
	Note string
}

// OutcomeKind is what is to become of a Call.
type OutcomeKind uint8

// The outcomes. Pass leaves the agent's own rules to decide.
const (
	Pass OutcomeKind = iota
	Rewrite
	Ask // the agent's own question (approval.via: agent)
	Deny
)
