package eval

import (
	"fmt"
	"strconv"

	"safeshell/script"
)

// certainty is how surely a rule matches: words that are not known may make it
// uncertain.
type certainty uint8

const (
	never certainty = iota
	maybe
	sure
)

// hit is a rule that matched as far as conditions are not concerned.
type hit struct {
	rule    *rule
	source  *source // nil: built-in
	action  Action  // after overrides and uncertainty
	message string
	suggest string
	over    bool // allow_override
	seq     int  // order of loading
	sure    certainty
	why     []string
	loss    []string
}

// where is the rule's place, for a person to look at.
func (h *hit) where() string {
	if h.source != nil {
		return fmt.Sprintf("%s:%d", h.source.path, h.rule.line)
	}
	return "the built-in rule " + h.rule.name
}

// rank orders hits by strictness: a deny that nobody may lift comes first.
func (h *hit) rank() int {
	n := int(h.action) * 2
	if h.action == Deny && !h.over {
		n++
	}
	return n
}

// Judge returns the verdict on command i of the analysis: the most restrictive
// action of all rules that match it (deny > require_approval > redirect >
// allow; among equals the first loaded). Repository rules are those of the
// command's own directory.
//
// Where a rule's path keys cannot be decided because a word is not known, but
// the word may be what the rule names, a deny becomes a question for agents;
// for people it is left to the shim, which sees the real argv.
func (r *Rules) Judge(a *script.Analysis, i int) Decision {
	if i < 0 || i >= len(a.Commands) {
		return Decision{}
	}
	v := r.borrowView(a, i)
	defer v.giveBack()
	d := r.judgeView(a, v)
	for _, inner := range v.inner() {
		d = stricter(d, r.judgeInner(inner))
	}
	return d
}

// stricter joins two decisions about one command.
func stricter(a, b Decision) Decision {
	if b.Action > a.Action {
		a, b = b, a
	}
	a.Notes = append(a.Notes, b.Notes...)
	a.Problems = append(a.Problems, b.Problems...)
	return a
}

// judgeInner judges all commands of an analysis as one.
func (r *Rules) judgeInner(a *script.Analysis) (d Decision) {
	for i := range a.Commands {
		d = stricter(d, r.judgeView(a, newView(r, a, i)))
	}
	return stricter(d, r.JudgeUnknown(a))
}

func (r *Rules) judgeView(a *script.Analysis, v *view) Decision {
	j := &v.judging
	*j = judging{r: r, v: v}
	if r.builtin != nil {
		j.source(r.builtin, nil)
	}
	for _, s := range r.global {
		if s.blob != nil {
			j.source(s.blob, s)
		}
	}
	for _, s := range r.repoSources(v.repoDir()) {
		j.d.Problems = append(j.d.Problems, s.problems...)
		if s.blob != nil {
			j.source(s.blob, s)
		}
	}
	j.decide()
	if v.c.Guess {
		j.d.soften(r)
	}
	return j.d
}

// soften turns the verdict on words that may be a command, or data, into a
// question for agents.
func (d *Decision) soften(r *Rules) {
	if d.Action < RequireApproval || r.who() != AI {
		*d = Decision{Notes: d.Notes, Problems: d.Problems}
		return
	}
	d.Action, d.AllowOverride = RequireApproval, false
	d.Matched = append(d.Matched, "the program around it is not known and may run it")
}

// judging is the work on one command.
type judging struct {
	r    *Rules
	v    *view
	d    Decision
	best *hit   // strictest hit without conditions
	cond []*hit // hits with conditions, in order of loading
	seq  int
	at   hit // the rule that is being tried: few are kept
}

func (h *hit) keep() *hit {
	kept := *h
	return &kept
}

