package initscript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// EnvFile is the static file under SAFESHELL_HOME that a shell sources.
// env.sh is also what BASH_ENV may name.
func EnvFile(shell string, p Params) string {
	return filepath.Join(p.Home, envName(shell))
}

// envName is that file's name: PowerShell sources no other than .ps1.
func envName(shell string) string {
	if shell == "pwsh" {
		return "env.ps1"
	}
	return "env." + shell
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

// current reports whether the static file of a shell holds text and those of the
// other shells are there, each of which looks at its own. Every start of a shell
// waits for the answer, so that nothing else is rendered or read; where a rule
// names source there is more to look at, and the answer is no.
func (p Params) current(shell, text string) bool {
	if slices.ContainsFunc(p.Builtins, isSource) {
		return false
	}
	for _, s := range Shells {
		if s == shell {
			continue
		}
		if _, err := os.Stat(EnvFile(s, p)); err != nil {
			return false
		}
	}
	return holds(EnvFile(shell, p), text)
}

// holds reports whether a file's content is text. It does without os.File, whose
// first one in a process sets up a poller.
func holds(path, text string) bool {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	buf := make([]byte, len(text)+1)
	n := 0
	for n < len(buf) {
		k, err := syscall.Read(fd, buf[n:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		if k == 0 {
			break
		}
		n += k
	}
	return string(buf[:n]) == text
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
	want, err := Script(shell, p)
	if err != nil {
		return "", "", err
	}
	read, eval := "'builtin' 'source' ", "'builtin' 'eval' "
	switch shell {
	case "sh":
		read, eval = "'.' ", "'eval' "
	case "fish":
		read, eval = "source ", "eval "
	case "pwsh":
		read, eval = ". ", "Invoke-Expression "
	}
	if p.current(shell, want) {
		return read + joinable(shell, EnvFile(shell, p)) + "\n", "", nil
	}
	if _, err := WriteStatic(p); err != nil {
		text, scriptErr := p.script(shell, false)
		if scriptErr != nil {
			return "", "", scriptErr
		}
		note = fmt.Sprintf("safeshell: the start-up text is passed whole, because its file cannot be written: %v", err)
		return eval + joinable(shell, text) + "\n", note, nil
	}
	return read + joinable(shell, EnvFile(shell, p)) + "\n", "", nil
}
