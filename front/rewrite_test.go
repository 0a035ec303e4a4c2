package front

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"safeshell/agents"
	"safeshell/eval"
	"safeshell/gate"
	"safeshell/script"
)

// What a rewrite must be: the same text behind a PATH that leads to the shims, but
// for words that no PATH leads to a shim, which become its path; the same commands
// in the analysis but for those; and, run by a real shell, the same arguments for
// every program, rm being the shim.

// rewritten judges a text as the hooks do. ok is false when it is not rewritten.
func (l *lab) rewritten(text string) (line string, v gate.Verdict, ok bool) {
	v = l.gate.Judge(context.Background(), gate.Request{
		Layer: gate.Hook, Dir: l.work, Line: text, Dialect: script.AnyDialect,
		Agent: "tester", Context: eval.AI, Quiet: true, PlainWords: l.plainWords,
	})
	return v.Line, v, v.Kind == gate.Replace
}

// checkRewrite returns what is wrong with the rewriting of a text.
func (l *lab) checkRewrite(text string, shells ...string) (rewrote bool, err error) {
	line, v, ok := l.rewritten(text)
	if !ok {
		return false, nil
	}
	changed, err := l.sameBytes(text, line, v)
	if err != nil {
		return true, err
	}
	if err := l.sameCommands(text, line, v, changed); err != nil {
		return true, err
	}
	// An agent that cannot be made to run it is told to, and must not be told again.
	// (Behind xargs self-protection stops every path of ours.)
	if again, v, ok := l.rewritten(line); ok || v.Kind == gate.Stop && !strings.Contains(line, "xargs sudo") {
		return true, fmt.Errorf("became %q, which is not left alone: %q %s", line, again, v.Message)
	}
	for _, s := range shells {
		if l.shell[s] == "" {
			continue
		}
		if err := l.sameRuns(s, text, line, 3); err != nil {
			return true, fmt.Errorf("%s: %w", s, err)
		}
	}
	return true, nil
}

// put is the shim's path, and first the text that puts the shims first in PATH.
func (l *lab) put(text string) string {
	if !strings.Contains(text, "HOME") {
		return "~/.safeshell/shims/rm"
	}
	return script.Quote([]string{filepath.Join(l.paths.Shims, "rm")})
}

func (l *lab) first() string { return "PATH=" + script.Quote([]string{l.paths.Shims}) + ":$PATH; " }

// heads are the words that are redirected, in the order of the text.
func heads(v gate.Verdict) []script.Span {
	var out []script.Span
	for _, j := range v.Commands {
		if j.Decision.Action == eval.Redirect && len(j.Command.Argv) > 0 && !j.Command.Nested {
			if s := j.Command.Argv[0].Span; !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b script.Span) int { return a.Start - b.Start })
	return out
}

// asWritten cuts off what stands in front of a rewritten text, never to run: the
// commands whose word has changed, as they were.
func asWritten(text, line string, v gate.Verdict) (rest string, was []string) {
	rest = line
	for found := true; found; {
		found = false
		for _, j := range v.Commands {
			s := j.Command.Span
			if cut, is := strings.CutPrefix(rest, "false && "+text[s.Start:s.End]+"; "); is && !j.Command.Nested {
				rest, was, found = cut, append(was, text[s.Start:s.End]), true
			}
		}
	}
	return rest, was
}

// sameBytes demands that only redirected words have changed, and returns which.
func (l *lab) sameBytes(text, line string, v gate.Verdict) (changed []script.Span, err error) {
	rest, first := strings.CutPrefix(line, l.first())
	rest, was := asWritten(text, rest, v)
	at := 0
	for _, s := range heads(v) {
		if s.Start < at {
			return nil, fmt.Errorf("the redirected words %v overlap", heads(v))
		}
		if now, is := strings.CutPrefix(rest, text[at:s.Start]+l.put(text)); is {
			rest, at, changed = now, s.End, append(changed, s)
		} else if !first {
			return nil, fmt.Errorf("became %q: at %q there should be %q", line, rest, text[at:s.Start]+l.put(text))
		}
	}
	if rest != text[at:] {
		return nil, fmt.Errorf("became %q: the end should be %q", line, text[at:])
	}
	for _, s := range changed {
		if !slices.ContainsFunc(was, func(w string) bool { return strings.Contains(w, text[s.Start:s.End]) }) {
			return nil, fmt.Errorf("became %q: an agent's rule about %q finds it no more", line, text[s.Start:s.End])
		}
	}
	return changed, nil
}

