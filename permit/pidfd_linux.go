package permit

import "golang.org/x/sys/unix"

// waitPidfd waits until a process ends, without a poll; false where the kernel
// cannot.
func waitPidfd(pid int, start uint64) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return true
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if startOf(pid) != start {
		return true // the number belongs to another process by now
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == unix.EINTR {
			continue
		}
		return err == nil && n > 0
	}
}
