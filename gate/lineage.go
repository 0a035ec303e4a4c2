package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lineage returns a process and its ancestors, nearest first, to the one that
// has no parent here: init, or what entered a container from outside. why is
// not empty where the chain could not be followed to that end; the part that
// was seen is returned then.
func lineage(proc string, pid int) (chain []process, why string) {
	for range 5 {
		if chain, why = climb(proc, pid); why != "" {
			continue // a parent may just have ended
		}
		if why = changed(proc, chain); why == "" {
			return chain, ""
		}
	}
	return chain, why
}

// climb is one walk from pid to the top.
func climb(proc string, pid int) (chain []process, why string) {
	seen := map[int]bool{}
	for ; pid > 0; pid = chain[len(chain)-1].ppid {
		if seen[pid] {
			return chain, fmt.Sprintf("process %d came up twice among its ancestors", pid)
		}
		seen[pid] = true
		p, err := readProc(proc, pid)
		if err != nil {
			return chain, fmt.Sprintf("process %d above it cannot be seen in %s (%v)", pid, proc, reason(err))
		}
		chain = append(chain, p)
	}
	if len(chain) == 0 {
		return nil, "it cannot be seen in " + proc
	}
	return chain, ""
}

// changed reports whether a chain is no longer what it was when it was read.
func changed(proc string, chain []process) string {
	for _, p := range chain {
		if now, err := readProc(proc, p.pid); err != nil || now.start != p.start || now.ppid != p.ppid {
			return "its ancestors changed while they were looked at"
		}
	}
	return ""
}

// reason is an error without what the message says already.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// ownView says what is wrong with this process's view of the others: /proc that
// shows another PID namespace than its own, or is none, or children that would
// be put into another one. It returns "" where nothing is.
func ownView(proc string) string {
	self, err := os.Readlink(filepath.Join(proc, "self"))
	if err != nil {
		return "there is no " + proc + ", which shows who calls"
	}
	var st unix.Statfs_t
	if unix.Statfs(proc, &st) == nil && int64(st.Type) != procMagic {
		return proc + " is not the kernel's"
	}
	if self != strconv.Itoa(os.Getpid()) {
		return "it runs in a PID namespace of its own, below the one that " + proc + " shows"
	}
	own, _ := os.Readlink(filepath.Join(proc, "self/ns/pid"))
	if next, err := os.Readlink(filepath.Join(proc, "self/ns/pid_for_children")); err == nil && next != own {
		return "it is about to enter another PID namespace"
	}
	if own == "" || own == firstPID || isContainer(proc) {
		return ""
	}
	return "it runs in a PID namespace of its own, from which the agents of this machine cannot be seen"
}

const procMagic = 0x9fa0 // statfs(2), PROC_SUPER_MAGIC

// The namespaces in which a machine starts (the kernel's fixed inode numbers,
// linux/proc_ns.h).
const (
	firstPID = "pid:[4026531836]"
	firstUTS = "uts:[4026531838]"
	firstIPC = "ipc:[4026531839]"
)

// isContainer tells a container, which has further namespaces of its own (or is
// Flatpak's), from a mere PID namespace.
func isContainer(proc string) bool {
	uts, _ := os.Readlink(filepath.Join(proc, "self/ns/uts"))
	ipc, _ := os.Readlink(filepath.Join(proc, "self/ns/ipc"))
	if uts != firstUTS && ipc != firstIPC {
		return true
	}
	_, err := os.Lstat("/.flatpak-info")
	return err == nil
}

// inView finds a process of another PID namespace (its pid there, its start) as
// this one sees it; 0 when it cannot be seen from here.
func inView(proc, ns string, pid int, start uint64) int {
	found := 0
	eachProcess(proc, func(p int) bool {
		if link, err := os.Readlink(filepath.Join(proc, strconv.Itoa(p), "ns/pid")); err == nil && link != ns {
			return true
		}
		status, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(p), "status"))
		if err != nil {
			return true
		}
		_, line, _ := strings.Cut(string(status), "\nNSpid:")
		line, _, _ = strings.Cut(line, "\n")
		pids := strings.Fields(line)
		if len(pids) < 2 || pids[len(pids)-1] != strconv.Itoa(pid) {
			return true
		}
		if q, err := readProc(proc, p); err != nil || q.start != start {
			return true
		}
		found = p
		return false
	})
	return found
}

// eachProcess calls f with every process id of /proc until it returns false.
func eachProcess(proc string, f func(pid int) bool) {
	d, err := os.Open(proc)
	if err != nil {
		return
	}
	names, _ := d.Readdirnames(-1)
	d.Close()
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && !f(pid) {
			return
		}
	}
}
