package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// permits is what declared commands cost: permit check, run over plain bash, and
// round trips to the MCP server. All are run in turn; the ratios are hello-worlds
// of the same rounds.
func permits(s *scene, o options) ([]figure, error) {
	const many = 20
	calls := func(n int) string { return strings.Repeat("cat /dev/null\n", n) }
	for name, text := range map[string]string{
		"plain1.sh": calls(1), "plain20.sh": calls(many),
		"run1.sh": "initcmds cat\n" + calls(1), "run20.sh": "initcmds cat\n" + calls(many),
	} {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	m, err := s.mcp()
	if err != nil {
		return nil, err
	}
	defer m.close()
	sys := s.env("home", sysPath)
	process := func(exe string, argv ...string) func() error {
		return func() error {
			c := exec.Command(exe, argv...)
			c.Env, c.Dir = sys, s.work
			return c.Run()
		}
	}
	const plain1, plain20, run1, run20 = "bash script", "bash script, 20 commands", "safeshell run script", "safeshell run script, 20 commands"
	cases := []struct {
		name, over string
		per        float64 // so many of them make the figure
		do         func() error
	}{
		{name: helloName, do: process(s.path("hello"))},
		{name: "permit check of 3 commands", do: process(s.binary, "permit", "check", "cat", "grep", "wc"), per: 1},
		{name: plain1, do: process("/bin/bash", "plain1.sh")},
		{name: run1, do: process(s.binary, "run", "run1.sh"), over: plain1, per: 1},
		{name: plain20, do: process("/bin/bash", "plain20.sh")},
		{name: run20, do: process(s.binary, "run", "run20.sh"), over: plain20, per: 1},
		{name: "MCP round trip, ping", do: func() error { return m.call("ping", nil) }, per: 1},
		{name: "MCP round trip, permit_check", do: func() error {
			return m.tool("permit_check", map[string]any{"commands": []string{"cat", "grep", "wc"}})
		}, per: 1},
		{name: "MCP round trip, run", do: func() error {
			return m.tool("run", map[string]any{"file": s.path("run1.sh")})
		}, over: plain1, per: 1},
	}
	times := make([][]time.Duration, len(cases))
	for round := -2; round < max(o.runs/4, 10); round++ {
		for i, c := range cases {
			start := time.Now()
			if err := c.do(); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if round >= 0 {
				times[i] = append(times[i], time.Since(start))
			}
		}
	}
	index := map[string]int{}
	for i, c := range cases {
		index[c.name] = i
	}
	of := func(name string, round int) time.Duration { return times[index[name]][round] }
	var more []time.Duration
	for r := range times[0] {
		more = append(more, (of(run20, r)-of(run1, r)-of(plain20, r)+of(plain1, r))/(many-1))
	}
	byName := map[string]figure{}
	var figures []figure
	for i, c := range cases {
		f := summary(c.name, times[i])
		cost := f.MedianUS
		if c.over != "" {
			f.Over, f.AddedUS = c.over, f.MedianUS-byName[c.over].MedianUS
			cost = f.AddedUS
		}
		if c.per > 0 {
			f.Ratio, f.Unit = cost/c.per/byName[helloName].MedianUS, "hellos"
		}
		byName[c.name] = f
		figures = append(figures, f)
	}
	// What one more declared command costs, apart from the start of the run: round
	// by round, as the load changes between rounds more than it costs.
	each := summary("each further command of a run", more)
	each.Over, each.AddedUS, each.Unit = "in bash alone", each.MedianUS, "hellos"
	each.Ratio = each.AddedUS / byName[helloName].MedianUS
	return append(figures, each), nil
}

// mcpClient speaks to one server, a call at a time.
type mcpClient struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

// mcp starts a server and greets it.
func (s *scene) mcp() (*mcpClient, error) {
	c := exec.Command(s.binary, "mcp")
	c.Env, c.Dir = s.env("home", sysPath), s.work
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	m := &mcpClient{cmd: c, in: in, out: bufio.NewReader(out)}
	err = m.call("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	if err == nil {
		_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	if err != nil {
		m.close()
		return nil, fmt.Errorf("the MCP server: %w", err)
	}
	return m, nil
}

// close ends the server by the end of its input.
func (m *mcpClient) close() {
	m.in.Close()
	_ = m.cmd.Wait()
}

// tool calls a tool that must succeed.
func (m *mcpClient) tool(name string, arguments map[string]any) error {
	return m.call("tools/call", map[string]any{"name": name, "arguments": arguments})
}

// call sends a request and waits for its answer.
func (m *mcpClient) call(method string, params map[string]any) error {
	m.id++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := m.in.Write(append(b, '\n')); err != nil {
		return err
	}
	for {
		line, err := m.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		var a struct {
			ID     int
			Error  *struct{ Message string }
			Result struct{ IsError bool }
		}
		if json.Unmarshal(line, &a) != nil || a.ID != m.id {
			continue
		}
		if a.Error != nil || a.Result.IsError {
			return fmt.Errorf("%s was refused: %.300s", method, line)
		}
		return nil
	}
}
