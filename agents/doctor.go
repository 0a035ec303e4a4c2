package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // guarded, but not as well as it could be
	Fail Level = "fail" // not guarded
)

// Finding is one thing that Doctor found out.
type Finding struct {
	Level Level
	Text  string
	Fix   string // a command to run; empty when there is nothing to do
	// NoPlace: the agent has no place for a hook, so that there is nothing to find.
	NoPlace bool
}

// versionTime bounds <agent> --version.
const versionTime = 10 * time.Second

// Doctor finds out whether an agent is guarded: its version, the hook in its
// configuration and everything that could make it worthless, and at last a
// live Probe. It changes nothing.
func Doctor(env Env, a Agent) []Finding {
	d := &doctor{env: env, a: a, install: "safeshell agents install " + a.Name}
	switch a.Hook {
	case NoHook:
		d.noPlace("%s: %s; what to do is in safeshell's docs/agents/%s.md", a.Display, a.Limits, a.Name)
		d.shellPath()
		return d.findings
	case Manual:
		d.version()
		d.noPlace("%s: %s; safeshell's docs/agents/%s.md shows what to enter by hand", a.Display, a.Limits, a.Name)
		return d.findings
	}
	hooks := env.configured(a)
	if !Detected(env, a) && len(hooks) == 0 {
		d.add(OK, "", "%s is not on this machine", a.Display)
		return d.findings
	}
	d.version()
	if len(hooks) == 0 {
		_, err := targets(env, a, InstallOptions{Binary: env.Binary})
		switch {
		case NoPlace(err):
			d.noPlace("%v", err)
		case err != nil:
			d.add(Fail, d.install, "%v", err)
		default:
			d.add(Fail, d.install, "%s has no safeshell hook", a.Display)
		}
		d.switches(hooks)
		return d.findings
	}
	if f, shut := d.shut(hooks); shut {
		d.findings = append(d.findings, f)
		return d.findings
	}
	sound, user, project := 0, 0, 0
	for _, h := range hooks {
		if h.err != nil {
			d.add(Fail, "", "%v", h.err)
			continue
		}
		sound++
		if h.project {
			project++
		} else {
			user++
		}
		d.hook(h)
	}
	if user > 0 && project > 0 {
		d.add(Warn, "safeshell agents uninstall "+a.Name+" --project", "the hook is in the user's and in the project's configuration: each command is judged twice")
	}
	if a.Name == "cursor" && sound > 0 {
		d.bothEvents(hooks)
	}
	d.switches(hooks)
	d.shellPath()
	if sound > 0 {
		d.findings = append(d.findings, Probe(env, a)...)
	}
	d.findings = append(d.findings, env.Rules...)
	return d.findings
}

// shut says that the program which the hooks call cannot be reached, which must be
// mended before anything else can be done.
func (d *doctor) shut(hooks []hook) (Finding, bool) {
	for _, h := range hooks {
		words := h.words()
		if h.err != nil || len(words) == 0 {
			continue
		}
		err := executable(words[0])
		if do := d.env.mend(err, ""); err != nil && do != "" {
			return Finding{Level: Fail, Text: fmt.Sprintf("%s calls a program that cannot be run: %v; until then %s", h.file, err, d.closedText()), Fix: do}, true
		}
	}
	return Finding{}, false
}

// closedText says what becomes of commands while the hook fails.
func (d *doctor) closedText() string {
	if d.a.closes() {
		return "it blocks every command"
	}
	return "commands run unjudged"
}

// Guard says whether what is configured for an agent will stop anything: the
// hook is sound, and nothing switches it off. why is the first thing that is in
// the way. No process is started.
func Guard(env Env, a Agent, project bool) (guarded bool, why Finding) {
	var hooks []hook
	for _, h := range env.configured(a) {
		if h.project == project {
			hooks = append(hooks, h)
		}
	}
	d := &doctor{env: env, a: a, install: "safeshell agents install " + a.Name}
	if project {
		d.install += " --project"
	}
	if f, shut := d.shut(hooks); shut {
		return false, f
	}
	d.switches(hooks)
	sound := false
	for _, h := range hooks {
		if h.err != nil {
			d.add(Fail, "", "%v", h.err)
			continue
		}
		before := len(d.findings)
		d.hook(h)
		sound = sound || !slices.ContainsFunc(d.findings[before:], failed)
	}
	if i := slices.IndexFunc(d.findings, failed); i >= 0 {
		why = d.findings[i]
	}
	if len(hooks) == 0 {
		return false, Finding{}
	}
	return sound && why.Level != Fail, why
}

