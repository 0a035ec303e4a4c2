package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzMessages: whatever a client sends, each line gives messages or exactly one
// refusal in one line of JSON, and the next line is read as if nothing happened.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"code":"initcmds ls\nls","retry_id":"rt1","userChoice":1}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"permit_check","arguments":{"commands":["curl","./x"]}}}`,
		`[{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`,
		`{"jsonrpc":"2.0","id":5,"result":{"roots":[{"uri":"file:///x%00"}]}}`,
		`[]`, `[[]]`, `null`, `1e999`, "\x00", "\xff", `{"jsonrpc":"2.0","id":{},"method":1}`, `{"jsonrpc":"1.0"}`, strings.Repeat("[", 12000), "\r", "",
	} {
		f.Add([]byte(s))
	}
	const ping = `{"jsonrpc":"2.0","id":77,"method":"ping"}`
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		var out bytes.Buffer
		ended := make(chan struct{})
		l := newLines(bytes.NewReader(append(append(bytes.Clone(data), '\n'), ping...)), &out, func() { close(ended) })
		got, last := 0, ""
		for m := range l.incoming {
			got++
			b, err := jsonrpc.EncodeMessage(m)
			if err != nil {
				t.Fatal(err)
			}
			last = string(b)
		}
		<-ended
		if got == 0 || !strings.Contains(last, "77") {
			t.Fatalf("%.200q: the message after it is lost; last was %s", data, last)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var e struct {
				Error struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(line, &e); err != nil || e.Error.Code == 0 || e.Error.Message == "" {
				t.Fatalf("%q: answered %q, %v", data, line, err)
			}
		}
	})
}
