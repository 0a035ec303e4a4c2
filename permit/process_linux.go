package permit

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// startOf returns when a process started, in clock ticks since boot (proc(5));
// 0 when there is none or the system does not tell. Pid and start together name
// one process for ever.
func startOf(pid int) uint64 {
	_, start := statOf(pid)
	return start
}

// statOf returns the parent and the start of a process.
func statOf(pid int) (ppid int, start uint64) {
	if pid <= 0 {
		return 0, 0
	}
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0
	}
	// The name in parentheses may hold spaces and parentheses.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 || f[0] == "X" || f[0] == "Z" && !hasThreads(pid) {
		return 0, 0
	}
	ppid, _ = strconv.Atoi(f[1])
	start, _ = strconv.ParseUint(f[19], 10, 64)
	return ppid, start
}

// hasThreads says that a process whose first thread has ended lives on in
// others: one that execs from another thread looks so until the exec is done,
// which takes long on a busy machine.
func hasThreads(pid int) bool {
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	return err == nil && len(entries) > 1
}

// belonging returns the living processes of a run: the script's shell, what
// descends from it, and what carries the run's mark, as far as they started no
// earlier than since. Never except.
func belonging(id string, root int, since uint64, except int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	parents := map[int]int{}
	marked := map[int]bool{root: true}
	mark := []byte("\x00" + RunVar + "=" + id + "\x00")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == except {
			continue
		}
		ppid, start := statOf(pid)
		if start < since || start == 0 {
			continue
		}
		parents[pid] = ppid
		if env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ")); err == nil && bytes.Contains(append([]byte{0}, env...), mark) {
			marked[pid] = true
		}
	}
	var out []int
	for pid := range parents {
		for p, n := pid, 0; p > 1 && n < 1000; p, n = parents[p], n+1 {
			if marked[p] {
				out = append(out, pid)
				break
			}
		}
	}
	return out
}
