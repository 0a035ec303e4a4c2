package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"safeshell/config"
	"safeshell/spool"
)

// tree lists all files under the scene's SAFESHELL_HOME; the journal's rotated
// files count as one.
func (s *scene) tree() (map[string]bool, error) {
	out := map[string]bool{}
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(s.home, path)
		if strings.HasPrefix(rel, "log/journal.jsonl.") {
			rel = "log/journal.jsonl" // there may be none just now
		}
		out[rel] = true
		return nil
	})
	return out, err
}

// expected is what a home in use may hold beside what it held at first. Answers
// that are remembered are no litter.
func expected(rel string) bool {
	switch dir, name := filepath.Split(rel); dir {
	case "log/":
		return name == "journal.jsonl"
	case "grants/":
		return strings.HasSuffix(name, ".json") && len(name) == 37
	case "spool/":
		return slices.Contains([]string{"VERSION", "monitor.lock", "tmp", "req", "done", "grant", "pass"}, name)
	case "cache/":
		return !strings.HasPrefix(name, ".new-")
	case "":
		return slices.Contains([]string{".", "log", "spool", "grants", "cache", "shims", "trust"}, name)
	}
	return false
}

// checkLitter demands that nothing is left once all are dead and their time is
// over.
func (s *scene) checkLitter(before map[string]bool) error {
	sp, err := s.spool()
	if err != nil {
		return err
	}
	for range 2 { // the dead are retired by the first
		if err := sp.GC(time.Now().Add(spool.Keep + time.Minute)); err != nil {
			s.r.violate("gc: %v", err)
		}
	}
	// So are files that a killed process had begun, as a monitor does it.
	config.SweepUnfinished(time.Now().Add(24*time.Hour), filepath.Join(s.home, "cache"), filepath.Join(s.home, "trust"), filepath.Join(s.home, "grants"))
	after, err := s.tree()
	if err != nil {
		return err
	}
	for rel := range after {
		if !before[rel] && !expected(rel) {
			s.r.violate("left over: %s", rel)
		}
	}
	for rel := range before {
		if !after[rel] {
			s.r.violate("lost: %s", rel)
		}
	}
	return s.checkLocks(nil)
}

// checkLocks demands that nobody holds a lock on a file of the home, but for
// those processes.
func (s *scene) checkLocks(but []int) error {
	inodes := map[string]string{}
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		inodes[fmt.Sprint(fi.Sys().(*syscall.Stat_t).Ino)] = path
		return nil
	})
	if err != nil {
		return err
	}
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		s.r.note("locks were not looked at: %v", err)
		return nil
	}
	var fi syscall.Stat_t
	if err := syscall.Stat(s.home, &fi); err != nil {
		return err
	}
	dev := fmt.Sprintf("%02x:%02x", fi.Dev>>8&0xfff, fi.Dev&0xff)
	for l := range strings.Lines(string(b)) {
		f := strings.Fields(l) // 1: FLOCK ADVISORY WRITE pid maj:min:inode 0 EOF
		if len(f) < 6 {
			continue
		}
		ino, ok := strings.CutPrefix(f[5], dev+":")
		if path, held := inodes[ino]; ok && held && !slices.ContainsFunc(but, func(pid int) bool { return f[4] == fmt.Sprint(pid) }) {
			s.r.violate("process %s still holds a lock on %s", f[4], path)
		}
	}
	return nil
}

// descriptors counts what a process has open, by what it is.
func descriptors(pid int) map[string]int {
	out := map[string]int{}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, _ := os.ReadDir(dir)
	for _, n := range names {
		to, err := os.Readlink(filepath.Join(dir, n.Name()))
		if err != nil {
			continue
		}
		if strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "socket:") {
			to, _, _ = strings.Cut(to, "[")
		}
		out[strings.TrimSuffix(to, " (deleted)")]++
	}
	return out
}

// checkDescriptors compares what a survivor has open with what it had; a
// rotation or a new spool may take a moment to be noticed.
func (s *scene) checkDescriptors(what string, pid int, before map[string]int) {
	var more []string
	for range 100 {
		more = nil
		for to, n := range descriptors(pid) {
			if n > before[to] {
				more = append(more, fmt.Sprintf("%s (%d more)", to, n-before[to]))
			}
		}
		if more == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.r.violate("%s has open what it had not before: %v", what, more)
}
