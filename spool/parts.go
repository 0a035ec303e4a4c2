package spool

import (
	"fmt"
	"slices"
	"strings"
)

// Part is a rule that a request meets, beside the part of its command that the
// rule concerns. Texts are for people; secrets are masked.
type Part struct {
	Command string `json:"command,omitempty"` // the part; empty: the whole
	Dir     string `json:"dir,omitempty"`     // where it runs, if elsewhere than the request
	More    int    `json:"more,omitempty"`    // further parts that meet the same rule
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`
	Suggest string `json:"suggest,omitempty"`
	Loss    string `json:"loss,omitempty"` // what would be lost, where known
}

// What names the part in a line.
func (p Part) What() string {
	s := p.Command
	if p.Dir != "" && s != "" {
		s += "  (in " + p.Dir + ")"
	}
	if p.More > 0 {
		s += fmt.Sprintf("  (and %d more parts like it)", p.More)
	}
	return s
}

// WithParts returns r as one that asks about these parts, of which the one of
// rule leads. What reads only the leading rule finds the others in its reason.
func (r Request) WithParts(rule string, parts []Part) Request {
	r.Parts, r.Rule = parts, rule
	var others []string
	for _, p := range parts {
		if p.Rule == rule && r.Reason == "" {
			r.Reason, r.Suggest, r.Loss = p.Reason, p.Suggest, p.Loss
			continue
		}
		others = append(others, fmt.Sprintf("[%s, rule %s: %s]", p.What(), p.Rule, p.Reason))
	}
	if len(others) > 0 {
		r.Reason += " And also: " + strings.Join(others, " ")
	}
	return r
}

// Shown are the rules that the request is asked about, each with its part. There
// is always one.
func (r Request) Shown() []Part {
	if len(r.Parts) > 0 {
		return r.Parts
	}
	return []Part{{Rule: r.Rule, Reason: r.Reason, Suggest: r.Suggest, Loss: r.Loss}}
}

// Rules are the names of the rules that the request is asked about, each once.
func (r Request) Rules() string {
	var out []string
	for _, p := range r.Shown() {
		if !slices.Contains(out, p.Rule) {
			out = append(out, p.Rule)
		}
	}
	return strings.Join(out, ", ")
}

// JoinRules makes one text of the names of rules, the same for the same rules.
func JoinRules(rules []string) string {
	rules = slices.Clone(rules)
	slices.Sort(rules)
	return strings.Join(slices.Compact(rules), "\n")
}

// RulesOf is JoinRules for parts.
func RulesOf(parts []Part) string {
	var rules []string
	for _, p := range parts {
		rules = append(rules, p.Rule)
	}
	return JoinRules(rules)
}

// HasRules reports whether all of the rules in want are in have; both by
// JoinRules.
func HasRules(have, want string) bool {
	list := strings.Split(have, "\n")
	for r := range strings.SplitSeq(want, "\n") {
		if !slices.Contains(list, r) {
			return false
		}
	}
	return true
}

// cutParts returns parts with texts of at most limit bytes, as JSON holds them.
func cutParts(parts []Part, limit int) []Part {
	parts = slices.Clone(parts)
	for i := range parts {
		p := &parts[i]
		for _, s := range []*string{&p.Command, &p.Dir, &p.Rule, &p.Reason, &p.Suggest, &p.Loss} {
			*s, _ = cutMiddle(strings.ToValidUTF8(*s, "\uFFFD"), limit)
		}
	}
	return parts
}
