package permit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"safeshell/shims"
)

// sysAdmin is CAP_SYS_ADMIN as a bit of a capability set.
const sysAdmin = 1 << unix.CAP_SYS_ADMIN

// maySetMounts says that this process may have mounts of its own as it is.
func maySetMounts() bool {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "\nCapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return err == nil && n&sysAdmin != 0
}

// holdMounts gives the calling thread mounts of its own, in which what is to be
// kept cannot be written, moved or replaced. The caller has locked the thread,
// and execs next. An error says that nothing is held so.
func (c Confinement) holdMounts() error {
	if len(c.Keep) == 0 {
		return nil
	}
	dir, dirErr := os.Getwd()
	switch {
	case c.apart != nil:
		if !shims.StartedApart() {
			return unix.EPERM
		}
		if err := mapSelf(c.apart.UID, c.apart.GID); err != nil {
			return err
		}
	case maySetMounts():
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
	default:
		return unix.EPERM
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	for _, p := range c.Hold { // a mount cannot be moved away or removed
		if err := unix.Mount(p, p, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return &os.PathError{Op: "mount", Path: p, Err: err}
		}
	}
	for _, p := range c.Keep {
		if err := holdOne(p); err != nil {
			return err
		}
	}
	if dirErr == nil {
		_ = unix.Chdir(dir) // through the new mounts
	}
	reopenDirectories()
	return nil
}

// reopenDirectories has the directories that the caller left open lead through the
// new mounts, too.
func reopenDirectories() {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		link := "/proc/self/fd/" + e.Name()
		if fi, serr := os.Stat(link); err != nil || serr != nil || !fi.IsDir() {
			continue
		}
		path, _ := os.Readlink(link)
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			unix.CloseOnExec(n)
			continue
		}
		_ = unix.Dup3(fd, n, 0)
		_ = unix.Close(fd)
	}
}

func holdOne(p string) error {
	if fi, err := os.Lstat(p); err != nil || fi.Mode()&os.ModeSymlink != 0 {
		return nil //nolint:nilerr // nothing to hold
	}
	if err := unix.Mount(p, p, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return &os.PathError{Op: "mount", Path: p, Err: err}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(p, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: p, Err: err}
	}
	// In a user namespace these flags must stay as they are.
	flags := uintptr(st.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	for _, f := range [...]struct{ st, ms uintptr }{{unix.ST_NOATIME, unix.MS_NOATIME}, {unix.ST_NODIRATIME, unix.MS_NODIRATIME}, {unix.ST_RELATIME, unix.MS_RELATIME}} {
		if uintptr(st.Flags)&f.st != 0 {
			flags |= f.ms
		}
	}
	if err := unix.Mount("", p, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|flags, ""); err != nil {
		return &os.PathError{Op: "remount", Path: p, Err: err}
	}
	return nil
}

// mapSelf makes the user the same in the namespace as outside.
func mapSelf(uid, gid int) error {
	_ = os.WriteFile("/proc/self/setgroups", []byte("deny"), 0)
	if err := os.WriteFile("/proc/self/uid_map", fmt.Appendf(nil, "%d %d 1\n", uid, uid), 0); err != nil {
		return err
	}
	return os.WriteFile("/proc/self/gid_map", fmt.Appendf(nil, "%d %d 1\n", gid, gid), 0)
}

// apartSpec is what the program goes on with when it was started anew, in
// namespaces of its own: a program in Go can enter a user namespace only before
// its runtime has started.
type apartSpec struct {
	Shell   []byte      `json:"shell"`
	Argv    [][]byte    `json:"argv"`
	Environ [][]byte    `json:"environ"`
	Confine Confinement `json:"confine"`
	UID     int         `json:"uid"`
	GID     int         `json:"gid"`
}

// execApart starts the program anew for that. It returns only if it cannot.
func (r *Run) execApart(p shims.Process) {
	if len(r.confine.Keep) == 0 || maySetMounts() || !shims.MayStartApart() {
		return
	}
	data, err := json.Marshal(apartSpec{
		Shell: []byte(r.Shell), Argv: toBytes(r.Argv), Environ: toBytes(r.Environ), Confine: r.confine, UID: os.Geteuid(), GID: os.Getegid(),
	})
	if err != nil || os.WriteFile(filepath.Join(r.Dir, apartFile), data, 0o600) != nil {
		return
	}
	p.Execve(r.binary, []string{"safeshell", "run", "--apart", r.Dir}, append([]string{shims.ApartVar + "=1"}, r.Environ...))
}

// ExecApart is the other half: `safeshell run --apart R`, started by Run.Exec
// alone.
func ExecApart(p shims.Process, dir string) int {
	runtime.LockOSThread()
	var a apartSpec
	data, err := os.ReadFile(filepath.Join(dir, apartFile))
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "safeshell: --apart is for safeshell's own use: %v\n", err)
		return shims.CodeStopped
	}
	a.Confine.apart = &a
	r := Run{Dir: dir, Shell: string(a.Shell), Argv: toStrings(a.Argv), Environ: toStrings(a.Environ), confine: a.Confine}
	return r.exec(p)
}
