package initscript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var everyBuiltin = strings.Fields(builtinsOf["bash"] + " " + builtinsOf["zsh"] + " " + builtinsOf["fish"])

// TestLint runs every text that is printed, with and without functions, through
// the shells' own parsers and shellcheck.
func TestLint(t *testing.T) {
	for _, builtins := range [][]string{nil, {"cd"}, everyBuiltin} {
		for _, name := range []string{"plain", "it's \"$HOME\""} {
			s := newSandbox(t, name, builtins...).static()
			check := func(argv ...string) {
				t.Helper()
				if !has(argv[0]) {
					t.Log(argv[0] + " is not installed")
					return
				}
				if r := s.run(s.env(), "", argv...); r.code != 0 || r.out+r.err != "" {
					t.Errorf("%v: status %d\n%s%s", argv, r.code, r.out, r.err)
				}
			}
			sh, bash, zsh, fish := EnvFile("sh", s.p), EnvFile("bash", s.p), EnvFile("zsh", s.p), EnvFile("fish", s.p)
			for _, argv := range [][]string{{"bash", "-n"}, {"bash", "--posix", "-n"}, {"dash", "-n"}, {"busybox", "ash", "-n"}, {"zsh", "-n"}} {
				check(append(argv, sh)...)
			}
			check("bash", "-n", bash)
			check("bash", "--posix", "-n", bash)
			check("zsh", "-n", zsh)
			check("fish", "-n", fish)
			gate := len(builtins) > 1
			if gate {
				check("bash", "-n", s.p.gate("bash"))
				check("zsh", "-n", s.p.gate("zsh"))
			}
			if name == "plain" {
				// SC2269, a variable assigned to itself: it clears the hash table.
				check("shellcheck", "-s", "sh", "-e", "SC2269", sh)
				check("shellcheck", "-s", "dash", "-e", "SC2269", sh)
				// The others warn of what "$@" might hold, which is the caller's; SC2123 of
				// a PATH that is meant to be closed.
				check("shellcheck", "-s", "bash", "-e", "SC2269,SC2164,SC2059,SC2162,SC2123", bash)
				if gate {
					check("shellcheck", "-s", "bash", "-e", "SC1090", s.p.gate("bash"))
				}
			}
			for _, shell := range Shells {
				text := strings.NewReplacer(`"$@"`, "", "[@]", "", "@a}", "", "{@:", "", "@(", "", "@options", "").Replace(read(t, EnvFile(shell, s.p)))
				if strings.Contains(text, "@") {
					t.Errorf("%s: a placeholder is left:\n%s", shell, text)
				}
			}
		}
	}
}

