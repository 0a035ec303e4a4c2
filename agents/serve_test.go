package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden answers and the generated parts of the guides")

// A golden case: the comment names the agent on the command line (default: the
// directory) and its environment; event and outcome go in, the other files
// are what must come out.
type goldenCase struct {
	path  string
	dir   string // the directory's name
	named string
	env   map[string]string
	ar    *archive
}

func (c *goldenCase) file(name string) (string, bool) {
	for _, f := range c.ar.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

func goldenCases(t *testing.T) []*goldenCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden cases", err)
	}
	var out []*goldenCase
	for _, p := range paths {
		ar, err := readArchive(p)
		if err != nil {
			t.Fatal(err)
		}
		c := &goldenCase{path: p, dir: filepath.Base(filepath.Dir(p)), ar: ar, env: map[string]string{"HOME": "/home/u"}}
		c.named = c.dir
		for line := range strings.Lines(string(ar.Comment)) {
			line = strings.TrimSpace(line)
			if v, ok := strings.CutPrefix(line, "named: "); ok {
				c.named = v
			}
			if v, ok := strings.CutPrefix(line, "env: "); ok {
				k, v, _ := strings.Cut(v, "=")
				c.env[k] = v
			}
		}
		out = append(out, c)
	}
	return out
}

// parseOutcome reads a stub judge's verdict; ok is false when the judge must
// not be asked at all.
func (c *goldenCase) outcome(t *testing.T) (out Outcome, err error, ok bool) {
	s, ok := c.file("outcome")
	if !ok {
		return Outcome{}, nil, false
	}
	var v struct {
		Kind, Message string
		Lines         []string
	}
	if e := json.Unmarshal([]byte(s), &v); e != nil {
		t.Fatalf("%s: outcome: %v", c.path, e)
	}
	out = Outcome{Message: v.Message, Lines: v.Lines}
	switch v.Kind {
	case "pass":
	case "deny":
		out.Kind = Deny
	case "ask":
		out.Kind = Ask
	case "rewrite":
		out.Kind = Rewrite
	case "error":
		return Outcome{}, errors.New(v.Message), true
	default:
		t.Fatalf("%s: outcome %q", c.path, v.Kind)
	}
	return out, nil, true
}

// countingWriter counts writes: an answer must be one.
type countingWriter struct {
	bytes.Buffer
	writes int
}

func (w *countingWriter) Write(p []byte) (int, error)       { w.writes++; return w.Buffer.Write(p) }
func (w *countingWriter) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

type served struct {
	reply
	call  *Call
	calls int
}

func serveCase(t *testing.T, named, event string, env map[string]string, judge func(Call) (Outcome, error)) served {
	t.Helper()
	var s served
	var stdout, stderr countingWriter
	s.code = Serve(HookOptions{
		Agent: named, Stdin: strings.NewReader(event), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(k string) string { return env[k] },
		Getwd:  func() (string, error) { return "/home/u/cwd", nil },
		Judge: func(_ context.Context, c Call) (Outcome, error) {
			s.calls++
			s.call = &c
			return judge(c)
		},
	})
	s.stdout, s.stderr = stdout.String(), stderr.String()
	if stdout.writes > 1 {
		t.Errorf("stdout was written %d times", stdout.writes)
	}
	return s
}

