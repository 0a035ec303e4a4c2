package eval

import (
	"fmt"
	"strings"

	"safeshell/config/yamltree"
	"safeshell/eval/condition"
)

// sourceKind says where rules come from, and so what they may hold.
type sourceKind uint8

const (
	fromPack   sourceKind = iota
	fromSystem            // /etc/safeshell/rules.yaml
	fromUser              // ~/.safeshell/rules.yaml
	fromRepo              // .safeshell/rules.yaml
)

// schema reads one rules file.
type schema struct {
	yamlReader
	kind sourceKind
	pack string
	out  ruleFile
}

// parseRules reads a rules file. Any problem means that the file must not be
// used; what is returned beside problems serves only further checks.
func parseRules(file string, data []byte, kind sourceKind) (*ruleFile, []Problem) {
	s := &schema{yamlReader: yamlReader{file: file}, kind: kind}
	return s.read(data)
}

func (s *schema) read(data []byte) (*ruleFile, []Problem) {
	root := s.document(data)
	if root == nil {
		return &s.out, s.problems // an empty file has no rules
	}
	s.mapping(root, "the file", map[string]func(k, v *yamltree.Node){
		"rules":     func(_, v *yamltree.Node) { s.rules(v) },
		"overrides": s.globalOnly(func(v *yamltree.Node) { s.overrides(v) }),
		"packs":     s.globalOnly(func(v *yamltree.Node) { s.packs(v) }),
		"wrappers":  s.globalOnly(func(v *yamltree.Node) { s.wrappers(v) }),
	})
	return &s.out, s.problems
}

// globalOnly refuses a key in repository files: they can only add
// restrictions.
func (s *schema) globalOnly(f func(*yamltree.Node)) func(k, v *yamltree.Node) {
	return func(k, v *yamltree.Node) {
		switch s.kind {
		case fromRepo:
			s.bad(k, "move it to ~/.safeshell/rules.yaml", "%s is not allowed in a repository's rules: they only add restrictions", k.Value)
		case fromPack:
			s.bad(k, "remove it", "%s is not allowed in a pack", k.Value)
		default:
			f(v)
		}
	}
}

func (s *schema) rules(n *yamltree.Node) {
	if n.Null() {
		return
	}
	if n.Kind != yamltree.Sequence {
		s.bad(n, "write - name: ...", "rules must be a list, not %s", n.Show())
		return
	}
	seen := map[string]int{}
	for i, c := range n.Content {
		last := 1 << 30
		if i+1 < len(n.Content) {
			last = n.Content[i+1].Line - 1
		}
		r, ok := s.rule(c)
		if !ok {
			continue
		}
		if line, dup := seen[r.name]; dup {
			s.bad(c, "give each rule a name of its own", "rule %q is already defined in line %d", r.name, line)
			continue
		}
		seen[r.name] = c.Line
		r.line, r.ord, r.node = c.Line, len(s.out.rules), span{c.Line, last}
		s.out.rules = append(s.out.rules, r)
	}
}

