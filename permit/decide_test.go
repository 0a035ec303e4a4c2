package permit

import (
	"os"
	"strings"
	"testing"

	"safeshell/config"
	"safeshell/internal/test/testdir"
)

// world is a scratch home with a project, a PATH and files to be named.
type world struct {
	home, proj, sub, bin, out string
}

func newWorld(t *testing.T) world {
	t.Helper()
	top := testdir.New(t)
	w := world{home: top + "/home", proj: top + "/home/proj", sub: top + "/home/proj/sub", bin: top + "/bin", out: top + "/out"}
	for _, d := range []string{w.proj + "/.git", w.proj + "/scripts/dir", w.sub, w.bin, w.out} {
		must(t, os.MkdirAll(d, 0o755))
	}
	for _, f := range []string{
		w.bin + "/curl", w.bin + "/git", w.bin + "/odd name", w.bin + "/new\nline", w.proj + "/scripts/build.sh", w.proj + "/git",
		w.sub + "/here.sh", w.out + "/tool", w.proj + "/scripts/with space.sh", w.proj + "/scripts/new\nline.sh",
	} {
		must(t, os.WriteFile(f, []byte("#!/bin/sh\n"), 0o755))
	}
	must(t, os.WriteFile(w.proj+"/scripts/plain.txt", nil, 0o644))
	must(t, os.Symlink(w.bin+"/git", w.proj+"/linked-git"))
	must(t, os.Symlink(w.out+"/tool", w.proj+"/escape"))
	must(t, os.Symlink("scripts/build.sh", w.proj+"/inside"))
	must(t, os.Symlink("loop", w.proj+"/loop"))
	must(t, os.Symlink("nowhere", w.proj+"/dangling"))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w world) paths() config.Paths {
	p, _ := config.Locate(func(n string) string {
		return map[string]string{"HOME": w.home}[n]
	})
	return p
}

func (w world) load(t *testing.T, dir string, c config.Permissions) *Set {
	t.Helper()
	s, err := Load(Env{Paths: w.paths(), Config: c, Environ: []string{"PATH=" + w.bin, "HOME=" + w.home}, Dir: dir, Session: "s"})
	must(t, err)
	return s
}

