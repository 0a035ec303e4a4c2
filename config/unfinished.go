package config

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// unfinishedAge is far longer than anybody takes to write a small file.
const unfinishedAge = time.Hour

// SweepUnfinished removes from safeshell's own directories the temporary files
// (.new-*) of processes that were killed before they could rename them. A date
// in the future counts as old: the clock was set back. What cannot be removed
// stays.
func SweepUnfinished(now time.Time, dirs ...string) {
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), ".new-") {
				continue
			}
			if fi, err := e.Info(); err == nil && now.Sub(fi.ModTime()).Abs() > unfinishedAge {
				_ = os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}
