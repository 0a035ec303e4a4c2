package monitor

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"safeshell/spool"
)

const (
	callGap    = 3 * time.Second // at most one call in this time
	notifyTime = 5 * time.Second // a notifier that takes longer is ended
	notifyText = 200             // characters of a notification's text
)

// attention calls the human: a bell, a desktop notification. Many requests at
// once make one call.
type attention struct {
	bell, desktop bool
	cs            charset
	getenv        func(string) string
	now           func() time.Time
	terminal      bool // Out is one, so sequences may go there
	last          time.Time
	// run starts the notifier; tests replace it.
	run func(argv, env []string)
}

func newAttention(o Options) *attention {
	return &attention{
		bell:     slices.Contains(o.Notify, "bell"),
		desktop:  slices.Contains(o.Notify, "desktop"),
		cs:       charsetOf(o.Getenv),
		getenv:   o.Getenv,
		now:      o.Now,
		terminal: isTerminal(o.Out),
		run:      runNotifier,
	}
}

// call announces new requests; waiting counts all that wait. It returns a
// command for the program, nil when there is nothing to do.
func (a *attention) call(fresh []spool.Pending, waiting int) tea.Cmd {
	now := a.now()
	if len(fresh) == 0 || (!a.last.IsZero() && now.Sub(a.last) < callGap) {
		return nil
	}
	a.last = now
	var cmds []tea.Cmd
	if a.bell && a.terminal {
		cmds = append(cmds, tea.Raw("\a"))
	}
	if a.desktop {
		p := fresh[0]
		cmds = append(cmds, func() tea.Msg { // PATH may be slow to search
			seq, argv := a.compose(p, waiting)
			if argv != nil {
				a.run(argv, a.environ())
			}
			if seq != "" {
				return tea.RawMsg{Msg: seq}
			}
			return nil
		})
	}
	return tea.Batch(cmds...)
}

// compose decides how to notify: a sequence for the terminal, or a notifier to
// run, or neither.
func (a *attention) compose(p spool.Pending, waiting int) (seq string, argv []string) {
	title, body := a.text(p, waiting)
	if argv = a.notifier(title, body); argv != nil {
		return "", argv
	}
	if a.terminal {
		return a.sequence(title, body), nil
	}
	return "", nil
}

// text is what a notification says. The command in a request has its secrets
// masked by whoever asks.
func (a *attention) text(p spool.Pending, waiting int) (title, body string) {
	title = "safeshell: approval waiting"
	if waiting > 1 {
		title = fmt.Sprintf("safeshell: %d approvals waiting", waiting)
	}
	body = fmt.Sprintf("%s asks: %s (rule %s)", asker(p.Request), a.cs.brief(p.Request), p.Rules())
	return title, a.cs.cut(a.cs.line(body), notifyText)
}

// notifier is the program that shows a notification on this machine's desktop,
// or nil. Within ssh the desktop is elsewhere; the terminal is the way there.
func (a *attention) notifier(title, body string) []string {
	if a.getenv("SSH_CONNECTION") != "" || a.getenv("SSH_TTY") != "" {
		return nil
	}
	if runtime.GOOS == "darwin" {
		return []string{"/usr/bin/osascript",
			"-e", "on run argv",
			"-e", "display notification (item 2 of argv) with title (item 1 of argv)",
			"-e", "end run", title, body}
	}
	if a.getenv("DISPLAY") == "" && a.getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	path := find("notify-send", a.getenv("PATH"))
	if path == "" {
		return nil
	}
	// The text is markup to most desktops.
	return []string{path, "--app-name=safeshell", "--", title, html.EscapeString(body)}
}

// sequence is a notification by the terminal itself: OSC 9 or OSC 777 where
// the terminal is known to take it; others could print it.
func (a *attention) sequence(title, body string) string {
	t, prog := a.getenv("TERM"), a.getenv("TERM_PROGRAM")
	if a.getenv("TMUX") != "" || strings.HasPrefix(t, "screen") || strings.HasPrefix(t, "tmux") {
		return "" // would not pass through; the bell does
	}
	switch {
	case strings.Contains(t, "rxvt"), strings.HasPrefix(t, "foot"):
		// A semicolon ends the title.
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + "\x1b\\"
	case prog == "iTerm.app", prog == "WezTerm", prog == "ghostty", strings.Contains(t, "kitty"), strings.Contains(t, "ghostty"):
		return "\x1b]9;" + title + ": " + body + "\x1b\\"
	}
	return ""
}

// environ is what a notifier needs to reach the desktop.
func (a *attention) environ() []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "USER", "LANG", "LC_ALL", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
		"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
	} {
		if v := a.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// find looks a program up in the absolute directories of a PATH.
func find(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// runNotifier runs a notifier to its end, within limits; that it fails is of
// no consequence.
func runNotifier(argv, env []string) {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	_ = cmd.Run()
}
