package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/eval"
	"safeshell/gate"
	"safeshell/initscript"
	"safeshell/script"
	"safeshell/shims"
	"safeshell/spool"
	"safeshell/trash"
)

// finding is one line of status and doctor.
type finding struct {
	level string // ok, warn, fail
	text  string
	fix   string // a command, or what to change
}

// MarshalJSON leaves the remedy out where nothing is wrong, as the lines do.
func (f finding) MarshalJSON() ([]byte, error) {
	if f.level == "ok" {
		f.fix = ""
	}
	return json.Marshal(struct {
		Level string `json:"level"`
		Text  string `json:"text"`
		Fix   string `json:"fix,omitempty"`
	}{f.level, f.text, f.fix})
}

// report is what the commands print that look for what is wrong.
type report struct {
	OK       bool      `json:"ok"`
	Findings []finding `json:"findings"`
}

// reportOn returns what was found, and whether any of it is a failure.
func reportOn(fs []finding) report {
	return report{!slices.ContainsFunc(fs, func(f finding) bool { return f.level == "fail" }), fs}
}

// printFindings prints a report; it fails with exit code 1 if that does.
func (a *app) printFindings(p palette, r report) error {
	for _, f := range r.Findings {
		if err := a.printf("%s  %s\n", p.in(levelColor(f.level), fmt.Sprintf("%-4s", f.level)), visible(f.text)); err != nil {
			return err
		}
		if f.fix != "" && f.level != "ok" {
			if err := a.printf("      -> %s\n", visible(f.fix)); err != nil {
				return err
			}
		}
	}
	return codeIf(!r.OK)
}

// mend says what to do about err, or otherwise.
func mend(err error, otherwise string) string {
	var unsafe *spool.UnsafeError
	if errors.As(err, &unsafe) && unsafe.Fix != "" {
		return strings.TrimPrefix(unsafe.Fix, "run: ")
	}
	if fix := config.Mend(err); fix != "" {
		return fix
	}
	return otherwise
}

type statusCmd struct {
	colored
	JSON bool `help:"Print one JSON object." name:"json"`
}

func (c *statusCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	fs := append(a.checkFiles(), a.checkRules()...)
	fs = append(fs, a.checkPath()...)
	fs = append(fs, a.checkVersions()...)
	fs = append(fs, a.checkMonitor()...)
	fs = append(fs, a.checkTrash()...)
	r, caller := reportOn(fs), a.g.Caller()
	if c.JSON {
		return errors.Join(a.encode(struct {
			Version string `json:"version"`
			Home    string `json:"home"`
			Context string `json:"context"`
			Agent   string `json:"agent,omitempty"`
			report
		}{Version, a.paths.Home, string(caller.Context), caller.Agent, r}), codeIf(!r.OK))
	}
	who := string(caller.Context)
	if caller.Agent != "" {
		who += " (" + caller.Agent + ")"
	}
	if err := a.printf("safeshell %s\nhome:    %s\ncontext: %s\n\n", Version, visible(a.paths.Home), visible(who)); err != nil {
		return err
	}
	return a.printFindings(c.palette(a), r)
}

type doctorCmd struct {
	colored
	JSON bool `help:"Print one JSON object." name:"json"`
}

func (c *doctorCmd) Run(a *app) error {
	if err := a.open(); err != nil {
		return err
	}
	fs := a.checkFiles()
	// What else is wrong can neither be seen nor mended while this is so.
	if err := unix.Access(a.paths.Home, unix.R_OK|unix.X_OK); errors.Is(err, os.ErrPermission) {
		return a.found(c, fs)
	}
	fs = append(fs, a.checkRules()...)
	fs = append(fs, a.checkPath()...)
	fs = append(fs, a.checkVersions()...)
	for _, f := range initscript.Check(a.initEnv(), a.initParams()) {
		where := f.File
		if where != "" {
			where += ": "
		}
		fs = append(fs, finding{string(f.Level), where + f.Message, f.Fix})
	}
	fs = append(fs, a.checkShells()...)
	fs = append(fs, a.checkMonitor()...)
	fs = append(fs, a.checkTrash()...)
	fs = append(fs, checkKernel())
	return a.found(c, append(fs, a.probes()...))
}

func (a *app) found(c *doctorCmd, fs []finding) error {
	r := reportOn(fs)
	if c.JSON {
		return errors.Join(a.encode(r), codeIf(!r.OK))
	}
	return a.printFindings(c.palette(a), r)
}

