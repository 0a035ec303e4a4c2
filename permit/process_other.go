//go:build !linux

package permit

import "syscall"

// startOf tells only whether a process is alive: 1, else 0. Without /proc a
// number that was given anew is not noticed.
func startOf(pid int) uint64 {
	if pid > 0 && syscall.Kill(pid, 0) == nil {
		return 1
	}
	return 0
}

// belonging returns the script's shell alone.
func belonging(id string, root int, since uint64, except int) []int {
	if root != except && startOf(root) != 0 {
		return []int{root}
	}
	return nil
}
