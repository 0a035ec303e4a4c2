package gate

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"safeshell/config"
	"safeshell/eval"
	"safeshell/internal/test/testdir"
	"safeshell/script"
	"safeshell/spool"
)

// testRules name commands that do not exist.
const testRules = `
rules:
- {name: no, commands: [deny-me], action: deny, message: "not this", suggest: "ls"}
- {name: soft, commands: [soften-me], action: deny, allow_override: true, message: "not this"}
- {name: ask, commands: [ask-me], action: require_approval, message: "ask first"}
- {name: ask-too, commands: [ask-me-too], action: require_approval, message: "ask as well"}
- {name: echo-instead, commands: [turn-me], action: redirect, redirect_to: "echo before $ARGS after", message: "echo does"}
`

type world struct {
	t     *testing.T
	paths config.Paths
	dir   string
	env   []string
	err   bytes.Buffer
}

func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	root := testdir.New(t)
	w := &world{t: t, dir: filepath.Join(root, "work")}
	w.env = append([]string{"HOME=" + filepath.Join(root, "home"), "PATH=/usr/bin:/bin"}, env...)
	var err error
	w.paths, err = config.Locate(Env{Environ: w.env}.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	w.paths.System = filepath.Join(root, "no-system-rules.yaml")
	for _, d := range []string{w.dir, w.paths.Home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.paths.Rules, testRules)
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) gate() *Gate {
	return New(Env{Environ: w.env, Paths: w.paths, Binary: "/opt/safe shell", Stderr: &w.err})
}

func (w *world) line(l string) Request {
	return Request{Layer: Wrapper, Line: l, Dir: w.dir, Dialect: script.Bash, Context: eval.AI, Agent: "tester", Session: "s1"}
}

func (w *world) argv(argv ...string) Request {
	return Request{Layer: Shim, Argv: argv, Dir: w.dir, Context: eval.AI, Agent: "tester", Session: "s1"}
}

