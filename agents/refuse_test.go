package agents

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/internal/test/testdir"
)

// TestRefusals: what is broken, or belongs to others, is left alone and named.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ agent, text, want string }{
		{"claude-code", "{\n  \"a\": 1,\n  \"b\" 2\n}", "settings.json:3:7: a colon is missing"},
		{"claude-code", "{\n  // no\n}", "settings.json:2:3: a comment, which is not allowed here"},
		{"claude-code", "{\"a\": 1,}", "settings.json:1:8: a comma before }"},
		{"claude-code", "{\"ü\": 1, \"b\": tru}", "settings.json:1:15: unexpected 't'"},
		{"claude-code", "[]", "settings.json:1:1: this is a list where an object is due"},
		{"claude-code", "{\"hooks\": []}", "settings.json:1:11: hooks is a list where an object is due"},
		{"claude-code", "{\"hooks\": {\"PreToolUse\": {}}}", "hooks.PreToolUse is an object where a list is due"},
		{"claude-code", "{\"hooks\": {}, \"hooks\": {}}", "settings.json:1:24: the key hooks is there twice"},
		{"claude-code", "{\"a\": \"\xff\"}", "settings.json:1:8: invalid UTF-8"},
		{"gemini", "{\n /* ", "settings.json:2:2: comment without end"},
		{"kimi", "a = \n", "config.toml:1:5: this is not a TOML value"},
		{"kimi", "a = 'x\n", "config.toml:1:5: this string is not closed on its line"},
		{"kimi", "[a\nb = 1", "config.toml:1:3: ] is missing"},
		{"kimi", "a = 1 b = 2", "config.toml:1:7: text after the end of this statement"},
		{"kimi", "[hooks]\nx = 1\n", "config.toml:1:1: hooks is a table"},
		{"kimi", "hooks = 3\n", "config.toml:1:1: hooks is not a list of tables"},
		{"opencode", "export const Mine = 1\n", "is not a file of safeshell"},
		{"cline", "#!/bin/sh\nexit 0\n", "is not a file of safeshell"},
	} {
		env, a := testEnv(t), mustFind(t, c.agent)
		path := configPath(t, env, a)
		write(t, path, c.text)
		before := tree(t, env.Home)
		_, err := Install(env, a, InstallOptions{Binary: testBinary})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q: %v", c.agent, c.text, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("not one line: %v", err)
		}
		sameTree(t, c.text, before, tree(t, env.Home), "")
	}
	env := testEnv(t)
	if _, err := Install(env, mustFind(t, "codex"), InstallOptions{Binary: "safeshell"}); err == nil {
		t.Error("a relative binary was accepted")
	}
	for _, name := range []string{"aider", "zed", "antigravity", "continue", "augment"} {
		if _, err := Install(env, mustFind(t, name), InstallOptions{Binary: testBinary}); err == nil || !strings.Contains(err.Error(), "docs/agents/"+name+".md") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Install(env, mustFind(t, "kimi"), InstallOptions{Binary: testBinary, Project: true}); err == nil {
		t.Error("kimi has no project file")
	}
	if _, err := Install(Env{}, mustFind(t, "codex"), InstallOptions{Binary: testBinary}); err == nil {
		t.Error("no home was accepted")
	}
	// One broken file of several: none is touched.
	a := mustFind(t, "kiro-cli")
	write(t, filepath.Join(env.Home, ".kiro/agents/a.json"), "{}")
	write(t, filepath.Join(env.Home, ".kiro/agents/b.json"), "{")
	if _, err := Install(env, a, InstallOptions{Binary: testBinary}); err == nil {
		t.Error("a broken agent file was accepted")
	}
	if got := read(t, filepath.Join(env.Home, ".kiro/agents/a.json")); got != "{}" {
		t.Errorf("the sound file was changed all the same: %s", got)
	}
}

