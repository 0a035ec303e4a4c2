package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What a shim links costs time at the start of every guarded command, so the
// hot path must not reach these (each with its reason).
var forbiddenOnHotPath = map[string]string{
	"safeshell/cli":                   "the command line's words",
	"safeshell/monitor":               "the monitor",
	"safeshell/mcp":                   "the MCP server",
	"github.com/alecthomas/kong":      "0.3 ms when linked",
	"charm.land/":                     "bubbletea, huh and lipgloss: 0.5 ms of package inits",
	"github.com/charmbracelet/":       "version 1 of these queries the terminal in init",
	"github.com/mattn/go-runewidth":   "fills a table of all characters in init: tens of milliseconds",
	"github.com/atotto/clipboard":     "searches PATH in init",
	"github.com/modelcontextprotocol": "0.6 ms and 6 MB",
	"text/template":                   "keeps every method of the program alive",
	"crypto/tls":                      "large, and nothing here speaks it",
	"log/slog":                        "messages are written as they are",
	"net/http":                        "large, and nothing here speaks it",
	"crypto/rand":                     "a generator of its own, and big numbers; the kernel's will do",
	"net/netip":                       "its start: 0.04 floors (net/url brings it)",
	"net":                             "brings net/netip and more that starts; sockets by bare system calls will do",
	"debug/elf":                       "decompression and debugging tables",
	"math/big":                        "a large package that computes tables when it starts",
	"testing":                         "test code in the program",
	"go.yaml.in/yaml/v3":              "0.05 floors for its regular expressions; the second program reads YAML",
}

func TestHotPathImports(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only linux has two programs")
	}
	deps := goList(t, "-deps", "-tags", "split", "./shims", "./front")
	for _, d := range deps {
		if d == "safeshell/mcp/supervise" {
			continue // the lean part of the server, which links nothing of it
		}
		for bad, why := range forbiddenOnHotPath {
			if d == bad || strings.HasPrefix(d, strings.TrimSuffix(bad, "/")+"/") {
				t.Errorf("shims must not import %s (%s)", d, why)
			}
		}
	}
}

// Lower packages know nothing of higher ones (docs/design.md "Packages").
func TestPackageOrder(t *testing.T) {
	order := []string{"cli", "front", "agents", "mcp", "monitor", "initscript", "permit", "shims", "gate", "spool", "eval", "script", "command", "gitrepo", "trash", "config"}
	rank := map[string]int{}
	for i, p := range order {
		rank["safeshell/"+p] = i
	}
	for p, r := range rank {
		if _, err := os.Stat(strings.TrimPrefix(p, "safeshell/")); err != nil {
			continue
		}
		for _, imp := range goList(t, "-f", "{{join .Imports \"\\n\"}}", p) {
			if ri, ok := rank[imp]; ok && ri < r {
				t.Errorf("%s imports %s, which is above it", p, imp)
			}
		}
	}
}

// No package does work in init, and each says in its comment what it is for.
func TestPackageHygiene(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if n := d.Name(); path != "." && (strings.HasPrefix(n, ".") || n == "testdata" || n == "bin" || n == "node_modules") {
			return filepath.SkipDir
		}
		files, _ := filepath.Glob(filepath.Join(path, "*.go"))
		documented, code := false, 0
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			code++
			ast, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			documented = documented || ast.Doc.Text() != ""
			src, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			if strings.Contains(string(src), "\nfunc init()") {
				t.Errorf("%s has an init function; pass what it sets up instead", f)
			}
		}
		if code > 0 && !documented {
			t.Errorf("package %s has no comment that says what it guarantees", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not in PATH")
	}
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}
