package clienttest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"safeshell/agents"
)

// bundles are where a client's own program, if it is text, names its tools.
var bundles = map[string]struct {
	files string
	name  *regexp.Regexp
}{
	"claude-code": {"@anthropic-ai/claude-code-linux-x64/claude", regexp.MustCompile(`\["Agent","Artifact",([^\]]*)\]`)},
	"gemini":      {"@google/gemini-cli/bundle/*.js", regexp.MustCompile(`\b[A-Z_]+_TOOL_NAME = "(\w+)"`)},
	"qwen":        {"@qwen-code/qwen-code/chunks/*.js", regexp.MustCompile(`(?s)\bvar ToolNames = \{(.*?)\}`)},
	"cline":       {"@cline/core/dist/index.js", regexp.MustCompile(`\bname:"([a-z]+(?:_[a-z]+)*)",description:`)},
	"pi":          {"@mariozechner/pi-coding-agent/dist/core/tools/index.js", regexp.MustCompile(`allToolNames = new Set\(\[(.*?)\]`)},
}

// TestTools holds the table of tools against what the real clients offer to the
// model, and against what their programs name: a new tool is noticed here. It
// goes into agents/table.go, by what it does.
func TestTools(t *testing.T) {
	check := func(t *testing.T, agent string, w *World) {
		a, ok := agents.Find(agent)
		if !ok {
			t.Fatal(agent)
		}
		offered := w.Model.Tools()
		if len(offered) == 0 {
			t.Fatalf("%s offered no tools; requests %q", agent, w.Model.Requests())
		}
		t.Logf("offered: %s", strings.Join(offered, " "))
		for _, n := range append(offered, bundled(t, agent)...) {
			if !a.Tools.Known(n) {
				t.Errorf("%s has a tool %q, and the table does not say what it does", agent, n)
			}
		}
	}
	for _, c := range clients {
		t.Run(c.agent, func(t *testing.T) {
			w := New(t, c.bin)
			c.setup(w)
			c.play(w, "first", c.shell("true"))
			check(t, c.agent, w)
		})
	}
	t.Run("claude-code", func(t *testing.T) {
		c := claude(t)
		c.run("first", c.shell("true"))
		check(t, "claude-code", c.World)
	})
	t.Run("codex", func(t *testing.T) {
		c := codex(t)
		c.run("first", c.shell("true"))
		check(t, "codex", c.World)
	})
	t.Run("codex-code-mode", func(t *testing.T) {
		c := codex(t, "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-6-sol")
		c.run("first", Do("exec", map[string]any{"": `text(await tools.exec_command({cmd: "true"}))`}))
		check(t, "codex", c.World)
	})
}

// bundled are the tools that a client's program names, offered or not.
func bundled(t *testing.T, agent string) []string {
	b, ok := bundles[agent]
	if !ok {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("SAFESHELL_TEST_CLIENTS"), "node_modules", b.files))
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`"(\w+)"`)
	var out []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range b.name.FindAllSubmatch(data, -1) {
			names := word.FindAllSubmatch(hit[1], -1)
			if names == nil {
				out = append(out, string(hit[1]))
			}
			for _, n := range names {
				out = append(out, string(n[1]))
			}
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) == 0 {
		t.Errorf("%s: its program names no tools any more in %s", agent, b.files)
	}
	return out
}

// secretTools are calls of tools that are no shell and would show or replace what
// is in .env, with the rule that stops each.
var secretTools = map[string][]struct {
	turn Turn
	rule string
}{
	"gemini": {
		// Gemini itself keeps its tools out of .env, but not out of keys.
		{Do("grep_search", map[string]any{"pattern": "abc", "include_pattern": "id_rsa"}), "block-read-ssh"},
		{Do("replace", map[string]any{"file_path": "deploy/id_rsa", "instruction": "i", "old_string": "abc", "new_string": "X"}), "block-read-ssh"},
	},
	"qwen": {
		{Do("tool_call", map[string]any{"name": "monitor", "arguments": map[string]any{"command": "cp .env copied", "description": "d"}}), "secrets-env-file"},
		{Do("grep_search", map[string]any{"pattern": "KEY", "glob": ".env"}), "secrets-env-file"},
		{Do("edit", map[string]any{"file_path": "@REPO@/.env", "old_string": "API", "new_string": "X"}), "secrets-env-file"},
	},
	"copilot": {
		{Do("grep", map[string]any{"pattern": "KEY", "paths": "@REPO@/.env", "output_mode": "content"}), "secrets-env-file"},
		{Do("grep", map[string]any{"pattern": "KEY", "glob": ".env", "output_mode": "content"}), "secrets-env-file"},
		{Do("edit", map[string]any{"path": "@REPO@/.env", "old_str": "API", "new_str": "X"}), "secrets-env-file"},
	},
	"opencode": {
		{Do("grep", map[string]any{"pattern": "KEY", "path": "@REPO@/.env"}), "secrets-env-file"},
		{Do("edit", map[string]any{"filePath": "@REPO@/.env", "oldString": "API", "newString": "X"}), "secrets-env-file"},
	},
	"cline": {
		{Do("editor", map[string]any{"path": "@REPO@/.env", "old_text": "API", "new_text": "X"}), "secrets-env-file"},
	},
	"pi": {
		{Do("edit", map[string]any{"path": "@REPO@/.env", "edits": []map[string]any{{"oldText": "API", "newText": "X"}}}), "secrets-env-file"},
	},
}

// TestSecretTools: no tool of a real client shows, changes or copies .env.
func TestSecretTools(t *testing.T) {
	for _, c := range clients {
		cases := secretTools[c.agent]
		if len(cases) == 0 {
			continue
		}
		t.Run(c.agent, func(t *testing.T) {
			w := New(t, c.bin)
			c.setup(w)
			w.Safeshell("agents", "install", c.agent)
			const secret = "API_KEY=abc123def456\n"
			w.Write(w.Repo+"/.env", secret)
			w.Write(w.Repo+"/deploy/id_rsa", secret)
			var turns []Turn
			for _, s := range cases {
				for k, v := range s.turn.Calls[0].Input {
					if text, ok := v.(string); ok {
						s.turn.Calls[0].Input[k] = strings.ReplaceAll(text, "@REPO@", w.Repo)
					}
				}
				turns = append(turns, s.turn)
			}
			for i, r := range c.play(w, "secrets", turns...) {
				if !strings.Contains(r.Text, "Rule: "+cases[i].rule) || strings.Contains(r.Text, "abc123") {
					t.Errorf("%v: %q", r.Call, r.Text)
				}
			}
			if w.Read(w.Repo+"/.env") != secret || w.Exists(w.Repo+"/copied") {
				t.Error("it was changed or copied")
			}
		})
	}
}
