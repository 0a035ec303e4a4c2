package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pages are the texts of all pages, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out[f] = string(b)
		}
	}
	return out
}

// TestDocsNameTests: each test and scenario that a page names as its proof is there.
func TestDocsNameTests(t *testing.T) {
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*_test.go", "*/*/*/*_test.go"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(b)
		}
	}
	named := regexp.MustCompile(`\b(Test[A-Z]\w+)(\*?)|\b([a-z]\w+\.txtar)\b`)
	for page, text := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			there := m[1] != "" && strings.Contains(tests.String(), "func "+m[1]+map[bool]string{true: "", false: "("}[m[2] == "*"])
			if m[3] != "" {
				_, err := os.Stat("testdata/script/" + m[3])
				there = err == nil
			}
			if !there {
				t.Errorf("%s names %s, which is not there", page, m[0])
			}
		}
	}
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// TestDocsLinks: what a page links to is there, down to the heading; and README
// leads to every page.
func TestDocsLinks(t *testing.T) {
	all := pages(t)
	reached := map[string]bool{"README.md": true}
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s is not there", page, m[1])
				continue
			}
			reached[to] = true
			if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s: %s has no heading %q", page, to, anchor)
			}
		}
	}
	for page := range all {
		if !reached[page] && !strings.HasPrefix(page, "docs/agents/") {
			t.Errorf("no page leads to %s", page)
		}
	}
}

// anchors are the names that a forge gives the headings of a page.
func anchors(page string) (out []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		out = append(out, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}

// TestDocsNameFiles: the places in the tree that CONTRIBUTING names are there, and
// docs/design.md names every package that commands flow through.
func TestDocsNameFiles(t *testing.T) {
	all := pages(t)
	for _, m := range regexp.MustCompile("`([a-z]\\w*/[\\w./-]+)`").FindAllStringSubmatch(all["CONTRIBUTING.md"], -1) {
		if _, err := os.Stat(m[1]); err != nil && !strings.ContainsAny(m[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && m[1] != "bin/safeshell" {
			t.Errorf("CONTRIBUTING.md names %s, which is not there", m[1])
		}
	}
	files, _ := filepath.Glob("*/*.go")
	for _, f := range files {
		dir := filepath.Dir(f)
		if !slices.Contains([]string{"bench", "chaos", "testdir"}, dir) && !strings.Contains(all["docs/design.md"], "| `"+dir+"` |") {
			t.Errorf("docs/design.md does not say what package %s holds", dir)
		}
	}
}

// TestDesignCited: a comment that cites a section of docs/design.md cites one that
// is there.
func TestDesignCited(t *testing.T) {
	page := pages(t)["docs/design.md"]
	cite := regexp.MustCompile(`docs/design\.md\s+(?://\s+)?"([^"]+)"`)
	seen := 0
	eachGoFile(t, func(path, text string) {
		for _, m := range cite.FindAllStringSubmatch(text, -1) {
			if seen++; !strings.Contains(page, "\n## "+m[1]+"\n") {
				t.Errorf("%s cites %q, which is no section of docs/design.md", path, m[1])
			}
		}
	})
	if seen == 0 {
		t.Error("nothing cites docs/design.md")
	}
}

// TestTroubleshootingQuotes: each message that docs/troubleshooting.md quotes is one
// that the program prints; `…` stands for what differs.
func TestTroubleshootingQuotes(t *testing.T) {
	var said strings.Builder
	eachGoFile(t, func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if s, ok := literal(e); ok {
					said.WriteString(strings.ReplaceAll(s, "\n", " ") + "\n")
					return false
				}
			}
			return true
		})
	})
	for _, pattern := range []string{"initscript/shell/*", "agents/*/*"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			b, _ := os.ReadFile(f)
			said.Write(b)
		}
	}
	quotes := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(pages(t)["docs/troubleshooting.md"], -1)
	if len(quotes) == 0 {
		t.Error("docs/troubleshooting.md quotes nothing")
	}
	for _, m := range quotes {
		parts := strings.Split(m[1], "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(strings.TrimSpace(parts[i]))
		}
		if !regexp.MustCompile(strings.Join(parts, ".*")).MatchString(said.String()) {
			t.Errorf("nothing prints %q", m[1])
		}
	}
}

// literal is the value of a string literal, or of several joined by +, with `…` for
// what is no literal among them.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.BinaryExpr:
		x, ok := literal(e.X)
		y, also := literal(e.Y)
		return x + y, ok || also
	}
	return "…", false
}

func eachGoFile(t *testing.T, do func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		b, err := os.ReadFile(path)
		do(path, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
