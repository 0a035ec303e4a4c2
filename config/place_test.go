package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every kind of mistake is named with the line and column that it stands on.
func TestPlaces(t *testing.T) {
	long := strings.Repeat("# a line\n", 5000)
	for _, c := range []struct{ text, want string }{
		{"condition_timeout_ms: fast\n", `1:23: condition_timeout_ms: write a whole number, not "fast"`},
		{"log_level: info\napproval: 5\n", `2:11: approval: write keys and values below it, not "5"`},
		{"approval:\n  notify: bell\n", `2:11: approval.notify: write a list, for example [a, b], not "bell"`},
		{"approval:\n  notify: [bell, [desktop]]\n", `2:18: approval.notify: write one value, not a list`},
		{"approval: {timeout_seconds: soon}\n", `1:29: approval.timeout_seconds: write a number, not "soon"`},
		{"permissions: {strict_paths: yes please}\n", `1:29: permissions.strict_paths: write true or false, not "yes please"`},
		{"trash: {keep_day: 3}\n", `1:9: unknown key "keep_day"; known here: keep_days, max_bytes`},
		{"- a\n", `1:1: write keys and values below it, not a list`},
		{"log_level: info\nlog_level: warn\n", `2:1: mapping key "log_level" already defined at line 1`},
		{"\ttab: 1\n", `1:1: found character that cannot start any token`},
		{"log_level: info\n\n  trash: 1\n", `3:3: mapping values are not allowed in this context`},
		{"approval:\n  timeout_seconds: 300\n trash: 1\n", `3:2: did not find expected key`},
		{"# x\npermissions:\n  commands: [a,\n    b\nlog_level: info\n", `3:3: did not find expected ',' or ']'`},
		{"log_level: info\ndelegate_shell: \"/bin/bash\ntrash: {keep_days: 3}\n", `2:1: found unexpected end of stream`},
		{"log_level: info\ndelegate_shell: *x\n", `2:17: unknown anchor 'x' referenced`},
		{"log_level: info\n---\nlog_level: warn\n", `2:1: holds more than one document; keep one`},
		{long + "approval:\n  via: agent\n trash: 1\n" + long, `5003:2: did not find expected key`},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err == nil {
			t.Errorf("%.60q: no error: %+v", c.text, got)
			continue
		}
		if msg, want := strings.TrimPrefix(err.Error(), path+":"), c.want; msg != want {
			t.Errorf("%.60q:\n got %s\nwant %s", c.text, msg, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "null\n", "approval:\n", "approval: {notify: }\n", "trash: {max_bytes: 1000}\n", "permissions: {commands: [curl, 5]}\n"} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
