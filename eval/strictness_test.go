package eval

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"safeshell/script"
)

func TestStrictness(t *testing.T) {
	order := []Finding{
		{Action: Allow}, {Action: Redirect}, {Action: RequireApproval},
		{Action: Deny, AllowOverride: true}, {Action: Deny},
	}
	for i := range order[1:] {
		if order[i].Strictness() >= order[i+1].Strictness() {
			t.Errorf("%+v is not milder than %+v", order[i], order[i+1])
		}
	}
}

// lineVerdict joins the decisions on all commands of a line, as the gate does.
func lineVerdict(r *Rules, a *script.Analysis) Decision {
	var d Decision
	for i := range a.Commands {
		d = Stricter(d, r.Judge(a, i))
	}
	if len(a.Unknown) > 0 {
		d = Stricter(d, r.JudgeUnknown(a))
	}
	return d
}

// weaker says what of a verdict is lost in another one, "" when nothing is: how
// strict it is, a rule that has to be got past, the redirect that follows.
func weaker(was, is Decision) string {
	if is.Strictness() < was.Strictness() {
		return fmt.Sprintf("%v by %s became %v by %s", was.Action, was.Rule, is.Action, is.Rule)
	}
	if is.Action == Deny && !is.AllowOverride {
		return ""
	}
	for _, f := range was.Findings() {
		if f.Stops() && !slices.ContainsFunc(is.Findings(), func(g Finding) bool { return g.Rule == f.Rule && g.Strictness() >= f.Strictness() }) {
			return "rule " + f.Rule + " is not met any more"
		}
	}
	if was.RedirectBy != nil && is.RedirectBy == nil {
		return "the redirect by " + was.RedirectBy.Rule + " is gone"
	}
	return ""
}

// randomRule is a rule for one of the commands, of any action.
func randomRule(r *rand.Rand, n int, commands []string) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	action := pick("allow", "redirect, redirect_to: 'true $ARGS'", "redirect, redirect_to: 'trash $ARGS'", "require_approval", "deny, allow_override: true", "deny")
	name := pick(fmt.Sprintf("added-%d", n), fmt.Sprintf("added-%d", n), "redirect-rm-to-trash", "git-push-force", "core-delete-unrecoverable")
	return fmt.Sprintf("- {name: %s, commands: [%q], action: %s, message: added%s%s}\n", name, pick(commands...), action,
		pick("", "", ", context: ai_only", ", context: human_only"),
		pick("", "", ", match: {operands: some}", ", match: {args: '.'}", ", conditions: ['true']", ", conditions: ['false']"))
}

// TestAddedRules adds random rules of every level to the corpus's world: no
// verdict becomes milder, no rule that had to be got past is lost, and no
// redirect.
func TestAddedRules(t *testing.T) {
	lines := readCorpus(t)
	w := corpusWorld(t)
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	base, _ := w.rules()
	for round := range 24 {
		var sample []script.Analysis
		var was []Decision
		commands := []string{"*", "rm", "git", "safeshell"}
		for range 120 {
			a := w.parse(strings.ReplaceAll(lines[rnd.IntN(len(lines))].Command, "/home/dev", w.home))
			sample, was = append(sample, a), append(was, lineVerdict(base, &a))
			for i := range a.Commands {
				if len(a.Commands[i].Argv) > 0 {
					if s, ok := a.Commands[i].Argv[0].Text(); ok && s != "" && !strings.ContainsAny(s, "/ \t\n'") {
						commands = append(commands, s)
					}
				}
			}
		}
		text := "rules:\n"
		for n := range 1 + rnd.IntN(3) {
			text += randomRule(rnd, n, commands)
		}
		if _, problems := parseRules("x", []byte(text), fromUser); len(problems) > 0 {
			continue // one name twice
		}
		file := [...]string{w.paths.Rules, w.paths.System, filepath.Join(w.proj, ".safeshell", "rules.yaml")}[round%3]
		w.write(file, text)
		os.Chmod(file, 0o600)
		if round%3 == 2 && rnd.IntN(2) == 0 {
			if _, err := Trust(w.paths, w.proj); err != nil {
				t.Fatal(err)
			}
		}
		r, problems := w.rules()
		if len(problems) > 0 {
			t.Fatal(problems, text)
		}
		for i := range sample {
			if what := weaker(was[i], lineVerdict(r, &sample[i])); what != "" {
				t.Errorf("%s\nwith %s:\n%s%s", what, file, text, sample[i].Text)
			}
		}
		r.Close()
		if round%3 == 0 {
			w.write(file, "rules: []\n")
		} else {
			os.Remove(file)
		}
	}
}

