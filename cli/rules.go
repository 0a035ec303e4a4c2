package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"safeshell/eval"
	"safeshell/gate"
	"safeshell/permit"
)

// judgeOnly judges a line for somebody, in the working directory, and asks and
// runs nothing.
func (a *app) judgeOnly(line string, c eval.Context) gate.Verdict {
	dir, _ := os.Getwd()
	return a.g.Judge(context.Background(), gate.Request{Layer: gate.Check, Line: line, Dir: dir, Context: c})
}

type rulesCmd struct {
	List rulesListCmd `cmd:"" help:"List the rules in force here, and where each comes from."`
	Show rulesShowCmd `cmd:"" help:"Explain one rule."`
	Lint rulesLintCmd `cmd:"" help:"Check rules files; exit 1 if anything is wrong."`
	Test rulesTestCmd `cmd:"" help:"Run every rule's examples through the real engine."`
}

type rulesListCmd struct {
	JSON bool `help:"Print one JSON object a line." name:"json"`
}

func (c *rulesListCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	r, problems := a.g.Rules()
	for _, p := range problems {
		a.note("safeshell: %s", visible(p.String()))
	}
	for _, info := range r.List(a.dir()) {
		if c.JSON {
			if err := a.printJSON(info); err != nil {
				return err
			}
			continue
		}
		state := ""
		if info.Disabled != "" {
			state = "  (" + info.Disabled + ")"
		}
		if err := a.printf("%-32s %-16s %-9s %s%s\n", visible(info.Name), info.Action, info.Context, visible(info.Source), visible(state)); err != nil {
			return err
		}
	}
	return nil
}

// ownRules are the names in messages that no rules file holds.
var ownRules = map[string]string{
	"unanalysed-command": "What a command line would run cannot be known from its text, so an agent's is asked about; safeshell check says what could not be known.",
	"rules-unreadable":   "A rules file cannot be used and has no last good version; safeshell rules lint says what is wrong.",
	permit.Rule:          "A script declares commands that are not permitted, or calls one that it has not declared; safeshell permit list says what is permitted.",
}

type rulesShowCmd struct {
	Name string `arg:"" complete:"rules list" help:"The rule's name (rules list)."`
}

func (c *rulesShowCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	r, _ := a.g.Rules()
	text, ok := r.Show(a.dir(), c.Name)
	if own := ownRules[c.Name]; !ok && own != "" {
		return a.printf("# %s\n# built in; it is in no file and cannot be changed\n# %s\n", c.Name, own)
	}
	if !ok {
		return fmt.Errorf("no rule is called %q; see `safeshell rules list`", visible(c.Name))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")) + "\n")
	}
	return a.printf("%s", b.String())
}

type rulesLintCmd struct {
	Files []string `arg:"" optional:"" help:"Rules files (default: all that apply here)."`
}

func (c *rulesLintCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	files := c.Files
	given := len(files) > 0
	if !given {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		files = eval.RuleFiles(a.paths, dir)
	}
	bad := 0
	for _, f := range files {
		if abs, err := filepath.Abs(f); err == nil {
			f = abs
		}
		if _, err := os.Lstat(f); err != nil && !given {
			continue
		}
		problems := eval.Lint(a.paths, f)
		if len(problems) == 0 {
			a.note("%s: good", visible(f))
		}
		for _, p := range problems {
			bad++
			if err := a.printf("%s\n", visible(p.String())); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return exitError(1)
	}
	return nil
}
