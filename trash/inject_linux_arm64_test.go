package trash

import "golang.org/x/sys/unix"

const statAtCall = unix.SYS_FSTATAT
