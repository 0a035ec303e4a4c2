package cli

import (
	"fmt"
	"path/filepath"

	"safeshell/eval"
	"safeshell/permit"
)

type trustCmd struct {
	Dir string `arg:"" optional:"" default:"." complete:"dirs" help:"The repository, or a directory in it: its files, and those above it up to the root, count there."`
}

func (c *trustCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	if err := a.mustBeHuman("trusting a repository's rules"); err != nil {
		return err
	}
	dirs, err := eval.TrustDirs(a.paths, dir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if err := permit.CheckFile(d); err != nil {
			return fmt.Errorf("nothing was trusted: %w; mend it, then trust again", err)
		}
	}
	files, err := eval.Trust(a.paths, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := a.printf("trusted %s\n", visible(f.File)); err != nil {
			return err
		}
	}
	a.note("Each file is trusted as it is now; a changed one must be trusted again.")
	return nil
}

type untrustCmd struct {
	Dir string `arg:"" optional:"" default:"." complete:"dirs" help:"The repository, or a directory in it, as for trust."`
}

func (c *untrustCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	if err := a.mustBeHuman("changing what is trusted"); err != nil {
		return err
	}
	files, err := eval.Untrust(a.paths, dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := a.printf("no longer trusted: %s\n", visible(f.File)); err != nil {
			return err
		}
	}
	return nil
}
