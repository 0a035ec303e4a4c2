package shims

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/gate"
)

// seenFile says when the directories of PATH changed last, as far as their programs
// have been looked at: a line "seconds.nanos path" each. Shells compare its time
// with the directories' at each prompt. The first line is that of the shims: where
// it is another, shells forget where they found programs.
func seenFile(shims string) string { return filepath.Join(filepath.Dir(shims), "path-seen") }

const maxSeen = 200 // lines: each shell and agent may have a PATH of its own

// Follow makes links for commands that rules name and whose programs have come
// into PATH since it, or Refresh, looked. It only adds: another PATH may lead to
// what this one does not. Where nothing changed it costs a stat for each directory.
func Follow(p Process, g *gate.Gate) (added []string) {
	return follow(g.Paths().Shims, Link(g.Paths().Home), p.lookup, func() []string {
		r, _ := g.Rules()
		var names []string
		for _, n := range r.Names(workingDir()) {
			names = append(names, n.Name)
		}
		return names
	})
}

func follow(dir, target string, getenv func(string) (string, bool), names func() []string) (added []string) {
	file := seenFile(dir)
	seen := readSeen(file)
	path, _ := getenv("PATH")
	lines, changed := seenLines(path, dir, seen)
	if len(changed) == 0 {
		return nil
	}
	if _, err := os.Stat(dir); err != nil {
		return nil // not set up
	}
	f := newFinder(getenv)
	rest := map[string]bool{}
	for _, n := range append(names(), carriers...) {
		if _, err := os.Lstat(filepath.Join(dir, n)); Linkable(n) && os.IsNotExist(err) {
			rest[n] = true
		}
	}
	waiting := false
	for _, d := range changed {
		entries, err := os.Open(d)
		if err != nil {
			continue
		}
		there, _ := entries.Readdirnames(-1)
		entries.Close()
		for _, n := range there {
			var st unix.Stat_t
			switch {
			case !rest[n]:
			case f.candidate(d, n) != "":
				if link(target, filepath.Join(dir, n)) == nil {
					added = append(added, n)
					delete(rest, n)
				}
			case unix.Stat(d+"/"+n, &st) == nil && st.Mode&0o111 == 0:
				// A chmod follows, which the directory's time does not show.
				lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasSuffix(l, " "+d+"\n") })
				waiting = true
			}
		}
	}
	writeSeen(dir, lines, seen)
	if waiting {
		_ = os.Chtimes(file, time.Time{}, time.Unix(0, 0))
	}
	return added
}

// seenLines returns a line for each directory of PATH as it is now, and the
// directories whose line is not in seen.
func seenLines(path, shims string, seen []byte) (lines, changed []string) {
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) || d == shims || strings.Contains(d, "\n") {
			continue
		}
		line := seenLine(d)
		if line == "" {
			continue // once it is there, its line is new
		}
		lines = append(lines, line)
		if i := bytes.Index(seen, []byte(line)); i < 0 || i > 0 && seen[i-1] != '\n' {
			changed = append(changed, d)
		}
	}
	return lines, changed
}

func seenLine(dir string) string {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%d.%09d %s\n", st.Mtim.Sec, st.Mtim.Nsec, dir)
}

// writeSeen replaces the file by lines and what it held of other directories.
// Where it cannot be written, the next command looks again.
func writeSeen(shims string, lines []string, old []byte) {
	lines = append([]string{seenLine(shims)}, lines...)
	have := map[string]bool{}
	for _, l := range lines {
		_, d, _ := strings.Cut(l, " ")
		have[d] = true
	}
	for l := range strings.Lines(string(old)) {
		if _, d, _ := strings.Cut(l, " "); !have[d] && len(lines) < maxSeen {
			lines = append(lines, l)
		}
	}
	_ = config.Replace(seenFile(shims), []byte(strings.Join(lines, "")), false)
}

// readSeen does without os.File, whose first one in a process sets up a poller.
func readSeen(file string) []byte {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	buf := make([]byte, 32<<10)
	n, _ := unix.Read(fd, buf)
	return buf[:max(n, 0)]
}

// Missing returns those names whose programs are in PATH and which have no link.
func Missing(dir string, names []string, getenv func(string) (string, bool)) (missing []string) {
	f := newFinder(getenv)
	for _, n := range append(names, carriers...) {
		if _, err := os.Lstat(filepath.Join(dir, n)); Linkable(n) && os.IsNotExist(err) {
			if exe, _ := f.find(n, ""); exe != "" {
				missing = append(missing, n)
			}
		}
	}
	return missing
}
