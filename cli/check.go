package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"safeshell/eval"
	"safeshell/front"
	"safeshell/gate"
	"safeshell/script"
	"safeshell/spool"
	"safeshell/trash"
)

type checkCmd struct {
	JSON    bool     `help:"Print one JSON object." name:"json"`
	Dir     string   `help:"Judge as if run in this directory." placeholder:"D"`
	Context string   `help:"Judge for ai or human (default: who runs this)." enum:"ai,human," default:"" placeholder:"C"`
	Shell   string   `help:"The shell that would read it: bash, zsh, sh, or any of them." enum:"bash,zsh,sh,any" default:"bash" placeholder:"S"`
	Stdin0  bool     `help:"Judge many command lines from standard input, each ended by a NUL byte; prints one JSON object a line." name:"stdin0"`
	Command []string `arg:"" optional:"" passthrough:"partial" help:"The command line, as one argument; or a command and its arguments."`
}

// checked is the object that --json prints.
type checked struct {
	Action   string           `json:"action"`
	Rule     string           `json:"rule"`
	Source   string           `json:"source,omitempty"`
	Message  string           `json:"message"`
	Suggest  string           `json:"suggest"`
	Rewrite  string           `json:"rewrite,omitempty"`
	Commands []checkedCommand `json:"commands"`
	Reasons  []string         `json:"reasons"`
	Warnings []string         `json:"warnings,omitempty"`
}

