package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"safeshell/eval"
)

// An rm in an inner shell is left to the shim below only where that shell will
// meet it: by PATH, or by start-up files that an agent's shell reads.
func TestShimsReached(t *testing.T) {
	const line = "bash -c 'rm -rf notes'"
	for _, c := range []struct {
		name    string
		made    bool   // the shims
		path    string // in front of the caller's PATH
		startup bool   // start-up files have the block
		layer   Layer
		seen    bool
	}{
		{"nothing is set up", false, "", false, Hook, false},
		{"only the links are there", true, "", false, Hook, false},
		{"only the links, by the wrapper", true, "", false, Wrapper, false},
		{"PATH", true, "SHIMS:", false, Hook, true},
		{"PATH, with a slash", true, "/nowhere:SHIMS/:", false, Hook, true},
		{"PATH, by the wrapper", true, "SHIMS:", false, Wrapper, true},
		{"PATH without the links", false, "SHIMS:", false, Hook, false},
		{"start-up files", true, "", true, Hook, true},
		{"start-up files, told by check", true, "", true, Check, true},
		{"start-up files that an inner shell does not read", true, "", true, Wrapper, false},
	} {
		w := newWorld(t)
		w.write(w.paths.Rules, "rules: []\n")
		w.write(filepath.Join(w.dir, "notes"), "nobody has this\n")
		w.env[1] = "PATH=" + strings.ReplaceAll(c.path, "SHIMS", w.paths.Shims) + "/usr/bin:/bin"
		if c.made {
			if err := os.MkdirAll(w.paths.Shims, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/opt/safeshell", filepath.Join(w.paths.Shims, "rm")); err != nil {
				t.Fatal(err)
			}
		}
		if c.startup {
			w.write(filepath.Join(w.paths.Home, "startup-files"), "\"/home/me/.bashrc\"\n")
		}
		req := w.line(line)
		req.Layer = c.layer
		v := w.gate().Judge(t.Context(), req)
		if seen := v.Action != eval.RequireApproval; seen != c.seen {
			t.Errorf("%s: %v %q", c.name, v.Action, v.Message)
		}
		if says := strings.Contains(v.Message, "safeshell init sets them up"); says != (!c.seen && !strings.HasPrefix(c.name, "PATH without")) {
			t.Errorf("%s: %q", c.name, v.Message)
		}
	}
}
