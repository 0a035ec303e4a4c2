package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameTests: each test and scenario that a page names as its proof is there.
func TestDocsNameTests(t *testing.T) {
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*_test.go"} {
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
	pages, _ := filepath.Glob("docs/*.md")
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(b), -1) {
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
