package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	JSON bool   `help:"Print one JSON object a line." name:"json"`
	Name string `arg:"" complete:"rules" help:"The rule's name (rules list)."`
}

func (c *rulesShowCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	r, _ := a.g.Rules()
	infos := slices.DeleteFunc(r.List(a.dir()), func(i eval.RuleInfo) bool { return i.Name != c.Name })
	text, _ := r.Show(a.dir(), c.Name)
	if own := ownRules[c.Name]; len(infos) == 0 && own != "" {
		text = fmt.Sprintf("# %s\n# built in; it is in no file and cannot be changed\n# %s\n", c.Name, own)
		infos = []eval.RuleInfo{{Name: c.Name, Source: "built-in", Context: "all", Commands: []string{}, Message: own}}
	}
	if len(infos) == 0 {
		known := map[string]bool{}
		for n := range ownRules {
			known[n] = true
		}
		for _, info := range r.List(a.dir()) {
			known[info.Name] = true
		}
		hint := ""
		if like := eval.Nearest(c.Name, known); like != "" {
			hint = fmt.Sprintf(", did you mean %q", like)
		}
		return fmt.Errorf("no rule is called %q%s; see `safeshell rules list`", short(visible(c.Name)), visible(hint))
	}
	if c.JSON {
		for _, info := range infos { // several files may have one of that name
			if err := a.printJSON(struct {
				eval.RuleInfo
				Text string `json:"text"`
			}{info, text}); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(visible(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")) + "\n")
	}
	return a.printf("%s", b.String())
}

type rulesLintCmd struct {
	JSON  bool     `help:"Print one JSON object a line, one for each mistake." name:"json"`
	Files []string `arg:"" optional:"" complete:"files" help:"Rules files (default: all that apply here)."`
}

// mistake is what --json prints of one.
type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // none: it concerns the whole file
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	Warning bool   `json:"warning"` // the file can be used all the same
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
			say := func() error { return a.printf("%s\n", visible(p.String())) }
			if c.JSON {
				say = func() error {
					return a.printJSON(mistake{p.File, p.Line, p.Column, p.Message, p.Fix, p.Warning})
				}
			}
			if err := say(); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return exitError(1)
	}
	return nil
}
