package cli

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// TestDocsCommandLines: every command line of safeshell that a page shows is one
// that the grammar takes. A word in capitals, and `...`, stand for a value.
func TestDocsCommandLines(t *testing.T) {
	pages, _ := filepath.Glob("../*.md")
	_ = filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return nil
	})
	seen := 0
	for _, page := range pages {
		if filepath.Base(page) == "CHANGELOG.md" {
			continue // it tells of mistakes in calls, too
		}
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shownLines(string(b)) {
			for _, args := range calls(line) {
				seen++
				if err := parses(args); err != nil {
					t.Errorf("%s: %s: %v", page, line, err)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d command lines were found", seen)
	}
}

var (
	fence  = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	inline = regexp.MustCompile("`((?:eval \"\\$\\()?safeshell [^`]*)`")
	usage  = regexp.MustCompile(`\[[^]]*\]|\.\.\.|…`)
)

// shownLines are the lines of a page that may be typed.
func shownLines(page string) (lines []string) {
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		if !slices.Contains([]string{"", "sh", "console", "fish"}, m[1]) {
			continue
		}
		for line := range strings.Lines(m[2]) {
			if line = strings.TrimSpace(line); m[1] != "console" || strings.HasPrefix(line, "$ ") {
				lines = append(lines, strings.TrimPrefix(line, "$ "))
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// calls are the arguments of each call of safeshell in a line.
func calls(line string) (out [][]string) {
	for range 2 { // `[-n [PATH]]`
		line = usage.ReplaceAllString(line, "")
	}
	f, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil // no shell: a message, a table, a frame
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "safeshell" {
			return true
		}
		var args []string
		for _, w := range call.Args[1:] {
			args = append(args, plain(w))
		}
		out = append(out, args)
		return true
	})
	return out
}

// plain is a word without its quotes; what only a shell knows is a VALUE.
func plain(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		default:
			b.WriteString("VALUE")
		}
	}
	return b.String()
}

func parses(args []string) error {
	if args[0] == "-c" || args[0] == "-lc" || args[0] == "help" {
		return nil // a shell's options, not the grammar's
	}
	exited := false
	defer func() {
		if r := recover(); r != nil && !exited {
			panic(r)
		}
	}()
	k, err := newParser(io.Discard, io.Discard, func(int) { exited = true; panic(exitPanic{}) })
	if err == nil {
		_, err = k.Parse(args)
	}
	if err != nil && strings.HasPrefix(err.Error(), "expected ") {
		return nil // a command named without its values
	}
	return err
}
