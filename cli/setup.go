package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/front"
	"safeshell/initscript"
	"safeshell/shims"
	"safeshell/spool"
)

type initCmd struct {
	Script string `arg:"" optional:"" complete:"script" help:"\"-\" prints the script for eval \"$(safeshell init -)\"." placeholder:"-"`
	Shell  string `complete:"shells" help:"The shell to print for: bash, zsh, fish, sh or pwsh (default: the one that calls)." placeholder:"S"`
	Yes    bool   `help:"Do not ask." short:"y"`
	Undo   bool   `help:"Take safeshell out of the start-up files again, byte for byte."`

	agentsAlone bool // the answer: commits on protected branches are refused to agents alone
}

func (c *initCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	switch {
	case c.Script == "-" && c.Undo:
		return usageError{errors.New("init - prints a script and undoes nothing; to undo: safeshell init --undo")}
	case c.Script == "-":
		return c.print(a)
	case c.Script != "":
		return usageError{fmt.Errorf("init takes \"-\" or nothing, not %q", c.Script)}
	case c.Shell != "":
		return usageError{fmt.Errorf("--shell says what to print the script for: safeshell init - --shell %s", visible(c.Shell))}
	case c.Undo:
		return c.undo(a)
	}
	return c.setUp(a)
}

func (a *app) initParams() initscript.Params { return front.InitParams(a.g) }

func (a *app) initEnv() initscript.Env {
	return initscript.System(a.p.Environ, a.initParams())
}

// print writes the script for eval, and brings the shims up to date first, so
// that the shell that evaluates it is really guarded.
func (c *initCmd) print(a *app) error {
	shell := c.Shell
	if shell == "" {
		shell = initscript.Detect(a.getenv, front.ParentName())
	}
	if err := a.prepare(); err != nil {
		a.fail(err)
	}
	line, note, err := initscript.Line(shell, a.initParams())
	if err != nil {
		return usageError{err}
	}
	if note != "" {
		a.note("%s", note)
	}
	return a.printf("%s", line)
}

// prepare makes the directories and links that the script needs, if they are
// not there yet.
func (a *app) prepare() error {
	if err := a.makeHome(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(a.paths.Shims, "safeshell-wrapper")); err == nil {
		return nil
	}
	_, err := a.refresh()
	return err
}

// makeHome makes ~/.safeshell and what is always in it.
func (a *app) makeHome() error {
	for _, d := range []string{a.paths.Home, filepath.Join(a.paths.Home, "bin"), a.paths.Shims, a.paths.Shell, a.paths.Trust, a.paths.Grants, a.paths.Cache, filepath.Dir(a.paths.Journal)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("cannot make safeshell's directory: %w", err)
		}
	}
	if err := checkPrivate(a.paths.Home); err != nil {
		return err
	}
	// Who wrote rules before anything was set up has made it by hand. Where modes
	// cannot be changed it stays readable; nothing depends on that.
	if fi, err := os.Stat(a.paths.Home); err == nil && fi.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(a.paths.Home, 0o700)
	}
	if err := a.linkBinary(); err != nil {
		return err
	}
	_, err := spool.Open(a.paths.Spool)
	return err
}

func checkPrivate(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be written by others (mode %04o); run: chmod go-w %s", dir, fi.Mode().Perm(), shellWord(dir))
	}
	return nil
}

