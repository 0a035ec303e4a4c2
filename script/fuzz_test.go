package script

import (
	"errors"
	"path"
	"strings"
	"testing"

	"safeshell/budget"
)

var fuzzDialects = []Dialect{Bash, POSIX, Zsh, AnyDialect}

// sound checks what holds for every analysis, whatever the text.
func sound(t *testing.T, text string, a Analysis) {
	t.Helper()
	checkShape(t, text, a)
	for _, u := range a.Unknown {
		if strings.HasPrefix(u.Reason, "the analysis failed") || strings.Contains(u.Reason, "the parser failed") {
			t.Fatalf("%q: %s", text, u.Reason)
		}
	}
	if len(a.Commands) > budget.Reading || len(a.Unknown) > 100 {
		t.Fatalf("%q: %d commands, %d unknown", text, len(a.Commands), len(a.Unknown))
	}
	size := 0
	for i := range a.Commands {
		for _, w := range a.Commands[i].Argv {
			for _, p := range w.Parts {
				size += len(p.Text)
			}
		}
		a.Commands[i].Name()
	}
	if size > 64<<20 {
		t.Fatalf("%q: words of %d bytes", text, size)
	}
}

// fuzzAliases are aliases of git's configuration: plain ones, shell code, some
// that lead to themselves, double with each round or cannot be read.
var fuzzAliases = map[string]string{
	"st": "status -s", "pf": "push --force 'a b'", "nuke": "!rm -rf build", "say": "!echo \"$1\" `git st`", "f": "!f() { git rm \"$@\"; }; f",
	"loop": "pool", "pool": "loop", "self": "!git self; git self", "grow": "grow x x", "twice": "!git loop & git \"$@\" \"$@\"", "in": "-C sub -c alias.y='!rm z' y",
	"sh": "!sh -c 'git pf && git sh'", "empty": "", "bang": "!", "open": "'push", "open2": "!echo \"", "w.x": "reset --hard", "Wide": "clean -f",
}

// fuzzOptions are testOptions, where mode says what git answers when it is asked
// for aliases: it is not asked, those above, an error, or that the last line of
// text is what an alias stands for.
func fuzzOptions(t *testing.T, d Dialect, mode int, text string) Options {
	o := testOptions(d)
	if mode == 0 {
		return o
	}
	asked := map[string]bool{}
	o.GitAliases = func(dir string, options, environ []string) GitAliases {
		key := strings.Join(append(append([]string{dir, ""}, options...), environ...), "\x00")
		if dir != "" && !path.IsAbs(dir) || asked[key] || len(asked) >= maxAliasDirs {
			t.Errorf("%q: git is asked in %q with %q and %q, after %d times", text, dir, options, environ, len(asked))
		}
		asked[key] = true
		switch mode {
		case 2:
			return GitAliases{Err: errors.New("no answer")}
		case 3:
			line := text[strings.LastIndexByte(text, '\n')+1:]
			return GitAliases{Text: map[string]string{"x": line, "y": "!" + line}, Top: "/w"}
		}
		found := GitAliases{Text: fuzzAliases, Top: "/w"}
		if len(options) > 0 {
			found.Top = ""
		}
		return found
	}
	return o
}

func FuzzParse(f *testing.F) {
	for _, line := range oracleLines {
		f.Add(line, byte(len(line)))
	}
	for name := range fuzzAliases {
		f.Add("git "+name+" a 'b c'", byte(4))
	}
	for _, line := range []string{"cd $X; git st; cd /a && GIT_DIR=b git -C c --git-dir d pf", "xargs git self | find . -exec git twice {} \\;", "git -c alias.q=grow q; git ST"} {
		f.Add(line, byte(4))
		f.Add(line, byte(8))
	}
	for _, line := range []string{"git x a; git y b\npush --force", "git x\n-c 'a=b c' y \"$1\"", "git y\ngit x; rm \"$@\" {a,b} `git y`", "git x\ny", "git y\nf() { git y; }; f"} {
		f.Add(line, byte(12))
		f.Add(line, byte(14))
	}
	f.Fuzz(func(t *testing.T, text string, b byte) {
		if len(text) > 4096 {
			return
		}
		d, mode := fuzzDialects[int(b)%len(fuzzDialects)], int(b)/len(fuzzDialects)%4
		sound(t, text, Parse(text, fuzzOptions(t, d, mode, text)))
	})
}

func FuzzFromArgv(f *testing.F) {
	for _, s := range []string{
		"git\x00-C\x00a\x00status", "sudo\x00-u\x00root\x00bash\x00-c\x00rm x", "xargs\x00-I{}\x00sh\x00-c\x00rm {}", "find\x00.\x00-exec\x00rm\x00{}\x00;",
		"env\x00-S\x00A=1 rm x", "python3\x00-c\x00import os; os.system(f'rm {x}')", "perl\x00-e\x00s/a/`b`/e; unlink qw(a b)", "awk\x00BEGIN{print \"a\"|\"sh\"}",
		"node\x00-e\x00require('fs').rmSync(`${x}`)", "ruby\x00-e\x00system(*%w[rm x])", "php\x00-r\x00unlink(<<<E\na\nE\n);", "ssh\x00h\x00rm\x00x", "docker\x00run\x00-v\x00a\x00b\x00rm",
		"parallel\x00rm\x00:::\x00a", "sed\x00s/a/b/e", "tmux\x00send-keys\x00rm x\x00Enter", "", "\x00", "make\x00$(shell rm)", "osascript\x00-e\x00do shell script \"rm\"",
		"git\x00twice\x00self\x00grow", "git\x00-C\x00a\x00-c\x00alias.q=sh\x00q", "env\x00GIT_DIR=a\x00git\x00in\x00a b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			return
		}
		argv := strings.Split(s, "\x00")
		a := FromArgv(argv, fuzzOptions(t, Bash, 1, s))
		sound(t, "", a)
		if len(a.Commands) == 0 {
			t.Fatalf("%q: nothing", argv)
		}
		if len(a.Commands[0].Argv) != len(argv) {
			t.Fatalf("%q: command 0 is %s", argv, render(&a.Commands[0]))
		}
		for i, w := range a.Commands[0].Argv {
			if x, ok := w.Text(); !ok || x != argv[i] {
				t.Fatalf("%q: word %d is %s", argv, i, spell(w))
			}
		}
	})
}

// Quoting an argv and parsing the line gives the argv back.
func FuzzQuote(f *testing.F) {
	f.Add("rm\x00-rf\x00a b\x00'\x00\"$x`y`\\\x00\x00\xff\x00!x\x00~\x00{a,b}\x00*")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4096 {
			return
		}
		argv := strings.Split(s, "\x00")
		if argv[0] == "" || len(argv[0]) > 64 {
			argv[0] = "rec"
		}
		argv = append([]string{"rec"}, argv...)
		line := Quote(argv)
		for _, d := range []Dialect{Bash, POSIX, Zsh} {
			a := Parse(line, Options{Dialect: d})
			if tooManyOpeners(line) && len(a.Unknown) > 0 {
				continue // past the bound, where quotes are not looked at
			}
			if len(a.Commands) == 0 || len(a.Commands[0].Argv) != len(argv) {
				t.Fatalf("%s: %q became %q: %s", d, argv, line, describe(a))
			}
			for i, w := range a.Commands[0].Argv {
				if x, ok := w.Text(); !ok || x != argv[i] {
					t.Fatalf("%s: %q became %q: word %d is %s", d, argv, line, i, spell(w))
				}
			}
		}
	})
}
