package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic is the messages API, streaming and not.
var anthropic = dialect{read: readAnthropic, write: writeAnthropic}

func readAnthropic(body []byte) ([]item, bool, error) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, false, err
	}
	var items []item
	for _, msg := range req.Messages {
		if msg.Role != "user" {
			continue
		}
		var blocks []struct {
			Type    string          `json:"type"`
			Text    string          `json:"text"`
			ID      string          `json:"tool_use_id"`
			Content json.RawMessage `json:"content"`
			IsError bool            `json:"is_error"`
		}
		if json.Unmarshal(msg.Content, &blocks) != nil {
			items = append(items, item{prompt: textOf(msg.Content)})
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				items = append(items, item{id: b.ID, result: textOf(b.Content), bad: b.IsError})
			} else {
				items = append(items, item{prompt: b.Text})
			}
		}
	}
	return items, len(req.Tools) > 0, nil
}

func writeAnthropic(w http.ResponseWriter, body []byte, turn Turn, ids []string) {
	var req struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	_ = json.Unmarshal(body, &req) // read before
	type m = map[string]any
	content, stop := []m{}, "end_turn"
	if turn.Text != "" {
		content = append(content, m{"type": "text", "text": turn.Text})
	}
	for i, c := range turn.Calls {
		stop = "tool_use"
		content = append(content, m{"type": "tool_use", "id": ids[i], "name": c.Tool, "input": c.Input})
	}
	usage := m{"input_tokens": 10, "output_tokens": 10}
	msg := m{"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": usage}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintln(w, marshal(msg))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	msg["content"], msg["stop_reason"] = []m{}, nil
	sse(w, "message_start", m{"type": "message_start", "message": msg})
	for i, block := range content {
		var delta m
		if block["type"] == "text" {
			delta = m{"type": "text_delta", "text": block["text"]}
			block = m{"type": "text", "text": ""}
		} else {
			delta = m{"type": "input_json_delta", "partial_json": marshal(block["input"])}
			block = m{"type": "tool_use", "id": block["id"], "name": block["name"], "input": m{}}
		}
		sse(w, "content_block_start", m{"type": "content_block_start", "index": i, "content_block": block})
		sse(w, "content_block_delta", m{"type": "content_block_delta", "index": i, "delta": delta})
		sse(w, "content_block_stop", m{"type": "content_block_stop", "index": i})
	}
	sse(w, "message_delta", m{"type": "message_delta", "delta": m{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	sse(w, "message_stop", m{"type": "message_stop"})
}
