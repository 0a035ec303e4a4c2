package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"safeshell/eval"
	"safeshell/spool"
)

// NotHuman says why this process may not trust, remember or be asked: it runs
// under an agent, or has no terminal of a person's. It returns "" for a person.
func (g *Gate) NotHuman() string {
	stray, why := g.person()
	if stray == nil || why != "" {
		return why
	}
	if who := olderAgent(g.caller.proc, stray.start); who != "" {
		return stray.apart("an agent here: " + who)
	}
	return ""
}

// NotWatcher says why this process may not watch: as NotHuman, but that a
// multiplexer may be looked at later. Each answer is asked about again.
func (g *Gate) NotWatcher() string {
	stray, why := g.person()
	if stray == nil || why != "" || stray.is(multiplexers) {
		return why
	}
	return g.NotHuman()
}

// MayNotAnswer says why this process may not answer a request: it is no person's,
// cannot see who asks, or belongs to the side that asks. "" if it may.
func (g *Gate) MayNotAnswer(r spool.Pending) string {
	stray, why := g.person()
	if why != "" {
		return why
	}
	pid, here := r.PID, true
	if own, err := os.Readlink(filepath.Join(g.caller.proc, "self/ns/pid")); err == nil && r.PIDNS != "" && r.PIDNS != own {
		pid = inView(g.caller.proc, r.PIDNS, r.PID, r.StartTicks)
		if here = pid != 0; !here && own != firstPID {
			return "the command that asks runs in a PID namespace that cannot be seen from here"
		}
	}
	since := r.StartTicks
	if here {
		if why := g.SharesAncestry(pid, r.StartTicks, r.BootID); why != "" && !r.Late {
			return why
		}
		since = min(since, agentStart(g.caller.proc, pid, r.StartTicks))
	}
	if stray != nil && r.ID != "" && stray.start >= since {
		return stray.apart("the agent that asks")
	}
	return ""
}

// person says why this process is no person's. stray is what holds its terminal
// apart from every login, if anything does.
func (g *Gate) person() (stray *process, why string) {
	f := g.caller
	switch ctx := f.Context(); {
	case f.unseen != "":
		return nil, "who calls cannot be seen: " + f.unseen
	case ctx == eval.AI && f.via != "":
		return nil, "this runs under an agent" + f.via
	case ctx == eval.AI:
		return nil, fmt.Sprintf("this runs under an agent (%s)", f.Agent())
	}
	t, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, "this has no terminal of its own"
	}
	t.Close()
	if runtime.GOOS != "linux" {
		return nil, ""
	}
	chain, why := lineage(f.proc, os.Getpid())
	if why != "" {
		return nil, "who calls cannot be seen: " + why
	}
	if who := agentIn(f.proc, chain); who != "" {
		return nil, "this runs under an agent: " + who
	}
	return terminal(f.proc, chain, 0)
}

// apart says that a process which holds a terminal is nobody's.
func (p *process) apart(older string) string {
	if p.is(multiplexers) {
		return fmt.Sprintf("nobody looks at its terminal: no person's terminal is attached to process %d (%s), which is younger than %s", p.pid, p.comm, older)
	}
	return fmt.Sprintf("its terminal hangs below process %d (%s), which belongs to no login or terminal program and is younger than %s", p.pid, p.comm, older)
}

// agentStart is when the oldest of the agent's processes above a request was
// started, or the request's own where none is known.
func agentStart(proc string, pid int, start uint64) uint64 {
	chain, _ := lineage(proc, pid)
	if len(chain) == 0 || chain[0].start != start {
		return start // it has died
	}
	for _, p := range chain {
		if agentIn(proc, []process{p}) != "" {
			start = min(start, p.start)
		}
	}
	return start
}

// SharesAncestry says how this process belongs to the side that asks: it is
// the requester's child, or both hang below one process of a terminal. A
// terminal multiplexer or a login service above both has no terminal and does
// not count; nor does what is above a terminal program that this side has for
// itself. It returns "" when they are apart.
func (g *Gate) SharesAncestry(pid int, startTicks uint64, bootID string) string {
	mine, _ := lineage(g.caller.proc, os.Getpid())
	theirs, _ := lineage(g.caller.proc, pid)
	if len(theirs) == 0 || theirs[0].start != startTicks && startTicks != 0 {
		return "" // it has died; nobody to be related to
	}
	if len(mine) > 0 && !slices.ContainsFunc(mine, func(p process) bool { return p.pid == mine[0].sid }) {
		leader, _ := lineage(g.caller.proc, mine[0].sid) // of its terminal
		mine = append(mine, leader...)
	}
	for i, m := range mine {
		if i > 0 && m.holdsTerminals(g.caller.proc) {
			return ""
		}
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
	agent, _ := markOf(environOf(proc, pid))
	return agent != ""
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
