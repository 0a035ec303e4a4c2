package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"safeshell/eval"
)

type rulesTestCmd struct {
	Corpus string `complete:"files" help:"Judge a file of verdict<TAB>command lines as well, as for an agent." placeholder:"FILE" type:"path"`
	Quiet  bool   `help:"Print only what fails." short:"q"`
}

func (c *rulesTestCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	var lines []eval.CorpusLine
	if c.Corpus != "" {
		var err error
		if lines, err = c.read(); err != nil {
			return err
		}
	}
	r, problems := a.g.Rules()
	for _, p := range problems {
		a.note("safeshell: %s", visible(p.String()))
	}
	rep := r.Test(a.dir())
	for _, f := range rep.Failures {
		if err := a.printf("FAIL  %s\n", visible(f)); err != nil {
			return err
		}
	}
	failed := len(rep.Failures)
	if !c.Quiet {
		for _, n := range rep.Untested {
			a.note("no example shows that rule %s ever fires; add examples: {match: [...]}", visible(n))
		}
		if err := a.printf("%d examples of %d rules, %d failed\n", rep.Examples, rep.Rules, failed); err != nil {
			return err
		}
	}
	if c.Corpus != "" {
		bad, err := c.corpus(a, lines)
		if err != nil {
			return err
		}
		failed += bad
		if !c.Quiet {
			if err := a.printf("%d corpus lines, %d failed\n", len(lines), bad); err != nil {
				return err
			}
		}
	}
	return codeIf(failed > 0)
}

// read returns the lines of a user's own corpus.
func (c *rulesTestCmd) read() ([]eval.CorpusLine, error) {
	f, err := os.Open(c.Corpus)
	if err != nil {
		return nil, c.unreadable(err)
	}
	defer f.Close()
	lines, err := eval.ReadCorpus(f, c.Corpus)
	if err != nil {
		return nil, c.unreadable(err)
	}
	if len(lines) == 0 {
		return nil, errors.New(c.Corpus + " holds no lines; write: verdict<TAB>command, with allow, redirect, ask or deny")
	}
	return lines, nil
}

func (c *rulesTestCmd) unreadable(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("--corpus %s: %w; name a file of verdict<TAB>command lines", c.Corpus, pe.Err)
	}
	return err
}

// corpus judges each line of a user's own corpus through the same gate.
func (c *rulesTestCmd) corpus(a *app, lines []eval.CorpusLine) (bad int, err error) {
	for _, l := range lines {
		got := eval.Verdict(a.judgeOnly(l.Command, eval.AI).Action)
		if l.Accepts(got) {
			continue
		}
		bad++
		if err := a.printf("FAIL  %s:%d: %s, want %s: %s\n", visible(c.Corpus), l.Line, got, strings.Join(l.Verdicts, " or "), visible(l.Command)); err != nil {
			return bad, err
		}
	}
	return bad, nil
}
