package front

import (
	"context"
	"path/filepath"
	"time"

	"safeshell/agents"
	"safeshell/eval"
	"safeshell/gate"
	"safeshell/script"
	"safeshell/shims"
)

// Hook reads one event of an agent from stdin, answers it, and returns the exit
// code. limit is the time that the agent's configuration gives the hook; 0: what
// `agents install` writes.
func Hook(p shims.Process, agent string, limit time.Duration) int {
	return agents.Serve(agents.HookOptions{
		Agent: agent, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Getenv: environ(p).Getenv, Limit: limit,
		Judge: func(ctx context.Context, call agents.Call) (agents.Outcome, error) {
			g, err := open(p)
			if err != nil {
				return agents.Outcome{}, err
			}
			return judgeCall(ctx, g, call), nil
		},
	})
}

// judgeCall judges everything that a call would do: the first that must not be
// stops it.
func judgeCall(ctx context.Context, g *gate.Gate, call agents.Call) agents.Outcome {
	dir := call.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	base := gate.Request{
		Layer: gate.Hook, Dir: dir, Agent: call.Agent, Context: eval.AI,
		MaxWait: call.Deadline, Quiet: true, ViaAgent: call.CanAsk && g.Config().Approval.Via == "agent",
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
			out.Kind, out.Message = agents.Ask, v.Text
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
		if stop(g.Judge(ctx, req)) {
			return out
		}
	}
	lines := append([]string{}, call.Lines...)
	rewritten := false
	for i, l := range call.Lines {
		req := base
		req.Line, req.Dialect = l, script.AnyDialect
		if call.PowerShell {
			req.Dialect = script.PowerShell
		}
		v := g.Judge(ctx, req)
		if stop(v) {
			return out
		}
		if v.Line != "" && v.Line != l {
			if !rewritten {
				out.Message = "[SafeShell] NOT RUN\nReason: " + v.Message + "\nRule: " + v.Rule
			}
			lines[i], rewritten = v.Line, true
		}
	}
	if rewritten && out.Kind == agents.Pass {
		out.Kind, out.Lines = agents.Rewrite, lines
	}
	return out
}
