//go:build amd64 || arm64

package faulttest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// jobVar holds a Job in the environment of a supervised process.
const jobVar = "SAFESHELL_FAULTTEST"

// fileCalls are the calls that are stopped at, beside oldCalls.
var fileCalls = map[int32]string{
	unix.SYS_OPENAT: "openat", unix.SYS_OPENAT2: "openat2", unix.SYS_STATX: "statx", statAtCall: "fstatat",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_MKDIRAT: "mkdirat",
	unix.SYS_LINKAT: "linkat", unix.SYS_SYMLINKAT: "symlinkat", unix.SYS_MKNODAT: "mknodat", unix.SYS_FCHMODAT: "fchmodat",
	unix.SYS_FCHOWNAT: "fchownat", unix.SYS_UTIMENSAT: "utimensat", unix.SYS_FACCESSAT: "faccessat", unix.SYS_FACCESSAT2: "faccessat2",
	unix.SYS_READLINKAT: "readlinkat",
	unix.SYS_READ:       "read", unix.SYS_WRITE: "write", unix.SYS_GETDENTS64: "getdents", unix.SYS_FSTAT: "fstat", unix.SYS_CLOSE: "close",
	unix.SYS_LSEEK: "lseek", unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_FSYNC: "fsync", unix.SYS_FLOCK: "flock", unix.SYS_FSTATFS: "fstatfs",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_FCHOWN: "fchown", unix.SYS_FLISTXATTR: "flistxattr", unix.SYS_FGETXATTR: "fgetxattr",
	unix.SYS_FSETXATTR: "fsetxattr", unix.SYS_IOCTL: "ioctl", unix.SYS_COPY_FILE_RANGE: "copy_file_range", unix.SYS_SENDFILE: "sendfile",
}

// pathArgs are the positions of the directory descriptors; the path follows.
func pathArgs(nr int32) []int {
	switch nr {
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT:
		return []int{0, 2}
	case unix.SYS_SYMLINKAT:
		return []int{1}
	case unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_STATX, statAtCall, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT,
		unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT:
		return []int{0}
	}
	return nil
}

func (c Call) name() string {
	if n, ok := oldCalls[c.Nr]; ok {
		return n
	}
	return fileCalls[c.Nr]
}

// Exit codes of a process that did not become what it was to be.
const (
	notStarted    = 98
	notSupervised = 99
)

// Begin is the first thing in the main function of a program that calls Run:
// ok says that this process is a supervised one, with text to work on. It does
// not return in a process that becomes another program.
func Begin() (text string, ok bool) {
	req, ok := os.LookupEnv(jobVar)
	if !ok {
		return "", false
	}
	fail := func(code int, err error) {
		fmt.Fprintln(os.Stderr, "faulttest:", err)
		os.Exit(code)
	}
	var j Job
	if err := json.Unmarshal([]byte(req), &j); err != nil {
		fail(notStarted, err)
	}
	if err := superviseMe(3); err != nil {
		fail(notSupervised, err)
	}
	if j.Path == "" {
		return j.Text, true
	}
	fail(notStarted, syscall.Exec(j.Path, j.Argv, j.Env))
	return "", true
}

