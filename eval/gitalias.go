package eval

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/gitrepo"
	"safeshell/script"
)

// GitAliases returns the aliases that hold in dir (absolute; empty: those of the
// system and the user alone), for git with these options and variables. It reads
// git's files where they are plain and asks git otherwise: that is a process.
// Reading its configuration, git runs nothing. No git, no repository and a configuration
// that git itself refuses are no aliases; Err is set when git does not answer.
func (r *Rules) GitAliases(dir string, options, environ []string) (found script.GitAliases) {
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		found.Top = r.gitTopOf(filepath.Clean(dir))
	} else {
		dir = "/" // one that the text makes first has no configuration yet
	}
	elsewhere := len(options) > 0
	keep := func(name string) bool {
		switch name {
		case "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE":
			elsewhere = true
			return true
		case "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM":
			return true
		}
		return strings.HasPrefix(name, "GIT_CONFIG")
	}
	args := append(append([]string{"--no-pager"}, options...), "config", "--null", "--get-regexp", `^alias\.`)
	ask := r.gitAsker().Command(dir, found.Top, environ, keep)
	if len(options) == 0 && len(environ) == 0 {
		if entries, err := gitrepo.PlainAliases(ask.Program, dir, ask.Env); err == nil {
			found.Text = aliasTexts(slices.Values(entries))
			return found
		}
	}
	out, err := ask.Run(args)
	if elsewhere {
		found.Top = ""
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		found.Err = fmt.Errorf("git config did not answer; see: git -C %s config --get-regexp '^alias\\.'", quote(dir))
		return found
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrNotFound):
		found.Err = err
		return found
	}
	found.Text = aliasTexts(strings.SplitSeq(out, "\x00"))
	return found
}

// aliasTexts are the aliases among entries of git config --null, by name.
func aliasTexts(entries iter.Seq[string]) map[string]string {
	var texts map[string]string
	for entry := range entries {
		key, text, ok := strings.Cut(entry, "\n")
		name, isAlias := strings.CutPrefix(key, "alias.")
		if !ok || !isAlias || text == "" {
			continue // the end, or no alias
		}
		if texts == nil {
			texts = map[string]string{}
		}
		texts[name] = text
		if name, ok := strings.CutSuffix(name, ".command"); ok {
			texts[name] = text
		}
	}
	return texts
}
