package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"safeshell/internal/test/testbinary"
	"safeshell/internal/test/testdir"
)

// binary is the real program.
var binary string

func TestMain(m *testing.M) { os.Exit(testbinary.Run(m, &binary)) }

// world is a scratch home, project and PATH.
type world struct {
	t               testing.TB
	home, proj, bin string
	env             []string
	elicit          func(*sdk.ElicitParams) (*sdk.ElicitResult, error)
	roots           []string
	oldProtocol     bool
	mute            bool // it does not tell of changed roots
	progress        func(string)
	client          *sdk.Client // of the last connect
}

// newWorld makes one with fake commands curl and cargo, and scripts/build.sh.
func newWorld(t testing.TB) *world {
	top := testdir.New(t)
	w := &world{t: t, home: filepath.Join(top, "home"), proj: filepath.Join(top, "proj"), bin: filepath.Join(top, "bin")}
	for _, d := range []string{w.home, w.proj + "/.git", w.proj + "/scripts", w.bin, top + "/tmp"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		w.bin + "/curl": "#!/bin/sh\necho fake curl \"$@\"\n", w.bin + "/cargo": "#!/bin/sh\necho fake cargo \"$@\"\n",
		w.proj + "/scripts/build.sh": "#!/bin/sh\necho built \"$@\"\n",
	} {
		w.write(name, text, 0o755)
	}
	w.env = []string{"HOME=" + w.home, "PATH=" + w.bin + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + top + "/tmp"}
	return w
}

func (w *world) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.proj, path)
	}
	if err := testdir.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

// allow permits commands in config.yaml.
func (w *world) allow(commands ...string) {
	w.t.Helper()
	_ = os.MkdirAll(w.home+"/.safeshell", 0o700)
	w.write(w.home+"/.safeshell/config.yaml", "permissions: {commands: ["+strings.Join(commands, ", ")+"]}\n", 0o600)
}

func (w *world) server() *exec.Cmd {
	c := exec.Command(binary, "mcp")
	c.Env, c.Dir = w.env, w.proj
	c.Stderr = os.Stderr
	return c
}

// connect starts a server and the SDK's client.
func (w *world) connect() *sdk.ClientSession {
	w.t.Helper()
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if w.elicit != nil {
		o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return w.elicit(r.Params) }
	}
	if w.roots != nil {
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{ListChanged: !w.mute}
	}
	if w.progress != nil {
		o.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { w.progress(r.Params.Message) }
	}
	so := &sdk.ClientSessionOptions{}
	if w.oldProtocol {
		so.ProtocolVersion = "2025-06-18"
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "Test Client", Version: "1"}, o)
	w.client = c
	for _, r := range w.roots {
		c.AddRoots(&sdk.Root{URI: "file://" + r})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := c.Connect(ctx, &sdk.CommandTransport{Command: w.server(), TerminateDuration: 20 * time.Second}, so)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

type args map[string]any

// call calls a tool and returns its text and the structured result.
func call(t testing.TB, s *sdk.ClientSession, tool string, a args) (*sdk.CallToolResult, string, runResult) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, a, err)
	}
	return res, textOf(res), structured(res)
}

func textOf(res *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if tc, ok := c.(*sdk.TextContent); ok {
			b.WriteString(tc.Text)
		}
	}
	return b.String()
}

func structured(res *sdk.CallToolResult) runResult {
	var r runResult
	b, _ := json.Marshal(res.StructuredContent)
	_ = json.Unmarshal(b, &r)
	return r
}

// retryID returns the id of a refusal.
func retryID(t testing.TB, res *sdk.CallToolResult) string {
	t.Helper()
	var b struct {
		Error   struct{ Type string }
		RetryID string `json:"retry_id"`
	}
	if err := json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &b); err != nil || b.Error.Type != "COMMANDS_BLOCKED" || !res.IsError {
		t.Fatalf("no refusal: %s (%v)", textOf(res), err)
	}
	return b.RetryID
}

func contains(t testing.TB, text string, want ...string) {
	t.Helper()
	for _, x := range want {
		if !strings.Contains(text, x) {
			t.Fatalf("%q is not in:\n%s", x, text)
		}
	}
}

// raw is a server that is spoken to in lines.
type raw struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (w *world) raw(initialize bool) *raw {
	w.t.Helper()
	r := &raw{t: w.t, cmd: w.server()}
	in, err := r.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	r.in, r.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		in.Close()
		timer := time.AfterFunc(time.Minute, func() { _ = r.cmd.Process.Kill() })
		_ = r.cmd.Wait()
		timer.Stop()
	})
	if initialize {
		r.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
		contains(w.t, r.line(), `"serverInfo"`)
		r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return r
}

func (r *raw) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) line() string {
	r.t.Helper()
	timer := time.AfterFunc(time.Minute, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	s, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatalf("%v after %q", err, s)
	}
	return s
}
