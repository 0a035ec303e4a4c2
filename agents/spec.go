package agents

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// A target is one file that a hook needs, and what must stand in it.
type target struct {
	path  string
	kind  targetKind
	wants []want      // JSON: entries
	keys  [][2]string // JSON: members of the top object that must exist
	text  string      // whole files, and the TOML table
	exec  bool        // an executable file
}

type targetKind uint8

const (
	jsonTarget targetKind = iota
	tomlTarget
	wholeTarget
)

// A want is one entry of a list in a JSON file.
type want struct {
	path  []string
	elem  string // compact JSON
	front bool
}

// hookArgs are the arguments of our program in a configured hook. The time
// limit is named only when it is not the one that the hook assumes.
func hookArgs(a Agent, limit time.Duration) []string {
	args := []string{"hook", a.Name}
	if limit > 0 && limit != a.Timeout && !a.FixedTimeout {
		args = append(args, "--timeout", strconv.Itoa(int(limit/time.Second)))
	}
	return args
}

// hookCommand is the same for a shell.
func hookCommand(a Agent, bin string, limit time.Duration) string {
	words := []string{shellQuote(bin)}
	for _, w := range hookArgs(a, limit) {
		words = append(words, shellQuote(w))
	}
	return strings.Join(words, " ")
}

// failClosed makes a shell turn a hook that is missing or crashes into exit 2
// with a text, for agents that run a command after any other failure.
func failClosed(a Agent, command, help string) string {
	return command + ` || { [ $? -eq 2 ] || echo ` +
		shellQuote("[SafeShell] BLOCKED: the hook failed. "+help) + ` >&2; exit 2; }`
}

// helpless is what a hook says that cannot run safeshell: what to do must work
// without it.
func (env Env) helpless(a Agent, bin, file string) string {
	home := filepath.Dir(filepath.Dir(bin))
	if p, err := env.recordPath(a.Name, file); err == nil {
		home = filepath.Dir(filepath.Dir(p))
	}
	return "Tell the user to look with: /bin/ls -lL " + shellQuote(bin) + ". Permission denied: /bin/chmod u+rwx " + shellQuote(home) +
		". Gone: install safeshell again and run: safeshell init; or take its hook out of " + file +
		" by hand. There: safeshell agents doctor " + a.Name
}

// limitFor is the time limit to configure.
func limitFor(a Agent, o InstallOptions) time.Duration {
	if a.FixedTimeout || o.TimeoutSeconds <= 0 {
		return a.Timeout
	}
	return time.Duration(o.TimeoutSeconds) * time.Second
}

// errPlace says that there is no place for a hook of an agent.
type errPlace struct{ error }

// NoPlace reports that an error of Install or Uninstall means only that the
// agent has no place for a hook.
func NoPlace(err error) bool {
	var e errPlace
	return errors.As(err, &e)
}

