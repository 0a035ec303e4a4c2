package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"safeshell/internal/files"
	"strings"
	"syscall"
	"time"
)

// MaxConfig bounds a repository's configuration, in bytes; git is not asked
// about one that is longer.
const MaxConfig = 1 << 20

// errRunsCode says that git cannot be asked about a repository, because what
// its configuration names could run.
var errRunsCode = errors.New("the repository's git configuration can run programs")

// Asker is how git is asked.
type Asker struct {
	Env     func(dir string) []string // the environment in a directory, without shims
	Spend   func() bool               // takes a process from what may be started; nil: there is no end
	Timeout time.Duration
}

// ErrTooMuch says that no further process may be started.
var ErrTooMuch = errors.New("git was asked too often")

// Git runs git where reading the files does not suffice, without what a
// repository's configuration or the caller's environment could make it run.
func (p Repo) Git(args ...string) (string, error) {
	if !p.Ask.may() {
		return "", ErrTooMuch
	}
	if !p.runsNothing() {
		return "", errRunsCode
	}
	full := []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=false", "-c", "protocol.allow=never", "--no-pager"}
	// However the repository wants its files compared, and wherever it says they are.
	full = append(full, "-c", "core.checkStat=default", "-c", "core.trustctime=true", "-c", "core.ignoreStat=false")
	if p.Top != "" {
		full = append(full, "--work-tree="+p.Top)
	}
	if p.Named {
		full = append(full, "--git-dir="+p.GitDir)
	}
	return p.Ask.Command(p.Dir, p.Top, nil, func(string) bool { return false }).run(append(full, args...))
}

// Command is git in a directory: the program (empty when there is none) and its
// environment.
type Command struct {
	Program string
	Env     []string
	dir     string
	ask     *Asker
}

// Command finds git and makes its environment: without the shims, not one from
// below top, with further variables, and with those GIT_ variables that keep
// wants.
func (a *Asker) Command(dir, top string, environ []string, keep func(name string) bool) Command {
	path := ""
	env := []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}
	for _, e := range append(a.Env(dir), environ...) {
		name, v, _ := strings.Cut(e, "=")
		if name == "PATH" {
			path = v
		}
		if !strings.HasPrefix(name, "GIT_") || keep(name) {
			env = append(env, e)
		}
	}
	return Command{findGit(path, top), env, dir, a}
}

// may takes one process from what may be started, before anything is looked up
// for it.
func (a *Asker) may() bool { return a.Spend == nil || a.Spend() }

// Run runs git for a short time.
func (c Command) Run(args []string) (string, error) {
	if !c.ask.may() {
		return "", ErrTooMuch
	}
	return c.run(args)
}

func (c Command) run(args []string) (string, error) {
	if c.Program == "" {
		return "", exec.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(c.ask.Timeout, time.Second))
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Program, args...)
	cmd.Dir, cmd.Env = c.dir, c.Env
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
		return 0, ErrTooMuch
	}
	return o.Buffer.Write(b)
}

// findGit looks git up in PATH, but not in the repository itself.
func findGit(path, top string) string {
	for _, d := range filepath.SplitList(path) {
		if top != "" && (d == top || strings.HasPrefix(d, strings.TrimSuffix(top, "/")+"/")) {
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
func (p Repo) runsNothing() bool {
	for _, f := range [...]string{filepath.Join(p.Common, "config"), filepath.Join(p.GitDir, "config.worktree")} {
		data, err := files.ReadRegular(f, MaxConfig)
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