func (c *initCmd) setUp(a *app) error {
	p := a.initParams()
	plan, err := initscript.Plan(a.initEnv(), p)
	if err != nil {
		return err
	}
	if !c.Yes {
		a.note("safeshell keeps its files in %s and adds a marked block to:", a.paths.Home)
		for _, ch := range plan {
			a.note("  %-8s %s%s", ch.Kind, ch.File, paren(ch.Note))
		}
		if err := c.ask(a); err != nil {
			return err
		}
	}
	if err := a.makeHome(); err != nil {
		return err
	}
	if c.agentsAlone {
		if err := a.protectFromAgentsAlone(); err != nil {
			return err
		}
	}
	done, setUpErr := initscript.Apply(a.initEnv(), p)
	for _, d := range done { // also what was done before an error
		if err := a.printf("%-8s %s%s\n", d.Kind, visible(d.File), visible(paren(d.Note))); err != nil {
			return err
		}
	}
	if setUpErr != nil && len(done) > 0 {
		setUpErr = errors.Join(errors.New("not all of it could be set up; mend what is named, then run again: safeshell init"), setUpErr)
	}
	ch, err := a.refresh() // what is set up already needs them
	if err = errors.Join(setUpErr, err); err != nil {
		return err
	}
	if err := a.printf("shims: %d created, %d removed, %d unchanged\n", len(ch.Created), len(ch.Removed), len(ch.Unchanged)); err != nil {
		return err
	}
	a.note("\nOpen a new shell, or run: %s\nThen, in another terminal: safeshell watch\nTo see that it works: safeshell doctor", a.evalLine())
	return nil
}

// evalLine is what sets the open shell up. It names the binary by its path where
// PATH does not lead to it: that is so until the shims are in PATH.
func (a *app) evalLine() string {
	name := "safeshell"
	if _, err := exec.LookPath(name); err != nil {
		name = shellWord(self())
	}
	switch initscript.Detect(a.getenv, front.ParentName()) {
	case "fish":
		return name + " init - | source"
	case "pwsh":
		return name + " init - --shell pwsh | Out-String | Invoke-Expression"
	}
	return "eval \"$(" + name + " init -)\""
}