// sameCommands analyses both texts: each command that was found before must be
// found again, and no other. How much is known of a value may differ: it depends
// on what the analysis knows of the programs around it.
func (l *lab) sameCommands(text, line string, v gate.Verdict, moved []script.Span) error {
	instead := []script.Word{script.Lit(filepath.Join(l.paths.Shims, "rm"))}
	var want, got []script.Command
	for _, j := range v.Commands {
		c := j.Command
		if !c.Nested {
			var argv []script.Word
			for _, w := range c.Argv {
				if slices.Contains(moved, w.Span) {
					argv = append(argv, instead...)
				} else {
					argv = append(argv, w)
				}
			}
			c.Argv = argv
		}
		want = append(want, c)
	}
	rest, first := strings.CutPrefix(line, l.first())
	rest, _ = asWritten(text, rest, v)
	if first {
		rest = l.first() + rest
	}
	a := script.Parse(rest, script.Options{Dir: l.work, Lookup: gate.Env{Environ: l.env}.Lookup})
	got = append(got, a.Commands...)
	if strings.HasPrefix(line, l.first()) {
		got = slices.DeleteFunc(got, func(c script.Command) bool {
			return len(c.Argv) == 0 && len(c.Assigns) == 1 && c.Assigns[0].Name == "PATH"
		})
	}
	missing := func(in, from []script.Command) error {
		for _, c := range from {
			if !c.Guess && !slices.ContainsFunc(in, func(o script.Command) bool { return sameCommand(c, o) }) {
				return fmt.Errorf("became %q: %s\nis only in one of\n%s\n%s", line, commandText(c), commandTexts(want), commandTexts(got))
			}
		}
		return nil
	}
	if err := missing(got, want); err != nil {
		return err
	}
	if err := missing(want, got); err != nil {
		return err
	}
	if len(a.Unknown) > len(v.Unknown) {
		return fmt.Errorf("became %q, of which more is unknown: %v", line, a.Unknown)
	}
	return nil
}

func sameCommand(a, b script.Command) bool {
	if a.Remote != b.Remote || !slices.Equal(a.Via, b.Via) || len(a.Redirects) != len(b.Redirects) || len(a.Assigns) != len(b.Assigns) {
		return false
	}
	for i := range a.Redirects {
		if a.Redirects[i].Op != b.Redirects[i].Op || a.Redirects[i].Fd != b.Redirects[i].Fd {
			return false
		}
	}
	known := true
	for i := range min(len(a.Argv), len(b.Argv)) {
		s, ok := a.Argv[i].Text()
		t, ok2 := b.Argv[i].Text()
		if known = known && ok && ok2; !known {
			return true // it may be several words, or none
		}
		if s != t {
			return false
		}
	}
	return len(a.Argv) == len(b.Argv) || slices.ContainsFunc(slices.Concat(a.Argv, b.Argv), func(w script.Word) bool { return !w.Known() })
}

func commandText(c script.Command) string {
	var b strings.Builder
	for _, w := range c.Argv {
		fmt.Fprintf(&b, "%q ", w)
	}
	return fmt.Sprintf("%svia %q redirects %v", b.String(), c.Via, c.Redirects)
}

func commandTexts(cs []script.Command) string {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, "  %s\n", commandText(c))
	}
	return b.String()
}

// stays reports whether rm may be left as it is: it would remove nothing.
func stays(argv []string) bool {
	for i, a := range argv[1:] {
		switch {
		case a == "--help" || a == "--version":
			return true
		case a == "--":
			return i+2 == len(argv)
		case a == "" || a == "-" || a[0] != '-':
			return slices.Contains(argv, "--help") || slices.Contains(argv, "--version")
		}
	}
	return true
}

