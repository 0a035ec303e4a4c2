package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A home on a file system that has no room, holds no more files, or cannot be
// written: each command that needs it says so and what to do, nothing runs that
// needs an approval, and what was judged is judged still.
func TestHomeCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		name, want, do string
		spoil          func(t *testing.T, home string)
	}{
		{"full", "no space left on device", "make room, see: df -h ", func(t *testing.T, home string) {
			f, err := os.Create(filepath.Join(home, "ballast"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for size := 4096; size >= 1; {
				if _, err := f.Write(make([]byte, size)); err != nil {
					size /= 2
				}
			}
		}},
		{"no inodes", "no space left on device", "it holds as many files as it can; remove some, see: df -i ", func(t *testing.T, home string) {
			for {
				f, err := os.CreateTemp(home, "ballast")
				if err != nil {
					return
				}
				f.Close()
			}
		}},
		{"read-only", "read-only file system", "set SAFESHELL_", func(t *testing.T, home string) {
			if out, err := exec.Command("mount", "-o", "remount,ro", home).CombinedOutput(); err != nil {
				t.Skipf("needs mount, which cannot be used here: %v %s", err, out)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			if os.Geteuid() != 0 {
				t.Skip("root is needed to mount")
			}
			home := filepath.Join(p.dir, "disk")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=1000,mode=700", "none", home).CombinedOutput(); err != nil {
				t.Skipf("needs mount, which cannot be used here: %v %s", err, out)
			}
			t.Cleanup(func() {
				if out, err := exec.Command("umount", "-l", home).CombinedOutput(); err != nil {
					t.Errorf("umount: %s", out)
				}
			})
			p.env = append(p.env, "HOME="+home, "SHELL=/bin/bash", "PATH="+home+"/.safeshell/shims:"+p.dir+"/bin:/usr/bin:/bin")
			p.write("disk/.bashrc", "alias ll=ls\n", 0o644)
			run := func(args ...string) (string, error) {
				out, err := p.command(filepath.Join(p.dir, "bin", "safeshell"), args...).CombinedOutput()
				return string(out), err
			}
			if out, err := run("init", "--yes"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p.write("disk/.safeshell/rules.yaml", "rules:\n- {name: ask-probe, commands: [probe], action: require_approval, message: m}\n", 0o600)
			if out, err := run("refresh"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			set, err := os.ReadFile(filepath.Join(home, ".bashrc"))
			if err != nil || !strings.Contains(string(set), "safeshell") {
				t.Fatalf("%q, %v", set, err)
			}
			p.write("disk/precious", "1", 0o600)
			c.spoil(t, home)

			// A question cannot be put, nor answered; its command does not run.
			for _, argv := range [][]string{{home + "/.safeshell/shims/probe", "x"}, {p.dir + "/bin/safeshell", "-c", "probe x"}} {
				cmd := p.command(argv[0], argv[1:]...)
				cmd.Env = append(cmd.Env, "CLAUDECODE=1")
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), "It has not run") {
					t.Errorf("%v: %v: %s", argv, err, out)
				}
			}
			if ran, err := os.ReadFile(filepath.Join(p.dir, "ran")); err == nil {
				t.Errorf("it ran: %s", ran)
			}
			// status and doctor, which that message names, say why.
			for _, name := range []string{"status", "doctor"} {
				out, err := run(name)
				if err == nil || !strings.Contains(out, "nobody can be asked: ") || !strings.Contains(out, c.want) || !strings.Contains(out, "-> "+c.do) ||
					!strings.Contains(out, "the journal cannot be written") || strings.Contains(out, "file locks") || strings.Contains(out, "nothing is judged") {
					t.Errorf("%s: %v: %s", name, err, out)
				}
			}
			// Nothing goes to the trash; nothing is lost.
			out, err := p.command(home+"/.safeshell/shims/rm", home+"/precious").CombinedOutput()
			left, readErr := os.ReadFile(filepath.Join(home, "precious"))
			if err == nil || readErr != nil || string(left) != "1" || !strings.Contains(strings.ToLower(string(out)), c.want) {
				t.Errorf("rm: %v: %s; left %q, %v", err, out, left, readErr)
			}
			// A set-up and its undoing that cannot be finished say so and leave each
			// file whole.
			undone, err := run("init", "--undo", "--yes")
			now, readErr := os.ReadFile(filepath.Join(home, ".bashrc"))
			whole := string(now) == string(set) || string(now) == "alias ll=ls\n"
			if readErr != nil || !whole || (string(now) == string(set)) != (err != nil) || err != nil && !strings.Contains(undone, "not all of it could be taken out") {
				t.Errorf("undo: %v: %s; .bashrc %q, %v", err, undone, now, readErr)
			}
		})
	}
}

// What a user has closed by its mode is named by status, with the command that
// opens it, and questions that cannot be put are refused with the same.
func TestStatusNamesWhatIsClosed(t *testing.T) {
	p := newPlace(t)
	home, as := p.anotherHome(0o700)
	run := func(args ...string) string {
		out, _ := as(args...)
		return out
	}
	run("init", "--yes")
	if out := run("status"); strings.Contains(out, "fail ") {
		t.Fatal(out)
	}
	for _, c := range []struct{ dir, said string }{
		{".safeshell/spool/tmp", "fail  nobody can be asked: "},
		{".safeshell/spool/req", "fail  nobody can be asked: "},
		{".safeshell/spool/done", "fail  nobody can be asked: "},
		{".safeshell/grants", "warn  answers cannot be remembered: "},
		{".safeshell/log", "warn  decisions leave no trace: "},
		{".safeshell", "fail  commands are judged, but nothing can be kept: "},
		{"", "fail  rm has no trash in the home directory: "},
	} {
		dir := filepath.Join(home, c.dir)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if c.dir == ".safeshell/log" {
			_ = os.Remove(filepath.Join(dir, "journal.jsonl"))
		}
		if out := run("status"); !strings.Contains(out, c.said) || !strings.Contains(out, "-> /bin/chmod u+rwx "+dir+"\n") {
			t.Errorf("%s: %s", c.dir, out)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
