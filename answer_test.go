package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"safeshell/internal/test/testdir"
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
	dir := testdir.New(t)
	p := &place{t: t, dir: dir, home: filepath.Join(dir, "home")}
	bin := filepath.Join(dir, "bin")
	for _, d := range []string{bin, p.home, filepath.Join(p.home, ".safeshell"), filepath.Join(dir, "work")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("bin/probe", "#!/bin/sh\necho \"$@\" >> "+dir+"/ran\n", 0o755)
	p.write("home/.safeshell/rules.yaml", "rules:\n- {name: ask-probe, commands: [probe], action: require_approval, message: m}\n", 0o600)
	p.write("home/.safeshell/config.yaml", "approval: {timeout_seconds: 90, wait_for_monitor_seconds: 60}\n", 0o600)
	if err := os.Symlink(binary, filepath.Join(bin, "safeshell")); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"HOME=" + p.home, "TMPDIR=" + dir, "TERM=xterm", "SHELL=/bin/bash", "LC_ALL=C.UTF-8", "P=" + dir, "S=" + p.home + "/.safeshell/spool",
		"PATH=" + p.home + "/.safeshell/shims:" + bin + ":/usr/local/bin:/usr/bin:/bin"}
	if out, err := p.command("safeshell", "refresh", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

func (p *place) write(name, text string, mode os.FileMode) {
	p.t.Helper()
	if err := testdir.WriteFile(filepath.Join(p.dir, name), []byte(text), mode); err != nil {
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
	timer := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
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

// onTerminal starts a program on a terminal of its own, to the end of the test.
func (p *place) onTerminal(args ...string) (*exec.Cmd, *os.File) {
	p.t.Helper()
	c := p.command(args[0], args[1:]...)
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
	return c, f
}

// monitor opens a monitor on a terminal.
func (p *place) monitor() *exec.Cmd {
	p.t.Helper()
	c, _ := p.onTerminal("safeshell", "watch")
	p.until("the monitor", func() bool {
		out, _ := p.command("safeshell", "status").Output()
		return bytes.Contains(out, []byte("a monitor is running"))
	})
	return c
}

func (p *place) until(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(30 * time.Millisecond) {
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
			needs(t, strings.Fields(a.tools)...)
			if a.tools == "unshare" && exec.Command("unshare", "-r", "true").Run() != nil {
				t.Skip("user namespaces are needed")
			}
			p := newPlace(t)
			if a.before != nil {
				a.before(p)
			}
			monitor := p.monitor()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			// One agent: its shells have one parent, which carries no marker.
			outs := make(chan string, 1)
			cmd := p.agent("probe wanted")
			go func() {
				out, _ := cmd.CombinedOutput()
				outs <- string(out)
			}()
			id := p.asked()
			try := p.agent(a.script, "ID="+id, "MON="+strconv.Itoa(monitor.Process.Pid))
			said, _ := try.CombinedOutput()
			if a.risk == "" {
				// A person's no settles what is still open.
				if out, err := p.person("safeshell", "deny", id); err != nil && !strings.Contains(out, "gone") && !strings.Contains(out, "no request") && !strings.Contains(out, "decided") {
					t.Logf("deny: %v: %s", err, out)
				}
			}
			select {
			case out := <-outs:
				if a.risk != "" && !p.ran() {
					t.Logf("it says %q", out)
				}
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
			case !slices.ContainsFunc(strings.Split(a.stopped, "|"), func(s string) bool { return strings.Contains(string(said), s) }):
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

// What was answered is what runs, once: an old answer, other arguments or
// another directory are asked again; and the page names what is not held.
func TestAnswerBound(t *testing.T) {
	p := newPlace(t)
	p.monitor()
	start := func(script string) (*exec.Cmd, *bytes.Buffer) {
		c := p.agent(script)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, &out
	}
	lines := func() string {
		b, _ := os.ReadFile(filepath.Join(p.dir, "ran"))
		return string(b)
	}
	first, _ := start("probe one")
	id := p.asked()
	if out, err := p.person("safeshell", "approve", id); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := first.Wait(); err != nil || lines() != "one\n" {
		t.Fatalf("approved: %v, ran %q", err, lines())
	}
	// The old decision, put in front of a new request of the same command, and
	// offered as a late answer.
	second, out := start("probe one")
	next := p.asked()
	replay := p.agent(`cp -p $S/done/$OLD/decision $S/tmp/d; ln $S/tmp/d $S/req/$ID/decision
key=$(grep -o '"key":"[^"]*"' $S/req/$ID/request | cut -d'"' -f4); ln $S/done/$OLD/decision $S/grant/$key`, "OLD="+id, "ID="+next)
	if b, err := replay.CombinedOutput(); err != nil {
		t.Logf("%v: %s", err, b)
	}
	_ = second.Wait()
	if lines() != "one\n" || !strings.Contains(out.String(), "does not fit the request") {
		t.Errorf("a replayed decision: ran %q, said %s", lines(), out)
	}
	// Changed arguments: the record is for show, memory and its hash count.
	third, out := start("probe two")
	id = p.asked()
	change := p.agent(`sed -i s/two/six/ $S/req/$ID/request; chmod 600 $S/req/$ID/request`, "ID="+id)
	_ = change.Run()
	_, _ = p.person("safeshell", "approve", id)
	_, _ = p.person("safeshell", "deny", id)
	_ = third.Wait()
	if strings.Contains(lines(), "six") || strings.Contains(lines(), "two") {
		t.Errorf("a changed record: ran %q, said %s", lines(), out)
	}
	// An approval for ever is for this directory and these words.
	fourth, _ := start("probe three")
	if out, err := p.person("safeshell", "approve", "--always", p.asked()); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = fourth.Wait()
	for _, script := range []string{"probe three more", "mkdir -p x; cd x; probe three", "probe 'three '"} {
		c, _ := start(script)
		if out, err := p.person("safeshell", "deny", p.asked()); err != nil {
			t.Fatalf("%s: not asked: %s", script, out)
		}
		_ = c.Wait()
	}
	if got := lines(); got != "one\nthree\n" {
		t.Errorf("ran %q", got)
	}
	// A program of the same name in front of it has another path: asked again.
	p.write("work/probe", "#!/bin/sh\necho swapped >> "+p.dir+"/ran\n", 0o755)
	c, _ := start("PATH=$P/home/.safeshell/shims:$P/work:$PATH probe three")
	if out, err := p.person("safeshell", "deny", p.asked()); err != nil {
		t.Fatalf("another executable: not asked: %s", out)
	}
	_ = c.Wait()
	// Its content is not held: residual-risk.md says so.
	fifth, _ := start("probe five")
	id = p.asked()
	p.write("bin/probe", "#!/bin/sh\necho other content >> "+p.dir+"/ran\n", 0o755)
	if out, err := p.person("safeshell", "approve", id); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = fifth.Wait()
	page, _ := os.ReadFile("docs/residual-risk.md")
	if got := lines(); got != "one\nthree\nother content\n" || !bytes.Contains(page, []byte("A program changed after its approval")) {
		t.Errorf("ran %q", got)
	}
}

// openToOthers lets another user come as near as can be, and returns a copy of
// the binary that anyone may start.
func (p *place) openToOthers() string {
	p.t.Helper()
	for d := p.dir; d != "/"; d = filepath.Dir(d) {
		if fi, err := os.Stat(d); err == nil && fi.Mode().Perm()&0o005 != 0o005 && strings.HasPrefix(d, os.TempDir()+"/") {
			if err := os.Chmod(d, 0o755); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for _, d := range []string{"home", "bin", "work"} {
		if err := os.Chmod(filepath.Join(p.dir, d), 0o755); err != nil {
			p.t.Fatal(err)
		}
	}
	own := filepath.Join(p.dir, "other", "safeshell")
	if err := os.Mkdir(filepath.Dir(own), 0o755); err != nil {
		p.t.Fatal(err)
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := testdir.WriteFile(own, data, 0o755); err != nil {
		p.t.Fatal(err)
	}
	return own
}

// Another user can neither read nor write nor answer nor watch anything, and
// every file is its owner's alone.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root is needed to become another user")
	}
	p := newPlace(t)
	own := p.openToOthers()
	p.monitor()
	waiting := p.agent("probe wanted")
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	id := p.asked()
	other := func(script string) (string, error) {
		c := p.command("bash", "-c", script)
		c.Path = "/bin/bash"
		c.Env = append(append([]string{}, p.env...), "ID="+id, "H="+p.home+"/.safeshell", "B="+own, "PATH=/usr/local/bin:/usr/bin:/bin")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Setsid: true}
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := other("$B --version"); err != nil {
		t.Fatalf("the other user cannot even start the binary: %v: %s", err, out)
	}
	for _, script := range []string{
		"ls $H", "cat $H/rules.yaml", "cat $S/req/$ID/request", "ls $S", "echo x > $S/req/$ID/decision", "mv $S $S.old", "rm -r $H",
		"cat $H/log/journal.jsonl", "ls $H/grants", "ls $H/trust", "touch $H/trust/x", "exec 9<$S/monitor.lock",
		"$B pending | grep .", "$B approve $ID", "$B deny $ID", "$B log | grep .", "$B grants list | grep .",
		`script -qec "$B approve $ID" /dev/null </dev/null`, `script -qec "$B watch" /dev/null </dev/null`, "$B watch --plain </dev/null",
		"$B status", "$B refresh", "$B init --yes", "SAFESHELL_HOME=$H $B approve $ID", "SAFESHELL_SPOOL=$S $B approve $ID", "SAFESHELL_SPOOL=$S $B pending",
		`kill -9 $(pgrep -f "safeshell watch")`, "d=$(mktemp -d) && ln -s $S $d/l && cat $d/l/VERSION",
	} {
		if out, err := other("timeout 20 bash -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'"); err == nil {
			t.Errorf("another user may: %s\n%s", script, out)
		}
	}
	if out, err := p.person("safeshell", "approve", "--always", id); err != nil {
		t.Errorf("the request is no longer there: %v: %s", err, out)
	}
	_ = waiting.Wait()
	if !p.ran() {
		t.Error("the command did not run after its own user's yes")
	}
	err := filepath.Walk(p.home+"/.safeshell", func(path string, fi os.FileInfo, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		if m := fi.Mode(); m&os.ModeSymlink == 0 && m.Perm()&0o077 != 0 && strings.HasPrefix(path, p.home+"/.safeshell/") {
			t.Errorf("%s has mode %s", strings.TrimPrefix(path, p.home), m)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// anotherHome makes the home of a user whom a mode stops, and returns it with what
// runs safeshell as that user, its shims first in PATH.
func (p *place) anotherHome(mode os.FileMode) (home string, run func(args ...string) (string, error)) {
	p.t.Helper()
	if os.Geteuid() != 0 {
		p.t.Skip("root is needed to become a user whom a mode stops")
	}
	own := p.openToOthers()
	home = filepath.Join(p.dir, "theirs")
	if err := os.Mkdir(home, mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chown(home, 65534, 65534); err != nil {
		p.t.Fatal(err)
	}
	return home, func(args ...string) (string, error) {
		c := exec.Command(own, args...)
		c.Dir = "/"
		c.Env = []string{"HOME=" + home, "PATH=" + home + "/.safeshell/shims:/usr/bin:/bin", "SHELL=/bin/bash"}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Setsid: true}
		out, err := c.CombinedOutput()
		return string(out), err
	}
}

// TestContainerOfItsOwn: with all the namespaces of a container and the marks taken
// out, an agent may trust (docs/residual-risk.md).
func TestContainerOfItsOwn(t *testing.T) {
	needs(t, "script", "unshare")
	if exec.Command("unshare", "-r", "true").Run() != nil {
		t.Skip("user namespaces are needed")
	}
	p := newPlace(t)
	for _, d := range []string{".git", ".safeshell"} {
		if err := os.MkdirAll(filepath.Join(p.dir, "work", d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("work/.safeshell/rules.yaml", "rules:\n- {name: r, commands: [make], action: deny, message: m}\n", 0o600)
	out, _ := p.agent(unshare("-p -f -u -i -n --mount-proc", `/usr/bin/script -qec "$P/bin/safeshell trust ." /dev/null </dev/null`)).CombinedOutput()
	if trusted, _ := os.ReadDir(filepath.Join(p.home, ".safeshell/trust")); len(trusted) == 0 {
		t.Errorf("it is stopped now: %s; take the line out of docs/residual-risk.md", out)
	}
}