type checkedCommand struct {
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`
	Action  string   `json:"action"`
	Rule    string   `json:"rule"`
	Via     []string `json:"via"`
	Matched []string `json:"matched,omitempty"`
}

func (c *checkCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return exitWith(a, 2, err)
	}
	dir, err := c.dir()
	if err != nil {
		return exitWith(a, 2, err)
	}
	if c.Stdin0 {
		return c.many(a, dir)
	}
	args := c.Command
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return usageError{errors.New("no command given; for example: safeshell check -- 'git push --force'")}
	}
	line := args[0]
	if len(args) > 1 {
		line = script.Quote(args)
	}
	v := c.judge(a, line, dir)
	res := result(v)
	if c.JSON {
		if err := a.encode(res); err != nil {
			return exitWith(a, 2, err)
		}
	} else if err := explain(a, line, dir, v); err != nil {
		return exitWith(a, 2, err)
	}
	if v.Action >= eval.RequireApproval {
		return exitError(1)
	}
	return nil
}

func (c *checkCmd) dir() (string, error) {
	d := c.Dir
	if d == "" {
		d = "."
	}
	abs, err := filepath.Abs(d)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(abs)
	if err == nil && !fi.IsDir() {
		err = &os.PathError{Op: "stat", Path: abs, Err: errors.New("not a directory")}
	}
	if err != nil {
		return "", fmt.Errorf("--dir %s: %w", visible(d), errors.Unwrap(err))
	}
	return filepath.EvalSymlinks(abs)
}

func (c *checkCmd) request(line, dir string) gate.Request {
	d := map[string]script.Dialect{"bash": script.Bash, "zsh": script.Zsh, "sh": script.POSIX}[c.Shell]
	return gate.Request{Layer: gate.Check, Line: line, Dir: dir, Dialect: d, Context: eval.Context(c.Context)}
}

// judge is the gate's verdict, and the word of the trash about what would go
// there.
func (c *checkCmd) judge(a *app, line, dir string) gate.Verdict {
	v := a.g.Judge(context.Background(), c.request(line, dir))
	for i := range v.Commands {
		j := &v.Commands[i]
		args, where, ok := trashed(*j)
		if !ok {
			continue
		}
		env := a.trashEnv()
		env.Dir = where
		why, all := trash.Refusals(env, "rm", args)
		switch {
		case len(why) == 0:
		case !all:
			v.Warnings = append(v.Warnings, why...)
		default:
			// The command fails whoever says yes to it.
			j.Decision.Action = eval.Deny
			if v.Action < eval.Deny {
				v.Kind, v.Action, v.Rule, v.Source = gate.Stop, eval.Deny, j.Decision.Rule, j.Decision.Source
				v.Message, v.Suggest, v.Line = strings.Join(why, "; "), "", ""
			}
		}
	}
	return v
}

// trashed returns the operands and the directory of a command that goes to the
// trash, as far as its text tells them; a pattern stands for what it matches now.
func trashed(j gate.Judged) (args []string, dir string, ok bool) {
	if j.Decision.Action != eval.Redirect || len(j.Decision.RedirectBefore) == 0 || j.Decision.RedirectBefore[0] != "trash" || len(j.Command.Argv) < 2 || j.Command.Remote != "" {
		return nil, "", false
	}
	if dir, ok = j.Command.Dir.Text(); !ok || !filepath.IsAbs(dir) {
		return nil, "", false
	}
	for _, w := range j.Command.Argv[1:] {
		text, known := w.Text()
		if known {
			args = append(args, text)
			continue
		}
		matches, ok := matching(w, dir)
		if !ok {
			return nil, "", false
		}
		args = append(args, matches...)
	}
	return args, dir, true
}

// matching are the names that a word with a pattern stands for in dir.
func matching(w script.Word, dir string) (names []string, ok bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case script.Literal:
			b.WriteString(strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[").Replace(p.Text))
		case script.Glob:
			b.WriteString(p.Text)
		default:
			return nil, false
		}
	}
	pattern := b.String()
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(dir, pattern)
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, false
	}
	for _, f := range found {
		if !strings.HasPrefix(filepath.Base(f), ".") || strings.HasPrefix(filepath.Base(pattern), ".") {
			names = append(names, f)
		}
	}
	return names, true
}

// many judges NUL-separated lines in one process.
func (c *checkCmd) many(a *app, dir string) (err error) {
	out := bufio.NewWriter(a.out)
	defer func() {
		// A reader that misses verdicts must not take the code for the whole.
		if ferr := out.Flush(); ferr != nil {
			err = exitWith(a, 2, ferr)
		}
	}()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	in := bufio.NewReader(a.p.Stdin)
	stopped := false
	for {
		line, err := in.ReadString(0)
		if line = strings.TrimSuffix(line, "\x00"); line != "" || err == nil {
			v := c.judge(a, line, dir)
			stopped = stopped || v.Action >= eval.RequireApproval
			b.Reset()
			err := enc.Encode(result(v))
			if err == nil {
				_, err = out.Write(spool.VisibleJSON(b.Bytes()))
			}
			if err != nil {
				return exitWith(a, 2, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return exitWith(a, 2, err)
		}
	}
	if stopped {
		return exitError(1)
	}
	return nil
}

// exitWith prints an error and ends with the given code.
func exitWith(a *app, code int, err error) error {
	if front.IsBrokenPipe(err) {
		return exitError(code)
	}
	front.Complain(a.err, err)
	return exitError(code)
}

func result(v gate.Verdict) checked {
	r := checked{
		Action: v.Action.String(), Rule: v.Rule, Source: v.Source, Message: v.Message, Suggest: v.Suggest,
		Rewrite: v.Line, Commands: []checkedCommand{}, Reasons: []string{}, Warnings: v.Warnings,
	}
	for _, j := range v.Commands {
		cc := checkedCommand{
			Argv: []string{}, Dir: j.Command.Dir.String(), Action: j.Decision.Asked().String(),
			Rule: j.Decision.Rule, Via: append([]string{}, j.Command.Via...), Matched: j.Decision.Matched,
		}
		for _, w := range j.Command.Argv {
			cc.Argv = append(cc.Argv, w.String())
		}
		r.Commands = append(r.Commands, cc)
	}
	for _, u := range v.Unknown {
		r.Reasons = append(r.Reasons, u.Reason)
	}
	return r
}

// explain says the verdict to a person.
func explain(a *app, line, dir string, v gate.Verdict) error {
	var b strings.Builder
	p := func(label, s string) {
		if s != "" {
			b.WriteString(label + visible(s) + "\n")
		}
	}
	p("", map[eval.Action]string{
		eval.Allow: "allowed: it would run", eval.Redirect: "redirected: it would run in another way",
		eval.RequireApproval: "held: a human would be asked", eval.Deny: "denied: it would not run",
	}[v.Action])
	p("  rule:     ", v.Rule)
	p("  from:     ", v.Source)
	p("  why:      ", v.Message)
	p("  instead:  ", v.Suggest)
	p("  becomes:  ", v.Line)
	p("  in:       ", dir)
	p("  look out: ", strings.Join(spool.LookOut(nil, line, dir), "; "))
	for _, j := range v.Commands {
		words := make([]string, 0, len(j.Command.Argv))
		for _, w := range j.Command.Argv {
			words = append(words, w.String())
		}
		if len(words) == 0 {
			if j.Decision.Rule == "" {
				continue
			}
			words = []string{"(redirection or assignment)"}
		}
		s := strings.Join(words, " ")
		if len(j.Command.Via) > 0 {
			s += "   (through " + strings.Join(j.Command.Via, ", ") + ")"
		}
		d := j.Decision
		verdict := d.Asked().String()
		if d.Rule != "" {
			verdict += " by " + d.Rule
		}
		p("  command:  ", s)
		if cd := j.Command.Dir.String(); cd != dir {
			p("    in:     ", cd)
		}
		p("    verdict: ", verdict)
		for _, m := range d.Matched {
			p("    because: ", m)
		}
		for _, n := range d.Notes {
			p("    note:    ", n)
		}
	}
	for _, u := range v.Unknown {
		p("  not known: ", u.Reason)
	}
	for _, w := range v.Warnings {
		p("  warning:   ", w)
	}
	return a.printf("%s", b.String())
}
