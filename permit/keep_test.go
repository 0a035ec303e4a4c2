package permit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"safeshell/config"
	"safeshell/internal/test/testdir"
)

// Where nothing can be held while a script runs, what it changed of what git runs
// is as before when it has ended, and what it wrote has another name.
func TestPutBack(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if _, ok := KernelSays(); !ok {
		t.Skip("this kernel has no Landlock, so nothing is kept")
	}
	top, err := filepath.EvalSymlinks(testdir.New(t))
	must(t, err)
	root := top + "/proj"
	must(t, os.MkdirAll(root, 0o755))
	git := func(args ...string) string {
		c := exec.Command("git", args...)
		c.Dir = root
		c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+top)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	must(t, os.RemoveAll(root+"/.git/info"))
	var c Confinement
	area, err := FindArea(root)
	must(t, err)
	c.Write = []string{root}
	c.keep(area, config.Paths{}, func(string) string { return "" }, true, nil)
	before := c.state()
	config, err := os.ReadFile(root + "/.git/config")
	must(t, err)
	evil := "[core]\n\tfsmonitor = \"touch " + top + "/ran; false\"\n"
	for f, text := range map[string]string{"config": evil, "hooks/post-index-change": "#!/bin/sh\ntouch " + top + "/ran\n", "info/attributes": "* filter=x\n", "commondir": "../evil\n", "config.worktree": evil} {
		must(t, os.WriteFile(root+"/.git/"+f, []byte(text), 0o755))
	}
	changed := putBack(before, false)
	for _, f := range []string{"config", "hooks/post-index-change", "info/attributes", "commondir", "config.worktree"} {
		if !slices.Contains(changed, root+"/.git/"+f) {
			t.Errorf("%s is not named: %q", f, changed)
		}
		if _, err := os.Stat(root + "/.git/" + f + aside); err != nil {
			t.Error(err)
		}
	}
	if now, _ := os.ReadFile(root + "/.git/config"); string(now) != string(config) {
		t.Errorf("config is %q", now)
	}
	git("status")
	if _, err := os.Stat(top + "/ran"); err == nil {
		t.Error("git status ran something")
	}
	if changed := putBack(before, false); len(changed) > 0 {
		t.Errorf("a second time: %q", changed)
	}
}
