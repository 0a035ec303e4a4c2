package eval

import (
	"fmt"
	"os"
	"strings"

	"safeshell/eval/condition"
	"safeshell/script"
)

// Report is the outcome of the examples of all rules.
type Report struct {
	Rules    int
	Examples int
	Failures []string // each a line: what was expected of which rule
	Untested []string // rules without a matching example
}

func (p *Report) fail(format string, args ...any) {
	p.Failures = append(p.Failures, fmt.Sprintf(format, args...))
}

// Test runs the examples of all rules in force, and of the repository rules of
// dirs, through the engine that judges commands: a match example must make its
// rule fire, a no_match example must not, a suggestion must not be stopped.
// Commands of examples are never executed; conditions are, in a scene of their
// own, but for repositories that are not trusted.
func (r *Rules) Test(dirs ...string) Report {
	var rep Report
	s, err := newScene()
	if err != nil {
		rep.fail("the scene for the examples could not be built: %v", err)
		return rep
	}
	defer s.remove()

	sources := append([]*source(nil), r.global...)
	for _, d := range dirs {
		sources = append(sources, r.repoSources(d)...)
	}
	t := tester{rep: &rep, scene: s, rules: r.inScene(s)}
	seen := map[string]string{}
	packs, err := parsePacks()
	if err != nil {
		rep.fail("%v", err)
	}
	for i := range packs {
		x := &packs[i]
		if old, dup := seen[x.name]; dup {
			rep.fail("built-in:%s: rule %s has the name of one in %s", x.pack, x.name, old)
		}
		seen[x.name] = x.pack
		if r.packOn(packIndex(x.pack)) && !r.overrideOf(x.name).disabledNow() {
			t.rule(x, "built-in:"+x.pack)
		}
	}
	for _, src := range sources {
		data, _, err := readSource(src.path, src.kind)
		if err != nil {
			rep.fail("%s: %v", src.path, err)
			continue
		}
		f, problems := parseRules(src.path, data, src.kind)
		for _, p := range problems {
			rep.fail("%s", p)
		}
		if len(problems) > 0 {
			continue
		}
		for i := range f.rules {
			if x := &f.rules[i]; src.kind != fromRepo || src.trusted || !x.runsCode() {
				t.rule(x, src.path)
			}
		}
	}
	return rep
}

// inScene returns the same rules, at home in the scene.
func (r *Rules) inScene(s *scene) *Rules {
	in := *r
	in.o.Environ = s.environ(r.o.Environ)
	if in.o.Environ == nil {
		in.o.Environ = s.environ(os.Environ())
	}
	in.o.Paths.User = s.home
	in.o.Paths.Home = s.home + "/.safeshell"
	in.o.Paths.Shims = in.o.Paths.Home + "/shims"
	in.o.Paths.Rules = in.o.Paths.Home + "/rules.yaml"
	in.o.Context = func() Context { return AI }
	in.repos, in.dirs, in.indexes, in.realDirs = map[string][]*source{}, map[string]dirInfo{}, nil, nil
	in.pathLists, in.dirPathIs, in.lastView = nil, nil, nil
	in.context, in.judge = "", nil
	return &in
}

type tester struct {
	rep   *Report
	scene *scene
	rules *Rules
}

func (t *tester) rule(x *rule, source string) {
	t.rep.Rules++
	if len(x.examples.match) == 0 {
		t.rep.Untested = append(t.rep.Untested, x.name)
	}
	for _, e := range x.examples.match {
		t.rep.Examples++
		if !t.fires(x, e) {
			t.rep.fail("%s:%d: rule %s does not match %s", source, e.at, x.name, quote(e.line))
		}
	}
	for _, e := range x.examples.noMatch {
		t.rep.Examples++
		if t.fires(x, e) {
			t.rep.fail("%s:%d: rule %s matches %s", source, e.at, x.name, quote(e.line))
		}
	}
	if x.suggest == "" {
		return
	}
	t.rep.Examples++
	a := t.analyse(example{line: x.suggest})
	d := t.rules.JudgeUnknown(&a)
	for i := range a.Commands {
		d = Stricter(d, t.rules.Judge(&a, i))
	}
	if d.Action >= RequireApproval {
		t.rep.fail("%s:%d: the suggestion of rule %s is itself stopped, by %s: %s", source, x.line, x.name, d.Rule, quote(x.suggest))
	}
}

func (t *tester) analyse(e example) script.Analysis {
	branch := e.branch
	if branch == "" {
		branch = sceneBranch
	}
	if err := t.scene.branch(branch); err != nil {
		t.rep.fail("%v", err)
	}
	lookup := func(name string) (string, bool) {
		for _, e := range t.rules.o.Environ {
			if n, v, ok := strings.Cut(e, "="); ok && n == name && (n == "HOME" || n == "PWD" || n == "TMPDIR" || n == "PATH" || n == "USER") {
				return v, true
			}
		}
		return "", false
	}
	return script.Parse(e.line, script.Options{Dialect: script.Bash, Dir: t.scene.proj, Lookup: lookup, Wrappers: t.rules.Wrappers()})
}

// fires says whether the rule by itself matches one of the commands of a line.
func (t *tester) fires(x *rule, e example) bool {
	a := t.analyse(e)
	one := func(a *script.Analysis, i int) bool {
		v := newView(t.rules, a, i)
		if !v.named(x) {
			return false
		}
		var h hit
		if v.match(x, &h) == never {
			return false
		}
		if len(x.conditions) == 0 {
			return true
		}
		holds, _, err := t.rules.conditionJudge().First([][]condition.Condition{x.conditions}, v.values())
		if err != nil {
			t.rep.fail("rule %s: its conditions could not be judged for %s: %v", x.name, quote(e.line), err)
		}
		return holds >= 0
	}
	for i := range a.Commands {
		if one(&a, i) {
			return true
		}
		for _, inner := range newView(t.rules, &a, i).inner() {
			for k := range inner.Commands {
				if one(inner, k) {
					return true
				}
			}
		}
	}
	return false
}

// named says that the rule is for commands of this name.
func (v *view) named(x *rule) bool {
	for _, c := range x.commands {
		if c == everyCommand || v.line.name != "" && canonicalName(c) == v.line.name {
			return true
		}
	}
	return false
}