func failed(f Finding) bool { return f.Level == Fail }

type doctor struct {
	env      Env
	a        Agent
	install  string
	findings []Finding
}

func (d *doctor) add(l Level, fix, format string, args ...any) {
	d.findings = append(d.findings, Finding{Level: l, Text: fmt.Sprintf(format, args...), Fix: fix})
}

// noPlace adds that there is no place for a hook, which is a failure only where
// the agent was asked for.
func (d *doctor) noPlace(format string, args ...any) {
	d.findings = append(d.findings, Finding{Level: Warn, Text: fmt.Sprintf(format, args...), NoPlace: true})
}

func (d *doctor) version() {
	for _, b := range d.a.Binaries {
		path, err := d.env.lookPath(b)
		if err != nil {
			continue
		}
		dir := d.env.Home
		r, err := d.env.runLimited([]string{path, "--version"}, dir, "", versionTime)
		v := version(r.stdout)
		if v == "" {
			v = version(r.stderr) // Pi tells it there
		}
		if err != nil || v == "" {
			d.add(Warn, "", "%s does not tell its version (%s --version)", d.a.Display, path)
			return
		}
		switch {
		case d.a.Minimum != "" && older(v, d.a.Minimum):
			d.add(Fail, "", "%s %s is too old: from %s on a failed hook blocks; update it", d.a.Display, v, d.a.Minimum)
		case d.a.Measured != "" && older(v, d.a.Measured):
			d.add(OK, "", "%s %s (older than %s, with which safeshell was measured)", d.a.Display, v, d.a.Measured)
		default:
			d.add(OK, "", "%s %s", d.a.Display, v)
		}
		return
	}
	if len(d.a.Binaries) > 0 {
		d.add(OK, "", "%s: no program in PATH, so its version is not known", d.a.Display)
	}
}

// hook checks one configured hook.
func (d *doctor) hook(h hook) {
	a, install := d.a, d.install
	if h.project {
		install += " --project"
	}
	where := h.file
	if h.line > 0 {
		where = fmt.Sprintf("%s:%d", h.file, h.line)
	}
	words := h.words()
	if len(words) == 0 {
		d.add(Fail, install, "%s names no program", where)
		return
	}
	d.add(OK, "", "the hook is in %s", where)
	switch err := executable(words[0]); {
	case !filepath.IsAbs(words[0]):
		d.add(Fail, install, "%s calls %q, which depends on the agent's PATH", where, words[0])
	case err != nil:
		d.add(Fail, install, "%s calls a program that cannot be run: %v", where, err)
	case d.env.Binary != "" && !sameFile(words[0], d.env.Binary):
		d.add(Warn, install, "%s calls %s, and this is %s", where, words[0], d.env.Binary)
	}
	if h.program != "" {
		if err := executable(h.program); err != nil {
			d.add(Fail, install, "the hook file cannot be run: %v", err)
		}
	}
	if h.disabled {
		d.add(Fail, install, "%s has \"enabled\": false", where)
	}
	if h.async {
		d.add(Fail, install, "%s runs in the background (async), so its answer comes too late", where)
	}
	if a.FailClosed != "" && !h.closed && h.target.kind == jsonTarget {
		d.add(Fail, install, "%s lacks %s: if the hook fails, the command runs", where, a.FailClosed)
	}
	d.matcher(h, where, install)
	d.limits(h, where, install, words)
	if h.others > 0 && a.Name != "codex" {
		d.add(Warn, "", "%s: another hook stands before safeshell's; a command that it exchanges is not judged again: move safeshell's to the front", where)
	}
	if _, same, err := d.env.look(a, h.target, optionsOf(h, words)); err == nil && !same {
		d.add(Warn, install, "%s differs from what this version would write", h.file)
	}
	if a.Name == "codex" {
		d.codexTrust(h)
	}
}

// optionsOf returns the options with which a hook was installed.
func optionsOf(h hook, words []string) InstallOptions {
	o := InstallOptions{Project: h.project, Binary: words[0]}
	if n := flagTimeout(words); n > 0 {
		o.TimeoutSeconds = n
	}
	return o
}

