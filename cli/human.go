package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"safeshell/gate"
	"safeshell/script"
)

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// mustBeHuman refuses what only a person may do: answering, trusting,
// remembering. The asking side can never answer itself.
func (a *app) mustBeHuman(what string) error {
	if why := a.g.NotHuman(); why != "" {
		fmt.Fprint(a.err, gate.Blocked(fmt.Sprintf("%s is for the user alone: %s.", what, why), "self-protection-answer"))
		return exitError(126)
	}
	return nil
}

// hasTerminal reports whether the process has a terminal of its own.
func hasTerminal() bool {
	t, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	t.Close()
	return true
}

// shellWord quotes one word for a shell that a person pastes it into.
func shellWord(s string) string { return script.Quote([]string{s}) }
