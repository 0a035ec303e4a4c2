package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

// reader is a person who follows a page: a shell in a scratch home, with a
// repository on main.
type reader struct {
	dir   string
	env   []string
	shell []string // interactive, so that prompts do what they do
}

func newReader(t *testing.T) reader {
	t.Helper()
	top := testdir.New(t)
	home, bin, dir := filepath.Join(top, "home"), filepath.Join(top, "bin"), filepath.Join(top, "home", "shop")
	for _, d := range []string{bin, filepath.Join(dir, "src"), filepath.Join(dir, "build"), filepath.Join(home, ".claude"), filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"safeshell", "safeshell-wrapper"} {
		if err := os.Symlink(binary, filepath.Join(bin, n)); err != nil {
			t.Fatal(err)
		}
	}
	r := reader{dir, []string{
		"HOME=" + home, "PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/bash", "TMPDIR=" + os.TempDir(),
		"TMPPREFIX=" + filepath.Join(os.TempDir(), "zsh"), // where zsh puts here-documents
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org",
	}, []string{"/bin/bash", "--norc", "--noediting", "-i"}}
	out, err := r.bash(`git init -q -b main . && echo 'let a = 1' > src/app.js && git add src && git commit -q -m x && echo "let b = 2" >> src/app.js && echo S=1 > .env && : > ~/.ssh/id_ed25519`)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func (r reader) command(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir, c.Env = r.dir, r.env
	return c
}

func (r reader) bash(text string) (string, error) {
	out, err := r.command("/bin/bash", "--norc", "-c", text).CombinedOutput()
	return string(out), err
}

// step is a command that a page shows, and the output that it promises; a line
// `...` stands for any lines, `…` for some words.
type step struct {
	command, want string
	quiet         bool // of an sh block: it succeeds, whatever it prints
}

// steps are the commands of a page's blocks, in their order.
func steps(page string) (out []step) {
	for _, m := range fenced.FindAllStringSubmatch(page, -1) {
		switch m[1] {
		case "sh":
			out = append(out, step{command: m[2], quiet: true})
		case "console":
			for line := range strings.Lines(m[2]) {
				switch last := len(out) - 1; {
				case strings.HasPrefix(line, "$ "):
					out = append(out, step{command: line[2:]})
				case strings.HasPrefix(line, "> "):
					out[last].command += line[2:]
				default:
					out[last].want += line
				}
			}
		}
	}
	return out
}

// follow types a page's commands into one shell and holds what each prints beside
// what the page says.
func (r reader) follow(t *testing.T, all []step) {
	t.Helper()
	const mark = "\x01"
	const say = "said=$?; printf '" + mark + "%d\\n' $said; (exit $said)\n"
	text := say
	for _, s := range all {
		text += s.command + say
	}
	c := r.command(r.shell...)
	c.Env = append(c.Env, "PS1=", "PS2=", "HISTFILE=")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Stdin = strings.NewReader(text)
	b, err := c.CombinedOutput()
	outs := strings.Split(string(b), mark)
	if len(outs) != len(all)+2 {
		t.Fatalf("%v: %s", err, b)
	}
	for i, s := range all {
		_, got, _ := strings.Cut(outs[i+1], "\n")
		code, _, _ := strings.Cut(outs[i+2], "\n")
		if s.quiet {
			if code != "0" {
				t.Errorf("%sexits %s and prints:\n%s", s.command, code, got)
			}
			continue
		}
		got = strings.ReplaceAll(got, filepath.Dir(r.dir), "~")
		want := strings.NewReplacer("\\.\\.\\.\n", "(?s:.*)", "…", ".*").Replace(regexp.QuoteMeta(s.want))
		if !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%sprints:\n%s\nand not, as the page says:\n%s", s.command, got, s.want)
		}
	}
}

