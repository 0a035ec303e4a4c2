package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/agents"
	"safeshell/config"
	"safeshell/shims"
)

type agentsCmd struct {
	List      agentsListCmd      `cmd:"" help:"The agents that are known, which are here, and which are guarded." default:"1"`
	Install   agentsInstallCmd   `cmd:"" help:"Put safeshell's hook into an agent's configuration."`
	Uninstall agentsUninstallCmd `cmd:"" help:"Take it out again."`
	Doctor    agentsDoctorCmd    `cmd:"" help:"Check an agent's guard, with a probe that must be denied."`
}

// agentsEnv is what package agents sees of this machine.
func (a *app) agentsEnv() agents.Env {
	env := agents.Env{
		Getenv: a.getenv, Environ: func() []string { return a.p.Environ }, Home: a.paths.User,
		Shims: a.paths.Shims, Shadowed: shims.Shadowed,
		Binary: a.hookBinary(), Approval: a.g.Config().Approval.Timeout, FailOpen: a.g.Config().FailOpen(),
		LookPath: func(name string) (string, error) {
			for _, d := range filepath.SplitList(a.getenv("PATH")) {
				if d == a.paths.Shims || !filepath.IsAbs(d) {
					continue
				}
				if p, err := exec.LookPath(filepath.Join(d, name)); err == nil {
					return p, nil
				}
			}
			return "", exec.ErrNotFound
		},
	}
	if dir, err := os.Getwd(); err == nil {
		env.ProjectDir = projectDir(dir)
	}
	_, problems := a.g.Rules()
	for _, p := range problems {
		f := agents.Finding{Level: agents.Warn, Fix: config.Edit(p.File)}
		p.Fix = "" // it has a line of its own
		f.Text = p.String()
		if p.Fatal {
			f.Level = agents.Fail
		}
		env.Rules = append(env.Rules, f)
	}
	return env
}

// hookBinary is the path that hooks call: the link in safeshell's home, which
// stays when the binary moves, where it leads here.
func (a *app) hookBinary() string {
	if _, here, _ := a.linked(); here {
		return shims.Link(a.paths.Home)
	}
	return self()
}