func TestScriptErrors(t *testing.T) {
	good := Params{Binary: "/b/safeshell", Home: "/h/.safeshell", UserHome: "/h"}
	for _, c := range []struct {
		shell string
		p     Params
		want  string
	}{
		{"tcsh", good, "bash, zsh, fish, sh, pwsh"},
		{"bash", Params{Binary: "safeshell", Home: "/h"}, "absolute"},
		{"bash", Params{Binary: "/b", Home: "h"}, "absolute"},
		{"bash", Params{Binary: "/b", Home: "/a:b"}, "colon"},
		{"bash", Params{Binary: "/b\x00", Home: "/a"}, "NUL"},
	} {
		if _, err := Script(c.shell, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Script(%q, %+v): %v, want %q", c.shell, c.p, err, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct{ parent, shell, want string }{
		{"bash", "/bin/zsh", "bash"}, {"-bash", "", "bash"}, {"/usr/bin/zsh-5.9", "", "zsh"}, {"-zsh", "/bin/bash", "zsh"},
		{"fish", "/bin/bash", "fish"}, {"dash", "", "sh"}, {"sh", "/bin/bash", "sh"}, {"busybox", "", "sh"}, {"ksh93", "", "sh"},
		{"python3", "/usr/local/bin/fish", "fish"}, {"sudo", "/bin/tcsh", "sh"}, {"", "", "sh"}, {"rbash", "", "bash"}, {"bash5", "", "bash"},
		{"BASH.EXE", "", "bash"}, {"pwsh", "/bin/bash", "pwsh"},
	} {
		env := func(string) string { return c.shell }
		if got := Detect(env, c.parent); got != c.want {
			t.Errorf("Detect(SHELL=%q, parent %q) = %q, want %q", c.shell, c.parent, got, c.want)
		}
	}
}

// TestPath reads each script twice, in every shell under every set of options,
// and compares PATH.
func TestPath(t *testing.T) {
	s := newSandbox(t, "plain", "cd", "kill", "source").static()
	shims := s.p.shims()
	paths := []string{
		"", "/usr/bin", "/usr/bin:/bin", ":/usr/bin", "/usr/bin:", "/usr/bin::/bin", ":", "::", "/a b:/usr/bin:  :/c d", "/*:*:/usr/bin:?:[a]",
		"/usr/bin:" + shims, shims, shims + ":/usr/bin", shims + ":/usr/bin:" + shims, "/x:" + shims + ":" + shims + "::" + shims + ":/usr/bin",
		"/usr/bin:" + shims + "/", shims + "x:/usr/bin", "!:(:-n:=:/usr/bin", `\:\\:/usr/bin`, "~:$HOME:`x`:/usr/bin", "/é:/usr/bin",
	}
	for _, sh := range posix {
		t.Run(sh.name, func(t *testing.T) {
			s := s
			s.t = t
			for _, options := range prefixes(sh.name) {
				script := options + `
f="$1"
shift
for p do
  PATH="$p"
  . "$f"
  [ $? = 0 ] || exit 9
  . "$f"
  [ $? = 0 ] || exit 9
  printf '%s\n' "$PATH"
done`
				r := s.run(s.env(), "", append(append(sh.argv, "-c", script, "x", EnvFile(sh.shell, s.p)), paths...)...)
				if r.err != "" || r.code != 0 {
					t.Errorf("%s: status %d %s", options, r.code, r.err)
				}
				got := strings.Split(r.out, "\n")
				for i, path := range paths {
					if want := wanted(path, shims); i >= len(got) || got[i] != want {
						t.Errorf("%s: PATH=%q:\ngot  %q\nwant %q", options, path, got[min(i, len(got)-1)], want)
					}
				}
			}
		})
	}
}

// TestUnset: nothing happens without PATH, and HOME is not needed.
func TestUnset(t *testing.T) {
	s := newSandbox(t, "plain", "cd").static()
	for _, sh := range posix {
		file := EnvFile(sh.shell, s.p)
		script := `set -eu; unset PATH HOME; . "$1"; printf '%s|' "${PATH-unset}"; PATH=/usr/bin; . "$1"; printf '%s' "$PATH"`
		r := s.run(nil, "", append(sh.argv, "-c", script, "x", file)...)
		if want := "unset|" + s.p.shims() + ":/usr/bin"; r.out != want || r.err != "" {
			t.Errorf("%s: %q %q, want %q", sh.name, r.out, r.err, want)
		}
	}
}

// TestOnlyPath: no variable, option or alias other than PATH is changed, and no
// process is started.
func TestOnlyPath(t *testing.T) {
	need(t, "strace")
	s := newSandbox(t, "plain").static()
	for _, sh := range posix {
		file := EnvFile(sh.shell, s.p)
		r := s.run(s.env(), "", append(sh.argv, "-c", `set >"$2/before"; . "$1"; set >"$2/after"`, "x", file, s.root)...)
		before, after := lines(t, s.root+"/before"), lines(t, s.root+"/after")
		for l := range after {
			if !before[l] && !strings.HasPrefix(l, "PATH=") && !strings.HasPrefix(l, "path=") && !volatile(l) && !strings.HasPrefix(sh.name, "bash") {
				t.Errorf("%s: new: %s", sh.name, l)
			}
			if strings.HasPrefix(l, "safeshell_") && strings.Contains(l, "=") {
				t.Errorf("%s: a helper variable is left: %s", sh.name, l)
			}
		}
		if r.out+r.err != "" {
			t.Errorf("%s: output %q %q", sh.name, r.out, r.err)
		}
		trace := filepath.Join(s.root, "trace")
		argv := append([]string{"strace", "-f", "-qq", "-e", "trace=fork,vfork,clone,clone3,execve", "-o", trace}, sh.argv...)
		r = s.run(s.env(), "", append(argv, "-c", `. "$1"; . "$1"`, "x", file)...)
		if text, err := os.ReadFile(trace); err != nil || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: more than the shell itself was started: %s %s", sh.name, text, r.err)
		}
	}
}

func volatile(l string) bool {
	for _, v := range []string{"_=", "RANDOM=", "SECONDS=", "LINENO=", "EPOCH", "'?'=", "?=", "status=", "pipestatus=", "TTYIDLE=", "OPTIND", "PPID"} {
		if strings.HasPrefix(l, v) {
			return true
		}
	}
	return false
}

func lines(t *testing.T, path string) map[string]bool {
	out := map[string]bool{}
	for l := range strings.Lines(read(t, path)) {
		out[strings.TrimSuffix(l, "\n")] = true
	}
	return out
}

