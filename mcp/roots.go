package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// multiRound is the first protocol version in which a server asks the client by
// the result of a call (SEP-2322) instead of by a request of its own.
const multiRound = "2026-07-28"

// rootsWait bounds the wait for the client's roots.
const rootsWait = 5 * time.Second

// keys of what a result asks for.
const (
	rootsKey  = "roots"
	choiceKey = "choice"
)

// projectDir returns the directory that relative paths of a call start from:
// the client's first root, else where the server was started. A result that is
// not nil asks the client for its roots first.
func (s *server) projectDir(ctx context.Context, req *sdk.CallToolRequest) (string, *sdk.CallToolResult, error) {
	roots, ask, err := s.rootsOf(ctx, req)
	if err != nil || ask != nil {
		return "", ask, err
	}
	if len(roots) > 0 {
		return roots[0], nil, nil
	}
	return s.o.Dir, nil, nil
}

func (s *server) rootsOf(ctx context.Context, req *sdk.CallToolRequest) ([]string, *sdk.CallToolResult, error) {
	s.rootMu.Lock()
	defer s.rootMu.Unlock()
	if s.rootsOK {
		return s.roots, nil, nil
	}
	caps := req.ClientCapabilities()
	if caps == nil || caps.RootsV2 == nil {
		s.rootsOK = true
		return nil, nil, nil
	}
	var list *sdk.ListRootsResult
	if req.ProtocolVersion() >= multiRound {
		var ok bool
		if list, ok = req.Params.InputResponses[rootsKey].(*sdk.ListRootsResult); !ok {
			return nil, &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{rootsKey: &sdk.ListRootsParams{}}}, nil
		}
	} else {
		ctx, cancel := context.WithTimeout(ctx, rootsWait)
		defer cancel()
		var err error
		if list, err = req.Session.ListRoots(ctx, nil); err != nil {
			return nil, nil, fmt.Errorf("the client says that it has roots, but did not name them: %w; nothing has run; give an absolute cwd", err)
		}
	}
	var roots []string
	for _, r := range list.Roots {
		if r == nil {
			continue
		}
		dir, err := fileOf(r.URI)
		if err != nil {
			return nil, nil, fmt.Errorf("root %q: %w; nothing has run; mend the client's roots", r.URI, err)
		}
		roots = append(roots, dir)
	}
	// A client that does not tell of changes is asked anew by each call; not
	// where that would cost each call a round of its own.
	s.roots, s.rootsOK = roots, caps.RootsV2.ListChanged || req.ProtocolVersion() >= multiRound
	return roots, nil, nil
}

// forgetRoots makes the next call ask for them again.
func (s *server) forgetRoots() {
	s.rootMu.Lock()
	s.rootsOK = false
	s.rootMu.Unlock()
}

// fileOf returns the path of a file: URI.
func fileOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", errors.New("it is not a URI")
	case u.Scheme != "file" || u.Host != "" && u.Host != "localhost":
		return "", errors.New("it is not a file: URI of this machine")
	case !filepath.IsAbs(u.Path):
		return "", errors.New("its path is not absolute")
	}
	return filepath.Clean(u.Path), nil
}

// workDir is where a call runs: base, or cwd from there.
func workDir(base, cwd string) (string, error) {
	dir := base
	if cwd != "" {
		if dir = cwd; !filepath.IsAbs(cwd) {
			dir = filepath.Join(base, cwd)
		}
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("cwd: %w; nothing has run", err)
	}
	if !fi.IsDir() {
		return "", fmt.Errorf("cwd: %s is not a directory; nothing has run", dir)
	}
	return filepath.EvalSymlinks(dir)
}
