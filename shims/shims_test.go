package shims

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"safeshell/internal/test/testdir"
)

// What the wrapper takes for the -c text is what the real shells take for it.
func TestParseShellCallAgainstShells(t *testing.T) {
	calls := [][]string{
		{"-c", "echo hit"},
		{"-c", "-l", "echo hit"},
		{"-lc", "echo hit"},
		{"-l", "-c", "echo hit"},
		{"-ec", "echo hit"},
		{"-c", "-e", "echo hit", "zero", "one"},
		{"-c", "--", "echo hit"},
		{"-c", "-", "echo hit"},
		{"-e", "-u", "-c", "echo hit", "a"},
		{"-c", "-o", "errexit", "echo hit"},
		{"-co", "errexit", "echo hit"},
		{"-oc", "errexit", "echo hit"},
		{"+e", "-c", "echo hit"},
		{"-c", "+e", "echo hit"},
	}
	bashOnly := [][]string{
		{"-c", "-O", "extglob", "echo hit"},
		{"-Oc", "extglob", "echo hit"},
		{"--norc", "-c", "echo hit"},
		{"--rcfile", "no such file", "-c", "echo hit"},
		{"--noprofile", "--norc", "-lc", "echo hit"},
		{"--posix", "-c", "echo hit"},
		{"--login", "-c", "echo hit"},
	}
	for _, shell := range []string{"bash", "dash", "zsh"} {
		exe, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed; not compared", shell)
			continue
		}
		list := calls
		if shell == "bash" {
			list = append(append([][]string{}, calls...), bashOnly...)
		}
		for _, args := range list {
			c := exec.Command(exe, args...)
			c.Env = []string{"HOME=" + testdir.New(t), "PATH=/usr/bin:/bin"}
			out, _ := c.Output()
			real := strings.HasSuffix(strings.TrimSpace(string(out)), "hit")
			call := parseShellCall(args)
			ours := call.commandAt >= 0 && args[call.commandAt] == "echo hit"
			if real && !ours {
				t.Errorf("%s %q runs the text, we take %d for it", shell, args, call.commandAt)
			}
		}
	}
}

func TestParseShellCallWithoutText(t *testing.T) {
	for _, args := range [][]string{nil, {"script.sh", "-c", "x"}, {"-l"}, {"-i"}, {"-c"}, {"-s"}, {"--", "-c", "x"}} {
		if c := parseShellCall(args); c.commandAt >= 0 {
			t.Errorf("%q: text at %d", args, c.commandAt)
		}
	}
	if c := parseShellCall([]string{"-lic", "x"}); !c.login || !c.interactive || c.commandAt != 1 {
		t.Errorf("%+v", c)
	}
}

