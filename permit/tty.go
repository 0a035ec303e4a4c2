package permit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/eval"
	"safeshell/spool"
)

// AskHuman asks in the monitor; without one it asks a person whose terminal is
// in the foreground right there, as for any other command. An agent is never
// asked at its terminal: ErrNobody then.
func AskHuman(ctx context.Context, q Question) (Answer, error) {
	a, err := Ask(ctx, q)
	if !errors.Is(err, ErrNobody) || q.Caller.Context != eval.Human {
		return a, err
	}
	t, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return a, ErrNobody
	}
	defer t.Close()
	if pgrp, err := unix.IoctlGetInt(int(t.Fd()), unix.TIOCGPGRP); err != nil || pgrp != unix.Getpgrp() {
		return a, ErrNobody
	}
	return askTerminal(ctx, t, q)
}

// askTerminal takes anything but a clear yes for a no.
func askTerminal(ctx context.Context, t *os.File, q Question) (Answer, error) {
	a := Answer{Choice: spool.Refuse, By: spool.ByTTY}
	fmt.Fprintf(t, "[SafeShell] APPROVAL REQUIRED\nReason: %s\nRule: %s\nDirectory: %s\n", q.words(), Rule, spool.Visible(q.Dir))
	for _, d := range q.Blocked.Permittable() {
		fmt.Fprintf(t, "  %s  %s\n", Show(d.Command), spool.Visible(d.Path))
	}
	fmt.Fprint(t, "1 once, 2 for this session, 3 always in this project, 4 deny [4]: ")
	ch := make(chan string, 1)
	go func() {
		s, err := bufio.NewReader(t).ReadString('\n')
		if err != nil {
			s = ""
		}
		ch <- s
	}()
	timer := time.NewTimer(q.Approval.Timeout)
	defer timer.Stop()
	var line string
	select {
	case line = <-ch:
	case <-timer.C:
		fmt.Fprintln(t)
		return a, errors.New("nobody answered at the terminal; nothing has run")
	case <-ctx.Done():
		fmt.Fprintln(t)
		return a, errors.New("interrupted while waiting for an answer; nothing has run")
	}
	switch strings.TrimSpace(line) {
	case "1":
		a.Choice = spool.Once
	case "2":
		a.Choice = spool.Session
	case "3":
		a.Choice = spool.Always
	}
	return a, nil
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
