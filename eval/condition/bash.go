package condition

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

// ErrBudget says that the budget for judging is spent.
var ErrBudget = errors.New("there is too much to judge")

// DefaultTimeout applies when a Judge names no limit.
const DefaultTimeout = time.Second

// Units of the budget: a process has a time limit of its own; this bounds how
// often one is started for one text.
const (
	ProcessCost = 4000
	matchCost   = 10
)

// Values are what conditions see.
type Values struct {
	Name string // the command's base name, quoted for the shell
	Args string // the arguments, quoted for the shell
	Dir  string // working directory; empty when it is not known
}

// Judge says of lists of conditions whether they hold.
type Judge struct {
	Env     Env
	Timeout time.Duration        // of one call of First
	Spend   func(units int) bool // takes from the budget; nil: there is none
	// Branch returns what git branch --show-current prints in a directory; known
	// is false when git has to be asked.
	Branch func(dir string) (name string, known bool)

	bash string // "" to look for it
}

// Env makes the environment of what is run to judge a command.
type Env struct {
	Environ []string
	Avoid   []string // directories that PATH must not have: the shims
	Self    string   // the running executable: PATH entries that lead to it are shims too
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

// First returns the index of the first of some rules whose conditions all hold,
// -1 when there is none. err says why those from `at` on could not be judged.
func (j *Judge) First(rules [][]Condition, v Values) (holds, at int, err error) {
	if !j.spend(len(rules)*matchCost + len(v.Args)>>8) {
		return -1, 0, ErrBudget
	}
	// Bash has those that are not known, before the first that is known to hold.
	var rest [][]Condition
	var index []int
	known := -1
	for i, r := range rules {
		holds, ok := j.match(r, v)
		if ok && holds {
			known = i
			break
		}
		if !ok {
			rest, index = append(rest, r), append(index, i)
		}
	}
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

func (j *Judge) spend(n int) bool { return j.Spend == nil || j.Spend(n) }

func (j *Judge) firstInBash(rules [][]Condition, v Values) (holds, at int, err error) {
	if v.Dir == "" {
		return -1, 0, errors.New("the working directory is not known")
	}
	if !j.spend(ProcessCost) {
		return -1, 0, ErrBudget
	}
	bash := j.bash
	if bash == "" {
		if bash = Bash(); bash == "" {
			return -1, 0, errors.New("bash was not found")
		}
	}
	limit := j.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
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
func conditionScript(rules [][]Condition, begin int) (script string, end int) {
	var b strings.Builder
	b.WriteString(condPrologue)
	for end = begin; end < len(rules); end++ {
		var one strings.Builder
		// Not as the condition of if or &&, where bash ignores set -e.
		for _, c := range rules[end] {
			one.WriteString(strings.Replace(condRun, "%s", Quote(c.Script), 1))
			one.WriteString("\nif [ $? = 0 ]; then\n")
		}
		n := strconv.Itoa(end)
		one.WriteString("echo y " + n + " >&4; exit 0\n" + strings.Repeat("fi\n", len(rules[end])) + "echo n " + n + " >&4\n")
		if b.Len()+one.Len() > maxScript && end > begin {
			break
		}
		b.WriteString(one.String())
	}
	return b.String(), end
}

// Quote returns s in single quotes.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// run starts one bash. judged is the number of the first rule that got no
// answer.
func (j *Judge) run(ctx context.Context, limit time.Duration, bash, script string, v Values) (holds, judged int, err error) {
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
	if len(v.Args)+len(v.Name) < exportLimit {
		size = "small"
	}
	cmd := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-p", "-c", script, "safeshell-condition", v.Name, size)
	cmd.Dir = v.Dir
	cmd.Env = j.Env.For(v.Dir)
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
		io.WriteString(valuesW, v.Args) // EPIPE when bash is gone: it is reported by its silence
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

// For returns the environment in dir: without what changes bash, and
// without the shims.
func (e Env) For(dir string) []string {
	out := make([]string, 0, len(e.Environ)+3)
	path := ""
	for _, kv := range e.Environ {
		name, value, _ := strings.Cut(kv, "=")
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
		out = append(out, kv)
	}
	return append(out, "PATH="+e.cleanPath(path), "PWD="+dir, "GIT_OPTIONAL_LOCKS=0")
}

// cleanPath removes relative directories and those that hold safeshell's
// shims.
func (e Env) cleanPath(path string) string {
	var keep []string
	for _, d := range filepath.SplitList(path) {
		if filepath.IsAbs(d) && !e.isShims(d) {
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
func (e Env) isShims(dir string) bool {
	clean := filepath.Clean(dir)
	for _, a := range e.Avoid {
		if a == "" {
			continue
		}
		if clean == a || sameFile(clean, a) {
			return true
		}
	}
	if e.Self == "" {
		return false
	}
	for _, name := range [...]string{"rm", "git", "bash", "sh"} {
		link := filepath.Join(clean, name)
		if fi, err := os.Lstat(link); err == nil && fi.Mode()&os.ModeSymlink != 0 && sameFile(link, e.Self) {
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

// Bash returns the path of bash, empty when there is none. It prefers the system's bash: PATH belongs to whoever is judged.
func Bash() string {
	for _, p := range [...]string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/run/current-system/sw/bin/bash"} {
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// Refused returns what bash says of a condition that it cannot parse;
// empty when it can, or when there is no bash.
func Refused(script string) string {
	bash := Bash()
	if bash == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-p", "-n", "-c", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(out), "\n")
	if _, rest, ok := strings.Cut(text, ": "); ok {
		text = rest
	}
	return strings.TrimPrefix(text, "-c: ")
}
