package initscript

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestBuiltinLists compares builtinsOf with the shells at hand: a builtin that
// is not listed would be left to a shim that never sees it.
func TestBuiltinLists(t *testing.T) {
	s := newSandbox(t, "plain")
	for shell, argv := range map[string][]string{
		"bash": {"bash", "--norc", "-c", "compgen -b"},
		"zsh":  {"zsh", "-fc", "print -rl -- ${(k)builtins}"},
		"fish": {"fish", "-N", "-c", "builtin -n"},
	} {
		if !has(shell) {
			continue
		}
		for _, b := range strings.Fields(s.run(s.env(), "", argv...).out) {
			// The completion system's own, of no use elsewhere.
			if !hasWord(builtinsOf[shell], b) && !strings.HasPrefix(b, "comp") && b != "_" {
				t.Errorf("%s has the builtin %s", shell, b)
			}
		}
		for _, b := range strings.Fields(functionOf[shell]) {
			if !hasWord(builtinsOf[shell], b) {
				t.Errorf("%s: %s gets a function but is not listed as a builtin", shell, b)
			}
		}
	}
}

func TestCoverable(t *testing.T) {
	for _, c := range []struct {
		builtin, shell string
		ok             bool
		why            string
	}{
		{"cd", "bash", true, "function"}, {"cd", "zsh", true, "function"}, {"cd", "fish", true, "function"}, {"cd", "sh", false, "POSIX"},
		{"eval", "bash", false, "scope"}, {"eval", "fish", false, "scope"}, {"source", "bash", true, "alias"}, {".", "zsh", true, "alias"},
		{"source", "fish", false, "autoloader"}, {"exec", "bash", false, "special"}, {"export", "zsh", false, "special"}, {"alias", "bash", false, "assignments"},
		{"kill", "fish", true, "shim"}, {"git", "bash", true, "shim"}, {"print", "bash", true, "shim"}, {"test", "fish", false, "all the time"},
		{"trap", "bash", false, "special"}, {"getopts", "zsh", false, "parameters"}, {"fg", "bash", false, "job"}, {"cd", "tcsh", false, "tcsh"},
	} {
		ok, why := Coverable(c.builtin, c.shell)
		if ok != c.ok || !strings.Contains(why, c.why) {
			t.Errorf("Coverable(%s, %s) = %v, %q; want %v, %q", c.builtin, c.shell, ok, why, c.ok, c.why)
		}
	}
	// eval and the special builtins must never be functions: it breaks bash
	// run as sh and everything that sets variables.
	for _, shell := range Shells {
		for _, b := range strings.Fields("eval source . : break continue exec exit export readonly return set shift times trap unset") {
			if slices.Contains(strings.Fields(functionOf[shell]), b) {
				t.Errorf("%s: function %s", shell, b)
			}
		}
	}
}

// TestNoRuleNoFunction: without a rule there is no function and no alias.
func TestNoRuleNoFunction(t *testing.T) {
	s := newSandbox(t, "plain", "git", "rm").static()
	for _, shell := range []string{"bash", "zsh"} {
		r := s.run(s.env(), "", shell, "-c", `. "$1"; typeset -f; alias`, "x", EnvFile(shell, s.p))
		if strings.Contains(r.out, "safeshell") || r.err != "" {
			t.Errorf("%s: %+v", shell, r)
		}
	}
	if exists(s.p.gate("bash")) {
		t.Error("a gate without a rule")
	}
}

