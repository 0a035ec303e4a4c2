package clienttest

import (
	"encoding/json"
	"io"
	"net/http"
)

// chat is OpenAI's chat completions API, streaming and not.
var chat = dialect{read: readChat, write: writeChat}

func readChat(body []byte) ([]item, bool, error) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			CallID  string          `json:"tool_call_id"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, false, err
	}
	var items []item
	for _, msg := range req.Messages {
		switch msg.Role {
		case "user":
			items = append(items, item{prompt: textOf(msg.Content)})
		case "tool":
			items = append(items, item{id: msg.CallID, result: textOf(msg.Content)})
		}
	}
	return items, len(req.Tools) > 0, nil
}

func writeChat(w http.ResponseWriter, body []byte, turn Turn, ids []string) {
	var req struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	_ = json.Unmarshal(body, &req) // read before
	type m = map[string]any
	var calls []m
	for i, c := range turn.Calls {
		calls = append(calls, m{"index": i, "id": ids[i], "type": "function", "function": m{"name": c.Tool, "arguments": marshal(c.Input)}})
	}
	msg, end := m{"role": "assistant", "content": turn.Text}, "stop"
	if len(calls) > 0 {
		msg["tool_calls"], end = calls, "tool_calls"
	}
	usage := m{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
	head := func(kind string, choice m) m {
		return m{"id": "c1", "object": kind, "created": 1, "model": req.Model, "choices": []m{choice}}
	}
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		doc := head("chat.completion", m{"index": 0, "message": msg, "finish_reason": end})
		doc["usage"] = usage
		_, _ = io.WriteString(w, marshal(doc))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	sse(w, "", head("chat.completion.chunk", m{"index": 0, "delta": msg, "finish_reason": nil}))
	last := head("chat.completion.chunk", m{"index": 0, "delta": m{}, "finish_reason": end})
	last["usage"] = usage
	sse(w, "", last)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
