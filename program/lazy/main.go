// Command lazy writes a workspace for building the lean program, in which
// libraries compile their regular expressions when they first use them and not
// at the start of every process that links them. Nothing else of them changes,
// and a plain `go build` does not know of it.
//
//	go run ./program/lazy DIR        then: GOWORK=DIR/go.work go build ...
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// libraries are the modules that a shim links, and how many expressions each
// compiles at its start. Another number means another version: then look at
// what it does with them before this goes on.
var libraries = []struct {
	module string
	count  int
}{{"go.yaml.in/yaml/v3", 2}, {"mvdan.cc/sh/v3", 2}}

// atStart finds an expression that is compiled at start. Only those of one
// package are made lazy that the lean program links.
var atStart = regexp.MustCompile("(?m)^(var |\t)(\\w+ += )regexp\\.MustCompile\\((`[^`\n]*`)\\)$")

// packages of the modules whose expressions count, by directory in the module.
var packages = map[string]bool{".": true, "fileutil": true, "syntax": true}

const lazyType = `

type lazyRegexp struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

func (l *lazyRegexp) get() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.text) })
	return l.re
}

func (l *lazyRegexp) MatchString(s string) bool       { return l.get().MatchString(s) }
func (l *lazyRegexp) FindSubmatch(b []byte) [][]byte { return l.get().FindSubmatch(b) }
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./program/lazy DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "lazy:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	self, err := output("go", "list", "-m", "-f", "{{.GoVersion}} {{.Dir}}", "safeshell")
	if err != nil {
		return err
	}
	version, root, _ := strings.Cut(self, " ")
	work := fmt.Sprintf("go %s\n\nuse %q\n", version, root)
	for i, l := range libraries {
		from, err := output("go", "list", "-m", "-f", "{{.Dir}}", l.module)
		if err != nil {
			return err
		}
		if from == "" {
			return fmt.Errorf("%s is not here; run: go mod download %s", l.module, l.module)
		}
		name := fmt.Sprintf("lib%d", i)
		n, err := copyModule(from, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if n != l.count {
			return fmt.Errorf("%s compiles %d expressions at start and not %d: look at them, then change program/lazy", l.module, n, l.count)
		}
		work += fmt.Sprintf("\nreplace %s => ./%s\n", l.module, name)
	}
	return write(filepath.Join(dir, "go.work"), []byte(work))
}

// copyModule copies the packages of a module and returns how many expressions
// it has made lazy.
func copyModule(from, to string) (count int, err error) {
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || !(strings.HasSuffix(path, ".go") || d.Name() == "go.mod") {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pkg := filepath.Dir(rel)
		if found := atStart.FindAll(data, -1); packages[pkg] && len(found) > 0 {
			count += len(found)
			data = atStart.ReplaceAll(data, []byte("${1}${2}lazyRegexp{text: ${3}}"))
			data = append(data, "\nvar _ *regexp.Regexp // the import\n"...)
			head := []byte("package " + packageName(data) + "\n\nimport (\n\t\"regexp\"\n\t\"sync\"\n)" + lazyType)
			if err := write(filepath.Join(to, pkg, "lazy.go"), head); err != nil {
				return err
			}
		}
		return write(filepath.Join(to, rel), data)
	})
	return count, err
}

func packageName(src []byte) string {
	m := regexp.MustCompile(`(?m)^package (\w+)`).FindSubmatch(src)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// write leaves a file alone that is as it should be, so that nothing is built
// again for it.
func write(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func output(argv ...string) (string, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = append(os.Environ(), "GOWORK=off")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
