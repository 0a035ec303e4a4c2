package front

import (
	"context"
	"path/filepath"
	"strings"
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
			shims.Follow(p, g)
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
		SamePath: call.SamePath, PlainWords: call.PlainWords, MaxWait: call.Deadline, Quiet: true, Notes: call.CanNote, ViaAgent: call.CanAsk && g.Config().Approval.Via == "agent",
	}
	if call.Session != "" {
		base.Session = call.Agent + ":" + call.Session
	}
	out := agents.Outcome{Kind: agents.Pass}
	stop := func(v gate.Verdict) bool {
		if len(v.Notes) > 0 {
			out.Note = strings.TrimSpace(out.Note + "\n[SafeShell] " + strings.Join(v.Notes, "\n"))
		}
		switch v.Kind {
		case gate.Stop:
			out = agents.Outcome{Kind: agents.Deny, Message: v.Text}
			return true
		case gate.AskAgent: // one yes is for all that the call does
			if out.Message != "" {
				out.Message += "\n"
			}
			out.Kind, out.Message = agents.Ask, out.Message+v.Text
		}
		return false
	}
	for _, f := range call.Files {
		argvs, line := f.Commands()
		if line != "" {
			req := base
			req.Line, req.Dialect = line, script.AnyDialect
			if stop(g.Judge(ctx, req)) {
				return out
			}
		}
		for _, argv := range argvs {
			req := base
			req.Argv = argv
			if stop(g.Judge(ctx, req)) {
				return out
			}
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
			if !rewritten && out.Kind == agents.Pass {
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
