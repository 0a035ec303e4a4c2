package cli

import (
	"io"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// TestManual: each command has a page that is a command's, and each example is
// a line that the grammar takes. What they do is run by the commands' own tests.
func TestManual(t *testing.T) {
	model, err := Model()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"": true}
	for _, n := range model.Leaves(false) {
		known[n.Path()], known[n.Parent.Path()] = true, true
	}
	keys := map[string]bool{}
	for _, l := range append(Files[:len(Files):len(Files)], Environment...) {
		keys[l.Key] = true
	}
	for command, page := range manual {
		if !known[command] {
			t.Errorf("the manual has a page of %q, which is no command", command)
		}
		for _, see := range strings.Fields(page.See) {
			if !known[see] {
				t.Errorf("%s: see %q, which is no command", command, see)
			}
		}
		for _, k := range strings.Fields(page.Files + " " + page.Environment) {
			if !keys[k] {
				t.Errorf("%s names %q, which no list has", command, k)
			}
		}
		if strings.Count(page.Detail, "`")%2 != 0 {
			t.Errorf("%s: a backquote is not closed", command)
		}
		for _, e := range page.Examples {
			calls := safeshellCalls(t, e.Line)
			if len(calls) == 0 {
				t.Errorf("%s: %q does not call safeshell", command, e.Line)
			}
			for _, argv := range calls {
				if argv[0] == "-c" {
					continue // a shell's, not the grammar's
				}
				k, err := newParser(io.Discard, io.Discard, func(int) {})
				if err != nil {
					t.Fatal(err)
				}
				if ctx, err := k.Parse(argv); err != nil {
					t.Errorf("%s: %q: %v", command, e.Line, err)
				} else if got := ctx.Selected().Path(); !strings.HasPrefix(got+" ", command+" ") && len(calls) == 1 && command != "" {
					t.Errorf("%s: %q is an example of %s", command, e.Line, got)
				}
			}
		}
	}
}

// safeshellCalls are the arguments of each call of safeshell in a line.
func safeshellCalls(t *testing.T, line string) (calls [][]string) {
	t.Helper()
	f, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for i, w := range call.Args {
			if w.Lit() != "safeshell" || i > 0 && call.Args[i-1].Lit() != "--" {
				continue
			}
			argv, err := expand.Fields(nil, call.Args[i+1:]...)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			calls = append(calls, argv)
			break
		}
		return true
	})
	return calls
}