// checkFiles looks at safeshell's own directory.
func (a *app) checkFiles() []finding {
	var fs []finding
	for _, name := range []string{"SAFESHELL_HOME", "SAFESHELL_SPOOL"} {
		if v := a.getenv(name); v != "" && !filepath.IsAbs(v) {
			fs = append(fs, finding{"warn", fmt.Sprintf("%s is not obeyed: %q is not an absolute path", name, v), "unset " + name})
		}
	}
	fi, err := os.Stat(a.paths.Home)
	if err == nil && !fi.IsDir() {
		err = &os.PathError{Op: "use", Path: a.paths.Home, Err: unix.ENOTDIR}
		return append(fs, finding{"fail", fmt.Sprintf("safeshell is not set up: %v", err), mend(err, "ls -ld "+shellWord(a.paths.Home))})
	}
	if errors.Is(err, os.ErrNotExist) {
		return append(fs, finding{"fail", "safeshell is not set up: there is no " + a.paths.Home, "safeshell init"})
	} else if err != nil {
		return append(fs, finding{"fail", fmt.Sprintf("safeshell is not set up: %v", err), "safeshell init"})
	}
	if err := unix.Access(a.paths.Home, unix.R_OK|unix.X_OK); err != nil {
		err = &os.PathError{Op: "use", Path: a.paths.Home, Err: err}
		return append(fs, finding{"fail", fmt.Sprintf("nothing is judged through PATH: %v", err), mend(err, "ls -ld "+shellWord(a.paths.Home))})
	}
	if err := unix.Access(a.paths.Home, unix.W_OK); err != nil {
		err = &os.PathError{Op: "write in", Path: a.paths.Home, Err: err}
		fs = append(fs, finding{"fail", fmt.Sprintf("commands are judged, but nothing can be kept: %v", err), mend(err, "ls -ld "+shellWord(a.paths.Home))})
	}
	if err := checkPrivate(a.paths.Home); err != nil {
		fs = append(fs, finding{"fail", err.Error(), "chmod go-w " + shellWord(a.paths.Home)})
	} else if len(fs) == 0 {
		fs = append(fs, finding{"ok", "files are in " + a.paths.Home, ""})
	}
	switch err := a.g.ConfigError(); {
	case errors.As(err, new(*config.LevelError)):
		fs = append(fs, finding{"warn", err.Error() + "; info holds, beside the rest of the file", config.Edit(a.paths.Config)})
	case err != nil:
		fs = append(fs, finding{"fail", "config.yaml is not in force, the defaults are: " + err.Error(), mend(err, config.Edit(a.paths.Config))})
	}
	if a.g.Config().FailOpen() {
		fs = append(fs, finding{"warn", "unreachable_behavior is fail_open: without a monitor or readable rules, commands run", "set unreachable_behavior: fail_closed in " + a.paths.Config})
	}
	if fix, err := trash.CheckHome(a.trashEnv()); err != nil {
		fs = append(fs, finding{"fail", "rm has no trash in the home directory: " + err.Error(), cmp.Or(fix, "look at it: safeshell trash list")})
	}
	for _, d := range []struct{ dir, what string }{{a.paths.Grants, "answers cannot be remembered"}, {a.paths.Trust, "rules of repositories cannot be trusted"}} {
		if err := unix.Access(d.dir, unix.R_OK|unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EROFS) {
			err = &os.PathError{Op: "use", Path: d.dir, Err: err}
			fs = append(fs, finding{"warn", fmt.Sprintf("%s: %v", d.what, err), mend(err, "ls -ld "+shellWord(d.dir))})
		}
	}
	if err := spool.OpenJournal(a.paths.Journal).Check(); err != nil {
		fs = append(fs, finding{"warn", "decisions leave no trace: " + err.Error(), mend(err, "ls -ld "+shellWord(filepath.Dir(a.paths.Journal)))})
	}
	return fs
}

func (a *app) checkRules() []finding {
	r, problems := a.g.Rules()
	var fs []finding
	for _, p := range append(problems, r.RepoProblems(a.dir())...) {
		level := "warn"
		if p.Fatal {
			level = "fail"
		}
		fix := p.Fix
		p.Fix = "" // it has a line of its own
		fs = append(fs, finding{level, p.String(), fix})
	}
	n := map[string]int{}
	for _, info := range r.List(a.dir()) {
		if info.Disabled == "" {
			n[info.Source]++
		}
	}
	var sources []string
	for s := range n {
		sources = append(sources, s)
	}
	sort.Strings(sources)
	total := 0
	user := ""
	for _, s := range sources {
		total += n[s]
		if !strings.HasPrefix(s, "built-in") {
			user += fmt.Sprintf(", %d from %s", n[s], s)
		}
	}
	return append(fs, finding{"ok", fmt.Sprintf("%d rules are in force%s", total, user), ""})
}

