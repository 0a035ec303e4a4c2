package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"safeshell/spool"
)

type logCmd struct {
	colored
	Follow  bool     `help:"Go on as decisions come." short:"f"`
	JSON    bool     `help:"Print the journal's own lines." name:"json"`
	Since   string   `help:"Only from then on: 2h, 3d, 2026-11-21, 2026-11-21T08:30." placeholder:"T"`
	Last    int      `help:"Only the last N that are shown." short:"n" placeholder:"N"`
	Verdict []string `complete:"verdicts" help:"Only these: allow, redirect, deny, asked, approved, refused, timeout, nomonitor, fail-open, trash, note." placeholder:"V"`
	Rule    string   `complete:"rules" help:"Only what this rule decided." placeholder:"R"`
	Agent   string   `complete:"callers" help:"Only this agent's commands; human: only people's." placeholder:"A"`
	In      string   `complete:"dirs" help:"Only what was done in this directory, or below." placeholder:"DIR" type:"path"`
	Session string   `complete:"sessions" help:"Only this session's; its first characters suffice." placeholder:"S"`
	All     bool     `help:"Also each command of shells' prompts (folded else)."`
	Stats   bool     `help:"Count instead: by verdict, rule, agent and directory."`
}

func (c *logCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	if c.Last < 0 {
		return usageError{fmt.Errorf("--last %d is negative; for example: safeshell log --last 20", c.Last)}
	}
	if c.Follow && c.Stats {
		return usageError{errors.New("--follow and --stats exclude each other")}
	}
	since, err := parseSince(c.Since, time.Now())
	if err != nil {
		return usageError{err}
	}
	for _, v := range c.Verdict {
		if verdicts[v] == nil {
			return usageError{fmt.Errorf("%q is no verdict; write one of %s", v, strings.Join(slices.Sorted(maps.Keys(verdicts)), ", "))}
		}
	}
	j := spool.OpenJournal(a.paths.Journal)
	opts := spool.ReadOptions{Since: since, Keep: c.keep()}
	switch {
	case c.Follow:
		opts.Limit = c.Last
		return c.follow(a, j, opts)
	case c.Stats:
		entries, err := j.Read(opts)
		if err != nil {
			return err
		}
		return c.stats(a, entries)
	}
	lines, err := c.read(j, opts)
	if err != nil {
		return err
	}
	p := c.palette(a)
	for _, l := range lines {
		if err := c.print(a, p, l); err != nil {
			return err
		}
	}
	switch {
	case len(lines) > 0 || c.JSON:
	case c.filtered():
		a.note("the journal has no such entries (%s)", a.paths.Journal)
	case !since.IsZero():
		a.note("the journal has no entries since %s (%s)", since.Local().Format("2006-01-02 15:04:05"), a.paths.Journal)
	default:
		a.note("the journal has no entries yet (%s)", a.paths.Journal)
	}
	return nil
}

// logged is one line that is shown: an entry, and how many of a prompt's follow
// that it stands for.
type logged struct {
	spool.Entry
	folded int
}

// read returns the lines to show, the last of them where that is asked for.
func (c *logCmd) read(j *spool.Journal, opts spool.ReadOptions) ([]logged, error) {
	for opts.Limit = c.Last * 4; ; opts.Limit *= 8 {
		entries, err := j.Read(opts)
		if err != nil {
			return nil, err
		}
		var lines []logged
		for _, e := range entries {
			n := len(lines) - 1
			if !c.JSON && !c.All && e.OfPrompt() && n >= 0 && lines[n].OfPrompt() {
				lines[n].folded++
				continue
			}
			lines = append(lines, logged{e, 0})
		}
		// The first line may be what is left of a longer fold.
		switch {
		case c.Last == 0:
			return lines, nil
		case len(lines) > c.Last, len(entries) < opts.Limit:
			return lines[max(len(lines)-c.Last, 0):], nil
		}
	}
}

