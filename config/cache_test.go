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

// The log level is known without reading the configuration that was read before,
// and never wrongly: not after a change, nor where nothing can be kept.
func TestDebugging(t *testing.T) {
	dir := t.TempDir()
	path, cache := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "cache")
	if Debugging(path, cache) {
		t.Error("without a configuration")
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log_level: DEBUG\n")
	if Debugging(path, cache) {
		t.Error("where nothing can be kept each command would read it")
	}
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{"log_level: DEBUG\n", true}, {"log_level: info\n", false}, {"log_level: debug\ntrash: {keep_days: 9}\n", true},
		{"log_level: debug\ntrash: {keep_days: 0}\n", false}, // not in force
		{"log_level: loud\n", false}, {"[", false}, {"log_level: debug\n", true},
	} {
		write(c.text)
		if got := Debugging(path, cache); got != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
	// Known from now on without the file's content, once it is not just changed.
	if id, ok := fileID(path); ok {
		writeLevel(cache, levelOf(id, "info"))
	}
	if Debugging(path, cache) {
		t.Error("what is known is not used")
	}
	for range 2 { // an unfinished one is in nobody's way
		if err := os.Symlink("x", filepath.Join(cache, ".new-"+levelLink)); err != nil {
			t.Fatal(err)
		}
		writeLevel(cache, "0:debug")
		if got, err := os.Readlink(filepath.Join(cache, levelLink)); err != nil || got != "0:debug" {
			t.Errorf("%q, %v", got, err)
		}
		_ = os.Remove(filepath.Join(cache, levelLink))
	}
	if !Debugging(path, cache) {
		t.Error("what is not known is not read")
	}
}