func (j *judging) source(b *blob, s *source) {
	keys, n := j.v.keys()
	have := j.v.have()
	var picked [48]entry
	entries := picked[:0]
	for _, k := range keys[:n] {
		if k == "" {
			continue
		}
		var err error
		if entries, err = b.lookup(k, have, entries); err != nil && s != nil {
			j.again(s)
			return
		}
	}
	if len(entries) > 1 {
		sortEntries(entries)
	}
	for k, e := range entries {
		if k > 0 && e.ord == entries[k-1].ord {
			continue // found under several keys
		}
		if s == nil && !j.r.packOn(e.pack) {
			continue
		}
		rule, err := b.rule(e, false)
		if err != nil {
			if s != nil {
				j.again(s)
			}
			return
		}
		j.try(rule, s)
	}
	j.seq += 1 << 20
}

// again compiles a source anew whose cached rules turned out to be damaged.
func (j *judging) again(s *source) {
	if !s.renewed {
		closeBlob(s.blob)
		fresh := openSource(s.path, s.kind, "")
		if fresh == nil {
			return // the file is gone by now
		}
		fresh.trusted, fresh.renewed = s.trusted && fresh.trustKey == s.trustKey, true
		*s = *fresh
		dropCached(s.path, j.r.o.Paths.Cache)
		if s.blob != nil {
			j.source(s.blob, s)
			return
		}
	}
	j.d.Problems = append(j.d.Problems, Problem{File: s.path, Message: "its compiled rules are damaged", Fix: "rm -r " + quote(j.r.o.Paths.Cache), Fatal: true})
}

// sortEntries merges what was found under several keys, each in order already.
func sortEntries(e []entry) {
	var space [48]entry
	for {
		i := ordered(e)
		if i == len(e) {
			return
		}
		first, second := append(space[:0], e[:i]...), e[i:i+ordered(e[i:])]
		for k := 0; len(first) > 0; k++ {
			// What is written to lies in front of what second still holds.
			if len(second) > 0 && second[0].ord < first[0].ord {
				e[k], second = second[0], second[1:]
			} else {
				e[k], first = first[0], first[1:]
			}
		}
	}
}

// ordered returns how many entries from the first on are in order.
func ordered(e []entry) int {
	for i := 1; i < len(e); i++ {
		if e[i].ord < e[i-1].ord {
			return i
		}
	}
	return len(e)
}

// try matches one rule and keeps it when it could matter.
func (j *judging) try(rule *rule, s *source) {
	h := &j.at
	*h = hit{rule: rule, source: s, action: rule.action, message: rule.message, suggest: rule.suggest, over: rule.override, seq: j.seq + rule.ord}
	context := rule.context
	if s == nil {
		for _, g := range j.r.global {
			for k := range g.overrides {
				if o := &g.overrides[k]; o.name == rule.name {
					if o.disabled {
						return
					}
					o.apply(h, &context)
				}
			}
		}
	}
	if j.best != nil && (h.rank() < j.best.rank() || h.rank() == j.best.rank() && !h.restates(j.best)) && len(rule.conditions) == 0 {
		return // cannot change the verdict
	}
	// Who runs the command may have to be looked for among all its ancestors, so
	// it is asked only when the words fit, and before a match looks at files.
	if context != "" && j.r.context != "" && context != j.r.context {
		return
	}
	j.v.context = context
	h.sure = j.v.match(rule, h)
	if h.sure == never || !j.v.rightContext() {
		return
	}
	if h.sure == maybe {
		if h.action <= Redirect || j.r.who() != AI {
			return
		}
		h.action, h.over = RequireApproval, false
		h.why = append(h.why, "a word is not known and may be what the rule names")
	}
	if s != nil && s.kind == fromRepo && !s.trusted && rule.runsCode() {
		j.d.Notes = append(j.d.Notes, fmt.Sprintf("rule %s of %s is not in force, because the file is not trusted; to trust it: %s", rule.name, s.path, trustCommand(s.path)))
		return
	}
	if len(rule.conditions) > 0 {
		j.cond = append(j.cond, h.keep())
		return
	}
	if j.best == nil || h.rank() > j.best.rank() || h.rank() == j.best.rank() && h.restates(j.best) {
		j.best = h.keep()
	}
}