// differential holds snippets that a guarded shell must run as an unguarded
// one. They start in a directory with the directories a, b/c and "d e", a link
// l to b/c, and PATH /usr/bin:/bin.
var differential = map[string][]string{
	"cd": {
		`cd a; pwd`, `cd a && cd - && pwd`, `cd -`, `cd a; cd ..; cd -; echo "$OLDPWD"`, `cd "d e"; pwd`, `cd l; pwd; pwd -P`, `cd -P l; pwd`, `cd -L l; pwd`,
		`cd -- a; pwd`, `cd nope; echo $?; pwd`, `cd a b c; echo $?`, `cd ""; echo $?; pwd`, `cd; pwd`, `HOME=$PWD/a cd; pwd; echo "$HOME"`,
		`CDPATH=b; cd c; pwd`, `CDPATH=.:b cd c; pwd; echo "${CDPATH-}"`, `CDPATH=:b; cd a; pwd`, `unset HOME; cd; echo $?`, `unset OLDPWD; cd -; echo $?`,
		`set -e; cd nope; echo reached`, `set -e; cd nope || echo or; echo reached`, `set -e; if cd nope; then :; else echo else; fi`, `set -u; cd a; pwd`,
		`(cd a; pwd); pwd`, `x=$(cd a && pwd); echo "$x"; pwd`, `cd a | cat; pwd`, `printf '%s\n' a b | while read -r d; do cd "$d" && pwd; cd ..; done`,
		`trap 'echo exit in $PWD' EXIT; cd a`, `f() { cd a; local x=1; echo $x; }; f; pwd`, `cd a 2>/dev/null; pwd`, `cd nope 2>/dev/null; echo $?`, `! cd nope 2>/dev/null; echo $?`,
		`cd ./a/../b; pwd`, `cd //; pwd`, `cd ~; pwd`, `eval 'cd a'; pwd`, `cd a && set -- x y && echo $#`, `set -- 1 2; cd a; echo "$@"`, `cd b/c; cd ../..; pwd`,
		`cd -e 2>/dev/null; echo $?`, `cd a >/dev/null; pwd`, `cd a; echo "$_" >/dev/null; echo ok`, `pushd a >/dev/null; cd ..; dirs | wc -l; popd >/dev/null; pwd`,
	},
	"bash:cd":        {`shopt -s cdable_vars; v=$PWD/a; cd v; pwd`, `shopt -s cdspell; cd aa; echo $?`, `cd -P -e l; pwd`, `shopt -s autocd; cd a; pwd`, `set -o pipefail; cd a | cat; echo $?`, `trap 'echo err' ERR; cd nope; echo $?`},
	"zsh:cd":         {`chpwd() { echo "in $PWD"; }; cd a`, `cd -q a; pwd`, `setopt auto_pushd; cd a; cd ..; dirs -v | wc -l`, `setopt pushd_minus auto_pushd; cd a; cd -0; pwd`, `cd a; cd a b; pwd`, `cd -s l; echo $?`, `setopt chase_links; cd l; pwd`, `setopt ksh_arrays sh_word_split; cd "d e"; pwd`, `setopt err_return; f() { cd nope; echo reached }; f; echo $?`},
	"kill":           {`sleep 5 & kill $!; wait $! 2>/dev/null; echo $?`, `kill -l >/dev/null; echo $?`, `kill -0 $$; echo $?`, `kill; echo $?`, `kill nope; echo $?`, `trap 'echo usr' USR1; kill -USR1 $$; echo after`, `sleep 5 & kill -s TERM %1; echo $?; wait; true`, `kill -TERM 999999999; echo $?`},
	"ulimit":         {`ulimit -S -n 100; ulimit -n`, `ulimit -a | wc -l`, `ulimit -c 0; ulimit -c`, `ulimit -Z; echo $?`, `(ulimit -S -n 50; ulimit -n); ulimit -S -n 60; ulimit -n`},
	"umask":          {`umask 077; umask`, `umask -S`, `umask u=rwx,g=rx,o=; umask`, `umask 999; echo $?`, `(umask 0); umask`, `umask 027; : >new; ls -l new | cut -c1-10`},
	"echo":           {`echo`, `echo a  b`, `echo -n x; echo`, `echo -e 'a\tb'`, `echo 'a\tb'`, `echo -- -n`, `x=$(echo hi); echo "$x"`, `for i in 1 2; do echo $i; done | tail -n 1`, `echo -n`, `set -u; echo`},
	"printf":         {`printf '%s|' a 'b c' ''; echo`, `printf -v v '%d' 7; echo "$v"`, `f() { local v; printf -v v x; echo $v; }; f; echo "${v-none}"`, `printf '%d\n' x; echo $?`, `printf; echo $?`, `printf -- '-%s\n' a`, `printf '%b\n' 'a\tb'`, `printf '%q\n' 'a b'`, `printf '\061\n'`},
	"test":           {`test 1 = 1 && echo yes`, `test`, `test x; echo $?`, `test a = b || echo no`, `test -d a; echo $?`, `test 1 -eq x; echo $?`, `test '(' x ')'; echo $?`, `set -e; test 1 = 2 || echo no; if test 1 = 2; then :; fi; echo end`},
	"read":           {`echo 'a b c' | { read x y; echo "$x/$y"; }`, `printf 'a\\\nb\n' | { read x; echo "$x"; }`, `printf '1\n2\n3\n' | while read -r n; do echo "<$n>"; done`, `echo 'a:b' | { IFS=: read x y; echo "$x $y"; echo "$IFS" | wc -c; }`, `read x </dev/null; echo "$? <$x>"`, `f() { local v; read -r v <<<in; echo $v; }; f; echo "${v-none}"`, `read -r -d x v <<<'abxcd'; echo "$v"`, `read -t 0 </dev/null; echo $?`, `read 1bad <<<x; echo $?`, `{ read a; read b; } <<<$'1\n2'; echo $a$b`},
	"pwd":            {`pwd`, `cd l; pwd; pwd -P; pwd -L`, `x=$(pwd); echo "$x"`},
	"pushd":          {`pushd a; popd; pwd`, `pushd nope; echo $?`, `pushd; echo $?`, `pushd a >/dev/null; pushd ../b >/dev/null; pushd; pwd; dirs | wc -w`, `pushd a >/dev/null; pushd +1; pwd`},
	"popd":           {`popd; echo $?`, `pushd a >/dev/null; popd; pwd`, `pushd a >/dev/null; pushd ../b >/dev/null; popd +1; dirs | wc -w`},
	"disown":         {`sleep 2 >/dev/null 2>&1 & disown; jobs; echo $?`, `disown %9; echo $?`, `sleep 2 >/dev/null 2>&1 & disown $! 2>/dev/null; echo $?`},
	"bash:mapfile":   {`mapfile -t v <<<$'a\nb c'; echo "${#v[@]} ${v[1]}"`, `f() { local -a w; mapfile -t w < <(echo x); echo "${w[0]}"; }; f; echo "${w-none}"`, `mapfile -t -n 1 v < <(printf '1\n2\n'); echo "${v[*]}"; mapfile; echo "${#MAPFILE[@]}"`},
	"bash:readarray": {`readarray -t v <<<$'a\nb'; echo "${v[1]}"`},
	"bash:history":   {`set -o history; history -s 'x y'; history | tail -n 1`, `history -c; history | wc -l`, `history -d 999; echo $?`},
	"zsh:print":      {`print a b`, `print -r -- 'a\tb'`, `print -n x; print`, `print -z foo; read -rz v; print $v`, `print -v v hi; print $v`, `print -l a b`, `print -P '%1~' | wc -l`},
	"zsh:chdir":      {`chdir a; pwd`, `chdir nope; echo $?; pwd`},
}

