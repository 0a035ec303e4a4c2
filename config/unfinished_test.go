package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweepUnfinished(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{
		".new-old": 2 * time.Hour, ".new-future": -2 * time.Hour, ".new-young": time.Minute, "rules.json": 2 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".new-dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	SweepUnfinished(now, dir, filepath.Join(dir, "none"))
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if len(left) != 3 || left[0] != ".new-dir" || left[1] != ".new-young" || left[2] != "rules.json" {
		t.Errorf("left: %v", left)
	}
}
