package front

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"safeshell/permit"
	"safeshell/shims"
	"safeshell/spool"
)

// permittedJSON is the answer when nothing is blocked.
type permittedJSON struct {
	Commands []permittedCommand `json:"commands"`
}

type permittedCommand struct {
	Command string       `json:"command"`
	Path    string       `json:"path,omitempty"`
	Scope   permit.Scope `json:"scope"`
}

// permitted takes check, --json, and commands.
func permitted(p shims.Process, args []string) (int, bool) {
	if args[0] != "check" {
		return 0, false
	}
	args = args[1:]
	asJSON := len(args) > 0 && args[0] == "--json"
	if asJSON {
		args = args[1:]
	}
	isOption := func(a string) bool { return strings.HasPrefix(a, "-") }
	if len(args) > 0 && args[0] != "--" && slices.ContainsFunc(args, isOption) {
		return 0, false // options may stand anywhere in front of a --
	}
	s, args, ok := scripts(p, args)
	if !ok {
		return 0, false
	}
	return s.Check(args, asJSON), true
}

// Check is `permit check`: which of these commands a script may not declare, all
// at once. Exit code 0: none, 1: some, 2: it cannot be told.
func (s *Scripts) Check(commands []string, asJSON bool) int {
	env, set, err := s.Set()
	if err != nil {
		return s.stop(2, err)
	}
	r := set.Check(commands)
	if !r.OK() {
		return s.blocked(env, r, commands, asJSON)
	}
	if !asJSON {
		for _, d := range r {
			if _, err := fmt.Fprintf(s.P.Stdout, "%s: permitted (%s)  %s\n", permit.Show(d.Command), d.Scope, spool.Visible(d.Path)); err != nil {
				return s.output(err)
			}
		}
		return 0
	}
	out := permittedJSON{Commands: []permittedCommand{}}
	for _, d := range r {
		out.Commands = append(out.Commands, permittedCommand{d.Command, d.Path, d.Scope})
	}
	return s.output(Encode(s.P.Stdout, out))
}

// output is the exit code after a result was written.
func (s *Scripts) output(err error) int {
	if err == nil || IsBrokenPipe(err) {
		return 0
	}
	return s.stop(2, err)
}

func (s *Scripts) blocked(env permit.Env, r permit.Result, commands []string, asJSON bool) int {
	id := ""
	if len(r.Permittable()) > 0 {
		caller := s.G.Caller()
		var err error
		id, err = permit.OpenRetries(env.Paths).Put(permit.Retry{
			Kind: permit.CheckOnly, Commands: commands, Dir: env.Dir, Environ: env.Environ, Session: caller.Session,
			Agent: caller.Agent, Context: string(caller.Context),
		})
		if err != nil {
			Complain(s.P.Stderr, err)
		}
	}
	b := permit.NewBlocked(r, id, "")
	if asJSON {
		if err := Encode(s.P.Stdout, b); err != nil && !IsBrokenPipe(err) {
			return s.stop(2, err)
		}
		return 1
	}
	_, _ = io.WriteString(s.P.Stderr, b.Text())
	return 1
}
