package eval

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What is asked outside of this process has time limits of its own; in units of
// the budget it bounds how often that is done for one text.
const (
	processCost   = 4000
	conditionCost = 10
)

var errBudget = errors.New("there is too much to judge")

// DefaultConditionTimeout applies when Options name no limit.
const DefaultConditionTimeout = time.Second

// A conditionJudge says of each rule whether all its conditions hold. The seam
// for judging conditions without a process: another implementation may answer
// for those that it understands, and hand the rest on.
type conditionJudge interface {
	// first returns the index of the first rule whose conditions all hold, -1
	// when none does. err says why rules from `at` on could not be judged.
	first(rules []*rule, v commandValues) (holds, at int, err error)
}

// commandValues are what conditions see.
type commandValues struct {
	name string // the command's base name, quoted for the shell
	args string // the arguments, quoted for the shell
	dir  string // working directory; empty when it is not known
}

// bashJudge judges simple conditions in this process and runs the others in one
// bash.
type bashJudge struct {
	environ []string
	timeout time.Duration
	avoid   []string // directories that PATH must not have: the shims
	self    string   // the running executable: PATH entries that lead to it are shims too
	bash    string   // "" to look for it

	memo  *inProcess // of the conditions that need no bash
	spend func(n int) bool
}

// The program that runs conditions. The values come through descriptor 3 and
// are only ever expanded; results go to descriptor 4: "y N" or "n N" for rule
// N. Conditions see neither descriptor, nor output, nor input.
const (
	condPrologue = `ARGS=$(</dev/fd/3)
exec 3<&-
CMD=$1${ARGS:+ $ARGS}
if [ "$2" = small ]; then export CMD ARGS; fi
set --
`
	condRun = `( eval %s ) </dev/null >/dev/null 2>&1 4>&-`
)

// exportLimit is how long the values may be to be in the environment of the
// conditions' programs as well, in bytes (Linux: 128 KiB per string).
const exportLimit = 32 << 10

// maxScript bounds the text of one bash start (Linux: 128 KiB per argument).
const maxScript = 96 << 10

func (j *bashJudge) first(rules []*rule, v commandValues) (holds, at int, err error) {
	if j.spend != nil && !j.spend(len(rules)*conditionCost+(len(v.args)>>8)) {
		return -1, 0, errBudget
	}
	rest, index, known := j.open(rules, v)
	if len(rest) == 0 {
		return known, len(rules), nil
	}
	holds, at, err = j.firstInBash(rest, v)
	switch {
	case holds >= 0:
		return index[holds], 0, nil
	case err == nil:
		return known, len(rules), nil
	}
	return -1, index[min(at, len(index)-1)], err
}

