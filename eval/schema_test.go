package eval

import (
	"fmt"
	"strings"
	"testing"
)

// Each broken file is refused with its place, which » marks in the text, and
// with words that say what to do.
func TestBadFiles(t *testing.T) {
	const ok = "name: x, commands: [git], action: deny, message: m"
	for name, c := range map[string]struct {
		text    string
		message string
		fix     string
	}{
		"syntax":             {"rules:\n  »- {name: x\n", "not valid YAML", "correct the YAML"},
		"tab":                {"rules:\n»\t- name: x\n", "not valid YAML", ""},
		"not a mapping":      {"»- a\n", "must be a mapping", "key: value"},
		"unknown top key":    {"»rule: []\n", `unknown key "rule"`, "write rules:"},
		"unknown rule key":   {"rules:\n  - {" + ok + ", »comands: [x]}\n", `unknown key "comands"`, "write commands:"},
		"unknown match key":  {"rules:\n  - {" + ok + ", match: {»flag: [-f]}}\n", `unknown key "flag"`, "write flags:"},
		"duplicate key":      {"rules:\n  - name: x\n    »name: y\n    commands: [a]\n    action: deny\n    message: m\n", "given twice", "remove one"},
		"repeated name":      {"rules:\n  - {" + ok + "}\n  - »{" + ok + "}\n", "already defined in line 2", "name of its own"},
		"bad regexp":         {"rules:\n  - {" + ok + ", match: {args: »'('}}\n", "not a valid regexp", "correct the regexp"},
		"lookahead":          {"rules:\n  - {" + ok + ", directory: »'(?=x)'}\n", "not a valid regexp", "unless"},
		"no message":         {"rules:\n  - »{name: x, commands: [a], action: deny}\n", "no message", "add message"},
		"no commands":        {"rules:\n  - »{name: x, action: deny, message: m}\n", "no commands", `["*"]`},
		"no name":            {"rules:\n  - »{commands: [a], action: deny, message: m}\n", "no name", "add name"},
		"no action":          {"rules:\n  - »{name: x, commands: [a], message: m}\n", "no action", "add action"},
		"bad action":         {"rules:\n  - {name: x, commands: [a], action: »block, message: m}\n", `cannot be "block"`, "deny"},
		"bad context":        {"rules:\n  - {" + ok + ", context: »ai}\n", `cannot be "ai"`, "ai_only"},
		"redirect without":   {"rules:\n  - {name: x, commands: [a], action: »redirect, message: m}\n", "needs redirect_to", "trash $ARGS"},
		"redirect_to else":   {"rules:\n  - {" + ok + ", redirect_to: »trash}\n", "without action: redirect", "remove redirect_to"},
		"redirect pipe":      {"rules:\n  - {name: x, commands: [a], action: redirect, redirect_to: »'a | b', message: m}\n", "not one simple command", "one simple command"},
		"redirect in word":   {"rules:\n  - {name: x, commands: [a], action: redirect, redirect_to: »'a x$ARGS', message: m}\n", "word of its own", ""},
		"redirect other var": {"rules:\n  - {name: x, commands: [a], action: redirect, redirect_to: »'a $HOME', message: m}\n", "$HOME is not known", ""},
		"redirect value":     {"rules:\n  - {name: x, commands: [a], action: redirect, redirect_to: »'$CMD', message: m}\n", "plain name", ""},
		"override on ask":    {"rules:\n  - {name: x, commands: [a], action: require_approval, message: m, allow_override: »true}\n", "only for action: deny", ""},
		"empty list":         {"rules:\n  - {name: x, commands: »[], action: deny, message: m}\n", "empty list", "name something"},
		"path in commands":   {"rules:\n  - {name: x, commands: »[/bin/rm], action: deny, message: m}\n", "has a directory", "write rm"},
		"words in commands":  {"rules:\n  - {name: x, commands: »['git commit'], action: deny, message: m}\n", "more than a command's name", "subcommand"},
		"pattern command":    {"rules:\n  - {name: x, commands: »['mkfs.*'], action: deny, message: m}\n", "patterns are not supported", "list the names"},
		"flag without dash":  {"rules:\n  - {" + ok + ", match: {flags: »[force]}}\n", `"force" is not an option`, "--force"},
		"empty match":        {"rules:\n  - {" + ok + ", match: »{}}\n", "match is empty", "remove match"},
		"anchor":             {"rules: »&a\n  - {" + ok + "}\nwrappers: *a\n", "anchors are not supported", ""},
		"tag":                {"rules: »!!set {}\n", "tags are not supported", ""},
		"two documents":      {"rules: []\n»---\nrules: []\n", "more than one YAML document", "remove the line ---"},
		"name":               {"rules:\n  - {name: »'a b', commands: [a], action: deny, message: m}\n", "cannot be a rule name", "letters"},
		"example":            {"rules:\n  - {" + ok + ", examples: {match: »x}}\n", "must be lists", ""},
		"unknown pack":       {"packs: »[gti]\n", `no pack "gti"`, "known packs: core"},
		"override nothing":   {"overrides:\n  - »{name: x}\n", "changes nothing", "disabled: true"},
		"override no name":   {"overrides:\n  - »{disabled: true}\n", "names no rule", ""},
		"condition syntax":   {"rules:\n  - {" + ok + ", conditions: [»'if']}\n", "not valid shell", "bash -n"},
		"condition eval":     {"rules:\n  - {" + ok + ", conditions: [»'eval \"$CMD\"']}\n", "eval would run", "keep values data"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.text, "»")
			line := 1 + strings.Count(before, "\n")
			col := len(before) - strings.LastIndex(before, "\n")
			_, problems := parseRules("f.yaml", []byte(before+after), fromUser)
			if len(problems) == 0 {
				t.Fatal("accepted")
			}
			p := problems[0]
			if p.Line != line || p.Column != col {
				t.Errorf("at %d:%d, want %d:%d", p.Line, p.Column, line, col)
			}
			if !strings.Contains(p.Message, c.message) || !strings.Contains(p.Fix, c.fix) {
				t.Errorf("says %q, fix %q", p.Message, p.Fix)
			}
			if s := p.String(); strings.ContainsAny(s, "\n\r") || !strings.HasPrefix(s, fmt.Sprintf("f.yaml:%d:%d: ", line, col)) {
				t.Errorf("not one line with its place: %q", s)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	deep := "rules: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n"
	if _, problems := parseRules("f", []byte(deep), fromUser); len(problems) != 1 || !strings.Contains(problems[0].Message, "levels deep") {
		t.Error(problems)
	}
	_, problems := parseRules("f", []byte(strings.Repeat("#", MaxFileSize+1)), fromUser)
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "more than") {
		t.Error(problems)
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "rules:\n", "rules: []\n", "\ufeffrules: []\n"} {
		if f, problems := parseRules("f", []byte(text), fromUser); len(problems) > 0 || len(f.rules) > 0 {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

// A repository only adds rules.
func TestRepositoryRestrictions(t *testing.T) {
	for _, text := range []string{"overrides: [{name: x, disabled: true}]\n", "packs: []\n", "wrappers: [x]\n"} {
		_, problems := parseRules("f", []byte(text), fromRepo)
		if len(problems) != 1 || !strings.Contains(problems[0].Message, "not allowed in a repository") {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

// All keys of the schema, through the compiled form and back.
func TestRoundTrip(t *testing.T) {
	text := `
rules:
  - name: full
    commands: [git, "*"]
    match:
      - subcommand: [commit, stash drop]
        flags: [--force, -f, --x=y]
        options: {-v: '^/', --volume: 'a|b'}
        args: 'a+'
        operand: '^x$'
        word: 'y'
        operands: some
        paths: [~/.ssh, "!*.pub"]
        reads: [/a]
        writes: [/b]
        deletes: [/c]
        empties: ["*"]
        replaces: ["*"]
        removes: [/d]
        covers: [/, "."]
        recoverable: false
        scratch: true
        recursive: true
        pipes_to: [sh]
        fed_by: [curl]
        branch: '^(main|master)$'
        existing_branch: true
        via: [sudo]
        remote: false
        unknown: [operand, option, subcommand, path]
        assigns: [A, B=1, "C_*"]
        is: [bare_shell]
        mounts: [/]
        program: '^/'
        input: 'i'
        variables: 'v'
        sql: [drop]
        code: [fetched]
      - {operands: none}
    unless: {flags: [-n]}
    directory: '^/srv/'
    conditions: ["true", "echo '$CMD' | grep -q x"]
    context: ai_only
    action: redirect
    redirect_to: "~/bin/x --d=$PWD '$ARGS' \"$CMD\""
    message: m
    suggest: s
    examples: {match: [a, {run: b, branch: main}], no_match: [c]}
`
	f, problems := parseRules("f", []byte(text), fromUser)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	mem := encodeBlob(f.rules, "meta")
	b := &blob{mem: string(mem), size: len(mem)}
	if err := openBlob(b); err != nil {
		t.Fatal(err)
	}
	all, err := b.all()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	want := f.rules[0]
	want.examples, want.node = examples{}, span{}
	clean := func(r rule) string {
		s := fmt.Sprintf("%+v", r)
		// Addresses of lazily compiled regexps differ.
		for {
			i := strings.Index(s, "lazy:0x")
			if i < 0 {
				return s
			}
			j := i + len("lazy:0x")
			for j < len(s) && strings.IndexByte("0123456789abcdef", s[j]) >= 0 {
				j++
			}
			s = s[:i] + "lazy" + s[j:]
		}
	}
	if got := clean(*all[0]); got != clean(want) {
		t.Errorf("got  %s\nwant %s", got, clean(want))
	}
}
