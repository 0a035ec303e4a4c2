package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"safeshell/agents"
	"safeshell/initscript"
	"safeshell/shims"
)

// checkVersions says where what shells and agents call is not this safeshell.
func (a *app) checkVersions() (fs []finding) {
	link, again := shims.Link(a.paths.Home), shellWord(self())+" init"
	to, here, gone := a.linked()
	switch {
	case to == "":
		if _, err := os.Lstat(a.paths.Shims); err == nil {
			fs = append(fs, finding{"fail", "there is no " + link + ", which shims and hooks call", again})
		}
	case gone:
		fs = append(fs, finding{"fail", fmt.Sprintf("nothing is judged: shims and hooks lead to %s, which is gone", to), again})
	case !here:
		fs = append(fs, finding{"warn", fmt.Sprintf("shims and hooks lead to %s (%s), this is %s (%s)", to, versionOf(link), self(), Version), again})
	default:
		fs = append(fs, finding{"ok", fmt.Sprintf("shims and hooks lead to this safeshell, %s, by %s", Version, to), ""})
	}
	for _, dir := range []string{a.paths.Shims, a.paths.Shell} {
		for target, n := range elsewhere(dir, link) {
			text := fmt.Sprintf("links in %s that lead to %s, not to %s: %d", dir, target, link, n)
			if _, err := os.Stat(target); err != nil {
				fs = append(fs, finding{"fail", text + "; that is gone, and these commands are not judged", "safeshell refresh"})
			} else if !sameVersion(target, link) {
				fs = append(fs, finding{"warn", text + " (" + versionOf(target) + ")", "safeshell refresh"})
			}
		}
	}
	return append(append(fs, a.checkHooks(link)...), a.checkOthers(link)...)
}

// elsewhere counts the links of safeshell's in dir that do not lead to link, by
// where they lead.
func elsewhere(dir, link string) map[string]int {
	out := map[string]int{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil && to != link && strings.HasPrefix(filepath.Base(to), "safeshell") {
			out[to]++
		}
	}
	return out
}

// checkHooks looks at the programs that agents' hooks call.
func (a *app) checkHooks(link string) (fs []finding) {
	for _, h := range agents.CalledPrograms(a.agentsEnv()) {
		fix := "safeshell agents install " + h.Agent
		if h.Project {
			fix = "cd " + shellWord(h.Dir) + " && " + fix + " --project"
		}
		switch _, err := os.Stat(h.Program); {
		case h.Program == link:
		case os.IsNotExist(err):
			fs = append(fs, finding{"fail", fmt.Sprintf("the hook of %s in %s calls %s, which is gone", h.Agent, h.File, h.Program), fix})
		case err == nil && !sameVersion(h.Program, link):
			fs = append(fs, finding{"warn", fmt.Sprintf("the hook of %s in %s calls %s (%s)", h.Agent, h.File, h.Program, versionOf(h.Program)), fix})
		}
	}
	return fs
}

// npmLauncher is the script by which the npm package starts the program.
var npmLauncher = regexp.MustCompile(`/node_modules/safeshell/.*\.js$`)

// checkOthers looks for other safeshells in PATH.
func (a *app) checkOthers(link string) (fs []finding) {
	var seen []string
	for _, d := range filepath.SplitList(a.getenv("PATH")) {
		p := filepath.Join(d, "safeshell")
		fi, err := os.Stat(p)
		if err != nil || !filepath.IsAbs(d) || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 || filepath.Clean(d) == a.paths.Shims {
			continue
		}
		if slices.ContainsFunc(append(seen, link, self()), func(q string) bool { return sameVersion(p, q) }) {
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil && npmLauncher.MatchString(real) && versionOf(p) == visible(Version) {
			continue
		}
		seen = append(seen, p)
		fs = append(fs, finding{"warn", fmt.Sprintf("another safeshell is in PATH: %s (%s)", p, versionOf(p)), "remove one of them, or let that one judge: " + shellWord(p) + " init"})
	}
	return fs
}

// versionOf asks a safeshell, of any version, for its own.
func versionOf(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, path, "version", "--json")
	c.WaitDelay = time.Second
	out, err := c.Output()
	var b build
	if err != nil || len(out) == 0 {
		return "which does not say its version"
	}
	if json.Unmarshal(out, &b) == nil && b.Version != "" {
		return visible(b.Version)
	}
	first, _, _ := strings.Cut(string(out), "\n") // before there was --json
	return visible(cmp.Or(strings.TrimPrefix(first, "safeshell "), "an unknown version"))
}

// checkSetUp says what only a person sets up again after an upgrade: start-up
// files and hooks that this version would write otherwise.
func (a *app) checkSetUp() (fs []finding) {
	plan, _ := initscript.Plan(a.initEnv(), a.initParams())
	if slices.ContainsFunc(plan, func(c initscript.Change) bool { return c.Kind == initscript.Update }) {
		fs = append(fs, finding{"warn", "the blocks in start-up files are of another version", "safeshell init"})
	}
	env, old := a.agentsEnv(), map[string]bool{}
	for _, ag := range agents.All() {
		st := agents.Status(env, ag, agents.InstallOptions{Binary: env.Binary, TimeoutSeconds: hookTimeout(0, env.Approval)})
		if st.Installed && !st.Current && st.Err == nil {
			old[ag.Name] = true
		}
	}
	if len(old) > 0 {
		fs = append(fs, finding{"warn", "hooks of another version or place", "safeshell agents install " + strings.Join(slices.Sorted(maps.Keys(old)), " ")})
	}
	return fs
}
