package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"safeshell/eval"
	"safeshell/internal/test/testdir"
)

// belowInit skips a test of what init's children are not asked about.
func belowInit(t *testing.T) {
	t.Helper()
	if os.Getppid() == 1 {
		t.Skip("this process's parent is init")
	}
}

// fakeProc writes a /proc in which this process's parent is pid 500, whose
// parents are the given programs, nearest first; "INIT x" has pid 1.
func fakeProc(t *testing.T, cmdlines ...string) string {
	t.Helper()
	proc := testdir.New(t)
	pid := os.Getppid()
	for i, c := range cmdlines {
		next := 50000 + i
		if i+1 < len(cmdlines) && strings.HasPrefix(cmdlines[i+1], "INIT ") {
			next = 1
		}
		c = strings.TrimPrefix(c, "INIT ")
		if i == len(cmdlines)-1 {
			next = 0
		}
		dir := filepath.Join(proc, strconv.Itoa(pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		comm := filepath.Base(strings.Fields(c)[0])
		stat := fmt.Sprintf("%d (%s) S %d 1 1 34816 1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0", pid, comm, next, 1000+i)
		for name, text := range map[string]string{"stat": stat, "cmdline": strings.ReplaceAll(c, " ", "\x00") + "\x00"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		pid = next
	}
	return proc
}

func TestCaller(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     string
		parents []string
		context eval.Context
		agent   string
	}{
		{"a person", "", []string{"bash", "sshd: me"}, eval.Human, ""},
		{"a marker", "CLAUDECODE=1", []string{"bash"}, eval.AI, "claude-code"},
		{"an empty marker", "CLAUDECODE=", []string{"bash"}, eval.Human, ""},
		{"said to be an agent", "SAFESHELL_CONTEXT=ai", []string{"bash"}, eval.AI, "agent"},
		{"said to be a person", "SAFESHELL_CONTEXT=human", []string{"bash"}, eval.Human, ""},
		{"a marker is not overruled", "SAFESHELL_CONTEXT=human CODEX_CI=1", []string{"bash"}, eval.AI, "codex"},
		{"a general marker", "AI_AGENT=newone_1-2_agent", []string{"bash"}, eval.AI, "newone"},
		{"a general marker without a name", "AGENT=1", []string{"bash"}, eval.AI, "agent"},
		{"by its program", "", []string{"sh -c x", "aider", "bash"}, eval.AI, "aider"},
		{"by its script", "", []string{"bash -c x", "/usr/bin/node /opt/bin/cline --y", "bash"}, eval.AI, "cline"},
		{"by a python script", "", []string{"/usr/bin/python3.12 /home/me/bin/aider"}, eval.AI, "aider"},
		{"an argument is no program", "", []string{"vim aider", "grep -r claude"}, eval.Human, ""},
		{"said to be a person below an agent", "SAFESHELL_CONTEXT=human", []string{"sh", "goose session"}, eval.AI, "goose"},
		{"an agent that is a container's init", "", []string{"sh -c x", "INIT aider"}, eval.AI, "aider"},
		{"a name with a parenthesis", "", []string{"bash) (x", "aider"}, eval.AI, "aider"},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		f := newCallerFinder(func(n string) string { return env[n] })
		f.proc = fakeProc(t, c.parents...)
		if f.Context() != c.context || f.Agent() != c.agent {
			t.Errorf("%s: %s %q, want %s %q", c.name, f.Context(), f.Agent(), c.context, c.agent)
		}
	}
}

func TestSession(t *testing.T) {
	env := map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "abc"}
	f := newCallerFinder(func(n string) string { return env[n] })
	if got := f.Session(); got != "claude-code:abc" {
		t.Errorf("told by the agent: %q", got)
	}
	f = newCallerFinder(func(string) string { return "" })
	f.proc = fakeProc(t, "bash")
	if got := f.Session(); !strings.HasPrefix(got, "sid:") {
		t.Errorf("a person's: %q", got)
	}
	f = newCallerFinder(func(n string) string { return "" })
	f.proc = fakeProc(t, "bash", "aider")
	if got := f.Session(); got != "aider:50000-1001" {
		t.Errorf("by the agent's process: %q", got)
	}
}

func TestRelated(t *testing.T) {
	g := New(Env{Environ: os.Environ()})
	self, err := readProc("/proc", os.Getpid())
	if err != nil {
		t.Skip("there is no /proc")
	}
	if why := g.SharesAncestry(self.pid, self.start+1, ""); why != "" {
		t.Errorf("a process with this pid of another time: %s", why)
	}
	if why := g.SharesAncestry(1<<22+5, 1, ""); why != "" {
		t.Errorf("a dead process: %s", why)
	}
}
