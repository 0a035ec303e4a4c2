package permit

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// helpers are directories of programs that a command cannot work without, and
// that nobody calls by hand. The kernel lets them be executed with it.
var helpers = map[string][]string{
	"git": {"/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core"},
	"gcc": {"/usr/lib/gcc", "/usr/libexec/gcc"}, "cc": {"/usr/lib/gcc", "/usr/libexec/gcc"},
	"g++": {"/usr/lib/gcc", "/usr/libexec/gcc"}, "c++": {"/usr/lib/gcc", "/usr/libexec/gcc"},
	"go": {"/usr/local/go/pkg/tool", "/usr/lib/go/pkg/tool"},
}

// Needs returns what the kernel must allow to be executed so that path runs:
// the file itself, the loader of a program, the interpreter of a script (and
// its own), helpers. All without symbolic links, each once.
func Needs(path string) []string {
	var out []string
	add(&out, path, 0)
	for _, h := range helpers[filepath.Base(path)] {
		if fi, err := os.Stat(h); err == nil && fi.IsDir() {
			out = append(out, h)
		}
	}
	return out
}

func add(out *[]string, path string, depth int) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || depth > 4 || slices.Contains(*out, real) { // the kernel follows four interpreters
		return
	}
	*out = append(*out, real)
	f, err := os.Open(real)
	if err != nil {
		return
	}
	defer f.Close()
	var head [256]byte
	n, _ := f.Read(head[:])
	if n < 2 {
		return
	}
	if string(head[:2]) == "#!" {
		line, _, _ := strings.Cut(string(head[2:n]), "\n")
		if words := strings.Fields(line); len(words) > 0 {
			add(out, words[0], depth+1)
		}
		return
	}
	if e, err := elf.NewFile(f); err == nil {
		for _, p := range e.Progs {
			if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
				continue
			}
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err == nil {
				add(out, strings.TrimRight(string(b), "\x00"), depth+1)
			}
		}
		return
	}
	// Neither: execvp and shells give it to /bin/sh.
	add(out, "/bin/sh", depth+1)
}

// through returns the program that a script's `#!/usr/bin/env NAME` line looks
// up in PATH; "" when the file has no such line. Such a name must be declared
// as well, since PATH holds nothing else.
func through(path string) string {
	line := firstLine(path)
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	words := strings.Fields(rest)
	if len(words) < 2 || filepath.Base(words[0]) != "env" {
		return ""
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return w
		}
	}
	return ""
}

// setsID reports whether a program changes the user or group that it runs as,
// which the kernel's sandbox prevents (no_new_privs).
func setsID(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0
}