// Pairs that were found by thinking, each with the rule that once weakened it.
func TestAddedRuleExamples(t *testing.T) {
	for _, c := range []struct{ line, rule string }{
		{"safeshell exec -- rm -rf /", "{name: r, commands: [safeshell], match: {subcommand: [exec]}, action: deny, allow_override: true, message: m}"},
		{"safeshell -c 'rm -rf /'", "{name: r, commands: [safeshell], action: deny, allow_override: true, message: m}"},
		{"python3 manage.py flush", "{name: r, commands: [python3], action: redirect, redirect_to: 'true', message: m}"},
		{"rm notes.txt", "{name: r, commands: [rm], action: require_approval, message: m}"},
		{"rm notes.txt", "{name: r, commands: [rm], action: deny, allow_override: true, message: m}"},
		{"rm notes.txt", "{name: redirect-rm-to-trash, commands: [rm], action: require_approval, message: m}"},
		{"git push -f origin x", "{name: r, commands: [git], action: require_approval, message: m}"},
		{"git push -f origin x", "{name: r, commands: [git], action: deny, allow_override: true, message: m}"},
		{"git push -f origin x", "{name: r, commands: [git], action: redirect, redirect_to: 'true', message: m}"},
		{"sudo rm -rf /etc", "{name: r, commands: [sudo], action: deny, allow_override: true, message: m}"},
		{"mywrap rm -rf notes.txt", "{name: r, commands: [mywrap], action: redirect, redirect_to: 'true', message: m}"},
	} {
		w := newWorld(t)
		w.write("notes.txt", "x")
		r, _ := w.rules()
		a := w.parse(c.line)
		was := lineVerdict(r, &a)
		w.user("rules:\n- " + c.rule + "\n")
		r, problems := w.rules()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if what := weaker(was, lineVerdict(r, &a)); what != "" {
			t.Errorf("%s with %s: %s", c.line, c.rule, what)
		}
	}
}

// Two rules that ask are both met, also where one has conditions; one that takes
// all the time of its conditions takes none of another's.
func TestAllThatStop(t *testing.T) {
	needs1(t, "bash")
	for _, c := range []struct {
		rules string
		open  bool
		want  string
	}{
		{one("a", "x", "require_approval", "") + one("b", "x", "require_approval", ""), false, "a b"},
		{one("a", "x", "require_approval", "") + one("b", "x", "deny", ", allow_override: true"), false, "b a"},
		{one("a", "x", "require_approval", ", conditions: ['true']") + one("b", "x", "require_approval", ", conditions: ['true']"), false, "a b"},
		{one("a", "x", "require_approval", ", conditions: ['false']") + one("b", "x", "require_approval", ", conditions: ['true']") + one("c", "x", "deny", ", allow_override: true, conditions: ['true']"), false, "c b"},
		{one("a", "x", "require_approval", "") + one("b", "x", "deny", ""), false, "b"},
		{one("a", "x", "require_approval", "") + one("b", "x", "redirect", ", redirect_to: y"), false, "a"},
		{one("slow", "x", "deny", ", allow_override: true, conditions: ['sleep 1000']") + one("b", "x", "require_approval", ", conditions: ['test -n \"$CMD\" && sleep 0']"), false, "slow b"},
		{one("slow", "x", "deny", ", allow_override: true, conditions: ['sleep 1000']") + one("b", "x", "require_approval", ", conditions: ['test -n \"$CMD\" && sleep 0']"), true, "b"},
	} {
		w := newWorld(t)
		w.user("rules:\n" + c.rules)
		w.open = func(o *Options) {
			o.Settings = func() (time.Duration, bool) { return 2 * time.Second, c.open }
		}
		var got []string
		for _, f := range w.argv("x").Findings() {
			got = append(got, f.Rule)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q, want %q:\n%s", got, c.want, c.rules)
		}
	}
}

// A repository's rule by the name of a built-in redirect does not say what is
// run instead; the user's own does.
func TestRestatedRedirect(t *testing.T) {
	rule := "rules:\n- {name: redirect-rm-to-trash, commands: [rm], action: redirect, redirect_to: 'true $ARGS', message: m}\n"
	w := newWorld(t)
	w.write(".safeshell/rules.yaml", rule)
	if _, err := Trust(w.paths, w.proj); err != nil {
		t.Fatal(err)
	}
	if d := w.argv("rm", "x"); d.Redirect[0] != "trash" {
		t.Errorf("a repository's: %q", d.Redirect)
	}
	w = newWorld(t)
	w.user(rule)
	if d := w.argv("rm", "x"); d.Redirect[0] != "true" {
		t.Errorf("the user's: %q", d.Redirect)
	}
}
