package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const docsDir = "../docs/agents"

// TestGuides keeps the guides in step with the table and with what Install
// writes: run with -update to renew the parts between markers.
func TestGuides(t *testing.T) {
	known := map[string]bool{"README.md": true}
	for _, a := range All() {
		known[a.Name+".md"] = true
		file := filepath.Join(docsDir, a.Name+".md")
		text := read(t, file)
		text = block(t, file, text, "facts", facts(a))
		if a.Tools.Unheard != "" {
			text = block(t, file, text, "unheard", "- Tools of which no hook is told, or not what they do: "+codes(a.Tools.Unheard)+".\n")
			if before, _, _ := strings.Cut(text, "<!-- unheard -->"); !strings.Contains(before, "## Not covered") {
				t.Errorf("%s does not name under \"Not covered\" what is not", file)
			}
		}
		if a.UserFile != "" && a.Hook != Plugin && a.Hook != Script {
			text = block(t, file, text, "config", configSnippet(t, a))
		}
		for _, part := range []string{"# " + a.Display, "## Install", "## Covered", "## Not covered", "## Check"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q", file, part)
			}
		}
		if a.UserFile != "" && !strings.Contains(text, "safeshell agents install "+a.Name) {
			t.Errorf("%s does not say how to install", file)
		}
		finish(t, file, text)
	}
	readme := filepath.Join(docsDir, "README.md")
	finish(t, readme, block(t, readme, read(t, readme), "overview", overview()))
	have, err := os.ReadDir(docsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range have {
		if !known[f.Name()] {
			t.Errorf("%s belongs to no agent", f.Name())
		}
		text := read(t, filepath.Join(docsDir, f.Name()))
		for _, part := range strings.Split(text, "](")[1:] {
			link, _, _ := strings.Cut(part, ")")
			if strings.HasSuffix(link, ".md") {
				if _, err := os.Stat(filepath.Join(docsDir, link)); err != nil {
					t.Errorf("%s: dead link %s", f.Name(), link)
				}
			}
		}
	}
}

// block replaces what stands between two markers.
func block(t *testing.T, file, text, name, with string) string {
	t.Helper()
	open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(text, open)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Errorf("%s has no part %q", file, name)
		return text
	}
	return before + open + with + end + after
}

func finish(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		write(t, file, text)
		os.Chmod(file, 0o644)
		return
	}
	if text != read(t, file) {
		t.Errorf("%s has drifted from the table; run: go test ./agents -run TestGuides -update", file)
	}
}

func code(s string) string { return "`" + strings.ReplaceAll(s, "|", "\\|") + "`" }

func secs(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }

func source(a Agent) string {
	words := map[Tag]string{"M": "measured", "S": "its source", "D": "its documentation", "T": "third parties only"}
	s := words[a.Tag]
	if a.Measured != "" {
		s += ", version " + a.Measured
	}
	return s + " [" + string(a.Tag) + "]"
}

func times(a Agent) string {
	if a.Timeout == 0 {
		return ""
	}
	s := fmt.Sprintf("a person has %s; ", secs(waitFor(a.Timeout)))
	if a.FixedTimeout {
		s += "the limit cannot be set"
	} else {
		s += "safeshell configures " + secs(a.Timeout)
	}
	if a.DefaultTimeout > 0 {
		s += "; the agent's own is " + secs(a.DefaultTimeout)
	}
	return s
}

func facts(a Agent) string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	row := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", k, v)
		}
	}
	var events []string
	for _, e := range a.Events {
		events = append(events, code(e))
	}
	hook := strings.Join(events, ", ")
	if a.Matcher != "" {
		hook += ", matcher " + code(a.Matcher)
	}
	if a.Hook == NoHook {
		hook = "none"
	}
	row("Hook", hook)
	if a.UserFile != "" {
		v := code(a.UserFile)
		if a.BaseVar != "" {
			v += " (" + code(a.BaseVar) + " moves " + code(a.Base) + ")"
		}
		row("User's file", v)
	}
	if a.ProjectFile != "" {
		row("Project's file", code(a.ProjectFile))
	}
	row("Tools judged", judgedTools(a.Tools))
	if a.Hook != NoHook {
		row("Deny", a.Deny)
		row("Ask", string(a.Ask))
		row("Redirect", string(a.Rewrite))
		row("Time", times(a))
		failed := a.Failure
		if a.FailClosed != "" {
			failed += "; safeshell sets " + code(a.FailClosed)
			if a.Minimum != "" {
				failed += ", which works from " + a.Minimum + " on"
			}
		}
		row("Failed hook", failed)
	}
	row("Limits", a.Limits)
	var marks []string
	for _, m := range a.Markers {
		s := code(m.Name)
		if m.Value != "" {
			s = code(m.Name + "=" + m.Value)
		}
		if m.AndName != "" {
			s += " with " + code(m.AndName+"="+m.AndValue)
		}
		marks = append(marks, s+" ["+string(m.Tag)+"]")
	}
	row("Its commands carry", strings.Join(marks, ", "))
	if len(a.Markers) > 0 && a.Markers[0].Session != "" {
		row("Session", code(a.Markers[0].Session))
	}
	var procs []string
	for _, p := range a.Processes {
		procs = append(procs, code(p))
	}
	row("Process names", strings.Join(procs, ", "))
	row("Known from", source(a))
	return b.String()
}