func callText(c *Call) string {
	if c == nil {
		return "none\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "agent: %s\nsession: %s\ndir: %s\nwait: %s\n", c.Agent, c.Session, c.Dir, c.Deadline)
	fmt.Fprintf(&b, "can: ask=%v rewrite=%v\n", c.CanAsk, c.CanRewrite)
	if c.PowerShell {
		b.WriteString("shell: powershell\n")
	}
	for _, l := range c.Lines {
		fmt.Fprintf(&b, "line: %q\n", l)
	}
	for _, f := range c.Files {
		what := []string{Read: "read", Write: "write", Edit: "edit", Delete: "delete", Search: "search"}[f.Does]
		if f.Pattern {
			what += " pattern"
		}
		if f.Does == Search {
			what += fmt.Sprintf(" %q in", f.Look)
		}
		fmt.Fprintf(&b, "%s: %s\n", what, f.Path)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range goldenCases(t) {
		seen[c.dir] = true
		t.Run(strings.TrimSuffix(strings.TrimPrefix(c.path, "testdata/"), ".txtar"), func(t *testing.T) {
			event, _ := c.file("event")
			want, wantErr, asked := c.outcome(t)
			got := serveCase(t, c.named, event, c.env, func(Call) (Outcome, error) { return want, wantErr })
			if asked != (got.calls == 1) {
				t.Fatalf("the judge was asked %d times, want %v\n%s", got.calls, asked, got.stderr)
			}
			files := map[string]string{
				"call": callText(got.call), "stdout": got.stdout, "stderr": got.stderr,
				"code": strconv.Itoa(got.code) + "\n",
			}
			if *update {
				ar := &archive{Comment: c.ar.Comment}
				for _, f := range c.ar.Files {
					if f.Name == "event" || f.Name == "outcome" {
						ar.Files = append(ar.Files, f)
					}
				}
				for _, name := range []string{"call", "stdout", "stderr", "code"} {
					ar.Files = append(ar.Files, archiveFile{Name: name, Data: []byte(files[name])})
				}
				if err := os.WriteFile(c.path, ar.format(), 0o644); err != nil {
					t.Fatal(err)
				}
			} else {
				for name, have := range files {
					if want, _ := c.file(name); want != have {
						t.Errorf("%s:\n got %q\nwant %q", name, have, want)
					}
				}
			}
			checkAnswer(t, c, want, wantErr, asked, got)
		})
	}
	for _, a := range All() {
		if a.Hook != NoHook && !seen[a.Name] {
			t.Errorf("%s has no golden cases", a.Name)
		}
	}
}

// effective is the sender whose reading of the answer counts.
func (c *goldenCase) effective(s served) string {
	agent := c.named
	if s.call != nil {
		agent = s.call.Agent
	}
	if event, _ := c.file("event"); agent == "copilot" && !strings.Contains(event, "toolName") && s.call != nil {
		return "copilot-claude"
	}
	if agent == "cursor" && c.named != "cursor" {
		return "cursor in Claude's file"
	}
	return agent
}

// checkAnswer demands that the agent, as far as its rules are known, takes the
// answer as it was meant.
func checkAnswer(t *testing.T, c *goldenCase, want Outcome, wantErr error, asked bool, got served) {
	t.Helper()
	agent := c.effective(got)
	if err := strictAnswer(agent, got.reply); err != nil {
		t.Errorf("%s would not accept this: %v\n%q %q %d", agent, err, got.stdout, got.stderr, got.code)
	}
	h := hear(agent, got.reply)
	switch {
	case !asked && strings.HasPrefix(filepath.Base(c.path), "unknown") || filepath.Base(c.path) == "post-event.txtar" ||
		filepath.Base(c.path) == "truncated-unknown-tool.txtar":
		if h.kind != Pass || got.code != 0 {
			t.Errorf("an event that is not ours must pass, got %+v", h)
		}
	case !asked || wantErr != nil:
		if h.kind != Deny {
			t.Errorf("a failure must block, got %+v", h)
		}
	case want.Kind == Pass:
		if h.kind != Pass || got.code != 0 {
			t.Errorf("allow must leave the call alone, got %+v", h)
		}
		for _, word := range []string{`"allow"`, "permissionDecision"} {
			if strings.Contains(got.stdout, word) && agent != "cursor" {
				t.Errorf("an allow must not overrule the agent: %s", got.stdout)
			}
		}
	case want.Kind == Deny:
		if h.kind != Deny || strings.TrimSpace(h.text) == "" {
			t.Errorf("not denied: %+v", h)
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(want.Message), "\n"); !strings.Contains(h.text, first) {
			t.Errorf("the reason is lost: %+v", h)
		}
	case want.Kind == Ask && got.call.CanAsk:
		if h.kind != Ask || h.text == "" {
			t.Errorf("not asked: %+v", h)
		}
	case want.Kind == Ask:
		if h.kind != Deny || h.text == "" {
			t.Errorf("a question nobody sees must deny: %+v", h)
		}
	case want.Kind == Rewrite && len(want.Lines) != len(got.call.Lines):
		if h.kind != Deny {
			t.Errorf("a replacement that does not fit must deny: %+v", h)
		}
	case want.Kind == Rewrite && got.call.CanRewrite:
		if h.kind != Rewrite {
			t.Errorf("not rewritten: %+v", h)
		}
		var back any
		if agent != "opencode" && agent != "kilo" && agent != "pi" {
			if err := json.Unmarshal([]byte(h.text), &back); err != nil {
				t.Errorf("the replacement is no JSON: %v", err)
			}
		}
	case want.Kind == Rewrite:
		if h.kind != Deny || !strings.Contains(h.text, want.Lines[0]) {
			t.Errorf("a denial must name the command to use: %+v", h)
		}
	}
}

// strictAnswer checks the form of an answer against what is documented: one
// JSON object with known keys only, or nothing.
func strictAnswer(agent string, r reply) error {
	if r.code != 0 && r.code != 2 {
		return fmt.Errorf("exit code %d", r.code)
	}
	if r.code == 2 && (strings.TrimSpace(r.stderr) == "" || r.stdout != "") {
		return errors.New("exit 2 needs a text on stderr and nothing on stdout")
	}
	if r.code == 0 && r.stderr != "" {
		return errors.New("text on stderr")
	}
	if r.stdout == "" {
		return nil
	}
	if !strings.HasSuffix(r.stdout, "}\n") || strings.Count(r.stdout, "\n") != 1+strings.Count(inputOf(r.stdout), "\n") {
		return errors.New("not one line")
	}
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	var top map[string]json.RawMessage
	if err := dec.Decode(&top); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more than one document")
	}
	allowed := map[string][]string{
		"claude-code": {"hookSpecificOutput", "systemMessage"}, "copilot-claude": {"hookSpecificOutput"}, "vscode": {"hookSpecificOutput"},
		"qwen": {"hookSpecificOutput"}, "droid": {"hookSpecificOutput"}, "codex": {"hookSpecificOutput", "systemMessage"},
		"copilot":  {"permissionDecision", "permissionDecisionReason", "modifiedArgs"},
		"cursor":   {"permission", "user_message", "agent_message", "updated_input"},
		"gemini":   {"decision", "reason", "hookSpecificOutput", "systemMessage"},
		"opencode": {"command", "ask"}, "kilo": {"command", "ask"}, "pi": {"command", "ask"}, "amp": {"command", "ask"},
		"cline": {"cancel", "errorMessage", "overrideInput"}, "cline-vscode": {"cancel", "errorMessage"},
		"devin": {"decision", "reason", "hookSpecificOutput"}, "goose": {"decision", "reason"},
		"crush": {"version", "decision", "reason", "updated_input"},
		"grok":  {"decision", "reason"}, "antigravity": {"decision", "reason"},
	}
	keys, ok := allowed[agent]
	if !ok {
		return errors.New("this agent reads exit codes only")
	}
	for k, v := range top {
		if !contains(keys, k) {
			return fmt.Errorf("unknown key %q", k)
		}
		if (k == "reason" || strings.HasSuffix(k, "essage") || k == "permissionDecisionReason") && string(v) == `""` {
			return fmt.Errorf("%s is empty", k)
		}
	}
	if len(top) == 0 && agent != "cline" && agent != "cline-vscode" {
		return errors.New("an empty object")
	}
	if raw, ok := top["hookSpecificOutput"]; ok {
		var h map[string]json.RawMessage
		if err := json.Unmarshal(raw, &h); err != nil {
			return err
		}
		inner := []string{"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"}
		if agent == "claude-code" {
			inner = append(inner, "additionalContext")
		}
		event := `"PreToolUse"`
		if agent == "gemini" {
			inner, event = []string{"hookEventName", "tool_input"}, `"BeforeTool"`
		}
		for k := range h {
			if !contains(inner, k) {
				return fmt.Errorf("unknown key hookSpecificOutput.%s", k)
			}
		}
		if string(h["hookEventName"]) != event {
			return fmt.Errorf("hookEventName is %s", h["hookEventName"])
		}
		_, input := h["updatedInput"]
		switch decision := string(h["permissionDecision"]); {
		case agent == "codex" && decision != `"deny"` && !(decision == `"allow"` && input):
			return fmt.Errorf("codex does not know %s here", decision)
		case agent != "codex" && decision == `"allow"`:
			return errors.New("allow overrules the agent's own rules")
		case decision == `"deny"` && input:
			return errors.New("deny with an input")
		}
	}
	return nil
}

// inputOf is the part of an answer that repeats the sender's own bytes and so
// may hold line ends.
func inputOf(s string) string {
	if i := strings.Index(s, `"updatedInput":`); i >= 0 {
		return strings.TrimSuffix(s[i:], "\n")
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
