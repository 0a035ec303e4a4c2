package cli

import (
	"strings"

	"golang.org/x/term"
)

// colored is what commands take whose output may have colours.
type colored struct {
	Color string `help:"Colours: auto (on a terminal only), always or never." enum:"auto,always,never" default:"auto" placeholder:"WHEN"`
}

// palette writes texts in colour, or as they are. The sixteen colours alone are
// used, which every theme keeps readable, and never colour alone: words say the
// same.
type palette bool

// palette decides as git does: what the command line says, then NO_COLOR, then
// CLICOLOR_FORCE, then whether standard output is a terminal that has colours.
func (c colored) palette(a *app) palette {
	force := a.getenv("CLICOLOR_FORCE")
	switch {
	case c.Color == "always", c.Color == "never":
		return c.Color == "always"
	case a.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case a.getenv("TERM") == "", a.getenv("TERM") == "dumb", a.getenv("CLICOLOR") == "0":
		return false
	}
	f, ok := a.out.(interface{ Fd() uintptr })
	return palette(ok && term.IsTerminal(int(f.Fd())))
}

// The colours, as SGR parameters.
const (
	green  = "32"
	yellow = "33"
	red    = "1;31"
	blue   = "34"
	cyan   = "36"
	faint  = "2"
)

// in returns text in a colour; what pads it stays outside.
func (p palette) in(sgr, text string) string {
	word := strings.Trim(text, " ")
	if !p || sgr == "" || word == "" {
		return text
	}
	at := strings.Index(text, word)
	return text[:at] + "\x1b[" + sgr + "m" + word + "\x1b[m" + text[at+len(word):]
}

// levelColor is the colour of a finding's level.
func levelColor(level string) string {
	return map[string]string{"ok": green, "warn": yellow, "fail": red}[level]
}

// actionColor is the colour of what became of a command.
func actionColor(action string) string {
	switch action {
	case "deny", "asked-deny":
		return red
	case "redirect", "trashed":
		return cyan
	case "asked-allow", "granted", "passed":
		return green
	case "allow":
		return faint
	}
	return yellow
}
