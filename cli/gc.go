package cli

import (
	"time"

	"safeshell/config"
	"safeshell/eval"
)

type gcCmd struct{}

// Run removes what the monitor removes now and then, for machines where none
// runs: requests that ended ten minutes ago or more, and the unfinished files of
// commands that were killed. Nothing that still waits or counts is touched.
func (c *gcCmd) Run(a *app) error {
	s, err := a.spool()
	if err != nil {
		return err
	}
	a.sweepOld()
	return s.GC(time.Now())
}

// sweepOld removes from safeshell's own directories what commands that were
// killed left unfinished, and compiled rules that nobody uses any more.
func (a *app) sweepOld() {
	config.SweepUnfinished(time.Now(), a.paths.Cache, a.paths.Trust, a.paths.Grants)
	eval.SweepCache(a.paths.Cache, time.Now())
}