// TestDecide walks every branch of the tree.
func TestDecide(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name    string
		dir     string
		perms   config.Permissions
		command string
		want    Status
		scope   Scope
		path    string
	}{
		{"bare, not listed", w.proj, config.Permissions{}, "curl", NotAllowed, "", w.bin + "/curl"},
		{"bare, listed", w.proj, listing("curl"), "curl", Allowed, User, w.bin + "/curl"},
		{"bare, listed, not in PATH", w.proj, listing("nope"), "nope", NotFound, "", ""},
		{"bare, not listed, not in PATH", w.proj, config.Permissions{}, "nope", NotAllowed, "", ""},
		{"bare, only its path is listed", w.proj, listing(w.bin + "/curl"), "curl", NotAllowed, "", w.bin + "/curl"},
		{"bare with a space", w.proj, listing("odd name"), "odd name", Allowed, User, w.bin + "/odd name"},
		{"bare with a newline", w.proj, listing("new\nline"), "new\nline", Allowed, User, w.bin + "/new\nline"},
		{"bare with a newline, not listed", w.proj, listing("new"), "new\nline", NotAllowed, "", w.bin + "/new\nline"},
		{"bare builtin of the shell", w.proj, config.Permissions{}, "echo", Allowed, Builtin, ""},
		{"safeshell itself", w.proj, config.Permissions{}, "initcmds", Allowed, Builtin, ""},
		{"empty", w.proj, listing(""), "", NotFound, "", ""},
		{"dot", w.proj, listing("."), "..", NotAllowed, "", ""},
		{"NUL", w.proj, config.Permissions{}, "a\x00b", NotFound, "", ""},
		{"empty list", w.proj, config.Permissions{Commands: []string{}}, "curl", NotAllowed, "", w.bin + "/curl"},

		{"path, basename listed", w.proj, listing("git"), "./git", Allowed, User, w.proj + "/git"},
		{"path, basename listed, strict, another file", w.proj, strict("git"), "./git", NotAllowed, "", w.proj + "/git"},
		{"path, basename listed, strict, PATH's file", w.proj, strict("git"), w.bin + "/git", Allowed, User, w.bin + "/git"},
		{"path, basename listed, strict, not in PATH", w.proj, strict("build.sh"), "./scripts/build.sh", NotAllowed, "", w.proj + "/scripts/build.sh"},
		{"path, basename listed, no such file", w.proj, listing("git"), "./nope/git", NotFound, "", ""},
		{"path, basename of a builtin", w.proj, config.Permissions{}, "./nope/cat", NotFound, "", ""},

		{"absolute, not listed", w.proj, config.Permissions{}, w.bin + "/curl", NotAllowed, "", w.bin + "/curl"},
		{"absolute, verbatim", w.proj, listing(w.out + "/tool"), w.out + "/tool", Allowed, User, w.out + "/tool"},
		{"absolute, other spelling", w.proj, listing(w.out + "/tool"), w.out + "/../out/tool", NotAllowed, "", w.out + "/tool"},
		{"absolute in the project, allow_project_commands", w.proj, project(), w.proj + "/scripts/build.sh", NotAllowed, "", w.proj + "/scripts/build.sh"},
		{"absolute, not there", w.proj, listing("/no/such/file"), "/no/such/file", NotFound, "", ""},

		{"in cwd, not listed", w.proj, config.Permissions{}, "./scripts/build.sh", NotAllowed, "", w.proj + "/scripts/build.sh"},
		{"in cwd, resolved is listed", w.proj, listing(w.proj + "/scripts/build.sh"), "scripts/build.sh", Allowed, User, w.proj + "/scripts/build.sh"},
		{"in cwd, listed as relative to the project", w.sub, listing("sub/here.sh"), "./here.sh", Allowed, User, w.sub + "/here.sh"},
		{"in cwd, outside any project", w.out, config.Permissions{AllowProjectCommands: true}, "../home/proj/scripts/build.sh", NotAllowed, "", w.proj + "/scripts/build.sh"},
		{"in cwd through ..", w.sub, listing(w.proj + "/scripts/build.sh"), "../scripts/build.sh", Allowed, User, w.proj + "/scripts/build.sh"},
		{"in cwd and project, allow_project_commands", w.proj, project(), "./scripts/build.sh", Allowed, Project, w.proj + "/scripts/build.sh"},

		{"in project, not listed", w.sub, config.Permissions{}, "scripts/build.sh", NotAllowed, "", w.proj + "/scripts/build.sh"},
		{"in project, allow_project_commands", w.sub, project(), "scripts/build.sh", Allowed, Project, w.proj + "/scripts/build.sh"},
		{"in project, resolved is listed", w.sub, listing(w.proj + "/scripts/build.sh"), "scripts/build.sh", Allowed, User, w.proj + "/scripts/build.sh"},
		{"slash at the end", w.sub, project(), "here.sh/", NotFound, "", ""},
		{"out of the project by ..", w.sub, project(), "../../../out/tool", NotAllowed, "", w.out + "/tool"},
		{"found nowhere", w.sub, project(), "./nope.sh", NotFound, "", ""},

		{"link inside the project", w.proj, project(), "./inside", Allowed, Project, w.proj + "/inside"},
		{"link out of the project", w.proj, project(), "./escape", NotAllowed, "", w.proj + "/escape"},
		{"link out, found from a subdirectory", w.sub, project(), "escape/../escape", NotFound, "", ""},
		{"link, its target is listed", w.proj, listing(w.out + "/tool"), "./escape", Allowed, User, w.proj + "/escape"},
		{"link, itself listed", w.proj, listing(w.proj + "/escape"), "./escape", Allowed, User, w.proj + "/escape"},
		{"link to a listed command under another name", w.proj, listing("git"), "./linked-git", NotAllowed, "", w.proj + "/linked-git"},
		{"dangling link", w.proj, project(), "./dangling", NotFound, "", ""},
		{"link to itself", w.proj, project(), "./loop", NotFound, "", ""},
		{"directory", w.proj, project(), "./scripts", NotFound, "", ""},
		{"not executable", w.proj, project(), "./scripts/plain.txt", NotFound, "", ""},
		{"file as a directory", w.proj, project(), "./git/x", NotFound, "", ""},
		{"with a space", w.proj, project(), "./scripts/with space.sh", Allowed, Project, w.proj + "/scripts/with space.sh"},
		{"with a newline", w.proj, project(), "./scripts/new\nline.sh", Allowed, Project, w.proj + "/scripts/new\nline.sh"},
		{"with a tilde, which nobody expanded", w.proj, project(), "~/proj/git", NotFound, "", ""},
		{"too long", w.proj, project(), "./" + strings.Repeat("x", 5000), NotFound, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.load(t, c.dir, c.perms).Decide(c.command)
			path := got.Path
			if c.scope == Builtin {
				path = ""
			}
			if got.Status != c.want || got.Scope != c.scope || path != c.path {
				t.Errorf("%q: %v by %q at %q (%s), want %v by %q at %q", c.command, got.Status, got.Scope, got.Path, got.Detail, c.want, c.scope, c.path)
			}
			if got.Status == NotFound && got.Detail == "" {
				t.Error("nothing says what is wrong")
			}
		})
	}
}