// superviseMe installs the filter and sends its listener through a socket.
func superviseMe(socket int) error {
	runtime.LockOSThread()
	var prog []unix.SockFilter
	prog = append(prog, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0})
	for _, calls := range []map[int32]string{fileCalls, oldCalls} {
		for nr := range calls {
			prog = append(prog,
				unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
				unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
		}
	}
	prog = append(prog, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
		unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	fd, _, no := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	if no != 0 {
		return no
	}
	if err := unix.Sendmsg(socket, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return err
	}
	unix.Close(int(fd))
	unix.Close(socket)
	runtime.UnlockOSThread()
	return nil
}

// Run runs a job in a process of its own; only calls about files below one of
// roots count, and none elsewhere may change anything. The program must call
// Begin. The error is ErrUnsupported where processes cannot be supervised.
func Run(j Job, roots []string, decide Verdict) (Result, error) {
	var res Result
	// The same calls in the same order, as far as that can be had.
	j.Env = append(j.Env[:len(j.Env):len(j.Env)], "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	req, err := json.Marshal(j)
	if err != nil {
		return res, err
	}
	self, err := os.Executable()
	if err != nil {
		return res, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return res, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	defer unix.Close(pair[0])
	cmd := exec.Command(self)
	cmd.Env = append(j.Env[:len(j.Env):len(j.Env)], jobVar+"="+string(req))
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Dir = cmp.Or(j.Dir, "/")
	var outw, errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = &outw, &errw
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is about the thread
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		theirs.Close()
		return res, err
	}
	theirs.Close()
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A program that hangs is killed, so that the listener ends.
	var hung atomic.Bool
	timer := time.AfterFunc(time.Minute, func() { hung.Store(true); kill() })
	defer timer.Stop()
	listener, err := receive(pair[0])
	if err == nil {
		err = watch(listener, cmd.Process.Pid, roots, &res, decide, kill)
		unix.Close(listener)
	}
	if err != nil {
		kill()
	}
	werr := cmd.Wait()
	res.Code, res.Hung = cmd.ProcessState.ExitCode(), hung.Load()
	res.Stdout, res.Stderr = outw.String(), WithoutCoverage(errw.String())
	if err == nil && werr != nil && cmd.ProcessState == nil {
		err = werr
	}
	switch res.Code {
	case notSupervised:
		return res, fmt.Errorf("%w: %s", ErrUnsupported, res.Stderr)
	case notStarted:
		return res, fmt.Errorf("%s cannot be started: %s", j.Path, res.Stderr)
	}
	return res, err
}

func receive(socket int) (int, error) {
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	var n int
	for {
		var err error
		if _, n, _, _, err = unix.Recvmsg(socket, b, oob, unix.MSG_CMSG_CLOEXEC); err == nil {
			break
		}
		if err != unix.EINTR {
			return -1, err
		}
	}
	ms, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(ms) != 1 {
		return -1, nil //nolint:nilerr // the child says why
	}
	fds, err := unix.ParseUnixRights(&ms[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// watch answers the listener until the processes have ended.
func watch(listener, pid int, roots []string, res *Result, decide Verdict, kill func()) error {
	if listener < 0 {
		return nil
	}
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil {
			if err == unix.EINTR {
				continue
			}
			return err
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return nil // all have ended
		}
		var req [80]byte
		if _, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&req))); no != 0 {
			if no == unix.ENOENT || no == unix.EINTR {
				continue
			}
			return no
		}
		ne := binary.NativeEndian
		c := Call{Nr: int32(ne.Uint32(req[16:]))}
		for i := range c.Args {
			c.Args[i] = ne.Uint64(req[32+8*i:])
		}
		errno := syscall.Errno(0)
		one, all := c.about(int(ne.Uint32(req[8:])), roots)
		switch {
		case !all && c.changes():
			errno = unix.EPERM // whatever the code under test is up to
		case one && !res.Killed:
			res.Calls++
			c.N = res.Calls
			errno = decide(c)
		case res.Killed && c.changes():
			errno = unix.EPERM
		}
		if errno == Dies {
			res.Killed = true
			kill()
			continue
		}
		var resp [24]byte
		copy(resp[:8], req[:8])
		if errno != 0 {
			ne.PutUint32(resp[16:], uint32(-int32(errno)))
		} else {
			ne.PutUint32(resp[20:], 1) // SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		if _, _, no := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&resp))); no != 0 && no != unix.ENOENT {
			return no
		}
	}
}

// about fills in the paths, and reports whether one, and whether all, lie below
// roots.
func (c *Call) about(tid int, roots []string) (one, all bool) {
	proc := "/proc/" + strconv.Itoa(tid)
	add := func(p string) {
		c.Paths = append(c.Paths, p)
	}
	cwd := func() string {
		p, _ := os.Readlink(proc + "/cwd")
		return p
	}
	fd := func(n uint64) string {
		if int32(n) == unix.AT_FDCWD {
			return cwd()
		}
		p, _ := os.Readlink(proc + "/fd/" + strconv.Itoa(int(int32(n))))
		return p
	}
	pos := pathArgs(c.Nr)
	if name, old := oldCalls[c.Nr]; old {
		for i := range 2 {
			if i == 0 && name != "symlink" || i == 1 && slices.Contains([]string{"rename", "link", "symlink"}, name) {
				p := peek(tid, c.Args[i])
				if !filepath.IsAbs(p) {
					p = filepath.Join(cwd(), p)
				}
				add(p)
			}
		}
	}
	for _, i := range pos {
		p := peek(tid, c.Args[i+1])
		if rest, ok := strings.CutPrefix(p, "/proc/self/fd/"); ok {
			n, _ := strconv.Atoi(rest)
			p = fd(uint64(n))
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(fd(c.Args[i]), p)
		}
		add(p)
	}
	if len(c.Paths) == 0 {
		add(fd(c.Args[0]))
	}
	all = true
	for _, p := range c.Paths {
		in := slices.ContainsFunc(roots, func(r string) bool { return Within(p, r) })
		one, all = one || in, all && in
	}
	return one, all
}

// changes reports whether the call would change a directory or a file's
// attributes.
func (c Call) changes() bool {
	if _, old := oldCalls[c.Nr]; old {
		return true
	}
	switch c.Nr {
	case unix.SYS_OPENAT:
		return c.Args[2]&(unix.O_CREAT|unix.O_TRUNC) != 0 && !slices.Contains(c.Paths, os.DevNull)
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
		unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT:
		return true
	}
	return false
}

// peek reads a string of another process.
func peek(tid int, addr uint64) string {
	buf := make([]byte, 4096)
	n := 0
	for n < len(buf) {
		// Not over the end of a page at once: the next may not be there.
		size := min(len(buf)-n, 4096-int((addr+uint64(n))&4095))
		m, err := unix.ProcessVMReadv(tid,
			[]unix.Iovec{{Base: &buf[n], Len: uint64(size)}},
			[]unix.RemoteIovec{{Base: uintptr(addr) + uintptr(n), Len: size}}, 0)
		if err != nil || m <= 0 {
			break
		}
		if i := bytes.IndexByte(buf[n:n+m], 0); i >= 0 {
			return string(buf[:n+i])
		}
		n += m
	}
	return string(buf[:n])
}
