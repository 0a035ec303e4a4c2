package permit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"safeshell/eval"
	"safeshell/gate"
	"safeshell/spool"
)

// AskHuman asks in the monitor; without one it asks a person whose terminal is
// in the foreground right there, as for any other command. An agent is never
// asked at its terminal: ErrNobody then.
func AskHuman(ctx context.Context, q Question) (Answer, error) {
	a, err := Ask(ctx, q)
	if !errors.Is(err, ErrNobody) || q.Caller.Context != eval.Human ||
		gate.New(gate.Env{Environ: os.Environ(), Paths: q.Paths}).NotHuman() != "" {
		return a, err
	}
	t, ok := gate.OpenTerminal()
	if !ok {
		return a, ErrNobody
	}
	defer t.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "[SafeShell] APPROVAL REQUIRED\nReason: %s\nRule: %s\nDirectory: %s\n", q.words(), Rule, spool.Visible(q.Dir))
	for _, d := range q.Blocked.Permittable() {
		fmt.Fprintf(&b, "  %s  %s\n", Show(d.Command), spool.Visible(d.Path))
	}
	choice, err := gate.AskTerminal(ctx, t, b.String(), " in this project", q.Approval.Timeout)
	a = Answer{Choice: choice, By: spool.ByTTY}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return a, errors.New("nobody answered at the terminal; nothing has run")
	case ctx.Err() != nil:
		return a, errors.New("interrupted while waiting for an answer; nothing has run")
	}
	return a, nil // a terminal that is gone is a no
}

// DeniedText is what is said after a human's no.
func DeniedText(a Answer) string {
	reason := spool.Visible(a.Reason)
	if reason == "" {
		reason = "the user said no and gave no reason"
	}
	return "[SafeShell] USER DENIED\nReason: " + reason + "\nRule: " + Rule +
		"\n\nNothing has run, and nothing of this will. Do not retry it, rephrase it or reach the same end another way. Ask the user what to do instead.\n"
}
