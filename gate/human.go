package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"safeshell/eval"
	"safeshell/spool"
)

// NotHuman says why this process may not answer, trust or remember: it runs
// under an agent, or has no terminal of its own. It returns "" for a person.
func (g *Gate) NotHuman() string {
	if g.caller.Context() == eval.AI {
		return fmt.Sprintf("this runs under an agent (%s)", g.caller.Agent())
	}
	for _, p := range chain(g.caller.proc, os.Getpid()) {
		if marked(g.caller.proc, p.pid) {
			return fmt.Sprintf("this runs under an agent, whose mark process %d (%s) carries", p.pid, p.comm)
		}
	}
	t, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return "this has no terminal of its own"
	}
	t.Close()
	return ""
}

// SharesAncestry says how this process belongs to the side that asks: it is
// the requester's child, or both hang below one process of a terminal. A
// terminal multiplexer or a login service above both has no terminal and does
// not count. It returns "" when they are apart.
func (g *Gate) SharesAncestry(pid int, startTicks uint64, bootID string) string {
	mine := chain(g.caller.proc, os.Getpid())
	theirs := chain(g.caller.proc, pid)
	if len(theirs) == 0 || theirs[0].start != startTicks && startTicks != 0 {
		return "" // it has died; nobody to be related to
	}
	for _, m := range mine {
		for _, t := range theirs {
			if m.pid == t.pid && m.start == t.start && m.tty != 0 {
				return fmt.Sprintf("it shares process %d (%s) with the command that asks", m.pid, m.comm)
			}
		}
	}
	return ""
}

// marked reports whether a process was started with an agent's mark in its
// environment, which it cannot take back: it was its parent's to give.
func marked(proc string, pid int) bool {
	env, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "environ"))
	return err == nil && hasMarker(env)
}

// chain returns a process and its ancestors below init.
func chain(proc string, pid int) []process {
	var out []process
	for pid > 1 && len(out) < 100 {
		p, err := readProc(proc, pid)
		if err != nil {
			break
		}
		out = append(out, p)
		pid = p.ppid
	}
	return out
}

// Blocked is the refusal for what safeshell itself forbids.
func Blocked(reason, rule string) string { return blockedText(reason, rule, "") }

// Journal writes an entry that another part of safeshell has made.
func (g *Gate) Journal(e spool.Entry) error {
	return spool.OpenJournal(g.env.Paths.Journal).Append(e)
}

// SessionHint is the caller's session as far as it is known without a walk
// over the processes.
func (g *Gate) SessionHint() string {
	_, _, s := g.caller.cheap()
	return s
}

// ProbeName is a command that does not exist and that a built-in rule denies:
// doctor runs it through every door to see that the guard is on.
const ProbeName = "safeshell-doctor-probe"

// ConfigError returns what is wrong with config.yaml; nil when nothing is.
func (g *Gate) ConfigError() error {
	g.Config()
	return g.cfgErr
}
