package initscript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// session runs an interactive shell on a terminal, that has the script, over
// lines; each line may write to $OUT, whose content is returned.
func (s sandbox) session(shell, rc string, lines ...string) string {
	s.t.Helper()
	out := filepath.Join(s.root, "out")
	_ = os.Remove(out)
	file := EnvFile(shell, s.p)
	env := s.env("OUT="+out, "ENVFILE="+file, "ZDOTDIR="+s.root, "XDG_CONFIG_HOME="+s.root+"/config", "PS1=> ")
	lines = append(lines, "exit 0")
	var shown string
	switch shell {
	case "bash":
		s.write(s.root+"/rc", rc)
		shown = s.terminal(env, lines, "bash", "--rcfile", s.root+"/rc", "-i")
	case "zsh":
		s.write(s.root+"/.zshrc", rc)
		shown = s.terminal(env, lines, "zsh", "-i")
	case "fish":
		s.write(s.root+"/config/fish/config.fish", rc)
		shown = s.terminal(env, lines, "fish", "-i")
	}
	b, err := os.ReadFile(out)
	if err != nil {
		s.t.Fatalf("%s wrote nothing; the terminal showed:\n%s", shell, shown)
	}
	if strings.Contains(shown, "safeshell_") && !strings.Contains(strings.Join(lines, " ")+rc, "safeshell_") {
		s.t.Errorf("%s: the terminal showed:\n%s", shell, shown)
	}
	return string(b)
}

const sourceIt = `. "$ENVFILE"` + "\n"

