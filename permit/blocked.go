package permit

import (
	"fmt"
	"strings"
)

// Blocked is the answer to a declaration that is not permitted (docs/design.md
// "Upfront permission"): on the MCP server and with --json.
type Blocked struct {
	Error   BlockedError `json:"error"`
	RetryID string       `json:"retry_id,omitempty"` // empty: there is nothing to permit, only to correct
	Hint    string       `json:"hint"`
}

// BlockedError is its error.
type BlockedError struct {
	Type     string           `json:"type"` // COMMANDS_BLOCKED
	Commands []BlockedCommand `json:"commands"`
	Message  string           `json:"message"`
}

// BlockedCommand is one command that may not be used.
type BlockedCommand struct {
	Command string `json:"command"`
	Error   string `json:"error"` // COMMAND_NOT_ALLOWED, COMMAND_NOT_FOUND
	// Detail is what is wrong with one that was not found; for people alone.
	Detail string `json:"-"`
}

// NewBlocked makes the answer for a result that is not OK. retry is the command
// line or call that goes on with an id, with ID and N in their places; "" for
// that of the command line.
func NewBlocked(r Result, retryID, retry string) Blocked {
	b := Blocked{RetryID: retryID}
	b.Error.Type = "COMMANDS_BLOCKED"
	denied, missing := 0, 0
	for _, d := range r.Blocked() {
		c := BlockedCommand{Command: d.Command, Error: d.Status.String()}
		if d.Status == NotFound {
			missing++
			c.Detail = d.Detail
		} else {
			denied++
		}
		b.Error.Commands = append(b.Error.Commands, c)
	}
	b.Error.Message = fmt.Sprintf("%d command(s) not allowed, %d command(s) not found", denied, missing)
	b.Hint = hint(retryID, retry, denied, missing)
	return b
}

func hint(id, retry string, denied, missing int) string {
	if retry == "" {
		retry = "safeshell permit retry ID --choice N"
	}
	var b strings.Builder
	b.WriteString("STOP: nothing has run. ")
	if missing > 0 {
		b.WriteString("A command that is not found cannot be permitted: correct its name or path, or install it. ")
	}
	if denied > 0 {
		b.WriteString("Do not look for another way to run what is not allowed. Ask the user which they choose for all of these commands together: " +
			"(1) once (2) session (3) always (4) deny; always is for this project. ")
		if id != "" {
			fmt.Fprintf(&b, "Then run: %s. It works once, within 5 minutes. ", strings.Replace(retry, "ID", id, 1))
		}
		b.WriteString("Choice 4 runs nothing, now or later.")
	}
	return strings.TrimSpace(b.String())
}

// Text is the same for a terminal: a tagged header, one fact a line, then what
// to do.
func (b Blocked) Text() string {
	var s strings.Builder
	s.WriteString("[SafeShell] COMMANDS BLOCKED\n")
	fmt.Fprintf(&s, "Reason: %s\nRule: %s\n", b.Error.Message, Rule)
	for _, c := range b.Error.Commands {
		why := "not allowed"
		if c.Error == NotFound.String() {
			why = "not found"
			if c.Detail != "" {
				why += ": " + c.Detail
			}
		}
		fmt.Fprintf(&s, "  %s: %s\n", Show(c.Command), why)
	}
	s.WriteString("\n" + b.Hint + "\n")
	return s.String()
}
