package gate

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/spool"
	"safeshell/spool/mask"
)

// OpenTerminal opens the controlling terminal if this process is in its
// foreground: then a person sits there and may be asked right away.
func OpenTerminal() (*os.File, bool) {
	t, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, false
	}
	pgrp, err := unix.IoctlGetInt(int(t.Fd()), unix.TIOCGPGRP)
	if err != nil || pgrp != unix.Getpgrp() {
		t.Close()
		return nil, false
	}
	return t, true
}

// AskTerminal shows question and the choices, where always says how far the
// third one goes (" in this project"), and takes a line from the person at the
// terminal. Anything but a clear yes is a no. The error is os.ErrDeadlineExceeded
// after limit, that of ctx, or of reading; the choice is a no then too.
func AskTerminal(ctx context.Context, t *os.File, question, always string, limit time.Duration) (spool.Choice, error) {
	fmt.Fprint(t, question)
	// What was typed before the question was shown is no answer to it.
	discardInput(int(t.Fd()))
	fmt.Fprintf(t, "1 once, 2 for this session, 3 always%s, 4 deny [4]: ", always)
	line, err := readLine(ctx, t, limit)
	if err != nil {
		fmt.Fprintln(t)
		return spool.Refuse, err
	}
	switch strings.TrimSpace(line) {
	case "1":
		return spool.Once, nil
	case "2":
		return spool.Session, nil
	case "3":
		return spool.Always, nil
	}
	return spool.Refuse, nil
}

// askHere asks the person at the terminal about a command.
func (g *Gate) askHere(ctx context.Context, t *os.File, req Request, v Verdict) spool.Decision {
	dec := spool.Decision{Verdict: spool.Denied, By: spool.ByTTY, At: g.env.Now()}
	question := headAll("APPROVAL REQUIRED", req, v) + lossText(req, v) +
		fmt.Sprintf("Command: %s\nDirectory: %s\n%s%s\n", spool.Visible(mask.Text(displayOf(req))), spool.Visible(req.Dir), lookOut(req), insteadOf(v))
	var err error
	switch dec.Choice, err = AskTerminal(ctx, t, question, "", g.Config().Approval.Timeout); {
	case err != nil:
		dec.Reason = "no answer at the terminal"
	case dec.Choice == spool.Refuse:
		dec.Reason = "answered at the terminal"
	default:
		dec.Verdict, dec.At = spool.Allowed, g.env.Now()
	}
	return dec
}

// readLine reads a line, but no longer than limit and not past ctx.
func readLine(ctx context.Context, t *os.File, limit time.Duration) (string, error) {
	type answer struct {
		s   string
		err error
	}
	ch := make(chan answer, 1)
	go func() {
		s, err := bufio.NewReader(t).ReadString('\n')
		ch <- answer{s, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-ch:
		return a.s, a.err
	case <-timer.C:
		return "", os.ErrDeadlineExceeded
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
