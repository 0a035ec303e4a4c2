package permit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/config/yamltree"
	"safeshell/eval"
)

// FileName is where a project names the commands of its scripts.
const FileName = ".safeshell/permissions.yaml"

// maxFile bounds permissions.yaml, in bytes.
const maxFile = 1 << 20

// File is permissions.yaml as written.
type File struct {
	Commands             []string
	AllowProjectCommands bool
	StrictPaths          bool
	// Write are further directories that scripts may write to under the
	// kernel's sandbox; absolute or below ~.
	Write []string
}

// ParseFile reads permissions.yaml. The error names file, line and column. path
// is for the error alone.
func ParseFile(path string, data []byte) (f File, err error) {
	at := func(n *yamltree.Node, format string, a ...any) error {
		line, col := 1, 1
		if n != nil && n.Line > 0 {
			line, col = n.Line, n.Column
		}
		return fmt.Errorf("%s:%d:%d: %s", Show(path), line, col, fmt.Sprintf(format, a...))
	}
	if len(data) > maxFile {
		return File{}, at(nil, "the file has more than %d bytes", maxFile)
	}
	root, err := yamltree.Parse(data)
	var bad *yamltree.Fault
	switch {
	case errors.As(err, &bad) && bad.Second:
		return File{}, at(&yamltree.Node{Line: bad.Line, Column: bad.Column}, "more than one YAML document; keep one")
	case errors.As(err, &bad):
		return File{}, fmt.Errorf("%s:%d:%d: not valid YAML: %s", Show(path), bad.Line, bad.Column, bad.Message)
	case err != nil:
		return File{}, at(nil, "%v", err)
	case root == nil:
		return File{}, nil
	case root.Kind != yamltree.Mapping:
		return File{}, at(root, "write it as key: value lines, for example  commands: [curl]")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if seen[k.Value] {
			return File{}, at(k, "the key %q is given twice; remove one", k.Value)
		}
		seen[k.Value] = true
		var why string
		bad := v
		switch k.Value {
		case "commands":
			f.Commands, bad, why = words(v, "a command or a path")
		case "write":
			f.Write, bad, why = words(v, "a directory")
			for j, w := range f.Write {
				if !filepath.IsAbs(w) && w != "~" && !strings.HasPrefix(w, "~/") {
					bad, why = v.Content[j], fmt.Sprintf("%q is neither absolute nor below ~; the project itself may be written to anyway", w)
				}
			}
		case "allow_project_commands":
			f.AllowProjectCommands, why = truth(v)
		case "strict_paths":
			f.StrictPaths, why = truth(v)
		default:
			return File{}, at(k, "unknown key %q; known keys: commands, allow_project_commands, strict_paths, write", k.Value)
		}
		if why != "" {
			return File{}, at(bad, "%s: %s", k.Value, why)
		}
	}
	return f, nil
}

func words(n *yamltree.Node, what string) ([]string, *yamltree.Node, string) {
	if n.Null() {
		return nil, n, ""
	}
	if n.Kind != yamltree.Sequence {
		return nil, n, "write a list, for example [curl, ./scripts/build.sh]"
	}
	var out []string
	for _, c := range n.Content {
		if c.Kind != yamltree.Scalar || c.Null() || c.Value == "" || strings.ContainsRune(c.Value, 0) {
			return nil, c, "each entry is " + what
		}
		out = append(out, c.Value)
	}
	return out, n, ""
}

func truth(n *yamltree.Node) (bool, string) {
	b, ok := n.Bool()
	if !ok {
		return false, "write true or false"
	}
	return b, ""
}

// loadProject adds the project's own list, if a human trusts this content.
func (s *Set) loadProject() {
	path := filepath.Join(s.project.Root, FileName)
	if filepath.Dir(path) == filepath.Clean(s.env.Paths.Home) {
		return // a home directory that is a repository
	}
	data, err := readProjectFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.warn("%s does not count: %v", Show(path), err)
		return
	}
	f, err := ParseFile(path, data)
	switch {
	case err != nil:
		s.warn("%v; the file does not count until it is mended", err)
		return
	case !eval.Trusted(s.env.Paths, path, data):
		s.warn("%s does not count, because this content of it is not trusted; read it, then run: safeshell trust %s", Show(path), Show(s.project.Root))
		return
	}
	s.add(Project, f.Commands)
	s.projectCommands = s.projectCommands || f.AllowProjectCommands
	s.strict = s.strict || f.StrictPaths
	for _, w := range f.Write {
		if rest, ok := strings.CutPrefix(w, "~"); ok {
			if s.env.Paths.User == "" {
				continue
			}
			w = s.env.Paths.User + rest
		}
		s.write = append(s.write, filepath.Clean(w))
	}
}

// CheckFile reports why dir's permissions.yaml could not count, before a human
// trusts it: nil where there is none. The error names file, line and column.
func CheckFile(dir string) error {
	path := filepath.Join(dir, FileName)
	data, err := readProjectFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", Show(path), err)
	}
	_, err = ParseFile(path, data)
	return err
}

func (s *Set) warn(format string, a ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, a...))
}

// readProjectFile reads a regular file without waiting for anything else.
func readProjectFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	if errors.Is(err, unix.ELOOP) {
		return nil, errors.New("it is a symbolic link; put the file itself there")
	}
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}