func (c *logCmd) follow(a *app, j *spool.Journal, opts spool.ReadOptions) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if keep := opts.Keep; !c.JSON && !c.All {
		opts.Keep = func(e *spool.Entry) bool { return !e.OfPrompt() && keep(e) }
	}
	p := c.palette(a)
	for e := range j.Tail(ctx, opts) {
		if err := c.print(a, p, logged{e, 0}); err != nil {
			return err
		}
	}
	return nil
}

// verdicts are the words for --verdict, each with the actions of the journal
// that it means.
var verdicts = map[string][]string{
	"allow":     {"allow"},
	"redirect":  {"redirect"},
	"deny":      {"deny"},
	"asked":     {"asked", "agent-asks", "asked-allow", "asked-deny", "timeout", "nomonitor", "cancelled", "fail-open"},
	"approved":  {"asked-allow", "granted", "passed"},
	"refused":   {"asked-deny"},
	"timeout":   {"timeout"},
	"nomonitor": {"nomonitor"},
	"fail-open": {"fail-open"},
	"trash":     {"trashed", "trash-cleaned"},
	"note":      {"monitor-joined", "monitor-left"},
}

func (c *logCmd) filtered() bool {
	return len(c.Verdict) > 0 || c.Rule+c.Agent+c.In+c.Session != ""
}

// keep returns what tells the entries that are wanted.
func (c *logCmd) keep() func(*spool.Entry) bool {
	dirs := []string{}
	if c.In != "" { // the journal has physical directories
		dirs = append(dirs, filepath.Clean(c.In))
		if real, err := filepath.EvalSymlinks(c.In); err == nil {
			dirs = append(dirs, real)
		}
	}
	return func(e *spool.Entry) bool {
		switch {
		case !c.JSON && e.Kind == spool.KindAnswer && len(e.Notes) == 0:
			return false // the decision that it led to follows
		case len(c.Verdict) > 0 && !slices.ContainsFunc(c.Verdict, func(v string) bool { return slices.Contains(verdicts[v], e.Action) }):
			return false
		case c.Rule != "" && e.Rule != c.Rule:
			return false
		case c.Agent == "human" && (e.Agent != "" || e.Context == "ai" || e.Command == ""):
			return false
		case c.Agent != "" && c.Agent != "human" && e.Agent != c.Agent:
			return false
		case c.Session != "" && !strings.HasPrefix(e.Session, c.Session):
			return false
		case c.In != "" && !slices.ContainsFunc(dirs, func(d string) bool { return e.Dir == d || strings.HasPrefix(e.Dir, strings.TrimSuffix(d, "/")+"/") }):
			return false
		}
		return true
	}
}

func (c *logCmd) print(a *app, p palette, l logged) error {
	if c.JSON {
		return a.printJSON(l.Entry) // the journal's own line
	}
	return a.printf("%s\n", logLine(p, l))
}

// logLine is one decision on one line: time, what became of it, the command,
// the rule, who, and how long it took.
func logLine(p palette, l logged) string {
	e := l.Entry
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s %s", p.in(faint, e.Time.Local().Format("2006-01-02 15:04:05")), p.in(actionColor(e.Action), fmt.Sprintf("%-16s", actionWord(e))), visible(e.Command))
	if e.Kind == spool.KindTrash && e.Command == "" {
		b.WriteString(visible(strings.Join(e.Notes, "; ")))
		return b.String()
	}
	var facts []string
	add := func(label, v string) {
		if v != "" {
			facts = append(facts, label+visible(v))
		}
	}
	if l.folded > 0 {
		add("", fmt.Sprintf("and %d more of prompts: --all", l.folded))
	}
	add("rule ", e.Rule)
	who := e.Agent
	if who == "" {
		who = e.Context
	}
	add("", who)
	add("", e.Layer)
	add("by ", e.By)
	if e.Waited >= 0.1 {
		add("", time.Duration(e.Waited*float64(time.Second)).Round(100*time.Millisecond).String())
	}
	label := "why: "
	if e.Choice != 0 {
		label = "said: "
	}
	add(label, e.Reason)
	add("in ", e.Dir)
	for _, n := range e.Notes {
		add("note: ", n)
	}
	if len(facts) > 0 {
		b.WriteString("  " + p.in(faint, "["+strings.Join(facts, "; ")+"]"))
	}
	return b.String()
}

