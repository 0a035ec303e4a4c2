package initscript

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// found returns the findings of a level as text.
func findings(fs []Finding, levels ...Level) string {
	var out []string
	for _, f := range fs {
		for _, l := range levels {
			if f.Level == l {
				out = append(out, f.File+" "+f.Message+" => "+f.Fix)
			}
			if (f.Level == OK || f.Level == Info) != (f.Fix == "") {
				out = append(out, "a finding without a fix, or a fix without a fault: "+f.Message)
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestCheckPath(t *testing.T) {
	s := newSandbox(t, "plain")
	s.write(s.p.UserHome+"/.bashrc", "# export PATH=$HOME/.pyenv/shims:$PATH\nexport PATH=$HOME/.pyenv/shims:$PATH\n")
	e := testEnv(nil, "bash", "zsh", "fish")
	_, err := Apply(e, s.p)
	must(t, err)
	shims := s.p.shims()
	for _, c := range []struct {
		path, want string
		level      Level
	}{
		{"", "PATH is empty", Fail},
		{"/usr/bin", "is not in PATH", Fail},
		{s.p.UserHome + "/.pyenv/shims:" + shims, "of pyenv comes before safeshell's shims", Warn},
		{s.p.UserHome + "/.pyenv/shims:" + shims, ".bashrc:", Warn},
		{"/usr/bin:" + shims, "/usr/bin comes before", Warn},
		{shims + ":/usr/bin:", "entry 3 of PATH is empty", Warn},
		{":" + shims, "entry 1 of PATH is empty", Warn},
		{shims + ":node_modules/.bin", `"node_modules/.bin", is relative`, Warn},
		{shims + ":/x/.asdf/shims", "shims of asdf come after", Info},
		{shims + ":/home/x/.nvm/versions/node/v22/bin", "shims of nvm come after", Info},
		{shims + "/:/usr/bin", "is first in PATH", OK},
	} {
		e.Environ = []string{"PATH=/wrong", "PATH=" + c.path}
		if got := findings(Check(e, s.p), c.level); !strings.Contains(got, c.want) {
			t.Errorf("PATH=%s: %s; want %s", c.path, got, c.want)
		}
	}
	e.Environ = []string{"PATH=" + shims + ":/usr/bin"}
	if got := findings(Check(e, s.p), Warn, Fail); got != "" {
		t.Errorf("a set-up without fault: %s", got)
	}
	e.Environ = append(e.Environ, "BASH_FUNC_safeshell_prompt%%=() { :\n}", "BASH_FUNC_cd%%=() { '/x' exec --builtin -- cd \"$@\"\n}", "BASH_FUNC_foo%%=() { :; }")
	if got := findings(Check(e, s.p), Warn); strings.Count(got, "export -nf") != 2 {
		t.Errorf("exported: %s", got)
	}
}

func TestCheckFiles(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s sandbox)
		want string
	}{
		"no binary":      {func(s sandbox) { must(t, os.Remove(s.p.Binary)) }, "binary is not there"},
		"not executable": {func(s sandbox) { must(t, os.Chmod(s.p.Binary, 0o644)) }, "chmod +x"},
		"static gone":    {func(s sandbox) { must(t, os.Remove(EnvFile("bash", s.p))) }, "cannot be read"},
		"static old":     {func(s sandbox) { s.write(EnvFile("zsh", s.p), header+" old\n") }, "safeshell refresh"},
		"file gone":      {func(s sandbox) { must(t, os.Remove(s.p.UserHome+"/.zshenv")) }, "zsh -c and zsh scripts start without"},
		"unmatched":      {func(s sandbox) { s.write(s.p.UserHome+"/.bashrc", beginMark+"\n") }, "line 1"},
		"directory": {func(s sandbox) {
			must(t, os.Remove(s.p.UserHome+"/.zshrc"))
			must(t, os.Mkdir(s.p.UserHome+"/.zshrc", 0o755))
		}, "is a directory"},
		"read-only": {func(s sandbox) {
			s.write(s.p.UserHome+"/.bashrc", "")
			must(t, os.Chmod(s.p.UserHome+"/.bashrc", 0o444))
		}, "add by hand"},
		"bash_login": {func(s sandbox) { s.write(s.p.UserHome+"/.bash_login", "") }, "hides .profile"},
	} {
		s := newSandbox(t, "plain")
		e := testEnv([]string{"PATH=" + s.p.shims()}, "bash", "zsh", "fish")
		_, err := Apply(e, s.p)
		must(t, err)
		c.do(s)
		if got := findings(Check(e, s.p), Warn, Fail); !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
	}
}

func TestCheckByHand(t *testing.T) {
	s := newSandbox(t, "plain")
	e := testEnv([]string{"PATH=" + s.p.shims()}, "bash")
	_, err := Apply(e, s.p)
	must(t, err)
	for text, want := range map[string]string{
		`eval "$(safeshell init -)"` + "\n":                                 "",
		"[ -r ~/.safeshell/env.bash ] && . ~/.safeshell/env.bash\n":         "",
		"# eval \"$(safeshell init -)\"\n":                                  "no safeshell block",
		"[ -z \"$PS1\" ] && return\n" + `eval "$(safeshell init -)"` + "\n": "below a line",
	} {
		s.write(s.p.UserHome+"/.bashrc", text)
		if got := findings(Check(e, s.p), Warn, Fail); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

func TestCheckBuiltins(t *testing.T) {
	s := newSandbox(t, "plain", "eval", "cd", "kill", "git", "export")
	e := testEnv([]string{"PATH=" + s.p.shims()}, "bash", "fish")
	_, err := Apply(e, s.p)
	must(t, err)
	got := findings(Check(e, s.p), Warn)
	for _, want := range []string{"a rule names eval, which bash cannot", "a rule names eval, which fish cannot", "a rule names export, which bash cannot"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s; want %s", got, want)
		}
	}
	if strings.Count(got, "\n") != 2 {
		t.Errorf("more than that: %s", got)
	}
}

// TestEditProperty: whatever the text, taking the block out of what set made
// gives the text back; set on it again changes nothing.
func TestEditProperty(t *testing.T) {
	p := Params{Binary: "/b/safeshell", Home: "/h/.safeshell", UserHome: "/h"}
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a=1", "return", "[ x ] && exec y", "case $- in", "*) return;;", "esac", "f() {", "}", "if true; then", "fi", "x \\", "#!/bin/sh", "a\r", "'", "<<EOF", "EOF", "# >>> conda >>>"}),
		rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(line, 0, 8).Draw(rt, "lines"), "\n"))
		tg := target{path: "/h/" + rapid.SampledFrom([]string{".bashrc", ".zshrc", ".profile"}).Draw(rt, "name"), shell: "sh", source: "/h/.safeshell/env.sh"}
		tg.place = rapid.SampledFrom([]place{atEnd, atTop}).Draw(rt, "place")
		out, _, err := set(text, tg, p, flags{})
		if err != nil {
			return // refused: nothing is written
		}
		in, err := blocks(out)
		if err != nil || len(in) != 1 {
			rt.Fatalf("%v %v in %q", in, err, out)
		}
		if rest, _ := without(out, in); !bytes.Equal(rest, text) {
			rt.Fatalf("%q came back as %q", text, rest)
		}
		again, done, err := set(out, tg, p, flags{})
		if err != nil || done.kind != None || !bytes.Equal(again, out) {
			rt.Fatalf("again: %v %v\n%s", done, err, again)
		}
	})
}

// FuzzBlocks: no text makes the reader of blocks fail.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte(beginMark + "\n" + undoMark + " 99999999999999999999 empty\n" + endMark))
	f.Add([]byte(endMark + "\r\n" + beginMark))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := blocks(text)
		if err == nil {
			without(text, in)
		}
		for _, name := range []string{"/h/.bashrc", "/h/.zshrc"} {
			_, _, _ = set(text, target{path: name, shell: "sh"}, Params{UserHome: "/h"}, flags{})
		}
	})
}
