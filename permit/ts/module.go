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

	"safeshell/config"
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
		if err := config.Replace(path, want, false); err != nil {
			return "", err
		}
	}
	return dir, nil
}