// actionWord is what became of a command, in a word or two.
func actionWord(e spool.Entry) string {
	switch e.Action {
	case "asked-allow":
		if e.Choice == 0 || e.Choice == spool.Refuse {
			return "approved"
		}
		return "approved " + e.Choice.String()
	case "asked-deny":
		return "refused"
	case "granted":
		if e.Choice == 0 {
			return "granted"
		}
		return "granted " + e.Choice.String()
	case "":
		return string(e.Kind)
	}
	return e.Action
}

// logStats is what --stats counts.
type logStats struct {
	Entries  int            `json:"entries"`
	From     time.Time      `json:"from,omitzero"`
	To       time.Time      `json:"to,omitzero"`
	Verdicts map[string]int `json:"verdicts"`
	Rules    map[string]int `json:"rules"`
	Agents   map[string]int `json:"agents"`
	Dirs     map[string]int `json:"dirs"`
}

func (c *logCmd) stats(a *app, entries []spool.Entry) error {
	s := logStats{Verdicts: map[string]int{}, Rules: map[string]int{}, Agents: map[string]int{}, Dirs: map[string]int{}}
	for _, e := range entries {
		if e.Kind != spool.KindDecision {
			continue // a request and its answer are counted by what came of them
		}
		if s.Entries++; s.Entries == 1 {
			s.From = e.Time
		}
		s.To = e.Time
		s.Verdicts[actionWord(e)]++
		if e.Rule != "" {
			s.Rules[e.Rule]++
		}
		who := e.Agent
		if who == "" && e.Context != "ai" {
			who = "human"
		}
		s.Agents[who]++
		s.Dirs[e.Dir]++
	}
	if c.JSON {
		return a.encode(s)
	}
	if s.Entries == 0 {
		a.note("the journal has no such entries (%s)", a.paths.Journal)
		return nil
	}
	const layout = "2006-01-02 15:04"
	if err := a.printf("%d decisions, %s to %s\n", s.Entries, s.From.Local().Format(layout), s.To.Local().Format(layout)); err != nil {
		return err
	}
	p := c.palette(a)
	for _, g := range []struct {
		title  string
		counts map[string]int
	}{{"verdict", s.Verdicts}, {"rule", s.Rules}, {"agent", s.Agents}, {"directory", s.Dirs}} {
		if err := c.table(a, p, g.title, g.counts); err != nil {
			return err
		}
	}
	return nil
}

// maxCounted is how many lines of a table are printed.
const maxCounted = 15

// table prints counts, the largest first.
func (c *logCmd) table(a *app, p palette, title string, counts map[string]int) error {
	if len(counts) == 0 {
		return nil
	}
	if err := a.printf("\n%s\n", p.in(blue, "by "+title)); err != nil {
		return err
	}
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if d := counts[y] - counts[x]; d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	for i, n := range names {
		if i == maxCounted {
			return a.printf("         and %d more\n", len(names)-i)
		}
		name := n
		if n == "" {
			name = "(not known)"
		}
		if err := a.printf("%8d  %s\n", counts[n], visible(name)); err != nil {
			return err
		}
	}
	return nil
}

// parseSince reads an age (90m, 2h, 3d) or a local date or time.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if n, ok := strings.CutSuffix(s, "d"); ok {
		if days, err := strconv.ParseFloat(n, 64); err == nil && days >= 0 {
			return now.Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write an age (90m, 2h, 3d) or a date (2026-11-21, 2026-11-21T08:30)", s)
}
