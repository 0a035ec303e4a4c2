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

	"safeshell/budget"
	"safeshell/eval"
	"safeshell/front"
	"safeshell/gate"
	"safeshell/script"
	"safeshell/spool"
	"safeshell/trash"
)

type checkCmd struct {
	JSON    bool     `help:"Print one JSON object." name:"json"`
	Dir     string   `complete:"dirs" help:"Judge as if run in this directory." placeholder:"D"`
	Context string   `help:"Judge for ai or human (default: who runs this)." enum:"ai,human," default:"" placeholder:"C"`
	Shell   string   `help:"The shell that would read it: bash, zsh, sh, or any of them." enum:"bash,zsh,sh,any" default:"bash" placeholder:"S"`
	Stdin0  bool     `help:"Judge many command lines from standard input, each ended by a NUL byte; prints one JSON object a line." name:"stdin0"`
	Command []string `arg:"" optional:"" passthrough:"partial" help:"The command line, as one argument; or a command and its arguments."`
}

// checked is the object that --json prints.
type checked struct {
	Context string `json:"context"` // whom the rest is for
	verdictFor
	Source   string           `json:"source,omitempty"`
	Suggest  string           `json:"suggest"`
	Rewrite  string           `json:"rewrite,omitempty"`
	Commands []checkedCommand `json:"commands"`
	Reasons  []string         `json:"reasons"`
	Warnings []string         `json:"warnings,omitempty"`
	// Contexts is the verdict on the same for a person and for an agent, when
	// neither was asked for.
	Contexts map[eval.Context]verdictFor `json:"contexts,omitempty"`
}