func listing(names ...string) config.Permissions { return config.Permissions{Commands: names} }

func strict(names ...string) config.Permissions {
	return config.Permissions{Commands: names, StrictPaths: true}
}

func project() config.Permissions { return config.Permissions{AllowProjectCommands: true} }

// An answer is kept under a key that means the same file later.
func TestKeys(t *testing.T) {
	w := newWorld(t)
	s := w.load(t, w.proj, config.Permissions{})
	for command, want := range map[string]string{
		"curl": "curl", w.out + "/tool": w.out + "/tool", "./scripts/build.sh": "project:scripts/build.sh",
		"./inside": "project:scripts/build.sh", "./escape": w.out + "/tool",
	} {
		d := s.Decide(command)
		if d.Key != want {
			t.Errorf("%s: key %q, want %q", command, d.Key, want)
		}
		once := w.load(t, w.proj, config.Permissions{})
		once.Permit(d.Key)
		if got := once.Decide(command); got.Status != Allowed || got.Scope != Once {
			t.Errorf("%s permitted once: %+v", command, got)
		}
	}
}

func TestCheckReportsAllOnce(t *testing.T) {
	w := newWorld(t)
	r := w.load(t, w.proj, listing("git")).Check([]string{"curl", "git", "./nope.sh", "curl", "wget"})
	if len(r) != 4 || r.OK() || len(r.Blocked()) != 3 || len(r.Permittable()) != 2 {
		t.Errorf("%+v", r)
	}
	b := NewBlocked(r, "rt7", "")
	if b.Error.Message != "2 command(s) not allowed, 1 command(s) not found" || b.Error.Type != "COMMANDS_BLOCKED" || !strings.Contains(b.Hint, "rt7") {
		t.Errorf("%+v", b)
	}
	if !(Result)(nil).OK() {
		t.Error("a script that declares nothing is not permitted")
	}
}

// The defaults hold nothing that can start another program (sudoers would say
// NOEXEC), and none that is not there for the shell's sake is a surprise.
func TestDefaults(t *testing.T) {
	for _, bad := range []string{"sed", "awk", "find", "xargs", "env", "sort", "tee", "make", "docker", "python3", "perl", "node", "bash", "sh", "vi", "less", "man", "git", "tar", "timeout", "nohup", "nice", "stdbuf", "split", "install", "dd", "cp", "mv", "rm", "ln", "chmod", "busybox"} {
		for _, d := range Defaults {
			if d == bad {
				t.Errorf("%s is a default", bad)
			}
		}
	}
	for i := 1; i < len(Defaults); i++ {
		if Defaults[i-1] >= Defaults[i] {
			t.Errorf("%s is out of order or double", Defaults[i])
		}
	}
}
