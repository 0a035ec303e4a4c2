package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// place is a scratch home with the shims of one asked command, "probe", that
// leaves the file "ran" behind.
type place struct {
	t         *testing.T
	dir, home string
	env       []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir, home: filepath.Join(dir, "home")}
	bin := filepath.Join(dir, "bin")
	for _, d := range []string{bin, p.home, filepath.Join(p.home, ".safeshell"), filepath.Join(dir, "work")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("bin/probe", "#!/bin/sh\necho \"$@\" >> "+dir+"/ran\n", 0o755)
	p.write("home/.safeshell/rules.yaml", "rules:\n- {name: ask-probe, commands: [probe], action: require_approval, message: m}\n", 0o600)
	p.write("home/.safeshell/config.yaml", "approval: {timeout_seconds: 20, wait_for_monitor_seconds: 15}\n", 0o600)
	if err := os.Symlink(binary, filepath.Join(bin, "safeshell")); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"HOME=" + p.home, "TMPDIR=" + dir, "TERM=xterm", "LC_ALL=C.UTF-8", "P=" + dir, "S=" + p.home + "/.safeshell/spool",
		"PATH=" + p.home + "/.safeshell/shims:" + bin + ":/usr/local/bin:/usr/bin:/bin"}
	if out, err := p.command("safeshell", "refresh", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

func (p *place) write(name, text string, mode os.FileMode) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
}

// command runs a program of the place in its directory "work".
func (p *place) command(name string, args ...string) *exec.Cmd {
	for _, d := range []string{p.home + "/.safeshell/shims", p.dir + "/bin", "/usr/bin", "/bin"} {
		if _, err := os.Stat(filepath.Join(d, name)); err == nil {
			name = filepath.Join(d, name)
			break
		}
	}
	c := exec.Command(name, args...)
	c.Dir, c.Env = filepath.Join(p.dir, "work"), p.env
	return c
}

// person runs a program on a terminal of its own and returns what it printed.
func (p *place) person(args ...string) (string, error) {
	c := p.command(args[0], args[1:]...)
	f, err := pty.Start(c)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	done := make(chan struct{})
	go func() { _, _ = out.ReadFrom(f); close(done) }()
	timer := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	err = c.Wait()
	<-done
	return out.String(), err
}

// agent starts a shell as a command of an agent, marked as one, without a
// terminal, in a session of its own.
func (p *place) agent(script string, env ...string) *exec.Cmd {
	c := p.command("bash", "-c", script)
	c.Path = "/bin/bash"
	c.Env = append(append([]string{}, p.env...), append([]string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=s1"}, env...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}

// monitor opens a monitor on a terminal.
func (p *place) monitor() *exec.Cmd {
	p.t.Helper()
	c := p.command("safeshell", "watch")
	f, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		p.t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := f.Read(buf); err != nil {
				return
			}
		}
	}()
	p.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		f.Close()
	})
	p.until("the monitor", func() bool {
		out, _ := p.command("safeshell", "status").Output()
		return bytes.Contains(out, []byte("a monitor is running"))
	})
	return c
}

func (p *place) until(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(30 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("no %s", what)
		}
	}
}

// asked waits until the one request waits and returns its id.
func (p *place) asked() (id string) {
	p.t.Helper()
	p.until("request", func() bool {
		out, _ := p.command("safeshell", "pending", "--json").Output()
		var r struct {
			ID   string
			Late bool
		}
		_ = json.Unmarshal(bytes.SplitAfter(out, []byte("\n"))[0], &r)
		if !r.Late {
			id = r.ID
		}
		return id != ""
	})
	return id
}

func (p *place) ran() bool {
	_, err := os.Stat(filepath.Join(p.dir, "ran"))
	return err == nil
}

// forge is an answer as the asking side could write it: $1 is the verdict's
// request, with everything in it that can be read.
const forge = `
req=$S/req/$ID/request
sha=$(sha256sum < $req | cut -d' ' -f1)
nonce=$(grep -o '"nonce":"[^"]*"' $req | cut -d'"' -f4)
answer() { printf '{"v":1,"id":"%s","nonce":"%s","req_sha256":"%s","verdict":"allow","choice":1,"by":"monitor","at":"2026-01-01T00:00:00Z","end":true}\n' "$1" "$2" "$3"; }
umask 077
`

