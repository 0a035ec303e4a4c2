package script

import (
	"fmt"
	"strings"
)

// fromArgv analyses an argv as the kernel gets it. Nothing is evaluated again:
// words are what they are.
func fromArgv(argv []string, o Options) (res Analysis) {
	if len(argv) == 0 {
		return Analysis{}
	}
	name := base(argv[0])
	parts := make([]Part, len(argv))
	words := make([]Word, len(argv))
	for i, s := range argv {
		parts[i].Text = s
		words[i].Parts = parts[i : i+1 : i+1]
	}
	dir := noDirWord
	if o.Dir != "" {
		dir = Lit(o.Dir)
	}
	if inert(name) || name == "git" && gitPlain(argv) {
		if d, ok := dirOption(name, words, dir); ok {
			dir = d
		}
		return Analysis{Commands: []Command{{Argv: words, Dir: dir, TailOf: -1}}, Budget: o.Budget}
	}
	a := &analyzer{o: o, budget: o.Budget}
	defer func() {
		if r := recover(); r != nil {
			a.unknownAt(fmt.Sprintf("the analysis failed: %v", r), Span{})
			if len(a.cmds) == 0 {
				a.cmds = append(a.cmds, Command{Argv: words, Dir: dir, TailOf: -1})
			}
			res = a.result()
		}
	}()
	total := 0
	for _, s := range argv {
		total += len(s)
	}
	if total > maxText*4 {
		a.cmds = append(a.cmds, Command{Argv: words, Dir: dir, TailOf: -1})
		a.exhaust("the command is too long to analyse")
		return a.result()
	}
	st := a.start()
	st.params, st.paramsLost = nil, true
	c := &ctx{o: &a.o, src: &source{lang: Bash, nested: true}}
	k := &call{argv: words, dir: dir, st: st, c: c, outside: true}
	// The words of an argv stand for themselves, and so do those of its tails:
	// only code inside them is Nested.
	c.src.nested = false
	a.program(k, name)
	return a.result()
}

// gitPlain reports whether a git command line has nothing that makes git run
// another command, so that it needs no further look.
func gitPlain(argv []string) bool {
	i := 1
	for ; i < len(argv) && strings.HasPrefix(argv[i], "-"); i++ {
		switch argv[i] {
		case "-C", "--git-dir", "--work-tree", "--namespace":
			i++
		case "-P", "--no-pager", "-p", "--paginate", "--bare", "--no-optional-locks", "--literal-pathspecs":
		default:
			if !strings.HasPrefix(argv[i], "--git-dir=") && !strings.HasPrefix(argv[i], "--work-tree=") {
				return false
			}
		}
	}
	if i >= len(argv) {
		return true
	}
	switch argv[i] {
	case "add", "am", "apply", "archive", "blame", "branch", "cat-file", "check-ignore", "checkout", "cherry-pick", "clean", "commit",
		"config", "describe", "diff", "format-patch", "gc", "init", "log", "ls-files", "ls-tree", "merge", "merge-base", "mv", "notes",
		"prune", "reflog", "remote", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog", "show", "show-ref",
		"stash", "status", "switch", "symbolic-ref", "tag", "update-index", "update-ref", "worktree":
		return true
	case "push", "pull", "fetch":
		for _, t := range argv[i+1:] {
			if strings.HasPrefix(t, "--upload-pack") || strings.HasPrefix(t, "--receive-pack") || strings.HasPrefix(t, "--exec") || strings.HasPrefix(t, "ext::") {
				return false
			}
		}
		return true
	}
	return false
}

var noDirWord = Word{Parts: []Part{{Kind: Variable, Name: "PWD"}}}
