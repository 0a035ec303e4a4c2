// Command gen turns the kept facts about tokens (see facts.go) into the table
// that package mask reads. With -update it takes the facts anew from the pinned
// release of gitleaks, through the Go module proxy.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// source is where the facts come from: a kept rule set under the MIT licence
// (see NOTICE at the top of this repository).
const source = "github.com/zricethezav/gitleaks/v8@v8.30.1"

func main() {
	update := flag.Bool("update", false, "take the facts anew from "+source)
	flag.Parse()
	if err := run(*update, "gitleaks.tsv", "table.go"); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(update bool, facts, table string) error {
	if update {
		toml, err := fetch()
		if err != nil {
			return err
		}
		text, err := factsFrom(toml)
		if err != nil {
			return err
		}
		if err := os.WriteFile(facts, text, 0o644); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(facts)
	if err != nil {
		return err
	}
	code, err := generate(text)
	if err != nil {
		return err
	}
	return os.WriteFile(table, code, 0o644)
}

// fetch is the rule set of the pinned release.
func fetch() ([]byte, error) {
	var out, errs bytes.Buffer
	c := exec.Command("go", "mod", "download", "-json", source)
	c.Stdout, c.Stderr, c.Dir = &out, &errs, os.TempDir()
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GO111MODULE=on")
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("go mod download %s: %w\n%s%s", source, err, &out, &errs)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(m.Dir, "config", "gitleaks.toml"))
}
