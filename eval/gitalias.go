package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"safeshell/script"
)

// GitAliases asks git for the aliases that hold in dir (absolute; empty: those
// of the system and the user alone), for git with these options and
// variables. Reading its configuration, git runs nothing. No git, no repository and a configuration
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
	out, err := r.askGit(dir, found.Top, environ, keep, args)
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
	for entry := range strings.SplitSeq(out, "\x00") {
		key, text, ok := strings.Cut(entry, "\n")
		name, isAlias := strings.CutPrefix(key, "alias.")
		if !ok || !isAlias || text == "" {
			continue // the end, or no alias
		}
		if found.Text == nil {
			found.Text = map[string]string{}
		}
		found.Text[name] = text
		if name, ok := strings.CutSuffix(name, ".command"); ok {
			found.Text[name] = text
		}
	}
	return found
}
