package agents

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// limitedBuffer keeps the first bytes of a stream and drops the rest.
type limitedBuffer struct {
	kept bytes.Buffer
	max  int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.max - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

var errTooSlow = errors.New("no answer in time")

// runLimited runs a program with a time limit and bounded output, without a
// terminal. It is killed with all that it started.
func (env Env) runLimited(argv []string, dir, stdin string, limit time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{}
	if env.Environ != nil {
		cmd.Env = env.Environ()
	}
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	out, errs := &limitedBuffer{max: 1 << 20}, &limitedBuffer{max: 1 << 20}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	}
	r := reply{stdout: out.kept.String(), stderr: errs.kept.String()}
	if ctx.Err() != nil {
		return r, errTooSlow
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended; a child of it held the pipe
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.code = exit.ExitCode()
		if r.code < 0 {
			r.code = 128 // killed by a signal
		}
		return r, nil
	}
	return r, err
}

// version finds the first number of the form 1.2 or 1.2.3 in a text.
func version(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		j, dots := i, 0
		for j < len(text) && (text[j] >= '0' && text[j] <= '9' || text[j] == '.' && j+1 < len(text) && text[j+1] >= '0' && text[j+1] <= '9') {
			if text[j] == '.' {
				dots++
			}
			j++
		}
		if dots > 0 {
			return text[i:j]
		}
		i = j
	}
	return ""
}

// older says whether version a is before b.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		x, y := 0, 0
		if i < len(as) {
			x = decimal(as[i])
		}
		if i < len(bs) {
			y = decimal(bs[i])
		}
		if x != y {
			return x < y
		}
	}
	return false
}

func decimal(s string) int {
	n := 0
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 1<<30; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
