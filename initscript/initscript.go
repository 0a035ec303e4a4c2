// Package initscript holds the shell scripts of `safeshell init -` and puts
// them into, and takes them out of, the shell's start-up files.
package initscript