// sameRuns runs both texts, again where they differ: a difference made by the
// rewriting is there each time, one made by a loaded machine is not.
func (l *lab) sameRuns(shell, text, line string, tries int) error {
	var want, got []string
	for _, argv := range l.run(shell, text) {
		if argv[0] == "rm" && !stays(argv) {
			argv[0] = "shim rm"
		}
		want = append(want, fmt.Sprintf("%q", argv))
	}
	for _, argv := range l.run(shell, line) {
		// It may be left as it is, or turn out to remove nothing: rm "$@".
		if name, is := strings.CutPrefix(argv[0], "shim "); is && stays(argv) {
			argv[0] = name
		}
		got = append(got, fmt.Sprintf("%q", argv))
	}
	if want, got = inOrder(text, want), inOrder(text, got); !slices.Equal(got, want) {
		if tries > 1 {
			return l.sameRuns(shell, text, line, tries-1)
		}
		return fmt.Errorf("became %q, which runs\n  %s\ninstead of\n  %s", line, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	return nil
}

// binaries are names that safeshell may be installed under; the second one
// needs every kind of quoting.
var binaries = []string{"opt/safeshell", "it's a $HOME `x` \"d\" \\ dir!/safeshell"}

// A tableLine is one block of testdata/rewrite.txt.
type tableLine struct {
	verdict string // rewrite, ask or pass
	shells  []string
	text    string
}

func rewriteTable(t *testing.T) []tableLine {
	t.Helper()
	data, err := os.ReadFile("testdata/rewrite.txt")
	must(t, err)
	var out []tableLine
	for block := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n%\n") {
		for strings.HasPrefix(block, "## ") {
			_, block, _ = strings.Cut(block, "\n")
		}
		head, text, _ := strings.Cut(block, "\n")
		verdict, shell, only := strings.Cut(head, " ")
		shells := []string{"bash", "zsh"}
		if only {
			shells = []string{shell}
		}
		out = append(out, tableLine{verdict, shells, text})
	}
	return out
}

func TestRewriteTable(t *testing.T) {
	for i, bin := range binaries {
		l := newLab(t, bin)
		for _, row := range rewriteTable(t) {
			if i > 0 && len(row.shells) > 1 {
				row.shells = row.shells[:1] // the quoting is the same for all
			}
			// What names rm by a path names the recorder.
			text := strings.ReplaceAll(row.text, "@BIN@", l.bin)
			rewrote, err := l.checkRewrite(text, row.shells...)
			if err != nil {
				t.Errorf("%s\n%v", text, err)
			}
			_, v, _ := l.rewritten(text)
			got := "pass"
			switch {
			case rewrote:
				got = "rewrite"
			case v.Kind == gate.Stop:
				got = "ask"
			}
			if got != row.verdict {
				t.Errorf("%s\nis %q, not %q: %s", text, got, row.verdict, v.Message)
			}
		}
	}
}

func TestRewriteGenerated(t *testing.T) {
	var labs []*lab
	for _, bin := range binaries {
		labs = append(labs, newLab(t, bin))
	}
	checks := "60"
	if s := os.Getenv("REWRITE_CHECKS"); s != "" {
		checks = s
	}
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.seed": "20261121"} {
		f := flag.Lookup(name)
		if name == "rapid.seed" && f.Value.String() != "0" {
			continue // a seed that was asked for
		}
		old := f.Value.String()
		defer func() { must(t, f.Value.Set(old)) }()
		must(t, f.Value.Set(value))
	}
	n, rewrote := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := &lineGen{t: rt, left: 8}
		l := labs[g.n(len(labs))]
		g.bin = l.bin
		text := g.text()
		n++
		ok, err := l.checkRewrite(text, "bash", "zsh")
		if ok {
			rewrote++
		}
		if err != nil {
			rt.Fatalf("%s\n%v", text, err)
		}
	})
	t.Logf("%d texts, %d rewritten", n, rewrote)
	if rewrote*3 < n {
		t.Errorf("only %d of %d texts were rewritten", rewrote, n)
	}
}

