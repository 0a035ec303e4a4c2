package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// keepRuns is how many ended background runs are kept to be read; maxRuns how
// many may run at once.
const (
	keepRuns = 20
	maxRuns  = 50
)

// run is a script in the background.
type run struct {
	id    string
	p     *process
	title string // its first line of work
	dir   string
}

// register keeps a background run. The oldest that has ended makes room.
func (s *server) register(p *process, j job) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastRun++
	r := &run{id: fmt.Sprintf("r%d", s.lastRun), p: p, title: title(j), dir: j.dir}
	s.runs[r.id] = r
	s.order = append(s.order, r.id)
	ended := 0
	for i := len(s.order) - 1; i >= 0; i-- {
		if id := s.order[i]; !s.runs[id].p.running() {
			if ended++; ended > keepRuns {
				delete(s.runs, id)
				s.order = append(s.order[:i], s.order[i+1:]...)
			}
		}
	}
	return r
}

// title is a script in one line: its file, or its first line of work.
func title(j job) string {
	if j.file != "" {
		return j.file
	}
	for _, l := range strings.Split(string(j.code), "\n") {
		l = strings.TrimSpace(l)
		if l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "//") {
			if r := []rune(l); len(r) > 100 {
				l = string(r[:100]) + "..."
			}
			return strings.ToValidUTF8(l, "\uFFFD")
		}
	}
	return "code"
}

// toolScripts is the tool scripts.
func (s *server) toolScripts(ctx context.Context, _ *sdk.CallToolRequest, in scriptsInput) (*sdk.CallToolResult, any, error) {
	wait, ok := seconds(in.Timeout, 30*time.Second)
	if !ok {
		return failedf("timeout %v is no time: give seconds, up to a week", in.Timeout), nil, nil
	}
	if in.StdoutOffset < 0 || in.StderrOffset < 0 {
		return failed(errors.New("an offset is at least 0: the stdout_next or stderr_next of the last answer")), nil, nil
	}
	if in.Action == "list" {
		return s.list(), nil, nil
	}
	switch in.Action {
	case "read", "wait", "kill":
	default:
		return failedf("action %q is not known; it is list, read, wait or kill", in.Action), nil, nil
	}
	s.mu.Lock()
	r := s.runs[in.ID]
	s.mu.Unlock()
	if r == nil {
		return failedf("no background run of this session has the id %q; see: {\"action\": \"list\"}", in.ID), nil, nil
	}
	switch in.Action {
	case "wait":
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-r.p.done:
		case <-t.C:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
	case "kill":
		r.p.end(endedByKill)
		<-r.p.done
	}
	return resultOf(r.p, r.id, in.StdoutOffset, in.StderrOffset).answer(), nil, nil
}

// listed is one line of the list.
type listed struct {
	ID         string `json:"id"`
	Script     string `json:"script"`
	Dir        string `json:"dir"`
	Running    bool   `json:"running"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	Ended      string `json:"ended,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Stdout     int64  `json:"stdout_bytes"`
	Stderr     int64  `json:"stderr_bytes"`
}

func (s *server) list() *sdk.CallToolResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []listed{}
	for _, id := range s.order {
		r := s.runs[id]
		l := listed{
			ID: id, Script: r.title, Dir: r.dir, Running: r.p.running(),
			DurationMS: time.Since(r.p.started).Milliseconds(), Stdout: r.p.stdout.total(), Stderr: r.p.stderr.total(),
		}
		if !l.Running {
			code := r.p.exit.Code
			l.ExitCode, l.Ended, l.DurationMS = &code, r.p.ended, r.p.took.Milliseconds()
		}
		out = append(out, l)
	}
	return asJSON(map[string]any{"runs": out}, false)
}