// answer watches the spool and gives the same answer to everything, until the
// test ends. The function that it returns counts the questions.
func (w *world) answer(c spool.Choice, reason string) func() int {
	w.t.Helper()
	s, err := spool.Open(w.paths.Spool)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m, err := s.Watch(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			list, _ := s.Pending()
			for _, p := range list {
				_, _ = s.Answer(p.ID, c, reason, "test")
			}
			select {
			case <-m.Changes():
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		<-done
		m.Close()
	})
	return func() int {
		// The asking side journals a question before it waits.
		entries, err := spool.OpenJournal(w.paths.Journal).Read(spool.ReadOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		n := 0
		for _, e := range entries {
			if e.Kind == spool.KindRequest {
				n++
			}
		}
		return n
	}
}

func TestVerdicts(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	for _, c := range []struct {
		req  Request
		kind Kind
		rule string
		text string // what the message holds
	}{
		{w.argv("anything", "x"), Run, "", ""},
		{w.line("anything x | cat"), Run, "", ""},
		{w.argv("deny-me"), Stop, "no", "Reason: not this\nRule: no\n\nThis operation has been intentionally prevented by SafeShell policy.\nDo not attempt to work around this restriction.\nInstead: ls\n"},
		{w.line("cd / && deny-me"), Stop, "no", "[SafeShell] BLOCKED\n"},
		{w.argv("env", "deny-me"), Stop, "no", "BLOCKED"},
		{w.argv("ask-me"), Stop, "ask", "[SafeShell] NO MONITOR\n"},
		{w.argv("soften-me"), Stop, "soft", "NO MONITOR"},
		{w.line("ask-me; deny-me"), Stop, "no", "BLOCKED"},
		{w.argv("turn-me", "a b"), Replace, "echo-instead", ""},
		{w.line("echo 'unfinished"), Stop, eval.UnanalysedCommand, "NO MONITOR"},
	} {
		v := g.Judge(context.Background(), c.req)
		if v.Kind != c.kind || v.Rule != c.rule || !strings.Contains(v.Text, c.text) {
			t.Errorf("%q %q: kind %d, rule %q, text %q; want %d, %q, %q", c.req.Argv, c.req.Line, v.Kind, v.Rule, v.Text, c.kind, c.rule, c.text)
		}
	}
}

func TestRedirects(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	v := g.Judge(context.Background(), w.argv("turn-me", "a b", "-x"))
	if got := strings.Join(v.Argv, "|"); got != "echo|before|a b|-x|after" || v.Trash {
		t.Errorf("argv: %s, trash %v", got, v.Trash)
	}
	v = g.Judge(context.Background(), w.argv("rm", "-f", "x"))
	if got := strings.Join(v.Argv, "|"); got != "-f|x" || !v.Trash {
		t.Errorf("rm: %s, trash %v", got, v.Trash)
	}
	v = g.Judge(context.Background(), w.argv("sudo", "-u", "me", "rm", "-f", "x"))
	if got := strings.Join(v.Argv, "|"); got != "sudo|-u|me|/opt/safe shell|trash|put|-f|x" || v.Trash {
		t.Errorf("sudo rm: %s, trash %v", got, v.Trash)
	}
	for line, want := range map[string]string{
		"turn-me 'a b' -x && ls":          "false && turn-me 'a b' -x; echo before 'a b' -x after && ls",
		"ls; turn-me >out 2>&1 # turn-me": "false && turn-me; ls; echo before after >out 2>&1 # turn-me",
		"rm -rf build && ls":              "false && rm -rf build; '/opt/safe shell' trash put -rf build && ls",
		"rm -rf \"$DIR\" *.o":             "false && rm -rf \"$DIR\" *.o; '/opt/safe shell' trash put -rf \"$DIR\" *.o",
		"echo 'rm x'":                     "",
	} {
		req := w.line(line)
		req.Layer = Hook
		if v := g.Judge(context.Background(), req); v.Line != want || v.Kind == Stop {
			t.Errorf("%s: %q, kind %d, want %q", line, v.Line, v.Kind, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	w := newWorld(t)
	asked := w.answer(spool.Once, "")
	g := w.gate()
	for i := 1; i <= 2; i++ {
		v := g.Judge(context.Background(), w.argv("ask-me", "now"))
		if v.Kind != Run || asked() != i {
			t.Errorf("try %d: kind %d, asked %d times: %s", i, v.Kind, asked(), v.Text)
		}
	}
	if s := w.err.String(); !strings.Contains(s, "[SafeShell] APPROVAL REQUIRED\nReason: ask first\nRule: ask\nRequest: ") {
		t.Errorf("while waiting: %q", s)
	}
}

func TestRefusal(t *testing.T) {
	w := newWorld(t)
	w.answer(spool.Refuse, "use the other\none")
	v := w.gate().Judge(context.Background(), w.argv("ask-me"))
	if v.Kind != Stop || !strings.HasPrefix(v.Text, "[SafeShell] USER DENIED\nReason: use the other") || strings.Count(v.Text, "Reason") != 1 {
		t.Errorf("%q", v.Text)
	}
}

// A remembered answer is bound to rule, exact argv and directory; for a
// session also to that.
func TestRemembered(t *testing.T) {
	for _, choice := range []spool.Choice{spool.Session, spool.Always} {
		w := newWorld(t)
		asked := w.answer(choice, "")
		other := w.argv("ask-me", "a")
		other.Session = "s2"
		elsewhere := w.argv("ask-me", "a")
		elsewhere.Dir = w.paths.Home
		for _, c := range []struct {
			what string
			req  Request
			want int // questions so far
		}{
			{"first", w.argv("ask-me", "a"), 1},
			{"the same", w.argv("ask-me", "a"), 1},
			{"other arguments", w.argv("ask-me", "b"), 2},
			{"another directory", elsewhere, 3},
			{"another session", other, map[spool.Choice]int{spool.Session: 4, spool.Always: 3}[choice]},
		} {
			v := w.gate().Judge(context.Background(), c.req)
			if v.Kind != Run || asked() != c.want {
				t.Errorf("%v, %s: kind %d, asked %d times, want %d", choice, c.what, v.Kind, asked(), c.want)
			}
		}
	}
}

// What is answered above passes below, once, and only for the same commands.
func TestAskedOnce(t *testing.T) {
	w := newWorld(t)
	asked := w.answer(spool.Once, "")
	judge := func(what string, req Request, want int) {
		t.Helper()
		if v := w.gate().Judge(context.Background(), req); v.Kind != Run || asked() != want {
			t.Errorf("%s: kind %d, asked %d times, want %d", what, v.Kind, asked(), want)
		}
	}
	hook := w.line("ask-me a && ask-me-too b")
	hook.Layer = Hook
	judge("hook", hook, 1)
	judge("wrapper, with the agent's own text around it", w.line("true && eval 'ask-me a && ask-me-too b' < /dev/null"), 1)
	judge("shim", w.argv("ask-me", "a"), 1)
	judge("shim", w.argv("ask-me-too", "b"), 1)
	judge("again", w.argv("ask-me", "a"), 2)

	judge("hook", hook, 3)
	judge("the shims alone", w.argv("ask-me", "a"), 3)
	judge("another command", w.argv("ask-me", "c"), 4)
	judge("a wrapper line with more than was asked", w.line("ask-me-too b; ask-me z"), 5)
}

func TestTimeoutAndLateAnswer(t *testing.T) {
	w := newWorld(t)
	w.write(w.paths.Config, "approval: {timeout_seconds: 1}\n")
	s, err := spool.Open(w.paths.Spool)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	v := w.gate().Judge(context.Background(), w.argv("ask-me"))
	if v.Kind != Stop || !strings.HasPrefix(v.Text, "[SafeShell] APPROVAL TIMED OUT\n") || !strings.Contains(v.Text, "within 1s") {
		t.Fatalf("%q", v.Text)
	}
	list, err := s.Pending()
	if err != nil || len(list) != 1 || !list[0].Late {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := s.Answer(list[0].ID, spool.Once, "", "test"); err != nil {
		t.Fatal(err)
	}
	if v := w.gate().Judge(context.Background(), w.argv("ask-me")); v.Kind != Run {
		t.Errorf("the late answer did not serve: %q", v.Text)
	}
	if v := w.gate().Judge(context.Background(), w.argv("ask-me")); v.Kind != Stop {
		t.Error("the late answer served twice")
	}
}

func TestUnreachable(t *testing.T) {
	for _, open := range []bool{false, true} {
		w := newWorld(t)
		if open {
			w.write(w.paths.Config, "unreachable_behavior: fail_open\n")
		}
		want := map[bool]Kind{false: Stop, true: Run}[open]
		check := func(what string, v Verdict) {
			t.Helper()
			if v.Kind != want || open && len(v.Warnings) == 0 {
				t.Errorf("fail open %v, %s: kind %d, warnings %q, text %q", open, what, v.Kind, v.Warnings, v.Text)
			}
		}
		check("no monitor", w.gate().Judge(context.Background(), w.argv("ask-me")))
		if err := os.RemoveAll(w.paths.Spool); err != nil {
			t.Fatal(err)
		}
		w.write(w.paths.Spool, "not a directory")
		check("no spool", w.gate().Judge(context.Background(), w.argv("ask-me")))
		w2 := newWorld(t)
		if open {
			w2.write(w2.paths.Config, "unreachable_behavior: fail_open\n")
		}
		w2.write(w2.paths.Rules, "rules: [")
		check("no rules", w2.gate().Judge(context.Background(), w2.argv("anything")))
		if v := w2.gate().Judge(context.Background(), w2.argv("safeshell-doctor-probe")); v.Kind != Stop || v.Rule == "rules-unreadable" {
			t.Errorf("a denial stays a denial, by its own rule: %+v", v.Rule)
		}
	}
}

// check asks nobody, runs nothing, writes nothing.
func TestCheckLeavesNoTrace(t *testing.T) {
	w := newWorld(t)
	req := w.line("ask-me; rm x")
	req.Layer = Check
	if v := w.gate().Judge(context.Background(), req); v.Action != eval.RequireApproval || len(v.Commands) != 2 {
		t.Errorf("%+v", v)
	}
	for _, p := range []string{w.paths.Spool, w.paths.Journal, w.paths.Grants} {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s was made", p)
		}
	}
}

func TestJournal(t *testing.T) {
	w := newWorld(t)
	g := w.gate()
	g.Judge(context.Background(), w.argv("anything", "--token", "hunter2-secret"))
	g.Judge(context.Background(), w.argv("deny-me"))
	g.Judge(context.Background(), w.argv("ask-me"))
	entries, err := spool.OpenJournal(w.paths.Journal).Read(spool.ReadOptions{})
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, want := range []struct{ action, rule string }{{"allow", ""}, {"deny", "no"}, {"nomonitor", "ask"}} {
		e := entries[i]
		if e.Action != want.action || e.Rule != want.rule || e.Agent != "tester" || e.Dir != w.dir {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if strings.Contains(entries[0].Command, "hunter2") {
		t.Errorf("a secret in the journal: %s", entries[0].Command)
	}
}

// A message never carries control characters to the terminal.
func TestMessagesAreVisible(t *testing.T) {
	evil := "a\x1b[2Jb\nRule: forged\u202ec"
	f := eval.Finding{Action: eval.RequireApproval, Rule: evil, Message: evil, Suggest: evil}
	other := f
	other.Rule = "other"
	for _, v := range []Verdict{
		{Rule: evil, Message: evil, Suggest: evil, Met: []Met{{Finding: f}}},
		{Rule: evil, Message: evil, Suggest: evil, Met: []Met{{Part: evil, Dir: evil, Loss: []string{evil}, Finding: f}, {Part: evil, Finding: other}}},
	} {
		req := Request{Line: evil, Dir: evil}
		for _, s := range []string{
			blockedText(evil, evil, evil), userDeniedText(evil, v), timedOutText("1s", req, v), alsoText(req, v), askText(req, v),
			waitingText("id", "1s", req, v), noMonitorText(req, v), cannotAskText(evil, req, v), cancelledText(req, v),
		} {
			if strings.ContainsAny(s, "\x1b\u202e") || strings.Contains(s, "\nRule: forged") {
				t.Errorf("%q", s)
			}
		}
	}
	v := Verdict{Rule: "r", Message: "why", Suggest: "ls", Met: []Met{{Finding: eval.Finding{Action: eval.RequireApproval, Rule: "r", Message: "why", Suggest: "ls"}}}}
	if got := askText(Request{Line: "\u0441url x"}, v); got != "[SafeShell] APPROVAL REQUIRED\nReason: why\nRule: r\nLook out: letters that look like others: \u0441 (U+0441)\nInstead: ls\n" {
		t.Errorf("%q", got)
	}
}
