package cli

import (
	"go/doc/comment"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Page is what --help and the manual say of a command beside its grammar.
type Page struct {
	// Detail is text in paragraphs; what is typed stands in backquotes.
	Detail string
	// Exit says the exit codes that tell more than that it failed (1) or was
	// called wrongly (2).
	Exit string
	// Examples are command lines, each below what it is for.
	Examples []Example
	// Files and Environment name lines of Files and Environment, apart by spaces.
	Files, Environment string
	// See are other commands, apart by spaces.
	See string
}

// Example is a command line that a reader can take over.
type Example struct{ For, Line string }

const (
	exitAnswered = "0 answered, 1 not, 2 it does not say which of them, or none waits, 126 refused: an answer is for the user at a terminal alone."
	exitHealthy  = "0 nothing is wrong, 1 something is."
)

// manual has the page of each command, by its words; "" is safeshell itself.
var manual = map[string]Page{
	"":              {Exit: "126 stopped by safeshell, 127 no such command, 2 a wrong call, 1 another failure; otherwise that of the command which ran."},
	"check":         {Exit: "0 it would run (allowed, or redirected), 1 it would be stopped, 2 an error."},
	"exec":          {Exit: "126 stopped by safeshell, 127 no such command, 2 a wrong call; otherwise that of the command."},
	"run":           {Exit: "126 stopped by safeshell, 127 no such script or command, 2 a wrong call; otherwise that of the script. With --explain 1 means that it would be stopped."},
	"hook":          {Exit: "What the agent expects: docs/agents has each."},
	"approve":       {Exit: exitAnswered},
	"deny":          {Exit: exitAnswered},
	"permit check":  {Exit: "0 all may be declared, 1 some may not, 2 an error."},
	"permit retry":  {Exit: "126 nothing has run, 2 a wrong call; otherwise that of what goes on."},
	"rules test":    {Exit: "0 all hold, 1 some do not."},
	"status":        {Exit: "0 all is on, 1 something is off."},
	"doctor":        {Exit: exitHealthy},
	"agents doctor": {Exit: exitHealthy},
	"uninstall": {
		Detail: "Takes safeshell's blocks out of the shells' start-up files, its hooks out of the agents' configuration, and its links, completions and caches out of your home directory: byte for byte where nothing else was changed since, else just what is safeshell's. It shows a list first, and what waits for an answer is refused.\n\n" +
			"Rules, journal and remembered answers stay in `~/.safeshell`, and the trash stays, unless `--purge` is given. What stands in the way is named with the command that mends it, and the rest is done; then run it again. At the end it says what removes the program itself.",
		Exit: "0 it is out, or there was nothing to do, 1 not all of it, 126 refused: a person at a terminal does this alone.",
	},
}

// ManualPage returns the page of a command, by its words.
func ManualPage(command string) Page { return manual[command] }

// Model returns the grammar, for what is made from it.
func Model() (*kong.Application, error) {
	k, err := newParser(io.Discard, io.Discard, func(int) {})
	if err != nil {
		return nil, err
	}
	return k.Model, nil
}

// document joins what the manual says to the grammar's nodes.
func document(n *kong.Node) {
	n.Detail = manual[n.Path()].Detail
	for _, ch := range n.Children {
		document(ch)
	}
}

// end is what --help says below the options.
func (p Page) end() string {
	var b strings.Builder
	if len(p.Examples) > 0 {
		b.WriteString("\nExamples:\n")
	}
	for _, e := range p.Examples {
		b.WriteString("\n  # " + e.For + "\n  " + e.Line + "\n")
	}
	if p.Exit != "" {
		b.WriteString("\n" + wrapped("Exit code: "+p.Exit))
	}
	return b.String()
}

// wrapped breaks a text into lines.
func wrapped(text string) string {
	return string((&comment.Printer{TextWidth: 80}).Text(new(comment.Parser).Parse(text)))
}
