// Package script turns shell text into the commands that it would run.
//
// It guarantees that every command that bash, zsh or a POSIX shell would or
// could run from a text is either listed, or covered by an Unknown entry that
// says why it cannot be listed. It never guesses: a word is an exact string or
// marked as not known. It executes nothing, reads no file and never panics,
// whatever the text; text beyond its limits (bytes, steps, nesting) gives an
// Unknown. No clock is involved. More may be listed than runs: both sides of a
// condition, what follows an exit, the readings of several dialects.
//
// What a text cannot tell, and is not reported for every line that it could
// concern:
//
//   - A cd is taken to succeed unless the text handles its failure, and so is
//     an expansion that can fail and end a line (bad arithmetic, ${x?}).
//   - Files that exist already and are run or sourced (bash x.sh, . ./env) are
//     commands like any other; sourcing one makes the text's variables unknown,
//     but not the directory, functions or HOME.
//   - Values from elsewhere are data: a number read into x and used in $((x)),
//     the operands that xargs pastes into sh -c. Only text that becomes code as
//     a whole (eval "$x", bash -c "rm $x") is reported.
//   - In languages other than the shell, known calls are looked for by name.
package script

import (
	"strings"

	"safeshell/budget"
)

// Dialect names the shell that will read a text.
type Dialect string

// The dialects. AnyDialect is for text whose shell is not known: the union of
// what bash and zsh would run is reported.
const (
	Bash       Dialect = "bash"
	POSIX      Dialect = "sh"
	Zsh        Dialect = "zsh"
	AnyDialect Dialect = ""
	// PowerShell is for tools that say that they run it: no grammar, only words
	// that are certain; the rest is Unknown.
	PowerShell Dialect = "powershell"
)

// Options say where and for whom a text is analysed.
type Options struct {
	Dialect Dialect
	// Dir is the absolute working directory; empty when it is not known.
	Dir string
	// Lookup returns the value of an environment variable that is really set
	// for the text (HOME, TMPDIR, ...). nil: no variable is known. A variable
	// that Lookup does not know is reported as unknown, never as empty.
	Lookup func(name string) (string, bool)
	// GitAliases looks up the aliases of git's configuration: those that hold in
	// a directory (absolute; empty when it is not known: those that hold
	// everywhere), for git with these options (--git-dir and its kin) and these
	// variables (NAME=value) set in front of it. It is asked for subcommands that
	// are none of git's own. nil: there are none.
	GitAliases func(dir string, options, environ []string) GitAliases
	// Budget is what the analysis may cost; nil: a budget of its own, whose part for
	// rules begins when the analysis is done.
	Budget *budget.Budget
	// Shims, where set, asks for Command.Astray.
	Shims *Shims
	// Wrappers are names of further programs that run the command given as
	// their arguments (beside sudo, env, timeout, ... which are built in).
	Wrappers []string
}

// Span is a half-open range of bytes in the analysed text.
type Span struct{ Start, End int }

// Analysis is what a text would run.
type Analysis struct {
	Text     string
	Commands []Command
	// Unknown lists what could not be analysed; a guard asks when it is not
	// empty.
	Unknown []Unknown
	// Aliases are those of git's configuration that were followed, each once.
	Aliases []GitAlias
	// Budget is what judging the commands may still cost. Where it is over, the
	// analysis may end early.
	Budget *budget.Budget
}

// Unknown is one thing that could not be known from the text.
type Unknown struct {
	Reason string // a clause for people: "the command name comes from $X"
	Span   Span
}