// targets returns what Install has to bring about. Only kiro-cli and amazon-q
// depend on which files exist: each agent file of theirs needs the hook.
func targets(env Env, a Agent, o InstallOptions) ([]target, error) {
	file := a.UserFile
	if o.Project {
		file = a.ProjectFile
	}
	if file == "" {
		if o.Project {
			return nil, errPlace{fmt.Errorf("%s takes no hooks from a project; install it for the user: safeshell agents install %s", a.Display, a.Name)}
		}
		return nil, errPlace{fmt.Errorf("%s takes no hooks from a file (%s); what to do is in safeshell's docs/agents/%s.md", a.Display, a.Limits, a.Name)}
	}
	path, err := env.path(a, file)
	if err != nil {
		return nil, err
	}
	bin, limit := o.Binary, limitFor(a, o)
	cmd := quoteJSON(hookCommand(a, bin, limit))
	help := env.helpless(a, bin, path)
	closed := quoteJSON(failClosed(a, hookCommand(a, bin, limit), help))
	args := quoteList(hookArgs(a, limit))
	match := quoteJSON(a.Matcher)
	secs := strconv.Itoa(int(limit / time.Second))
	millis := strconv.FormatInt(limit.Milliseconds(), 10)

	t := target{path: path, kind: jsonTarget}
	add := func(elem string, front bool, at ...string) {
		t.wants = append(t.wants, want{path: at, elem: elem, front: front})
	}
	nested := func(matcher, hook string) string {
		if matcher != "" {
			return `{"matcher":` + matcher + `,"hooks":[` + hook + `]}`
		}
		return `{"hooks":[` + hook + `]}`
	}
	switch a.Name {
	case "claude-code":
		add(nested(match, `{"type":"command","command":`+quoteJSON(bin)+`,"args":`+args+
			`,"timeout":`+secs+`,"onFailure":"block","statusMessage":"safeshell"}`), true, "hooks", "PreToolUse")
	case "codex":
		// Last: Codex names trusted hooks by their index, and ours must not
		// move those of the user. All hooks run at once, so the order is free.
		add(nested(match, `{"type":"command","command":`+closed+`,"timeout":`+secs+`,"statusMessage":"safeshell"}`),
			false, "hooks", "PreToolUse")
	case "copilot":
		t.keys = [][2]string{{"version", "1"}}
		add(`{"type":"command","exec":`+quoteJSON(bin)+`,"args":`+args+`,"matcher":`+match+`,"timeoutSec":`+secs+`}`,
			true, "hooks", "preToolUse")
	case "vscode":
		add(`{"type":"command","command":`+closed+`,"timeout":`+secs+`}`, true, "hooks", "PreToolUse")
	case "cursor":
		t.keys = [][2]string{{"version", "1"}}
		add(`{"command":`+cmd+`,"timeout":`+secs+`,"failClosed":true}`, true, "hooks", "beforeShellExecution")
		add(`{"command":`+cmd+`,"matcher":`+match+`,"timeout":`+secs+`,"failClosed":true}`, true, "hooks", "preToolUse")
	case "gemini":
		add(nested(match, `{"type":"command","name":"safeshell","command":`+closed+`,"timeout":`+millis+`}`),
			true, "hooks", "BeforeTool")
	case "qwen":
		// From 1000 up Qwen reads milliseconds.
		if limit >= 1000*time.Second {
			secs = millis
		}
		add(nested(match, `{"type":"command","name":"safeshell","command":`+closed+`,"timeout":`+secs+`}`),
			true, "hooks", "PreToolUse")
	case "windsurf":
		for _, event := range a.Events {
			add(`{"command":`+closed+`,"show_output":true}`, true, "hooks", event)
		}
	case "devin":
		at := []string{"hooks", "PreToolUse"}
		if o.Project {
			at = at[1:] // hooks.v1.json has the events at its root
		}
		add(nested(match, `{"type":"command","command":`+closed+`,"timeout":`+secs+`}`), true, at...)
	case "goose":
		add(nested(match, `{"type":"command","command":`+cmd+`,"timeout":`+secs+`,"on_failure":"block"}`),
			true, "hooks", "PreToolUse")
		manifest := target{
			path: filepath.Join(filepath.Dir(filepath.Dir(path)), "plugin.json"), kind: wholeTarget,
			text: "{\n  \"name\": \"safeshell\",\n  \"version\": \"1.0.0\",\n" +
				"  \"description\": \"safeshell judges every command before it runs\"\n}\n",
		}
		return []target{t, manifest}, nil
	case "kiro":
		t.keys = [][2]string{{"version", `"v1"`}}
		add(`{"name":"safeshell","trigger":"PreToolUse","matcher":`+match+`,"action":{"type":"command","command":`+cmd+
			`},"timeout":`+secs+`,"enabled":true}`, true, "hooks")
	case "kiro-cli", "amazon-q":
		files, err := filepath.Glob(path)
		if err != nil {
			return nil, err
		}
		sort.Strings(files)
		for i, tool := range a.Tools.Matched() { // one name each: a list of names is not documented
			add(`{"matcher":`+quoteJSON(tool)+`,"command":`+closed+`,"timeout_ms":`+millis+`}`, i == 0, "hooks", "preToolUse")
		}
		var out []target
		for _, f := range files {
			each := t
			each.path = f
			out = append(out, each)
		}
		if len(out) == 0 {
			return nil, errPlace{fmt.Errorf("%s keeps hooks in its agent files, and there is none at %s; make an agent there, make it the default, and run this again", a.Display, path)}
		}
		return out, nil
	case "crush":
		add(`{"name":"safeshell","matcher":`+match+`,"command":`+closed+`,"timeout":`+secs+`}`, true, "hooks", "PreToolUse")
	case "droid":
		at := []string{"PreToolUse"} // hooks.json is keyed by event, as documented
		if data, found, _ := readConfig(path); found {
			// Files with Claude's outer "hooks" are about too; follow what is there.
			if doc, err := parseJSON(data, looseJSON, true); err == nil && doc.root.has("hooks") {
				at = []string{"hooks", "PreToolUse"}
			}
		}
		add(nested(match, `{"type":"command","command":`+closed+`,"timeout":`+secs+`}`), true, at...)
	case "grok":
		add(nested("", `{"type":"command","command":`+cmd+`,"timeout":`+secs+`}`), true, "hooks", "PreToolUse")
	case "kimi":
		t.kind = tomlTarget
		t.text = "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = " + quoteTOML(a.Matcher) +
			"\ncommand = " + quoteTOML(failClosed(a, hookCommand(a, bin, limit), help)) + "\ntimeout = " + secs + "\n"
	default:
		text, err := pluginText(a, bin, limit, help)
		if err != nil {
			return nil, err
		}
		t.kind, t.text, t.exec = wholeTarget, text, a.Hook == Script
	}
	return []target{t}, nil
}
