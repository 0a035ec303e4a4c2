//go:build !(linux && amd64)

package shims

// restoreInherited does nothing here: what the Go runtime changes at start
// (closed standard files, ignored signals but HUP and INT) is not known on
// this system.
func restoreInherited() {}

// Begin does nothing here: the stack grows step by step, and the runtime starts
// as it likes.
func Begin() {}

// MayStartApart is false: there is no entry of our own here.
func MayStartApart() bool { return false }

// StartedApart is false.
func StartedApart() bool { return false }
