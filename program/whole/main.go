// Command whole is safeshell without its fronts: the program that the split
// binary carries and runs from memory. Nobody starts it by hand.
package main

import (
	"fmt"
	"os"
	"strings"

	"safeshell/cli"
	"safeshell/config/yamltree"
	"safeshell/shims"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == yamltree.Word {
		if err := yamltree.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	p := shims.Process{Argv: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	for _, kv := range os.Environ() {
		// Where the binary is, is for this process alone.
		if path, ok := strings.CutPrefix(kv, shims.BinaryVar+"="); ok {
			shims.SetCarrier(path)
			continue
		}
		p.Environ = append(p.Environ, kv)
	}
	os.Exit(cli.Run(p))
}
