package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"safeshell/eval/condition"
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
}

// where is the rule's place, for a person to look at.
func (h *hit) where() string {
	if h.source != nil {
		return fmt.Sprintf("%s:%d", h.source.path, h.rule.line)
	}
	return "the built-in rule " + h.rule.name
}

// rank is the hit's strictness.
func (h *hit) rank() int { return Finding{Action: h.action, AllowOverride: h.over}.Strictness() }

// final says that nobody may lift the hit: no other rule matters then. What may
// be no command at all is asked about in any case.
func (j *judging) final(h *hit) bool { return h.action == Deny && !h.over && !j.v.c.Guess }

// Judge returns the verdict on command i of the analysis: the most restrictive
// action of all rules that match it (Finding.Strictness; among equals the first
// loaded), with the other rules that stop it. Repository rules are those of the
// command's own directory.
//
// Where a rule's path keys cannot be decided because a word is not known, but
// the word may be what the rule names, a deny becomes a question for agents;
// for people it is left to the shim, which sees the real argv.
func (r *Rules) Judge(a *script.Analysis, i int) Decision {
	if i < 0 || i >= len(a.Commands) {
		return Decision{}
	}
	if a.Budget.Left() <= 0 {
		a.Budget.Exceed("")
		return Decision{}
	}
	v := r.borrowView(a, i)
	defer v.giveBack()
	d := r.judgeView(a, v)
	for _, inner := range v.inner() {
		d = Stricter(d, r.judgeInner(inner))
	}
	return d
}

