package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"safeshell/internal/test/nasty"
	"safeshell/internal/test/testdir"
)

// The budget for judging, of whole processes: of safeshell and all that it starts.
const (
	budgetTime   = 250 * time.Millisecond // of the processor
	budgetMemory = 100 << 10              // KiB
	budgetSaid   = "too much to judge"
)

// judges is a home whose wrapper runs nothing, and a repository in it.
type judges struct {
	home, proj string
	start      time.Duration // of processor time that starting takes and that does not count
	quiet      time.Duration // of processor time for a command that costs nothing to judge, at the least
}

func newJudges(t *testing.T) judges {
	t.Helper()
	home := testdir.New(t)
	j := judges{home: home, proj: filepath.Join(home, "proj")}
	for _, d := range []string{j.proj, filepath.Join(home, ".safeshell")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"config.yaml": "delegate_shell: /bin/true\n",
		"rules.yaml":  "rules:\n- {name: long, commands: [git, cat, python3], match: {args: '(?i)(a+b*)+secret$'}, action: deny, message: m}\n",
	} {
		if err := os.WriteFile(filepath.Join(home, ".safeshell", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, argv := range [][]string{{binary, "refresh", "--quiet"}, {"git", "init", "-q", "-b", "feature"}} {
		c := exec.Command(argv[0], argv[1:]...)
		c.Dir, c.Env = j.proj, j.env()
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	j.quiet = j.trifle(t)
	for range 9 {
		j.quiet = min(j.quiet, j.trifle(t))
	}
	return j
}

// trifle is what judging a command that costs nothing to judge takes just now.
func (j judges) trifle(t *testing.T) time.Duration {
	t.Helper()
	c := exec.Command(binary, "check", "--context=ai", "--", "true")
	c.Dir, c.Env = j.proj, j.env()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

func (j judges) env() []string {
	return []string{"HOME=" + j.home, "PATH=/usr/local/bin:/usr/bin:/bin", "CLAUDECODE=1", "GIT_CONFIG_NOSYSTEM=1"}
}

// run gives input to safeshell with these arguments, and holds what it takes
// against the budget. A busy machine takes longer for the same: of three tries the
// best counts, each by how much slower a trifle is beside it than it was at best.
func (j judges) run(t *testing.T, what, input string, args ...string) string {
	t.Helper()
	var said string
	for try := 1; ; try++ {
		c := exec.Command(binary, args...)
		var out patient
		c.Dir, c.Env, c.Stdin = j.proj, j.env(), strings.NewReader(input)
		if args[0] == "mcp" {
			c.Stdin = io.MultiReader(c.Stdin, &out)
		}
		c.Stdout, c.Stderr = &out, &out
		nasty.Shrink()
		if err := c.Run(); c.ProcessState == nil {
			t.Fatalf("%s: %v", what, err)
		}
		said = out.said.String()
		took := c.ProcessState.UserTime() + c.ProcessState.SystemTime() - j.start
		memory := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		if took > budgetTime {
			took = time.Duration(float64(took) / max(1, float64(min(j.trifle(t), j.trifle(t)))/float64(j.quiet)))
		}
		if took <= budgetTime && memory <= budgetMemory {
			return said
		}
		if try == 3 {
			t.Errorf("%s: %v of processor time and %d MB", what, took, memory>>10)
			return said
		}
	}
}

func hookEvent(t *testing.T, line, dir string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"session_id": "b", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": line}, "cwd": dir})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// through judges a line through one of the doors.
func (j judges) through(t *testing.T, door, what, line string) string {
	t.Helper()
	what = fmt.Sprintf("%s, %d bytes of %s", door, len(line), what)
	if len(line) > 120_000 || strings.Contains(line, "\x00") { // what an argument can be
		door = map[string]string{"check": "stdin0", "both": "stdin0", "wrapper": "hook"}[door]
	}
	switch door {
	case "check":
		return j.run(t, what, "", "check", "--context=ai", "--", line)
	case "both":
		return j.run(t, what, "", "check", "--json", "--", line)
	case "stdin0":
		return j.run(t, what, strings.ReplaceAll(line, "\x00", " "), "check", "--stdin0")
	case "wrapper":
		return j.run(t, what, "", "-c", line)
	}
	return j.run(t, what, hookEvent(t, line, j.proj), "hook", "claude-code")
}

// Every nasty text has its verdict within the budget, through each door in turn.
func TestBudget(t *testing.T) {
	j := newJudges(t)
	for i, x := range nasty.Texts() {
		if testing.Short() && i%10 != 0 {
			continue
		}
		for k, n := range [][]int{{1_000_000}, {115_000}, {12_000, 115_000}}[i%3] {
			door := []string{"hook", "check", "wrapper", "both"}[(i+k)%4]
			j.through(t, door, x.Name, x.Make(n))
		}
	}
}

// Past the budget it is a question that says so, through every door.
func TestBudgetIsAQuestion(t *testing.T) {
	j := newJudges(t)
	for _, x := range nasty.Texts() {
		switch x.Name {
		case "commands", "for in for", "functions that call twice", "operands of rm", "perl -e repeated":
			for _, door := range []string{"hook", "check", "both", "wrapper"} {
				if said := j.through(t, door, x.Name, x.Make(115_000)); !strings.Contains(said, budgetSaid) {
					t.Errorf("%s: %s says %.300q", x.Name, door, said)
				}
			}
		}
	}
}

// MCP judges what a script declares, and the shims what it runs: here it is not
// permitted, so that nothing does. The start of the server, which serves many calls,
// does not count.
func TestBudgetOfMCP(t *testing.T) {
	j := newJudges(t)
	c := exec.Command(binary, "mcp")
	c.Dir, c.Env = j.proj, j.env()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j.start = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	for i, x := range nasty.Texts() {
		if i%40 != 0 && x.Name != "commands" && x.Name != "for in for" {
			continue
		}
		var in strings.Builder
		enc := json.NewEncoder(&in)
		for _, m := range []map[string]any{
			{"id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "agent", "version": "1"}}},
			{"method": "notifications/initialized"},
			{"id": 2, "method": "tools/call", "params": map[string]any{"name": "run", "arguments": map[string]any{"code": "initcmds curl\n" + x.Make(1_000_000)}}},
		} {
			m["jsonrpc"] = "2.0"
			if err := enc.Encode(m); err != nil {
				t.Fatal(err)
			}
		}
		if said := j.run(t, "MCP, "+x.Name, in.String(), "mcp"); !strings.Contains(said, `"id":2`) || strings.Contains(said, "PASSED") {
			t.Errorf("%s: MCP says %.500q", x.Name, said)
		}
	}
}

// patient is input that does not end before what it waits for was said.
type patient struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (p *patient) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func (p *patient) Read([]byte) (int, error) {
	for range 3000 {
		p.mu.Lock()
		done := bytes.Contains(p.said.Bytes(), []byte(`"id":2`))
		p.mu.Unlock()
		if done {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, io.EOF
}

// What is large but no command has the same budget.
func TestBudgetOfInput(t *testing.T) {
	j := newJudges(t)
	deep := strings.Repeat(`{"a":[`, 200_000) + strings.Repeat("]}", 200_000)
	wide := `{"a":[` + strings.Repeat("1,", 400_000) + "1]}"
	text := strings.Repeat("curl -u u:hunter2 https://h/?token=abcdef123456 \n", 20_000)
	for what, event := range map[string]string{
		"nested JSON":    `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + deep + `}`,
		"many values":    `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + wide + `}`,
		"a long string":  `{"hook_event_name":"PreToolUse","tool_name":"` + strings.Repeat("x", 1<<20) + `","tool_input":{"command":"ls"}}`,
		"a written file": `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"` + j.proj + `/f","content":"` + strings.Repeat(`x\n`, 300_000) + `"},"cwd":"` + j.proj + `"}`,
		"open brackets":  strings.Repeat("[", 1<<20),
		"invalid bytes":  `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"` + strings.Repeat("\xff", 1<<20) + `"}}`,
		"escapes":        `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"` + strings.Repeat(`\ud83d\u0000`, 80_000) + `"}}`,
		"secrets":        hookEvent(t, "echo '"+text+"'; git push --force", j.proj),
	} {
		j.run(t, what, event, "hook", "claude-code")
	}
	var list strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&list, "command%d --option\n", i)
	}
	file := filepath.Join(j.proj, "commands")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	j.run(t, "permit check of a large file", list.String(), "permit", "check", file)
	for _, argv := range [][]string{{"git", "commit", "-m"}, {"cat"}, {"python3", "-c"}} {
		j.run(t, fmt.Sprintf("a regexp against the argument of %s", argv[0]), hookEvent(t, strings.Join(argv, " ")+" '"+strings.Repeat("a", 1<<20-100)+"'", j.proj), "hook", "claude-code")
	}
}
