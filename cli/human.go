package cli

import (
	"fmt"

	"safeshell/gate"
	"safeshell/script"
)

// mustBeHuman refuses what only a person may do: answering, trusting,
// remembering. The asking side can never answer itself.
func (a *app) mustBeHuman(what string) error { return a.mustNot(a.g.NotHuman(), what) }

func (a *app) mustNot(why, what string) error {
	if why != "" {
		fmt.Fprint(a.err, gate.Blocked(fmt.Sprintf("%s is for the user alone: %s.", what, why), "self-protection-answer"))
		return exitError(126)
	}
	return nil
}

// shellWord quotes one word for a shell that a person pastes it into.
func shellWord(s string) string { return script.Quote([]string{s}) }
