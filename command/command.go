// Package command knows programs: one stanza a program, as data in specs/, turned
// into Go by gen. It says how a program reads its command line and what it runs; it
// knows nothing of shells or rules. Looking a program up builds and allocates
// nothing: it is on the path of every guarded command.
package command

//go:generate go run ./gen

import (
	"slices"
	"strings"
)

// Spec is the stanza of a program, or of several that read their command line
// alike. Lists are words between single blanks, options with their dashes.
type Spec struct {
	Names string
	Line
	Before string // options with a value, before the subcommand only
	Whole  string // long options that are not to be taken for abbreviations of others
	Subs   []Sub
}

// Sub is what differs for some subcommands; the one named * is that of the others.
type Sub struct {
	Names string
	Line
}

// Line is how a command line is read, and what it runs.
type Line struct {
	Syntax Syntax
	// Options are those that take a value: -o, --output. One that takes it only
	// in the same word (-d5, not -d 5) ends in a question mark.
	Options string
	Code    string // options whose value is a line for a shell
	Rest    string // options after which the words are a command
	Danger  string // options that others call dangerous
	// Dangerous: others call the subcommand so.
	Dangerous bool
	Runs      *Runs // nil: it runs no operands, or in a way of its own
}

// Syntax is how a command line is read.
type Syntax uint8

const (
	Subcommands Syntax = 1 << iota // the first operand is a subcommand
	OneDash                        // long options have one dash, and short ones do not cluster (find, terraform)
	Abbreviated                    // long options may be abbreviated (git, GNU)
	Stops                          // options end at the first operand (sudo, env, ssh)
	Numbers                        // -10 is an option (nice)
	Any                            // every word with a dash is an option; values are in the same word
)

// Runs says that a program runs the command in its operands.
type Runs struct {
	Skip int // operands before the command
	How  How
}

// How is in which way.
type How uint8

const (
	Assigns     How = 1 << iota // NAME=value may stand before the command
	NewEnv                      // the environment is another one
	ShellLine                   // the operands are joined to a line for a shell
	AfterDashes                 // the command comes after --
	OwnShell                    // without a command it runs a shell
	Feeds                       // standard input is not passed on as code
	Package                     // the command is a package's, perhaps with its version: rimraf@5
)

// entry leads from a name to its stanza.
type entry struct {
	name string
	spec uint16
}

var none struct {
	spec Spec
	sub  Sub
}

// Of returns the stanza of a program by its base name; one that says nothing where
// none knows it.
func Of(name string) *Spec {
	if i, ok := slices.BinarySearchFunc(index[:], name, func(e entry, name string) int { return strings.Compare(e.name, name) }); ok {
		return &specs[index[i].spec]
	}
	return &none.spec
}

// Takes says that the next word is an option's value, wherever the option stands.
func (s *Spec) Takes(opt string) bool { return Has(s.Options, opt) || Has(s.Before, opt) }

// Sub returns what differs for a subcommand.
func (s *Spec) Sub(name string) *Sub {
	others := &none.sub
	for i := range s.Subs {
		switch sub := &s.Subs[i]; {
		case Has(sub.Names, name):
			return sub
		case sub.Names == "*":
			others = sub
		}
	}
	return others
}

// Is says that the command line is read in that way.
func (l *Line) Is(x Syntax) bool { return l.Syntax&x != 0 }

// Has reports whether list, words between single blanks, holds word.
func Has(list, word string) bool {
	if word == "" {
		return false
	}
	for i := 0; i <= len(list)-len(word); {
		j := strings.Index(list[i:], word)
		if j < 0 {
			return false
		}
		j += i
		end := j + len(word)
		if (j == 0 || list[j-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		i = j + 1
	}
	return false
}
