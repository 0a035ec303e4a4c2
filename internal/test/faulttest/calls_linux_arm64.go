package faulttest

import "golang.org/x/sys/unix"

const statAtCall = unix.SYS_FSTATAT

// oldCalls are calls by path alone that change something.
var oldCalls = map[int32]string{unix.SYS_TRUNCATE: "truncate"}
