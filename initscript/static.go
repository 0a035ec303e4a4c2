package initscript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// EnvFile is the static file under SAFESHELL_HOME that a shell sources.
// env.sh is also what BASH_ENV may name.
func EnvFile(shell string, p Params) string {
	return filepath.Join(p.Home, "env."+shell)
}

// staticFile is a file that WriteStatic keeps up to date.
type staticFile struct {
	path string
	text string
}

// static returns the static files as they should be: one per shell, and the
// gates when a rule names source.
func (p Params) static() ([]staticFile, error) {
	var out []staticFile
	for _, shell := range Shells {
		text, err := Script(shell, p)
		if err != nil {
			return nil, err
		}
		out = append(out, staticFile{EnvFile(shell, p), text})
	}
	if slices.ContainsFunc(p.Builtins, isSource) {
		for _, shell := range []string{"bash", "zsh"} {
			text := replaceAll(template("gate."+shell), "@BINARY@", quoteSh(p.Binary), "@NAME@", p.sourceName())
			out = append(out, staticFile{p.gate(shell), text})
		}
	}
	return out, nil
}

// WriteStatic writes the static files under SAFESHELL_HOME that are not as they
// should be, and returns their paths. It makes SAFESHELL_HOME (mode 0700) when
// that is missing and touches no other file.
//
// The gates of an earlier rule stay: shells that are open may still use it.
func WriteStatic(p Params) (written []string, err error) {
	want, err := p.static()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return nil, err
	}
	for _, f := range want {
		have, err := os.ReadFile(f.path)
		if err == nil && string(have) == f.text {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return written, err
		}
		if err := replaceFile(f.path, []byte(f.text), nil); err != nil {
			return written, err
		}
		written = append(written, f.path)
	}
	return written, nil
}

// RefreshStatic is WriteStatic where the static files are in use: it writes
// nothing when there is none, since start-up files then source none.
func RefreshStatic(p Params) (written []string, err error) {
	for _, shell := range Shells {
		if _, err := os.Lstat(EnvFile(shell, p)); err == nil {
			return WriteStatic(p)
		}
	}
	return nil, nil
}

// removeStatic removes the static files but the gates, where they are ours.
func removeStatic(p Params) error {
	var errs []error
	for _, shell := range Shells {
		path := EnvFile(shell, p)
		have, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, err)
		case bytes.HasPrefix(have, []byte(header)):
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// header is the first words of every static file.
const header = "# Written by safeshell;"

// Line returns what `safeshell init -` prints: one line that sources the static
// file, which it writes first when that is needed. The line survives
// `eval $(safeshell init -)` without quotes, where the shell would join lines.
//
// When the static files cannot be written (a read-only home), the line holds
// the whole text, encoded, and note says so; it is for stderr. In that case a
// rule that names source has no effect.
func Line(shell string, p Params) (line, note string, err error) {
	text, err := p.script(shell, false)
	if err != nil {
		return "", "", err
	}
	read, eval := "'builtin' 'source' ", "'builtin' 'eval' "
	switch shell {
	case "sh":
		read, eval = "'.' ", "'eval' "
	case "fish":
		read, eval = "source ", "eval "
	}
	if _, err := WriteStatic(p); err != nil {
		note = fmt.Sprintf("safeshell: the start-up text is passed whole, because its file cannot be written: %v", err)
		return eval + joinable(shell, text) + "\n", note, nil
	}
	return read + joinable(shell, EnvFile(shell, p)) + "\n", "", nil
}
