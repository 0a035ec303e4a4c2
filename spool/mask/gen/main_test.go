package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The table is what the kept facts make.
func TestTableIsFresh(t *testing.T) {
	facts, err := os.ReadFile("../gitleaks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(facts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table.go is not what gitleaks.tsv makes; run: go generate ./spool/mask")
	}
}

// The facts are those of the pinned release, where that can be had without a
// network.
func TestFactsAreThoseOfTheRelease(t *testing.T) {
	c := exec.Command("go", "mod", "download", "-json", source)
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := c.Output()
	var m struct{ Dir string }
	if err != nil || json.Unmarshal(out, &m) != nil || m.Dir == "" {
		t.Skipf("%s is not in the module cache; to have it: go mod download %s", source, source)
	}
	toml, err := os.ReadFile(filepath.Join(m.Dir, "config", "gitleaks.toml"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := factsFrom(toml)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../gitleaks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("gitleaks.tsv is not what the release says; run: go run ./gen -update, in spool/mask")
	}
}

// Each rule of the kept set comes out as a shape, or is named as covered elsewhere.
func TestEveryRuleIsUsed(t *testing.T) {
	facts, err := os.ReadFile("../gitleaks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	fs, err := parseFacts(facts)
	if err != nil || len(fs) < 200 {
		t.Fatalf("%d rules, %v", len(fs), err)
	}
	table, err := generate(facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		short := context.MatchString(f.regex) // perhaps too short to be sure of
		if !elsewhere[f.id] && !short && !bytes.Contains(table, []byte("// "+f.id+"\n")) {
			t.Errorf("%s is in no table", f.id)
		}
	}
}
