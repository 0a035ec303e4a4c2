package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	for _, c := range []struct {
		name, text string
		want       func(*Config)
		err        string // what the error holds; empty: none
	}{
		{"empty", "", nil, ""},
		{"comment only", "# nothing\n", nil, ""},
		{"the documented file", `
unreachable_behavior: fail_open
delegate_shell: /bin/zsh
log_level: debug
condition_timeout_ms: 250
approval:
  timeout_seconds: 1.5
  wait_for_monitor_seconds: 3
  notify: [bell]
  via: agent
trash: {keep_days: 7, max_bytes: 500MB}
permissions: {commands: [curl, ./x], allow_project_commands: true, strict_paths: true}
`, func(c *Config) {
			*c = Config{"fail_open", "/bin/zsh", "debug", 250 * time.Millisecond,
				Approval{1500 * time.Millisecond, 3 * time.Second, []string{"bell"}, "agent"},
				Trash{7, 500e6}, Permissions{[]string{"curl", "./x"}, true, true}}
		}, ""},
		{"unknown key", "log_level: info\ncolour: blue\n", nil, "config.yaml:2:1: unknown key \"colour\""},
		{"unknown inner key", "approval:\n  timeout: 3\n", nil, "config.yaml:2:3: unknown key \"timeout\""},
		{"bad value", "log_level: info\nunreachable_behavior: sometimes\n", nil, `config.yaml:2:23: unreachable_behavior: "sometimes" is none of fail_closed, fail_open`},
		{"bad number", "approval: {timeout_seconds: 0}\n", nil, "config.yaml:1:29: approval.timeout_seconds: 0 is not from 1"},
		{"not a number", "approval: {timeout_seconds: .nan}\n", nil, "timeout_seconds"},
		{"bad type", "trash: [1]\n", nil, "config.yaml:1:"},
		{"bad size", "trash: {max_bytes: lots}\n", nil, "config.yaml:1:20: trash.max_bytes"},
		{"bad notify", "approval: {notify: [drums]}\n", nil, "drums"},
		{"broken", "approval: {notify: [", nil, "config.yaml"},
		{"two documents", "log_level: info\n---\nlog_level: warn\n", nil, "more than one document"},
		{"a list", "- 1\n", nil, "config.yaml:1"},
		{"levels in capitals", "log_level: INFO\nunreachable_behavior: Fail_Open\napproval: {via: AGENT, notify: [Bell]}\n", func(c *Config) {
			c.Unreachable, c.Approval.Via, c.Approval.Notify = "fail_open", "agent", []string{"bell"}
		}, ""},
		{"a warning", "log_level: Warning\n", func(c *Config) { c.LogLevel = "warn" }, ""},
		{"an error", "log_level: ' ERROR '\n", func(c *Config) { c.LogLevel = "error" }, ""},
		// It decides about no command: what does stays in force.
		{"no level", "unreachable_behavior: fail_open\nlog_level: loud\ntrash: {keep_days: 7}\n", func(c *Config) {
			c.Unreachable, c.Trash.KeepDays = "fail_open", 7
		}, `config.yaml:2:12: log_level: "loud" is none of debug, info, warn, error`},
		{"no level, and worse", "log_level: loud\ntrash: {keep_days: 0}\n", nil, "trash.keep_days"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			want := Default()
			if c.want != nil {
				c.want(&want)
			}
			got, err := Load(path)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("error %v, want %q", err, c.err)
			case err != nil && strings.Contains(err.Error(), "\n"):
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestLoadFileShapes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if c, err := Load(path); err != nil || !reflect.DeepEqual(c, Default()) {
		t.Errorf("missing: %+v, %v", c, err)
	}
	write := func(text string, mode os.FileMode) {
		os.RemoveAll(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(){
		"writable by others": func() { write("log_level: debug\n", 0o666) },
		"huge":               func() { write(strings.Repeat("# x\n", 300000), 0o600) },
		"a directory":        func() { os.RemoveAll(path); _ = os.Mkdir(path, 0o700) },
		"a loop":             func() { os.RemoveAll(path); _ = os.Symlink("config.yaml", path) },
	} {
		make()
		if c, err := Load(path); err == nil || !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "1024": 1024, "10GiB": 10 << 30, "1.5 MB": 1500000, "2k": 2048, "7B": 7} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "x", "-1", "1XB", "1e30GiB", "."} {
		if n, err := ParseSize(s); err == nil {
			t.Errorf("%q: %d", s, n)
		}
	}
}

func TestLocate(t *testing.T) {
	env := map[string]string{"HOME": "/h"}
	get := func(k string) string { return env[k] }
	if p, err := Locate(get); err != nil || p.Home != "/h/.safeshell" || p.Spool != "/h/.safeshell/spool" {
		t.Errorf("%+v, %v", p, err)
	}
	env["SAFESHELL_HOME"], env["SAFESHELL_SPOOL"] = "/s/", "/run/x"
	if p, err := Locate(get); err != nil || p.Rules != "/s/rules.yaml" || p.Spool != "/run/x" {
		t.Errorf("%+v, %v", p, err)
	}
	env["SAFESHELL_HOME"], env["HOME"] = "relative", "also"
	if p, err := Locate(get); err == nil && !filepath.IsAbs(p.Home) {
		t.Errorf("%+v", p)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("approval: {timeout_seconds: 3}\n"))
	f.Add([]byte("trash: {max_bytes: 10GiB}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	path := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
