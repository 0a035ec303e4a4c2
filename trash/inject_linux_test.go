//go:build amd64 || arm64

package trash

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A supervised process stops at each system call that has to do with files
// (seccomp's user notifications), in one order whichever of its threads makes
// the call; the supervisor lets it pass, fails it, or kills the process before
// it. That needs no other program and no privilege.

// job is what a supervised process does.
type job struct {
	Op                   string // put, restore, purge, empty
	Home, Dir, MountInfo string
	Args                 []string // put: rm's arguments
	Options              RestoreOptions
}

// fileCalls are the calls that are stopped at; those in fdCalls only if the
// file is below the scratch directory.
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

// call is one stopped system call.
type call struct {
	n     int // from 1
	nr    int32
	args  [6]uint64
	paths []string // what it is about, as far as that can be told
}

func (c call) String() string {
	return fmt.Sprintf("%d: %s %s", c.n, fileCalls[c.nr], strings.Join(c.paths, " "))
}

// childInject is the supervised process.
func childInject(req string) {
	var j job
	if err := json.Unmarshal([]byte(req), &j); err != nil {
		panic(err)
	}
	if err := superviseMe(3); err != nil {
		fmt.Fprintln(os.Stderr, "cannot be supervised:", err)
		os.Exit(99)
	}
	e := Env{Dir: j.Dir, Home: j.Home, Stdout: os.Stdout, Stderr: os.Stderr, UID: os.Geteuid(), MountInfo: j.MountInfo, Ancestors: func() []string { return nil }}
	code := 0
	say := func(err error) {
		code = 1
		fmt.Fprintln(os.Stderr, err)
	}
	tell := func(outs []Outcome) {
		for _, o := range outs {
			if o.Err != nil {
				say(o.Err)
			}
		}
	}
	switch j.Op {
	case "put":
		code = Put(e, Config{}, "rm", j.Args, "").Code
	case "restore", "purge":
		items, errs := List(e)
		for _, err := range errs {
			say(err)
		}
		for _, it := range items {
			if it.Problem != "" {
				say(errors.New(it.Problem))
			}
		}
		if j.Op == "restore" {
			tell(Restore(e, items, j.Options))
		} else {
			tell(Purge(e, items))
		}
	case "empty":
		outs, errs := Empty(e)
		for _, err := range errs {
			say(err)
		}
		tell(outs)
	}
	syscall.Exit(code) // os.Exit would write coverage, through the faults
}

// superviseMe installs the filter and sends its listener through a socket.
func superviseMe(socket int) error {
	runtime.LockOSThread()
	var prog []unix.SockFilter
	prog = append(prog, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0})
	for nr := range fileCalls {
		prog = append(prog,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
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

// verdictOf says what happens to a call: 0 it passes; dies; else the error.
type verdictOf func(c call) syscall.Errno

const dies = syscall.Errno(0x7fff)

// supervised is what became of a job.
type supervised struct {
	calls  int
	killed bool
	code   int
	stderr string
	hung   bool
}

// errNoSupervision: the kernel, or what surrounds this process, forbids it.
var errNoSupervision = errors.New("seccomp user notifications are not to be had")

// supervise runs a job; only calls about files below one of roots count, and
// none elsewhere may change anything.
func supervise(j job, roots []string, decide verdictOf) (supervised, error) {
	var res supervised
	req, err := json.Marshal(j)
	if err != nil {
		return res, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return res, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	defer unix.Close(pair[0])
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), injectEnv+"="+string(req), "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Dir = "/"
	var errw bytes.Buffer
	cmd.Stderr = &errw
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // Pdeathsig is about the thread
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		theirs.Close()
		return res, err
	}
	theirs.Close()
	kill := func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A program that hangs is killed, so that the listener ends.
	timer := time.AfterFunc(time.Minute, func() { res.hung = true; kill() })
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
	res.code, res.stderr = cmd.ProcessState.ExitCode(), notCoverage.ReplaceAllString(errw.String(), "")
	if err == nil && werr != nil && cmd.ProcessState == nil {
		err = werr
	}
	if res.code == 99 {
		return res, fmt.Errorf("%w: %s", errNoSupervision, res.stderr)
	}
	return res, err
}

func receive(socket int) (int, error) {
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	var n int
	err := again(func() (err error) {
		_, n, _, _, err = unix.Recvmsg(socket, b, oob, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return -1, err
	}
	ms, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(ms) != 1 {
		return -1, nil // the child says why
	}
	fds, err := unix.ParseUnixRights(&ms[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// watch answers the listener until the processes have ended.
func watch(listener, pid int, roots []string, res *supervised, decide verdictOf, kill func()) error {
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
		c := call{nr: int32(ne.Uint32(req[16:]))}
		for i := range c.args {
			c.args[i] = ne.Uint64(req[32+8*i:])
		}
		errno := syscall.Errno(0)
		if tid := int(ne.Uint32(req[8:])); !res.killed && c.about(tid, roots) {
			res.calls++
			c.n = res.calls
			errno = decide(c)
		} else if c.changes() {
			errno = unix.EPERM // whatever the code under test is up to
		}
		if errno == dies {
			res.killed = true
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

// about fills in the paths, and reports whether one lies below roots.
func (c *call) about(tid int, roots []string) bool {
	proc := "/proc/" + strconv.Itoa(tid)
	add := func(p string) {
		c.paths = append(c.paths, p)
	}
	fd := func(n uint64) string {
		if int32(n) == unix.AT_FDCWD {
			p, _ := os.Readlink(proc + "/cwd")
			return p
		}
		p, _ := os.Readlink(proc + "/fd/" + strconv.Itoa(int(int32(n))))
		return p
	}
	pos := pathArgs(c.nr)
	for _, i := range pos {
		p := peek(tid, c.args[i+1])
		if rest, ok := strings.CutPrefix(p, "/proc/self/fd/"); ok {
			n, _ := strconv.Atoi(rest)
			p = fd(uint64(n))
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(fd(c.args[i]), p)
		}
		add(p)
	}
	if pos == nil {
		add(fd(c.args[0]))
	}
	return slices.ContainsFunc(c.paths, func(p string) bool {
		return slices.ContainsFunc(roots, func(r string) bool { return within(p, r) })
	})
}

// changes reports whether the call would change a directory or a file's
// attributes.
func (c call) changes() bool {
	switch c.nr {
	case unix.SYS_OPENAT:
		return c.args[2]&unix.O_CREAT != 0
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

func needsSupervision(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNoSupervision) {
		t.Skip("needs seccomp user notifications (Linux 5.19 or later): ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// notCoverage are the complaints of a test binary with -cover, whose own files
// a fault can hit, too.
var notCoverage = regexp.MustCompile(`(?m)^(error: coverage|warning: GOCOVERDIR|error: setting GOCOVERDIR).*\n`)
