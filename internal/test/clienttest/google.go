package clienttest

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// google is Gemini's generateContent, streaming and not. Its calls carry ids
// where the client sends them back; else the results are taken in order.
var google = dialect{read: readGoogle, write: writeGoogle}

type googleContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
		Call *struct {
			ID string `json:"id"`
		} `json:"functionCall"`
		Result *struct {
			ID       string          `json:"id"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func readGoogle(body []byte) ([]item, bool, error) {
	var req struct {
		Tools    []json.RawMessage `json:"tools"`
		Contents []googleContent   `json:"contents"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, false, err
	}
	var items []item
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			switch {
			case p.Result != nil:
				var res struct {
					Output *string `json:"output"`
					Error  *string `json:"error"`
				}
				text, bad := string(p.Result.Response), false
				if json.Unmarshal(p.Result.Response, &res) == nil {
					if res.Output != nil {
						text = *res.Output
					} else if res.Error != nil {
						text, bad = *res.Error, true
					}
				}
				items = append(items, item{id: p.Result.ID, result: text, bad: bad})
			case c.Role == "user" && p.Call == nil:
				items = append(items, item{prompt: p.Text})
			}
		}
	}
	return items, len(req.Tools) > 0, nil
}

var streaming = regexp.MustCompile(`:streamGenerateContent$`)

func writeGoogle(w http.ResponseWriter, _ []byte, turn Turn, ids []string) {
	type m = map[string]any
	var parts []m
	for i, c := range turn.Calls {
		parts = append(parts, m{"functionCall": m{"id": ids[i], "name": c.Tool, "args": c.Input}})
	}
	if turn.Text != "" {
		parts = append(parts, m{"text": turn.Text})
	}
	doc := m{
		"candidates":    []m{{"index": 0, "content": m{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": m{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
	}
	if w.Header().Get("X-Stream") == "" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, marshal(doc))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	sse(w, "", doc)
}

// serveGoogle routes by the method behind the model's name.
func (m *Model) serveGoogle(w http.ResponseWriter, r *http.Request) {
	switch {
	case streaming.MatchString(r.URL.Path):
		w.Header().Set("X-Stream", "1")
		m.dialect(google)(w, r)
	case strings.HasSuffix(r.URL.Path, ":generateContent"):
		m.dialect(google)(w, r)
	default: // countTokens and the rest
		m.note(r, nil)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"totalTokens":10}`)
	}
}