// TestFilesAsTheyAre: links, modes, unwritable places, files that move.
func TestFilesAsTheyAre(t *testing.T) {
	env, a := testEnv(t), mustFind(t, "claude-code")
	o := InstallOptions{Binary: testBinary}
	path := configPath(t, env, a)
	dot := filepath.Join(env.Home, "dotfiles", "claude.json")
	write(t, dot, "{}\n")
	if err := os.Chmod(dot, 0o604); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/claude.json", path); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(env, a, o); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(path); err != nil || to != "../dotfiles/claude.json" {
		t.Errorf("the link is now %q %v", to, err)
	}
	if fi, _ := os.Stat(dot); fi.Mode().Perm() != 0o604 || !strings.Contains(read(t, dot), "safeshell") {
		t.Errorf("the target: %v", fi.Mode())
	}
	if _, err := Uninstall(env, a, o); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dot); got != "{}\n" {
		t.Errorf("the target holds %q", got)
	}

	os.Remove(dot)
	if _, err := Install(env, a, o); err == nil || !strings.Contains(err.Error(), "symbolic link to nothing; to put it aside: mv "+path+" ") {
		t.Errorf("dangling link: %v", err)
	}
	os.Remove(path)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(env, a, o); err == nil || !strings.Contains(err.Error(), "not a regular file; to put it aside: mv "+path+" "+path+".old") {
		t.Errorf("a directory: %v", err)
	}
	if err := errors.Join(os.Remove(path), os.Symlink(filepath.Base(path), path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(env, a, o); err == nil || !strings.Contains(err.Error(), "too many levels of symbolic links; remove the link: /bin/rm "+path) {
		t.Errorf("a link in a circle: %v", err)
	}
	if err := errors.Join(os.Remove(path), os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(env, a, o); err == nil || !strings.Contains(err.Error(), "ls -l "+filepath.Dir(path)) {
		t.Errorf("a file for its directory: %v", err)
	}

	// Another program wrote between our reading and our writing.
	p := filepath.Join(testdir.New(t), "f")
	write(t, p, "new")
	if err := writeConfig(p, []byte("old"), []byte("ours"), 0o600); !errors.Is(err, errChanged) {
		t.Errorf("got %v", err)
	}
	if err := writeConfig(p, nil, []byte("ours"), 0o600); !errors.Is(err, errChanged) {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(p), ".safeshell-*")); len(left) > 0 || read(t, p) != "new" {
		t.Errorf("left behind: %v", left)
	}

	// The variables that move the directories.
	env = testEnv(t)
	other := testdir.New(t)
	for name, want := range map[string]string{
		"codex": "hooks.json", "copilot": "hooks/safeshell.json", "claude-code": "settings.json",
		"opencode": "opencode/plugin/safeshell.js", "kimi": "config.toml", "crush": "crush/crush.json",
	} {
		a := mustFind(t, name)
		env.Getenv = func(k string) string {
			if k == a.BaseVar {
				return other
			}
			return ""
		}
		if got := configPath(t, env, a); got != filepath.Join(other, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestEditedPlugin: a plugin that the user has edited is not lost.
func TestEditedPlugin(t *testing.T) {
	env, a := testEnv(t), mustFind(t, "opencode")
	o := InstallOptions{Binary: testBinary}
	path := configPath(t, env, a)
	if _, err := Install(env, a, o); err != nil {
		t.Fatal(err)
	}
	edited := read(t, path) + "// mine\n"
	write(t, path, edited)
	res, err := Install(env, a, o)
	if err != nil || res.Files[0].Change != Changed || read(t, res.Files[0].Backup) != edited {
		t.Errorf("%+v %v", res, err)
	}
	write(t, path, edited)
	res, err = Uninstall(env, a, o)
	if err != nil || res.Files[0].Change != Removed || read(t, res.Files[0].Backup) != edited {
		t.Errorf("%+v %v", res, err)
	}
}

// TestCodexTrust: the hash is the one that Codex computes, and leaves with the
// hook.
func TestCodexTrust(t *testing.T) {
	// From the page: this text, hashed, was what Codex asked for.
	e := entry{text: "/abs/hook", limit: 3e9, matcher: "Bash"}
	if got, want := codexHash(e), "sha256:"+digest([]byte(`{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/abs/hook","timeout":3,"type":"command"}],"matcher":"Bash"}`)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	e = entry{text: "/a b/ü", status: "s"}
	if got, want := codexHash(e), "sha256:"+digest([]byte(`{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/a b/ü","statusMessage":"s","timeout":600,"type":"command"}]}`)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	for _, text := range []string{
		"model = \"gpt-5.x\"\n\n[features]\nhooks = true\n",
		"",
		"model = \"x\"\r\n[projects.\"/p\"]\r\ntrust_level = \"trusted\"\r\n",
		"[hooks.state.\"HOME/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:old\"\nenabled = true\n[x]\n",
		"[hooks.state.\"HOME/.codex/hooks.json:pre_tool_use:0:0\"]\n",
		"none",
	} {
		env, a := testEnv(t), mustFind(t, "codex")
		config := filepath.Join(env.Home, ".codex/config.toml")
		if text != "none" {
			write(t, config, strings.ReplaceAll(text, "HOME", env.Home))
		}
		if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
			t.Fatal(err)
		}
		before := tree(t, env.Home)
		o := InstallOptions{Binary: testBinary, TrustCodex: true}
		for i := range 2 {
			res, err := Install(env, a, o)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if i == 1 && (res.Files[0].Change != Unchanged || res.Files[1].Change != Unchanged) {
				t.Errorf("%q: the second time: %+v", text, res.Files)
			}
		}
		items, serr := parseTOML([]byte(read(t, config)))
		if serr != nil {
			t.Fatal(serr)
		}
		en, err := env.codexEntry(a, false)
		if err != nil || en == nil {
			t.Fatal(err)
		}
		hash, _ := codexTrusted(items, codexKey(*en))
		if hash == nil || hash.val.str != codexHash(*en) {
			t.Errorf("%q: not trusted:\n%s", text, read(t, config))
		}
		if _, err := Uninstall(env, a, InstallOptions{}); err != nil {
			t.Fatal(err)
		}
		sameTree(t, text, before, tree(t, env.Home), filepath.Join(env.Home, ".safeshell"))
	}

	// A config.toml that changed since still loses our table, and only that.
	env, a := testEnv(t), mustFind(t, "codex")
	config := filepath.Join(env.Home, ".codex/config.toml")
	write(t, config, "a = 1\n")
	o := InstallOptions{Binary: testBinary, TrustCodex: true}
	if _, err := Install(env, a, o); err != nil {
		t.Fatal(err)
	}
	write(t, config, read(t, config)+"\n[mine]\nb = 2\n")
	if _, err := Uninstall(env, a, o); err != nil {
		t.Fatal(err)
	}
	if got := read(t, config); got != "a = 1\n\n[mine]\nb = 2\n" {
		t.Errorf("got %q", got)
	}
	write(t, config, "[hooks]\nstate = { x = 1 }\n")
	if _, err := Install(env, a, o); err == nil || !strings.Contains(err.Error(), "config.toml:2:1: hooks.state is written as an inline table") {
		t.Errorf("inline: %v", err)
	}
}

// TestCodexKeepsIndices: Codex names trusted hooks by index, so ours goes last.
func TestCodexKeepsIndices(t *testing.T) {
	env, a := testEnv(t), mustFind(t, "codex")
	path := configPath(t, env, a)
	write(t, path, `{"hooks":{"PreToolUse":[{"matcher":"A","hooks":[]},{"matcher":"B","hooks":[]}]}}`)
	if _, err := Install(env, a, InstallOptions{Binary: testBinary}); err != nil {
		t.Fatal(err)
	}
	e, err := env.codexEntry(a, false)
	if err != nil || e.group != 2 || e.index != 0 {
		t.Errorf("%+v %v", e, err)
	}
}

func TestForeignHooksAreNotOurs(t *testing.T) {
	a := mustFind(t, "claude-code")
	for cmd, want := range map[string]bool{
		"/usr/local/bin/safeshell hook claude-code":         true,
		"'/opt/my tools/safeshell' hook claude":             true,
		"\"/x/safeshell-1.2\" hook claude-code --timeout 9": true,
		"rtk hook claude":                     false,
		"safe-chains hook claude":             false,
		"/usr/local/bin/safeshell hook codex": false,
		"echo safeshell hook claude-code":     false,
		"safeshell":                           false,
		"":                                    false,
		"'unclosed":                           false,
	} {
		if got := ours(a, splitShell(cmd)); got != want {
			t.Errorf("%q: %v", cmd, got)
		}
	}
	if !ours(a, []string{"/opt/ss", "hook", "claude"}, "", "/opt/ss") {
		t.Error("a binary of another name")
	}
}
