package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/testdir"
)

// shapes are ways in which a line reaches rm; each removes the file x of the
// directory that it runs in, and nothing else. needs names the tools without which
// a row is skipped. past: no shim is met and no text is judged where only the shims
// stand (docs/residual-risk.md).
var shapes = []struct {
	line  string
	needs string
	past  bool
}{
	{line: `rm -rf x`},
	{line: `rm x`},
	{line: `\rm -f x`},
	{line: `'r'm "x"`},
	{line: `rm $PWD/x`},
	{line: `f=x; rm -f "$f"`},
	{line: `c=rm; $c -f x`},
	{line: `{rm,-f,x}`},
	{line: `/bin/rm -f x`, past: true},
	{line: `$(which rm) -f x`, needs: "which"},
	{line: `../w/../../bin-of-nobody/rm x || rm -f x`},
	{line: `command rm -f x`},
	{line: `command -p rm -rf x`, past: true},
	{line: `command -p -- rm -rf x`, past: true},
	{line: `bash -c 'command -p rm -rf x'`, past: true},
	{line: `eval 'command -p rm -rf x'`, past: true},
	{line: `bash <<< 'command -p rm -rf x'`, past: true},
	{line: `command -p eval 'rm -rf x'`},
	{line: "printf 'command -p rm -rf x\\n' > s.sh; bash s.sh", past: true},
	{line: `python3 -c "import os; os.system('command -p rm -rf x')"`, needs: "python3", past: true},
	{line: "printf 'a:\\n\\tcommand -p rm -rf x\\n' > m.mk; make -f m.mk", needs: "make", past: true},
	{line: `builtin command -p rm -f x`, past: true},
	{line: `exec rm -f x`},
	{line: `exec -a mv rm -f x`},
	{line: `exec -c rm -f x`},
	{line: `exec -l bash -c 'rm -f x'`, past: true},
	{line: `eval 'rm -rf x'`},
	{line: `true && (rm -rf x)`},
	{line: `echo "$(rm -rf x)"`},
	{line: `f() { rm -rf x; }; f`},
	{line: `rm() { command rm "$@"; }; rm -f x`},
	{line: `rm() { command -p rm "$@"; }; rm -f x`, past: true},
	{line: "shopt -s expand_aliases\nalias rm='command -p rm'\nrm -f x", past: true},
	{line: `for i in x; do rm -f "$i"; done`},
	{line: `trap 'rm -f x' EXIT; true`},
	{line: `echo x | xargs rm -f`},
	{line: `echo x | xargs -I{} sh -c 'rm -f {}'`},
	{line: `find . -name x -exec rm -f {} +`},
	{line: `find . -name x -exec sh -c 'rm -f "$1"' _ {} \;`},
	{line: `find . -name x -execdir rm -f {} \;`},
	{line: `bash -c 'rm -rf x'`},
	{line: `sh -c 'rm -rf x'`},
	{line: `dash -c 'rm -rf x'`, needs: "dash"},
	{line: `bash -c 'bash -c "rm -rf x"'`},
	{line: `bash -lc 'rm -rf x'`, past: true},
	{line: `bash -l -c 'rm -rf x'`, past: true},
	{line: `bash --login -c 'rm -rf x'`, past: true},
	{line: `bash -ic 'rm -rf x' 2>/dev/null`},
	{line: `sh -lc 'rm -rf x'`, past: true},
	{line: `zsh -c 'rm -rf x'`, needs: "zsh"},
	{line: `zsh -fc 'rm -rf x'`, needs: "zsh"},
	{line: `zsh -lc 'rm -rf x'`, needs: "zsh", past: true},
	{line: `zsh -fc 'zmodload zsh/files; rm -rf x'`, needs: "zsh", past: true},
	{line: `zsh -fc 'zmodload -m -F zsh/files b:zf_\*; zf_rm -rf x'`, needs: "zsh", past: true},
	{line: `zsh -c 'path=(/bin); rm -rf x'`, needs: "zsh", past: true},
	{line: `fish -c 'rm -rf x'`, needs: "fish"},
	{line: `mksh -c 'rm -rf x'`, needs: "mksh"},
	{line: `busybox rm -rf x`, needs: "busybox", past: true},
	{line: `busybox sh -c 'rm -rf x'`, needs: "busybox", past: true},
	{line: `toybox rm -rf x`, needs: "toybox", past: true},
	{line: `bash <<< 'rm -rf x'`},
	{line: "bash <<'E'\nrm -rf x\nE\n"},
	{line: `echo 'rm -rf x' | bash`},
	{line: `bash <(echo 'rm -rf x')`},
	{line: `. <(echo 'rm -rf x')`},
	{line: "echo 'rm -rf x' > s.sh; sh s.sh"},
	{line: "echo 'rm -rf x' > s.sh; . ./s.sh"},
	{line: "printf '#!/bin/bash -l\\nrm -rf x\\n' > s.sh; chmod +x s.sh; ./s.sh", past: true},
	{line: "printf '#!/bin/sh\\nrm -rf x\\n' > s.sh; chmod +x s.sh; ./s.sh"},
	{line: "printf 'PATH=/usr/bin:/bin\\n' > e.sh; . ./e.sh; rm -rf x", past: true},
	{line: "printf 'PATH=/usr/bin:/bin\\n' > e.sh; BASH_ENV=$PWD/e.sh bash -c 'rm -rf x'", past: true},
	{line: `env rm -f x`},
	{line: `env -i rm -f x`, past: true},
	{line: `env -i /bin/sh -c 'rm -f x'`, past: true},
	{line: `env - PATH=/usr/bin:/bin rm -f x`, past: true},
	{line: `env PATH=/usr/bin:/bin rm -f x`, past: true},
	{line: `env -u PATH sh -c 'rm -f x'`, past: true},
	{line: `env -S 'PATH=/usr/bin:/bin rm -f x'`, past: true},
	{line: `env -S 'rm -f x'`},
	{line: `PATH=/usr/bin:/bin rm -f x`, past: true},
	{line: `PATH=/usr/bin:/bin; rm -f x`, past: true},
	{line: `export PATH=/usr/bin:/bin; sh -c 'rm -f x'`, past: true},
	{line: `export PATH=/usr/bin:$PATH; rm -f x`, past: true},
	{line: `export PATH=$PATH:/usr/bin; rm -f x`},
	{line: `declare -x PATH=/usr/bin:/bin; bash -c 'rm -f x'`, past: true},
	{line: `printf -v PATH /usr/bin:/bin; rm -f x`, past: true},
	{line: `read -r PATH <<< /usr/bin:/bin; rm -f x`, past: true},
	{line: `unset PATH; rm -f x`, past: true},
	{line: `PATH=$(getconf PATH) bash -c 'rm -f x'`, needs: "getconf", past: true},
	{line: `hash -p /bin/rm rm; rm -f x`, past: true},
	{line: `mkdir b; ln -s /bin/rm b/rm; PATH=$PWD/b:$PATH; rm -f x`, past: true},
	{line: `cp /bin/rm ./r; ./r -f x`, past: true},
	{line: `HOME=$PWD/h rm -f x`, past: true},
	{line: `XDG_DATA_HOME=$PWD/d rm -f x`, past: true},
	{line: `TMPDIR=$PWD rm -f x`, past: true},
	{line: `export TMPDIR=$PWD; bash -c 'rm -f x'`, past: true},
	{line: `SAFESHELL_HOME=$PWD/none rm -f x`},
	{line: `nohup rm -f x 2>/dev/null`},
	{line: `timeout 20 rm -f x`},
	{line: `nice -n 1 rm -f x`},
	{line: `setsid -w rm -f x`, needs: "setsid"},
	{line: `stdbuf -o0 rm -f x`, needs: "stdbuf"},
	{line: `time rm -f x`},
	{line: `flock l rm -f x`, needs: "flock"},
	{line: `flock l -c 'rm -f x'`, needs: "flock"},
	{line: `script -qec 'rm -f x' /dev/null`, needs: "script"},
	{line: `watch -g -n1 'rm -f x'`, needs: "watch unbuffer"},
	{line: `mkdir .git; sudo -n rm -f x`, needs: "sudo", past: true},
	{line: `su -c 'rm -f x'`, needs: "su", past: true},
	{line: `su - root -c "cd $PWD && rm -f x"`, needs: "su", past: true},
	{line: `setpriv --reset-env rm -f x`, needs: "setpriv", past: true},
	{line: `unshare -U rm -f x`, needs: "unshare"},
	{line: `tmux -L TMUX new-session -d "rm -f x"`, needs: "tmux"},
	{line: `tmux -L TMUX -f /dev/null new-session -d -s m; tmux -L TMUX run-shell "cd $PWD; rm -f x"`, needs: "tmux"},
	{line: `tmux -L TMUX send-keys -t m "cd $PWD; rm -f x" C-m`, needs: "tmux server", past: true},
	{line: `tmux -L TMUX run-shell "cd $PWD; rm -f x"`, needs: "tmux server", past: true},
	{line: `tmux -L TMUX run-shell "cd $PWD; command -p rm -f x"`, needs: "tmux server", past: true},
	{line: `at now <<< 'rm -f x'`, needs: "at", past: true},
	{line: `make -f - <<< $'a:\n\trm -f x\n'`, needs: "make"},
	{line: `make -f - PATH=/usr/bin:/bin <<< $'a:\n\trm -f x\n'`, needs: "make", past: true},
	{line: `make -f - <<< $'export PATH=/usr/bin:/bin\na:\n\trm -f x\n'`, needs: "make", past: true},
	{line: `make -f - SHELL=/bin/zsh <<< $'a:\n\trm -f x\n'`, needs: "make zsh"},
	{line: `git -c alias.z='!rm -f x' z`, needs: "git"},
	{line: `git init -q; git config alias.z '!rm -f x'; git z`, needs: "git"},
	{line: `git init -q; git config alias.z '!command -p rm -f x'; git z`, needs: "git", past: true},
	{line: `python3 -c "import os; os.system('rm -f x')"`, needs: "python3"},
	{line: `python3 -c "import os; os.environ['PATH']='/usr/bin:/bin'; os.system('rm -f x')"`, needs: "python3", past: true},
	{line: `python3 -c "import subprocess; subprocess.run(['rm','-f','x'], env={})"`, needs: "python3", past: true},
	{line: `python3 -c "import os; os.unlink('x')"`, needs: "python3", past: true},
	{line: `perl -e 'system("rm -f x")'`, needs: "perl"},
	{line: `perl -e '$ENV{PATH}="/usr/bin:/bin"; system("rm", "-f", "x")'`, needs: "perl", past: true},
	{line: `node -e 'require("child_process").execSync("rm -f x")'`, needs: "node"},
	{line: `node -e 'require("child_process").spawnSync("rm",["-f","x"],{env:{}})'`, needs: "node", past: true},
	{line: `awk 'BEGIN{system("rm -f x")}'`, needs: "awk"},
	{line: `sed -n '1e rm -f x' s 2>/dev/null; echo a | sed '1e rm -f x'`, needs: "sed"},
	{line: `parallel rm -f ::: x`, needs: "parallel"},
	{line: `npm exec -c 'rm -f x'`, needs: "npm"},
	{line: `ssh localhost rm -f $PWD/x`, needs: "ssh sshd", past: true},
}

