package initscript

import (
	"path/filepath"
	"strings"
	"testing"
)

// sourced runs a script file, with aliases on, in a shell that has the alias of
// source; the words of each line are as in an interactive shell.
func (s sandbox) sourced(shell, script string, args ...string) result {
	s.t.Helper()
	s.write(s.root+"/lib.sh", "echo \"n=$# <$*>\"; in_lib=1; typeset -A table; table[k]=v\n")
	s.write(s.root+"/setter.sh", "set -- N M\n")
	s.write(s.root+"/ret.sh", "return 7\necho not reached\n")
	s.write(s.root+"/deny-me.sh", "echo ran\n")
	head := "shopt -s expand_aliases\n. " + quoteSh(EnvFile("bash", s.p)) + "\n"
	if shell == "zsh" {
		// The alias is for interactive shells: it is given by hand.
		head = "alias source=" + s.p.alias("zsh", "source") + "\nalias .=" + s.p.alias("zsh", ".") + "\n"
	}
	s.write(s.root+"/script", head+script)
	argv := map[string][]string{"bash": {"bash", "--norc"}, "zsh": {"zsh", "-f"}}[shell]
	return s.run(s.env(), "", append(append(argv, s.root+"/script"), args...)...)
}

// TestSourceAlias holds what section 4 of the reference found out about the
// alias, for source and for the dot.
func TestSourceAlias(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		for _, word := range []string{"source", "."} {
			t.Run(shell+" "+word, func(t *testing.T) {
				need(t, shell)
				s := newSandbox(t, "it's a $HOME", "source").static()
				for _, c := range []struct{ script, want string }{
					{`source ./lib.sh; echo "${table[k]} $in_lib"`, "n=0 <>\nv 1\n"},
					{`source ./lib.sh p "q r"; echo "$# $*"`, "n=2 <p q r>\n2 A B\n"},
					{`f() { source ./lib.sh; }; f; echo "${table[k]-none} $in_lib"`, map[string]string{"bash": "n=0 <>\nnone 1\n", "zsh": "n=0 <>\nnone 1\n"}[shell]},
					{`source ./ret.sh; echo $?`, "7\n"},
					{`source ./deny-me.sh; echo $?`, "126\n"},
					{`source ./nope.sh 2>/dev/null; echo $(( $? > 0 ))`, "1\n"},
					{`set -- ./lib.sh x; source 2>/dev/null; echo $(( $? > 0 ))`, "1\n"},
					{`set -eu; source ./lib.sh; source ./ret.sh || echo or; source ./ret.sh; echo reached`, "n=0 <>\nor\n"},
					{`source /dev/stdin <<<'echo from stdin'`, "from stdin\n"},
					{`source <(echo echo from a pipe)`, "from a pipe\n"},
					{`echo 'source ./lib.sh' >outer.sh; source ./outer.sh x; echo "$#"`, "n=1 <x>\n2\n"},
					{`source ./lib.sh; echo "${safeshell_name-}${safeshell_file-}"`, "n=0 <>\n\n"},
					{`trap 'echo trapped' EXIT; source ./lib.sh`, "n=0 <>\ntrapped\n"},
					{`eval 'set -- x; source ./lib.sh'; echo $*`, "n=0 <>\nx\n"},
				} {
					script := "set -- A B\n" + strings.ReplaceAll(c.script, "source ", word+" ") + "\n"
					r := s.sourced(shell, script)
					judged := s.judged()
					want := c.want
					if strings.Contains(script, "echo '") && word == "source" || strings.Contains(c.script, "outer") {
						// An inner source without arguments is one in a script.
						want = strings.Replace(want, "n=1 <x>", "n=0 <>", 1)
					}
					if r.out != want || (r.err != "" && !strings.Contains(script, "deny-me")) {
						t.Errorf("%s\ngot  %q %q\nwant %q", script, r.out, r.err, want)
					}
					if strings.Contains(c.script, "source .") && !strings.Contains(judged, "<exec><--builtin><--><source><./") || strings.Contains(judged, "terminal") {
						t.Errorf("%s: the judge saw %q", script, judged)
					}
				}
			})
		}
	}
}

// TestSourceLimits: what the alias cannot keep, as the documentation says.
func TestSourceLimits(t *testing.T) {
	s := newSandbox(t, "plain", ".").static()
	// A file without arguments sees none, instead of the caller's.
	if r := s.sourced("bash", "set -- A B\nsource ./lib.sh\nbuiltin source ./lib.sh\n"); r.out != "n=0 <>\nn=2 <A B>\n" {
		t.Errorf("%+v", r)
	}
	if judged := s.judged(); !strings.Contains(judged, "<.><./lib.sh>") {
		t.Errorf("judged under the name that the rules use: %q", judged)
	}
	// set -- reaches the caller in bash, not in zsh.
	if r := s.sourced("bash", "set -- A B\nsource ./setter.sh; echo $*\n"); r.out != "N M\n" {
		t.Errorf("%+v", r)
	}
	if r := s.sourced("zsh", "set -- A B\nsource ./setter.sh; echo $*\n"); r.out != "A B\n" {
		t.Errorf("%+v", r)
	}
	// Scripts do not expand aliases in bash.
	s.write(s.root+"/plain", ". "+quoteSh(EnvFile("bash", s.p))+"\nsource ./deny-me.sh\n")
	if r := s.run(s.env(), "", "bash", s.root+"/plain"); r.out != "ran\n" {
		t.Errorf("%+v", r)
	}
	// builtin goes past it.
	if r := s.sourced("bash", "builtin source ./deny-me.sh\n\\source ./deny-me.sh\n"); r.out != "ran\nran\n" {
		t.Errorf("%+v", r)
	}
}

