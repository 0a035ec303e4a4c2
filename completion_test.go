package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
)

// typist is a shell on a terminal, and who types there.
type typist struct {
	t    *testing.T
	tty  *os.File
	mu   sync.Mutex
	out  bytes.Buffer
	seen int
}

func startShell(t *testing.T, dir string, env []string, argv ...string) *typist {
	t.Helper()
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = dir, env
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	s, done := &typist{t: t, tty: f}, make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			s.mu.Lock()
			s.out.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		f.Close()
		<-done
	})
	return s
}

// keys types, and returns what the terminal shows until that matches. ESC
// sequences are left out.
func (s *typist) keys(keys, until string) string {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	want, text := regexp.MustCompile(until), ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		text = escapes.ReplaceAllString(string(s.out.Bytes()[s.seen:]), "")
		if want.MatchString(text) {
			s.seen = s.out.Len()
			s.mu.Unlock()
			return text
		}
		s.mu.Unlock()
	}
	s.t.Fatalf("typed %q, waited for %q, saw:\n%s", keys, until, text)
	return ""
}

var escapes = regexp.MustCompile(`\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][0-9A-Za-z]|[=>])`)

// completionPlace is a home with a bit of everything that can be completed; its
// names would run something if a shell took them for text.
func completionPlace(t *testing.T) (work string, env []string) {
	t.Helper()
	home := testdir.New(t)
	work = filepath.Join(home, "files")
	bin := filepath.Join(home, "bin")
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := testdir.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	// Ids have no capitals, so that none of them completes what is typed.
	names := []string{"A b", "It's", "$(touch pwned)", "`touch pwned`", "Col:on", "Eq=ual", "über", "-rf", "nl\n$(touch pwned)", "esc\x1b]0;x\a", "Back\\slash", "*", "~", "D100%d", "Q\"q", ";touch pwned", "#x"}
	for _, n := range names {
		write(filepath.Join(work, "old", n), "x", 0o600)
	}
	write(filepath.Join(work, "subdir/f"), "", 0o600)
	write(filepath.Join(work, "subfile"), "", 0o600)
	write(filepath.Join(bin, "probing"), "#!/bin/sh\nfor a; do echo \"arg=$a.\"; done; echo done.\n", 0o755)
	if err := os.Symlink(binary, filepath.Join(bin, "safeshell")); err != nil {
		t.Fatal(err)
	}
	env = []string{"HOME=" + home, "PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "TERM=xterm", "SAFESHELL_HOME=" + filepath.Join(home, ".safeshell"), "XDG_DATA_DIRS=" + filepath.Join(home, "share") + ":/usr/share"}
	run := exec.Command(binary, append([]string{"trash", "put", "--"}, names...)...)
	run.Dir, run.Env = filepath.Join(work, "old"), env
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// As packages and make install have them below a prefix.
	shells := map[string]string{"bash": "bash-completion/completions/safeshell", "zsh": "zsh/site-functions/_safeshell", "fish": "fish/vendor_completions.d/safeshell.fish"}
	for sh, path := range shells {
		run := exec.Command(binary, "completion", sh)
		run.Env = env
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(home, "share", path), string(out), 0o600)
	}
	return work, env
}

type completer struct{ name, needs, start, first string }

// present skips the test where something is missing.
func (c completer) present(t *testing.T) {
	t.Helper()
	for _, what := range strings.Fields(c.needs) {
		_, err := exec.LookPath(what)
		if filepath.IsAbs(what) {
			_, err = os.Stat(what)
		}
		if err != nil {
			t.Skip("no " + what)
		}
	}
}

// completing are the ways in which a shell gets its completions: the program to
// start and what to type first.
var completing = []completer{
	{"bash", "bash", `bash --norc -i`, `set -eu; set +e; eval "$(safeshell completion bash)"`},
	{"bash without compopt", "bash", `bash --norc -i`, `enable -n compopt; source ~/share/bash-completion/completions/safeshell`},
	{"bash in posix mode", "bash", `bash --norc --posix -i`, `source ~/share/bash-completion/completions/safeshell`},
	{"bash-completion", "bash /usr/share/bash-completion/bash_completion", `bash --norc -i`, `source /usr/share/bash-completion/bash_completion`},
	{"zsh by fpath", "zsh", `zsh -f -i`, `fpath=(~/share/zsh/site-functions $fpath); autoload -Uz compinit && compinit -u -D; bindkey -e`},
	{"zsh by eval", "zsh", `zsh -f -i`, `autoload -Uz compinit && compinit -u -D; eval "$(safeshell completion zsh)"; bindkey -e`},
	{"fish", "fish", `fish -i`, `true`},
	{"fish by source", "fish", `fish -i`, `safeshell completion fish | source`},
}

