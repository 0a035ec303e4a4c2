//go:build !linux

package main

import "golang.org/x/sys/unix"

// whoseTime: the whole process's, where a thread's is not to be had.
const whoseTime = unix.RUSAGE_SELF
