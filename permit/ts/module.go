package ts

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed module
var module embed.FS

// Install lays the module out below cache and returns its directory, which is
// named by its content. What is there already is compared, and mended when it
// differs.
func Install(cache string) (string, error) {
	entries, err := module.ReadDir("module")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	files := make(map[string][]byte, len(entries))
	for _, e := range entries {
		b, err := fs.ReadFile(module, "module/"+e.Name())
		if err != nil {
			return "", err
		}
		files[e.Name()] = b
		fmt.Fprintf(sum, "%s %d\n%s", e.Name(), len(b), b)
	}
	dir := filepath.Join(cache, "ts-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for name, want := range files {
		path := filepath.Join(dir, name)
		if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, want) {
			continue
		}
		if err := replace(path, want); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// replace writes a file as a whole, so that another process that starts at the
// same time sees all of it.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(content); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
