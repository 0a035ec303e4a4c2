package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"safeshell/config"
	"safeshell/eval"
	"safeshell/testdir"
)

// Every link and every scenario that a guide names is there.
func TestDocsNameWhatExists(t *testing.T) {
	files, _ := filepath.Glob("docs/*.md")
	agents, _ := filepath.Glob("docs/agents/*.md")
	files = append(append(files, agents...), "README.md", "CHANGELOG.md")
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	scenario := regexp.MustCompile(`testdata/script/[a-z_0-9]+\.txtar`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(f), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", f, m[1])
			}
		}
		for _, s := range scenario.FindAllString(string(b), -1) {
			if _, err := os.Stat(s); err != nil {
				t.Errorf("%s names %s, which is not there", f, s)
			}
		}
	}
}

// Each line of the residual risks has a test that shows the truth, and each
// dependency its reason in the README.
func TestDocsAreWhole(t *testing.T) {
	risks, err := os.ReadFile("docs/residual-risk.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(risks), "\n") {
		if strings.HasPrefix(l, "| ") && !strings.HasPrefix(l, "| What") && strings.Count(l, "`") < 2 {
			t.Errorf("no test stands beside: %.80s", l)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	for _, m := range direct.FindAllStringSubmatch(string(mod), -1) {
		name := strings.TrimPrefix(strings.TrimPrefix(m[1], "charm.land/"), "github.com/")
		short := strings.TrimPrefix(strings.TrimPrefix(name, "charmbracelet/"), "golang.org/")
		if !strings.Contains(string(readme), name) && !strings.Contains(string(readme), short) {
			t.Errorf("the README's table has no reason for %s", m[1])
		}
	}
}

// The rules that the guides show are good ones: they lint, fire on their own
// examples, and advise nothing that is stopped.
func TestDocsShowGoodRules(t *testing.T) {
	block := regexp.MustCompile("(?s)```yaml\n((?:# [^\n]*\n)?(?:rules|overrides):\n.*?)```")
	for _, f := range []string{"README.md", "docs/rules.md"} {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found := block.FindAllStringSubmatch(string(b), -1)
		if len(found) == 0 {
			t.Errorf("%s shows no rules", f)
		}
		for _, m := range found {
			home := testdir.New(t)
			paths, err := config.Locate(func(name string) string {
				return map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}[name]
			})
			if err != nil {
				t.Fatal(err)
			}
			paths.System = filepath.Join(home, "none.yaml")
			if err := os.MkdirAll(paths.Home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(paths.Rules, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, p := range eval.Lint(paths, paths.Rules) {
				t.Errorf("%s: %s", f, p)
			}
			r, problems := eval.Open(eval.Options{Paths: paths})
			for _, p := range problems {
				t.Errorf("%s: %s", f, p)
			}
			rep := r.Test(home)
			for _, p := range rep.Failures {
				if strings.Contains(p, paths.Rules) {
					t.Errorf("%s: %s", f, p)
				}
			}
			if len(rep.Untested) > 0 {
				t.Errorf("%s: without an example: %v", f, rep.Untested)
			}
		}
	}
}