// restates reports whether h is a rule of a file that goes by the name of the
// built-in rule that b is: a user who writes down a built-in rule in their own
// words wants to read those words. It never makes a verdict milder.
func (h *hit) restates(b *hit) bool {
	return h.source != nil && b.source == nil && h.rule.name == b.rule.name
}

func (o *override) apply(h *hit, context *Context) {
	if o.action != nil {
		h.action = *o.action
		h.over = h.over && h.action == Deny
	}
	if o.context != nil {
		*context = *o.context
	}
	if o.message != nil {
		h.message = *o.message
	}
	if o.suggest != nil {
		h.suggest = *o.suggest
	}
	if o.override != nil {
		h.over = *o.override && h.action == Deny
	}
}

// decide evaluates the conditions that could still change the verdict, the
// strictest rules first, and fills the decision in.
func (j *judging) decide() {
	var open []*hit
	for _, h := range j.cond {
		if j.best == nil || h.rank() > j.best.rank() || h.rank() == j.best.rank() && (h.seq < j.best.seq || h.restates(j.best)) {
			open = append(open, h)
		}
	}
	for i := 1; i < len(open); i++ { // strictest first, then in order of loading
		for k := i; k > 0 && open[k].rank() > open[k-1].rank(); k-- {
			open[k], open[k-1] = open[k-1], open[k]
		}
	}
	if len(open) > 0 {
		j.conditions(open)
	}
	if j.best != nil {
		j.fill(j.best)
	}
}

func (j *judging) conditions(open []*hit) {
	rules := make([]*rule, len(open))
	for i, h := range open {
		rules[i] = h.rule
	}
	judge := j.r.conditionJudge()
	values := j.v.values()
	holds, at, err := judge.first(rules, values)
	if holds >= 0 && holds < len(open) {
		h := open[holds]
		h.why = append(h.why, plural(len(h.rule.conditions), "condition")+" held")
		j.best = h
		return
	}
	if err == nil || at >= len(open) {
		return
	}
	// Rules from at on were not judged; the first of them is the strictest.
	note := "the conditions of rule %s could not be judged (%v) and count as %s"
	for _, h := range open[at:] {
		if h.action < RequireApproval || j.r.o.FailOpen {
			j.d.Notes = append(j.d.Notes, fmt.Sprintf(note, h.rule.name, err, "not holding"))
			continue
		}
		if values.dir == "" {
			// The shim will see the directory; here it can only be asked.
			if j.r.who() != AI {
				continue
			}
			h.action, h.over = RequireApproval, false
			if j.best != nil && j.best.rank() >= h.rank() {
				continue
			}
		}
		j.d.Notes = append(j.d.Notes, fmt.Sprintf(note, h.rule.name, err, "holding"))
		h.why = append(h.why, "conditions that could not be judged: "+err.Error())
		h.message += fmt.Sprintf(" (The condition of the rule in %s could not be judged: %v. Until it can, it counts as holding; see `safeshell rules show %s`.)", h.where(), err, h.rule.name)
		j.best = h
		return
	}
}

func (j *judging) fill(h *hit) {
	d := &j.d
	d.Action, d.Rule, d.Message, d.Suggest = h.action, h.rule.name, h.message, h.suggest
	d.AllowOverride = h.over && h.action == Deny
	d.Matched, d.Loss = h.why, h.loss
	d.Source = "built-in:" + h.rule.pack
	if h.source != nil {
		d.Source = h.source.path
	}
	if h.action == Redirect {
		v := j.v.values()
		args, known := j.v.args()
		dir := v.dir
		cmd := v.name
		if v.args != "" {
			cmd += " " + v.args
		}
		d.Redirect, _ = expandRedirect(h.rule.redirect, cmd, dir, j.r.o.Paths.User, args, known)
		d.RedirectBefore, d.RedirectAfter = aroundArgs(h.rule.redirect, cmd, dir, j.r.o.Paths.User, known)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
