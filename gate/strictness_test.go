package gate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/eval"
	"safeshell/script"
)

// corpusLines are the commands of the corpus.
func corpusLines(t *testing.T) (out []string) {
	files, _ := filepath.Glob("../testdata/corpus/*.tsv")
	for _, f := range files {
		fh, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := eval.ReadCorpus(fh, f)
		fh.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			out = append(out, l.Command)
		}
	}
	return out
}

// outcomes are how strict each layer is about a line, and what it says.
func (w *world) outcomes(line string) map[string]string {
	out := map[string]string{}
	add := func(name string, req Request) {
		v := w.gate().Judge(context.Background(), req)
		level := "0 runs"
		switch {
		case v.Kind == Replace:
			level = "1 replaced"
		case v.Kind == AskAgent || v.Kind == Stop && v.Action == eval.RequireApproval || strings.Contains(v.Text, "NO MONITOR"):
			level = "2 asked"
		case v.Kind == Stop:
			level = "3 denied"
		}
		out[name] = level
	}
	for _, l := range []Layer{Check, Wrapper, Hook, MCP} {
		req := w.line(line)
		req.Layer, req.Quiet = l, true
		add(string(l), req)
		if l == Hook {
			req.ViaAgent = true
			add("hook that lets its agent ask", req)
		}
	}
	a := script.Parse(line, script.Options{Dialect: script.Bash, Dir: w.dir})
	if len(a.Commands) == 0 || len(a.Unknown) > 0 {
		return out
	}
	if argv, ok := knownArgv(a.Commands[0]); ok {
		for _, l := range []Layer{Shim, Exec, Builtin} {
			req := w.argv(argv...)
			req.Layer = l
			add(string(l), req)
		}
	}
	return out
}

// TestAddedRulesInEveryLayer adds rules: no layer becomes milder about any line.
func TestAddedRulesInEveryLayer(t *testing.T) {
	lines := corpusLines(t)
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	w := newWorld(t)
	w.write(w.paths.Config, "approval: {via: agent}\n")
	for range 60 {
		line := lines[rnd.IntN(len(lines))]
		w.write(w.paths.Rules, "rules: []\n")
		was := w.outcomes(line)
		command := "*"
		if a := script.Parse(line, script.Options{Dir: w.dir}); len(a.Commands) > 0 {
			if argv, ok := knownArgv(a.Commands[rnd.IntN(len(a.Commands))]); ok && !strings.ContainsAny(argv[0], "/ \t\n") && argv[0] != "" {
				command = argv[0]
			}
		}
		actions := []string{"redirect, redirect_to: 'true $ARGS'", "require_approval", "deny, allow_override: true", "deny", "allow"}
		rule := fmt.Sprintf("rules:\n- {name: added, commands: [%q], action: %s, message: m}\n", command, actions[rnd.IntN(len(actions))])
		w.write(w.paths.Rules, rule)
		for layer, is := range w.outcomes(line) {
			if is < was[layer] {
				t.Errorf("%s: %s became %s with\n%s%s", layer, was[layer], is, rule, line)
			}
		}
	}
}

// A command that is asked about and redirected is redirected once it is allowed.
func TestRedirectAfterYes(t *testing.T) {
	w := newWorld(t)
	w.write(w.paths.Rules, "rules:\n- {name: ask-rm, commands: [rm], action: require_approval, message: m}\n- {name: no-sudo, commands: [sudo], action: redirect, redirect_to: 'echo $ARGS', message: m}\n")
	w.answer(1, "")
	if v := w.gate().Judge(context.Background(), w.argv("rm", "-f", "x")); v.Kind != Replace || !v.Trash || strings.Join(v.Argv, " ") != "-f x" {
		t.Errorf("argv: %v %q", v.Kind, v.Argv)
	}
	if v := w.gate().Judge(context.Background(), w.line("rm x")); v.Kind != Replace || !strings.Contains(v.Line, "trash put x") {
		t.Errorf("line: %v %q", v.Kind, v.Line)
	}
	if v := w.gate().Judge(context.Background(), w.argv("sudo", "rm", "x")); v.Kind != Replace || v.Trash || strings.Join(v.Argv, " ") != "echo rm x" || len(v.Met) != 2 {
		t.Errorf("the outer redirect is undone by the inner one, or nobody was asked about that: %q, %d rules met", v.Argv, len(v.Met))
	}
}
