package script

import (
	"errors"
	"slices"
	"strings"
)

// maxAliasDirs bounds the directories in which one text's git aliases are
// looked up: each lookup may be a process.
const maxAliasDirs = 8

var errManyAliasDirs = errors.New("the text names too many repositories")

// GitAliases are the aliases of git's configuration in one directory.
type GitAliases struct {
	Text map[string]string // by name; names that git compares without case are in lower case
	Top  string            // where an alias that begins with ! runs; empty when that is not known
	Err  error             // why they cannot be known
}

// GitAlias is one of them.
type GitAlias struct{ Name, Text string }

// of returns the alias of a name. Git knows two spellings: alias.NAME, whose
// case does not matter, and alias.NAME.command, whose case does.
func (g GitAliases) of(name string) (string, bool) {
	if text, ok := g.Text[name]; ok {
		return text, true
	}
	text, ok := g.Text[strings.ToLower(name)]
	return text, ok
}

// gitOwn reports whether git has a subcommand of that name itself: no alias can
// take its place. Those of newer versions are left out, as are those that git
// lets aliases replace because they are going away.
func gitOwn(sub string) bool {
	switch sub {
	case "add", "am", "annotate", "apply", "archive", "bisect", "blame", "branch", "bugreport", "bundle", "cat-file", "check-attr",
		"check-ignore", "check-mailmap", "check-ref-format", "checkout", "checkout-index", "cherry", "cherry-pick", "clean", "clone",
		"column", "commit", "commit-graph", "commit-tree", "config", "count-objects", "credential", "credential-cache",
		"credential-store", "daemon", "describe", "diff", "diff-files", "diff-index", "diff-tree", "difftool", "fast-export",
		"fast-import", "fetch", "fetch-pack", "filter-branch", "fmt-merge-msg", "for-each-ref", "for-each-repo", "format-patch", "fsck",
		"gc", "get-tar-commit-id", "grep", "hash-object", "help", "hook", "index-pack", "init", "init-db", "interpret-trailers", "log",
		"ls-files", "ls-remote", "ls-tree", "mailinfo", "mailsplit", "maintenance", "merge", "merge-base", "merge-file", "merge-index",
		"merge-tree", "mergetool", "mktag", "mktree", "multi-pack-index", "mv", "name-rev", "notes", "pack-objects", "pack-refs",
		"patch-id", "prune", "prune-packed", "pull", "push", "range-diff", "read-tree", "rebase", "receive-pack", "reflog", "remote",
		"repack", "replace", "request-pull", "rerere", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "send-pack",
		"shortlog", "show", "show-branch", "show-index", "show-ref", "sparse-checkout", "stage", "stash", "status", "stripspace",
		"submodule", "switch", "symbolic-ref", "tag", "unpack-file", "unpack-objects", "update-index", "update-ref",
		"update-server-info", "upload-archive", "upload-pack", "var", "verify-commit", "verify-pack", "verify-tag", "version",
		"worktree", "write-tree":
		return true
	}
	return strings.Contains(sub, "--")
}

// gitConfiguredAlias follows an alias of git's configuration. options are git's own
// that stand before the name.
func (a *analyzer) gitConfiguredAlias(k *call, options []Word, sub string, rest int) {
	if a.o.GitAliases == nil || k.c.remote != "" || gitOwn(sub) {
		return
	}
	dir, _ := k.dir.Text() // empty: the aliases that hold everywhere
	found := a.gitAliasesIn(dir, options, k.assigns)
	if found.Err != nil {
		a.unknown("git cannot be asked whether "+clip(sub)+" is an alias: "+found.Err.Error(), k.c.src, k.span)
		return
	}
	text, ok := found.of(sub)
	if !ok {
		return
	}
	if al := (GitAlias{sub, text}); !slices.Contains(a.followed, al) {
		a.followed = append(a.followed, al)
	}
	top := noDir()
	if found.Top != "" {
		top = Lit(found.Top)
	}
	a.gitAlias(k, options, text, rest, top)
}

// gitAliasesIn looks aliases up, once for each directory and what else says
// where git finds its configuration.
func (a *analyzer) gitAliasesIn(dir string, options []Word, assigns []Assign) GitAliases {
	var args, environ []string
	for _, w := range options {
		t, ok := w.Text()
		if !ok {
			return GitAliases{} // a repository that is not known
		}
		args = append(args, t)
	}
	for _, as := range assigns {
		if as.Name != "HOME" && as.Name != "XDG_CONFIG_HOME" && !strings.HasPrefix(as.Name, "GIT_") {
			continue
		}
		if v, ok := as.Value.Text(); ok {
			environ = append(environ, as.Name+"="+v)
		}
	}
	key := dir + "\x00" + strings.Join(args, "\x00") + "\x00\x00" + strings.Join(environ, "\x00")
	if found, ok := a.aliasesOf[key]; ok {
		return found
	}
	if len(a.aliasesOf) >= maxAliasDirs {
		return GitAliases{Err: errManyAliasDirs}
	}
	found := a.o.GitAliases(dir, args, environ)
	if a.aliasesOf == nil {
		a.aliasesOf = map[string]GitAliases{}
	}
	a.aliasesOf[key] = found
	return found
}
