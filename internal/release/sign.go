package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sign writes SHA256SUMS over all that is there, and its signature by the key
// that MINISIGN_KEY names. docs/verify.md says how both are checked.
func (r *release) sign() error {
	var sums strings.Builder
	err := filepath.WalkDir(r.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == r.work {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		name, err := filepath.Rel(r.out, path)
		if err != nil {
			return err
		}
		sum, err := sumOf(path)
		fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		return err
	})
	if err != nil {
		return err
	}
	path := filepath.Join(r.out, "SHA256SUMS")
	if err := os.WriteFile(path, []byte(sums.String()), 0o644); err != nil {
		return err
	}
	return r.signature(path, path+".minisig")
}

// key tries the key before anything is built, and says if there is none.
func (r *release) key() error {
	if os.Getenv("MINISIGN_KEY") == "" {
		fmt.Fprintln(os.Stderr, "release: NOT SIGNED: nobody can tell this release from another's; sign it with: make release VERSION="+r.version+" MINISIGN_KEY=file (the key's password in MINISIGN_PASSWORD)")
	}
	return r.signature("LICENSE", filepath.Join(r.work, "trial"))
}

// signature signs a file, if there is a key. It holds no time: the same release has
// the same.
func (r *release) signature(path, to string) error {
	key := os.Getenv("MINISIGN_KEY")
	if key == "" {
		return nil
	}
	c := r.tool("minisign", "-S", "-s", key, "-m", path, "-x", to, "-t", "safeshell "+r.version, "-c", "signature of safeshell "+r.version)
	c.Stdin = strings.NewReader(os.Getenv("MINISIGN_PASSWORD") + "\n")
	if err := perform(c); err != nil {
		return fmt.Errorf("%s does not sign (MINISIGN_KEY is the secret key's file, MINISIGN_PASSWORD its password): %w", key, err)
	}
	return nil
}
