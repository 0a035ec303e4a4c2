package main

import "golang.org/x/sys/unix"

// whoseTime: the calling thread's alone.
const whoseTime = unix.RUSAGE_THREAD
