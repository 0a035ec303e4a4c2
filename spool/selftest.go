package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// SelfTest proves that locks work on the spool's file system: a lock held by
// another process must be seen, and must be gone when that process is killed.
// Docker Desktop's shared folders (docker/for-mac#7004) and some network mounts
// fail it; the error says what to do.
//
// The other process is a plain sleep that inherits the locked file, so that no
// code of ours runs in it. Where there is none, two open files stand in.
func (s *Spool) SelfTest() error {
	var err error
	for range 5 { // a gc whose clock was just set takes the file for an old one
		path := s.path("tmp", "f-"+newID(s.wall()))
		err = s.selfTest(path)
		gone := s.absent("tmp", filepath.Base(path))
		os.Remove(path)
		if err == nil || !gone {
			break
		}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Op == "open" { // locks were not even tried
		return fmt.Errorf("%w: %w", ErrUnusable, s.withHint(err))
	}
	if err != nil {
		return fmt.Errorf("%w: file locks do not work in %s: %w; set SAFESHELL_SPOOL to a directory on a local disk, on both sides", ErrUnusable, Visible(s.dir), err)
	}
	return nil
}

func (s *Spool) selfTest(path string) error {
	owner, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer owner.Close()
	if err := flock(owner, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	runtime.LockOSThread() // for dieWithUs
	defer runtime.UnlockOSThread()
	end := owner.Close // without another process: ours lets go
	if child := sleeper(owner); child != nil {
		owner.Close() // the child's copy keeps the lock
		end = func() error {
			err := child.Process.Kill()
			_ = child.Wait()
			return err
		}
	}
	seen := s.lockSeen(path)
	if err := end(); err != nil {
		return err
	}
	if !seen {
		return errors.New("a lock of another process is not seen")
	}
	for i := 0; s.lockSeen(path); i++ {
		if i == 100 {
			return errors.New("the lock of a dead process stays")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// sleeper starts a process that does nothing but keep f open for a minute; nil
// if there is no such program. It dies with us where the system can do that;
// elsewhere nothing but a kill or that minute ends it.
func sleeper(f *os.File) *exec.Cmd {
	for _, sleep := range []string{"/bin/sleep", "/usr/bin/sleep"} {
		cmd := exec.Command(sleep, "60")
		cmd.Env = []string{}
		cmd.ExtraFiles = []*os.File{f}
		dieWithUs(cmd)
		if cmd.Start() == nil {
			return cmd
		}
	}
	return nil
}

func (s *Spool) lockSeen(path string) bool {
	f, err := os.OpenFile(path, readOnly, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}
