// Command safeshell is a command-line safety layer for AI coding agents. One
// binary is everything: a shim when it is called by a command's name through
// the shims directory, a shell when it is called as safeshell-wrapper or with a
// shell's flags, and safeshell itself otherwise.
package main

import (
	"os"

	"safeshell/front"
	"safeshell/program"
	"safeshell/shims"
)

func main() {
	shims.Begin()
	p := shims.Process{
		Argv: os.Args, Environ: os.Environ(), Identity: shims.Identify(os.Args),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	switch p.Identity.Role {
	case shims.Shim:
		os.Exit(shims.RunShim(p))
	case shims.Wrapper:
		os.Exit(shims.RunWrapper(p))
	case shims.Declare:
		os.Exit(shims.RunDeclare(p))
	}
	if h := p.Identity.Home; h != "" && os.Getenv("SAFESHELL_HOME") == "" {
		p.Environ = append(p.Environ, "SAFESHELL_HOME="+h)
	}
	if code, served := front.Run(p); served {
		os.Exit(code)
	}
	os.Exit(program.Run(p))
}