func (s *schema) rule(n *yamltree.Node) (rule, bool) {
	var r rule
	before := len(s.problems)
	given := map[string]*yamltree.Node{}
	var redirectTo string
	note := func(f func(v *yamltree.Node)) func(k, v *yamltree.Node) {
		return func(k, v *yamltree.Node) { given[k.Value] = v; f(v) }
	}
	ok := s.mapping(n, "a rule", map[string]func(k, v *yamltree.Node){
		"name":           note(func(v *yamltree.Node) { r.name = s.ruleName(v) }),
		"commands":       note(func(v *yamltree.Node) { r.commands = s.commandNames(v, "commands", true) }),
		"match":          note(func(v *yamltree.Node) { r.match = s.clauses(v, "match") }),
		"unless":         note(func(v *yamltree.Node) { r.unless = s.clauses(v, "unless") }),
		"directory":      note(func(v *yamltree.Node) { r.directory = s.regexp(v, "directory") }),
		"conditions":     note(func(v *yamltree.Node) { r.conditions = s.conditions(v) }),
		"context":        note(func(v *yamltree.Node) { r.context = s.context(v) }),
		"action":         note(func(v *yamltree.Node) { r.action, _ = s.action(v) }),
		"allow_override": note(func(v *yamltree.Node) { r.override, _ = s.boolean(v, "allow_override") }),
		"redirect_to": note(func(v *yamltree.Node) {
			redirectTo, _ = s.str(v, "redirect_to")
			if redirectTo == "" {
				return
			}
			var err error
			if r.redirect, err = parseRedirect(redirectTo); err != nil {
				s.bad(v, `write one simple command, for example: redirect_to: "trash $ARGS"`, "redirect_to: %v", err)
			}
		}),
		"message":  note(func(v *yamltree.Node) { r.message, _ = s.str(v, "message") }),
		"suggest":  note(func(v *yamltree.Node) { r.suggest, _ = s.str(v, "suggest") }),
		"examples": note(func(v *yamltree.Node) { r.examples = s.examples(v) }),
	})
	if !ok {
		return r, false
	}
	for _, k := range []struct{ key, fix string }{
		{"name", "add name: a-short-name"},
		{"commands", `add commands: [git], or commands: ["*"] for all`},
		{"action", "add action: deny, require_approval, redirect or allow"},
		{"message", "add message: what is stopped and why, for the agent"},
	} {
		if given[k.key] == nil {
			s.bad(n, k.fix, "a rule has no %s%s", k.key, named(r.name))
		}
	}
	if given["action"] != nil {
		switch to := given["redirect_to"]; {
		case r.action == Redirect && to == nil:
			s.bad(given["action"], `add redirect_to: "trash $ARGS", or choose another action`, "action redirect needs redirect_to%s", named(r.name))
		case r.action != Redirect && to != nil:
			s.bad(to, "remove redirect_to, or write action: redirect", "redirect_to without action: redirect%s", named(r.name))
		}
		if v := given["allow_override"]; v != nil && r.override && r.action != Deny {
			s.bad(v, "remove allow_override, or write action: deny", "allow_override is only for action: deny%s", named(r.name))
		}
	}
	return r, len(s.problems) == before
}

func named(rule string) string {
	if rule == "" {
		return ""
	}
	return fmt.Sprintf(" (rule %s)", rule)
}

// ruleName checks a name. The packs' rules have plain names too, so that a pack
// can be copied into a user's file and changed there.
func (s *schema) ruleName(n *yamltree.Node) string {
	name, ok := s.str(n, "name")
	if !ok {
		return ""
	}
	if len(name) > 100 || !plainName(name) {
		s.bad(n, "use letters, digits, dots, - and _, beginning with a letter or digit", "%q cannot be a rule name", name)
	}
	return name
}

func plainName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isWordByte(c) && (i == 0 || c != '.' && c != '-') || i == 0 && c == '_' {
			return false
		}
	}
	return s != ""
}

// commandNames reads base names of programs. With star, "*" stands for every
// command.
func (s *schema) commandNames(n *yamltree.Node, what string, star bool) []string {
	names := s.list(n, what)
	seen := map[string]bool{}
	for _, c := range names {
		switch {
		case c == "*" && star:
		case strings.Contains(c, "/"):
			s.bad(n, "write "+c[strings.LastIndexByte(c, '/')+1:], "%s: %q has a directory; the name alone is compared, wherever the program lies", what, c)
		case strings.ContainsAny(c, " \t\n"):
			first := strings.Fields(c)[0]
			s.bad(n, fmt.Sprintf("write commands: [%s] and match: {subcommand: [...]}", first), "%s: %q is more than a command's name", what, c)
		case strings.ContainsAny(c, "*?[]{}$`'\"\\|&;<>()"):
			s.bad(n, "list the names", "%s: %q: patterns are not supported in names", what, c)
		}
		if seen[c] {
			s.bad(n, "remove one", "%s names %q twice", what, c)
		}
		seen[c] = true
	}
	return names
}

func (s *schema) context(n *yamltree.Node) Context {
	switch w, _ := s.word(n, "context", "all", "ai_only", "human_only"); w {
	case "ai_only":
		return AI
	case "human_only":
		return Human
	}
	return ""
}

func (s *schema) action(n *yamltree.Node) (Action, bool) {
	w, ok := s.word(n, "action", "allow", "deny", "require_approval", "redirect")
	for a := Allow; a <= Deny; a++ {
		if a.String() == w {
			return a, ok
		}
	}
	return Allow, false
}

