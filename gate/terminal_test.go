package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"safeshell/internal/test/testdir"
)

// procOf writes a /proc. A row is "pid ppid session tty start argv...", each process
// its own group; words that begin with @ are no argv: @mark, @maps=TEXT, @status=TEXT,
// @ns=TEXT, @fd=FILE.
func procOf(t *testing.T, rows ...string) string {
	t.Helper()
	proc := testdir.New(t)
	for _, row := range rows {
		f := strings.Fields(row)
		var argv []string
		files := map[string]string{}
		for _, w := range f[5:] {
			key, value, _ := strings.Cut(w, "=")
			switch key {
			case "@mark":
				files["environ"] = "CLAUDECODE=1\x00"
			case "@maps":
				files["maps"] = value
			case "@status":
				files["status"] = strings.ReplaceAll(value, ",", "\n")
			case "@ns", "@fd":
				name := map[string]string{"@ns": "ns/pid", "@fd": "fd/0"}[key]
				must(t, os.MkdirAll(filepath.Join(proc, f[0], filepath.Dir(name)), 0o755))
				must(t, os.Symlink(value, filepath.Join(proc, f[0], name)))
			default:
				argv = append(argv, w)
			}
		}
		files["cmdline"] = strings.Join(argv, "\x00") + "\x00"
		files["stat"] = fmt.Sprintf("%s (%s) S %s %s %s %s 1 0 0 0 0 0 0 0 0 0 20 0 1 0 %s 0 0", f[0], filepath.Base(argv[0]), f[1], f[0], f[2], f[3], f[4])
		must(t, os.MkdirAll(filepath.Join(proc, f[0]), 0o755))
		for name, text := range files {
			must(t, os.WriteFile(filepath.Join(proc, f[0], name), []byte(text), 0o644))
		}
	}
	return proc
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pts is a pseudo-terminal's number, null that of /dev/null, which stands for one
// in a fake process's open files.
var (
	pts  = fmt.Sprint(unix.Mkdev(136, 0))
	null = fmt.Sprint(unix.Mkdev(1, 3))
)

// TestTerminal: a terminal is a person's where it hangs below a login, a program
// that draws windows or is known to hold terminals, or a multiplexer that a person
// looks at; process 20 is asked about.
func TestTerminal(t *testing.T) {
	const init = "1 0 1 0 1 init"
	for _, c := range []struct {
		name, stray, why string
		rows             []string
	}{
		{name: "ssh", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 sshd", init}},
		{name: "a console", rows: []string{"20 1 20 1025 30 bash", init}},
		{name: "a program of the session's own", rows: []string{"20 1 1 PTS 30 bash", init}},
		{name: "a known terminal", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 xterm", init}},
		{name: "a new one, which draws windows", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 newterm @maps=/usr/lib/libwayland-client.so.0", init}},
		{name: "an editor far away", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 node /home/me/.vscode-server/x", init}},
		{name: "below the user's systemd", rows: []string{"20 10 20 PTS 30 bash", "10 5 10 0 20 konsole", "5 1 5 0 2 systemd", init}},
		{name: "apart", stray: "script", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 script", init}},
		{name: "apart, from the user's systemd", stray: "script", rows: []string{"20 10 20 PTS 30 bash", "10 5 10 0 20 script", "5 1 5 0 2 systemd", init}},
		{name: "the session's leader is no ancestor", rows: []string{"20 1 7 PTS 30 bash", "7 10 7 PTS 25 bash", "10 1 10 0 20 sshd", init}},
		{name: "of an agent's session", why: "that of an agent", rows: []string{"20 1 7 PTS 30 bash", "7 10 7 PTS 25 bash", "10 1 10 0 20 claude", init}},
		{name: "of a marked session", why: "carries an agent's mark", rows: []string{"20 1 7 PTS 30 bash", "7 1 7 PTS 25 bash @mark", init}},
		{name: "its session is gone", why: "cannot be followed", rows: []string{"20 1 7 PTS 30 bash", init}},
		{name: "a session outside", why: "cannot be seen", rows: []string{"20 1 0 PTS 30 bash", init}},
		{name: "tmux that nobody looks at", stray: "tmux", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 tmux", init}},
		{name: "tmux, looked at by ssh", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 tmux @fd=/dev/null", "30 31 30 NULL 40 bash", "31 1 31 0 39 sshd", init}},
		{name: "tmux, looked at by an agent", stray: "tmux", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 tmux @fd=/dev/null", "30 31 30 NULL 40 bash @mark", "31 1 31 0 39 sshd", init}},
		{name: "tmux, looked at by a terminal apart", stray: "tmux", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 tmux @fd=/dev/null", "30 31 30 NULL 40 bash", "31 1 31 0 39 script", init}},
		{name: "zellij, with a client", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 zellij", "30 31 31 NULL 40 zellij", "31 32 31 NULL 39 bash", "32 1 32 0 38 sshd", init}},
		{name: "zellij, without", stray: "zellij", rows: []string{"20 10 20 PTS 30 bash", "10 1 10 0 20 zellij", init}},
	} {
		proc := procOf(t, strings.Split(strings.NewReplacer("PTS", pts, "NULL", null).Replace(strings.Join(c.rows, "\n")), "\n")...)
		chain, why := lineage(proc, 20)
		if why != "" {
			t.Fatal(c.name, why)
		}
		stray, why := terminal(proc, chain, 0)
		if (stray == nil) != (c.stray == "") || stray != nil && stray.comm != c.stray || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %+v %q", c.name, stray, why)
		}
		if stray != nil && !strings.Contains(stray.apart("an agent"), c.stray) {
			t.Errorf("%s: %s", c.name, stray.apart("an agent"))
		}
	}
}

// TestAncestors: a chain that is not whole, an agent that was there before, and
// processes of other PID namespaces.
func TestAncestors(t *testing.T) {
	proc := procOf(t, "20 10 20 "+pts+" 30 bash", "10 5 10 0 20 bash @mark", "5 1 5 0 10 sshd", "1 0 1 0 1 init",
		"40 41 40 0 50 bash", "50 51 50 0 60 a", "51 50 51 0 61 b",
		"60 1 60 0 77 bash @ns=pid:[7]", "61 1 61 0 78 bash @ns=pid:[8]")
	for pid, want := range map[int]string{20: "", 40: "process 41 above it cannot be seen", 50: "process 50 came up twice", 99: "process 99 above it cannot be seen"} {
		if _, why := lineage(proc, pid); !strings.HasPrefix(why, want) || (why == "") != (want == "") {
			t.Errorf("%d: %q", pid, why)
		}
	}
	if got := agentStart(proc, 20, 30); got != 20 {
		t.Errorf("the agent was started at %d", got)
	}
	if got := agentStart(proc, 20, 31); got != 31 {
		t.Errorf("one that has died was started at %d", got)
	}
	if olderAgent(proc, 19) != "" || !strings.Contains(olderAgent(proc, 20), "process 10 (bash)") {
		t.Error(olderAgent(proc, 19), olderAgent(proc, 20))
	}
	// The kernel separates by tabs; procOf's words cannot hold them.
	for pid, text := range map[string]string{"60": "Name:\tx\nNSpid:\t60\t3\n", "61": "Name:\tx\nNSpid:\t61\t3\nUid:\t7\t0\n"} {
		must(t, os.WriteFile(filepath.Join(proc, pid, "status"), []byte(text), 0o644))
	}
	if got := inView(proc, "pid:[7]", 3, 77); got != 60 {
		t.Errorf("seen as %d", got)
	}
	if got := inView(proc, "pid:[7]", 3, 78); got != 0 {
		t.Errorf("another one of that number: %d", got)
	}
	if uid, ok := realUID(filepath.Join(proc, "61")); !ok || uid != 7 {
		t.Error(uid, ok)
	}
	if ownView(filepath.Join(proc, "none")) == "" || !strings.Contains(ownView("/proc/1/../.."), "which shows who calls") {
		t.Error("another /proc is taken for this one")
	}
}
