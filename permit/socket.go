package permit

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A run's socket by bare system calls: package net would cost every shim the
// start of what it links.

// listen makes the run's socket, R/sock, and listens on it.
func (d *runDir) listen() (*os.File, error) {
	dir, err := os.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	addr := filepath.Join(d.path, "sock")
	if runtime.GOOS == "linux" { // through the descriptor: the path may be too long for a socket
		addr = fmt.Sprintf("/proc/self/fd/%d/sock", dir.Fd())
	}
	syscall.ForkLock.RLock()
	s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(s)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(s, &unix.SockaddrUnix{Name: addr}); err != nil {
		unix.Close(s)
		return nil, &os.PathError{Op: "bind", Path: filepath.Join(d.path, "sock"), Err: err}
	}
	if err := unix.Listen(s, 4096); err != nil { // the system's own limit is lower
		unix.Close(s)
		return nil, os.NewSyscallError("listen", err)
	}
	return os.NewFile(uintptr(s), "socket"), nil
}

// listener accepts what comes to a socket that this process was given.
type listener struct {
	file *os.File
	conn syscall.RawConn
}

// listenOn takes over a descriptor that listens. Any other is an error.
func listenOn(fd int) (*listener, error) {
	if on, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN); err != nil || on == 0 {
		return nil, fmt.Errorf("descriptor %d is no socket that listens", fd)
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	f := os.NewFile(uintptr(fd), "socket")
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &listener{f, conn}, nil
}

// accept waits for the next connection. The error is os.ErrClosed after close.
func (l *listener) accept() (*os.File, error) {
	var c int
	var err error
	waited := l.conn.Read(func(fd uintptr) bool {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		for {
			if c, _, err = unix.Accept(int(fd)); err != unix.EINTR && err != unix.ECONNABORTED {
				break
			}
		}
		if err == nil {
			unix.CloseOnExec(c)
		}
		return err != unix.EAGAIN
	})
	if waited != nil {
		return nil, waited
	}
	if err != nil {
		return nil, os.NewSyscallError("accept", err)
	}
	if err := unix.SetNonblock(c, true); err != nil {
		unix.Close(c)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(c), "connection"), nil
}

func (l *listener) close() { _ = l.file.Close() }
