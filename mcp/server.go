// Package mcp is safeshell's MCP server on stdio: agents hand it scripts that
// declare their commands, and read how they ran.
//
// It decides nothing that package permit does not decide, and runs nothing
// itself: each script is started as `safeshell run`, below a supervisor that
// can end all that the script starts. A choice is taken from a human where one
// can be reached: in the monitor, else through the client (elicitation), else
// from what the agent says that its user chose.
package mcp

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"safeshell/config"
	"safeshell/gate"
)

// Options are what the server sees of the world.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Environ is the environment of scripts, before what a call adds.
	Environ []string
	Paths   config.Paths
	Config  config.Config
	Binary  string // safeshell's own absolute path
	Dir     string // working directory, where the client names no roots
	Version string
	Log     *slog.Logger // diagnostics; nil: none
}

// Serve answers one client until it closes its end, or ctx ends. When it
// returns, no script of this session runs any more.
func Serve(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := newServer(ctx, o)
	defer s.close()
	srv := sdk.NewServer(&sdk.Implementation{Name: "safeshell", Title: "SafeShell", Version: o.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Logger:       o.Log,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		RootsListChangedHandler: func(context.Context, *sdk.RootsListChangedRequest) {
			s.forgetRoots()
		},
	})
	s.addTools(srv)
	// The end of the input ends the scripts, whose calls are answered then.
	session, err := srv.Connect(ctx, newLines(o.In, o.Out, cancel), nil)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		_ = session.Wait() // how the client left
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.close()
		// The answers to what was ended are on their way.
		select {
		case <-done:
		case <-time.After(time.Second):
			_ = session.Close()
		}
	}
	return nil
}

const instructions = `Runs scripts whose external commands are declared and permitted before their first line runs.
Shell: begin with "initcmds NAME..." and go on in plain bash. TypeScript: const [curl] = await initCmds(["curl"]); await curl("-s", url).
If a run answers COMMANDS_BLOCKED, stop, show the user the hint, and call run again with retry_id and the user's choice.`

// server is one session.
type server struct {
	o       Options
	ctx     context.Context // ends with the session
	session string
	started time.Time

	mu      sync.Mutex
	closed  bool
	runs    map[string]*run // background runs by id
	order   []string
	lastRun int
	files   int
	all     map[*process]bool
	agent   string

	rootMu  sync.Mutex
	roots   []string
	rootsOK bool
}

func newServer(ctx context.Context, o Options) *server {
	now := time.Now()
	return &server{
		o: o, ctx: ctx, started: now,
		session: "mcp-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(now.UnixNano(), 36),
		runs:    map[string]*run{}, all: map[*process]bool{},
	}
}

// close ends all that runs and waits for it.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	var all []*process
	for p := range s.all {
		all = append(all, p)
	}
	s.mu.Unlock()
	for _, p := range all {
		p.end(endedByClose)
	}
	for _, p := range all {
		<-p.done
	}
	os.RemoveAll(s.scratch())
}

// scratch is where scripts that come as text are kept while they run.
func (s *server) scratch() string {
	return filepath.Join(s.o.Paths.Home, "mcp", s.session)
}

// environ is the environment of this session's scripts: the server's own, and
// who asks. Where the environment names the agent's session, this server is a
// part of it; else it is a session of its own.
func (s *server) environ() []string {
	env := s.o.Environ
	if gate.New(gate.Env{Environ: env, Paths: s.o.Paths}).SessionHint() != "" {
		return env
	}
	if (gate.Env{Environ: env}).Getenv("AI_AGENT") == "" {
		s.mu.Lock()
		env = set(env, "AI_AGENT", s.agent)
		s.mu.Unlock()
	}
	return set(env, "SAFESHELL_SESSION", s.session)
}

// noteClient keeps the client's name, by which the journal calls it.
func (s *server) noteClient(info *sdk.Implementation) {
	name := "mcp"
	if info != nil {
		clean := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.':
				return r
			case r >= 'A' && r <= 'Z':
				return r + 'a' - 'A'
			case r == ' ' || r == '_' || r == '/':
				return '-'
			}
			return -1
		}, info.Name)
		if clean != "" && clean != "1" {
			name = clean[:min(len(clean), 40)]
		}
	}
	s.mu.Lock()
	s.agent = name
	s.mu.Unlock()
}

// set returns env with a variable set.
func set(env []string, name, value string) []string {
	return append(unset(env, name), name+"="+value)
}

// unset returns env without a variable.
func unset(env []string, name string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			out = append(out, kv)
		}
	}
	return out
}

// launch starts a process of this session.
func (s *server) launch(argv, env []string, dir string) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("nothing has run: %w", errEnded)
	}
	p, err := start(s.o.Binary, argv, env, dir)
	if err != nil {
		return nil, err
	}
	s.all[p] = true
	go func() {
		<-p.done
		s.mu.Lock()
		delete(s.all, p)
		s.mu.Unlock()
	}()
	return p, nil
}
