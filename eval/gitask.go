package eval

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"safeshell/eval/condition"
	"strings"
	"syscall"
	"time"
)

// maxGitConfig bounds a repository's configuration, in bytes; git is not asked
// about one that is longer.
const maxGitConfig = 1 << 20

// errRunsCode says that git cannot be asked about a repository, because what
// its configuration names could run.
var errRunsCode = errors.New("the repository's git configuration can run programs")

// git runs git where reading the files does not suffice, without what a
// repository's configuration or the caller's environment could make it run.
func (p gitPlace) git(r *Rules, args ...string) (string, error) {
	if r.budget.Left() <= 0 {
		return "", condition.ErrBudget
	}
	if !p.runsNothing() {
		return "", errRunsCode
	}
	full := []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false", "-c", "protocol.allow=never", "--no-pager"}
	// However the repository wants its files compared, and wherever it says they are.
	full = append(full, "-c", "core.checkStat=default", "-c", "core.trustctime=true", "-c", "core.ignoreStat=false")
	if p.top != "" {
		full = append(full, "--work-tree="+p.top)
	}
	if p.named {
		full = append(full, "--git-dir="+p.gitDir)
	}
	return r.askGit(r.gitAsker(p.dir, p.top, nil, func(string) bool { return false }), append(full, args...))
}

// gitAsker is how git is asked.
type gitAsker struct {
	dir string
	git string // the program; empty when there is none
	env []string
}

// gitAsker finds git and makes its environment: without the shims, not one from
// below top, with further variables, and with those GIT_ variables that keep
// wants.
func (r *Rules) gitAsker(dir, top string, environ []string, keep func(name string) bool) gitAsker {
	path := ""
	env := []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}
	for _, e := range append(r.environ().For(dir), environ...) {
		name, v, _ := strings.Cut(e, "=")
		if name == "PATH" {
			path = v
		}
		if !strings.HasPrefix(name, "GIT_") || keep(name) {
			env = append(env, e)
		}
	}
	return gitAsker{dir, findGit(path, top), env}
}

// askGit runs git for a short time.
func (r *Rules) askGit(a gitAsker, args []string) (string, error) {
	if a.git == "" {
		return "", exec.ErrNotFound
	}
	if !r.budget.Spend(condition.ProcessCost) {
		return "", condition.ErrBudget
	}
	limit := r.o.ConditionTimeout
	if limit <= 0 {
		limit = condition.DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.git, args...)
	cmd.Dir, cmd.Env = a.dir, a.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	var out boundedOutput
	cmd.Stdout = &out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.String(), err
}

// boundedOutput is what a program says, up to more than any answer needs.
type boundedOutput struct{ bytes.Buffer }

const maxOutput = 8 << 20

func (o *boundedOutput) Write(b []byte) (int, error) {
	if o.Len()+len(b) > maxOutput {
		return 0, condition.ErrBudget
	}
	return o.Buffer.Write(b)
}

// findGit looks git up in PATH, but not in the repository itself.
func findGit(path, top string) string {
	for _, d := range filepath.SplitList(path) {
		if top != "" && (d == top || below(d, top)) {
			continue
		}
		f := filepath.Join(d, "git")
		if fi, err := os.Stat(f); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return f
		}
	}
	return ""
}

// runsNothing says that the repository's own configuration names nothing that
// git would run for a question, beyond what the command line and environment
// switch off: no filters (there is no switch for all of them), no missing
// objects to be fetched, and no other files that could hold such. Filters in
// the user's own configuration are the user's.
func (p gitPlace) runsNothing() bool {
	for _, f := range [...]string{filepath.Join(p.common, "config"), filepath.Join(p.gitDir, "config.worktree")} {
		data, err := readRegular(f, maxGitConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false
		}
		data = bytes.ToLower(data)
		for _, word := range [...]string{"[filter", "[include", "promisor", "partialclone"} {
			if bytes.Contains(data, []byte(word)) {
				return false
			}
		}
	}
	return true
}