// attempts are what the asking side can try while its command waits, run from a
// shell of the same agent. stopped: the command must not run, and what the
// attempt prints must say this. risk: it does run, and residual-risk.md says so
// under this heading.
var attempts = []struct {
	name, script  string
	stopped, risk string
	env           []string
}{
	{name: "approve", script: `safeshell approve $ID`, stopped: "self-protection-answer"},
	{name: "approve, yes piped", script: `yes | safeshell approve $ID`, stopped: "self-protection-answer"},
	{name: "approve --always", script: `safeshell approve --always $ID`, stopped: "self-protection-answer"},
	{name: "approve on a terminal made for it", script: `script -qec "safeshell approve $ID" /dev/null </dev/null`, stopped: "self-protection-answer"},
	{name: "without the marker", script: `env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID safeshell approve $ID; true`, stopped: "self-protection-answer"},
	{name: "without the marker, on a terminal made for it", script: `env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID script -qec "safeshell approve $ID" /dev/null </dev/null; true`, stopped: "self-protection-answer"},
	{name: "in a session of its own", script: `env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID setsid -w script -qec "safeshell approve $ID" /dev/null </dev/null; true`, stopped: "self-protection-answer"},
	{name: "as a person by variable", script: `env -u CLAUDECODE SAFESHELL_CONTEXT=human SAFESHELL_SESSION=x script -qec "safeshell approve $ID" /dev/null </dev/null; true`, stopped: "self-protection-answer"},
	{name: "through the wrapper", script: `safeshell -c "safeshell approve $ID"`, stopped: "self-protection-answer"},
	{name: "watch", script: `echo 1 | safeshell watch`, stopped: "self-protection-answer"},
	{name: "watch --plain answered by a pipe", script: `(sleep 1; echo 1; echo "$ID 1"; sleep 1) | timeout 4 safeshell watch --plain; true`, stopped: "under an agent"},
	{name: "watch on a terminal made for it", script: `(sleep 2; printf 1; sleep 2) | timeout 6 env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID script -qec "safeshell watch" /dev/null; true`, stopped: "self-protection-answer"},
	{name: "trust", script: `script -qec "safeshell trust ." /dev/null </dev/null`, stopped: "self-protection-answer"},
	{name: "an answer without its nonce", script: forge + `answer $ID 00 $sha > $S/tmp/d; ln $S/tmp/d $S/req/$ID/decision; true`},
	{name: "an answer to another record", script: forge + `answer $ID $nonce ${sha%?}0 > $S/tmp/d; ln $S/tmp/d $S/req/$ID/decision; true`},
	{name: "an answer as a symbolic link", script: forge + `answer $ID $nonce $sha > $P/d; ln -s $P/d $S/req/$ID/decision; true`},
	{name: "an answer with further names", script: forge + `answer $ID $nonce $sha > $P/d; ln $P/d $P/e; ln $P/d $P/f; ln $P/d $S/req/$ID/decision; true`},
	{name: "an answer that others may read", script: forge + `umask 0; answer $ID $nonce $sha > $P/d; chmod 644 $P/d; ln $P/d $S/req/$ID/decision; true`},
	{name: "half an answer", script: forge + `answer $ID $nonce $sha | head -c 150 > $S/tmp/d; ln $S/tmp/d $S/req/$ID/decision; true`},
	{name: "a directory as the answer", script: `mkdir $S/req/$ID/decision`},
	{name: "a pipe as the answer", script: `mkfifo -m 600 $S/req/$ID/decision`},
	{name: "the request moved away and put back changed", script: `mv $S/req/$ID $P/r; mkdir $S/req/$ID; cp $P/r/request $S/req/$ID/; true`},
	{name: "the spool replaced", script: `mv $S $P/old; mkdir -m 700 -p $S/req/$ID; cp $P/old/req/$ID/request $S/req/$ID/; true`},
	{name: "the spool a link", script: `mv $S $P/old; ln -s $P/old $S; sleep 1; mv $P/old $P/older; true`},
	{name: "a complete forged answer", script: forge + `answer $ID $nonce $sha > $S/tmp/d; ln $S/tmp/d $S/req/$ID/decision; rm -f $S/tmp/d`, risk: "A process of the same user that writes an answer into the spool"},
	{name: "detached from everything", script: `env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID setsid -f script -qec "safeshell approve $ID" /dev/null </dev/null >/dev/null 2>&1; sleep 3`, risk: "Detached from its agent"},
}

// The asking side cannot answer, or the page of residual risks says that it
// can: both are shown by doing it.
func TestWhoMayAnswer(t *testing.T) {
	needs(t, "script", "setsid", "sha256sum")
	page, err := os.ReadFile("docs/residual-risk.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.monitor()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
			defer cancel()
			// One agent: its shells have one parent, which carries no marker.
			outs := make(chan string, 1)
			cmd := p.agent("probe wanted")
			go func() {
				out, _ := cmd.CombinedOutput()
				outs <- string(out)
			}()
			id := p.asked()
			try := p.agent(a.script, append(a.env, "ID="+id)...)
			said, _ := try.CombinedOutput()
			if a.risk == "" {
				// A person's no settles what is still open.
				if out, err := p.person("safeshell", "deny", id); err != nil && !strings.Contains(out, "gone") && !strings.Contains(out, "no request") && !strings.Contains(out, "decided") {
					t.Logf("deny: %v: %s", err, out)
				}
			}
			select {
			case out := <-outs:
				if a.risk == "" && !strings.Contains(out, "[SafeShell]") {
					t.Errorf("the command says %q", out)
				}
			case <-ctx.Done():
				_ = cmd.Process.Kill()
				t.Fatal("the command never ended")
			}
			switch {
			case a.risk != "":
				if !bytes.Contains(page, []byte(a.risk)) {
					t.Errorf("docs/residual-risk.md does not say %q", a.risk)
				}
				if !p.ran() {
					t.Errorf("it is stopped now: %s; take the line out of docs/residual-risk.md", said)
				}
			case p.ran():
				t.Errorf("the command ran; the attempt said: %s", said)
			case !strings.Contains(string(said), a.stopped):
				t.Errorf("the attempt said %q, want %q", said, a.stopped)
			}
		})
	}
}

func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is needed")
		}
	}
}
