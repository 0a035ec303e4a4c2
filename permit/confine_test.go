package permit

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"safeshell/internal/test/testdir"
)

// TestMain lets the test binary be a confined program: it applies the
// confinement in CONFINE and execs the rest of its arguments.
func TestMain(m *testing.M) {
	if spec := os.Getenv("CONFINE"); spec != "" {
		os.Exit(confined(spec, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func confined(spec string, argv []string) int {
	var c Confinement
	if json.Unmarshal([]byte(spec), &c) != nil {
		return 99
	}
	runtime.LockOSThread()
	if ok, err := c.apply(); err != nil || !ok {
		os.Stderr.WriteString("not confined\n")
		return 98
	}
	if argv[0] == "dial" {
		conn, err := net.Dial("unix", argv[1])
		if err != nil {
			return 1
		}
		conn.Close()
		return 0
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

func runConfined(t *testing.T, c Confinement, argv ...string) bool {
	t.Helper()
	spec, _ := json.Marshal(c)
	cmd := exec.Command("/proc/self/exe", argv...)
	cmd.Env = []string{"CONFINE=" + string(spec)}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "not confined") {
		t.Fatalf("%v: %s", err, out)
	}
	return err == nil
}

// What the kernel enforces, right by right.
func TestConfinement(t *testing.T) {
	if _, ok := KernelSays(); !ok {
		t.Skip("this kernel has no Landlock")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	top, err := filepath.EvalSymlinks(testdir.New(t))
	must(t, err)
	in, out := top+"/in", top+"/out"
	must(t, os.MkdirAll(in+"/sub", 0o755))
	must(t, os.MkdirAll(out, 0o755))
	must(t, os.WriteFile(out+"/file", []byte("keep"), 0o644))
	must(t, os.WriteFile(in+"/file", []byte("x"), 0o644))
	id, err := exec.LookPath("id")
	must(t, err)
	var tools []string
	for _, n := range []string{sh, "mv", "rm", "mkdir", "ln", "cat", "truncate", "cp"} {
		p, err := exec.LookPath(n)
		if err != nil {
			t.Skipf("%s is not installed", n)
		}
		tools = append(tools, Needs(p)...)
	}
	c := Confinement{Exec: tools, Write: []string{in, "/dev/null", top + "/not-there"}}
	for _, x := range []struct {
		line string
		want bool
	}{
		{"echo x > " + in + "/new", true},
		{"echo x > /dev/null", true},
		{"mkdir " + in + "/d && mv " + in + "/new " + in + "/d/", true},
		{"rm " + in + "/d/new", true},
		{"truncate -s 0 " + in + "/file", true},
		{"cat " + out + "/file >/dev/null", true}, // reading is not restricted
		{"echo x > " + out + "/new", false},
		{"echo x >> " + out + "/file", false},
		{"echo x > " + out + "/file", false},
		{"truncate -s 0 " + out + "/file", false},
		{"rm " + out + "/file", false},
		{"mv " + out + "/file " + in + "/", false},
		{"mv " + in + "/file " + out + "/", false},
		{"mkdir " + out + "/d", false},
		{"ln -s x " + out + "/l", false},
		{"ln " + out + "/file " + in + "/hard", false},
		{"ln -s " + out + "/file " + in + "/l && echo x > " + in + "/l", false},
		{id, false},
		{"cp " + id + " " + in + "/mine && " + in + "/mine", false},
	} {
		if got := runConfined(t, c, sh, "-c", x.line); got != x.want {
			t.Errorf("%s: %v, want %v", x.line, got, x.want)
		}
	}
	if data, _ := os.ReadFile(out + "/file"); string(data) != "keep" {
		t.Errorf("the file outside is %q", data)
	}
	c.Exec = nil
	if !runConfined(t, c, sh, "-c", id) {
		t.Error("without a list execution is not restricted")
	}
}

// A script's writable places never hold safeshell's own files, whatever TMPDIR
// says.
func TestWritable(t *testing.T) {
	w := newWorld(t)
	paths := w.paths()
	must(t, os.MkdirAll(paths.Home, 0o700))
	area, err := FindArea(w.proj)
	must(t, err)
	for _, tmp := range []string{"", w.home, paths.Home, "/", w.out, "relative", "/etc", "/nowhere"} {
		list := writable(area, paths, func(n string) string { return map[string]string{"TMPDIR": tmp}[n] }, nil)
		for _, d := range list {
			if d != "/tmp" && d != "/var/tmp" && contains(d, paths.Home) {
				t.Errorf("TMPDIR=%s: %s holds %s", tmp, d, paths.Home)
			}
			if d == "/etc" || d == "/" || d == w.home {
				t.Errorf("TMPDIR=%s widens to %s", tmp, d)
			}
		}
		if !slices.Contains(list, w.proj) || !slices.Contains(list, filepath.Join(w.home, ".local/share/Trash")) {
			t.Errorf("TMPDIR=%s: %q", tmp, list)
		}
	}
}

// Our own reading of a program's header gives what debug/elf gives, for the
// programs here and for damaged ones.
func TestLoaderOf(t *testing.T) {
	with := func(b []byte) string {
		e, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			return "no"
		}
		for _, p := range e.Progs {
			if p.Type == elf.PT_INTERP && p.Filesz <= 4096 {
				l := make([]byte, p.Filesz)
				if _, err := p.ReadAt(l, 0); err == nil {
					return "yes " + strings.TrimRight(string(l), "\x00")
				}
			}
		}
		return "yes "
	}
	ours := func(b []byte) string {
		l, ok := loaderOf(bytes.NewReader(b))
		if !ok {
			return "no"
		}
		return "yes " + l
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, f := range []string{"/bin/sh", "/bin/bash", "/bin/ls", "/usr/bin/git", "/bin/busybox", self} {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.HasPrefix(b, []byte("\x7fELF")) {
			continue
		}
		programs++
		if got, want := ours(b), with(b); got != want {
			t.Errorf("%s: %q, debug/elf says %q", f, got, want)
		}
		// A file that is no program to debug/elf may be one to us: its loader is then
		// let through, but never the shell.
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			c := bytes.Clone(b[:min(len(b), 4096)])
			for range 1 + rnd.IntN(3) {
				c[rnd.IntN(1+rnd.IntN(900))] = byte(rnd.Uint32())
			}
			ours(c[:rnd.IntN(len(c))])
			if got, want := ours(c), with(c); got != want && want != "no" && want != "yes " {
				t.Errorf("%s, damaged: %q, debug/elf says %q", f, got, want)
			}
		}
	}
	if programs == 0 {
		t.Skip("no program in the ELF format here")
	}
	for _, b := range []string{"", "\x7fELF", "\x7fELF\x02\x01", "#!/bin/sh\n", strings.Repeat("\x7fELF", 30), "\x7fELF\x02\x01" + strings.Repeat("\xff", 100)} {
		ours([]byte(b))
	}
}

func TestNeeds(t *testing.T) {
	dir, err := filepath.EvalSymlinks(testdir.New(t))
	must(t, err)
	must(t, os.WriteFile(dir+"/s", []byte("#!"+dir+"/i -x\n"), 0o755))
	must(t, os.WriteFile(dir+"/i", []byte("#!"+dir+"/s\n"), 0o755)) // a circle
	must(t, os.WriteFile(dir+"/e", []byte("#!/usr/bin/env -S FOO=1 node --x\n"), 0o755))
	must(t, os.WriteFile(dir+"/empty", nil, 0o755))
	must(t, os.WriteFile(dir+"/cut", []byte("\x7fELF\x02\x01"), 0o755))
	must(t, os.Symlink("s", dir+"/l"))
	if got := Needs(dir + "/l"); !slices.Equal(got, []string{dir + "/s", dir + "/i"}) {
		t.Errorf("%q", got)
	}
	if got := through(dir + "/e"); got != "node" {
		t.Errorf("%q", got)
	}
	for _, f := range []string{"/empty", "/cut", "/nope"} {
		_ = Needs(dir + f)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	if runtime.GOOS == "linux" && len(Needs(sh)) < 2 {
		t.Logf("%s is static: %q", sh, Needs(sh))
	}
}

// A script inside a script cannot make its run's directory, and is told why.
func TestNested(t *testing.T) {
	t.Setenv(RunVar, "r-x")
	err := nested(&os.PathError{Op: "mkdir", Path: "/h/run/r", Err: os.ErrPermission})
	if !strings.Contains(err.Error(), "inside another script") {
		t.Error(err)
	}
	if err := nested(os.ErrNotExist); !os.IsNotExist(err) {
		t.Error(err)
	}
}
