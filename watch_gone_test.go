package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
	"safeshell/spool"
)

// A monitor whose terminal is gone ends, however it was started, and nothing
// waits for it any more.
func TestMonitorEndsWithItsTerminal(t *testing.T) {
	const watch = `HOME=$H $H/../bin/safeshell watch`
	for _, c := range []struct{ name, needs, line string }{
		{"pty", "", `exec safeshell watch`},
		{"plain", "", `exec safeshell watch --plain`},
		{"background of a shell", "", `set -m; safeshell watch; sleep 9`},
		{"SIGHUP ignored", "", `trap '' HUP; exec safeshell watch`},
		{"SIGHUP ignored, plain", "", `trap '' HUP; exec safeshell watch --plain`},
		{"nohup", "nohup", `exec nohup safeshell watch </dev/tty >/dev/tty 2>&1`},
		{"a pipe after it", "", `trap '' HUP; safeshell watch --plain | cat >/dev/tty`},
		{"su", "su", `exec su -s /bin/sh root -c "` + watch + `"`},
		{"su -", "su", `exec su - root -c "` + watch + `"`},
		{"sudo", "sudo", `exec sudo -n -u root sh -c "` + watch + `"`},
		{"tmux, its server killed", "tmux", `exec tmux -S $H/t -f /dev/null new-session "trap '' HUP; exec safeshell watch"`},
		{"screen, its session ended", "screen", `SCREENDIR=$H/s exec screen -c /dev/null sh -c "trap '' HUP; exec safeshell watch"`},
		{"ssh -t", "ssh /usr/sbin/sshd", `exec ssh -tt -F $H/ssh.conf loop "trap '' HUP; ` + watch + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range strings.Fields(c.needs) {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skip("no " + tool)
				}
			}
			if os.Geteuid() != 0 && strings.Contains(c.line, " root ") {
				t.Skip("only root may without a password")
			}
			p := newPlace(t)
			if strings.HasPrefix(c.needs, "ssh ") {
				loopback(t, p.home)
			}
			cmd := exec.Command("/bin/bash", "-c", c.line)
			cmd.Dir, cmd.Env = p.home, append(p.env, "H="+p.home)
			ptm, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
			if err != nil {
				t.Fatal(err)
			}
			if ptm, err = pollable(ptm); err != nil {
				t.Fatal(err)
			}
			var screen bytes.Buffer
			read := make(chan struct{})
			go func() {
				defer close(read)
				b := make([]byte, 4096)
				for {
					n, err := ptm.Read(b)
					screen.Write(b[:n])
					if err != nil {
						return
					}
				}
			}()
			defer func() { _ = ptm.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			s, err := spool.Open(filepath.Join(p.home, ".safeshell", "spool"))
			if err != nil {
				t.Fatal(err)
			}
			within := func(what string, limit time.Duration, ok func() bool) {
				t.Helper()
				for end := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
					if time.Now().After(end) {
						_ = ptm.Close()
						<-read
						t.Fatalf("%s: %q", what, screen.String())
					}
				}
			}
			within("no monitor", 30*time.Second, s.MonitorAlive)
			switch { // what holds its terminal goes
			case strings.HasPrefix(c.needs, "tmux"):
				pid, err := exec.Command("tmux", "-S", p.home+"/t", "display-message", "-p", "#{pid}").Output()
				if err != nil {
					t.Fatal(err)
				}
				if err := exec.Command("kill", "-9", strings.TrimSpace(string(pid))).Run(); err != nil {
					t.Fatal(err)
				}
			case strings.HasPrefix(c.needs, "screen"):
				quit := exec.Command("screen", "-X", "quit")
				quit.Env = append(p.env, "SCREENDIR="+p.home+"/s")
				if out, err := quit.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			_ = ptm.Close()
			within("the monitor is still there", 15*time.Second, func() bool { return !s.MonitorAlive() })
			within("its process is still there", 10*time.Second, func() bool { return !watches(p.home) })
		})
	}
}

// pollable is the file, so that closing it ends a read.
func pollable(f *os.File) (*os.File, error) {
	fd, err := unix.Dup(int(f.Fd()))
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// watches reports whether a monitor of the home runs.
func watches(home string) bool {
	pids, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range pids {
		line, _ := os.ReadFile(d + "/cmdline")
		env, _ := os.ReadFile(d + "/environ")
		if bytes.Contains(line, []byte("safeshell\x00watch")) && bytes.Contains(env, []byte("HOME="+home+"\x00")) {
			return true
		}
	}
	return false
}

// loopback starts a server of ssh for the one user, and writes ssh.conf for it.
func loopback(t *testing.T, home string) {
	t.Helper()
	key := func(name string) {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(home, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	key("host")
	key("me")
	pub, err := os.ReadFile(filepath.Join(home, "me.pub"))
	if err != nil {
		t.Fatal(err)
	}
	// One connection on its standard streams (sshd -i) needs no port.
	text := map[string]string{
		"authorized": string(pub),
		"sshd.conf":  fmt.Sprintf("HostKey %s/host\nAuthorizedKeysFile %s/authorized\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n", home, home),
		"ssh.conf":   fmt.Sprintf("Host loop\nProxyCommand /usr/sbin/sshd -i -f %s/sshd.conf\nIdentityFile %s/me\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\nSetEnv H=%s\n", home, home, home),
	}
	text["sshd.conf"] += "AcceptEnv H\n"
	for name, s := range text {
		if err := testdir.WriteFile(filepath.Join(home, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Skip("sshd needs /run/sshd: ", err)
	}
	if out, err := exec.Command("ssh", "-o", "BatchMode=yes", "-F", filepath.Join(home, "ssh.conf"), "loop", "true").CombinedOutput(); err != nil {
		t.Skipf("sshd does not let this user in: %v %s", err, out)
	}
}