// A stand is a scratch home beside the directory w, in which the shapes are run.
type stand struct {
	t                *testing.T
	root, home, work string
	path             string // without shims
	tmux             string // the name of a server that was started without them
}

const shapeTime = 60 * time.Second

func newStand(t *testing.T) *stand {
	root := testdir.New(t)
	s := &stand{t: t, root: root, home: filepath.Join(root, "home"), work: filepath.Join(root, "w"), tmux: filepath.Base(root)}
	bin := filepath.Join(root, "bin")
	for _, d := range []string{s.home, s.work, bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(bin, "safeshell")); err != nil {
		t.Fatal(err)
	}
	s.path = bin + ":/usr/local/bin:/usr/bin:/bin"
	return s
}

func (s *stand) shims() string { return filepath.Join(s.home, ".safeshell", "shims") }

// run runs a program as an agent's, and returns what it printed.
func (s *stand) run(path, stdin string, argv ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), shapeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.work
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + path, "SHELL=/bin/bash", "LC_ALL=C", "TERM=dumb", "SHLVL=1", "CLAUDECODE=1",
		"TMUX_TMPDIR=" + s.root, "GIT_CONFIG_NOSYSTEM=1", "DEBUGINFOD_URLS="}
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		s.t.Fatalf("%q did not end:\n%s", argv, out)
	}
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