// TestCompletion types into real shells: each TAB inserts what it should, quoted
// for that shell, and nothing is run that a name contains.
func TestCompletion(t *testing.T) {
	work, env := completionPlace(t)
	home := filepath.Dir(work)
	defer ask(t, filepath.Join(home, ".safeshell", "spool"), work, "hello", "$(touch pwned)\n\x1b]0;x\a`touch pwned`")()
	pending := exec.Command(binary, "pending")
	pending.Env = env
	out, err := pending.Output()
	if err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(string(out), " ")
	rows := []struct {
		typed string
		want  string // the words behind safeshell, apart by |
		not   string // shells that are excepted
	}{
		{"tra\trest\t--la\t", "trash|restore|--last", ""},
		{"log --verdict=app\t", "log|--verdict=approved", ""},
		{"log --verdict app\t", "log|--verdict|approved", ""},
		{"log --verdict=allow,den\t", "log|--verdict=allow,deny", ""},
		{"rules show core-delete-r\t", "rules|show|core-delete-root", ""},
		{"log --rule=core-delete-r\t", "log|--rule=core-delete-root", ""},
		{"agents doctor cod\t", "agents|doctor|codex", ""},
		{"completion z\t", "completion|zsh", ""},
		{"init - --shell f\t", "init|-|--shell|fish", ""},
		{"approve \t", "approve|" + id, ""},
		{"deny --reason x \t", "deny|--reason|x|" + id, ""},
		{"trash restore A\t", "trash|restore|A b", ""},
		{"trash restore 'A\t", "trash|restore|A b", ""},
		{"trash restore \"A\t", "trash|restore|A b", ""},
		{"trash restore It\t", "trash|restore|It's", ""},
		{"trash restore \\$\t", "trash|restore|$(touch pwned)", ""},
		{"trash restore '$\t", "trash|restore|$(touch pwned)", ""},
		{"trash restore \\`\t", "trash|restore|`touch pwned`", "fish"},
		{"trash restore Col\t", "trash|restore|Col:on", ""},
		{"trash restore Col:\t", "trash|restore|Col:on", ""},
		{"trash restore Eq=\t", "trash|restore|Eq=ual", ""},
		{"trash restore ü\t", "trash|restore|über", ""},
		{"trash restore Back\t", `trash|restore|Back\slash`, ""},
		{"trash restore D100\t", "trash|restore|D100%d", ""},
		{"trash restore Q\t", `trash|restore|Q"q`, ""},
		{"trash restore \\;\t", "trash|restore|;touch pwned", ""},
		{"check --dir subd\t", "check|--dir|subdir", ""},
		{"log --in=subd\t", "log|--in=subdir", ""},
		{"rules lint subf\t", "rules|lint|subfile", ""},
		{"trash put subf\t", "trash|put|subfile", ""},
		{"exec -- probi\t", "exec|--|probing", ""},
		{"exec probing subf\t", "exec|probing|subfile", ""},
		{"check --context=ai -- probing subf\t", "check|--context=ai|--|probing|subfile", ""},
		{"permit check probi\t", "permit|check|probing", ""},
		{"__comp\t", "__comp", ""},
	}
	for _, shell := range completing {
		t.Run(shell.name, func(t *testing.T) {
			shell.present(t)
			s := startShell(t, work, env, strings.Fields(shell.start)...)
			s.keys(shell.first+"; echo rea'd'y\r", `ready\r\n`)
			for _, r := range rows {
				if r.not != "" && strings.HasPrefix(shell.name, r.not) {
					continue
				}
				// The line becomes an argument list of another program.
				got := s.keys("safeshell "+r.typed+"\x01probing \r", `done\.\r\n`)
				var args []string
				for _, m := range regexp.MustCompile(`(?m)^\r?arg=(.*)\.\r$`).FindAllStringSubmatch(got, -1) {
					args = append(args, m[1])
				}
				if strings.TrimSuffix(strings.Join(args, "|"), "/") != "safeshell|"+r.want { // zsh takes the slash back
					t.Errorf("%q became %q, want %q; the terminal showed:\n%s", r.typed, args, r.want, got)
				}
			}
		})
	}
	if _, err := os.Lstat(filepath.Join(work, "pwned")); err == nil {
		t.Error("completion ran what a name contains")
	}
}

// TestCompletionLists looks at what is shown: descriptions, no hidden command, and
// nothing of a program that is broken.
func TestCompletionLists(t *testing.T) {
	work, env := completionPlace(t)
	home := filepath.Dir(work)
	for _, shell := range completing {
		t.Run(shell.name, func(t *testing.T) {
			shell.present(t)
			s := startShell(t, work, env, strings.Fields(shell.start)...)
			s.keys(shell.first+"; echo rea'd'y\r", `ready\r\n`)
			got := s.keys("safeshell trash r\b\t\t", `(?s)list +.*List what is in the trash.*restore +.*Bring files back`)
			if strings.Contains(got, "clean") {
				t.Errorf("a hidden command is shown:\n%s", got)
			}
			s.keys("\x15echo rea'd'y\r", `ready\r\n`)
			s.keys("safeshell trash restore \t\t", `(?s)A.* b .*~/files/old/A b, .*It.*s .*~/files/old/It`)
			s.keys("\x15echo rea'd'y\r", `ready\r\n`)
			broken := "#!/bin/sh\necho garbage >&2; printf 'garbage\\000\\033[31m'; kill -SEGV $$\n"
			dir := filepath.Join(home, "broken")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := testdir.WriteFile(filepath.Join(dir, "safeshell"), []byte(broken), 0o755); err != nil {
				t.Fatal(err)
			}
			s.keys("export PATH=\"$HOME/broken:$PATH\"; echo rea'd'y\r", `ready\r\n`)
			for _, typed := range []string{"tra\t", "trash \t\t", "log --verdict=\t\t"} {
				got := s.keys("safeshell "+typed+"\x01probing \r", `done\.\r\n`)
				if strings.Contains(got, "garbage") || strings.Contains(got, "ault") {
					t.Errorf("%q in front of a broken program shows:\n%s", typed, got)
				}
			}
		})
	}
}