// TestDifferential runs the snippets with and without the functions.
func TestDifferential(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			need(t, shell)
			for _, b := range strings.Fields(functionOf[shell]) {
				snippets := append(slices.Clone(differential[b]), differential[shell+":"+b]...)
				if len(snippets) == 0 {
					t.Errorf("%s has a function and no snippet to compare", b)
				}
				s := newSandbox(t, "plain", b).static()
				file := EnvFile(shell, s.p)
				for _, snippet := range snippets {
					var got [2]string
					for i, setup := range []string{`PATH=$1/shims:$PATH`, `. "$1/env.` + shell + `"`} {
						dir := s.root + "/work"
						must(t, os.RemoveAll(dir))
						for _, d := range []string{"a", "b/c", "d e"} {
							must(t, os.MkdirAll(dir+"/"+d, 0o755))
						}
						must(t, os.Symlink("b/c", dir+"/l"))
						script := setup + "\ncd \"$2\"\nshift $#\n" + snippet + "\n"
						r := s.run(s.env(), "", append(map[string][]string{"bash": {"bash", "--norc"}, "zsh": {"zsh", "-f"}}[shell], "-c", script, shell, s.p.Home, dir)...)
						errs := plainErrors(r.err, b)
						got[i] = strings.ReplaceAll(fmt.Sprintf("%s\nerrors: %s\nstatus %d", r.out, errs, r.code), dir, "DIR")
					}
					if got[0] != got[1] {
						t.Errorf("%s: %s\n--- without\n%s\n--- with (%s)\n%s", shell, snippet, got[0], file, got[1])
					}
					if judged := s.judged(); !strings.Contains(judged, "<exec><--builtin><--><"+b+">") || strings.Contains(judged, "terminal") {
						t.Errorf("%s: %s: the judge saw %q", shell, snippet, judged)
					}
				}
			}
		})
	}
}

// plainErrors takes the place of an error message away, which is another in a
// function.
func plainErrors(text, builtin string) string {
	var out []string
	for l := range strings.Lines(text) {
		if builtin == "read" {
			l = strings.Replace(l, "zsh:4: not an identifier", "read: not an identifier", 1)
		}
		if i := strings.Index(l, builtin+":"); i >= 0 {
			l = l[i:]
		}
		if rest, ok := strings.CutPrefix(l, builtin+":"); ok {
			// zsh: cd:2: message, or cd:cd:2: message
			rest = strings.TrimPrefix(rest, builtin+":")
			if _, after, ok := strings.Cut(rest, ": "); ok && len(rest)-len(after) < 6 {
				rest = " " + after
			}
			l = builtin + ":" + rest
		}
		out = append(out, l)
	}
	return strings.Join(out, "")
}

