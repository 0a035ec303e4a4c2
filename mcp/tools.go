package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"safeshell/permit"
)

// runInput is what the tool run takes.
type runInput struct {
	Code       string            `json:"code,omitempty" jsonschema:"the script; shell: begins with the line: initcmds NAME...; typescript: calls await initCmds([\"name\"])"`
	Language   string            `json:"language,omitempty" jsonschema:"of code: shell (default) or typescript"`
	File       string            `json:"file,omitempty" jsonschema:"a script file instead of code"`
	Args       []string          `json:"args,omitempty" jsonschema:"arguments of the script"`
	Cwd        string            `json:"cwd,omitempty" jsonschema:"working directory; default: the project"`
	Env        map[string]string `json:"env,omitempty" jsonschema:"variables added to the environment"`
	Timeout    float64           `json:"timeout,omitempty" jsonschema:"time limit in seconds; default 120, in the background none"`
	Background bool              `json:"background,omitempty" jsonschema:"return at once with a run id for the tool scripts"`
	RetryID    string            `json:"retry_id,omitempty" jsonschema:"of a COMMANDS_BLOCKED answer: go on with exactly that script"`
	UserChoice int               `json:"userChoice,omitempty" jsonschema:"with retry_id, what the USER chose: 1 once, 2 session, 3 always, 4 deny"`
}

// scriptsInput is what the tool scripts takes.
type scriptsInput struct {
	Action       string  `json:"action" jsonschema:"list, read, wait or kill"`
	ID           string  `json:"id,omitempty" jsonschema:"the run; not for list"`
	StdoutOffset int64   `json:"stdout_offset,omitempty" jsonschema:"read and wait: the first byte wanted, the last answer's stdout_next"`
	StderrOffset int64   `json:"stderr_offset,omitempty" jsonschema:"read and wait: the first byte wanted, the last answer's stderr_next"`
	Timeout      float64 `json:"timeout,omitempty" jsonschema:"wait: at most so many seconds; default 30"`
}

// checkInput is what the tool permit_check takes.
type checkInput struct {
	Commands []string `json:"commands,omitempty" jsonschema:"names or paths, as a script would declare them"`
	Code     string   `json:"code,omitempty" jsonschema:"or a script, whose declaration is checked"`
	Language string   `json:"language,omitempty" jsonschema:"of code: shell (default) or typescript"`
	File     string   `json:"file,omitempty" jsonschema:"or a script file"`
	Cwd      string   `json:"cwd,omitempty" jsonschema:"working directory; default: the project"`
}