// events hold @LINE@ where the command stands, as a JSON string. path leads to
// the command in the answer.
var events = []struct{ agent, event, path string }{
	{"claude-code", `{"session_id":"s","cwd":"@DIR@","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":@LINE@,"description":"d","timeout":9},"tool_use_id":"t"}`, "hookSpecificOutput.updatedInput.command"},
	{"codex", `{"session_id":"s","turn_id":"t","cwd":"@DIR@","hook_event_name":"PreToolUse","model":"m","permission_mode":"bypassPermissions","tool_name":"Bash","tool_input":{"command":@LINE@},"tool_use_id":"t"}`, "hookSpecificOutput.updatedInput.command"},
	{"copilot", `{"sessionId":"s","timestamp":1795231057816,"cwd":"@DIR@","toolName":"bash","toolArgs":{"command":@LINE@,"description":"d"}}`, "modifiedArgs.command"},
	{"vscode", `{"timestamp":"2026-11-21T03:15:39.014Z","cwd":"@DIR@","sessionId":"s","hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{"command":@LINE@,"explanation":"e","isBackground":false},"tool_use_id":"t"}`, "hookSpecificOutput.updatedInput.command"},
	{"cursor", `{"conversation_id":"c","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":@LINE@,"working_directory":"@DIR@"},"tool_use_id":"t","cwd":"@DIR@"}`, "updated_input.command"},
	{"gemini", `{"session_id":"s","cwd":"@DIR@","hook_event_name":"BeforeTool","timestamp":"2026-11-21T03:15:39.014Z","tool_name":"run_shell_command","tool_input":{"command":@LINE@}}`, "hookSpecificOutput.tool_input.command"},
	{"opencode", `{"tool":"bash","sessionID":"s","callID":"c","args":{"command":@LINE@},"cwd":"@DIR@"}`, "command"},
	{"kilo", `{"tool":"bash","sessionID":"s","callID":"c","args":{"command":@LINE@},"cwd":"@DIR@"}`, "command"},
	{"pi", `{"tool":"bash","sessionID":"s","callID":"c","args":{"command":@LINE@,"timeout":9},"cwd":"@DIR@","ui":false}`, "command"},
	{"cline", `{"clineVersion":"","taskId":"c","workspaceRoots":["@DIR@"],"hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":["ls",@LINE@]}},"preToolUse":{"toolName":"run_commands","parameters":{}}}`, "overrideInput.commands.1"},
	{"devin", `{"hook_event_name":"PreToolUse","cwd":"@DIR@","tool_name":"exec","tool_input":{"command":@LINE@},"session_id":"s","prompt_id":"p"}`, "hookSpecificOutput.updatedInput.command"},
	{"crush", `{"event":"PreToolUse","session_id":"s","cwd":"@DIR@","tool_name":"bash","tool_input":{"command":@LINE@}}`, "updated_input.command"},
}

// TestRewriteProtocols drives each protocol that rewrites with every line of the
// table: the agent is given exactly the text that the other tests have proven.
func TestRewriteProtocols(t *testing.T) {
	have := map[string]bool{}
	for _, e := range events {
		have[e.agent] = true
	}
	for _, a := range agents.All() {
		if (a.Rewrite == agents.Yes || a.Rewrite == agents.Partly) && !have[a.Name] {
			t.Errorf("%s rewrites, and has no event here", a.Name)
		}
	}
	l := newLab(t, binaries[1])
	for _, row := range rewriteTable(t) {
		if row.verdict != "rewrite" {
			continue
		}
		plain, _, ok := l.rewritten(row.text)
		if !ok {
			continue // TestRewriteTable says which
		}
		l.plainWords = true
		words, _, _ := l.rewritten(row.text)
		l.plainWords = false
		quoted, err := json.Marshal(row.text)
		must(t, err)
		for _, e := range events {
			var out, errs bytes.Buffer
			code := agents.Serve(agents.HookOptions{
				Agent: e.agent, Stdin: strings.NewReader(strings.NewReplacer("@LINE@", string(quoted), "@DIR@", l.work).Replace(e.event)),
				Stdout: &out, Stderr: &errs,
				Judge: func(ctx context.Context, call agents.Call) (agents.Outcome, error) {
					return judgeCall(ctx, l.gate, call), nil
				},
			})
			var answer any
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil || code != 0 {
				t.Errorf("%s, %q: exit %d, %v: %s%s", e.agent, row.text, code, err, out.String(), errs.String())
				continue
			}
			want := plain
			if a, _ := agents.Find(e.agent); a.PlainWords {
				want = words
			}
			if got := at(answer, e.path); got != want {
				t.Errorf("%s, %q: %s\nhas at %s\n%q, not\n%q", e.agent, row.text, out.String(), e.path, got, want)
			}
		}
	}
}

// at follows a path of keys and indexes.
func at(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			if len(key) != 1 || int(key[0]-'0') >= len(x) {
				return nil
			}
			v = x[key[0]-'0']
		default:
			return nil
		}
	}
	return v
}
