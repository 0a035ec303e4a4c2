// Package testbinary gives tests the real program, built once.
package testbinary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Run runs the tests of m with *path naming the program: the one that
// SAFESHELL_TEST_BINARY names (make test sets it), else one that is built for
// them and removed afterwards, apart from an agent. It returns the exit code.
func Run(m *testing.M, path *string) int {
	return Apart(func() int { return run(m, path) })
}

func run(m *testing.M, path *string) int {
	if *path = os.Getenv("SAFESHELL_TEST_BINARY"); *path != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "safeshell-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*path = filepath.Join(dir, "safeshell")
	flags := "-X safeshell/cli.Version=test"
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		flags += " -E safeshell/shims.entry"
	}
	build := exec.Command("go", "build", "-ldflags", flags, "-o", *path, "safeshell")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the binary under test: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
