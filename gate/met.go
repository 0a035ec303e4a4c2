package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"safeshell/eval"
	"safeshell/script"
	"safeshell/spool"
	"safeshell/spool/mask"
)

// Met is a rule that stops a request, beside the part of it that the rule
// concerns.
type Met struct {
	Part string // the command as text; empty where it is not one command
	Dir  string // where the part would run, if it is elsewhere than the request
	// Command is the part's index in Verdict.Commands; -1 where it is not one.
	Command int
	// Loss says what the part would destroy, in a person's terms: with the first
	// rule of each part, and once somebody is to decide.
	Loss []string
	eval.Finding
}

// met lists what stops a request, in the order of its text. cannot says why
// redirects cannot be carried out, by the command's index: for an agent that is
// a question, a person's command goes on.
func (g *Gate) met(a *script.Analysis, j *judgement, req Request, cannot map[int]string) []Met {
	if !j.worst.Stops() && len(cannot) == 0 {
		return nil
	}
	var out []Met
	type key struct{ part, dir, rule, message string }
	seen := map[key]bool{}
	add := func(m Met) {
		if k := (key{m.Part, m.Dir, m.Rule, m.Message}); !seen[k] {
			seen[k] = true
			out = append(out, m)
		}
	}
	for i := range j.all {
		c, d := &j.all[i].Command, &j.all[i].Decision
		if !d.Stops() && cannot[i] == "" {
			continue
		}
		m := Met{Part: eval.CommandText(a, c), Command: i}
		if dir := c.Dir.String(); dir != req.Dir {
			m.Dir = dir
		}
		if d.Stops() {
			for _, m.Finding = range d.Findings() {
				add(m)
			}
		}
		if why := cannot[i]; why != "" && g.contextOf(req) == eval.AI {
			m.Finding = *d.RedirectBy
			m.Action = eval.RequireApproval
			m.Message = fmt.Sprintf("%s It cannot be redirected here: %s.", sentence(m.Message), why)
			add(m)
			if j.cannot == nil {
				j.cannot = map[int]Met{}
			}
			j.cannot[i] = m
		}
	}
	if j.unknown.Stops() {
		add(Met{Command: -1, Finding: j.unknown.Finding})
	}
	return out
}

// losses fills in what would be destroyed.
func (v *Verdict) losses(j judgement) {
	seen := map[string]bool{}
	for i := range v.Met {
		m := &v.Met[i]
		if where := m.Part + "\x00" + m.Dir; m.Command >= 0 && !seen[where] && len(seen) < maxLosses {
			seen[where] = true
			m.Loss = j.loss(m.Command)
		}
	}
}

// maxLosses bounds for how many parts of a request it is looked up what they
// would destroy.
const maxLosses = 10

func (g *Gate) contextOf(req Request) eval.Context {
	if req.Context != "" {
		return req.Context
	}
	return g.caller.Context()
}

// maxAlike is how many parts of a request that meet one rule are shown; a line
// may hold thousands.
const maxAlike = 5

// parts are what a human is shown of what a request meets: every rule, with the
// parts that it concerns.
func (v Verdict) parts(req Request) []spool.Part {
	line := displayOf(req)
	var out []spool.Part
	count, last := map[string]int{}, map[string]int{}
	for _, m := range v.Met {
		id := m.Source + "\x00" + m.Rule + "\x00" + m.Message
		if count[id]++; count[id] > maxAlike {
			out[last[id]].More++
			continue
		}
		last[id] = len(out)
		out = append(out, spool.Part{
			Command: maskedPart(m.Part, line), Dir: m.Dir,
			Rule: m.Rule, Reason: m.Message, Suggest: m.Suggest, Loss: strings.Join(m.Loss, "\n"),
		})
	}
	return out
}

// maskedPart is a part of a text without its secrets: also those that only the
// text around it shows to be some (echo X | sudo -S true).
func maskedPart(part, whole string) string {
	m := mask.Text(part)
	at := strings.Index(whole, part)
	if m != part || at < 0 || part == "" {
		return m
	}
	near := whole[max(at-nearby, 0):min(at+len(part)+nearby, len(whole))]
	if strings.Contains(mask.Text(near), part) {
		return m
	}
	word, _, _ := strings.Cut(part, " ")
	return word + " ..."
}

// nearby is how many bytes around a part are looked at for what makes it secret.
const nearby = 500

// rules are the names of what stops a request, each once.
func (v Verdict) rules() []string {
	var out []string
	for _, m := range v.Met {
		if !slices.Contains(out, m.Rule) {
			out = append(out, m.Rule)
		}
	}
	return out
}

// alsoNotes name for the journal what else was met than the rule that decided.
func alsoNotes(v Verdict) []string {
	var out []string
	for _, r := range v.rules() {
		if r != v.Rule {
			out = append(out, "rule "+r+" stops it, too")
		}
	}
	return out
}

// untrusted says which rules of a repository would hold for the request but wait
// for trust: once for each session and content of the file. A hook says it only
// with a command that runs as it is; a layer below does for the others.
func (g *Gate) untrusted(req Request, v Verdict, j judgement) []string {
	switch {
	case len(j.worst.Untrusted) == 0, req.Layer == Check:
		return nil
	case req.Layer == Hook && (!req.Notes || v.Action >= eval.RequireApproval || v.Kind == Replace):
		return nil
	}
	var files []eval.Untrusted
	rules := map[string][]string{}
	for _, u := range j.worst.Untrusted {
		if rules[u.File] == nil {
			files = append(files, u)
		}
		if !slices.Contains(rules[u.File], u.Rule) {
			rules[u.File] = append(rules[u.File], u.Rule)
		}
	}
	var out []string
	for _, u := range files {
		if !g.firstTime(g.callerOf(req).Session, u.Content) {
			continue
		}
		tell := "to trust it"
		if g.contextOf(req) == eval.AI {
			tell = "ask the user whether to trust it"
		}
		what := "rule " + rules[u.File][0] + " of " + u.File + " is for this command, but it is"
		if n := len(rules[u.File]); n > 1 {
			what = "rules " + strings.Join(rules[u.File], ", ") + " of " + u.File + " are for this command, but they are"
		}
		out = append(out, what+" not in force, because the file is not trusted; "+tell+": "+u.Fix)
	}
	return out
}

// saidFor is how long it is remembered what was said to a session.
const saidFor = 7 * 24 * time.Hour

// firstTime reports whether a session has not been told this before. Where that
// cannot be remembered it is told again.
func (g *Gate) firstTime(session, what string) bool {
	dir := filepath.Join(g.env.Paths.Cache, "said")
	name := filepath.Join(dir, spool.ArgvSHA([]string{session, what})[:32])
	if os.MkdirAll(dir, 0o700) != nil {
		return true
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return !os.IsExist(err)
	}
	f.Close()
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && g.env.Now().Sub(fi.ModTime()) > saidFor {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return true
}

// ownRuleHint tells a person who meets a built-in rule of policy, not of
// catastrophe, how it is made the agents' alone or switched off.
func (g *Gate) ownRuleHint(req Request, v Verdict) string {
	if v.Source != "built-in:git" || g.contextOf(req) != eval.Human {
		return ""
	}
	return "This rule is built in. To keep it for agents alone, write into " + spool.Visible(g.env.Paths.Rules) + ", below overrides:\n" +
		"  - {name: " + v.Rule + ", context: ai_only}\nor, to switch it off:\n  - {name: " + v.Rule + ", disabled: true}\n"
}