func (s *server) addTools(srv *sdk.Server) {
	yes, no := true, false
	sdk.AddTool(srv, &sdk.Tool{
		Name:        "run",
		Title:       "Run a script",
		Description: "Run a shell or TypeScript script that declares its external commands first. Commands that are not permitted yet are all reported at once, before anything runs, as COMMANDS_BLOCKED with a retry_id: show the user the hint, then call run with retry_id and userChoice. Returns exit code, stdout and stderr (the last 1 MiB of each).",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
	}, s.toolRun)
	sdk.AddTool(srv, &sdk.Tool{
		Name:        "scripts",
		Title:       "Background scripts",
		Description: "List background runs, read their output from an offset, wait for their end, or kill one with all that it started.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	}, s.toolScripts)
	sdk.AddTool(srv, &sdk.Tool{
		Name:        "permit_check",
		Title:       "Check commands",
		Description: "Say which commands a script may declare. Runs nothing and asks nobody.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, s.toolCheck)
}

// runResult is how a script ran, or runs.
type runResult struct {
	ID         string `json:"id,omitempty"` // of a background run
	Running    bool   `json:"running,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"` // missing while it runs
	Signal     int    `json:"signal,omitempty"`    // that ended it
	Ended      string `json:"ended,omitempty"`     // by the server: time limit, cancelled, killed
	DurationMS int64  `json:"duration_ms"`
	Stdout     string `json:"stdout"`
	StdoutB64  string `json:"stdout_base64,omitempty"`
	StdoutLost int64  `json:"stdout_lost,omitempty"` // bytes before stdout that are not kept
	StdoutNext int64  `json:"stdout_next"`
	Stderr     string `json:"stderr"`
	StderrB64  string `json:"stderr_base64,omitempty"`
	StderrLost int64  `json:"stderr_lost,omitempty"`
	StderrNext int64  `json:"stderr_next"`
	// Notes say what is worth knowing, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

// resultOf shows a process's output from the given offsets on.
func resultOf(p *process, id string, outAt, errAt int64) runResult {
	// Whether it ended is asked first: then the output is whole.
	running := p.running()
	out, errs := p.stdout.from(outAt, keepOutput), p.stderr.from(errAt, keepOutput)
	r := runResult{
		ID: id, Running: running, DurationMS: time.Since(p.started).Milliseconds(),
		Stdout: out.Text, StdoutB64: out.Base64, StdoutLost: out.Lost, StdoutNext: out.Next,
		Stderr: errs.Text, StderrB64: errs.Base64, StderrLost: errs.Lost, StderrNext: errs.Next,
	}
	if !running {
		code := p.exit.Code
		r.ExitCode, r.Signal, r.Ended, r.DurationMS = &code, p.exit.Signal, p.ended, p.took.Milliseconds()
		r.Notes = append(r.Notes, p.notes...)
		if p.exit.Error != "" {
			r.Notes = append(r.Notes, p.exit.Error)
		}
	}
	for _, l := range []struct {
		name string
		lost int64
		b64  string
	}{{"stdout", r.StdoutLost, r.StdoutB64}, {"stderr", r.StderrLost, r.StderrB64}} {
		if l.lost > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: the first %d bytes are not kept, only the last %d; write long output to a file", l.name, l.lost, keepOutput))
		}
		if l.b64 != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s is not UTF-8: the exact bytes are in %s_base64", l.name, l.name))
		}
	}
	return r
}

// text is the result as an agent reads it.
func (r runResult) text() string {
	var b strings.Builder
	if r.ID != "" {
		fmt.Fprintf(&b, "run %s: ", r.ID)
	}
	took := time.Duration(r.DurationMS) * time.Millisecond
	switch {
	case r.Running:
		fmt.Fprintf(&b, "running for %s\n", took)
	case r.Ended != "":
		fmt.Fprintf(&b, "ended by the %s after %s, with all that it started (exit code %d)\n", endedWords(r.Ended), took, *r.ExitCode)
	case r.Signal != 0:
		fmt.Fprintf(&b, "ended by signal %d after %s (exit code %d)\n", r.Signal, took, *r.ExitCode)
	default:
		fmt.Fprintf(&b, "exit code %d after %s\n", *r.ExitCode, took)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, p := range []struct{ name, text string }{{"stdout", r.Stdout}, {"stderr", r.Stderr}} {
		if p.text == "" {
			continue
		}
		fmt.Fprintf(&b, "--- %s\n%s", p.name, p.text)
		if !strings.HasSuffix(p.text, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String()
}

func endedWords(why string) string {
	switch why {
	case endedByClient:
		return "client, which cancelled it,"
	case endedByKill:
		return "call of scripts kill"
	case endedByClose:
		return "end of the server"
	}
	return why
}

// answer is a tool's result in both forms. A script that failed is an error of
// the tool, so that agents see it as one.
func (r runResult) answer() *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: r.text()}},
		StructuredContent: r,
		IsError:           !r.Running && (r.Ended == endedByLimit || r.ExitCode != nil && *r.ExitCode != 0 && r.Ended != endedByKill),
	}
}

// blocked is the refusal of a declaration, the JSON of docs/permit.md.
func blocked(b permit.Blocked) *sdk.CallToolResult {
	return asJSON(b, true)
}

func asJSON(v any, isError bool) *sdk.CallToolResult {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return failed(err)
	}
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: v, IsError: isError,
	}
}

// failed is one clear error.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}, IsError: true}
}

func failedf(format string, a ...any) *sdk.CallToolResult { return failed(fmt.Errorf(format, a...)) }

// seconds is a time of a call; ok is false when it is none.
func seconds(s float64, otherwise time.Duration) (time.Duration, bool) {
	switch {
	case s == 0:
		return otherwise, true
	case s > 0 && s <= 7*24*3600:
		return time.Duration(s * float64(time.Second)), true
	}
	return 0, false
}