func paren(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func (c *initCmd) undo(a *app) error {
	if a.g.Caller().Agent != "" {
		if err := a.mustBeHuman("taking safeshell out of the start-up files"); err != nil {
			return err
		}
	}
	if !c.Yes {
		if err := a.confirm("Take safeshell out of the start-up files?"); err != nil {
			return err
		}
	}
	done, undoErr := initscript.Undo(a.initEnv(), a.initParams())
	for _, d := range done { // also what was done before an error
		if err := a.printf("%-8s %s%s\n", d.Kind, visible(d.File), visible(paren(d.Note))); err != nil {
			return err
		}
	}
	left := slices.ContainsFunc(done, func(d initscript.Change) bool { return d.Kind == initscript.Skip })
	if left || undoErr != nil {
		return errors.Join(errors.New("not all of it could be taken out; mend what is named, then run again: safeshell init --undo"), undoErr)
	}
	a.note("Shells that are open keep the shims in PATH until they are closed.")
	if _, err := os.Lstat(a.paths.Home); err == nil {
		a.note("Your rules, journal and remembered answers stay in %s; the trash stays where it is.", a.paths.Home)
	}
	return nil
}

// confirm asks the person at the terminal; without one it refuses.
func (a *app) confirm(question string) error {
	_, err := a.choice(question, "y", "")
	return err
}

// choice asks a question to which yes, or the letter other, are answers; other
// reports the second. Anything else is an error.
func (a *app) choice(question, options, letter string) (other bool, err error) {
	if why := a.g.NotHuman(); why != "" {
		return false, fmt.Errorf("nothing was changed: %q needs an answer, but %s; add --yes to go on without a question", question, why)
	}
	fmt.Fprintf(a.err, "%s [%s/N] ", question, options)
	line, err := bufio.NewReader(a.p.Stdin).ReadString('\n')
	switch answer := strings.ToLower(strings.TrimSpace(line)); {
	case answer == "y" || answer == "yes":
		return false, nil
	case answer != "" && answer == letter:
		return true, nil
	}
	if err != nil {
		fmt.Fprintln(a.err)
	}
	return false, errors.New("nothing was changed")
}

type refreshCmd struct {
	Quiet   bool `help:"Print only what needs to be looked at." short:"q"`
	Verbose bool `help:"Also what is unchanged." short:"v"`
	Added   bool `help:"Only make the shims of what came into PATH since; take none away."`
	JSON    bool `help:"Print one JSON object." name:"json"`
}

// refreshed is what refresh did, by the names of commands; written are files
// that shells read when they start.
type refreshed struct {
	Created   []string `json:"created"`
	Removed   []string `json:"removed"`
	Unchanged []string `json:"unchanged"`
	Foreign   []string `json:"foreign"`
	Written   []string `json:"written"`
}

func (c *refreshCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if c.Added {
		return c.print(a, shims.Changes{Created: shims.Follow(a.p, a.g)}, nil)
	}
	if err := a.makeHome(); err != nil {
		return err
	}
	_, problems := a.g.Rules()
	for _, p := range problems {
		a.note("safeshell: %s", visible(p.String()))
	}
	if err := a.g.ConfigError(); err != nil {
		a.note("safeshell: %s", a.paths.Unreadable(err))
	}
	ch, err := a.refresh()
	if err != nil {
		return err
	}
	for _, n := range ch.Foreign {
		a.note("safeshell: %s is not safeshell's and was left alone, so %s has no shim; move it away and run `safeshell refresh` again", filepath.Join(a.paths.Shims, n), visible(n))
	}
	written, err := initscript.RefreshStatic(a.initParams())
	if err != nil {
		return errors.Join(c.print(a, ch, nil), fmt.Errorf("the shims match the rules, but not what shells read when they start: %w", err))
	}
	if len(written) > 0 {
		a.note("safeshell: open shells go by the builtins of before until you run in them: %s", a.evalLine())
	}
	a.sweepOld()
	return c.print(a, ch, written)
}

// print says what changed, and how much did not.
func (c *refreshCmd) print(a *app, ch shims.Changes, written []string) error {
	if c.JSON {
		list := func(names []string) []string { return append([]string{}, names...) }
		return a.encode(refreshed{list(ch.Created), list(ch.Removed), list(ch.Unchanged), list(ch.Foreign), list(written)})
	}
	if c.Quiet {
		return nil
	}
	unchanged := ch.Unchanged
	if !c.Verbose {
		unchanged = nil
	}
	for _, g := range []struct {
		word  string
		names []string
	}{{"created", ch.Created}, {"removed", ch.Removed}, {"unchanged", unchanged}, {"written", written}} {
		for _, n := range g.names {
			if err := a.printf("%-9s %s\n", g.word, visible(n)); err != nil {
				return err
			}
		}
	}
	return a.printf("%d created, %d removed, %d unchanged\n", len(ch.Created), len(ch.Removed), len(ch.Unchanged))
}

// refresh makes the shims match the rules in force here.
func (a *app) refresh() (shims.Changes, error) {
	r, _ := a.g.Rules()
	var want shims.Wanted
	for _, n := range r.Names(a.dir()) {
		if n.FromUser {
			want.Always = append(want.Always, n.Name)
		} else {
			want.Installed = append(want.Installed, n.Name)
		}
	}
	link := shims.Link(a.paths.Home)
	if err := shims.RefreshShells(a.paths.Shell, link); err != nil {
		return shims.Changes{}, err
	}
	ch, err := shims.Refresh(a.paths.Shims, link, want, a.lookup)
	if err == nil {
		a.stamp()
	}
	return ch, err
}

type execCmd struct {
	Builtin bool     `help:"Judge a shell builtin for the init script; run nothing." hidden:""`
	Command []string `arg:"" passthrough:"partial" help:"The command and its arguments."`
}

func (c *execCmd) Run(a *app) error {
	argv := c.Command
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 || argv[0] == "" {
		return usageError{errors.New("no command given; for example: safeshell exec -- git status")}
	}
	if c.Builtin {
		return codeError(shims.JudgeBuiltin(a.p, argv))
	}
	return codeError(shims.RunExec(a.p, argv))
}

func codeError(code int) error {
	if code == 0 {
		return nil
	}
	return exitError(code)
}

type whichCmd struct {
	Name string `arg:"" complete:"shims" help:"A command."`
}

func (c *whichCmd) Run(a *app) error {
	if exe := shims.Which(c.Name, a.lookup); exe != "" {
		return a.printf("%s\n", exe)
	}
	return fmt.Errorf("%s: no such command in PATH behind the shims", visible(c.Name))
}