// TestSourceInteractive: bash has the alias at the first prompt, so that the
// start-up files themselves are not judged; a user's alias stays.
func TestSourceInteractive(t *testing.T) {
	s := newSandbox(t, "plain", "source").static()
	s.write(s.root+"/deny-me.sh", "echo ran >>$OUT\n")
	got := s.session("bash", ": >$OUT\n"+sourceIt+"source ./deny-me.sh\n", `source ./deny-me.sh; echo $? >>$OUT`, `unalias source`, `. ./deny-me.sh; source ./deny-me.sh; echo $? >>$OUT`)
	if got != "ran\n126\n126\n" {
		t.Errorf("bash: %q", got)
	}
	got = s.session("bash", ": >$OUT\nalias source='echo mine >>$OUT #'\n"+sourceIt, `source ./deny-me.sh`, `true`)
	if got != "mine\n" {
		t.Errorf("bash: %q", got)
	}
	got = s.session("zsh", ": >$OUT\n"+sourceIt, `source ./deny-me.sh; echo $? >>$OUT`, `. ./deny-me.sh; echo $? >>$OUT`)
	if got != "126\n126\n" {
		t.Errorf("zsh: %q", got)
	}
	// zsh expands aliases in scripts: there is none in one.
	r := s.run(s.env("OUT="+s.root+"/out2"), "", "zsh", "-f", "-c", ". \"$1\"; eval 'source ./deny-me.sh'; cat $OUT", "x", EnvFile("zsh", s.p))
	if r.out != "ran\n" {
		t.Errorf("zsh script: %+v", r)
	}
}

// TestFishCd compares fish's own cd, history and all, with the guarded one.
func TestFishCd(t *testing.T) {
	need(t, "fish")
	s := newSandbox(t, "plain", "cd", "umask", "ulimit", "pushd", "popd", "kill", "echo").static()
	for _, d := range []string{"a", "b/c", "d e"} {
		s.write(filepath.Join(s.root, "work", d, "x"), "")
	}
	for _, snippet := range []string{
		`cd a; pwd`, `cd a; cd -; pwd`, `cd a; cd ../b; prevd; pwd; nextd; pwd`, `cd nope; echo $status; pwd`, `cd "d e"; pwd`, `cd; pwd`, `cd a b; echo $status`,
		`set CDPATH b; cd c; pwd`, `cd a; and echo and; or echo or`, `cd nope; and echo and; or echo or`, `begin; cd a; end; pwd`, `cd a | cat; pwd`, `cd -- a; pwd`, `cd ''; echo $status`,
		`cd a; count $dirprev`, `function h --on-variable PWD; echo in $PWD; end; cd a`, `for d in a b; cd $d; cd ..; end; pwd`, `HOME=$PWD/a cd; pwd`, `pushd a; popd; pwd`, `pushd a; dirs | count; pwd`,
		`umask 077; umask`, `umask -S`, `ulimit -S -n 100; ulimit -n`, `printf 'a\nb\n' | while read d; cd $d; pwd; cd ..; end`,
	} {
		var got [2]string
		for i, setup := range []string{`set -p PATH $argv[1]/shims`, `source $argv[1]/env.fish; source $argv[1]/env.fish`} {
			r := s.run(s.env("XDG_CONFIG_HOME="+s.root, "XDG_DATA_HOME="+s.root), "", "fish", "-N", "-c", setup+"; builtin cd work; set -e dirprev; "+snippet, s.p.Home)
			errs, _, _ := strings.Cut(r.err, "\n")
			got[i] = r.out + "\n" + errs
		}
		if got[0] != got[1] {
			t.Errorf("%s\n--- without\n%s\n--- with\n%s", snippet, got[0], got[1])
		}
		if judged := s.judged(); !strings.Contains(judged, "<exec><--builtin><-->") {
			t.Errorf("%s was not judged", snippet)
		}
	}
	for arg, want := range map[string]string{"deny-me": "126", "break-me": "1"} {
		r := s.run(s.env(), "", "fish", "-N", "-c", `source $argv[1]; mkdir `+arg+`; cd `+arg+`; echo $status; pwd; functions -q kill echo; and echo functions`, EnvFile("fish", s.p))
		if r.out != want+"\n"+s.root+"\n" || arg == "deny-me" && r.err != "[SafeShell] BLOCKED\n" {
			t.Errorf("%s: %+v", arg, r)
		}
	}
}
