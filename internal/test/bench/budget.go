package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"safeshell/internal/test/nasty"
)

const (
	budgetTime   = 250 * time.Millisecond // of the processor, for a verdict
	budgetMemory = 100 << 10              // KiB
	worst        = 15                     // texts that are shown
)

// budgets is the table of the texts that are most expensive to judge: a megabyte
// of each kind goes through a hook, and its times are those of the processor.
func budgets(s *scene, o options) ([]figure, error) {
	type judged struct {
		name   string
		event  string
		took   []time.Duration
		memory int64
	}
	judge := func(c *judged) error {
		cmd := exec.Command(s.binary, "hook", "claude-code")
		cmd.Env, cmd.Dir, cmd.Stdin = s.env("home", sysPath), s.path("repo"), strings.NewReader(c.event)
		nasty.Shrink()
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			return err
		}
		c.took = append(c.took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		c.memory = max(c.memory, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		return nil
	}
	var all []*judged
	for _, x := range nasty.Texts() {
		event, err := json.Marshal(map[string]any{"session_id": "b", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": x.Make(1_000_000)}, "cwd": s.path("repo")})
		if err != nil {
			return nil, err
		}
		c := &judged{name: x.Name, event: string(event)}
		if err := judge(c); err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name, err)
		}
		all = append(all, c)
		slices.SortStableFunc(all, func(a, b *judged) int { return int(b.took[0] - a.took[0]) })
		all = all[:min(len(all), worst)]
	}
	var figures []figure
	for _, c := range all {
		for range 9 {
			if err := judge(c); err != nil {
				return nil, err
			}
		}
		f := summary(fmt.Sprintf("hook, 1 MB of %s: %d MB", c.name, c.memory>>10), c.took)
		f.Ratio, f.Unit, f.Limit = max(f.MedianUS/us(budgetTime), float64(c.memory)/budgetMemory), "budgets", 1
		figures = append(figures, f)
	}
	return figures, nil
}
