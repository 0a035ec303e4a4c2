package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Go text in the tree is that of the stanzas.
func TestGenerated(t *testing.T) {
	want, err := generate("../specs")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../specs.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("command/specs.go is stale: run go generate ./command (%v)", err)
	}
}

// A mistake in a stanza is named with its place.
func TestMistakes(t *testing.T) {
	for stanza, want := range map[string]string{
		"a:\n  optoins: -x\n":                       "optoins",
		"a:\n  syntax: stop\n":                      `"stop" is not known`,
		"a:\n  options: [-x]\n":                     "write words",
		"a:\n  options: x\n":                        `"x" is no option`,
		"a b: {}\nb: {}\n":                          "a second stanza for b",
		"a:\n  runs: {how: eats}\n":                 `"eats" is not known`,
		"a:\n  subcommands:\n    b: {options: y}\n": `"y" is no option`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(stanza), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := generate(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml") {
			t.Errorf("%q: %v, want %q", stanza, err, want)
		}
	}
}
