package cli

import (
	"time"

	"safeshell/config"
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
	config.SweepUnfinished(time.Now(), a.paths.Cache, a.paths.Trust, a.paths.Grants)
	return s.GC(time.Now())
}
