package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFromArgv(t *testing.T) {
	rows := []struct {
		argv []string
		row
	}{
		{[]string{"echo", "a;id"}, row{want: []string{"echo a;id"}, not: []string{"id"}}},
		{[]string{"rm", "$HOME", "*", "~"}, row{want: []string{"rm $HOME * ~"}}},
		{[]string{"/usr/bin/git", "-C", "sub", "push"}, row{want: []string{"/usr/bin/git -C sub push @/w/sub"}}},
		{[]string{"sudo", "-u", "root", "rm", "x"}, row{want: []string{"sudo -u root rm x", "sudo: rm x"}}},
		{[]string{"bash", "-lc", "cd a && rm $HOME"}, row{want: []string{"bash -c: rm /home/u @/w/a"}}},
		{[]string{"sh", "-c", "rm \"$@\"", "_", "a b", "c"}, row{want: []string{"sh -c: rm 'a b' c"}}},
		{[]string{"xargs", "rm"}, row{want: []string{"xargs: rm <xargs>"}}},
		{[]string{"find", ".", "-exec", "rm", "{}", ";"}, row{want: []string{"find -exec: rm <{}>"}}},
		{[]string{"env", "A=1", "rm", "x"}, row{want: []string{"env: A=1 rm x"}}},
		{[]string{"bash"}, row{want: []string{"bash"}}},
		{[]string{"mywrap", "rm", "-rf", "x"}, row{want: []string{"?mywrap: rm -rf x"}}},
		{[]string{"git", "-c", "alias.x=!rm y", "x"}, row{want: []string{"git: rm y @<$PWD>"}}},
		{[]string{"git", "push", "--receive-pack=rm y", "o"}, row{want: []string{"git push: rm y"}}},
		{[]string{"git", "rebase", "-x", "rm y"}, row{want: []string{"git rebase --exec: rm y"}}},
		{[]string{"git", "reset", "--hard"}, row{want: []string{"git reset --hard"}}},
	}
	for _, r := range rows {
		r.text = strings.Join(r.argv, " ")
		checkRow(t, FromArgv(r.argv, testOptions(Bash)), r.row)
	}
	if a := FromArgv(nil, Options{}); len(a.Commands) != 0 {
		t.Error(a)
	}
	a := FromArgv([]string{"sudo", "env", "nice", "rm", "x"}, testOptions(Bash))
	for i, want := range []int{-1, 0, 1, 2} {
		if a.Commands[i].TailOf != want {
			t.Errorf("command %d is the tail of %d", i, a.Commands[i].TailOf)
		}
	}
}

// A plain program costs next to nothing: every shim pays it.
func TestFromArgvAllocs(t *testing.T) {
	o := Options{Dir: "/w"}
	for _, argv := range [][]string{{"rm", "-rf", "x"}, {"ls", "-l"}, {"git", "status"}} {
		if n := testing.AllocsPerRun(100, func() { FromArgv(argv, o) }); n > 16 {
			t.Errorf("%q: %v allocations", argv, n)
		}
	}
}