// TestPrompt: what is put in front of the shims later is behind them at the
// next prompt, status and pipe status stay, and the hook is there once.
func TestPrompt(t *testing.T) {
	s := newSandbox(t, "plain").static()
	first := func(path string) string { return wanted(path, s.p.shims()) }
	t.Run("bash", func(t *testing.T) {
		s := s
		s.t = t
		got := s.session("bash", sourceIt+sourceIt+"PATH=/before:$PATH\n",
			`printf '%s\n' "$PATH" >$OUT`,
			`PATH=/x:$PATH; printf '%s\n' "$PATH" >>$OUT`,
			`printf '%s\n' "$PATH" >>$OUT; (exit 3) | (exit 4) | (exit 5)`,
			`echo "$? ${PIPESTATUS[*]}" >>$OUT; PATH=/y:$PATH; (exit 6) | (exit 7)`,
			`echo "$? ${PIPESTATUS[*]}" >>$OUT; declare -p PROMPT_COMMAND >>$OUT`)
		want := first("/before:/usr/bin:/bin") + "\n/x:" + first("/before:/usr/bin:/bin") + "\n" + first("/x:/before:/usr/bin:/bin") +
			"\n5 3 4 5\n7 6 7\n" + `declare -a PROMPT_COMMAND=([0]="" [1]="safeshell_prompt")` + "\n"
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("zsh", func(t *testing.T) {
		s := s
		s.t = t
		got := s.session("zsh", sourceIt+sourceIt+"path=(/before $path)\n",
			`print -r -- "$PATH" >$OUT`,
			`PATH=/x:$PATH; print -r -- "$PATH" >>$OUT`,
			`print -r -- "$PATH" >>$OUT; (exit 3) | (exit 4) | (exit 5)`,
			`print -r -- "$? $pipestatus" >>$OUT; PATH=/y:$PATH; (exit 6) | (exit 7)`,
			`print -r -- "$? $pipestatus" >>$OUT; print -r -- $precmd_functions >>$OUT`)
		want := first("/before:/usr/bin:/bin") + "\n/x:" + first("/before:/usr/bin:/bin") + "\n" + first("/x:/before:/usr/bin:/bin") +
			"\n5 3 4 5\n7 6 7\nsafeshell_prompt\n"
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
	t.Run("fish", func(t *testing.T) {
		s := s
		s.t = t
		got := s.session("fish", "source $ENVFILE\nsource $ENVFILE\nset -gx PATH /before $PATH\n",
			`printf '%s\n' "$PATH" >$OUT`,
			`set -gx PATH /x $PATH; printf '%s\n' "$PATH" >>$OUT`,
			`printf '%s\n' "$PATH" >>$OUT; sh -c 'exit 3' | sh -c 'exit 4' | sh -c 'exit 5'`,
			`echo "$status $pipestatus" >>$OUT; set -gx PATH /y $PATH; sh -c 'exit 6' | sh -c 'exit 7'`,
			`echo "$status $pipestatus" >>$OUT`)
		want := first("/before:/usr/bin:/bin") + "\n/x:" + first("/before:/usr/bin:/bin") + "\n" + first("/x:/before:/usr/bin:/bin") + "\n5 3 4 5\n7 6 7\n"
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// TestPromptCommand: what else is in PROMPT_COMMAND, before and after, keeps
// working and sees the status.
func TestPromptCommand(t *testing.T) {
	s := newSandbox(t, "plain").static()
	log := "other() { echo \"$? ${PIPESTATUS[*]}\" >>$OUT; }\n"
	repaired := s.p.shims() + ":/late:/usr/bin:/bin\n"
	for name, c := range map[string]struct{ rc, want string }{
		"string before":    {log + "PROMPT_COMMAND=other\n" + sourceIt, "5 3 4 5\n" + repaired},
		"string; before":   {log + "PROMPT_COMMAND='other; '\n" + sourceIt, "5 3 4 5\n" + repaired},
		"array before":     {log + "PROMPT_COMMAND=(other)\n" + sourceIt, "5 3 4 5\n" + repaired},
		"replaced later":   {log + sourceIt + "PROMPT_COMMAND=other\n", "5 3 4 5\n" + repaired},
		"prepended later":  {log + sourceIt + "PROMPT_COMMAND=\"other${PROMPT_COMMAND:+;$PROMPT_COMMAND}\"\n", "5 3 4 5\n" + repaired},
		"added later":      {log + sourceIt + "PROMPT_COMMAND+=(other)\n", "5 3 4 5\n" + repaired},
		"added to string":  {log + sourceIt + "PROMPT_COMMAND+='other;'\n", "5 3 4 5\n" + repaired},
		"exported string":  {log + "export PROMPT_COMMAND=other\n" + sourceIt, "5 3 4 5\n" + repaired},
		"read-only":        {log + "readonly PROMPT_COMMAND=other\n" + sourceIt, "5 3 4 5\n/late:" + s.p.shims() + ":/usr/bin:/bin\n"},
		"nounset, noglob":  {log + "PROMPT_COMMAND=other\nset -uf\n" + sourceIt, "5 3 4 5\n" + repaired},
		"IFS, comment":     {log + "PROMPT_COMMAND='other # end'\nIFS=e\n" + sourceIt + "unset IFS\n", "5 3 4 5\n" + repaired},
		"alias everywhere": {log + "PROMPT_COMMAND=other\nalias local=false builtin=false return=false unset=false export=false\n" + sourceIt, "5 3 4 5\n" + repaired},
	} {
		t.Run(name, func(t *testing.T) {
			s := s
			s.t = t
			got := s.session("bash", c.rc, `: >$OUT; PATH=/late:$PATH; (exit 3) | (exit 4) | (exit 5)`, `printf '%s\n' "$PATH" >>$OUT`)
			got, _, _ = strings.Cut(got, "/usr/bin:/bin\n")
			if got += "/usr/bin:/bin\n"; got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestOldBash: before 5.1 PROMPT_COMMAND can only be a string. The branch is
// taken by telling the text another version.
func TestOldBash(t *testing.T) {
	for name, c := range map[string]struct{ rc, want string }{
		"alone":  {"", "safeshell_prompt"},
		"string": {"PROMPT_COMMAND='true; '\n", "true; \nsafeshell_prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, "plain").static()
			file := EnvFile("bash", s.p)
			text := read(t, file)
			old := strings.ReplaceAll(text, "BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501", "1")
			if old == text {
				t.Fatal("the version test is gone")
			}
			s.write(file, old)
			got := s.session("bash", c.rc+sourceIt+sourceIt+`PROMPT_COMMAND="$PROMPT_COMMAND; echo later \$? >>\$OUT"`+"\n",
				`: >$OUT; PATH=/late:$PATH; (exit 5)`, `echo "now $?" >>$OUT; printf '%s\n' "$PATH" "$PROMPT_COMMAND" >>$OUT; PROMPT_COMMAND=`)
			want := "later 5\nnow 5\n" + s.p.shims() + ":/late:/usr/bin:/bin\n" + c.want + "; echo later"
			if name == "string" {
				want = strings.Replace(want, "later 5", "later 0", 1) // true came before
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestPromptErrexit: the hook does not end a shell under set -e, nor talk under
// zsh's warnings.
func TestPromptErrexit(t *testing.T) {
	s := newSandbox(t, "plain").static()
	if got := s.session("bash", sourceIt, `set -eu`, `! true`, `PATH=/x:$PATH; ! true`, `echo alive >$OUT`, `set +e`); got != "alive\n" {
		t.Errorf("bash: %q", got)
	}
	if got := s.session("zsh", "setopt warn_create_global no_unset ksh_arrays sh_word_split glob_subst\n"+sourceIt, `! true`, `PATH=/x:$PATH; ! true`, `print -r -- alive $PATH >$OUT`); got != "alive "+s.p.shims()+":/x:/usr/bin:/bin\n" {
		t.Errorf("zsh: %q", got)
	}
}

// TestRestricted: rbash has a read-only PATH; the hook leaves it alone.
func TestRestricted(t *testing.T) {
	s := newSandbox(t, "plain").static()
	s.write(s.root+"/rc", sourceIt)
	shown := s.terminal(s.env("ENVFILE="+EnvFile("bash", s.p), "PS1=> "), []string{"", "echo $((40+2))", "exit"}, "bash", "--rcfile", s.root+"/rc", "--restricted", "-i")
	if strings.Contains(shown, "readonly") || !strings.Contains(shown, "42") {
		t.Errorf("shown: %s", shown)
	}
}
