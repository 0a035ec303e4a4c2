package agents

import "strings"

// A reply is what the hook process does: print and exit.
type reply struct {
	stdout string // one JSON document, or nothing
	stderr string
	code   int
}

// A protocol is one agent's way of sending events and reading answers.
//
// Its methods never see a call without lines and files. ask and rewrite say
// false where the agent would ignore the answer and run the command.
type protocol interface {
	read(e *event) request
	pass(e *event, r request) reply
	note(e *event, r request, msg string) reply // pass, with a note; only where r.note
	deny(e *event, r request, msg string) reply
	ask(e *event, r request, msg string) (reply, bool)
	rewrite(e *event, r request, lines []string) (reply, bool)
	// fail blocks because of a failure of ours; r is nil when the event could
	// not be understood.
	fail(e *event, r *request, msg string) reply
}

// base holds what most protocols share: silence leaves the decision to the
// agent's own rules, and exit 2 with a text blocks.
type base struct{}

func (base) pass(*event, request) reply                      { return reply{} }
func (base) note(*event, request, string) reply              { return reply{} }
func (base) ask(*event, request, string) (reply, bool)       { return reply{}, false }
func (base) rewrite(*event, request, []string) (reply, bool) { return reply{}, false }
func (base) deny(_ *event, _ request, msg string) reply      { return exit2(msg) }
func (base) fail(_ *event, _ *request, msg string) reply     { return exit2(msg) }

func exit2(msg string) reply { return reply{stderr: msg + "\n", code: 2} }

func jsonReply(doc string) reply { return reply{stdout: doc + "\n"} }

// maxReason bounds what goes to a model; agents add the command to it.
const maxReason = 8000

// reason makes a text fit to be a refusal: never empty, never too long.
func reason(msg string) string {
	msg = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(msg, "\x00", ""), "\ufffd"))
	if msg == "" {
		msg = "[SafeShell] BLOCKED\nReason: no reason was given\n" +
			"Do not attempt to work around this restriction."
	}
	return clip(msg, maxReason)
}

// failure is the text for a failure of ours.
func failure(msg string) string {
	return reason("[SafeShell] BLOCKED\nReason: safeshell could not judge this call: " + clip(msg, 1000) +
		"\nTell the user to run: safeshell agents doctor")
}

// instead is the refusal where an agent cannot be made to run another command.
func instead(msg string, lines []string) string {
	msg = strings.TrimSpace(msg)
	if msg == "" {
		msg = "[SafeShell] NOT RUN\nReason: this command is to be run in another way."
	}
	cmd := strings.Join(lines, "\n")
	if len(cmd) > maxReason/2 {
		return reason(clip(msg, maxReason/2) + "\nThe command to use instead is too long to show here.")
	}
	return reason(clip(msg, maxReason/2-100) + "\n\nRun this instead:\n" + cmd)
}

// rewriteNote names safeshell beside a command that it has changed, which the
// agent's own rules may hold up.
const rewriteNote = "safeshell runs this command with its shims first in PATH, so that what is redirected (rm goes to the trash) is. " +
	"The change may need the agent's own approval; with the shims in the PATH of the agent (safeshell init) there is none."

// shellQuote returns s as one word of a POSIX shell.
func shellQuote(s string) string {
	plain := s != ""
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("@%+=:,./_-", c) >= 0) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