// TestOddHomes: directories with every kind of name, through the static file
// and through what `safeshell init -` prints, quoted and not, also when the
// file cannot be written.
func TestOddHomes(t *testing.T) {
	for _, name := range odd {
		s := newSandbox(t, name, "cd")
		for _, sh := range posix {
			line, note, err := Line(sh.shell, s.p)
			must(t, err)
			if strings.Count(line, "\n") != 1 || note != "" {
				t.Fatalf("%s: not one line: %q %s", sh.name, line, note)
			}
			text, err := s.p.script(sh.shell, false)
			must(t, err)
			whole := "'eval' " + joinable(sh.shell, text) + "\n"
			want := wanted("/usr/bin:/bin", s.p.shims())
			hows := map[string]string{
				"quoted":             `eval "$(cat ../printed)"`,
				"unquoted":           `eval $(cat ../printed)`,
				"unquoted, set -euf": `set -euf; eval $(cat ../printed)`,
			}
			if name == "plain" {
				hows["quoted, aliases on it"] = "alias eval=false source=false .=false builtin=false\n" + `\eval "$(cat ../printed)"`
			}
			for what, printed := range map[string]string{"line": line, "whole": whole} {
				s.write(s.root+"/printed", printed)
				for how, script := range hows {
					if what == "whole" && how == "quoted" {
						continue
					}
					script = `cd user; ` + script + "\n" + `[ $? = 0 ] || exit 9; printf '%s' "$PATH"`
					r := s.run(s.env(), "", append(sh.argv, "-c", script)...)
					if r.out != want || r.err != "" || r.code != 0 {
						t.Errorf("%s, %s %s, %q:\ngot  %q (%d)\nwant %q\n%s", sh.name, what, how, name, r.out, r.code, want, r.err)
					}
				}
			}
			if sh.shell == "bash" {
				s.write(s.root+"/printed", line)
				for _, opts := range []string{"failglob", "nullglob", "dotglob extglob globstar"} {
					r := s.run(s.env(), "", append(sh.argv, "-c", "shopt -s "+opts+"; cd user; eval $(cat ../printed); printf %s \"$PATH\"")...)
					if r.out != want || r.err != "" {
						t.Errorf("%s, %s, %q: %q %s", sh.name, opts, name, r.out, r.err)
					}
				}
			}
		}
	}
}

func TestOddHomesFish(t *testing.T) {
	need(t, "fish")
	for _, name := range odd {
		s := newSandbox(t, name, "cd")
		line, _, err := Line("fish", s.p)
		must(t, err)
		text, err := s.p.script("fish", false)
		must(t, err)
		for what, printed := range map[string]string{"line": line, "whole": "eval " + joinable("fish", text) + "\n"} {
			s.write(s.root+"/printed", printed)
			for _, script := range []string{`eval (cat printed)`, `eval "$(cat printed)"`, `cat printed | source`} {
				r := s.run(s.env(), "", "fish", "-N", "-c", script+`; printf '%s' "$PATH[1]"; functions -q safeshell_orig_cd; or echo no cd`)
				if r.out != s.p.shims() || r.err != "" || r.code != 0 {
					t.Errorf("%s, %s, %q: %q (%d) %s", what, script, name, r.out, r.code, r.err)
				}
			}
		}
	}
}

func TestFishPath(t *testing.T) {
	s := newSandbox(t, "plain").static()
	shims := s.p.shims()
	for _, path := range []string{"/usr/bin:/bin", "/a b:/usr/bin:/*:[x]", "/usr/bin:" + shims, shims + ":/usr/bin", shims, "/x:" + shims + ":/y:" + shims, "!:(:-n:/usr/bin"} {
		r := s.run(s.env("PATH="+path), "", "fish", "-N", "-c", `source $argv[1]; echo $status; source $argv[1]; printf '%s' "$PATH"`, EnvFile("fish", s.p))
		if want := "0\n" + wanted(path, shims); r.out != want || r.err != "" {
			t.Errorf("PATH=%q: %q, want %q; %s", path, r.out, want, r.err)
		}
	}
	r := s.run(s.env(), "", "fish", "-N", "-c", `set -e PATH; source $argv[1]; count $PATH; set -q first; or set -q entry; and echo left`, EnvFile("fish", s.p))
	if r.out != "0\n" || r.err != "" {
		t.Errorf("PATH unset: %q %q", r.out, r.err)
	}
}