// judgedTools says what is done with which tools.
func judgedTools(t Tools) string {
	var out []string
	for _, k := range []struct{ what, names string }{
		{"run commands:", t.Runs}, {"type into programs:", t.Types}, {"read:", t.Reads}, {"write:", t.Writes}, {"edit (judged as reading, too):", t.Edits},
		{"delete:", t.Deletes}, {"search (judged as `grep`):", t.Searches}, {"load commands:", t.Loads},
	} {
		if k.names != "" {
			out = append(out, k.what+" "+codes(k.names))
		}
	}
	return strings.Join(out, "; ")
}

func codes(names string) string {
	var out []string
	for _, n := range strings.Fields(names) {
		out = append(out, code(n))
	}
	return strings.Join(out, ", ")
}

// configSnippet is what Install writes where there was nothing.
func configSnippet(t *testing.T, a Agent) string {
	t.Helper()
	env := testEnv(t)
	path := configPath(t, env, a)
	lang := "json"
	if a.Hook == TOMLTables {
		lang = "toml"
	}
	if strings.Contains(a.UserFile, "*") {
		write(t, path, "{}\n")
	}
	if _, err := Install(env, a, InstallOptions{Binary: filepath.Join(env.Home, ".safeshell/bin/safeshell")}); err != nil {
		t.Fatal(err)
	}
	return "```" + lang + "\n" + strings.ReplaceAll(read(t, path), env.Home, "/home/you") + "```\n"
}

func overview() string {
	var b strings.Builder
	b.WriteString("| Agent | Hook | Deny | Ask | Redirect | Time | Failed hook | Known from |\n|---|---|---|---|---|---|---|---|\n")
	for _, a := range All() {
		hook, deny, ask, rewrite, limit, failed := "none", "", "", "", "", ""
		if a.Hook != NoHook {
			hook = code(strings.Join(a.Events, ", "))
			deny, ask, rewrite = a.Deny, string(a.Ask), string(a.Rewrite)
			limit = secs(waitFor(a.Timeout)) + " / " + secs(a.Timeout)
			if a.DefaultTimeout > 0 {
				limit += " / " + secs(a.DefaultTimeout)
			}
			failed = a.Failure
			if a.FailClosed != "" {
				failed += "; closed by option"
			}
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s | %s | %s | %s | %s |\n", a.Display, a.Name, hook, deny, ask, rewrite, limit, failed, source(a))
	}
	return b.String()
}

// TestTable: names are unique, and what the rest of the package relies on is
// there.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, a := range All() {
		for _, n := range append([]string{a.Name}, a.Aliases...) {
			if names[n] || n == "" || strings.ToLower(n) != n {
				t.Errorf("name %q", n)
			}
			names[n] = true
			if got, ok := Find(n); !ok || got.Name != a.Name {
				t.Errorf("Find(%q) = %q", n, got.Name)
			}
		}
		if a.Display == "" || a.Tag == "" || a.Comments == "" || a.Ask == "" || a.Rewrite == "" {
			t.Errorf("%s lacks something", a.Name)
		}
		if (protocolFor(a.Name, a.Name, nil) == nil) != (a.Hook == NoHook) {
			t.Errorf("%s: hook kind %s and its protocol disagree", a.Name, a.Hook)
		}
		for _, m := range a.Markers {
			if m.Name == "" || m.Tag == "" || (m.AndName == "") != (m.AndValue == "") {
				t.Errorf("%s: marker %+v", a.Name, m)
			}
		}
		seen := map[string]bool{}
		for _, n := range strings.Fields(strings.Join(a.Tools.Matched(), " ") + " " + a.Tools.Nothing + " " + a.Tools.Behind + " " + a.Tools.Unheard) {
			if seen[n] {
				t.Errorf("%s: the tool %s is there twice", a.Name, n)
			}
			seen[n] = true
		}
		if (a.Tools.Runs == "") != (a.Hook == NoHook) {
			t.Errorf("%s: which tool runs commands is not known", a.Name)
		}
		if a.BaseVar != "" && !strings.HasPrefix(a.UserFile, a.Base+"/") {
			t.Errorf("%s: %s does not begin with %s", a.Name, a.UserFile, a.Base)
		}
	}
}