func (j *bashJudge) firstInBash(rules []*rule, v commandValues) (holds, at int, err error) {
	if v.dir == "" {
		return -1, 0, errors.New("the working directory is not known")
	}
	if j.spend != nil && !j.spend(processCost) {
		return -1, 0, errBudget
	}
	bash := j.bash
	if bash == "" {
		if bash = findBash(); bash == "" {
			return -1, 0, errors.New("bash was not found")
		}
	}
	limit := j.timeout
	if limit <= 0 {
		limit = DefaultConditionTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for begin := 0; begin < len(rules); {
		script, end := conditionScript(rules, begin)
		holds, judged, err := j.run(ctx, limit, bash, script, v)
		switch {
		case holds >= 0:
			return holds, 0, nil
		case judged < end: // it did not say "no" to all
			if err == nil {
				err = errors.New("bash ended before it had judged them")
			}
			return -1, judged, err
		}
		begin = end
	}
	return -1, len(rules), nil
}

// conditionScript writes the program for rules from begin on; end is the first
// rule that did not fit.
func conditionScript(rules []*rule, begin int) (script string, end int) {
	var b strings.Builder
	b.WriteString(condPrologue)
	for end = begin; end < len(rules); end++ {
		var one strings.Builder
		// Not as the condition of if or &&, where bash ignores set -e.
		for _, c := range rules[end].conditions {
			one.WriteString(strings.Replace(condRun, "%s", singleQuote(c.script), 1))
			one.WriteString("\nif [ $? = 0 ]; then\n")
		}
		n := strconv.Itoa(end)
		one.WriteString("echo y " + n + " >&4; exit 0\n" + strings.Repeat("fi\n", len(rules[end].conditions)) + "echo n " + n + " >&4\n")
		if b.Len()+one.Len() > maxScript && end > begin {
			break
		}
		b.WriteString(one.String())
	}
	return b.String(), end
}

func singleQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// run starts one bash. judged is the number of the first rule that got no
// answer.
func (j *bashJudge) run(ctx context.Context, limit time.Duration, bash, script string, v commandValues) (holds, judged int, err error) {
	valuesR, valuesW, err := os.Pipe()
	if err != nil {
		return -1, 0, err
	}
	defer valuesW.Close()
	resultR, resultW, err := os.Pipe()
	if err != nil {
		valuesR.Close()
		return -1, 0, err
	}
	defer resultR.Close()

	size := "large"
	if len(v.args)+len(v.name) < exportLimit {
		size = "small"
	}
	cmd := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-p", "-c", script, "safeshell-condition", v.name, size)
	cmd.Dir = v.dir
	cmd.Env = j.env(v.dir)
	cmd.ExtraFiles = []*os.File{valuesR, resultW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err = cmd.Start()
	valuesR.Close()
	resultW.Close()
	if err != nil {
		return -1, 0, err
	}
	go func() {
		io.WriteString(valuesW, v.args) // EPIPE when bash is gone: it is reported by its silence
		valuesW.Close()
	}()
	if d, ok := ctx.Deadline(); ok {
		_ = resultR.SetReadDeadline(d.Add(100 * time.Millisecond))
	}
	holds = -1
	lines := bufio.NewScanner(resultR)
	for lines.Scan() {
		answer, num, _ := strings.Cut(lines.Text(), " ")
		n, convErr := strconv.Atoi(num)
		if convErr != nil {
			break
		}
		if answer == "y" {
			holds = n
			break
		}
		judged = n + 1
	}
	waitErr := cmd.Wait()
	if holds >= 0 {
		return holds, 0, nil
	}
	if ctx.Err() != nil {
		return -1, judged, errors.New("the time limit of " + limit.String() + " was reached")
	}
	return -1, judged, waitErr
}

// env is the environment of the conditions: without what changes bash, and
// without the shims.
func (j *bashJudge) env(dir string) []string {
	out := make([]string, 0, len(j.environ)+3)
	path := ""
	for _, e := range j.environ {
		name, value, _ := strings.Cut(e, "=")
		switch name {
		case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "PS4", "PROMPT_COMMAND", "POSIXLY_CORRECT",
			"IFS", "BASH_XTRACEFD", "BASH_COMPAT", "TMOUT", "GREP_OPTIONS", "CMD", "ARGS", "PWD", "OLDPWD", "GIT_OPTIONAL_LOCKS":
			continue
		case "PATH":
			path = value
			continue
		}
		if strings.HasPrefix(name, "BASH_FUNC_") {
			continue
		}
		out = append(out, e)
	}
	return append(out, "PATH="+j.cleanPath(path), "PWD="+dir, "GIT_OPTIONAL_LOCKS=0")
}

// cleanPath removes relative directories and those that hold safeshell's
// shims.
func (j *bashJudge) cleanPath(path string) string {
	var keep []string
	for _, d := range filepath.SplitList(path) {
		if filepath.IsAbs(d) && !j.isShims(d) {
			keep = append(keep, d)
		}
	}
	if len(keep) == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(keep, ":")
}

// isShims recognises a directory of shims by its place, and one of another
// safeshell home by what its links lead to.
func (j *bashJudge) isShims(dir string) bool {
	clean := filepath.Clean(dir)
	for _, a := range j.avoid {
		if a == "" {
			continue
		}
		if clean == a || sameFile(clean, a) {
			return true
		}
	}
	if j.self == "" {
		return false
	}
	for _, name := range [...]string{"rm", "git", "bash", "sh"} {
		link := filepath.Join(clean, name)
		if fi, err := os.Lstat(link); err == nil && fi.Mode()&os.ModeSymlink != 0 && sameFile(link, j.self) {
			return true
		}
	}
	return false
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// findBash prefers the system's bash: PATH belongs to whoever is judged.
func findBash() string {
	for _, p := range [...]string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/run/current-system/sw/bin/bash"} {
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}