// Shells are given their options in every order, and run what FromArgv says.
func TestOracleShellOptions(t *testing.T) {
	l := newLab(t)
	for _, v := range []struct {
		d    Dialect
		args []string
	}{
		{Bash, []string{"-c", "rec a"}},
		{Bash, []string{"--noprofile", "--norc", "-c", "-l", "rec a"}},
		{Bash, []string{"-ec", "rec a; false; rec b"}},
		{Bash, []string{"-c", "-e", "rec a", "zero", "one"}},
		{Bash, []string{"-c", "-O", "extglob", "rec a"}},
		{Bash, []string{"-O", "extglob", "-c", "rec a"}},
		{Bash, []string{"-c", "-o", "errexit", "rec a"}},
		{Bash, []string{"-co", "errexit", "rec a"}},
		{Bash, []string{"-Oc", "extglob", "rec a"}},
		{Bash, []string{"-c", "-", "rec a"}},
		{Bash, []string{"-c", "--", "rec a"}},
		{Bash, []string{"--rcfile", "my file", "-c", "rec a"}},
		{Bash, []string{"--noprofile", "--norc", "-c", `rec "$0" "$@"`, "z", "a b"}},
		{Bash, []string{"+e", "-c", "rec a"}},
		{Bash, []string{"-x", "+o", "xtrace", "-c", "rec a"}},
		{Zsh, []string{"-f", "-c", "rec a"}},
		{Zsh, []string{"-fc", "rec a"}},
		{Zsh, []string{"-c", "-f", "rec a"}},
		{Zsh, []string{"-fo", "errexit", "-c", "rec a"}},
		{Zsh, []string{"-f", "-oerrexit", "-c", "rec a"}},
		{Zsh, []string{"-f", "+o", "nomatch", "-c", "rec a"}},
		{Zsh, []string{"--emulate", "sh", "-f", "-c", "rec a"}},
		{POSIX, []string{"-c", "rec a"}},
		{POSIX, []string{"-c", "-e", "rec a"}},
		{POSIX, []string{"-ec", "rec a"}},
		{POSIX, []string{"-o", "errexit", "-c", "rec a"}},
		{POSIX, []string{"-c", "-o", "errexit", "rec a"}},
		{POSIX, []string{"-c", `rec "$@"`, "z", "a"}},
	} {
		if l.shell[v.d] == "" {
			continue
		}
		dir := l.dir()
		argv := append([]string{l.shell[v.d]}, v.args...)
		a := FromArgv(argv, l.options(v.d, dir))
		rs, _ := l.run(dir, argv...)
		if len(rs) == 0 {
			t.Errorf("%q ran nothing", argv)
		}
		if err := compare(a, rs); err != nil || len(a.Unknown) > 0 {
			t.Errorf("%q: %v %v", argv, err, a.Unknown)
		}
	}
	// A script that is read from standard input or a file.
	dir := l.dir()
	must(t, os.WriteFile(filepath.Join(dir, "s.sh"), []byte("rec file \"$1\"\n"), 0o644))
	text := `rec x > /dev/null`
	if _, err := l.check(Bash, text); err != nil {
		t.Error(err)
	}
}

func TestRewrite(t *testing.T) {
	text := `cd "a b" && sudo rm -rf 'x y'; rm z # rm`
	a := Parse(text, testOptions(Bash))
	var edits []Edit
	for i := range a.Commands {
		c := &a.Commands[i]
		if c.Name() == "rm" && !c.Nested {
			edits = append(edits, Edit{c.Argv[0].Span, "trash"})
		}
	}
	if got, want := Rewrite(text, edits), `cd "a b" && sudo trash -rf 'x y'; trash z # rm`; got != want {
		t.Error(got)
	}
	for i := range a.Commands {
		if c := &a.Commands[i]; c.Name() == "sudo" {
			if got, want := Rewrite(text, []Edit{{c.Span, "X"}}), `cd "a b" && X; rm z # rm`; got != want {
				t.Error(got)
			}
		}
	}
	// Out of order, overlapping and outside.
	got := Rewrite("abcdef", []Edit{{Span{4, 5}, "E"}, {Span{0, 1}, "A"}, {Span{4, 6}, "no"}, {Span{5, 99}, "no"}, {Span{-1, 2}, "no"}, {Span{2, 2}, "+"}})
	if got != "Ab+cdEf" {
		t.Error(got)
	}
	if got := Rewrite("x", nil); got != "x" {
		t.Error(got)
	}
}

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		`\rm x`: "rm", "/bin/rm x": "rm", "git-reset x": "git-reset", "./a/b.sh": "b.sh", "$X y": "", "$(which rm) x": "rm",
		`"$(command -v git)" x`: "git", "> f": "", "$D/bin/rm": "rm", "~/bin/x": "x",
	} {
		a := Parse(text, testOptions(Bash))
		if got := a.Commands[len(a.Commands)-1].Name(); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	var c Command
	if c.Name() != "" {
		t.Error("a command without words has a name")
	}
}
