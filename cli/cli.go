// Package cli is safeshell's command line: the grammar, one file a command,
// and every word that a person reads in a terminal. Results go to stdout,
// everything else to stderr; messages start in lower case and end without a
// full stop, unless they are whole sentences with a next step.
package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"safeshell/config"
	"safeshell/front"
	"safeshell/gate"
	"safeshell/script"
	"safeshell/shims"
	"safeshell/spool"
)

// grammar is the whole command line (docs/design.md "Command line").
type grammar struct {
	PrintVersion versionFlag `help:"Print the version and quit." name:"version" short:"V"`

	Init       initCmd       `cmd:"" help:"Set up ~/.safeshell and the shell's start-up files, or print the script for eval (init -)."`
	Refresh    refreshCmd    `cmd:"" help:"Make the shims, and what shells read when they start, match the rules."`
	Watch      watchCmd      `cmd:"" help:"The monitor: see what runs, answer what waits."`
	Pending    pendingCmd    `cmd:"" help:"List what waits for an answer."`
	Approve    approveCmd    `cmd:"" help:"Let a waiting command run."`
	Deny       denyCmd       `cmd:"" help:"Refuse a waiting command."`
	Check      checkCmd      `cmd:"" help:"Say what would happen to a command line and why; run nothing."`
	Exec       execCmd       `cmd:"" help:"Judge one command and run it in place."`
	Trash      trashCmd      `cmd:"" help:"Put files into the trash, list, restore and purge them."`
	Log        logCmd        `cmd:"" help:"Show the journal of decisions."`
	Rules      rulesCmd      `cmd:"" help:"List, show, check and test rules."`
	Trust      trustCmd      `cmd:"" help:"Trust a repository's rules that run code."`
	Untrust    untrustCmd    `cmd:"" help:"Withdraw the trust in a repository's rules."`
	Grants     grantsCmd     `cmd:"" help:"List and revoke remembered answers."`
	Permit     permitCmd     `cmd:"" help:"Which commands scripts may declare."`
	Run        runCmd        `cmd:"" help:"Run a script with exactly the commands that it declares."`
	Hook       hookCmd       `cmd:"" help:"Answer an agent's hook: event on standard input, verdict on standard output."`
	Agents     agentsCmd     `cmd:"" help:"Guard the AI agents on this machine by their own hooks."`
	Mcp        mcpCmd        `cmd:"" help:"The MCP server, on standard input and output."`
	Status     statusCmd     `cmd:"" help:"What is on, what is off, and why."`
	Doctor     doctorCmd     `cmd:"" help:"Look for what is wrong; fire probes that must be denied."`
	Gc         gcCmd         `cmd:"" help:"Remove what ended requests and killed commands left (the monitor does, too)."`
	Which      whichCmd      `cmd:"" help:"Print the real command behind a shim."`
	Uninstall  uninstallCmd  `cmd:"" help:"Take safeshell out of shells, agents and your home directory."`
	Completion completionCmd `cmd:"" help:"Print the completion script for a shell."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" passthrough:""`
	Version    versionCmd    `cmd:"" help:"Print the version, and what this program was built from and with."`
}

// app is what the commands share.
type app struct {
	p     shims.Process
	out   io.Writer
	err   io.Writer
	paths config.Paths
	g     *gate.Gate
}

// exitError carries an exit code whose message, if any, was printed already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usageError is a mistake in the call: exit 2.
type usageError struct{ error }

// Run parses the command line, runs the command and returns the exit code.
func Run(p shims.Process) (code int) {
	a := &app{p: p, out: p.Stdout, err: p.Stderr}
	args := p.Argv[1:]
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if args[0] == "help" { // as git and others have it
		args = append(slices.Clone(args[1:]), "--help")
	}
	exited := -1
	parser, err := newParser(p.Stdout, p.Stderr, func(c int) { exited = c; panic(exitPanic{}) })
	if err != nil {
		return a.fail(err)
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(exitPanic); !ok {
				panic(r)
			}
			code = exited
		}
	}()
	ctx, err := parser.Parse(args)
	if output := (outputError{}); errors.As(err, &output) {
		return a.fail(a.printed(output.error))
	}
	if err != nil {
		a.note("safeshell: %s", usageText(err))
		fmt.Fprintf(a.err, "See `safeshell %s--help`.\n", commandPrefix(parser.Model.Node, args))
		return shims.CodeUsage
	}
	start := time.Now()
	if name, _, _ := strings.Cut(ctx.Command(), " "); !slices.Contains(asIs, name) {
		a.upgraded()
	}
	code = a.fail(ctx.Run(a))
	if a.paths.Home != "" {
		a.diagnostics(io.Discard).Debug("Command", "args", script.Quote(args), "code", code, "took", time.Since(start))
	}
	return code
}

// newParser reads the grammar, and joins to each command what the manual says of it.
func newParser(stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	k, err := kong.New(&grammar{},
		kong.Name("safeshell"),
		kong.Description("A safety layer between AI coding agents and your shell: commands are judged by rules and allowed, redirected to a trash, held for your approval, or refused."),
		kong.Vars{"version": "safeshell " + Version},
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Help(printHelp),
		kong.KindMapper(reflect.String, kong.MapperFunc(plainString)),
		kong.UsageOnError(),
	)
	if err == nil {
		document(k.Model.Node)
	}
	return k, err
}

// exitPanic unwinds kong's own exits (--help, --version).
type exitPanic struct{}

// fail prints an error and returns the exit code for it.
func (a *app) fail(err error) int {
	var code exitError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errBrokenPipe):
		return 0
	case errors.As(err, &usage):
		a.note("safeshell: %v", err)
		return shims.CodeUsage
	}
	front.Complain(a.err, err)
	return 1
}

// open locates the files and makes the gate.
func (a *app) open() error {
	if a.g != nil {
		return nil
	}
	paths, err := config.Locate(a.getenv)
	if err != nil {
		return err
	}
	a.paths = paths
	a.g = gate.New(gate.Env{Environ: a.p.Environ, Paths: paths, Binary: self(), Stderr: a.err})
	return nil
}

func (a *app) getenv(name string) string {
	return gate.Env{Environ: a.p.Environ}.Getenv(name)
}

func (a *app) lookup(name string) (string, bool) {
	return gate.Env{Environ: a.p.Environ}.Lookup(name)
}

// self is the absolute path of this binary.
func self() string { return shims.Executable() }

// errBrokenPipe is a reader that went away: a quiet success, as for any filter.
var errBrokenPipe = errors.New("broken pipe")

// printf writes a result to stdout.
func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format, args...)
	return a.printed(err)
}

// printed is the error of a write to stdout.
func (a *app) printed(err error) error {
	if err != nil && front.IsBrokenPipe(err) {
		return errBrokenPipe
	}
	return err
}

// note writes a line for a person to stderr. Texts and errors among the
// arguments are made visible.
func (a *app) note(format string, args ...any) {
	front.Note(a.err, format, args...)
}

// printJSON writes one of a list as JSON on a line that is fit for a terminal.
func (a *app) printJSON(v any) error { return a.printed(jsonLine(a.out, v)) }

func jsonLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(spool.VisibleJSON(b), '\n'))
	return err
}

// visible makes text safe to show on one line of a terminal.
func visible(s string) string { return spool.Visible(s) }

// dir is the working directory; "" when it is gone.
func (a *app) dir() string { return front.Dir() }
