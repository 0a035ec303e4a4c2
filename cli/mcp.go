package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"safeshell/config"
	"safeshell/mcp"
	"safeshell/mcp/supervise"
)

type mcpCmd struct {
	// Supervise is the server's own: the process between it and one script.
	Supervise bool     `hidden:""`
	Argv      []string `arg:"" optional:"" hidden:"" passthrough:"partial"`
}

func (c *mcpCmd) Run(a *app) error {
	if c.Supervise {
		argv := c.Argv
		if len(argv) > 0 && argv[0] == "--" {
			argv = argv[1:]
		}
		if len(argv) == 0 {
			return exitError(2)
		}
		return codeError(supervise.Run(argv, a.p.Environ))
	}
	if len(c.Argv) > 0 {
		return usageError{errors.New("mcp takes no arguments; it speaks MCP on its standard input and output")}
	}
	paths, err := config.Locate(a.getenv)
	if err != nil {
		return err
	}
	a.paths = paths
	if err := a.makeHome(); err != nil {
		return err
	}
	cfg, err := config.Load(paths.Config)
	if err != nil {
		a.note("safeshell: %s", a.paths.Unreadable(err))
	}
	dir, err := os.Getwd()
	if err != nil {
		return errors.New("the working directory is gone; start the server in one that is there: cd ~")
	}
	// A client that goes away takes its scripts along.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	return mcp.Serve(ctx, mcp.Options{
		In: os.Stdin, Out: a.out, Environ: a.p.Environ, Paths: paths, Config: cfg, Binary: self(), Dir: dir, Version: Version,
		Log: slog.New(a.diagnostics(a.err)),
	})
}