// TestRemoved: with the binary gone, nothing is changed and nothing said.
func TestRemoved(t *testing.T) {
	s := newSandbox(t, "plain", "cd", "kill", "source").static()
	must(t, os.Remove(s.p.Binary))
	for _, sh := range posix {
		r := s.run(s.env(), "", append(sh.argv, "-c", `set -eu; . "$1"; cd /; cd - >/dev/null; printf '%s' "$PATH"`, "x", EnvFile(sh.shell, s.p))...)
		if r.out != "/usr/bin:/bin" || r.err != "" || r.code != 0 {
			t.Errorf("%s: %+v", sh.name, r)
		}
	}
	if has("fish") {
		r := s.run(s.env(), "", "fish", "-N", "-c", `source $argv[1]; cd /; cd $HOME; printf '%s' "$PATH"`, EnvFile("fish", s.p))
		if r.out != "/usr/bin:/bin" || r.err != "" || r.code != 0 {
			t.Errorf("fish: %+v", r)
		}
	}
}

// TestNested: a shell below a shell below a shell adds nothing.
func TestNested(t *testing.T) {
	s := newSandbox(t, "plain").static()
	want := wanted("/usr/bin:/bin", s.p.shims())
	for _, sh := range posix {
		file := EnvFile(sh.shell, s.p)
		self := strings.Join(sh.argv, " ")
		inner := self + ` -c '. "$1"; printf %s "$PATH"' x "$1"`
		r := s.run(s.env(), "", append(sh.argv, "-c", `. "$1"; `+self+` -c '. "$1"; exec "$@"' x "$1" `+inner, "x", file)...)
		if r.code != 0 && !strings.Contains(r.err, "cannot") {
			t.Logf("%s: %s", sh.name, r.err)
		}
		r = s.run(s.env(), "", append(sh.argv, "-c", `. "$1"; `+inner, "x", file)...)
		if r.out != want || r.err != "" {
			t.Errorf("%s: %q %q, want %q", sh.name, r.out, r.err, want)
		}
	}
}

// TestHash: sourcing again makes the shell look programs up anew.
func TestHash(t *testing.T) {
	s := newSandbox(t, "plain").static()
	for _, sh := range posix {
		_ = os.Remove(s.p.shims() + "/uname")
		script := `. "$1"; uname >/dev/null; printf '#!/bin/sh\necho shim\n' >"$2/uname"; chmod +x "$2/uname"; . "$1"; uname`
		r := s.run(s.env(), "", append(sh.argv, "-c", script, "x", EnvFile(sh.shell, s.p), s.p.shims())...)
		if r.out != "shim\n" && sh.name != "busybox ash" { // its uname is its own
			t.Errorf("%s: %+v", sh.name, r)
		}
	}
}

// TestReadOnlyHome: what is printed does not need the static file.
func TestReadOnlyHome(t *testing.T) {
	s := newSandbox(t, "plain", "cd", "source")
	// A file where SAFESHELL_HOME should be: fails for root, too.
	must(t, os.RemoveAll(s.p.Home))
	s.write(s.p.Home, "")
	for _, sh := range posix {
		line, note, err := Line(sh.shell, s.p)
		must(t, err)
		if !strings.Contains(note, "cannot be written") {
			t.Errorf("note %q", note)
		}
		for _, script := range []string{`eval "$LINE"`, `IFS=' '; set -f; eval $LINE`} {
			if sh.argv[0] == "zsh" {
				script = strings.Replace(script, "eval $", "eval ${=", 1)
				script = strings.Replace(script, "{=LINE", "{=LINE}", 1)
			}
			r := s.run(s.env("LINE="+line), "", append(sh.argv, "-c", script+`; printf '%s' "$PATH"`)...)
			if want := wanted("/usr/bin:/bin", s.p.shims()); r.out != want || r.err != "" {
				t.Errorf("%s %s: %q %q", sh.name, script, r.out, r.err)
			}
		}
	}
}

func TestWriteStatic(t *testing.T) {
	s := newSandbox(t, "plain", "cd")
	must(t, os.RemoveAll(s.p.Home))
	first, err := WriteStatic(s.p)
	must(t, err)
	if len(first) != len(Shells) {
		t.Errorf("wrote %v", first)
	}
	info, err := os.Stat(s.p.Home)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	if again, err := WriteStatic(s.p); err != nil || again != nil {
		t.Errorf("wrote %v again: %v", again, err)
	}
	s.p.Builtins = []string{"."}
	if third, err := WriteStatic(s.p); err != nil || len(third) != 5 { // bash, zsh, fish lose cd; the gates
		t.Errorf("wrote %v: %v", third, err)
	}
	entries, err := os.ReadDir(s.p.Home)
	must(t, err)
	for _, e := range entries {
		if strings.Contains(e.Name(), "safeshell-") {
			t.Errorf("left: %s", e.Name())
		}
	}
}
