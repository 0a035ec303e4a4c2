package cli

import (
	"context"
	"path/filepath"
	"time"

	"safeshell/agents"
	"safeshell/eval"
	"safeshell/gate"
	"safeshell/script"
)

type hookCmd struct {
	Agent   string `arg:"" help:"The agent whose hook this is (agents list)."`
	Timeout int    `help:"The time limit that the agent's configuration gives this hook, in seconds (default: what agents install writes)." placeholder:"SECONDS"`
}

// Run reads one event of an agent from stdin and answers it.
func (c *hookCmd) Run(a *app) error {
	return codeError(agents.Serve(agents.HookOptions{
		Agent: c.Agent, Stdin: a.p.Stdin, Stdout: a.out, Stderr: a.err, Getenv: a.getenv,
		Limit: time.Duration(c.Timeout) * time.Second,
		Judge: func(ctx context.Context, call agents.Call) (agents.Outcome, error) {
			if err := a.open(); err != nil {
				return agents.Outcome{}, err
			}
			return a.judgeCall(ctx, call), nil
		},
	}))
}

// judgeCall judges everything that a call would do: the first that must not be
// stops it.
func (a *app) judgeCall(ctx context.Context, call agents.Call) agents.Outcome {
	dir := call.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	base := gate.Request{
		Layer: gate.Hook, Dir: dir, Agent: call.Agent, Context: eval.AI,
		MaxWait: call.Deadline, Quiet: true, ViaAgent: call.CanAsk && a.g.Config().Approval.Via == "agent",
	}
	if call.Session != "" {
		base.Session = call.Agent + ":" + call.Session
	}
	out := agents.Outcome{Kind: agents.Pass}
	stop := func(v gate.Verdict) bool {
		switch v.Kind {
		case gate.Stop:
			out = agents.Outcome{Kind: agents.Deny, Message: v.Text}
			return true
		case gate.AskAgent:
			out = agents.Outcome{Kind: agents.Ask, Message: v.Text}
		}
		return false
	}
	for _, f := range call.Files {
		req := base
		// What reads or writes a file is judged as the command that does only
		// that, so that one set of path rules serves both.
		req.Argv = []string{"cat", "--", f.Path}
		if f.Write {
			req.Argv = []string{"tee", "--", f.Path}
		}
		if stop(a.g.Judge(ctx, req)) {
			return out
		}
	}
	lines := append([]string{}, call.Lines...)
	rewritten := false
	for i, l := range call.Lines {
		req := base
		req.Line, req.Dialect = l, script.AnyDialect
		v := a.g.Judge(ctx, req)
		if stop(v) {
			return out
		}
		if v.Line != "" && v.Line != l {
			lines[i], rewritten = v.Line, true
		}
	}
	if rewritten && out.Kind == agents.Pass {
		return agents.Outcome{Kind: agents.Rewrite, Lines: lines}
	}
	return out
}
