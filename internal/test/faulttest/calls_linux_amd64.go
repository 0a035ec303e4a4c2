package faulttest

import "golang.org/x/sys/unix"

const statAtCall = unix.SYS_NEWFSTATAT

// oldCalls are calls by path alone that change something; none of ours makes
// them, so they are let through only below the scratch directories.
var oldCalls = map[int32]string{
	unix.SYS_UNLINK: "unlink", unix.SYS_RMDIR: "rmdir", unix.SYS_RENAME: "rename", unix.SYS_MKDIR: "mkdir", unix.SYS_CREAT: "creat",
	unix.SYS_LINK: "link", unix.SYS_SYMLINK: "symlink", unix.SYS_CHMOD: "chmod", unix.SYS_TRUNCATE: "truncate",
}