// judgeInner judges all commands of an analysis as one.
func (r *Rules) judgeInner(a *script.Analysis) (d Decision) {
	text := r.text // of the text around it
	defer func() { r.text = text }()
	for i := range a.Commands {
		if a.Budget.Left() <= 0 {
			break
		}
		d = Stricter(d, r.judgeView(a, newView(r, a, i)))
	}
	return Stricter(d, r.JudgeUnknown(a))
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
	*d = Decision{Finding: d.Finding, Also: d.Also, Notes: d.Notes, Problems: d.Problems, Untrusted: d.Untrusted}
	if !d.Stops() || r.who() != AI {
		d.Finding, d.Also = Finding{}, nil
		return
	}
	for _, f := range append([]*Finding{&d.Finding}, pointers(d.Also)...) {
		f.Action, f.AllowOverride = RequireApproval, false
		f.Matched = append(f.Matched, "the program around it is not known and may run it")
	}
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// judging is the work on one command.
type judging struct {
	r    *Rules
	v    *view
	d    Decision
	best *hit   // strictest hit whose conditions hold
	also []*hit // other such hits that stop the command, or redirect it
	cond []*hit // hits whose conditions are to be judged, in order of loading
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
		if !j.v.spend(0) {
			return
		}
		rule, err := b.rule(e, false)
		if err != nil {
			if s != nil {
				j.again(s)
			}
			return
		}
		j.traced(rule, j.try(rule, s))
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

// try matches one rule and keeps it when it could matter. It returns what came of
// it, in words.
func (j *judging) try(rule *rule, s *source) (outcome string) {
	h := &j.at
	*h = hit{rule: rule, source: s, action: rule.action, message: rule.message, suggest: rule.suggest, over: rule.override, seq: j.seq + rule.ord}
	context := rule.context
	if s == nil {
		for _, g := range j.r.global {
			for k := range g.overrides {
				if o := &g.overrides[k]; o.name == rule.name {
					if o.disabled {
						return "is switched off by an override"
					}
					o.apply(h, &context)
				}
			}
		}
	}
	if !j.matters(h) && len(rule.conditions) == 0 {
		return "would change nothing"
	}
	// Who runs the command may have to be looked for among all its ancestors, so
	// it is asked only when the words fit, and before a match looks at files.
	if context != "" && j.r.context != "" && context != j.r.context {
		return "is not for this context"
	}
	j.v.context = context
	h.sure = j.v.match(rule, h)
	switch {
	case h.sure == never:
		return "does not match"
	case !j.v.rightContext():
		return "matches, but is not for this context"
	}
	if h.sure == maybe {
		if h.action <= Redirect || j.r.who() != AI {
			return "might match, which the shim will see"
		}
		h.action, h.over = RequireApproval, false
		h.why = append(h.why, "a word is not known and may be what the rule names")
	}
	if s != nil && s.kind == fromRepo && !s.trusted && rule.runsCode() {
		u := Untrusted{Rule: rule.name, File: s.path, Content: s.trustKey, Fix: trustCommand(s.path)}
		j.d.Untrusted, j.d.Notes = append(j.d.Untrusted, u), append(j.d.Notes, u.String())
		return "matches, but waits for trust"
	}
	if len(rule.conditions) > 0 {
		j.cond = append(j.cond, h.keep())
		return "matches, if its conditions hold"
	}
	j.add(h.keep())
	return "matches"
}

// traced tells what came of a rule to who wants to know.
func (j *judging) traced(rule *rule, outcome string) {
	if j.r.trace != nil {
		j.r.trace(rule.name, outcome)
	}
}

// Trace has f told of each rule that is looked at from now on, and what came of
// it, in words; nil: nobody.
func (r *Rules) Trace(f func(rule, outcome string)) { r.trace = f }

// matters reports whether a hit would change the decision: it is stricter than
// the strictest, or one more that has to be got past, or the redirect that is
// carried out then.
func (j *judging) matters(h *hit) bool {
	b := j.best
	switch {
	case b == nil || h.rank() > b.rank() || h.restates(b):
		return true
	case j.final(b):
		return h.rank() == b.rank() && h.seq < b.seq
	case h.action >= RequireApproval:
		return true
	case h.action == Redirect:
		r := j.redirect()
		return r == nil || h.seq < r.seq || h.restates(r)
	}
	return false
}

// add takes a hit into the decision; among equals the first loaded leads.
func (j *judging) add(h *hit) {
	if !j.matters(h) {
		return
	}
	b := j.best
	switch {
	case b == nil:
		j.best = h
	case h.restates(b):
		h.seq = b.seq
		j.best = h
	case h.rank() > b.rank() || h.rank() == b.rank() && h.seq < b.seq:
		if b.action >= Redirect {
			j.also = append(j.also, b)
		}
		j.best = h
	default:
		for i, other := range j.also {
			if h.restates(other) {
				h.seq = other.seq
				j.also[i] = h
				return
			}
		}
		j.also = append(j.also, h)
	}
}

// redirect is the hit that redirects the command; nil when none does.
func (j *judging) redirect() *hit {
	if j.best != nil && j.best.action == Redirect {
		return j.best
	}
	var first *hit
	for _, h := range j.also {
		if h.action == Redirect && (first == nil || h.seq < first.seq) {
			first = h
		}
	}
	return first
}

// restates reports whether h is a rule of a file that goes by the name of the
// built-in rule that b is: a user who writes down a built-in rule in their own
// words wants to read those words. It never makes a verdict milder, and a
// repository does not say what is run instead.
func (h *hit) restates(b *hit) bool {
	return h.source != nil && b.source == nil && h.rule.name == b.rule.name && h.rank() == b.rank() &&
		(h.action != Redirect || h.source.kind != fromRepo)
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

// decide evaluates the conditions that could still change the decision, the
// strictest rules first, and fills the decision in.
func (j *judging) decide() {
	open := j.cond
	for i := 1; i < len(open); i++ { // strictest first, then in order of loading
		for k := i; k > 0 && open[k].rank() > open[k-1].rank(); k-- {
			open[k], open[k-1] = open[k-1], open[k]
		}
	}
	for {
		open = slices.DeleteFunc(open, func(h *hit) bool { return !j.matters(h) })
		if len(open) == 0 {
			break
		}
		open = open[j.condition(open):]
	}
	if j.best != nil {
		j.fill()
	}
}

// condition judges conditions up to the first rule that they hold for, or that
// cannot be judged, and returns how many rules are judged. One that takes all
// its time takes none of the others'.
func (j *judging) condition(open []*hit) int {
	rules := make([]*rule, len(open))
	conditions := make([][]condition.Condition, len(open))
	for i, h := range open {
		rules[i], conditions[i] = h.rule, h.rule.conditions
	}
	values := j.v.values()
	holds, at, err := j.r.conditionJudge().First(conditions, values)
	for i := range open {
		switch {
		case i == holds:
			j.traced(rules[i], "holds by its conditions")
		case err != nil && i == at:
			j.traced(rules[i], "has conditions that could not be judged: "+err.Error())
		case holds < 0 && (err == nil || i < at), i < holds:
			j.traced(rules[i], "does not hold by its conditions")
		}
	}
	if holds >= 0 && holds < len(open) {
		h := open[holds]
		h.why = append(h.why, plural(len(h.rule.conditions), "condition")+" held")
		j.add(h)
		return holds + 1
	}
	if err == nil || at >= len(open) {
		return len(open)
	}
	h := open[at]
	note := "the conditions of rule %s could not be judged (%v) and count as %s"
	if h.action < RequireApproval || j.r.o.FailOpen {
		j.d.Notes = append(j.d.Notes, fmt.Sprintf(note, h.rule.name, err, "not holding"))
		return at + 1
	}
	if values.Dir == "" {
		// The shim will see the directory; here it can only be asked.
		if j.r.who() != AI {
			return at + 1
		}
		h.action, h.over = RequireApproval, false
	}
	j.d.Notes = append(j.d.Notes, fmt.Sprintf(note, h.rule.name, err, "holding"))
	h.why = append(h.why, "conditions that could not be judged: "+err.Error())
	h.message += fmt.Sprintf(" (The condition of the rule in %s could not be judged: %v. Until it can, it counts as holding; see `safeshell rules show %s`.)", h.where(), err, h.rule.name)
	j.add(h)
	return at + 1
}

// finding is the hit as it is told.
func (h *hit) finding() Finding {
	f := Finding{
		Action: h.action, Rule: h.rule.name, Source: "built-in:" + h.rule.pack, Message: h.message, Suggest: h.suggest,
		AllowOverride: h.over && h.action == Deny, Matched: h.why,
	}
	if h.source != nil {
		f.Source = h.source.path
	}
	return f
}

func (j *judging) fill() {
	d := &j.d
	d.Finding = j.best.finding()
	if h := j.redirect(); h != nil && !j.final(j.best) {
		by := h.finding()
		d.RedirectBy = &by
		j.fillRedirect(h)
	}
	if j.final(j.best) {
		return
	}
	slices.SortStableFunc(j.also, func(a, b *hit) int { return cmp.Or(b.rank()-a.rank(), a.seq-b.seq) })
	for _, h := range j.also {
		if h.action >= RequireApproval {
			d.Also = append(d.Also, h.finding())
		}
	}
}

// fillRedirect works out what a redirect runs instead.
func (j *judging) fillRedirect(h *hit) {
	d := &j.d
	v := j.v.values()
	args, known := j.v.args()
	cmd := v.Name
	if v.Args != "" {
		cmd += " " + v.Args
	}
	d.Redirect, _ = expandRedirect(h.rule.redirect, cmd, v.Dir, j.r.o.Paths.User, args, known)
	d.RedirectBefore, d.RedirectAfter = aroundArgs(h.rule.redirect, cmd, v.Dir, j.r.o.Paths.User, known)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
