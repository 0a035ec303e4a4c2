package eval

import (
	"bytes"
	"testing"
)

// packs.bin is made from the YAML files; `go generate ./eval` makes it anew.
func TestPacksCompiled(t *testing.T) {
	want, err := CompilePacks()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(packsCompiled)) {
		t.Fatal("packs.bin differs from packs/*.yaml; run: go generate ./eval")
	}
}

// Every built-in rule has examples on both sides, and they hold.
func TestPackExamples(t *testing.T) {
	w := newWorld(t)
	r, _ := w.rules()
	rep := r.Test()
	for _, f := range rep.Failures {
		t.Error(f)
	}
	packs, err := parsePacks()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range packs {
		if x.context == Human {
			continue
		}
		if len(x.examples.match) == 0 || len(x.examples.noMatch) == 0 {
			t.Errorf("rule %s lacks examples on one side", x.name)
		}
	}
	if rep.Rules < 150 || rep.Examples < 600 {
		t.Errorf("%d rules, %d examples: some are not run", rep.Rules, rep.Examples)
	}
}