func (s *schema) conditions(n *yamltree.Node) []condition.Condition {
	var out []condition.Condition
	for i, text := range s.list(n, "conditions") {
		place := n
		if n.Kind == yamltree.Sequence {
			place = n.Content[i]
		}
		c, fix, err := condition.Compile(text)
		if err != nil {
			s.bad(place, fix, "condition: %v", err)
			continue
		}
		out = append(out, c)
		if len(s.problems) > 200 {
			break // enough to correct
		}
	}
	return out
}

func (s *schema) examples(n *yamltree.Node) (e examples) {
	s.mapping(n, "examples", map[string]func(k, v *yamltree.Node){
		"match":    func(_, v *yamltree.Node) { e.match = s.exampleLines(v) },
		"no_match": func(_, v *yamltree.Node) { e.noMatch = s.exampleLines(v) },
	})
	return e
}

// exampleLines reads command lines: a text, or {run: text, branch: name}.
func (s *schema) exampleLines(n *yamltree.Node) []example {
	if n.Kind != yamltree.Sequence {
		s.bad(n, `write ["command line", "..."]`, "examples must be lists of command lines")
		return nil
	}
	var out []example
	for _, c := range n.Content {
		e := example{at: c.Line}
		if c.Kind == yamltree.Mapping {
			s.mapping(c, "an example", map[string]func(k, v *yamltree.Node){
				"run":    func(_, v *yamltree.Node) { e.line, _ = s.str(v, "run") },
				"branch": func(_, v *yamltree.Node) { e.branch, _ = s.str(v, "branch") },
			})
		} else {
			e.line, _ = s.str(c, "an example")
		}
		if e.line == "" {
			if c.Kind == yamltree.Mapping {
				s.bad(c, "add run: a command line", "an example has no command line")
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

func (s *schema) overrides(n *yamltree.Node) {
	if n.Kind != yamltree.Sequence {
		s.bad(n, "write - {name: git-push-force, disabled: true}", "overrides must be a list, not %s", n.Show())
		return
	}
	seen := map[string]bool{}
	for _, c := range n.Content {
		o := override{line: c.Line, column: c.Column}
		changes := 0
		count := func(f func(v *yamltree.Node)) func(k, v *yamltree.Node) {
			return func(_, v *yamltree.Node) { changes++; f(v) }
		}
		ok := s.mapping(c, "an override", map[string]func(k, v *yamltree.Node){
			"name":     func(_, v *yamltree.Node) { o.name, _ = s.str(v, "name") },
			"disabled": count(func(v *yamltree.Node) { o.disabled, _ = s.boolean(v, "disabled") }),
			"action": count(func(v *yamltree.Node) {
				if a, ok := s.action(v); ok {
					if a == Redirect {
						s.bad(v, "disable the rule and write one of your own with redirect_to", "an override cannot make a rule a redirect")
					}
					o.action = &a
				}
			}),
			"context":        count(func(v *yamltree.Node) { c := s.context(v); o.context = &c }),
			"message":        count(func(v *yamltree.Node) { m, _ := s.str(v, "message"); o.message = &m }),
			"suggest":        count(func(v *yamltree.Node) { m, _ := s.str(v, "suggest"); o.suggest = &m }),
			"allow_override": count(func(v *yamltree.Node) { b, _ := s.boolean(v, "allow_override"); o.override = &b }),
		})
		switch {
		case !ok:
		case o.name == "":
			s.bad(c, "add name: of the built-in rule (safeshell rules list)", "an override names no rule")
		case changes == 0:
			s.bad(c, "add disabled: true, or action, context, message, suggest or allow_override", "the override of %s changes nothing", o.name)
		case seen[o.name]:
			s.bad(c, "join the two", "rule %s is overridden twice", o.name)
		default:
			seen[o.name] = true
			s.out.overrides = append(s.out.overrides, o)
		}
	}
}

func (s *schema) packs(n *yamltree.Node) {
	s.out.packs = []string{}
	if n.Kind == yamltree.Sequence && len(n.Content) == 0 {
		return // no pack at all: said plainly enough
	}
	known := map[string]bool{}
	for _, p := range packNames {
		known[p] = true
	}
	for _, p := range s.list(n, "packs") {
		if !known[p] {
			s.bad(n, "known packs: "+strings.Join(packNames[:], ", "), "there is no pack %q", p)
			continue
		}
		s.out.packs = append(s.out.packs, p)
	}
}

func (s *schema) wrappers(n *yamltree.Node) {
	s.out.wrappers = s.commandNames(n, "wrappers", false)
}
