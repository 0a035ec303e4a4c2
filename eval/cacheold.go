package eval

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Compiled rules that nobody used for cacheAge are removed; a use sets their
// date, at most once in cacheTouch.
const (
	cacheAge   = 90 * 24 * time.Hour
	cacheTouch = 7 * 24 * time.Hour
)

// SweepCache removes from the directory of compiled rules what nobody needs any
// more: files that were not used for 90 days, and those of rules files that are
// gone. Whatever else lies there stays, and what cannot be removed does. It
// returns how many files went. What went is compiled again at the next use.
func SweepCache(dir string, now time.Time) (removed int) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		stem, kind, ok := strings.Cut(e.Name(), ".")
		if !ok || !e.Type().IsRegular() || kind != "rules" && kind != "bad" || !isCacheStem(stem) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		fi, err := e.Info()
		if err != nil {
			continue
		}
		if now.Sub(fi.ModTime()) < cacheAge && !isOrphan(name, stem) {
			continue
		}
		if os.Remove(name) == nil {
			removed++
		}
	}
	return removed
}

// isCacheStem recognises the names that cacheBase makes, of any version.
func isCacheStem(s string) bool {
	sum, format, ok := strings.Cut(s, "-")
	return ok && len(sum) == 32 && strings.Trim(sum, "0123456789abcdef") == "" && format != ""
}

// isOrphan says that the rules file of a cached one is gone. What cannot be read,
// or is of another version, is not known to be.
func isOrphan(name, stem string) bool {
	f, size, _ := openPrivate(name)
	if f == 0 {
		return false
	}
	defer f.close()
	path := ""
	if strings.HasSuffix(name, ".bad") {
		data := make([]byte, min(size, MaxFileSize))
		if n := len(badMagic); f.readAt(data, 0) == nil && len(data) > n && string(data[:n]) == badMagic {
			d := decoder{s: string(data[n:])}
			path = d.meta().path
		}
	} else if b := (&blob{file: f, size: int(size)}); size <= 64*MaxFileSize && openBlob(b) == nil {
		d := decoder{s: b.meta}
		path = d.meta().path
	}
	if !filepath.IsAbs(path) || filepath.Base(cacheBase(path, filepath.Dir(name))) != stem {
		return false
	}
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return err == unix.ENOENT || err == unix.ENOTDIR
}

// touchOld sets the date of a cached file that is used, when it is some days old,
// so that it shows which are.
func touchOld(name string, mtime int64) {
	now := time.Now()
	if now.Sub(time.Unix(0, mtime)) > cacheTouch {
		ts := unix.NsecToTimespec(now.UnixNano())
		_ = unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
	}
}
