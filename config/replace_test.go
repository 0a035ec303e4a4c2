package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Who reads while a file is replaced sees one content or the other, whole, and
// nothing else stays behind.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	contents := [][]byte{bytes.Repeat([]byte("a"), 70000), bytes.Repeat([]byte("b"), 50000)}
	if err := Replace(path, contents[0], true); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := 0; n < 100; n++ {
				if err := Replace(path, contents[(n+i)%2], n%20 == 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			got, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
				t.Errorf("%d bytes, %v", len(got), err)
				return
			}
		}
	})
	wg.Wait()
	close(stop)
	reader.Wait()
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 1 {
		t.Errorf("left behind: %v", all)
	}
}

// What cannot be replaced stays, and so does nothing else.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	if err := Replace(filepath.Join(dir, "none", "f"), nil, true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(taken, []byte("x"), true); err == nil {
		t.Error("a directory was replaced")
	}
	if all, _ := os.ReadDir(dir); len(all) != 1 {
		t.Errorf("left behind: %v", all)
	}
}
