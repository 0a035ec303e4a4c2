package clienttest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// responses is OpenAI's responses API, streaming. A call whose input has the
// one key "" is a custom tool call: its value is the input as plain text. A tool
// called SPACE.NAME is NAME of a namespace.
var responses = dialect{read: readResponses, write: writeResponses}

func readResponses(body []byte) ([]item, bool, error) {
	var req struct {
		Tools []json.RawMessage `json:"tools"`
		Input []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			CallID  string          `json:"call_id"`
			Output  json.RawMessage `json:"output"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, false, err
	}
	var items []item
	for _, in := range req.Input {
		switch in.Type {
		case "function_call_output", "custom_tool_call_output":
			items = append(items, item{id: in.CallID, result: textOf(in.Output)})
		case "agent_message": // what an agent was told by another
			items = append(items, item{prompt: string(in.Content)})
		case "message", "":
			if in.Role == "user" {
				items = append(items, item{prompt: textOf(in.Content)})
			}
		}
	}
	return items, true, nil
}

func writeResponses(w http.ResponseWriter, _ []byte, turn Turn, ids []string) {
	type m = map[string]any
	var output []m
	for i, c := range turn.Calls {
		if text, ok := c.Input[""]; ok {
			output = append(output, m{"type": "custom_tool_call", "id": "ct_" + ids[i], "call_id": ids[i], "name": c.Tool, "input": text, "status": "completed"})
			continue
		}
		call := m{"type": "function_call", "id": "fc_" + ids[i], "call_id": ids[i], "name": c.Tool, "arguments": marshal(c.Input), "status": "completed"}
		if space, name, ok := strings.Cut(c.Tool, "."); ok {
			call["namespace"], call["name"] = space, name
		}
		output = append(output, call)
	}
	if turn.Text != "" {
		output = append(output, m{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []m{{"type": "output_text", "text": turn.Text, "annotations": []m{}}}})
	}
	w.Header().Set("Content-Type", "text/event-stream")
	head := m{"id": "resp_1", "object": "response", "status": "in_progress", "output": []m{}}
	sse(w, "response.created", m{"type": "response.created", "response": head})
	for i, o := range output {
		sse(w, "response.output_item.added", m{"type": "response.output_item.added", "output_index": i, "item": o})
		sse(w, "response.output_item.done", m{"type": "response.output_item.done", "output_index": i, "item": o})
	}
	sse(w, "response.completed", m{"type": "response.completed", "response": m{"id": "resp_1", "object": "response", "status": "completed", "output": output,
		"usage": m{"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
			"input_tokens_details": m{"cached_tokens": 0}, "output_tokens_details": m{"reasoning_tokens": 0}}}})
}
