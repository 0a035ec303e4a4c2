package config

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzCached: a damaged cache is never taken for the file's content, and never
// stops the file from being read.
func FuzzCached(f *testing.F) {
	dir := f.TempDir()
	path, name := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "config.json")
	if err := os.WriteFile(path, []byte("log_level: debug\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "{}", "null", "[]", `{"V":1}`, `{"V":99,"Path":"/x"}`, "\xff", `{"ID":[1,2,3,4,5,6]}`, `{"Config":{"LogLevel":7}}`} {
		f.Add([]byte(s))
	}
	want, err := Load(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, ok := readCached(name); ok && c.ID != [5]int64{} {
			if id, fine := fileID(path); fine && c.ID == id {
				return // it names this very file: a cache is as private as the file itself
			}
		}
		if got, err := LoadCached(path, dir); err != nil || got.LogLevel != want.LogLevel {
			t.Errorf("%q: %+v, %v", data, got, err)
		}
	})
}
