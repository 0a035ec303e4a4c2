// Package clienttest drives the real coding agents without a network: a fake
// model on 127.0.0.1 makes them call their tools with chosen input and keeps,
// word for word, what they report back. One file per API dialect. Its tests
// prove the hooks of package agents against installed clients; they are skipped
// unless SAFESHELL_TEST_CLIENTS names a directory that holds them (make clients).
package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"
)

// A Call is one tool call that the model makes.
type Call struct {
	Tool  string
	Input map[string]any
}

// A Turn is one answer of the model: its calls, or else the text that ends the
// conversation.
type Turn struct {
	Calls []Call
	Text  string
}

// Do is a turn of one call.
func Do(tool string, input map[string]any) Turn {
	return Turn{Calls: []Call{{tool, input}}}
}

// A Result is what a client reported of one call.
type Result struct {
	Call    Call
	Text    string
	IsError bool // marked so by the client; some dialects have no mark
}

// A Model plays scripts. A prompt that holds [play NAME] starts script NAME; the
// number of results since then says which turn is due, so that retries, resumed
// sessions and the side conversations of a client do no harm. Conversations
// without such a prompt get a short text.
type Model struct {
	URL string // http://127.0.0.1:PORT

	mu      sync.Mutex
	scripts map[string][]Turn
	results map[string][]Result // by script
	seen    map[string]bool     // ids of calls whose result is known
	log     []string            // requests, as METHOD PATH
	bodies  []string
	server  *httptest.Server
}

// NewModel starts a model that stops with the test.
func NewModel(t *testing.T) *Model {
	m := &Model{scripts: map[string][]Turn{}, results: map[string][]Result{}, seen: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.dialect(anthropic))
	mux.HandleFunc("POST /v1/responses", m.dialect(responses))
	mux.HandleFunc("POST /v1/chat/completions", m.dialect(chat))
	mux.HandleFunc("POST /v1beta/models/", m.serveGoogle)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.note(r, nil)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	})
	m.server = httptest.NewServer(mux)
	m.URL = m.server.URL
	t.Cleanup(func() { m.server.CloseClientConnections(); m.server.Close() })
	return m
}

// Script sets the turns of a script. After the last one the model says "done".
func (m *Model) Script(name string, turns ...Turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts[name], m.results[name] = turns, nil
}

// Results returns what was reported of the calls of a script, in order.
func (m *Model) Results(name string) []Result {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Result(nil), m.results[name]...)
}

// Requests lists the requests so far, as METHOD PATH.
func (m *Model) Requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.log...)
}

// LastBody is the last request with a body, for a look at what a client sends.
func (m *Model) LastBody() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.bodies) == 0 {
		return ""
	}
	return m.bodies[len(m.bodies)-1]
}

// Tools are the names of the tools that the client has offered so far, also those
// that are only named in a text because their schema is looked up later.
func (m *Model) Tools() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]bool{}
	for _, b := range m.bodies {
		var body any
		if json.Unmarshal([]byte(b), &body) != nil {
			continue
		}
		if o, ok := body.(map[string]any); ok {
			toolNames(o["tools"], found)
		}
		for _, re := range []*regexp.Regexp{deferredTools, declaredTools} {
			for _, hit := range re.FindAllStringSubmatch(b, -1) {
				for _, n := range strings.FieldsFunc(hit[1], func(r rune) bool { return r == '\\' || r == ' ' }) {
					found[strings.TrimPrefix(n, "n")] = true // \n, as JSON writes it
				}
			}
		}
	}
	var out []string
	for n := range found {
		if n != "" {
			out = append(out, n)
		}
	}
	sort.Strings(out)
	return out
}

// Claude Code names tools whose schema is asked for later; Codex declares those
// that are called from JavaScript.
var (
	deferredTools = regexp.MustCompile(`to load tool schemas before calling them:((?:\\n[A-Z]\w+)+)`)
	declaredTools = regexp.MustCompile(`declare const tools: \{ (\w+)\(`)
)

// toolNames collects names from a list of tools, as each dialect writes it.
func toolNames(v any, found map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, el := range v {
			toolNames(el, found)
		}
	case map[string]any:
		inner := false
		for _, key := range []string{"function", "functionDeclarations", "tools"} {
			if v[key] != nil {
				inner = true
				toolNames(v[key], found)
			}
		}
		name, _ := v["name"].(string)
		if name == "" && !inner {
			name, _ = v["type"].(string)
		}
		if !inner {
			found[name] = true
		}
	}
}

func (m *Model) note(r *http.Request, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, r.Method+" "+r.URL.Path)
	if body != nil {
		m.bodies = append(m.bodies, string(body))
	}
}

// An item is one thing in a conversation that matters here.
type item struct {
	prompt string // text of the user, or
	id     string // the id of a call,
	result string // and what came of it
	bad    bool
}

// A dialect reads a request's conversation and writes the model's answer.
// calls have the ids "NAME_TURN_INDEX" in ids.
type dialect struct {
	read  func(body []byte) (items []item, tools bool, err error)
	write func(w http.ResponseWriter, body []byte, turn Turn, ids []string)
}

var play = regexp.MustCompile(`\[play ([a-z0-9-]+)\]`)

func (m *Model) dialect(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.note(r, body)
		items, tools, err := d.read(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		turn, ids := m.next(items, tools)
		d.write(w, body, turn, ids)
	}
}

// next keeps the results in a conversation and picks the turn that is due.
func (m *Model) next(items []item, tools bool) (Turn, []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, done := "", 0
	for _, it := range items {
		if found := play.FindAllStringSubmatch(it.prompt, -1); found != nil {
			name, done = found[len(found)-1][1], 0
		}
		if it.id == "" {
			continue
		}
		if strings.HasPrefix(it.id, name+"_") {
			done++
		}
		m.keep(it)
	}
	turns, ok := m.scripts[name]
	if !ok || !tools {
		return Turn{Text: "nothing to do"}, nil
	}
	for n, t := range turns {
		if done < len(t.Calls) || len(t.Calls) == 0 {
			if len(t.Calls) == 0 && done > 0 {
				continue
			}
			ids := make([]string, len(t.Calls))
			for i := range ids {
				ids[i] = fmt.Sprintf("%s_%d_%d", name, n, i)
			}
			return t, ids
		}
		done -= len(t.Calls)
	}
	return Turn{Text: "done"}, nil
}

func (m *Model) keep(it item) {
	var n, i int
	name, rest, ok := strings.Cut(it.id, "_")
	if !ok || m.seen[it.id] {
		return
	}
	if _, err := fmt.Sscanf(rest, "%d_%d", &n, &i); err != nil {
		return
	}
	turns := m.scripts[name]
	if n >= len(turns) || i >= len(turns[n].Calls) {
		return
	}
	m.seen[it.id] = true
	m.results[name] = append(m.results[name], Result{Call: turns[n].Calls[i], Text: it.result, IsError: it.bad})
}

// textOf returns the text of a content field: a string, or a list of blocks.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	var b strings.Builder
	for _, bl := range blocks {
		b.WriteString(bl.Text)
	}
	return b.String()
}

// sse sends one server-sent event; data is marshalled.
func sse(w io.Writer, event string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // only ever our own maps
	}
	if event != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", event)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", b)
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
