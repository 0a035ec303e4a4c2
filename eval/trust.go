package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
)

// trustedFiles are the files of a directory that a human may trust.
var trustedFiles = [...]string{filepath.Join(".safeshell", "rules.yaml"), filepath.Join(".safeshell", "permissions.yaml")}

// TrustEntry is one trusted content.
type TrustEntry struct {
	File    string    // absolute path
	Since   time.Time // when it was trusted
	Current bool      // the file still has this content
}

// ErrNothingToTrust says that a directory has no file that needs trust.
var ErrNothingToTrust = errors.New("nothing to trust")

// TrustDirs returns the directories whose files count in dir: those from its
// repository's root down to it, without links in their names. Outside a
// repository only dir itself.
func TrustDirs(p config.Paths, dir string) ([]string, error) {
	root, err := realDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		root, err = filepath.Abs(dir)
		return []string{root}, err
	}
	if err != nil {
		return nil, err
	}
	r := &Rules{o: Options{Paths: p}, dirs: map[string]dirInfo{}}
	top := r.gitTopOf(root)
	if top == "" {
		top = root
	}
	var out []string
	for _, d := range between(top, root) {
		if d+"/.safeshell" != p.Home && !r.isGlobal(filepath.Join(d, trustedFiles[0])) {
			out = append(out, d)
		}
	}
	return out, nil
}

// Trust marks the present content of the .safeshell/rules.yaml and
// permissions.yaml that count in dir as trusted. An edit of a file ends its
// trust. Where a file has errors none is trusted: the error is a Problem's text.
func Trust(p config.Paths, dir string) ([]TrustEntry, error) {
	dirs, err := TrustDirs(p, dir)
	if err != nil {
		return nil, err
	}
	type content struct {
		file string
		data []byte
	}
	var found []content
	for _, d := range dirs {
		for _, name := range trustedFiles {
			file := filepath.Join(d, name)
			data, _, err := readSource(file, fromRepo)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				var fe *fileError
				if errors.As(err, &fe) && fe.fix != "" {
					return nil, fmt.Errorf("%s %w; %s", file, err, fe.fix)
				}
				return nil, fmt.Errorf("%s %w", file, err)
			}
			if strings.HasSuffix(name, "rules.yaml") {
				if _, problems := parseRules(file, data, fromRepo); len(problems) > 0 {
					return nil, errors.New(problems[0].String())
				}
			}
			found = append(found, content{file, data})
		}
	}
	if len(found) == 0 {
		at, _ := filepath.Abs(dir)
		return nil, fmt.Errorf("%w: there is no .safeshell/rules.yaml and no .safeshell/permissions.yaml in %s, nor above it in its repository", ErrNothingToTrust, at)
	}
	if err := os.MkdirAll(p.Trust, 0o700); err != nil {
		return nil, err
	}
	var out []TrustEntry
	for _, c := range found {
		now := time.Now()
		text := c.file + "\n" + now.UTC().Format(time.RFC3339) + "\n"
		if err := config.Replace(filepath.Join(p.Trust, trustKey(c.file, c.data)), []byte(text), true); err != nil {
			return out, err
		}
		out = append(out, TrustEntry{File: c.file, Since: now, Current: true})
	}
	return out, nil
}

// Untrust ends the trust in all files that count in dir, whatever content was
// trusted, also when the directory is gone. It returns what was removed.
func Untrust(p config.Paths, dir string) ([]TrustEntry, error) {
	dirs, err := TrustDirs(p, dir)
	if err != nil {
		return nil, err
	}
	var out []TrustEntry
	err = eachTrust(p, func(name string, e TrustEntry) error {
		for _, d := range dirs {
			for _, f := range trustedFiles {
				if e.File != filepath.Join(d, f) {
					continue
				}
				if err := os.Remove(filepath.Join(p.Trust, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				out = append(out, e)
			}
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		at, _ := filepath.Abs(dir)
		err = fmt.Errorf("no file in %s is trusted", at)
	}
	return out, err
}

// Trusted reports whether this content of this file (absolute path, no
// symlinks in its directory) is trusted.
func Trusted(p config.Paths, file string, content []byte) bool {
	return trustedKey(p, trustKey(file, content))
}

// TrustList returns all trusted contents, by file name.
func TrustList(p config.Paths) ([]TrustEntry, error) {
	var out []TrustEntry
	err := eachTrust(p, func(name string, e TrustEntry) error {
		if data, _, err := readSource(e.File, fromRepo); err == nil {
			e.Current = trustKey(e.File, data) == name
		}
		out = append(out, e)
		return nil
	})
	sort.Slice(out, func(i, j int) bool { return out[i].File < out[j].File })
	return out, err
}

// trustedKey reports whether the mark exists and is the user's own.
func trustedKey(p config.Paths, key string) bool {
	if key == "" || p.Trust == "" {
		return false
	}
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(p.Trust, key), &st) != nil {
		return false
	}
	return st.Mode&unix.S_IFMT == unix.S_IFREG && int(st.Uid) == os.Geteuid() && st.Mode&0o022 == 0
}

func eachTrust(p config.Paths, f func(name string, e TrustEntry) error) error {
	entries, err := os.ReadDir(p.Trust)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, de := range entries {
		if len(de.Name()) != 64 || !de.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(p.Trust, de.Name()))
		if err != nil {
			continue
		}
		// The path comes first and may hold newlines; the time is the last line.
		text := bytes.TrimSuffix(data, []byte("\n"))
		i := bytes.LastIndexByte(text, '\n')
		if i < 0 {
			continue
		}
		since, _ := time.Parse(time.RFC3339, string(text[i+1:]))
		if err := f(de.Name(), TrustEntry{File: string(text[:i]), Since: since}); err != nil {
			return err
		}
	}
	return nil
}

// realDir returns the absolute path of a directory without symlinks, so that
// it is trusted once, however it is reached.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
