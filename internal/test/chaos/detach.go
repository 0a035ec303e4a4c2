package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// safeshell lets nobody answer who hangs below the same terminal as the asking
// command. Run from a terminal, both sides of this program would; so it runs
// itself once more in a session without one, as a child of nobody here.

const statusVar = "SAFESHELL_CHAOS_STATUS"

// detach does so where it is needed; then done is true and code the other
// one's exit code.
func detach() (code int, done bool) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil || os.Getenv(statusVar) != "" {
		return 0, false
	}
	tty.Close()
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return 0, false
	}
	c := exec.Command("/bin/sh", append([]string{"-c", `"$0" "$@" <&- & echo $! >&3`, self}, os.Args[1:]...)...)
	c.Stdout, c.Stderr, c.ExtraFiles = os.Stdout, os.Stderr, []*os.File{pw}
	c.Env = append(os.Environ(), statusVar+"=3")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Run(); err != nil {
		return 0, false
	}
	pw.Close()
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGINT, syscall.SIGTERM)
	var pid int
	_, _ = fmt.Fscanln(pr, &pid) // no pid: nothing to pass on to
	go func() {
		for sig := range ch {
			if pid > 1 {
				_ = syscall.Kill(pid, sig.(syscall.Signal))
			}
		}
	}()
	if _, err := fmt.Fscanln(pr, &code); err != nil {
		code = 1 // it was killed
	}
	return code, true
}

// leave ends the program, and tells the one that waits for it.
func leave(code int) {
	if fd, err := strconv.Atoi(os.Getenv(statusVar)); err == nil {
		fmt.Fprintln(os.NewFile(uintptr(fd), "status"), code)
	}
	os.Exit(code)
}

// reap kills what still runs of the row that works in dir: processes that
// carry its mark in their environment.
func reap(dir string) (found int) {
	mark := "\x00" + workVar + dir + "\x00"
	for range 50 {
		alive := 0
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, name := range environs {
			b, err := os.ReadFile(name)
			if err != nil || !strings.Contains("\x00"+string(b), mark) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				alive++
			}
		}
		if alive == 0 {
			return found
		}
		found = max(found, alive)
		time.Sleep(20 * time.Millisecond)
	}
	return found
}
