package agents

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func hooked() []Agent {
	var out []Agent
	for _, a := range All() {
		if a.Hook != NoHook {
			out = append(out, a)
		}
	}
	return out
}

// event returns the agent's golden shell event.
func goldenEvent(t testing.TB, agent, name string) string {
	t.Helper()
	ar, err := readArchive("testdata/" + agent + "/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		if f.Name == "event" {
			return string(f.Data)
		}
	}
	t.Fatal("no event")
	return ""
}

func wantBlocked(t *testing.T, agent string, r reply) {
	t.Helper()
	if err := strictAnswer(agent, r); err != nil {
		t.Errorf("%s: %v in %q %q %d", agent, err, r.stdout, r.stderr, r.code)
	}
	if h := hear(agent, r); h.kind != Deny {
		t.Errorf("%s: not blocked: %+v", agent, h)
	}
	if len(r.stdout)+len(r.stderr) > 4*maxReason {
		t.Errorf("%s: the reason has %d bytes", agent, len(r.stdout)+len(r.stderr))
	}
}

// TestHostileInput: whatever is broken about an event, it blocks, in the form
// of the agent that the command line names.
func TestHostileInput(t *testing.T) {
	for _, a := range hooked() {
		if testing.Short() && a.Name != "claude-code" && a.Name != "cline" {
			continue
		}
		good := strings.TrimSpace(goldenEvent(t, a.Name, "deny"))
		cmd := `rm -rf /`
		cases := map[string]string{
			"empty":             "",
			"blank":             " \n",
			"text":              "rm -rf /",
			"cut":               good[:len(good)-1],
			"twice":             good + good,
			"trailing text":     good + " x",
			"comment":           "// x\n" + good,
			"trailing comma":    strings.TrimSuffix(good, "}") + ",}",
			"invalid UTF-8":     strings.Replace(good, cmd, "rm -rf /\xff", 1),
			"deep":              `{"x":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "," + good[1:],
			"deep object":       `{"x":` + strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600) + "," + good[1:],
			"many values":       `{"x":[` + strings.Repeat("1,", maxValues) + "1]," + good[1:],
			"control byte":      strings.Replace(good, cmd, "rm\x01", 1),
			"lone number":       "17",
			"null":              "null",
			"a list":            "[" + good + "]",
			"command a number":  strings.Replace(good, `"`+cmd+`"`, "5", 1),
			"command an object": strings.Replace(good, `"`+cmd+`"`, `{"a":"b"}`, 1),
		}
		for name, event := range cases {
			if a.Name == "cline" && name == "command an object" {
				continue // its commands may be objects; see the golden cases
			}
			got := serveCase(t, a.Name, event, nil, func(Call) (Outcome, error) { return Outcome{}, nil })
			if got.calls != 0 {
				t.Errorf("%s, %s: the judge was asked: %+v", a.Name, name, got.call)
			}
			wantBlocked(t, a.Name, got.reply)
		}
	}
}

// TestLargeEvents: one megabyte is ordinary, more than 16 MiB is refused.
func TestLargeEvents(t *testing.T) {
	for _, a := range hooked() {
		if testing.Short() && a.Name != "claude-code" && a.Name != "cline" {
			continue
		}
		good := strings.TrimSpace(goldenEvent(t, a.Name, "allow"))
		long := "echo " + strings.Repeat("é'x", 350_000)
		event := strings.ReplaceAll(good, "npm test", long)
		got := serveCase(t, a.Name, event, nil, func(Call) (Outcome, error) { return Outcome{}, nil })
		if got.calls != 1 || got.call.Lines[0] != long {
			t.Errorf("%s: a command of 1 MB did not reach the judge whole", a.Name)
		}
		if got.code != 0 {
			t.Errorf("%s: exit %d", a.Name, got.code)
		}
		got = serveCase(t, a.Name, event, nil, func(Call) (Outcome, error) {
			return Outcome{Kind: Rewrite, Lines: []string{"safeshell exec -- " + long}}, nil
		})
		if h := hear(a.Name, got.reply); h.kind == Pass || h.kind == Ask {
			t.Errorf("%s: a long replacement got lost: %v", a.Name, h.kind)
		}
		if a.Name != "claude-code" && a.Name != "cline" {
			continue // the cap is before the protocols; two of them show it
		}
		huge := strings.Replace(good, "npm test", strings.Repeat("a", maxEvent), 1)
		got = serveCase(t, a.Name, huge, nil, func(Call) (Outcome, error) { return Outcome{}, nil })
		if got.calls != 0 {
			t.Error("an event over the cap was judged")
		}
		wantBlocked(t, a.Name, got.reply)
	}
}

type brokenPipe struct{ n int }

func (b brokenPipe) Write(p []byte) (int, error) {
	if b.n < len(p) {
		return b.n, io.ErrShortWrite
	}
	return len(p), nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic("reader") }

// TestOurFailures: a judge that panics or does not return, streams that break.
func TestOurFailures(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	for _, a := range hooked() {
		event := goldenEvent(t, a.Name, "deny")
		judges := map[string]func(context.Context, Call) (Outcome, error){
			"panic":  func(context.Context, Call) (Outcome, error) { panic("boom") },
			"error":  func(context.Context, Call) (Outcome, error) { return Outcome{}, errors.New("x") },
			"hang":   func(context.Context, Call) (Outcome, error) { <-block; return Outcome{}, nil },
			"nil":    nil,
			"absurd": func(context.Context, Call) (Outcome, error) { return Outcome{Kind: 77}, nil },
			"short":  func(context.Context, Call) (Outcome, error) { return Outcome{Kind: Rewrite}, nil },
			"context": func(ctx context.Context, _ Call) (Outcome, error) {
				<-ctx.Done()
				return Outcome{}, ctx.Err()
			},
		}
		for name, judge := range judges {
			var out, errs bytes.Buffer
			limit := time.Duration(0)
			if name == "hang" || name == "context" {
				limit = 20 * time.Millisecond
			}
			r := reply{code: Serve(HookOptions{Agent: a.Name, Stdin: strings.NewReader(event), Stdout: &out, Stderr: &errs, Judge: judge, Limit: limit})}
			r.stdout, r.stderr = out.String(), errs.String()
			if h := hear(a.Name, r); h.kind != Deny {
				t.Errorf("%s, %s: not blocked: %+v", a.Name, name, h)
			}
			if err := strictAnswer(a.Name, r); err != nil {
				t.Errorf("%s, %s: %v", a.Name, name, err)
			}
		}

		// The pipe breaks after nothing or after half of the answer.
		for _, n := range []int{0, 5} {
			var errs bytes.Buffer
			code := Serve(HookOptions{Agent: a.Name, Stdin: strings.NewReader(event), Stdout: brokenPipe{n}, Stderr: &errs,
				Judge: func(context.Context, Call) (Outcome, error) { return Outcome{Kind: Deny, Message: "no"}, nil }})
			if code != 2 || errs.Len() == 0 {
				t.Errorf("%s: a broken pipe gave exit %d, %q", a.Name, code, errs.String())
			}
		}

		// Standard input stays open without an end, breaks, or is not there.
		pr, pw := io.Pipe()
		for name, in := range map[string]io.Reader{"open": pr, "panic": brokenReader{}, "nil": nil} {
			var out, errs bytes.Buffer
			r := reply{code: Serve(HookOptions{Agent: a.Name, Stdin: in, Stdout: &out, Stderr: &errs, Limit: 20 * time.Millisecond,
				Judge: func(context.Context, Call) (Outcome, error) { return Outcome{}, nil }})}
			r.stdout, r.stderr = out.String(), errs.String()
			if h := hear(a.Name, r); h.kind != Deny {
				t.Errorf("%s, stdin %s: not blocked: %+v", a.Name, name, h)
			}
		}
		pw.Close()
	}
	if code := Serve(HookOptions{}); code != 2 {
		t.Errorf("no options at all: exit %d", code)
	}
}

// TestLimits: a person is waited for less than the agent waits.
func TestLimits(t *testing.T) {
	for _, a := range hooked() {
		if a.Timeout <= 0 || a.FixedTimeout && a.DefaultTimeout > 0 && a.Timeout > a.DefaultTimeout {
			t.Errorf("%s: time limit %v of %v", a.Name, a.Timeout, a.DefaultTimeout)
		}
		if w := waitFor(a.Timeout); w <= 0 || w >= a.Timeout {
			t.Errorf("%s: waits %v of %v", a.Name, w, a.Timeout)
		}
	}
	for limit, want := range map[time.Duration]time.Duration{
		330 * time.Second: 300 * time.Second, 120 * time.Second: 108 * time.Second,
		30 * time.Second: 27 * time.Second, 5 * time.Second: 2500 * time.Millisecond,
	} {
		if got := waitFor(limit); got != want {
			t.Errorf("waitFor(%v) = %v, want %v", limit, got, want)
		}
	}
	deadline := func(agent string, limit time.Duration) (got time.Duration) {
		Serve(HookOptions{Agent: agent, Stdin: strings.NewReader(goldenEvent(t, agent, "allow")), Stdout: io.Discard, Stderr: io.Discard, Limit: limit,
			Judge: func(_ context.Context, c Call) (Outcome, error) { got = c.Deadline; return Outcome{}, nil }})
		return got
	}
	if got := deadline("codex", 60*time.Second); got != 54*time.Second {
		t.Errorf("a configured limit of 60 s leaves %v", got)
	}
	if got := deadline("cline-vscode", 300*time.Second); got != 27*time.Second {
		t.Errorf("Cline in VS Code kills after 30 s, whatever is configured; waited %v", got)
	}
}

// FuzzServe: no input makes a hook panic, print two documents, or let a command
// run that the judge denied.
func FuzzServe(f *testing.F) {
	names := Names()
	for i, a := range names {
		if cases, _ := readArchive("testdata/" + a + "/deny.txtar"); cases != nil {
			f.Add(uint8(i), []byte(goldenEvent(f, a, "deny")))
			f.Add(uint8((i+1)%len(names)), []byte(goldenEvent(f, a, "deny"))) // found in a neighbour's file
		}
	}
	f.Add(uint8(200), []byte(goldenEvent(f, "claude-code", "twice-other")))
	f.Add(uint8(0), []byte(goldenEvent(f, "cline", "several")))
	f.Fuzz(func(t *testing.T, n uint8, event []byte) {
		named := "nobody"
		if int(n) < len(names) {
			named = names[n]
		}
		var out, errs countingWriter
		var call *Call
		r := reply{code: Serve(HookOptions{
			Agent: named, Stdin: bytes.NewReader(event), Stdout: &out, Stderr: &errs,
			Getwd: func() (string, error) { return "/w", nil },
			Judge: func(_ context.Context, c Call) (Outcome, error) {
				call = &c
				return Outcome{Kind: Deny, Message: "denied by the judge"}, nil
			},
		})}
		r.stdout, r.stderr = out.String(), errs.String()
		if out.writes > 1 {
			t.Fatalf("%d writes", out.writes)
		}
		if call == nil {
			return
		}
		if call.Dir == "" || call.Dir[0] != '/' {
			t.Errorf("directory %q", call.Dir)
		}
		agent := call.Agent
		switch {
		case agent == "cursor" && named != "cursor":
			agent = "cursor in Claude's file"
		case agent == "copilot" && strings.HasPrefix(r.stdout, claudeHead):
			agent = "copilot-claude"
		}
		if h := hear(agent, r); h.kind != Deny || !strings.Contains(h.text, "denied by the judge") {
			t.Errorf("%s would run it: %+v\n%q %q %d", agent, h, r.stdout, r.stderr, r.code)
		}
		if err := strictAnswer(agent, r); err != nil {
			t.Error(err)
		}
	})
}
