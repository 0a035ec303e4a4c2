package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/shims"
)

// projectPrefix marks a file of the project, by its path from the project's
// root, so that all worktrees of a repository share the answer.
const projectPrefix = "project:"

// Decide is the decision tree of docs/permit.md, line by line.
//
//	bare name (no "/")        -> allowed(name)
//	has "/":
//	  basename allowed        -> ALLOWED   (strict_paths: only if it is the same file that PATH gives)
//	  absolute path           -> allowed(verbatim)
//	  relative, found in cwd  -> allowed(resolved)
//	  relative, found in project dir
//	       allow_project_commands -> ALLOWED, else allowed(resolved)
//	  found nowhere           -> COMMAND_NOT_FOUND
//
// Where the tree is silent: what is permitted but cannot be executed is
// COMMAND_NOT_FOUND. A path that leads to no executable file is that too,
// whatever the lists say, as no answer could make it run. A file that was found
// in the working directory and really lies in the project counts as one of the
// project. Symbolic links that leave the project do not.
func (s *Set) Decide(command string) Decision {
	d := Decision{Command: command, Key: command}
	if command == "" || strings.ContainsRune(command, 0) {
		d.Status, d.Detail = NotFound, "no command has such a name"
		return d
	}
	if !strings.Contains(command, "/") {
		return s.bare(d)
	}
	where := s.find(&d)
	if d.Path == "" {
		d.Status = NotFound
		return d
	}
	base := filepath.Base(command)
	if scope := s.allowed(base); scope != "" && (!s.strict || s.isPATHs(d.Path, base)) {
		d.Status, d.Scope = Allowed, scope
		return d
	}
	if filepath.IsAbs(command) {
		return d.by(s.allowed(command))
	}
	resolved := s.names(d.Path)
	d.Key = resolved[0]
	if scope := s.allowed(resolved...); scope != "" {
		return d.by(scope)
	}
	if s.projectCommands && (where == inProject || s.inProject(d.Path)) {
		return d.by(Project)
	}
	return d
}

func (d Decision) by(scope Scope) Decision {
	if d.Scope = scope; scope != "" {
		d.Status = Allowed
	}
	return d
}

func (s *Set) bare(d Decision) Decision {
	if own(d.Command) {
		d.Detail = "safeshell's own"
		return d.by(Builtin)
	}
	if shims.Linkable(d.Command) || strings.HasPrefix(d.Command, ".") && d.Command != "." && d.Command != ".." || d.Command == "[" {
		d.Path = s.which(d.Command)
	}
	if d.Path == "" {
		d.Detail = "it is not in PATH"
	}
	scope := s.allowed(d.Command)
	switch {
	case scope == "":
	case d.Path == "" && s.isBuiltin(d.Command):
		// The shell has it itself: there is nothing to execute.
		d.Status, d.Scope, d.Detail = Allowed, scope, "a builtin of the shell"
	case d.Path == "":
		d.Status = NotFound
	default:
		d.Status, d.Scope = Allowed, scope
	}
	return d
}

// own names are in every script's PATH.
func own(name string) bool { return name == "safeshell" || name == InitCommand }

// shellBuiltins are words that every shell performs itself and that need no
// declaration; declaring them is harmless.
var shellBuiltins = []string{
	".", ":", "[", "alias", "break", "cd", "command", "continue", "echo", "eval",
	"exec", "exit", "export", "false", "getopts", "hash", "kill", "local",
	"printf", "pwd", "read", "readonly", "return", "set", "shift", "test",
	"times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
}

func (s *Set) isBuiltin(name string) bool { return slices.Contains(shellBuiltins, name) }

// which is the real command that PATH gives, past safeshell's own links.
func (s *Set) which(name string) string {
	p := shims.Which(name, s.env.lookup)
	if p == "" {
		return ""
	}
	if !filepath.IsAbs(p) { // a relative entry of PATH
		p = filepath.Join(s.env.Dir, p)
	}
	return filepath.Clean(p)
}

// isPATHs reports whether path is the file that PATH gives for name.
func (s *Set) isPATHs(path, name string) bool {
	p := s.which(name)
	return p != "" && sameFile(p, path)
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// place is where a path was found.
type place uint8

const (
	nowhere   place = iota
	inRoot          // it was absolute
	inDir           // from the working directory
	inProject       // from the project's root
)

// find resolves a command with a slash and sets Path, or Detail when there is
// no file that can be executed.
func (s *Set) find(d *Decision) place {
	try := func(path string) bool {
		err := executable(path)
		if err == nil {
			// Behind a link to a directory, .. leads elsewhere than the text says.
			if d.Path, d.Detail = filepath.Clean(path), ""; !sameFile(d.Path, path) {
				d.Path = path
			}
			return true
		}
		if d.Detail == "" || !errors.Is(err, fs.ErrNotExist) {
			d.Detail = err.Error()
		}
		return false
	}
	if filepath.IsAbs(d.Command) {
		if try(d.Command) {
			return inRoot
		}
		return nowhere
	}
	if try(s.env.Dir + "/" + d.Command) {
		return inDir
	}
	p := s.project.Root + "/" + d.Command
	// Out of the project by .. or a link is not in the project.
	if s.project.Root != s.env.Dir && s.inProject(p) && try(p) {
		return inProject
	}
	return nowhere
}

// noSuchFile is fs.ErrNotExist in fewer words.
var noSuchFile error = notThere{}

type notThere struct{}

func (notThere) Error() string        { return "there is no such file" }
func (notThere) Is(target error) bool { return target == fs.ErrNotExist }

// executable says why a path cannot be executed; nil when it can.
func executable(path string) error {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return noSuchFile
	case errors.Is(err, unix.ELOOP):
		return errors.New("its symbolic links lead in a circle")
	case err != nil:
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fmt.Errorf("it cannot be looked at: %w", err)
	case fi.IsDir():
		return errors.New("it is a directory")
	case !fi.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil || fi.Mode().Perm()&0o111 == 0:
		return errors.New("it is not executable; run: chmod +x " + Show(path))
	}
	return nil
}

// inProject reports whether the file behind path lies in the project.
func (s *Set) inProject(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	_, ok := below(real, s.project.Root)
	return ok
}

// names returns what a resolved file may be listed as; the first is what an
// answer is kept under: the real file, so that a link does not carry it
// elsewhere.
func (s *Set) names(path string) []string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	var out []string
	if rel, ok := below(real, s.project.Root); ok {
		out = append(out, projectPrefix+rel)
	}
	out = append(out, real)
	if path != real {
		out = append(out, path)
	}
	return out
}

// below returns the path from root to a file that lies in it.
func below(path, root string) (rel string, ok bool) {
	if root == "" || root == "/" {
		return "", false // no project
	}
	rel, ok = strings.CutPrefix(path, root+"/")
	return rel, ok && rel != ""
}
