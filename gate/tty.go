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
)

// openForegroundTTY opens the controlling terminal if this process is in its
// foreground: then a person sits there and may be asked right away.
func openForegroundTTY() (*os.File, bool) {
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

// askHere asks the person at the terminal. Anything but a clear yes is a no.
func (g *Gate) askHere(ctx context.Context, t *os.File, req Request, v Verdict) spool.Decision {
	no := spool.Decision{Verdict: spool.Denied, Choice: spool.Refuse, By: "tty", At: g.env.Now()}
	fmt.Fprint(t, head("APPROVAL REQUIRED", v.Message, v.Rule))
	fmt.Fprintf(t, "Command: %s\nDirectory: %s\n%s\n", spool.Visible(spool.Mask(displayOf(req))), spool.Visible(req.Dir), instead(v.Suggest))
	// What was typed before the question was shown is no answer to it.
	discardInput(int(t.Fd()))
	fmt.Fprint(t, "1 once, 2 for this session, 3 always, 4 deny [4]: ")
	line, err := readLine(ctx, t, g.Config().Approval.Timeout)
	if err != nil {
		fmt.Fprintln(t)
		no.Reason = "no answer at the terminal"
		return no
	}
	choice := map[string]spool.Choice{"1": spool.Once, "2": spool.Session, "3": spool.Always}[strings.TrimSpace(line)]
	if choice == 0 {
		no.Reason = "answered at the terminal"
		return no
	}
	return spool.Decision{Verdict: spool.Allowed, Choice: choice, By: "tty", At: g.env.Now()}
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