func writeExe(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// find gives what the shells find in PATH, less safeshell itself.
func TestFind(t *testing.T) {
	root := testdir.New(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	shimDir, other, real, spaced := filepath.Join(root, "shims"), filepath.Join(root, "other"), filepath.Join(root, "real"), filepath.Join(root, "with space")
	writeExe(t, filepath.Join(real, "tool"))
	writeExe(t, filepath.Join(spaced, "spacetool"))
	writeExe(t, filepath.Join(home, "bin", "hometool"))
	for _, d := range []string{shimDir, other} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(d, "tool")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "dir", "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	noexec := filepath.Join(root, "noexec")
	writeExe(t, filepath.Join(noexec, "tool"))
	if err := os.Chmod(filepath.Join(noexec, "tool"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shimDir, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(real)
	for _, c := range []struct{ name, path, after, want string }{
		{"tool", shimDir + ":" + real, "", real + "/tool"},
		{"tool", shimDir + ":" + other + ":" + real, "", real + "/tool"},
		{"tool", filepath.Join(root, "link") + "/:" + real, "", real + "/tool"},
		{"tool", shimDir + ":" + filepath.Join(root, "dir") + ":" + noexec + ":" + real, "", real + "/tool"},
		{"tool", shimDir + ":", "", "./tool"},
		{"tool", ":" + shimDir, "", "./tool"},
		{"tool", "", "", "./tool"},
		{"tool", shimDir, "", ""},
		{"tool", "/nonexistent:" + real, "", real + "/tool"},
		{"spacetool", spaced, "", spaced + "/spacetool"},
		{"hometool", "~/bin", "", home + "/bin/hometool"},
		{"nothing", real, "", ""},
		{"tool", real + ":" + noexec, real, real + "/tool"}, // nothing behind it: from the start
	} {
		env := map[string]string{"PATH": c.path, "HOME": home}
		f := newFinder(func(n string) (string, bool) { v, ok := env[n]; return v, ok })
		if got, _ := f.find(c.name, c.after); got != c.want {
			t.Errorf("PATH=%s, after %q: %s is %q, want %q", c.path, c.after, c.name, got, c.want)
		}
	}
	second := filepath.Join(root, "second")
	writeExe(t, filepath.Join(second, "tool"))
	f := finder{path: real + ":" + second, self: newFinder(func(string) (string, bool) { return "", false }).self}
	if got, entry := f.find("tool", real); got != second+"/tool" || entry != second {
		t.Errorf("behind %s: %s in %s", real, got, entry)
	}
}

// A copy of the binary is safeshell, too.
func TestFindPassesCopies(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	dir := testdir.New(t)
	if err := os.WriteFile(filepath.Join(dir, "tool"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	f := newFinder(func(n string) (string, bool) { return dir, n == "PATH" })
	if got, _ := f.find("tool", ""); got != "" {
		t.Errorf("found the copy %s", got)
	}
	data[len(data)-1]++
	if err := os.WriteFile(filepath.Join(dir, "tool"), data, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, _ := f.find("tool", ""); got == "" {
		t.Error("another program of the same size was passed over")
	}
}

func TestExecChain(t *testing.T) {
	for _, c := range []struct {
		v, name string
		pid     int
		want    string
	}{
		{"7:git:/usr/bin", "git", 7, "/usr/bin"},
		{"7:git:/odd:dir", "git", 7, "/odd:dir"},
		{"7:git:/usr/bin", "git", 8, ""},
		{"7:git:/usr/bin", "rm", 7, ""},
		{"", "git", 7, ""},
		{"7", "git", 7, ""},
		{"x:git:/usr/bin", "git", 7, ""},
	} {
		if got := lastEntry(c.v, c.name, c.pid); got != c.want {
			t.Errorf("%q for %s in %d: %q, want %q", c.v, c.name, c.pid, got, c.want)
		}
	}
	v, n := nextDepth("", []string{"a", "b"}, "/d")
	if n != 0 {
		t.Errorf("first: %d", n)
	}
	v, n = nextDepth(v, []string{"a", "b"}, "/d")
	if n != 1 {
		t.Errorf("again: %d", n)
	}
	if _, n = nextDepth(v, []string{"ab"}, "/d"); n != 0 {
		t.Errorf("another command: %d", n)
	}
	if _, n = nextDepth(v, []string{"a", "b"}, "/e"); n != 0 {
		t.Errorf("another directory: %d", n)
	}
}

func TestSetenv(t *testing.T) {
	env := []string{"A=1", "AB=2", "odd", "B=3"}
	got := setenv(env, "B", "x=y")
	if want := []string{"A=1", "AB=2", "odd", "B=x=y"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if env[3] != "B=3" {
		t.Error("the given environment was changed")
	}
	if got := setenv(env, "C", ""); got[len(got)-1] != "C=" || len(env) != 4 {
		t.Errorf("%q", got)
	}
}

func TestPrependPath(t *testing.T) {
	for in, want := range map[string]string{
		"/a:/b":       "/s:/a:/b",
		"/s:/a":       "/s:/a",
		"/a:/s:/b:/s": "/s:/a:/b",
		"/a::/b":      "/s:/a::/b",
		"/a:/sx":      "/s:/a:/sx",
		"":            "/s:" + defaultPath,
	} {
		if got := prependPath(in, "/s"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLinkable(t *testing.T) {
	for name, want := range map[string]bool{"git": true, "g++": true, "[": true, "cd": false, ".": false, "..": false, "": false, "a/b": false, "safeshell": false, "kill": true, "echo": true, ".hidden": false} {
		if got := Linkable(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// Refresh touches nothing that is not its own, in any state of the directory.
func TestRefresh(t *testing.T) {
	root := testdir.New(t)
	dir := filepath.Join(root, "home", "shims")
	target := filepath.Join(root, "safeshell")
	writeExe(t, target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"stale": target, "moved": "/gone/safeshell", "theirs": "/bin/ls", "wantedtheirs": "/bin/ls"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(n string) (string, bool) { return "/nonexistent", n == "PATH" }
	ch, err := Refresh(dir, target, Wanted{Always: []string{"moved", "wantedtheirs", "file", "new", "a/b"}, Installed: []string{"absent"}}, getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := "created [moved new safeshell safeshell-doctor-probe safeshell-wrapper] removed [stale] foreign [file wantedtheirs]"
	if got := fmt.Sprintf("created %v removed %v foreign %v", ch.Created, ch.Removed, ch.Foreign); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for name, to := range map[string]string{"moved": target, "theirs": "/bin/ls", "wantedtheirs": "/bin/ls", "new": target} {
		if got, _ := os.Readlink(filepath.Join(dir, name)); got != to {
			t.Errorf("%s leads to %s, want %s", name, got, to)
		}
	}
	again, err := Refresh(dir, target, Wanted{Always: []string{"moved", "new"}}, getenv)
	if err != nil || len(again.Created) != 0 || len(again.Removed) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "file")); string(b) != "mine" {
		t.Error("a file of somebody else was changed")
	}
}

func TestIsShellFlags(t *testing.T) {
	for a, want := range map[string]bool{"-c": true, "-lc": true, "-l": true, "+o": true, "-i": true, "--help": false, "-h": false, "-V": false, "init": false, "-": false, "": false} {
		if got := isShellFlags(a); got != want {
			t.Errorf("%q: %v", a, got)
		}
	}
}
