package cli

import (
	"time"

	"safeshell/front"
)

type hookCmd struct {
	Agent   string `arg:"" complete:"agents" help:"The agent whose hook this is (agents list)."`
	Timeout int    `help:"The time limit that the agent's configuration gives this hook, in seconds (default: what agents install writes)." placeholder:"SECONDS"`
}

// Run reads one event of an agent from stdin and answers it.
func (c *hookCmd) Run(a *app) error {
	return codeError(front.Hook(a.p, c.Agent, time.Duration(c.Timeout)*time.Second))
}
