// Command pictures draws the README's pictures: the real program works in a
// scratch home inside tmux, and what stands on its screen becomes an SVG.
// Usage: go run ./docs/pictures BINARY DIRECTORY
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// person is where the pictures' home is said to be; the scratch home's path is as
// long, so that the columns stay.
const person = "/home/ada"

// mark is what tells safeshell that an agent runs the command.
const mark = "CLAUDECODE=1"

// scene is a scratch home with safeshell set up, a project in it, and a tmux
// server of its own.
type scene struct{ top, home, project, binary, sock string }

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pictures BINARY DIRECTORY")
		os.Exit(2)
	}
	if err := draw(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func draw(binary, dir string) error {
	for _, tool := range []string{"tmux", "git", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is not installed", tool)
		}
	}
	s, err := newScene(binary)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.setUp(); err != nil {
		return err
	}
	for _, scene := range []func() (picture, error){s.blocked, s.watch} {
		p, err := scene()
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.screen = strings.ReplaceAll(p.screen, s.home, person)
		if err := os.WriteFile(filepath.Join(dir, p.name+".svg"), p.svg(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func newScene(binary string) (*scene, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	for n := range 1000 {
		home := fmt.Sprintf("/tmp/s%03d", n)
		if err := os.Mkdir(home, 0o700); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		top, err := os.MkdirTemp("", "safeshell-pictures.")
		s := &scene{top: top, home: home, project: home + "/shop", binary: binary, sock: top + "/tmux"}
		return s, errors.Join(err, os.Mkdir(s.project, 0o700), os.Mkdir(top+"/bin", 0o700),
			os.Symlink(binary, top+"/bin/safeshell"))
	}
	return nil, errors.New("no room for a scratch home in /tmp")
}

func (s *scene) end() {
	for range 50 { // the monitor notes that it ends
		time.Sleep(100 * time.Millisecond)
		if _, err := s.tmux("send-keys", "-t", "watch", "q"); err != nil {
			break
		}
	}
	_, _ = s.tmux("kill-server")
	_ = os.RemoveAll(s.home)
	_ = os.RemoveAll(s.top)
}

func (s *scene) env(more ...string) []string {
	return append([]string{
		"HOME=" + s.home, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "SHELL=/bin/bash", "PROMPT_COMMAND=",
		"PATH=" + s.home + "/.safeshell/shims:" + s.top + "/bin:/usr/local/bin:/usr/bin:/bin",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=2026-11-20T12:00:00Z", "GIT_COMMITTER_DATE=2026-11-20T12:00:00Z",
	}, more...)
}

// run runs a line in the project; an agent's has its mark.
func (s *scene) run(line string, more ...string) (string, error) {
	out, err := s.command(line, more...).CombinedOutput()
	return string(out), err
}

func (s *scene) command(line string, more ...string) *exec.Cmd {
	c := exec.Command("/bin/bash", "--norc", "-c", line)
	c.Dir, c.Env = s.project, s.env(more...)
	return c
}

func (s *scene) setUp() error {
	out, err := s.run(`safeshell refresh -q
git init -q -b main . && git init -q --bare ../shop.git && git remote add origin ../shop.git
mkdir src build && echo 'export const tax = 0.19' > src/price.js && echo x > build/old.js
git add src && git commit -q -m 'Prices'
git switch -q -c cart && echo 'export const cart = []' > src/cart.js && git add src && git commit -q -m 'Cart'
git push -q origin cart && git commit -q --amend -m 'Cart, better said'
echo 'call the supplier' > notes.txt`)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (s *scene) tmux(args ...string) (string, error) {
	c := exec.Command("tmux", append([]string{"-S", s.sock, "-f", "/dev/null"}, args...)...)
	c.Dir, c.Env = s.project, s.env()
	var out, bad bytes.Buffer
	c.Stdout, c.Stderr = &out, &bad
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, bad.String())
	}
	return out.String(), nil
}

// open starts a program on a screen of its own.
func (s *scene) open(name string, rows int, command ...string) error {
	_, err := s.tmux(append([]string{"new-session", "-d", "-s", name, "-x", "100", "-y", fmt.Sprint(rows)}, command...)...)
	return err
}

// until waits for a screen on which ok holds, and that then stays as it is.
func (s *scene) until(name string, ok func(string) bool) (string, error) {
	last, same := "", 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		screen, err := s.tmux("capture-pane", "-e", "-p", "-t", name)
		if err != nil {
			return "", err
		}
		if screen != last {
			last, same = screen, 0
		} else {
			same++
		}
		if same >= 2 && ok(screen) {
			return screen, nil
		}
	}
	return "", fmt.Errorf("the screen did not come to:\n%s", last)
}

// blocked is an agent's commit on main, and a file that was removed and is back.
func (s *scene) blocked() (picture, error) {
	p := picture{name: "blocked", title: "what an agent meets"}
	prompts := func(n int) func(string) bool {
		return func(screen string) bool { return strings.Count(screen, "\x1b[36m$") == n }
	}
	err := s.open(p.name, 24, "env", mark, "HISTFILE=", `PS1=\[\e[1;36m\]$\[\e[0m\] `, "bash", "--norc", "--noprofile")
	for n, line := range []string{
		`eval "$(safeshell init - --shell bash)"; git switch -q main; clear`,
		`git commit -am "quick fix"`,
		`rm notes.txt; ls`,
		`safeshell trash restore notes.txt; ls`,
	} {
		if err == nil {
			_, err = s.until(p.name, prompts(max(1, n)))
		}
		if err == nil {
			_, err = s.tmux("send-keys", "-t", p.name, "-l", line)
		}
		if err == nil {
			_, err = s.tmux("send-keys", "-t", p.name, "Enter")
		}
	}
	if err == nil {
		p.screen, err = s.until(p.name, prompts(4))
	}
	return p, err
}

// watch is the monitor while an agent's forced push waits.
func (s *scene) watch() (picture, error) {
	p := picture{name: "watch", title: "safeshell watch, in a terminal of yours"}
	err := s.open(p.name, 28, "safeshell", "watch")
	if err == nil {
		_, err = s.until(p.name, func(screen string) bool { return strings.Contains(screen, "safeshell watch") })
	}
	if err == nil {
		_, err = s.run("git switch -q cart && rm -r build", mark)
	}
	if err != nil {
		return p, err
	}
	push := s.command("exec git push --force origin cart", mark)
	if err := push.Start(); err != nil {
		return p, err
	}
	defer func() { _, _ = push.Process.Kill(), push.Wait() }()
	p.screen, err = s.until(p.name, func(screen string) bool {
		return strings.Contains(screen, "git push --force") && strings.Contains(screen, "acts at once")
	})
	return p, err
}
