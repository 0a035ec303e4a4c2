package permit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/script"
)

// CheckCalls stops a script whose own text calls an executable file by its path
// that it does not declare: PATH has no part in such a call, so where the kernel
// does not stop it nothing would, and where it does, the script would fail half
// way. nil when there is none, or when the declaration has words that only the
// shell can tell. file is what messages call the script; the error is the whole
// message for a terminal or an agent, with the line to add.
//
// A path in a variable, or a file that the script makes itself, is not seen here.
func (s *Set) CheckCalls(file string, d Declaration) error {
	if d.Dynamic > 0 {
		return nil
	}
	declared := s.Check(d.All())
	var stray []Use
	for _, u := range d.Undeclared {
		if strings.Contains(u.Name, "/") && s.stray(u.Name, declared) {
			stray = append(stray, u)
		}
	}
	if len(stray) == 0 {
		return nil
	}
	line := append([]string{InitCommand}, d.First...)
	var b strings.Builder
	b.WriteString("[SafeShell] UNDECLARED COMMAND\n")
	for _, u := range stray {
		fmt.Fprintf(&b, "Reason: %s:%d: %s is called by its path, but this script does not declare it.\n", Show(file), u.Line, Show(u.Name))
		line = append(line, u.Name)
	}
	fmt.Fprintf(&b, "Rule: %s\n\nNothing has run. Add it to the declaration in %s:\n  %s\n", Rule, Show(file), script.Quote(line))
	return strayError(b.String())
}

// strayError is the message of CheckCalls.
type strayError string

func (e strayError) Error() string { return string(e) }

// stray reports whether name, a path, is an executable file that is none of the
// declared ones.
func (s *Set) stray(name string, declared Result) bool {
	path := name
	if !filepath.IsAbs(path) {
		path = s.env.Dir + "/" + path
		// The script may have changed its directory to where a declared one of
		// that name lies.
		base := filepath.Base(name)
		if slices.ContainsFunc(declared, func(d Decision) bool { return filepath.Base(d.Command) == base }) {
			return false
		}
	}
	if executable(path) != nil {
		return false
	}
	return !slices.ContainsFunc(declared, func(d Decision) bool { return d.Path != "" && sameFile(d.Path, path) })
}