// flagTimeout reads --timeout from a hook's command; 0 when it has none.
func flagTimeout(words []string) int {
	for i, w := range words {
		if v, ok := strings.CutPrefix(w, "--timeout="); ok {
			return decimal(v)
		}
		if w == "--timeout" && i+1 < len(words) {
			return decimal(words[i+1])
		}
	}
	return 0
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// shellTool is the name that a matcher has to match; "" where it is not applied.
func shellTool(a Agent, event string) string {
	if a.Name == "vscode" || event == "beforeShellExecution" || a.Name == "windsurf" {
		return ""
	}
	tool, _, _ := strings.Cut(a.Tools.Runs, " ")
	return tool
}

func (d *doctor) matcher(h hook, where, install string) {
	tool := shellTool(d.a, h.event)
	if h.matcher == "" || h.matcher == "*" && d.a.Name != "goose" || tool == "" {
		return
	}
	re, err := regexp.Compile("^(?:" + h.matcher + ")$")
	switch {
	case err != nil:
		d.add(Fail, install, "%s: the matcher %q is not a regular expression: the hook is dropped", where, h.matcher)
	case !re.MatchString(tool) && (d.a.Name != "grok" || !re.MatchString("Bash")):
		d.add(Fail, install, "%s: the matcher %q does not match the shell tool %s", where, h.matcher, tool)
	}
}

// limits compares three times: what the agent gives the hook, what the hook
// counts on, and what a person is given.
func (d *doctor) limits(h hook, where, install string, words []string) {
	counts := d.a.Timeout
	if n := flagTimeout(words); n > 0 && !d.a.FixedTimeout {
		counts = time.Duration(n) * time.Second
	}
	given := h.limit
	if given == 0 {
		given = d.a.DefaultTimeout
	}
	if h.target.kind != wholeTarget && !d.a.FixedTimeout && given > 0 && given < counts {
		d.add(Fail, install, "%s: %s ends the hook after %s, but the hook counts on %s; then the command runs", where, d.a.Display, given, counts)
		return
	}
	if wait := waitFor(counts); wait < d.env.approval() {
		if d.a.FixedTimeout {
			d.add(OK, "", "a person has %s to answer under %s, not %s; a later answer serves the next try", wait, d.a.Display, d.env.approval())
			return
		}
		need := d.env.approval() + d.env.approval()/10
		if waitFor(need) < d.env.approval() {
			need = d.env.approval() + 30*time.Second
		}
		d.add(Warn, fmt.Sprintf("%s --timeout %d", install, int(need.Seconds())), "%s: a person has %s to answer, not %s as configured", where, wait, d.env.approval())
	}
}

func (d *doctor) bothEvents(hooks []hook) {
	have := map[string]bool{}
	for _, h := range hooks {
		have[h.event] = true
	}
	for _, event := range d.a.Events {
		if !have[event] {
			d.add(Warn, d.install, "the event %s has no hook; which one the command line fires is not documented", event)
		}
	}
}

func (d *doctor) codexTrust(h hook) {
	trust := d.install + " --trust-codex"
	if h.project {
		trust += " --project"
	}
	path, err := d.env.codexConfig(d.a)
	if err != nil {
		d.add(Fail, "", "%v", err)
		return
	}
	data, _, err := readConfig(path)
	if err != nil {
		d.add(Fail, "", "%v", err)
		return
	}
	items, err := parseTOMLFor(d.a, path, data)
	if err != nil {
		d.add(Fail, "", "%v", err)
		return
	}
	hash, header := codexTrusted(items, codexKey(h.entry))
	switch {
	case hash == nil:
		d.add(Fail, trust, "Codex has not been told to trust the hook, so it skips it without a word; accept it by /hooks in Codex")
	case hash.val.str != codexHash(h.entry):
		d.add(Fail, trust, "the hook has changed since Codex was told to trust it, so Codex skips it without a word")
	default:
		d.add(OK, "", "Codex trusts the hook")
	}
	if header != nil {
		for _, it := range items {
			if it.start > header.start && it.header {
				break
			}
			if it.start > header.start && sameKeys(it.keys, []string{"enabled"}) && string(data[it.val.start:it.val.end]) == "false" {
				d.add(Fail, "", "%s switches the hook off (enabled = false); switch it on by /hooks in Codex", path)
			}
		}
	}
}
