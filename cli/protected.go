package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"safeshell/config"
)

// protectedRule is a matter of taste: for everyone, or for agents alone.
const protectedRule = "block-commit-protected"

// ask asks whether to go on. The first time, and where the user has no rules, it
// asks in the same question for whom commits on protected branches are refused.
func (c *initCmd) ask(a *app) (err error) {
	_, installed := os.Lstat(filepath.Join(a.paths.Home, "startup-files"))
	if _, err := os.Lstat(a.paths.Rules); installed == nil || !errors.Is(err, fs.ErrNotExist) {
		return a.confirm("Go on?")
	}
	a.note("Commits on main, master, develop and production are refused: to agents and to you (y), or to agents alone (a).")
	c.agentsAlone, err = a.choice("Go on?", "y/a", "a")
	return err
}

// protectFromAgentsAlone writes that into the user's rules, of which there are
// none yet.
func (a *app) protectFromAgentsAlone() error {
	text := fmt.Sprintf("overrides:\n  - {name: %s, context: ai_only}\n", protectedRule)
	return config.Replace(a.paths.Rules, []byte(text), true)
}
