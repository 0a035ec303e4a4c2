package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"safeshell/internal/test/denotest"
)

// cmdDeno puts the real Deno into $BIN; guard it with the condition [deno].
func cmdDeno(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(os.Symlink(denotest.Find(), filepath.Join(ts.Getenv("BIN"), "deno")))
}

// cmdMCP speaks to a server of its own: `mcp calls`, where each line of the file
// is a tool's name and its arguments as JSON. Each call waits for the last one's
// answer, in which RETRY stands for the last retry id that was given. The answers
// go to the file "answers", as text, each under a line "== N".
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: mcp calls")
	}
	c := command(ts, []string{"safeshell", "mcp"})
	in, err := c.StdinPipe()
	ts.Check(err)
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	timer := time.AfterFunc(2*time.Minute, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	r := bufio.NewReader(out)
	type answer struct {
		ID     int
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	ask := func(id int, method string, params any) answer {
		b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		ts.Check(err)
		_, err = in.Write(append(b, '\n'))
		ts.Check(err)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				ts.Fatalf("mcp: no answer to %s: %v", b, err)
			}
			var a answer
			if json.Unmarshal(line, &a) == nil && a.ID == id {
				return a
			}
		}
	}
	ask(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "agent", "version": "1"}})
	_, err = in.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
	ts.Check(err)
	var text bytes.Buffer
	retry := ts.Getenv("RETRY")
	for i, l := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		name, params, _ := strings.Cut(strings.ReplaceAll(l, "RETRY", retry), " ")
		if !json.Valid([]byte(params)) {
			ts.Fatalf("line %d is no call: %s", i+1, l)
		}
		a := ask(i+2, "tools/call", map[string]any{"name": name, "arguments": json.RawMessage(params)})
		fmt.Fprintf(&text, "== %d error=%v\n", i+1, a.Result.IsError)
		for _, part := range a.Result.Content {
			text.WriteString(part.Text + "\n")
			var b struct {
				ID string `json:"retry_id"`
			}
			if json.Unmarshal([]byte(part.Text), &b) == nil && b.ID != "" {
				retry = b.ID
			}
		}
		if a.Error != nil {
			text.WriteString(a.Error.Message + "\n")
		}
	}
	ts.Setenv("RETRY", retry)
	in.Close()
	ts.Check(c.Wait())
	ts.Logf("[answers]\n%s", text.String())
	ts.Check(os.WriteFile(ts.MkAbs("answers"), text.Bytes(), 0o600))
}