// projectDir is the repository around dir, else dir itself.
func projectDir(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// named returns the agents that were named, else those that are on this
// machine.
func named(env agents.Env, names []string) ([]agents.Agent, error) {
	var out []agents.Agent
	for _, n := range names {
		ag, ok := agents.Find(n)
		if !ok {
			return nil, usageError{fmt.Errorf("no agent is called %q; known are %s; see: safeshell agents list", visible(n), strings.Join(agents.Names(), ", "))}
		}
		out = append(out, ag)
	}
	if len(names) > 0 {
		return out, nil
	}
	for _, ag := range agents.All() {
		if agents.Detected(env, ag) {
			out = append(out, ag)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no agent was found on this machine; name one of those in `safeshell agents list`")
	}
	return out, nil
}

type agentsListCmd struct {
	JSON    bool `help:"Print one JSON object a line." name:"json"`
	Project bool `help:"Look at the project's configuration instead of the user's."`
}

// listedAgent is what --json prints of an agent.
type listedAgent struct {
	Agent   string   `json:"agent"`
	Here    bool     `json:"here"`
	Guarded string   `json:"guarded"`
	Rewrite string   `json:"rewrite"`
	Ask     string   `json:"ask"`
	Why     string   `json:"why,omitempty"` // not guarded
	Fix     string   `json:"fix,omitempty"`
	Files   []string `json:"files"`
}

func (c *agentsListCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	env := a.agentsEnv()
	if !c.JSON {
		if err := a.printf("%-14s %-6s %-9s %-8s %-8s %s\n", "AGENT", "HERE", "GUARDED", "REWRITE", "ASK", "FILE"); err != nil {
			return err
		}
	}
	for _, ag := range agents.All() {
		st := agents.Status(env, ag, agents.InstallOptions{Project: c.Project, Binary: env.Binary, TimeoutSeconds: hookTimeout(0, env.Approval)})
		sound, why := agents.Guard(env, ag, c.Project)
		guarded := "no"
		switch {
		case ag.Hook == agents.NoHook:
			guarded = "-" // the shims alone; its guide says how
		case ag.Hook == agents.Manual:
			guarded = "by hand"
		case sound && st.Current:
			guarded = "yes"
		case sound:
			guarded = "outdated"
		case st.Err != nil && st.Detected && why.Text == "":
			why.Text = st.Err.Error()
		}
		if guarded != "no" {
			why = agents.Finding{}
		}
		if c.JSON {
			if err := a.printJSON(listedAgent{ag.Name, st.Detected, guarded, fmt.Sprint(ag.Rewrite), fmt.Sprint(ag.Ask), why.Text, why.Fix, append([]string{}, st.Files...)}); err != nil {
				return err
			}
			continue
		}
		if err := a.printf("%-14s %-6s %-9s %-8s %-8s %s\n", ag.Name, yesNo(st.Detected), guarded, ag.Rewrite, ag.Ask, visible(strings.Join(st.Files, ", "))); err != nil {
			return err
		}
		if why.Text != "" {
			if err := a.printf("               no: %s\n", visible(why.Text)); err != nil {
				return err
			}
		}
		if why.Fix != "" {
			if err := a.printf("               -> %s\n", visible(why.Fix)); err != nil {
				return err
			}
		}
	}
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

type agentsInstallCmd struct {
	Agents     []string `arg:"" optional:"" name:"agent" complete:"agents" help:"Which (default: all that are on this machine)."`
	Project    bool     `help:"Into this project's configuration instead of the user's."`
	Timeout    int      `help:"The hook's time limit (default: a tenth more than approval.timeout_seconds)." placeholder:"SECONDS"`
	TrustCodex bool     `help:"Also write the hash by which Codex recognises an accepted hook."`
}

func (c *agentsInstallCmd) Run(a *app) error {
	if c.Timeout < 0 {
		return usageError{fmt.Errorf("--timeout %d is negative; for example: safeshell agents install --timeout 330", c.Timeout)}
	}
	if err := a.open(); err != nil {
		return err
	}
	if caller := a.g.Caller(); caller.Agent != "" {
		if err := a.mustBeHuman("changing agents' configuration"); err != nil {
			return err
		}
	}
	if err := a.prepare(); err != nil {
		return err
	}
	err := a.eachAgent(c.Agents, func(env agents.Env, ag agents.Agent) (agents.Result, error) {
		return agents.Install(env, ag, agents.InstallOptions{Project: c.Project, Binary: env.Binary, TrustCodex: c.TrustCodex, TimeoutSeconds: hookTimeout(c.Timeout, env.Approval)})
	})
	if err == nil && !slices.Contains(filepath.SplitList(a.getenv("PATH")), a.paths.Shims) {
		a.note("note: the shims are not in PATH here: a command that is redirected (rm) gets them put in front of it, which an allow rule of the agent's own may not cover; to have them in PATH: safeshell init")
	}
	return err
}

// hookTimeout is the limit to configure, in seconds: it leaves a person the
// configured time and the hook a rest to deny in.
func hookTimeout(given int, approval time.Duration) int {
	if given > 0 {
		return given
	}
	return int((approval + approval/10).Seconds())
}

type agentsUninstallCmd struct {
	Agents  []string `arg:"" optional:"" name:"agent" complete:"agents" help:"Which (default: all that are on this machine)."`
	Project bool     `help:"From this project's configuration instead of the user's."`
}

func (c *agentsUninstallCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if caller := a.g.Caller(); caller.Agent != "" {
		if err := a.mustBeHuman("changing agents' configuration"); err != nil {
			return err
		}
	}
	return a.eachAgent(c.Agents, func(env agents.Env, ag agents.Agent) (agents.Result, error) {
		return agents.Uninstall(env, ag, agents.InstallOptions{Project: c.Project, Binary: env.Binary})
	})
}

// eachAgent does something to each agent and says what became of it; one
// failure does not stop the rest.
func (a *app) eachAgent(names []string, do func(agents.Env, agents.Agent) (agents.Result, error)) error {
	env := a.agentsEnv()
	list, err := named(env, names)
	if err != nil {
		return err
	}
	failed := false
	for _, ag := range list {
		res, err := do(env, ag)
		switch {
		case err != nil && len(names) == 0 && (agents.NoPlace(err) || errors.Is(err, agents.ErrNotInstalled)):
			a.note("note: %s: %v", ag.Name, err) // nobody has asked for this one
			continue
		case err != nil:
			failed = true
			a.note("safeshell: %s: %v", ag.Name, err)
			continue
		}
		for _, f := range res.Files {
			backup := ""
			if f.Backup != "" {
				backup = "  (before: " + f.Backup + ")"
			}
			if err := a.printf("%s: %s %s%s\n", ag.Name, f.Change, visible(f.Path), visible(backup)); err != nil {
				return err
			}
		}
		for _, n := range res.Notes {
			if err := a.printf("%s: %s\n", ag.Name, visible(n)); err != nil {
				return err
			}
		}
	}
	return codeIf(failed)
}

type agentsDoctorCmd struct {
	colored
	JSON   bool     `help:"Print one JSON object a line, one for each agent." name:"json"`
	Agents []string `arg:"" optional:"" name:"agent" complete:"agents" help:"Which (default: all that are on this machine)."`
}

func (c *agentsDoctorCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	env := a.agentsEnv()
	list, err := named(env, c.Agents)
	if err != nil {
		return err
	}
	failed, colours := false, c.palette(a)
	for _, ag := range list {
		var fs []finding
		for _, f := range agents.Doctor(env, ag) {
			if f.NoPlace && len(c.Agents) > 0 {
				f.Level = agents.Fail // it was asked for
			}
			fs = append(fs, finding{string(f.Level), f.Text, f.Fix})
		}
		r := reportOn(fs)
		failed = failed || !r.OK
		if c.JSON {
			err = a.printJSON(struct {
				Agent string `json:"agent"`
				report
			}{ag.Name, r})
		} else if err = a.printf("%s\n", ag.Display); err == nil {
			err = a.printFindings(colours, r)
		}
		if code := exitError(0); err != nil && !errors.As(err, &code) {
			return err
		}
	}
	return codeIf(failed)
}
