package spool

import (
	"path"
	"slices"
	"strings"
)

// promptAsks are the questions that shells' prompts put to programs each time
// they are drawn (git's own __git_ps1, zsh's vcs_info, oh-my-zsh, pure, starship
// and their like): the subcommand and, where that also does other things, a word
// that must be among its arguments.
var promptAsks = map[string]map[string][]string{
	"git": {
		"rev-parse": nil, "describe": nil, "rev-list": nil, "for-each-ref": nil, "name-rev": nil, "merge-base": nil,
		"ls-files": nil, "diff-index": nil, "diff-files": nil, "cat-file": nil, "show-ref": nil, "check-ignore": nil,
		"symbolic-ref": {"--short", "-q", "--quiet", "HEAD"},
		"status":       {"--porcelain", "--porcelain=v1", "--porcelain=v2", "--porcelain=2", "-z"},
		"diff":         {"--quiet", "--no-ext-diff"},
		"config":       {"--get", "--get-all", "--get-regexp", "--bool", "get", "-z"},
		"branch":       {"--show-current", "--format", "--contains"},
		"stash":        {"list"},
		"remote":       {"get-url"},
		"ls-remote":    {"--get-url"},
	},
	"hg":        {"root": nil, "branch": nil, "id": nil, "identify": nil, "prompt": nil},
	"kubectl":   {"config": {"current-context", "view"}},
	"docker":    {"context": {"show", "inspect"}},
	"terraform": {"workspace": {"show"}, "version": nil},
	"aws":       {"configure": {"get", "list"}},
	"gcloud":    {"config": {"get-value", "list"}},
	"node":      {"--version": nil, "-v": nil},
	"python":    {"--version": nil, "-V": nil},
	"python3":   {"--version": nil, "-V": nil},
	"ruby":      {"--version": nil, "-v": nil},
	"cargo":     {"--version": nil},
	"rustc":     {"--version": nil},
	"go":        {"version": nil},
}

// gitWords are git's global options with a word of their own behind them.
var gitWords = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}

// OfPrompt reports whether the entry looks like what a shell's prompt asks: an
// allowed question of nobody's agent that no rule had a word on. A journal holds
// many of them, and they tell a reader nothing.
func (e *Entry) OfPrompt() bool {
	if e.Kind != KindDecision || e.Action != "allow" || e.Rule != "" || e.Agent != "" || e.Context == "ai" || len(e.Notes) > 0 {
		return false
	}
	words := strings.Fields(strings.ReplaceAll(e.Command, "'", "")) // as a shell would be given them
	if len(words) < 2 {
		return false
	}
	asks := promptAsks[path.Base(words[0])]
	args := words[1:]
	for len(args) > 1 && strings.HasPrefix(args[0], "-") && asks[args[0]] == nil && path.Base(words[0]) == "git" {
		if slices.Contains(gitWords, args[0]) {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return false
	}
	among, ok := asks[args[0]]
	return ok && (among == nil || slices.ContainsFunc(args[1:], func(a string) bool {
		return slices.Contains(among, a) || slices.Contains(among, strings.SplitN(a, "=", 2)[0])
	}))
}