type verdictFor struct {
	Action  string `json:"action"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

func verdictOf(v gate.Verdict) verdictFor {
	return verdictFor{Action: v.Action.String(), Rule: v.Rule, Message: v.Message}
}

type checkedCommand struct {
	Argv    []string      `json:"argv"`
	Dir     string        `json:"dir"`
	Action  string        `json:"action"`
	Rule    string        `json:"rule"`
	Rules   []checkedRule `json:"rules"` // all that it has to get past
	Via     []string      `json:"via"`
	Matched []string      `json:"matched,omitempty"`
	Loses   []string      `json:"loses,omitempty"` // what it would destroy
}

type checkedRule struct {
	Rule    string `json:"rule"`
	Action  string `json:"action"`
	Source  string `json:"source"`
	Message string `json:"message"`
	Suggest string `json:"suggest,omitempty"`
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
	who := eval.Context(c.Context)
	if who == "" {
		who = a.g.Caller().Context
	}
	v := c.judge(a, line, dir, who)
	if err := c.show(a, line, dir, who, v); err != nil {
		return exitWith(a, 2, err)
	}
	if v.Action >= eval.RequireApproval {
		return exitError(1)
	}
	return nil
}

// show prints the verdict for who, and, unless that was asked for, the one for
// the other.
func (c *checkCmd) show(a *app, line, dir string, who eval.Context, v gate.Verdict) error {
	other := map[eval.Context]eval.Context{eval.Human: eval.AI, eval.AI: eval.Human}[who]
	// What takes a good part of the budget is judged for one of them only.
	both := c.Context == "" && v.Budget.Work() < (budget.Reading+budget.Ruling)/4
	var w gate.Verdict
	if both {
		w = c.judge(a, line, dir, other)
	}
	if c.JSON {
		res := result(v, who)
		if both {
			res.Contexts = map[eval.Context]verdictFor{who: verdictOf(v), other: verdictOf(w)}
		}
		return a.encode(res)
	}
	names := map[eval.Context]string{eval.Human: "a person", eval.AI: "an agent"}
	switch {
	case c.Context != "":
		return explain(a, names[who], line, dir, v)
	case !both:
		v.Warnings = append(v.Warnings, "this is much to judge; what holds for "+names[other]+" is said by: safeshell check --context "+string(other))
		return explain(a, names[who]+" (you)", line, dir, v)
	case verdictOf(v) == verdictOf(w):
		return explain(a, "a person and an agent", line, dir, v)
	}
	if err := explain(a, names[who]+" (you)", line, dir, v); err != nil {
		return err
	}
	if err := a.printf("\n"); err != nil {
		return err
	}
	return explain(a, names[other], line, dir, w)
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

func (c *checkCmd) request(line, dir string, who eval.Context) gate.Request {
	d := map[string]script.Dialect{"bash": script.Bash, "zsh": script.Zsh, "sh": script.POSIX}[c.Shell]
	return gate.Request{Layer: gate.Check, Line: line, Dir: dir, Dialect: d, Context: who, Losses: !c.Stdin0}
}

// maxListed is about how many bytes are said of the commands of a line.
const maxListed = 1 << 20

// judge is the gate's verdict, and the word of the trash about what would go
// there.
func (c *checkCmd) judge(a *app, line, dir string, who eval.Context) gate.Verdict {
	v := a.g.Judge(context.Background(), c.request(line, dir, who))
	size := 0
	for i := range v.Commands {
		j := &v.Commands[i]
		if size += len(j.Command.Dir.String()) + 16*len(j.Command.Argv); size > maxListed {
			v.Warnings = append(v.Warnings, fmt.Sprintf("%d more commands are not listed", len(v.Commands)-i))
			v.Commands = v.Commands[:i]
			break
		}
		if !v.Budget.Spend(20 * len(j.Command.Argv)) {
			continue
		}
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
			by := *j.Decision.RedirectBy
			j.Decision.Finding, j.Decision.Also = by, nil
			j.Decision.Action = eval.Deny
			if v.Action < eval.Deny {
				v.Kind, v.Action, v.Rule, v.Source = gate.Stop, eval.Deny, by.Rule, by.Source
				v.Message, v.Suggest, v.Line = strings.Join(why, "; "), "", ""
			}
		}
	}
	return v
}

// trashed returns the operands and the directory of a command that goes to the
// trash, as far as its text tells them; a pattern stands for what it matches now.
func trashed(j gate.Judged) (args []string, dir string, ok bool) {
	if j.Decision.Action == eval.Deny && !j.Decision.AllowOverride || len(j.Decision.RedirectBefore) == 0 || j.Decision.RedirectBefore[0] != "trash" || len(j.Command.Argv) < 2 || j.Command.Remote != "" {
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
	who := eval.Context(c.Context)
	if who == "" {
		who = a.g.Caller().Context
	}
	stopped := false
	for {
		line, err := in.ReadString(0)
		if line = strings.TrimSuffix(line, "\x00"); line != "" || err == nil {
			v := c.judge(a, line, dir, who)
			stopped = stopped || v.Action >= eval.RequireApproval
			b.Reset()
			err := enc.Encode(result(v, who))
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

func result(v gate.Verdict, who eval.Context) checked {
	r := checked{
		Context: string(who), verdictFor: verdictOf(v), Source: v.Source, Suggest: v.Suggest,
		Rewrite: v.Line, Commands: []checkedCommand{}, Reasons: []string{}, Warnings: v.Warnings,
	}
	loses := losses(v)
	for i, j := range v.Commands {
		cc := checkedCommand{
			Argv: []string{}, Dir: j.Command.Dir.String(), Action: j.Decision.Asked().String(),
			Rule: j.Decision.Rule, Rules: []checkedRule{}, Via: append([]string{}, j.Command.Via...), Matched: j.Decision.Matched, Loses: loses[i],
		}
		for _, w := range j.Command.Argv {
			cc.Argv = append(cc.Argv, w.String())
		}
		for _, f := range j.Decision.Findings() {
			if f.Rule != "" {
				cc.Rules = append(cc.Rules, checkedRule{f.Rule, f.Asked().String(), f.Source, f.Message, f.Suggest})
			}
		}
		r.Commands = append(r.Commands, cc)
	}
	for _, u := range v.Unknown {
		r.Reasons = append(r.Reasons, u.Reason)
	}
	return r
}

// losses are what commands would destroy, by their index.
func losses(v gate.Verdict) map[int][]string {
	out := map[int][]string{}
	for _, m := range v.Met {
		out[m.Command] = append(out[m.Command], m.Loss...)
	}
	return out
}

// explainRule says what a rule wants of a command, and why where the head of
// the verdict does not say it.
func explainRule(p func(label, s string), f eval.Finding, v gate.Verdict) {
	verdict := f.Asked().String()
	if f.Rule != "" {
		verdict += " by " + f.Rule
	}
	p("    verdict: ", verdict)
	for _, m := range f.Matched {
		p("    because: ", m)
	}
	if f.Stops() && f.Message != v.Message {
		p("    why:     ", f.Message)
	}
}

// explain says the verdict that holds for who to a person.
func explain(a *app, who, line, dir string, v gate.Verdict) error {
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
	p("  for:      ", who)
	p("  rule:     ", v.Rule)
	p("  from:     ", v.Source)
	p("  why:      ", v.Message)
	p("  instead:  ", v.Suggest)
	p("  becomes:  ", v.Line)
	p("  in:       ", dir)
	p("  look out: ", strings.Join(spool.LookOut(nil, line, dir), "; "))
	loses := losses(v)
	for i, j := range v.Commands {
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
		p("  command:  ", s)
		if cd := j.Command.Dir.String(); cd != dir {
			p("    in:     ", cd)
		}
		d := j.Decision
		for _, f := range d.Findings() {
			explainRule(p, f, v)
		}
		for _, l := range loses[i] {
			p("    loses:   ", l)
		}
		if d.RedirectBy != nil && d.Action != eval.Redirect && d.Asked() != eval.Deny {
			p("    then:    ", "redirect by "+d.RedirectBy.Rule+", once it is approved")
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
