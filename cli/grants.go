package cli

import (
	"errors"

	"safeshell/front"
	"safeshell/spool"
)

type grantsCmd struct {
	List   grantsListCmd   `cmd:"" help:"List remembered answers." default:"1"`
	Revoke grantsRevokeCmd `cmd:"" help:"Forget remembered answers, so that they are asked again."`
}

type grantsListCmd struct {
	JSON bool `help:"Print one JSON object a line." name:"json"`
}

func (c *grantsListCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	gs, err := spool.OpenGrants(a.paths.Grants)
	if err != nil {
		return err
	}
	list, err := gs.List()
	for _, g := range list {
		if c.JSON {
			if err := a.printJSON(g); err != nil {
				return err
			}
			continue
		}
		scope := "always"
		if g.Choice == spool.Session {
			scope = "session " + g.Session
			if !g.Until.IsZero() {
				scope += ", until " + g.Until.Local().Format("2006-01-02 15:04")
			}
		}
		if err := a.printf("%s  %s\n  command:   %s\n  directory: %s\n  rule:      %s\n  given:     %s by %s\n", g.ID, visible(scope), visible(g.Command), visible(g.Dir), visible(g.Rule), g.At.Local().Format("2006-01-02 15:04"), visible(g.By)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(list) == 0 && !c.JSON {
		a.note("no answers are remembered")
	}
	return nil
}

type grantsRevokeCmd struct {
	IDs []string `arg:"" optional:"" name:"id" complete:"grants" help:"Which (safeshell grants list)."`
	All bool     `help:"All of them."`
}

func (c *grantsRevokeCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if c.All == (len(c.IDs) > 0) {
		return usageError{errors.New("name what to revoke, or give --all; see `safeshell grants list`")}
	}
	if err := a.mustBeHuman("changing remembered answers"); err != nil {
		return err
	}
	gs, err := spool.OpenGrants(a.paths.Grants)
	if err != nil {
		return err
	}
	ids := c.IDs
	if c.All {
		list, err := gs.List()
		if err != nil {
			front.Complain(a.err, err)
		}
		for _, g := range list {
			ids = append(ids, g.ID)
		}
	}
	for _, id := range ids {
		if err := gs.Revoke(id); err != nil {
			return err
		}
		if err := a.printf("revoked %s\n", visible(id)); err != nil {
			return err
		}
	}
	return nil
}
