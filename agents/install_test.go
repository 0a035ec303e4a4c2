package agents

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

const testBinary = "/usr/local/bin/safeshell"

func testEnv(t *testing.T) Env {
	t.Helper()
	dir := testdir.New(t)
	env := Env{
		Getenv:     func(string) string { return "" },
		Home:       filepath.Join(dir, "home"),
		ProjectDir: filepath.Join(dir, "project"),
		LookPath:   func(string) (string, error) { return "", exec.ErrNotFound },
		Root:       filepath.Join(dir, "root"),
		Binary:     testBinary,
	}
	for _, d := range []string{env.Home, env.ProjectDir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return env
}

func mustFind(t *testing.T, name string) Agent {
	t.Helper()
	a, ok := Find(name)
	if !ok {
		t.Fatalf("no agent %s", name)
	}
	return a
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tree lists all files and directories below dir with their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			out[p] = "dir"
			return nil
		}
		out[p] = read(t, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t *testing.T, what string, want, got map[string]string, ignore string) {
	t.Helper()
	for p, v := range got {
		if ignore != "" && strings.HasPrefix(p, ignore) {
			continue
		}
		if w, ok := want[p]; !ok {
			t.Errorf("%s: %s is left over", what, p)
		} else if w != v {
			t.Errorf("%s: %s changed:\n got %q\nwant %q", what, p, v, w)
		}
	}
	for p := range want {
		if _, ok := got[p]; !ok {
			t.Errorf("%s: %s is gone", what, p)
		}
	}
}

// realFiles are configurations as they are met: each is installed into twice
// and uninstalled from, and must then be as before, byte for byte.
var realFiles = []struct{ agent, name, text string }{
	{"claude-code", "typical", "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(npm run test:*)\"\n    ],\n    \"deny\": []\n  },\n  \"env\": {\n    \"FOO\": \"bär\"\n  }\n}\n"},
	{"claude-code", "no newline at the end", "{\n  \"model\": \"opus\"\n}"},
	{"claude-code", "empty object", "{}"},
	{"claude-code", "empty object, spread", "{\n}\n"},
	{"claude-code", "empty file", ""},
	{"claude-code", "blank file", "\n\n"},
	{"claude-code", "minified", `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`},
	{"claude-code", "one line with blanks", `{ "model": "opus", "a": [1, 2] }` + "\n"},
	{"claude-code", "tabs", "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"PostToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"Write\",\n\t\t\t\t\"hooks\": []\n\t\t\t}\n\t\t]\n\t}\n}\n"},
	{"claude-code", "windows line ends", "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {}\r\n}\r\n"},
	{"claude-code", "byte order mark", "\ufeff{\n    \"model\": \"opus\"\n}\n"},
	{"claude-code", "other hooks in the event", "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"rtk hook claude\"\n          }\n        ]\n      }\n    ]\n  },\n  \"model\": \"x\"\n}\n"},
	{"claude-code", "empty event", "{\"hooks\": {\"PreToolUse\": []},\n \"model\": \"x\"}\n"},
	{"claude-code", "mixed layout", "{\"a\": 1,\n     \"b\": {\"c\": [\n1,2]}, \"hooks\"  :  {\n   \"PreToolUse\":[ {\"matcher\":\"X\",\"hooks\":[]} ]   }\n\n}\n\n\n"},
	{"claude-code", "escapes and large numbers", "{\n  \"\\u0068ello\": 123456789012345678901234567890.10,\n  \"path\": \"C:\\\\Users\\\\x\\u00e9\"\n}\n"},
	{"codex", "other hooks", "{\n  \"description\": \"mine\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"^Bash$\", \"hooks\": [{\"type\": \"command\", \"command\": \"/x/y\", \"timeout\": 5}]}\n    ]\n  }\n}\n"},
	{"codex", "only other events", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"},
	{"gemini", "comments", "{\n  // my settings\n  \"theme\": \"x\", /* inline */\n  \"mcpServers\": {}, // last\n}\n"},
	{"gemini", "comment after the last value", "{\n  \"theme\": \"x\" // nice\n}\n"},
	{"gemini", "comment in an empty object", "{ // nothing yet\n}\n"},
	{"gemini", "block comment in an empty object", "{/* nothing yet */}"},
	{"gemini", "only comments", "// nothing at all\n"},
	{"gemini", "only comments, unfinished line", "// nothing at all"},
	{"gemini", "trailing commas with hooks", "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      // the linter\n      {\"matcher\": \"x\", \"hooks\": [],},\n    ],\n  },\n}\n"},
	{"qwen", "url with slashes", "{\n  \"a\": \"https://x//y\", // see /* there */\n  \"b\": \"}\"\n}\n"},
	{"cursor", "version and other hooks", "{\n  \"version\": 1,\n  \"hooks\": {\n    \"afterFileEdit\": [\n      { \"command\": \"./fmt.sh\" }\n    ],\n    \"beforeShellExecution\": [\n      { \"command\": \"./audit.sh\" }\n    ]\n  }\n}\n"},
	{"cursor", "without version", "{\"hooks\":{}}\n"},
	{"windsurf", "another event", "{\n    \"hooks\": {\n        \"post_write_code\": [\n            {\n                \"command\": \"x\",\n                \"show_output\": false\n            }\n        ]\n    }\n}\n"},
	{"devin", "config", "{\n  \"permissions\": {\"allow\": []}\n}\n"},
	{"crush", "providers", "{\n  \"$schema\": \"https://charm.land/crush.json\",\n  \"lsp\": {\n    \"go\": {\"command\": \"gopls\"}\n  },\n  \"options\": {\"tui\": {\"compact_mode\": true}}\n}"},
	{"droid", "by event", "{\n  \"PostToolUse\": []\n}\n"},
	{"droid", "with an outer key", "{\n  \"hooks\": {\n    \"PostToolUse\": []\n  }\n}\n"},
	{"copilot", "our name, other content", "{\"version\":1,\"hooks\":{\"sessionStart\":[]}}"},
	{"kiro", "other hooks", "{\n  \"version\": \"v1\",\n  \"hooks\": [\n    {\"name\": \"lint\", \"trigger\": \"PostToolUse\"}\n  ]\n}\n"},
	{"kimi", "typical", "# Kimi\ndefault_model = \"kimi-for-coding\"\ntelemetry = true\n\n[providers.\"managed:kimi-code\"]\ntype = \"kimi\"\napi_key = \"\"\n\n[[permission.rules]]\ndecision = \"deny\"\npattern = \"Bash(rm -rf*)\" # never\n"},
	{"kimi", "other hooks", "[[hooks]]\nevent = \"Stop\"\ncommand = 'say \"done\"'\n"},
	{"kimi", "no newline at the end", "a = 1"},
	{"kimi", "windows line ends", "a = 1\r\n[b]\r\nc = \"\"\"\r\n[[hooks]]\r\n\"\"\"\r\n"},
	{"kimi", "byte order mark", "\ufeffa = 1\n"},
	{"kimi", "empty list", "hooks = []\n[x]\ny = 1979-05-27 07:32:00Z\n"},
	{"kimi", "inline list", "hooks = [\n  { event = \"Stop\", command = \"x\" }, # mine\n]\n"},
	{"kimi", "inline list on one line", "hooks = [{ event = \"Stop\", command = \"x\" }]\n"},
	{"kimi", "empty", ""},
	{"kimi", "blank lines at the end", "a = { b = [1, 2], c.d = 'x' }\n\n\n"},
}

func configPath(t *testing.T, env Env, a Agent) string {
	t.Helper()
	p, err := env.path(a, a.UserFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(p, "*.json", "mine.json", 1)
}

func TestInstallLeavesNoTrace(t *testing.T) {
	for _, c := range realFiles {
		t.Run(c.agent+"/"+c.name, func(t *testing.T) {
			env, a := testEnv(t), mustFind(t, c.agent)
			path := configPath(t, env, a)
			write(t, path, c.text)
			before := tree(t, env.Home)
			o := InstallOptions{Binary: testBinary}
			state := Status(env, a, o)
			if state.Installed || state.Err != nil {
				t.Fatalf("before: %+v", state)
			}
			res, err := Install(env, a, o)
			if err != nil {
				t.Fatal(err)
			}
			if res.Files[0].Change != Changed || res.Files[0].Backup == "" {
				t.Errorf("result %+v", res)
			}
			if b := res.Files[0].Backup; read(t, b) != c.text {
				t.Error("the backup is not the file from before")
			} else if fi, _ := os.Stat(b); fi.Mode().Perm()&0o077 != 0 {
				t.Errorf("the backup has mode %v", fi.Mode())
			}
			if fi, _ := os.Stat(path); fi.Mode().Perm() != 0o640 {
				t.Errorf("mode is now %v", fi.Mode())
			}
			if s := Status(env, a, o); !s.Installed || !s.Current || s.Err != nil {
				t.Errorf("after: %+v", s)
			}
			first := read(t, path)
			if strings.HasPrefix(c.text, bom) != strings.HasPrefix(first, bom) {
				t.Error("the byte order mark changed")
			}
			if strings.Contains(c.text, "\r\n") && strings.Count(first, "\n") != strings.Count(first, "\r\n") {
				t.Errorf("line ends are mixed: %q", first)
			}
			keepsTheRest(t, a, c.text, first)
			res, err = Install(env, a, o)
			if err != nil || res.Files[0].Change != Unchanged {
				t.Errorf("second time: %+v %v", res, err)
			}
			if got := read(t, path); got != first {
				t.Errorf("the second time changed the file:\n%s\n%s", first, got)
			}
			res, err = Uninstall(env, a, o)
			if err != nil || res.Files[0].Change != Restored {
				t.Fatalf("uninstall: %+v %v", res, err)
			}
			sameTree(t, "uninstall", before, tree(t, env.Home), filepath.Join(env.Home, ".safeshell"))
			if _, err := Uninstall(env, a, o); !errors.Is(err, ErrNotInstalled) {
				t.Errorf("a second uninstall: %v", err)
			}
		})
	}
}

// keepsTheRest checks that every byte of the file from before is still there,
// in order, and that the JSON value is the old one with ours added.
func keepsTheRest(t *testing.T, a Agent, before, after string) {
	t.Helper()
	i := 0
	for j := 0; j < len(after) && i < len(before); j++ {
		if after[j] == before[i] {
			i++
		}
	}
	if i != len(before) && strings.TrimSpace(before) != "{}" && !strings.Contains(before, "[]") {
		t.Errorf("%s: something was taken away:\n%s\n---\n%s", a.Name, before, after)
	}
}

// TestInstallFresh: without any file, one is made, and uninstalling leaves
// nothing behind, directories included.
func TestInstallFresh(t *testing.T) {
	for _, a := range hooked() {
		for _, project := range []bool{false, true} {
			if a.Hook == Manual || project && a.ProjectFile == "" {
				continue
			}
			env := testEnv(t)
			o := InstallOptions{Binary: "/opt/my tools/it's/safeshell", Project: project}
			if strings.Contains(a.UserFile, "*") {
				if _, err := Install(env, a, o); err == nil || !strings.Contains(err.Error(), "make an agent there") {
					t.Errorf("%s: %v", a.Name, err)
				}
				p := a.UserFile
				if project {
					p = a.ProjectFile
				}
				full, _ := env.path(a, p)
				write(t, strings.Replace(full, "*", "one", 1), "{\"name\": \"one\"}\n")
				write(t, strings.Replace(full, "*", "two", 1), "{}")
			}
			before := tree(t, env.Home)
			for p, v := range tree(t, env.ProjectDir) {
				before[p] = v
			}
			res, err := Install(env, a, o)
			if err != nil {
				t.Errorf("%s: %v", a.Name, err)
				continue
			}
			for _, f := range res.Files {
				text := read(t, f.Path)
				if !strings.Contains(text, "/opt/my tools/it") && filepath.Base(f.Path) != "plugin.json" {
					t.Errorf("%s: the binary is not in %s:\n%s", a.Name, f.Path, text)
				}
				if strings.HasSuffix(f.Path, ".json") && !json.Valid([]byte(text)) {
					t.Errorf("%s: not JSON: %s", a.Name, text)
				}
				if fi, _ := os.Stat(f.Path); a.Hook == Script && fi.Mode()&0o100 == 0 {
					t.Errorf("%s is not executable", f.Path)
				}
			}
			again, err := Install(env, a, o)
			if err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
			for _, f := range again.Files {
				if f.Change != Unchanged {
					t.Errorf("%s: second time %+v", a.Name, f)
				}
			}
			// Another binary and another limit: replaced, not doubled.
			o2 := o
			o2.Binary, o2.TimeoutSeconds = "/usr/bin/safeshell", 90
			if _, err := Install(env, a, o2); err != nil {
				t.Errorf("%s: %v", a.Name, err)
			}
			for _, f := range res.Files {
				if text := read(t, f.Path); strings.Contains(text, "/opt/my tools") {
					t.Errorf("%s: the old binary is still there:\n%s", a.Name, text)
				}
			}
			if _, err := Uninstall(env, a, InstallOptions{Project: project}); err != nil {
				t.Errorf("%s: uninstall: %v", a.Name, err)
			}
			after := tree(t, env.Home)
			for p, v := range tree(t, env.ProjectDir) {
				after[p] = v
			}
			sameTree(t, a.Name, before, after, filepath.Join(env.Home, ".safeshell"))
		}
	}
}

// TestUserEditsStay: what the user changes after Install is there after
// Uninstall, with and without our record.
func TestUserEditsStay(t *testing.T) {
	for _, lost := range []bool{false, true} {
		env, a := testEnv(t), mustFind(t, "claude-code")
		path := configPath(t, env, a)
		o := InstallOptions{Binary: testBinary}
		write(t, path, "{\n  \"model\": \"opus\"\n}\n")
		if _, err := Install(env, a, o); err != nil {
			t.Fatal(err)
		}
		text := read(t, path)
		text = strings.Replace(text, `"opus"`, `"sonnet"`, 1)
		text = strings.Replace(text, "\"PreToolUse\": [\n", "\"PreToolUse\": [\n      {\"matcher\": \"Write\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]},\n", 1)
		write(t, path, text)
		if lost {
			os.RemoveAll(filepath.Join(env.Home, ".safeshell"))
		}
		if s := Status(env, a, o); !s.Installed || !s.Current {
			t.Errorf("status %+v", s)
		}
		if res, err := Install(env, a, o); err != nil || res.Files[0].Change != Unchanged {
			t.Errorf("install over the edit: %+v %v", res, err)
		}
		res, err := Uninstall(env, a, o)
		if err != nil || res.Files[0].Change != Changed {
			t.Fatalf("%+v %v", res, err)
		}
		want := "{\n  \"model\": \"sonnet\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Write\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ]\n  }\n}\n"
		if got := read(t, path); got != want {
			t.Errorf("lost=%v:\n%s\nwant\n%s", lost, got, want)
		}
	}

	// The user's own hook inside our group stays, the rest of the group too.
	env, a := testEnv(t), mustFind(t, "gemini")
	path := configPath(t, env, a)
	write(t, path, "{}\n")
	o := InstallOptions{Binary: testBinary}
	if _, err := Install(env, a, o); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(read(t, path), "\"hooks\": [\n", "\"hooks\": [\n          {\"type\": \"command\", \"command\": \"mine\"},\n", 1)
	write(t, path, text)
	if _, err := Uninstall(env, a, o); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); strings.Contains(got, "safeshell hook") || !strings.Contains(got, "mine") || !json.Valid([]byte(got)) {
		t.Errorf("got %s", got)
	}

	// Reformatted by the agent itself: still found, still taken out.
	env = testEnv(t)
	path = configPath(t, env, a)
	write(t, path, "{\"theme\":\"x\"}")
	if _, err := Install(env, a, o); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(read(t, path)), &v); err != nil {
		t.Fatal(err)
	}
	pretty, _ := json.MarshalIndent(v, "", "   ")
	write(t, path, string(pretty))
	if _, err := Uninstall(env, a, o); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "{\n   \"theme\": \"x\"\n}" {
		t.Errorf("got %s", got)
	}
}

// TestKeepsAttributes: a file that may only be read keeps its mode and its
// extended attributes, among them the access control list, in and out.
func TestKeepsAttributes(t *testing.T) {
	env, a := testEnv(t), mustFind(t, "claude-code")
	path := configPath(t, env, a)
	write(t, path, "{}\n")
	// Read for the owner, the group and user 65533: version 2, five entries.
	acl := "\x02\x00\x00\x00" + "\x01\x00\x04\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\xfd\xff\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	want := map[string]string{}
	for name, value := range map[string]string{"user.mine": "x", "system.posix_acl_access": acl} {
		if err := unix.Setxattr(path, name, []byte(value), 0); err == nil {
			want[name] = value
		}
	}
	if len(want) == 0 {
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.Stat(path)
	same := func(when string) {
		t.Helper()
		if fi, err := os.Stat(path); err != nil || fi.Mode() != before.Mode() {
			t.Errorf("%s: mode %v, was %v (%v)", when, fi.Mode(), before.Mode(), err)
		}
		for name, value := range want {
			got := make([]byte, 100)
			n, err := unix.Getxattr(path, name, got)
			if err != nil || string(got[:n]) != value {
				t.Errorf("%s: %s is %q (%v)", when, name, got[:max(n, 0)], err)
			}
		}
	}
	if _, err := Install(env, a, InstallOptions{Binary: testBinary}); err != nil {
		t.Fatal(err)
	}
	same("installed")
	if _, err := Uninstall(env, a, InstallOptions{Binary: testBinary}); err != nil {
		t.Fatal(err)
	}
	same("uninstalled")
	if read(t, path) != "{}\n" {
		t.Error("not as before")
	}
}
