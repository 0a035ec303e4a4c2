// Package initscript holds the shell scripts of `safeshell init -` and puts
// them into, and takes them out of, the shell's start-up files.
//
// It guarantees that a script changes PATH and nothing else (but for the
// builtins that rules name), prints nothing, ends with status 0 under any
// shell options, and does nothing once safeshell's binary is gone; and that
// what Apply writes into a start-up file, Undo takes out byte for byte.
package initscript

import (
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Params are what the scripts depend on.
type Params struct {
	Binary   string // absolute path of the safeshell executable
	Home     string // SAFESHELL_HOME, absolute
	UserHome string // the user's home directory, absolute
	// Builtins are the command names of the rules in force; those that are
	// shell builtins get a function or alias where Coverable says so.
	Builtins []string
}

// Shells are the shells that a script exists for.
var Shells = []string{"bash", "zsh", "fish", "sh", "pwsh"}

//go:embed shell
var files embed.FS

// template returns an embedded file.
func template(name string) string {
	b, err := files.ReadFile("shell/" + name)
	if err != nil {
		panic(err) // the name is a constant of this package
	}
	return string(b)
}

func (p Params) shims() string { return filepath.Join(p.Home, "shims") }

// closed is said where the shims are there and cannot be reached; the paths of
// Home and of the shims follow.
const closed = "safeshell: nothing can be judged here, so no command is found until this has run: /bin/chmod u+rwx"

// check refuses what no script could be written for.
func (p Params) check() error {
	for _, f := range []struct{ name, value string }{
		{"the path of the safeshell binary", p.Binary},
		{"SAFESHELL_HOME", p.Home},
	} {
		switch {
		case !filepath.IsAbs(f.value):
			return fmt.Errorf("%s must be an absolute path, not %q", f.name, f.value)
		case strings.ContainsRune(f.value, 0):
			return fmt.Errorf("%s contains a NUL byte: %q", f.name, f.value)
		}
	}
	if strings.Contains(p.Home, ":") {
		return fmt.Errorf("SAFESHELL_HOME %q contains a colon, which separates the entries of PATH; set it to another directory", p.Home)
	}
	return nil
}

// Script returns the text that a shell is to read at its start: the content of
// the static file EnvFile. The error for an unknown shell names the known ones.
func Script(shell string, p Params) (string, error) {
	return p.script(shell, true)
}

// script renders the text of a shell; gates says whether the files that the
// alias of `source` needs are there.
func (p Params) script(shell string, gates bool) (string, error) {
	if !slices.Contains(Shells, shell) {
		return "", fmt.Errorf("no script for shell %q; known are %s: run safeshell init - --shell bash", shell, strings.Join(Shells, ", "))
	}
	if err := p.check(); err != nil {
		return "", err
	}
	quote, apart := quoteSh, " "
	switch shell {
	case "fish":
		quote = quoteFish
	case "pwsh":
		quote, apart = quotePwsh, ", "
	}
	var functions, aliases strings.Builder
	for _, name := range p.covered(shell) {
		switch {
		case !isSource(name):
			functions.WriteString(replaceAll(template("function."+shell), "@NAME@", name))
		case gates:
			for _, n := range []string{"source", "."} {
				aliases.WriteString(replaceAll(template("alias.sh"), "@NAME@", n, "@ALIAS@", p.alias(shell, n)))
			}
		}
	}
	text := include(template(envName(shell)), map[string]string{
		"@PATH@":      template("path.sh"),
		"@FOLLOW@":    template("follow.sh"),
		"@ALIASES@":   aliases.String(),
		"@FUNCTIONS@": functions.String(),
		"@CLOSING@":   template("closed.sh"),
	})
	return replaceAll(text, "@BINARY@", quote(p.Binary), "@SHIMS@", quote(p.shims()), "@SEEN@", quote(filepath.Join(p.Home, "path-seen")),
		"@HOME@", quote(p.Home), "@CLOSED@", strings.Join([]string{quote(closed), quote(p.Home), quote(p.shims())}, apart)), nil
}

// replaceAll replaces pairs of old and new in one pass, so that no value is
// looked at again.
func replaceAll(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// include replaces each line that holds one of the names alone by its text,
// indented as that line.
func include(text string, parts map[string]string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		name := strings.TrimSpace(line)
		part, ok := parts[name]
		if !ok {
			out.WriteString(line)
			continue
		}
		indent, _, _ := strings.Cut(line, name)
		for l := range strings.Lines(part) {
			out.WriteString(indent + l)
		}
	}
	return out.String()
}

// Detect returns the shell to print a script for when --shell is not given:
// that of the parent process (its name or path, as the system reports it),
// else of $SHELL, else sh.
func Detect(getenv func(string) string, parentName string) string {
	for _, name := range []string{parentName, getenv("SHELL")} {
		if s := family(name); s != "" {
			return s
		}
	}
	return "sh"
}

// Known is a shell's name, as a process of it is called, if there is a script for it.
func Known(name string) string {
	if family(name) == "" {
		return ""
	}
	return strings.TrimPrefix(filepath.Base(name), "-")
}

// family maps a shell's name to the script that it can read; empty when it is
// no shell that is known.
func family(name string) string {
	name = strings.ToLower(filepath.Base(strings.TrimSpace(name)))
	name = strings.TrimPrefix(name, "-") // a login shell
	name = strings.TrimSuffix(name, ".exe")
	if i := strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }); i > 0 {
		name = name[:i] // zsh-5.9, bash5, ksh93
	}
	switch name {
	case "bash", "rbash":
		return "bash"
	case "zsh", "rzsh":
		return "zsh"
	case "fish":
		return "fish"
	case "pwsh", "powershell":
		return "pwsh"
	case "sh", "dash", "ash", "busybox", "ksh", "mksh", "oksh", "pdksh", "yash", "posh":
		return "sh"
	}
	return ""
}
