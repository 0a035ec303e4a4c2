package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cached is a configuration as it was read, and the file that it was read from.
type cached struct {
	Version int
	Path    string
	ID      [5]int64
	Read    int64 // wall clock, ns
	Config  Config
}

// cacheVersion changes with Config and Default.
const cacheVersion = 1

// racyWindow: a file that changed so shortly before it was read may have
// changed again without its times showing it.
const racyWindow = int64(2 * time.Second)

// LoadCached is Load, but a file that is still the one that was read last is
// taken from cacheDir, so that a guarded command reads no YAML. A cache that
// others can write, or that cannot be written, is done without.
func LoadCached(path, cacheDir string) (Config, error) {
	id, ok := fileID(path)
	if !ok || !filepath.IsAbs(cacheDir) {
		return Load(path)
	}
	// By version, so that two versions side by side do not replace each other's.
	name := filepath.Join(cacheDir, "config-"+strconv.Itoa(cacheVersion)+".json")
	if c, ok := readCached(name); ok && c.Version == cacheVersion && c.Path == path && c.ID == id && c.Read-max(id[1], id[2]) >= racyWindow {
		writeLevel(cacheDir, levelOf(id, c.Config.LogLevel))
		return c.Config, nil
	}
	now := time.Now().UnixNano()
	c, err := Load(path)
	if after, ok := fileID(path); ok && after == id && now-max(id[1], id[2]) >= racyWindow {
		if err == nil {
			writeCached(name, cached{cacheVersion, path, id, now, c})
		}
		writeLevel(cacheDir, levelOf(id, c.LogLevel))
	}
	return c, err
}

// levelLink is a symbolic link beside the cached configuration that leads
// nowhere: its text tells the log_level of a config.yaml that was read before,
// for one system call.
const levelLink = "log-level"

func levelOf(id [5]int64, level string) string { return fmt.Sprintf("%x:%s", id, level) }

func writeLevel(cacheDir, text string) {
	name := filepath.Join(cacheDir, levelLink)
	if old, err := os.Readlink(name); err == nil && old == text {
		return
	}
	tmp := filepath.Join(cacheDir, ".new-"+levelLink)
	_ = os.Remove(tmp) // of a killed process, or of one that comes second
	if os.Symlink(text, tmp) == nil && os.Rename(tmp, name) != nil {
		_ = os.Remove(tmp)
	}
}

// Debugging reports whether log_level is debug. Where there is no config.yaml that
// is one system call, where it is the one that was read last three.
func Debugging(path, cacheDir string) bool {
	id, ok := fileID(path)
	if !ok {
		return false
	}
	if text, err := os.Readlink(filepath.Join(cacheDir, levelLink)); err == nil {
		if known := levelOf(id, ""); strings.HasPrefix(text, known) {
			return text[len(known):] == "debug"
		}
	}
	if unix.Access(cacheDir, unix.W_OK) != nil {
		return false // nothing could be kept, so that each command would read it anew
	}
	c, _ := LoadCached(path, cacheDir)
	return c.LogLevel == "debug"
}

// fileID tells whether a file is still the same: size, mtime and ctime in
// nanoseconds, inode, device. It is not ok for files that Load refuses.
func fileID(path string) (id [5]int64, ok bool) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o022 != 0 ||
		(int(st.Uid) != os.Geteuid() && st.Uid != 0) || unix.Access(path, unix.R_OK) != nil {
		return id, false
	}
	return [5]int64{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), int64(st.Ino), int64(st.Dev)}, true
}

func readCached(name string) (c cached, ok bool) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return c, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 || st.Size > maxSize {
		return c, false
	}
	buf := make([]byte, st.Size)
	n, err := unix.Read(fd, buf)
	return c, err == nil && n == len(buf) && json.Unmarshal(buf, &c) == nil
}

func writeCached(name string, c cached) {
	if data, err := json.Marshal(c); err == nil {
		_ = Replace(name, data, false)
	}
}
