package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"safeshell/config/yamltree"
)

// The lean program has YAML read by the second one: each text gives the same tree,
// or the same fault at the same place, as the library linked into this test.
func TestYAMLThroughSecondProgram(t *testing.T) {
	texts := []string{"", "---\n", "null\n", "a: [1, ~, true, 'x', \"y\\n\"]\n", "&a b: *a\n", "!!str 5\n", "a: 1\n---\nb: 2\n", "\ttab: 1\n",
		"a: \xff\n", "a: \"\\0\"\n", strings.Repeat("[", 200), "{a: {b: {c: [d, {e: f}]}}}\n", "# only\n", "a: |\n  long\n   text\n"}
	packs, err := filepath.Glob("eval/packs/*.yaml")
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, p := range packs {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if _, err := yamltree.Ask(binary, nil); err != nil {
		t.Skipf("%s carries no second program: %v", binary, err)
	}
	for _, text := range texts {
		want, wantErr := yamltree.Parse([]byte(text))
		got, gotErr := yamltree.Ask(binary, []byte(text))
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
			t.Errorf("%.60q:\n got %+v, %v\nwant %+v, %v", text, got, gotErr, want, wantErr)
		}
	}
}

// What cannot be asked is no fault of the file.
func TestYAMLWithoutSecondProgram(t *testing.T) {
	for _, exe := range []string{"/bin/true", "/bin/false", filepath.Join(t.TempDir(), "gone")} {
		n, err := yamltree.Ask(exe, []byte("a: 1\n"))
		var fault *yamltree.Fault
		if err == nil || errors.As(err, &fault) || n != nil {
			t.Errorf("%s: %v, %v", exe, n, err)
		}
	}
	if err := yamltree.Serve(bytes.NewReader([]byte("a: 1\n")), &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}
