// Command genpacks compiles the built-in packs (go generate).
package main

import (
	"fmt"
	"os"

	"safeshell/eval"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: genpacks FILE")
		os.Exit(2)
	}
	data, err := eval.CompilePacks()
	if err == nil {
		err = os.WriteFile(os.Args[1], data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "genpacks:", err)
		os.Exit(1)
	}
}
