package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"safeshell/eval"
)

type rulesTestCmd struct {
	Corpus string `help:"Judge a file of verdict<TAB>command lines as well, as for an agent." placeholder:"FILE" type:"path"`
	Quiet  bool   `help:"Print only what fails." short:"q"`
}

func (c *rulesTestCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
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
		n, bad, err := c.corpus(a)
		if err != nil {
			return err
		}
		failed += bad
		if !c.Quiet {
			if err := a.printf("%d corpus lines, %d failed\n", n, bad); err != nil {
				return err
			}
		}
	}
	return codeIf(failed > 0)
}

// corpus judges each line of a user's own corpus through the same gate.
func (c *rulesTestCmd) corpus(a *app) (n, bad int, err error) {
	f, err := os.Open(c.Corpus)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	lines, err := readCorpus(f, c.Corpus)
	if err != nil {
		return 0, 0, err
	}
	if len(lines) == 0 {
		return 0, 0, errors.New(c.Corpus + " holds no lines; write: verdict<TAB>command, with allow, redirect, ask or deny")
	}
	for _, l := range lines {
		got := verdictWord(a.judgeOnly(l.command, eval.AI).Action)
		if slices.Contains(l.verdicts, got) {
			continue
		}
		bad++
		if err := a.printf("FAIL  %s:%d: %s, want %s: %s\n", visible(c.Corpus), l.line, got, strings.Join(l.verdicts, " or "), visible(l.command)); err != nil {
			return len(lines), bad, err
		}
	}
	return len(lines), bad, nil
}

// corpusLine is one line of a corpus (testdata/corpus/README.md).
type corpusLine struct {
	line     int
	verdicts []string
	command  string
}

// verdictWord is an action as a corpus names it.
func verdictWord(a eval.Action) string {
	if a == eval.RequireApproval {
		return "ask"
	}
	return a.String()
}

// readCorpus reads verdict<TAB>command lines. Verdicts may be joined by |; a
// command that starts with $' is a bash ANSI-C string.
func readCorpus(r io.Reader, name string) ([]corpusLine, error) {
	var out []corpusLine
	s := bufio.NewScanner(r)
	s.Buffer(nil, 4<<20)
	for n := 1; s.Scan(); n++ {
		l := s.Text()
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		v, command, ok := strings.Cut(l, "\t")
		if !ok || command == "" {
			return nil, fmt.Errorf("%s:%d: no tab between verdict and command; write: ask<TAB>git push --force", name, n)
		}
		verdicts := strings.Split(v, "|")
		for _, w := range verdicts {
			if !slices.Contains([]string{"allow", "redirect", "ask", "deny"}, w) {
				return nil, fmt.Errorf("%s:%d: %q is no verdict; write allow, redirect, ask or deny", name, n, w)
			}
		}
		if body, ok := strings.CutPrefix(command, "$'"); ok && strings.HasSuffix(body, "'") {
			// Go's escapes are the ones in use; its quote is the double one.
			body = strings.ReplaceAll(strings.TrimSuffix(body, "'"), `\'`, `'`)
			dec, err := strconv.Unquote(`"` + strings.ReplaceAll(body, `"`, `\"`) + `"`)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: the ANSI-C string does not decode: use \\n \\t \\\\ \\' \\xHH \\uHHHH", name, n)
			}
			command = dec
		}
		out = append(out, corpusLine{n, verdicts, command})
	}
	return out, s.Err()
}