// Command is one command that the text would or could run.
type Command struct {
	// Argv holds the words; Argv[0] is the command word as written (it may be
	// a path). Redirections alone (`> f`) give a command with an empty Argv.
	Argv []Word
	// Assigns are assignments in front of the command (FOO=1 cmd), or a bare
	// assignment (empty Argv).
	Assigns []Assign
	// Redirects, in order, including those of enclosing compound commands.
	Redirects []Redirect
	// Dir is where the command would run, the directory options of git, make
	// and ninja (-C) already applied. A cd is taken to succeed unless the text
	// itself handles its failure. A directory that is not known has unknown
	// parts, perhaps with a known tail: $PWD/sub, $X/sub.
	Dir Word
	// Via names the programs around it, outermost first: sudo, env, bash -c,
	// xargs, find -exec, python3, ssh. Empty for a plain command.
	Via []string
	// Remote is the machine or container it would run in (ssh host, docker
	// exec web); empty when it runs here.
	Remote string
	// Stdin is what is known to be fed to it (here-document, literal producer
	// of a pipe); nil when nothing is known.
	Stdin *Word
	// FedBy and FeedsTo are indexes in Analysis.Commands of its neighbours in
	// a pipeline (or process substitution).
	FedBy, FeedsTo []int
	// GivesTo are indexes of the commands among whose words its output stands
	// (kill $(pgrep x)), or is put by xargs.
	GivesTo []int
	// Effects are what code in another language inside this command would do
	// (python -c, node -e, awk): known destructive or reading calls.
	Effects []Effect
	// Keyword is set for shell builtins that are evaluated in the shell
	// itself (cd, eval, source, export, set ...).
	Keyword bool
	// Function is set when the command word is a function that the text itself
	// defined: what it runs is listed too, and the word does not name a
	// program.
	Function bool
	// Guess is set for the arguments of a program that is not known, from the
	// word on that names a well-known destructive program: they may be a
	// command (mywrap rm -rf x) or data.
	Guess bool
	// TailOf is the index in Analysis.Commands of the command whose last
	// arguments are exactly this Argv (`sudo rm x`: rm is the tail of sudo,
	// starting at word TailAt); -1 when there is none.
	TailOf, TailAt int
	// Astray says why its name may lead elsewhere than to the first program of that
	// name in the PATH that the text was given; "" where it cannot (and where
	// Options.Shims did not ask). A name with a slash is no matter of PATH.
	Astray string
	// Swayed names a variable that the text sets and by which safeshell finds the
	// trash, or knows scratch files; "" where there is none.
	Swayed string
	// Span of the simple command in the text. Zero for commands found inside
	// strings (Nested is true then and Span is that of the holding command).
	Span   Span
	Nested bool
}

// Assign is one NAME=VALUE.
type Assign struct {
	Name  string
	Value Word
}

// Redirect is one redirection to or from a file, or a here-document.
type Redirect struct {
	Op     string // > >> >| < <> &> &>> << <<< <<-
	Fd     int    // -1 for the operator's default
	Target Word   // for here-documents and here-strings: the body
	Span   Span
}

// EffectKind says what a piece of code does to a path.
type EffectKind string

// The kinds of effect.
const (
	Delete EffectKind = "delete"
	Write  EffectKind = "write"
	Empty  EffectKind = "empty" // truncation
	Read   EffectKind = "read"
	Change EffectKind = "change" // mode, owner, times, attributes; or it is made
)

// Effect is one call in interpreter code that touches files.
type Effect struct {
	Kind      EffectKind
	Path      Word
	Recursive bool
	Call      string // as written: shutil.rmtree
}

// Word is one shell word after expansion, as far as it is known.
type Word struct {
	// Parts in order; their concatenation is the word. A word is Known when
	// all parts are literal.
	Parts []Part
	Span  Span
}

// PartKind says what a part of a word is.
type PartKind uint8

// The kinds of part.
const (
	Literal  PartKind = iota
	Glob              // an unquoted pattern character or bracket: Text is it
	Variable          // value of Name is not known
	Output            // output of a command (substitution); a path for <(cmd)
	TempPath          // a fresh path under the temporary directory (mktemp)
	Operand           // operands that come from elsewhere: xargs, find, $1, $@
)

// Part is a piece of a word.
type Part struct {
	Kind PartKind
	// Split: not quoted, so that an unknown value may become several words or
	// none.
	Split bool
	from  int32  // Output: index+1 of the command that writes it
	Text  string // Literal and Glob: the text after quote removal
	Name  string // Variable: its name. Output: the command as written
	// Alt are values that an unknown part may have, among others: the default
	// in ${x:-default}, what the branches of the text assign.
	Alt []string

	content *Word // Output of <(cmd): what the path gives, when known
}

// Lit returns a wholly known word.
func Lit(s string) Word { return Word{Parts: []Part{{Kind: Literal, Text: s}}} }

// Known reports whether every part is literal.
func (w Word) Known() bool {
	for _, p := range w.Parts {
		if p.Kind != Literal {
			return false
		}
	}
	return true
}

// Text returns the word's exact value; ok is false when it is not known.
func (w Word) Text() (s string, ok bool) {
	switch len(w.Parts) {
	case 0:
		return "", true
	case 1:
		return w.Parts[0].Text, w.Parts[0].Kind == Literal
	}
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind != Literal {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// FromArgv returns the analysis of an argv as the kernel would get it: the
// command itself, and the commands that it is known to run in turn (sudo, env,
// sh -c, xargs, find -exec). Command 0 is argv itself.
func FromArgv(argv []string, o Options) Analysis {
	if o.Budget == nil {
		o.Budget = budget.New()
		defer o.Budget.Rule()
	}
	return fromArgv(argv, o)
}

// Parse returns the analysis of a shell text.
func Parse(text string, o Options) Analysis {
	if o.Budget == nil {
		o.Budget = budget.New()
		defer o.Budget.Rule()
	}
	return parse(text, o)
}