// TestReadme: what README shows happens so, word for word, and its table of
// verdicts is true. Its packages are tried by make install-test.
func TestReadme(t *testing.T) {
	page := pages(t)["README.md"]
	r := newReader(t)
	for _, s := range steps(page) {
		if s.quiet {
			r.setUp(t, s.command)
			continue
		}
		r.follow(t, []step{s})
	}
	verdicts := map[string]string{"allowed": "allow", "redirected": "redirect", "asked": "require_approval", "denied": "deny"}
	row := regexp.MustCompile(`(?m)^\| (allowed|redirected|asked|denied) \| (.*?) \| `)
	rows := row.FindAllStringSubmatch(page, -1)
	if len(rows) != len(verdicts) {
		t.Fatalf("the table of verdicts has %d rows", len(rows))
	}
	for _, m := range rows {
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[2], -1) {
			line := strings.ReplaceAll(code[1], `\|`, "|")
			out, _ := r.command(binary, "check", "--json", "--context", "ai", "--", line).Output()
			var v struct{ Action string }
			if err := json.Unmarshal(out, &v); err != nil || v.Action != verdicts[m[1]] {
				t.Errorf("%s is not %s: %s", line, m[1], out)
			}
		}
	}
	for _, d := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllStringSubmatch(page, -1) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(r.dir), ".safeshell", "rules.yaml"), []byte(d[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := r.bash("safeshell rules lint && safeshell rules test"); err != nil {
			t.Errorf("README's rules: %v: %s", err, out)
		}
	}
}

// setUp runs the lines of README's set-up block: those before `watch` in one shell,
// which then is guarded, and `watch` on a terminal, where it must come up.
func (r reader) setUp(t *testing.T, block string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	watch := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "safeshell watch") })
	if len(lines) != 4 || watch != 3 {
		t.Fatalf("README promises four commands, the last of them watch:\n%s", block)
	}
	r.follow(t, append(asSteps(lines[:watch]), step{command: "command -v rm\n", want: "~/.safeshell/shims/rm\n"}))
	c := r.command("/bin/bash", "--norc", "-c", "exec "+lines[watch])
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	var screen bytes.Buffer
	late := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	for buf := make([]byte, 4096); !bytes.Contains(screen.Bytes(), []byte("safeshell watch")); {
		n, err := f.Read(buf)
		if screen.Write(buf[:n]); err != nil {
			t.Errorf("safeshell watch did not come up: %s", screen.String())
			break
		}
	}
	late.Stop()
	_ = f.Close() // the terminal is closed, and the monitor ends
	_ = c.Wait()
}

func asSteps(lines []string) (out []step) {
	for _, l := range lines {
		out = append(out, step{command: l + "\n", quiet: true})
	}
	return out
}

// TestFirstRule: the tutorial, word for word.
func TestFirstRule(t *testing.T) {
	page := steps(pages(t)["docs/first-rule.md"])
	for _, shell := range [][]string{{"bash", "--norc", "--noediting", "-i"}, {"zsh", "-f", "-i", "+Z", "+o", "PROMPT_SP"}} {
		t.Run(shell[0], func(t *testing.T) {
			exe, err := exec.LookPath(shell[0])
			if err != nil {
				t.Skipf("skipped: no %s", shell[0])
			}
			r := newReader(t)
			r.shell = append([]string{exe}, shell[1:]...)
			r.follow(t, append(asSteps([]string{"safeshell init --yes", `eval "$(safeshell init -)"`}), page...))
		})
	}
}

// TestPictures: the README's pictures show what the program shows today. Times and
// ids differ, and are not compared.
func TestPictures(t *testing.T) {
	for _, tool := range []string{"tmux", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: no %s", tool)
		}
	}
	if unix.Access("/tmp", unix.W_OK) != nil {
		t.Skip("skipped: /tmp is not writable, where a home's name is as short as the one shown")
	}
	dir := testdir.New(t)
	if out, err := exec.Command("go", "run", "./docs/pictures", binary, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"blocked.svg", "watch.svg"} {
		shown, now := words(t, filepath.Join("docs/pictures", name)), words(t, filepath.Join(dir, name))
		for _, w := range shown {
			if !slices.Contains(now, w) {
				t.Errorf("%s shows %q, which the program does not say any more; run: make pictures", name, w)
			}
		}
	}
}

// words are those of a picture's texts that no clock changes.
func words(t *testing.T, file string) (out []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllStringSubmatch(string(b), -1) {
		for _, w := range regexp.MustCompile(`[A-Za-z]{3,}`).FindAllString(m[1], -1) {
			if !slices.Contains([]string{"just", "now", "ago", "under"}, w) {
				out = append(out, w)
			}
		}
	}
	return out
}