// TestDenied: the builtin does not happen, the status is 126, the judge's
// message is the only output; anything but 0 and 127 stops.
func TestDenied(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		for _, b := range strings.Fields(functionOf[shell]) {
			s := newSandbox(t, "plain", b).static()
			for arg, want := range map[string]string{"deny-me": "126", "break-me": "1"} {
				r := s.run(s.env(), "input\n", shell, "-c", `. "$1"; mkdir "$2"; `+b+` "$2" >out; s=$?; \builtin echo $s; cat out; rmdir "$2"; pwd`, "x", EnvFile(shell, s.p), arg)
				if r.out != want+"\n"+s.root+"\n" || (arg == "deny-me") != (r.err == "[SafeShell] BLOCKED\n") {
					t.Errorf("%s %s %s: %+v", shell, b, arg, r)
				}
			}
			r := s.run(s.env(), "", shell, "-c", `. "$1"; set -e; `+b+` deny-me; \builtin echo reached`, "x", EnvFile(shell, s.p))
			if r.out != "" || r.code != 126 {
				t.Errorf("%s set -e %s: %+v", shell, b, r)
			}
		}
	}
}

// TestGone: with the binary gone after the start, the builtin works and nothing
// is said.
func TestGone(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		s := newSandbox(t, "plain", "cd", "source").static()
		r := s.run(s.env(), "", shell, "-c", `. "$1"; /bin/rm "$2"; cd /; s=$?; pwd; \builtin echo $s; builtin source '`+s.p.gate(shell)+`' source /dev/null; \builtin echo $?`, "x", EnvFile(shell, s.p), s.p.Binary)
		if r.out != "/\n0\n0\n" || r.err != "" {
			t.Errorf("%s: %+v", shell, r)
		}
		// Between the test and the start: 127 counts as gone too.
		s = newSandbox(t, "plain", "cd").static()
		s.write(s.p.Binary, "#!"+s.root+"/nowhere/sh\n")
		must(t, os.Chmod(s.p.Binary, 0o755))
		r = s.run(s.env(), "", shell, "-c", `. "$1"; cd /; pwd`, "x", EnvFile(shell, s.p))
		if r.out != "/\n" {
			t.Errorf("%s: %+v", shell, r)
		}
	}
}

// TestOwnFunction: a function of the user stays, and so does ours at a second
// reading; posix mode gets none, nor does anything exported.
func TestOwnFunction(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		s := newSandbox(t, "plain", "cd", "kill").static()
		file := EnvFile(shell, s.p)
		r := s.run(s.env(), "", shell, "-c", `function cd { echo mine; }; . "$1"; . "$1"; cd /; typeset -f kill >/dev/null && echo kill; pwd; env | grep -c 'BASH_FUNC\|safeshell_'`, "x", file)
		if r.out != "mine\nkill\n"+s.root+"\n0\n" || r.err != "" {
			t.Errorf("%s: %+v", shell, r)
		}
		r = s.run(s.env(), "", shell, "-c", `. "$1"; . "$1"; cd deny-me 2>/dev/null; echo $?`, "x", file)
		if r.out != "126\n" || strings.Count(s.judged(), "cd") != 1 {
			t.Errorf("%s twice: %+v", shell, r)
		}
	}
	s := newSandbox(t, "plain", everyBuiltin...).static()
	for _, argv := range [][]string{{"bash", "--posix"}, {"env", "POSIXLY_CORRECT=1", "bash"}, {"dash"}, {"busybox", "ash"}} {
		file, list := EnvFile("bash", s.p), `typeset -f; eval 'echo evaluated'`
		if argv[0] == "dash" || argv[0] == "busybox" {
			file, list = EnvFile("sh", s.p), `type cd; type eval; eval 'echo evaluated'`
		}
		r := s.run(s.env(), "", append(argv, "-c", `. "$1"; `+list, "x", file)...)
		if strings.Contains(r.out, "function") || strings.Contains(r.out, "--builtin") || !strings.Contains(r.out, "evaluated") || r.err != "" {
			t.Errorf("%v: %+v", argv, r)
		}
	}
}

