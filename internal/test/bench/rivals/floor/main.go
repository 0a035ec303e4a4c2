// Command floor is the smallest shim: it finds the next command of its own
// name in PATH and execs it. It judges nothing.
package main

import (
	"os"
	"strings"
	"syscall"
)

func main() {
	name := os.Args[0][strings.LastIndexByte(os.Args[0], '/')+1:]
	path := os.Getenv("PATH")
	_, rest, _ := strings.Cut(path, ":") // the first entry is its own
	for rest != "" {
		var d string
		d, rest, _ = strings.Cut(rest, ":")
		_ = syscall.Exec(d+"/"+name, os.Args, os.Environ())
	}
	os.Exit(127)
}
