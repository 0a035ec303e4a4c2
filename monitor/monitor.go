// Package monitor is `safeshell watch`: it shows the commands that wait for
// approval and hands a human's answer to the spool.
//
// It promises: nothing that a request holds reaches the terminal but as
// characters that draw themselves; no key typed before a request could be read
// answers it, nor does typing on; a new request never takes the place of one
// that is being answered; no read or write of the disk holds up the keys. It
// holds no state, so that it may be killed at any moment, and several may run:
// the first answer wins and the others say so.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"safeshell/spool"
)

// Source is where requests come from and answers go to: the spool and its
// journal (see Open). Its methods may block on a slow disk; they are
// called from goroutines of their own, several at a time.
type Source interface {
	// Pending returns the requests that wait, oldest first, and after them
	// those that gave up and may be answered for their next try.
	Pending() ([]spool.Pending, error)
	// Answer decides a request. spool.ErrDecided comes with the decision that
	// stands; spool.ErrGone says that nobody waits for an answer any more;
	// with any other error nothing was decided.
	Answer(id string, c spool.Choice, reason string) (spool.Decision, error)
	// Outcome is the decision on a request that is no longer pending; false
	// when there is none (its command ended before).
	Outcome(id string) (spool.Decision, bool)
	// Records returns the journal's decisions since the last call, oldest
	// first; the first call returns the newest ones there are.
	Records() ([]Record, error)
	// Changes hints that Pending or Records have something new.
	Changes() <-chan struct{}
	// Warnings are for the human, one line each.
	Warnings() <-chan string
}

// Record is one decision in the journal: by a human, a rule or a clock.
type Record struct {
	ID      string // of the request; a later record replaces the one before
	At      time.Time
	Command string // one line, secrets masked
	Dir     string
	Rule    string
	Agent   string // empty: a person
	Outcome string // what became of it: "denied", "allowed once", ...
	Verdict spool.Verdict
	By      string // who decided
	Reason  string // the human's words
	Waited  time.Duration
	Note    string // not a decision: a line for the log; of the rest only At and Level count
	Level   string // of a note: DEBUG, INFO, WARN, ERROR; empty: INFO
}

// Options are what Run needs; it reads nothing else of its surroundings.
type Options struct {
	Source Source
	In     io.Reader
	Out    io.Writer
	Getenv func(string) string // TERM, NO_COLOR, the locale, and what notifications need
	Now    func() time.Time    // default time.Now
	// Notify is how to call the human: "bell", "desktop" (config
	// approval.notify). Empty: only the window title.
	Notify []string
	// Plain asks for lines instead of panes. It is also taken when TERM is
	// empty or dumb, or when In or Out is not a terminal.
	Plain bool
	// Refuse, when not empty, says why this caller must not answer (an agent
	// is calling). Requests are shown then, and answers refused.
	Refuse   string
	LogLevel string // what the log pane shows at first: debug, info (default), warn, error
	Version  string
	Spool    string // the spool's path, to be shown
}

// Run watches until the human quits or ctx ends, both of which are no error.
// It returns an error when an option is missing or the terminal cannot be
// used.
func Run(ctx context.Context, o Options) error {
	if o.Source == nil || o.In == nil || o.Out == nil {
		return errors.New("monitor: Source, In and Out must be set")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if t := o.Getenv("TERM"); o.Plain || t == "" || t == "dumb" || !isTerminal(o.In) || !isTerminal(o.Out) {
		return runPlain(ctx, o)
	}
	p := tea.NewProgram(newModel(ctx, o),
		tea.WithInput(o.In),
		tea.WithOutput(o.Out),
		tea.WithEnvironment(teaEnviron(o.Getenv)),
		tea.WithColorProfile(profile(o.Getenv)),
		// A signal ends ctx. If bubbletea took it as well, the one of the two
		// that came second would wait for ever for the program to take it.
		tea.WithoutSignalHandler(),
	)
	// Not tea.WithContext: that ends without waiting for the reader.
	defer context.AfterFunc(ctx, p.Quit)()
	if _, err := p.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("the terminal could not be used: %w; try: safeshell watch --plain", err)
	}
	return nil
}

// isTerminal tells whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// teaEnviron is the environment that bubbletea sees. SSH_TTY keeps it from
// asking the terminal about optional modes: an answer that came late and in
// pieces would be read as keys, and digits answer requests here.
func teaEnviron(getenv func(string) string) []string {
	return []string{"TERM=" + getenv("TERM"), "SSH_TTY=none"}
}

// profile decides on colours by the environment alone. Detecting more would
// run programs (tmux), and the sixteen colours are all that is used.
func profile(getenv func(string) string) colorprofile.Profile {
	if getenv("NO_COLOR") != "" {
		return colorprofile.ASCII // bold and reverse stay
	}
	return colorprofile.ANSI
}
