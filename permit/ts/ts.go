// Package ts runs TypeScript: it finds what a script declares, holds the
// module that the script imports, and makes the command line of Deno, which
// may start nothing but the declared commands (docs/design.md "Upfront permission").
//
// It decides nothing: whether a command is permitted, and what happens when the
// script calls it, is for the caller and for the executables that it hands over
// in Calls.
package ts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"safeshell/shims"
)

// suffixes of files that Deno runs.
var suffixes = []string{".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"}

// Handles reports whether a file of this name is run by Deno.
func Handles(name string) bool { return slices.Contains(suffixes, filepath.Ext(name)) }

// ErrNoDeno says that Deno is not installed, and how to get it. The exit code
// for it is 127.
var ErrNoDeno = errors.New("TypeScript needs Deno (2.4 or newer), which is not in PATH; get it with: npm install -g deno   (or see https://docs.deno.com/runtime/getting_started/installation)")

// Find returns the path of Deno: from PATH, past safeshell's own links, or from
// ~/.deno/bin, where its installer puts it. The error is ErrNoDeno.
func Find(lookup func(string) (string, bool)) (string, error) {
	if p := shims.Which("deno", lookup); p != "" {
		return filepath.Abs(p)
	}
	if home, _ := lookup("HOME"); filepath.IsAbs(home) {
		p := filepath.Join(home, ".deno", "bin", "deno")
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0 {
			return p, nil
		}
	}
	return "", ErrNoDeno
}

// Run is one script to be started.
type Run struct {
	Deno string   // Find
	File string   // the script, absolute
	Args []string // of the script
	// Calls gives each declared command the executable that carries it out:
	// safeshell under some name, which permits, judges and runs. Deno may start
	// these and nothing else.
	Calls map[string]string
	// Read and Write are directories (and files) that the script may use; what
	// may be written may be read. Deny may be neither, wherever it lies: it
	// holds at least safeshell's home and the executables in Calls.
	Read, Write, Deny []string
	Keep              []string // may be read, but not written, wherever it lies
	Cache             string   // where the module is laid out: SAFESHELL_HOME/cache
	Environ           []string // of the script
}

// callsVar hands Calls to the module, which removes it before the script
// starts. It tells where the executables are; it permits nothing.
const callsVar = "SAFESHELL_CALLS"

// Command returns the command line and the environment that run the script, to
// be exec'd in place or started. Stdin, stdout, signals and the exit code are
// Deno's.
//
// Beyond Calls, Read and Write the script has its environment and nothing: no
// network, no prompts, no native code, and no modules that would have to be
// fetched (--cached-only). Configuration files of Deno are not read, since a
// repository's deno.json could change what imports mean.
func (r Run) Command() (argv, env []string, err error) {
	dir, err := Install(r.Cache)
	if err != nil {
		return nil, nil, err
	}
	argv = []string{
		r.Deno, "run", "--no-prompt", "--no-config", "--no-lock", "--cached-only", "--allow-env",
		"--import-map=" + filepath.Join(dir, "import_map.json"), "--preload=" + filepath.Join(dir, "preload.ts"),
	}
	list := func(flag string, paths []string) {
		paths = slices.Compact(slices.Sorted(slices.Values(paths)))
		for _, p := range paths {
			// Deno takes lists apart at commas and knows no quoting.
			if strings.Contains(p, ",") {
				err = errors.Join(err, fmt.Errorf("%s: Deno cannot be given a path with a comma; rename or move it", p))
			}
		}
		if len(paths) > 0 {
			argv = append(argv, flag+"="+strings.Join(paths, ","))
		}
	}
	list("--allow-read", append(slices.Clone(r.Read), r.Write...))
	list("--allow-write", r.Write)
	list("--deny-read", r.Deny)
	list("--deny-write", append(slices.Clone(r.Deny), r.Keep...))
	exes := make([]string, 0, len(r.Calls))
	for _, exe := range r.Calls {
		exes = append(exes, exe)
	}
	list("--allow-run", exes)
	if err != nil {
		return nil, nil, err
	}
	calls, err := json.Marshal(r.Calls)
	if err != nil {
		return nil, nil, err
	}
	for _, kv := range r.Environ {
		if !strings.HasPrefix(kv, callsVar+"=") {
			env = append(env, kv)
		}
	}
	env = append(env, callsVar+"="+string(calls), "DENO_NO_UPDATE_CHECK=1")
	return append(append(argv, r.File), r.Args...), env, nil
}