// checkPath tells whether the shims are met first.
func (a *app) checkPath() []finding {
	if _, _, gone := a.linked(); gone {
		return nil // checkVersions says it once for all shims
	}
	path := a.getenv("PATH")
	var fs []finding
	in := false
	for _, d := range filepath.SplitList(path) {
		if filepath.Clean(d) == a.paths.Shims {
			in = true
		}
		if d == "" || !filepath.IsAbs(d) {
			fs = append(fs, finding{"warn", fmt.Sprintf("PATH holds the relative entry %q: a command in the current directory can take a tool's name", d), "take it out of PATH"})
		}
	}
	entries, err := os.ReadDir(a.paths.Shims)
	if errors.Is(err, os.ErrPermission) {
		return append(fs, finding{"fail", "the shims cannot be reached, and shells pass over them: " + a.paths.Shims, "/bin/chmod u+rwx " + script.Quote([]string{a.paths.Home, a.paths.Shims})})
	}
	if err != nil || len(entries) == 0 {
		return append(fs, finding{"fail", "there are no shims in " + a.paths.Shims, "safeshell refresh"})
	}
	if !in {
		return append(fs, finding{"fail", "the shims are not in this shell's PATH, so commands typed here are not judged", `eval "$(safeshell init -)"`})
	}
	shadowed := shims.Shadowed(a.paths.Shims, path)
	var names []string
	for n := range shadowed {
		if n != "safeshell" && n != "safeshell-wrapper" {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	for _, n := range names {
		fs = append(fs, finding{"fail", fmt.Sprintf("%s is not judged: %s comes before the shim in PATH", n, shadowed[n]), `put the shims first: eval "$(safeshell init -)"`})
	}
	if len(names) == 0 {
		fs = append(fs, finding{"ok", fmt.Sprintf("%d shims, all first in PATH", len(entries)), ""})
	}
	r, _ := a.g.Rules()
	var all, without []string
	for _, n := range r.Names(a.dir()) {
		all = append(all, n.Name)
		if n.FromUser && shims.Which(n.Name, a.lookup) == "" && shims.Linkable(n.Name) {
			without = append(without, n.Name)
		}
	}
	if late := shims.Missing(a.paths.Shims, all, a.lookup); len(late) > 0 {
		fs = append(fs, finding{"warn", "installed since the shims were made, and not judged where no hook or wrapper stands: " + strings.Join(late, ", "), "safeshell refresh (or a new shell: its first prompt makes them)"})
	}
	if len(without) > 0 {
		fs = append(fs, finding{"warn", "your rules name commands that are not installed: " + strings.Join(without, ", "), "nothing to do, unless a name is mistyped"})
	}
	return fs
}

// checkShells asks each installed shell which rm it would run.
func (a *app) checkShells() []finding {
	want := filepath.Join(a.paths.Shims, "rm")
	if _, err := os.Lstat(want); err != nil {
		return nil
	}
	path, _ := a.lookup("PATH")
	inPath := slices.ContainsFunc(filepath.SplitList(path), func(d string) bool { return filepath.Clean(d) == a.paths.Shims })
	var fs []finding
	for _, call := range [][]string{{"bash", "-c"}, {"bash", "-lc"}, {"zsh", "-c"}, {"zsh", "-lc"}, {"fish", "-c"}, {"sh", "-c"}} {
		exe := shims.Which(call[0], a.lookup)
		if exe == "" {
			continue
		}
		cmd := exec.Command(exe, call[1], "command -v rm")
		env, done := a.withoutTraces(call[0])
		cmd.Env = env
		cmd.WaitDelay = time.Second
		timer := time.AfterFunc(5*time.Second, func() {
			if cmd.Process != nil {
				_ = cmd.Process.Kill()
			}
		})
		out, err := cmd.Output()
		timer.Stop()
		done()
		got := strings.TrimSpace(string(out))
		if i := strings.LastIndexByte(got, '\n'); i >= 0 {
			got = got[i+1:]
		}
		name := strings.Join(call, " ")
		switch {
		case got == want:
			fs = append(fs, finding{"ok", name + " finds the shims", ""})
		case err != nil && got == "":
			fs = append(fs, finding{"warn", fmt.Sprintf("%s did not answer: %v", name, err), "look at its start-up files"})
		default:
			fix := "safeshell init (its start-up files reset PATH)"
			if !inPath && call[1] == "-c" {
				fix = `eval "$(safeshell init -)" in the shell that starts it (it has that one's PATH)`
			}
			fs = append(fs, finding{"warn", fmt.Sprintf("%s would run %s, not the shim", name, got), fix})
		}
	}
	return fs
}

// withoutTraces is the environment for a shell that is only asked. fish makes
// directories at its start; where the user has none, it is given others, which
// done removes.
func (a *app) withoutTraces(shell string) (env []string, done func()) {
	env, done = a.p.Environ, func() {}
	if shell != "fish" {
		return env, done
	}
	scratch := ""
	for name, dir := range map[string]string{"XDG_DATA_HOME": ".local/share", "XDG_CONFIG_HOME": ".config", "XDG_CACHE_HOME": ".cache"} {
		base := a.getenv(name)
		if !filepath.IsAbs(base) {
			base = filepath.Join(a.paths.User, dir)
		}
		if _, err := os.Stat(filepath.Join(base, "fish")); err == nil {
			continue
		}
		if scratch == "" {
			var err error
			if scratch, err = os.MkdirTemp("", "safeshell-fish-"); err != nil {
				return env, done
			}
		}
		env = append(slices.Clip(env), name+"="+scratch)
	}
	return env, func() {
		if scratch != "" {
			_ = os.RemoveAll(scratch) // its own, and temporary
		}
	}
}

func (a *app) checkMonitor() []finding {
	s, err := spool.Open(a.paths.Spool)
	if err != nil {
		return []finding{{"fail", "nobody can be asked: " + err.Error(), mend(err, "ls -ld "+shellWord(a.paths.Spool))}}
	}
	var fs []finding
	if err := s.Check(); err != nil {
		fs = append(fs, finding{"fail", "nobody can be asked: " + err.Error(), mend(err, "ls -ld "+shellWord(a.paths.Spool))})
	} else if err := s.SelfTest(); err != nil {
		fs = append(fs, finding{"fail", err.Error(), "set SAFESHELL_SPOOL to a directory on a local disk"})
	}
	if err := s.GC(time.Now()); err != nil {
		fs = append(fs, finding{"warn", "old requests cannot be removed: " + err.Error(), "ls -l " + shellWord(a.paths.Spool)})
	}
	if _, err := s.Pending(); err == nil && len(s.Newer()) > 0 {
		fs = append(fs, finding{"fail", fmt.Sprintf("what waits is of a newer safeshell than this one (%s), which cannot show it: %s", Version, strings.Join(s.Newer(), ", ")), "update safeshell, then: safeshell pending"})
	}
	if s.MonitorAlive() {
		return append(fs, finding{"ok", "a monitor is running", ""})
	}
	what := "what needs approval is refused"
	if a.g.Config().FailOpen() {
		what = "what needs approval runs unasked (fail_open)"
	}
	return append(fs, finding{"warn", "no monitor is running; " + what, "safeshell watch (in another terminal)"})
}

// probes fires what must be stopped. Nothing here can do harm if it is not: the
// dangerous texts are only judged, and the command that is really run does not
// exist.
func (a *app) probes() []finding {
	var fs []finding
	for _, p := range []struct {
		line    string
		context eval.Context
		atLeast eval.Action
	}{
		{"rm -rf /", eval.Human, eval.Deny},
		{"rm -rf ~", eval.AI, eval.Deny},
		{"git push --force origin main", eval.AI, eval.RequireApproval},
		{"cat ~/.ssh/id_ed25519", eval.AI, eval.RequireApproval},
	} {
		v := a.judgeOnly(p.line, p.context)
		if v.Action < p.atLeast {
			fs = append(fs, finding{"fail", fmt.Sprintf("%q would not be stopped (%s)", p.line, v.Action), "safeshell check -- " + shellWord(p.line)})
			continue
		}
		fs = append(fs, finding{"ok", fmt.Sprintf("%q: %s by %s", p.line, v.Action, v.Rule), ""})
	}
	link := filepath.Join(a.paths.Shims, gate.ProbeName)
	for _, door := range []struct {
		name string
		argv []string
	}{
		{"the shim", []string{link, "must", "be", "denied"}},
		{"the -c wrapper", []string{self(), "-c", gate.ProbeName + " must be denied"}},
	} {
		cmd := exec.Command(door.argv[0], door.argv[1:]...)
		cmd.Env = a.p.Environ
		out, err := cmd.CombinedOutput()
		var ee *exec.ExitError
		if errors.As(err, &ee) && ee.ExitCode() == shims.CodeStopped && strings.Contains(string(out), "[SafeShell] BLOCKED") {
			fs = append(fs, finding{"ok", door.name + " stops a probe", ""})
			continue
		}
		said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "safeshell: "), "\n")
		fix := "safeshell refresh"
		if shell := a.g.Config().DelegateShell; door.argv[0] != link && strings.Contains(said, "no shell to delegate") {
			fix = fmt.Sprintf("set delegate_shell in %s to a shell that is there, not %s", a.paths.Config, visible(shell))
		}
		if said != "" {
			said = ": " + visible(said)
		}
		fs = append(fs, finding{"fail", fmt.Sprintf("%s did not stop a probe (%v)%s", door.name, err, said), fix})
	}
	return fs
}
