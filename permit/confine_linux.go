package permit

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minABI is the first version of Landlock that lets a confined program move
// files between directories (Linux 5.19). An older one is not used: every mv
// would fail.
const minABI = 2

// scopeABI is the first version that keeps signals, and connections to abstract
// sockets, within the confined processes (Linux 6.12).
const scopeABI = 6

// LandlockABI returns the kernel's version of Landlock, 0 without it.
func LandlockABI() int {
	r, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(r)
}

// Rights of Landlock, landlock(7).
const (
	fileWrites = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	dirWrites  = fileWrites | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// KernelSays describes in a line what the kernel enforces here; ok is false when
// it enforces nothing.
func KernelSays() (line string, ok bool) {
	switch abi := LandlockABI(); {
	case abi == 0:
		return "nothing: this kernel has no Landlock (it came with Linux 5.13, and may be switched off); PATH and the rules hold, a path called directly is not stopped", false
	case abi < minABI:
		return fmt.Sprintf("nothing: this kernel's Landlock is of version %d, which would forbid moving files between directories (5.19 does not); PATH and the rules hold, a path called directly is not stopped", abi), false
	default:
		scoped := ""
		if abi >= scopeABI {
			scoped = ", signals and abstract sockets scoped"
		}
		return fmt.Sprintf("Landlock, version %d%s", abi, scoped), true
	}
}

// apply confines the calling thread and all that it execs. The caller has locked
// the thread, and execs next. Without Landlock it does nothing and reports that.
func (c Confinement) apply() (enforced bool, err error) {
	abi := LandlockABI()
	if abi < minABI {
		return false, nil
	}
	writes, files := uint64(dirWrites), uint64(fileWrites)
	if abi >= 3 {
		writes |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
		files |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	handled := writes
	if len(c.Exec) > 0 {
		handled |= unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	// Older kernels refuse what is longer and not zero, newer ones take the rest
	// as zero.
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= scopeABI {
		attr.Scoped, size = unix.LANDLOCK_SCOPE_SIGNAL|unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, unsafe.Sizeof(attr)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return false, fmt.Errorf("landlock: %w", errno)
	}
	rules := int(fd)
	defer unix.Close(rules)
	for _, p := range c.Exec {
		if err := allow(rules, p, unix.LANDLOCK_ACCESS_FS_EXECUTE, unix.LANDLOCK_ACCESS_FS_EXECUTE); err != nil {
			return false, err
		}
	}
	for _, p := range c.Write {
		if err := allow(rules, p, writes, files); err != nil {
			return false, err
		}
	}
	// The standard files, wherever they lead: /dev/stdout opens them anew.
	for n := range 3 {
		if err := allow(rules, "/proc/self/fd/"+strconv.Itoa(n), 0, files); err != nil {
			return false, err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return false, fmt.Errorf("no_new_privs: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		if errno == unix.E2BIG {
			return false, errors.New("landlock: too many scripts inside each other (16); run this one by itself")
		}
		return false, fmt.Errorf("landlock: %w", errno)
	}
	runtime.KeepAlive(attr)
	return true, nil
}

// allow adds the rights for a directory or a file; one that is not there needs
// none. Pipes and sockets are never restricted.
func allow(rules int, path string, dir, file uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ELOOP) {
			return nil
		}
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	rights := file
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		rights = dir
	}
	if rights == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 && errno != unix.EBADFD { // EBADFD: a pipe or socket
		return &os.PathError{Op: "landlock", Path: path, Err: errno}
	}
	return nil
}
