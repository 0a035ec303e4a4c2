package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestLoadCached(t *testing.T) {
	dir := t.TempDir()
	path, cache := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	same := func(what string) {
		t.Helper()
		want, wantErr := Load(path)
		got, err := LoadCached(path, cache)
		if !reflect.DeepEqual(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %+v, %v; want %+v, %v", what, got, err, want, wantErr)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same("no file")
	write("log_level: debug\npermissions: {commands: [curl]}\ntrash: {keep_days: 7}\n")
	same("fresh")
	time.Sleep(time.Duration(racyWindow) + 50*time.Millisecond)
	same("settled")
	name := filepath.Join(cache, "config-1.json")
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	same("from the cache")
	write("log_level: error\ntrash: {keep_days: 9}\n")
	same("edited")
	write("log_level: never\n")
	same("broken")
	write("log_level: debug\npermissions: {commands: [curl]}\ntrash: {keep_days: 7}\n")
	for _, mode := range []os.FileMode{0o666, 0o600} {
		if err := os.WriteFile(name, []byte("{"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		same("damaged cache")
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	same("writable by others")
}