// TestUserAliases: aliases on the words that the scripts use, set before.
func TestUserAliases(t *testing.T) {
	aliases := "for a in cd source . command builtin eval return local typeset emulate alias unset export exec kill echo printf test read pwd function_ ulimit umask; do alias $a='bad word'; done\n"
	for _, shell := range []string{"bash", "zsh"} {
		s := newSandbox(t, "plain", everyBuiltin...).static()
		script := "\\builtin shopt -s expand_aliases 2>/dev/null\n" + aliases + "\\builtin . \"$1\"\n\\builtin . \"$1\"\n\\cd deny-me\n\\builtin echo $? $PATH\n"
		if shell == "zsh" {
			script = strings.Replace(script, "\\builtin shopt", "\\builtin true", 1)
		}
		r := s.run(s.env(), "", shell, "-c", script, "x", EnvFile(shell, s.p))
		if r.out != "126 "+wanted("/usr/bin:/bin", s.p.shims())+"\n" || r.err != "[SafeShell] BLOCKED\n" {
			t.Errorf("%s: %+v", shell, r)
		}
	}
}

// TestUserAliasThroughFunction: an alias on cd still ends in our function.
func TestUserAliasThroughFunction(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		s := newSandbox(t, "plain", "cd").static()
		s.write(s.root+"/script", "[ -n \"${ZSH_VERSION-}\" ] || shopt -s expand_aliases\nalias cd='cd -P'\n. \"$1\"\ncd deny-me\necho $?\n")
		r := s.run(s.env(), "", shell, s.root+"/script", EnvFile(shell, s.p))
		if judged := s.judged(); r.out != "126\n" || !strings.Contains(judged, "<cd><-P><deny-me>") {
			t.Errorf("%s: %+v %s", shell, r, judged)
		}
	}
}

// TestSnapshot: agents write the functions and aliases of one shell to a file
// and read it in the next, under set -e and without what begins with "_".
func TestSnapshot(t *testing.T) {
	s := newSandbox(t, "it's", "cd", "kill", "source").static()
	s.write(s.root+"/deny-me", "echo ran\n")
	for shell, dump := range map[string]string{
		"bash": `{ echo 'unalias -a; shopt -s expand_aliases'; declare -f; alias -p; declare -px PATH; } >snap`,
		"zsh":  `{ echo 'unalias -a; setopt aliases'; typeset -f; alias -L; export -p PATH; } >snap`,
	} {
		r := s.run(s.env(), "", shell, "-c", `. "$1"; `+dump, "x", EnvFile(shell, s.p))
		if snap := read(t, s.root+"/snap"); r.err != "" || strings.Contains(snap, "function _") || strings.Contains(snap, "\n_") {
			t.Fatalf("%s: %+v\n%s", shell, r, snap)
		}
		r = s.run(s.env(), "", shell, "-ec", `. ./snap; eval 'cd deny-me || echo $?; source ./deny-me || echo $?; kill -0 $$; echo "${PATH%%:*}"'`)
		want := "126\n126\n0"
		if shell == "zsh" {
			want = "126\nran\n0" // the alias is for interactive shells
		}
		want = strings.TrimSuffix(want, "0") + s.p.shims() + "\n"
		if r.out != want {
			t.Errorf("%s: %+v, want %q", shell, r, want)
		}
	}
}

// TestCdReach is what a cd function is reached by, and what goes past it.
func TestCdReach(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		s := newSandbox(t, "plain", "cd").static()
		must(t, os.Mkdir(s.root+"/deny-me", 0o755))
		for _, c := range []struct {
			command string
			judged  bool
		}{
			{`\cd deny-me`, true}, {`eval cd deny-me`, true}, {`(cd deny-me)`, true}, {`x=$(cd deny-me)`, true}, {`cd deny-me | cat`, true},
			{`builtin cd deny-me`, false}, {`pushd deny-me`, false}, {shell + ` -c 'cd deny-me'`, false},
		} {
			s.run(s.env(), "", shell, "-c", `. "$1"; `+c.command, "x", EnvFile(shell, s.p))
			if got := strings.Contains(s.judged(), "deny-me"); got != c.judged {
				t.Errorf("%s: %s: judged %v", shell, c.command, got)
			}
		}
	}
	s := newSandbox(t, "plain", "cd").static()
	must(t, os.Mkdir(s.root+"/deny-me", 0o755))
	got := s.session("bash", "shopt -s autocd\n"+sourceIt, `deny-me`, `echo $? >$OUT`)
	if judged := s.judged(); got != "126\n" || !strings.Contains(judged, "<cd><--><deny-me>") {
		t.Errorf("autocd: %q %q", got, judged)
	}
}