const precious = "nobody else has this\n"

// fresh puts x there, and takes the rest away.
func (s *stand) fresh() {
	for _, d := range []string{s.work, filepath.Join(s.home, ".local")} {
		if err := os.RemoveAll(d); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.work, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.work, "x"), []byte(precious), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// kept says whether the bytes are where they were, or come back from the trash.
func (s *stand) kept() (kept, moved bool) {
	there := func() bool {
		b, err := os.ReadFile(filepath.Join(s.work, "x"))
		return err == nil && string(b) == precious
	}
	if there() {
		return true, false
	}
	// Not the home of the agent's line, whatever that made of it; else root's own,
	// where what sudo removes goes (docs/trash.md).
	s.run(s.path, "", binary, "trash", "restore", filepath.Join(s.work, "x"))
	if _, err := exec.LookPath("sudo"); err == nil && !there() {
		s.run(s.path, "", "sudo", "-n", binary, "trash", "restore", filepath.Join(s.work, "x"))
	}
	return there(), true
}

// settle waits for what a server runs behind the line's back.
func (s *stand) settle(line string) {
	if !strings.Contains(line, "tmux") {
		return
	}
	for range 20 {
		if _, err := os.Stat(filepath.Join(s.work, "x")); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// hook plays the agent: it asks the hook, and runs what that lets through.
func (s *stand) hook(line, path string) (ran bool, said string) {
	event, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": s.work, "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]string{"command": line}, "tool_use_id": "t",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	out, code := s.run(path, string(event), binary, "hook", "claude-code")
	var answer struct {
		Out struct {
			Decision string                   `json:"permissionDecision"`
			Input    struct{ Command string } `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if out != "" && json.Unmarshal([]byte(out), &answer) != nil || code != 0 {
		s.t.Fatalf("the hook: exit %d\n%s", code, out)
	}
	if answer.Out.Decision != "" {
		return false, out
	}
	if c := answer.Out.Input.Command; c != "" {
		line = c
	}
	out, _ = s.run(path, "", "/bin/bash", "-c", line)
	return true, line + "\n" + out
}

// TestRedirectsArePromises runs each shape through the hook, the wrapper and the
// shims alone: what is redirected can be restored, and else nothing has run. What
// check says is what happens.
func TestRedirectsArePromises(t *testing.T) {
	s := newStand(t)
	s.run(s.path, "", binary, "refresh", "-q")
	shims := s.shims() + ":" + s.path
	server := false
	if _, err := exec.LookPath("tmux"); err == nil {
		_, code := s.run(s.path, "", "tmux", "-L", s.tmux, "-f", "/dev/null", "new-session", "-d", "-s", "m", "bash --norc --noprofile")
		server = code == 0
		defer s.run(s.path, "", "tmux", "-L", s.tmux, "kill-server")
	}
	var rows []string
	n := 0
	for _, sh := range shapes {
		if tool := missing(sh.needs, server); tool != "" {
			t.Logf("skipped, %s is not here: %s", tool, sh.line)
			continue
		}
		n++
		line := sh.line
		if !strings.Contains(sh.needs, "server") {
			line = strings.ReplaceAll(line, "-L TMUX", "-L "+s.tmux+"-own")
		}
		rows = append(rows, strings.ReplaceAll(line, "TMUX", s.tmux))
	}
	if n < 60 {
		t.Errorf("only %d shapes were tried", n)
	}
	s.fresh()
	layers := []struct {
		name, path, shell string
		run               func(line string) (ran bool, said string)
	}{
		{"hook", s.path, "any", func(l string) (bool, string) { return s.hook(l, s.path) }},
		{"hook and shims", shims, "any", func(l string) (bool, string) { return s.hook(l, shims) }},
		{"wrapper", s.path, "bash", func(l string) (bool, string) {
			said, code := s.run(s.path, "", binary, "-c", l)
			return code != 126 || !strings.Contains(said, "[SafeShell]"), said
		}},
	}
	for _, layer := range layers {
		says := s.check(layer.path, layer.shell, rows)
		for i, line := range rows {
			s.fresh()
			ran, said := layer.run(line)
			if ran {
				s.settle(line)
			}
			kept, moved := s.kept()
			if !kept {
				t.Errorf("%s: %s\nthe bytes are gone\n%s", layer.name, line, said)
			}
			if moved && !ran {
				t.Errorf("%s: %s\nwas stopped, and removed the file\n%s", layer.name, line, said)
			}
			if would := says[i].Action == "allow" || says[i].Action == "redirect"; would != ran {
				t.Errorf("%s: %s\nran: %v, and check says %+v\n%s", layer.name, line, ran, says[i], said)
			}
			if strings.Contains(line, "-own") {
				s.run(s.path, "", "tmux", "-L", s.tmux+"-own", "kill-server")
			}
		}
	}
	i := 0
	for _, sh := range shapes {
		if missing(sh.needs, server) != "" {
			continue
		}
		line := rows[i]
		i++
		s.fresh()
		said, _ := s.run(shims, "", "/bin/bash", "-c", line)
		s.settle(line)
		if kept, _ := s.kept(); !kept && !sh.past {
			t.Errorf("shims: %s\nthe bytes are gone\n%s", line, said)
		}
		if strings.Contains(line, "-own") {
			s.run(s.path, "", "tmux", "-L", s.tmux+"-own", "kill-server")
		}
	}
}

// missing names the first tool that is not here.
func missing(needs string, server bool) string {
	for _, tool := range strings.Fields(needs) {
		if tool == "server" && server {
			continue
		}
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	return ""
}

// check is what safeshell check says of each line.
func (s *stand) check(path, shell string, lines []string) []struct{ Action, Rule, Message string } {
	out, _ := s.run(path, strings.Join(lines, "\x00"), binary, "check", "--context", "ai", "--shell", shell, "--stdin0")
	says := make([]struct{ Action, Rule, Message string }, len(lines))
	dec := json.NewDecoder(strings.NewReader(out))
	for i := range says {
		if err := dec.Decode(&says[i]); err != nil {
			s.t.Fatalf("check: %v\n%s", err, out)
		}
	}
	return says
}
