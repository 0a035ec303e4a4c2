package permit

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"safeshell/config"
)

// Confinement is what the kernel is asked to enforce on a script and all that it
// starts (Landlock). What it does not name, it does not restrict: reading, the
// network. Signals and connections to abstract unix sockets stay among the
// confined processes where the kernel can keep them there.
type Confinement struct {
	// Exec are the only files and directories (with all below) from which
	// programs may be executed. Empty: execution is not restricted.
	Exec []string
	// Write are the only files and directories that may be written to.
	Write []string
	// Keep are files and directories below those that must stay as they are, and
	// Hold directories that must stay where they are.
	Keep, Hold []string
	// Guarded are what is looked at when the run has ended, there or not: what is
	// new is set aside.
	Guarded []string
	// Repositories are the .git of the project and of what lies in it.
	Repositories []string

	apart *apartSpec // the process has namespaces of its own already
}

// devices may be written to by every script.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// writable are the directories that a script may write to: the project with
// git's own directories, the temporary ones, the trash, devices, and what a
// trusted permissions.yaml names. Never safeshell's own.
func writable(area Area, paths config.Paths, getenv func(string) string, more []string) []string {
	out := []string{area.Root}
	out = append(out, area.GitDirs...)
	out = append(out, "/tmp", "/var/tmp")
	if t := getenv("TMPDIR"); filepath.IsAbs(t) {
		if real, err := filepath.EvalSymlinks(t); err == nil && temporary(real) && !contains(real, paths.Home) && !contains(real, paths.User) {
			out = append(out, real)
		}
	}
	out = append(out, devices...)
	data := getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(paths.User, ".local/share")
	}
	if paths.User != "" {
		// The kernel can only name what is there.
		trash := filepath.Join(data, "Trash")
		if os.MkdirAll(trash, 0o700) == nil {
			out = append(out, trash)
		}
	}
	uid := strconv.Itoa(os.Geteuid())
	if top := mountTop(area.Root); top != "/" && top != "" {
		out = append(out, filepath.Join(top, ".Trash-"+uid), filepath.Join(top, ".Trash", uid))
	}
	out = append(out, more...)
	var list []string
	for _, p := range out {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// temporary reports whether TMPDIR's value really is a place for temporary
// files: an exported TMPDIR must not open any directory.
func temporary(dir string) bool {
	for _, top := range []string{"/tmp", "/var/tmp", "/run/user", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"} {
		if contains(top, dir) {
			return true
		}
	}
	fi, err := os.Stat(dir)
	return err == nil && (fi.Mode()&os.ModeSticky != 0 || strings.Contains(strings.ToLower(filepath.Base(dir)), "tmp"))
}

// contains reports whether inner is outer or lies in it.
func contains(outer, inner string) bool {
	if inner == "" {
		return false
	}
	_, ok := below(inner, outer)
	return ok || outer == inner || outer == "/"
}

// mountTop is the highest directory above path on the same device.
func mountTop(path string) string {
	dev := func(p string) (uint64, bool) {
		fi, err := os.Stat(p)
		if err != nil {
			return 0, false
		}
		st, ok := fi.Sys().(*syscall.Stat_t)
		if !ok {
			return 0, false
		}
		return uint64(st.Dev), true
	}
	d, ok := dev(path)
	for ok && path != "/" {
		up := filepath.Dir(path)
		if u, there := dev(up); !there || u != d {
			return path
		}
		path = up
	}
	return path
}
