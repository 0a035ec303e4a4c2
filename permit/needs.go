package permit

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// helpers returns directories of programs that a command cannot work without, and
// that nobody calls by hand. The kernel lets them be executed with it.
func helpers(command string) []string {
	switch command {
	case "git":
		return []string{"/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core"}
	case "gcc", "cc", "g++", "c++":
		return []string{"/usr/lib/gcc", "/usr/libexec/gcc"}
	case "go":
		return []string{"/usr/local/go/pkg/tool", "/usr/lib/go/pkg/tool"}
	}
	return nil
}

// Needs returns what the kernel must allow to be executed so that path runs:
// the file itself, the loader of a program, the interpreter of a script (and
// its own), helpers. All without symbolic links, each once.
func Needs(path string) []string {
	var out []string
	add(&out, path, 0)
	for _, h := range helpers(filepath.Base(path)) {
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
	if loader, ok := loaderOf(f); ok {
		if loader != "" {
			add(out, loader, depth+1)
		}
		return
	}
	// Neither: execvp and shells give it to /bin/sh.
	add(out, "/bin/sh", depth+1)
}

// loaderOf returns the loader that a program in the ELF format names (elf(5),
// PT_INTERP); "" for one that needs none. ok is false for any other file.
// (debug/elf would bring decompression into every shim.)
func loaderOf(f io.ReaderAt) (loader string, ok bool) {
	const interp, maxPath = 3, 4096
	var h [64]byte
	n, _ := f.ReadAt(h[:], 0)
	if n < 52 || string(h[:4]) != "\x7fELF" {
		return "", false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if h[5] == 2 {
		order = binary.BigEndian
	}
	var table, size, count uint64 // of program headers
	wide := h[4] == 2
	switch {
	case wide && n == 64:
		table, size, count = order.Uint64(h[32:]), uint64(order.Uint16(h[54:])), uint64(order.Uint16(h[56:]))
	case h[4] == 1:
		table, size, count = uint64(order.Uint32(h[28:])), uint64(order.Uint16(h[42:])), uint64(order.Uint16(h[44:]))
	default:
		return "", false
	}
	if least := map[bool]uint64{true: 56, false: 32}[wide]; size < least || table > 1<<62 {
		return "", true
	}
	for i := range count {
		var p [56]byte
		if m, _ := f.ReadAt(p[:min(size, 56)], int64(table+i*size)); m < 32 || order.Uint32(p[:]) != interp {
			continue
		}
		off, length := uint64(order.Uint32(p[4:])), uint64(order.Uint32(p[16:]))
		if wide {
			off, length = order.Uint64(p[8:]), order.Uint64(p[32:])
		}
		if length > maxPath || off > 1<<62 {
			continue
		}
		b := make([]byte, length)
		if _, err := f.ReadAt(b, int64(off)); err == nil {
			return strings.TrimRight(string(b), "\x00"), true
		}
	}
	return "", true
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
