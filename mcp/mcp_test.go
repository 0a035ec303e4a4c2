package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"safeshell/config"
	"safeshell/internal/test/denotest"
	"safeshell/permit"
	"safeshell/spool"
)

func TestRunShell(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	res, text, r := call(t, s, "run", args{"code": "initcmds cat\nread -r x; echo \"in=$x\"; echo \"$1|$FOO\"; pwd; echo err >&2; exit 3", "args": []string{"a b"}, "env": args{"FOO": "q'\"$x"}, "cwd": "scripts"})
	if !res.IsError || *r.ExitCode != 3 {
		t.Errorf("%+v", r)
	}
	if want := "in=\na b|q'\"$x\n" + w.proj + "/scripts\n"; r.Stdout != want || r.Stderr != "err\n" {
		t.Errorf("stdout %q stderr %q, want %q", r.Stdout, r.Stderr, want)
	}
	contains(t, text, "exit code 3", "--- stdout", "--- stderr\nerr")
	w.write("s.sh", "initcmds\necho from file $0\n", 0o600)
	if _, _, r = call(t, s, "run", args{"file": "s.sh"}); !strings.HasPrefix(r.Stdout, "from file ") || *r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}

// The example of the design: declared, blocked, chosen for the session, run; a
// second script of the session runs at once; a new session asks again.
func TestExample(t *testing.T) {
	w := newWorld(t)
	script := args{"code": "initcmds curl cargo ./scripts/build.sh\ncurl -s https://example.org\ncargo test\nbuild.sh x\n"}
	s := w.connect()
	res, text, _ := call(t, s, "run", script)
	id := retryID(t, res)
	contains(t, text, `"COMMAND_NOT_ALLOWED"`, "3 command(s) not allowed", "STOP", "(1) once (2) session (3) always", "(4) deny")
	res, text, r := call(t, s, "run", args{"retry_id": id, "userChoice": 2})
	if res.IsError || r.Stdout != "fake curl -s https://example.org\nfake cargo test\nbuilt x\n" {
		t.Fatal(text)
	}
	if _, text, r = call(t, s, "run", args{"code": "initcmds cargo curl\ncargo build"}); r.Stdout != "fake cargo build\n" {
		t.Fatal(text)
	}
	res, _, _ = call(t, w.connect(), "run", script)
	retryID(t, res)
}

func TestChoices(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	blocked := func() string {
		t.Helper()
		res, _, _ := call(t, s, "run", args{"code": "initcmds curl\ncurl >ran"})
		return retryID(t, res)
	}
	ran := func() bool {
		_, err := os.Stat(w.proj + "/ran")
		os.Remove(w.proj + "/ran")
		return err == nil
	}
	refused := func(a args, want ...string) {
		t.Helper()
		res, text, _ := call(t, s, "run", a)
		if !res.IsError || ran() {
			t.Fatalf("%v ran or is no error: %s", a, text)
		}
		contains(t, text, want...)
	}
	id := blocked()
	refused(args{"retry_id": id}, id, "STOP") // no choice asks again
	refused(args{"retry_id": id, "userChoice": 5}, "5 is not a choice", "nothing has run")
	refused(args{"retry_id": id, "userChoice": -1}, "is not a choice")
	refused(args{"retry_id": id, "userChoice": 1, "code": "initcmds\ntouch ran"}, "exactly", "nothing has run")
	refused(args{"retry_id": id, "userChoice": 4}, "USER DENIED", "Nothing has run and nothing will")
	refused(args{"retry_id": id, "userChoice": 1}, "denied", "nothing runs")
	refused(args{"retry_id": id, "userChoice": 4}, "nothing runs")
	refused(args{"retry_id": "rt99999", "userChoice": 1}, "no such retry id", "nothing runs")
	refused(args{"retry_id": "../../x", "userChoice": 1}, "no such retry id")
	refused(args{"userChoice": 1, "code": "initcmds\ntouch ran"}, "needs the retry_id")

	id = blocked()
	if res, text, _ := call(t, s, "run", args{"retry_id": id, "userChoice": 1}); res.IsError || !ran() {
		t.Fatal(text)
	}
	refused(args{"retry_id": id, "userChoice": 1}, "used already", "nothing runs")
	// Once was for that run; the id survives the server.
	id = blocked()
	s.Close()
	s = w.connect()
	if res, text, _ := call(t, s, "run", args{"retry_id": id, "userChoice": 3}); res.IsError || !ran() {
		t.Fatal(text)
	}
	if res, text, _ := call(t, w.connect(), "run", args{"code": "initcmds curl\ncurl"}); res.IsError {
		t.Fatal("always did not last: " + text)
	}
}

// Choice 2 is for the session that goes on, also where the server was started
// anew since the script was stopped; not for a third one.
func TestSessionAfterRestart(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	script := args{"code": "initcmds curl\ncurl again"}
	res, _, _ := call(t, s, "run", script)
	s.Close()
	s = w.connect()
	if _, text, r := call(t, s, "run", args{"retry_id": retryID(t, res), "userChoice": 2}); r.Stdout != "fake curl again\n" {
		t.Fatal(text)
	}
	if _, text, r := call(t, s, "run", script); r.Stdout != "fake curl again\n" {
		t.Fatal("asked again: " + text)
	}
	res, _, _ = call(t, w.connect(), "run", script)
	retryID(t, res)
}

func TestRetryKeepsEverything(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	res, _, _ := call(t, s, "run", args{"code": "initcmds curl\npwd; echo \"$A|$1\"", "cwd": "scripts", "env": args{"A": "x y"}, "args": []string{"'z"}})
	_, text, r := call(t, s, "run", args{"retry_id": retryID(t, res), "userChoice": 1})
	if r.Stdout != w.proj+"/scripts\nx y|'z\n" {
		t.Fatal(text)
	}
}

func TestElicitation(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprintf("old=%v", old), func(t *testing.T) {
			w := newWorld(t)
			w.oldProtocol = old
			var asked string
			answer := &sdk.ElicitResult{Action: "decline"}
			w.elicit = func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
				asked = p.Message
				return answer, nil
			}
			s := w.connect()
			script := args{"code": "initcmds curl\ncurl >ran"}
			ran := func() bool {
				_, err := os.Stat(w.proj + "/ran")
				os.Remove(w.proj + "/ran")
				return err == nil
			}
			res, text, _ := call(t, s, "run", script)
			if !res.IsError || ran() {
				t.Fatal(text)
			}
			contains(t, text, "USER DENIED")
			contains(t, asked, "A script of test-client", "curl", w.bin+"/curl", "Directory: "+w.proj, "curl >ran")

			answer = &sdk.ElicitResult{Action: "cancel"}
			res, _, _ = call(t, s, "run", script)
			id := retryID(t, res)
			// The human is asked, whatever the agent says that he chose.
			res, text, _ = call(t, s, "run", args{"retry_id": id, "userChoice": 3})
			if retryID(t, res) != id || ran() {
				t.Fatal(text)
			}
			contains(t, asked, "The agent says that you chose 3 (always)")

			answer = &sdk.ElicitResult{Action: "accept", Content: map[string]any{"choice": "deny"}}
			res, text, _ = call(t, s, "run", args{"retry_id": id, "userChoice": 1})
			contains(t, text, "USER DENIED")
			if !res.IsError || ran() {
				t.Fatal(text)
			}

			answer = &sdk.ElicitResult{Action: "accept", Content: map[string]any{"choice": "session"}}
			if res, text, _ = call(t, s, "run", script); res.IsError || !ran() {
				t.Fatal(text)
			}
			asked = ""
			if res, text, _ = call(t, s, "run", script); res.IsError || !ran() || asked != "" {
				t.Fatal("asked again: " + text)
			}
		})
	}
}

func TestRoots(t *testing.T) {
	for i, old := range []bool{false, true, true} {
		w := newWorld(t)
		w.oldProtocol, w.mute = old, i == 2
		root := filepath.Join(filepath.Dir(w.proj), "other root")
		if err := os.MkdirAll(root+"/sub", 0o700); err != nil {
			t.Fatal(err)
		}
		w.roots = []string{filepath.Dir(w.proj) + "/other%20root"}
		s := w.connect()
		if _, text, r := call(t, s, "run", args{"code": "initcmds\npwd"}); r.Stdout != root+"\n" {
			t.Fatalf("old=%v: %s", old, text)
		}
		if _, text, r := call(t, s, "run", args{"code": "initcmds\npwd", "cwd": "sub"}); r.Stdout != root+"/sub\n" {
			t.Fatal(text)
		}
		if !old {
			continue
		}
		// Roots that change count from the next call on; one that is gone is said.
		w.client.RemoveRoots("file://" + w.roots[0])
		w.client.AddRoots(&sdk.Root{URI: "file://" + w.proj + "/nope"})
		waitFor(t, "the new root", func() bool {
			_, text, _ := call(t, s, "run", args{"code": "initcmds\npwd"})
			return strings.Contains(text, w.proj+"/nope") && strings.Contains(text, "nothing has run")
		})
		if _, text, r := call(t, s, "run", args{"code": "initcmds\npwd", "cwd": w.proj}); r.Stdout != w.proj+"\n" {
			t.Fatal(text)
		}
	}
}

func TestPermitCheck(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	res, text, _ := call(t, s, "permit_check", args{"commands": []string{"cat", "curl", "./nope.sh"}})
	contains(t, text, `"./nope.sh"`, "COMMAND_NOT_FOUND")
	retryID(t, res)
	res, text, _ = call(t, s, "permit_check", args{"commands": []string{"cat"}})
	if res.IsError {
		t.Fatal(text)
	}
	contains(t, text, `"permitted": true`, `"built-in"`)
	res, _, _ = call(t, s, "permit_check", args{"code": "initcmds curl\n:"})
	id := retryID(t, res)
	_, text, _ = call(t, s, "run", args{"retry_id": id, "userChoice": 1})
	contains(t, text, "choose 2 (session)")
	if res, text, _ = call(t, s, "run", args{"retry_id": id, "userChoice": 2}); res.IsError {
		t.Fatal(text)
	}
	contains(t, text, `"permitted": true`, `"session"`)
	if res, text, _ = call(t, s, "run", args{"code": "initcmds curl\ncurl"}); res.IsError {
		t.Fatal(text)
	}
}

func TestBackground(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	_, text, r := call(t, s, "run", args{"code": "initcmds sleep\necho one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 5", "background": true})
	if !r.Running || r.ID == "" {
		t.Fatal(text)
	}
	id := r.ID
	var at int64
	for r.Stdout = ""; r.Stdout == ""; {
		_, _, r = call(t, s, "scripts", args{"action": "read", "id": id})
	}
	if r.Stdout != "one\n" || !r.Running {
		t.Fatalf("%+v", r)
	}
	at = r.StdoutNext
	_, _, r = call(t, s, "scripts", args{"action": "wait", "id": id, "timeout": 0.1})
	if !r.Running {
		t.Fatalf("%+v", r)
	}
	_, text, _ = call(t, s, "scripts", args{"action": "list"})
	contains(t, text, `"id": "`+id+`"`, `"running": true`)
	w.write("go", "", 0o600)
	_, _, r = call(t, s, "scripts", args{"action": "wait", "id": id, "stdout_offset": at})
	if r.Running || *r.ExitCode != 5 || r.Stdout != "two\n" {
		t.Fatalf("%+v", r)
	}
	_, _, r = call(t, s, "run", args{"code": "initcmds sleep\nsleep 1000", "background": true})
	_, _, r = call(t, s, "scripts", args{"action": "kill", "id": r.ID})
	if r.Running || r.Ended != endedByKill {
		t.Fatalf("%+v", r)
	}
	for _, bad := range []args{{"action": "read", "id": "r99"}, {"action": "dance"}, {"action": "read", "id": id, "stdout_offset": -1}, {"action": "wait", "id": id, "timeout": -1}} {
		if res, text, _ := call(t, s, "scripts", bad); !res.IsError {
			t.Errorf("%v: %s", bad, text)
		}
	}
}

// alive reports whether the process whose pid stands in a file lives.
func alive(t *testing.T, file string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	var pid int
	if _, serr := fmt.Sscan(string(b), &pid); err != nil || serr != nil {
		t.Fatalf("%s: %v %v", file, err, serr)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func waitFor(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatal("waited in vain: " + what)
}

func exists(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Size() > 0
}

// stubborn starts what is hard to end: it ignores SIGTERM, has left its session
// and its parent, and keeps the output open.
const stubborn = `initcmds sleep setsid sh
trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ >grandchild; while :; do sleep 0.2; done' &
(sh -c 'echo $$ >orphan; exec sleep 1000' &)
echo started
echo $$ >script
while :; do sleep 0.2; done
`

func TestTimeLimitEndsAll(t *testing.T) {
	w := newWorld(t)
	w.allow("setsid", "sh")
	res, text, r := call(t, w.connect(), "run", args{"code": stubborn, "timeout": 3})
	if !res.IsError || r.Ended != endedByLimit || r.Stdout != "started\n" {
		t.Fatal(text)
	}
	contains(t, text, "time limit")
	for _, f := range []string{"script", "grandchild", "orphan"} {
		if alive(t, w.proj+"/"+f) {
			t.Errorf("%s lives", f)
		}
	}
}

func TestCancelEndsAll(t *testing.T) {
	w := newWorld(t)
	w.allow("setsid", "sh")
	s := w.connect()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "run", Arguments: args{"code": stubborn}})
		done <- err
	}()
	waitFor(t, "the script", func() bool {
		return exists(w.proj+"/script") && exists(w.proj+"/grandchild") && exists(w.proj+"/orphan")
	})
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled call has a result")
	}
	waitFor(t, "their end", func() bool {
		return !alive(t, w.proj+"/script") && !alive(t, w.proj+"/grandchild") && !alive(t, w.proj+"/orphan")
	})
	if _, text, r := call(t, s, "run", args{"code": "initcmds\necho still here"}); r.Stdout != "still here\n" {
		t.Fatal(text)
	}
}

// However the server ends, its scripts do.
func TestServerEnds(t *testing.T) {
	for name, end := range map[string]func(*raw){
		"closed input": func(r *raw) { r.in.Close() },
		"SIGTERM":      func(r *raw) { _ = r.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGKILL":      func(r *raw) { _ = r.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.allow("setsid", "sh")
			r := w.raw(true)
			code, _ := json.Marshal(stubborn)
			r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"background":true,"code":` + string(code) + `}}}`)
			r.line()
			waitFor(t, "the script", func() bool {
				return exists(w.proj+"/script") && exists(w.proj+"/grandchild") && exists(w.proj+"/orphan")
			})
			end(r)
			waitFor(t, "their end", func() bool {
				return !alive(t, w.proj+"/script") && !alive(t, w.proj+"/grandchild") && !alive(t, w.proj+"/orphan")
			})
		})
	}
}

func TestChildKeepsPipe(t *testing.T) {
	w := newWorld(t)
	w.allow("sh")
	_, text, r := call(t, w.connect(), "run", args{"code": "initcmds sh sleep\nsh -c 'echo $$ >left; exec sleep 1000' &\nwhile [ ! -s left ]; do sleep 0.05; done\necho done"})
	if *r.ExitCode != 0 || r.Stdout != "done\n" {
		t.Fatal(text)
	}
	contains(t, text, "still had its output open")
	if alive(t, w.proj+"/left") {
		t.Error("it lives")
	}
}

// What has let go of the output is a server of its own and stays.
func TestDaemonStays(t *testing.T) {
	w := newWorld(t)
	w.allow("sh")
	_, text, r := call(t, w.connect(), "run", args{"code": "initcmds sh sleep\nsh -c 'echo $$ >left; exec sleep 30' >/dev/null 2>&1 &\nwhile [ ! -s left ]; do sleep 0.05; done\necho done"})
	if *r.ExitCode != 0 || strings.Contains(text, "note:") {
		t.Fatal(text)
	}
	if !alive(t, w.proj+"/left") {
		t.Error("it was ended")
	}
	// Its keeper removes the run's directory when it ends.
	b, _ := os.ReadFile(w.proj + "/left")
	var pid int
	if _, err := fmt.Sscan(string(b), &pid); err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Fatalf("%q cannot be ended", b)
	}
	waitFor(t, "the run's end", func() bool { left, _ := filepath.Glob(w.home + "/.safeshell/run/*"); return len(left) == 0 })
}

func TestClosedOutput(t *testing.T) {
	w := newWorld(t)
	_, text, r := call(t, w.connect(), "run", args{"code": "initcmds sleep\nexec >&- 2>&-\nsleep 0.5\nexit 4"})
	if *r.ExitCode != 4 {
		t.Fatal(text)
	}
}

func TestOutput(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	_, text, r := call(t, s, "run", args{"code": "initcmds\nprintf 'a\\xffb\\n'; printf '\\xf0\\x9f\\x98' >&2"})
	if b, _ := base64.StdEncoding.DecodeString(r.StdoutB64); string(b) != "a\xffb\n" || r.Stdout != "a\uFFFDb\n" {
		t.Errorf("%q %q", b, r.Stdout)
	}
	if b, _ := base64.StdEncoding.DecodeString(r.StderrB64); string(b) != "\xf0\x9f\x98" {
		t.Errorf("%q", b)
	}
	contains(t, text, "not UTF-8")
	_, text, r = call(t, s, "run", args{"code": "initcmds head tail tr\nhead -c 300000000 /dev/zero | tr '\\0' x; echo; echo the end"})
	if r.StdoutLost != 300000009-keepOutput || len(r.Stdout) != keepOutput || !strings.HasSuffix(r.Stdout, "x\nthe end\n") || *r.ExitCode != 0 {
		t.Errorf("lost %d, kept %d", r.StdoutLost, len(r.Stdout))
	}
	contains(t, text, "only the last 1048576")
}

func TestProgress(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	var got strings.Builder
	w.progress = func(m string) {
		mu.Lock()
		got.WriteString(m)
		mu.Unlock()
		if strings.Contains(m, "first") {
			w.write("go", "", 0o600)
		}
	}
	s := w.connect()
	p := &sdk.CallToolParams{Name: "run", Arguments: args{"code": "initcmds sleep\necho first; while [ ! -e go ]; do sleep 0.05; done; echo second"}}
	p.SetProgressToken("t1")
	res, err := s.CallTool(context.Background(), p)
	if err != nil || structured(res).Stdout != "first\nsecond\n" {
		t.Fatal(err, textOf(res))
	}
	waitFor(t, "progress", func() bool { mu.Lock(); defer mu.Unlock(); return got.String() == "first\nsecond\n" })
}

func TestBadCalls(t *testing.T) {
	w := newWorld(t)
	s := w.connect()
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{}, "give the script"},
		{args{"code": "echo hello"}, "initcmds"},
		{args{"code": "initcmds\n:", "file": "x"}, "not both"},
		{args{"file": "nope.sh"}, "no such file"},
		{args{"file": "scripts"}, "not a regular file"},
		{args{"code": "initcmds\n:", "language": "perl"}, "it is shell or typescript"},
		{args{"code": "initcmds\n:", "cwd": "nope"}, "no such file"},
		{args{"code": "initcmds\n:", "cwd": "scripts/build.sh"}, "not a directory"},
		{args{"code": "initcmds\n:", "timeout": -1}, "no time limit"},
		{args{"code": "initcmds\n:", "timeout": 1e300}, "no time limit"},
		{args{"code": "initcmds\n:", "env": args{"A=B": "x"}}, "cannot be a variable"},
		{args{"code": "initcmds\n:", "env": args{"SAFESHELL_HOME": "/x"}}, "safeshell's own"},
		{args{"code": "initcmds\n:", "bogus": 1}, "bogus"},
		{args{"code": 7}, "string"},
		{args{"code": strings.Repeat("#", 10<<20)}, "at most"},
		{args{"code": "initcmds \"$X\"\n:", "language": "typescript"}, ""},
		{args{"code": "await initCmds(names)", "language": "typescript"}, "code:1:16"},
	} {
		res, text, _ := call(t, s, "run", c.a)
		if !res.IsError || !strings.Contains(text, c.want) {
			t.Errorf("%.60v: %.300s; want %q", c.a, text, c.want)
		}
	}
	// What changes how something starts, one of each kind; and what does not.
	for _, name := range strings.Fields("BASH_ENV ENV BASH_FUNC_x%% BASH_FUNC_x() SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND IFS PATH HOME CDPATH GLOBIGNORE EXECIGNORE ZDOTDIR FPATH INPUTRC " +
		"LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME " +
		"GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR EDITOR VISUAL PAGER LESSOPEN SSH_ASKPASS " +
		"NODE_OPTIONS PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS DENO_DIR MAKEFLAGS CARGO_BUILD_RUSTC_WRAPPER KUBECONFIG npm_config_node_options") {
		if _, text, _ := call(t, s, "run", args{"code": "initcmds\n:", "env": args{name: "x"}}); !strings.Contains(text, "changes how") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if res, text, _ := call(t, s, "run", args{"code": "initcmds\necho $CI$NODE_ENV$LANG", "env": args{"CI": "1", "NODE_ENV": "2", "LANG": "C"}}); res.IsError || !strings.Contains(text, "12C") {
		t.Error(text)
	}
	if _, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("unknown tool: %v", err)
	}
}

func TestRawLines(t *testing.T) {
	w := newWorld(t)
	r := w.raw(false)
	for _, c := range []struct{ line, want string }{
		{`hello`, `"code":-32700`},
		{`{"a":`, `"code":-32700`},
		{`{"a":1}`, `"code":-32600`},
		{`[]`, `"code":-32600`},
		{`7`, `"code":-32600`},
		{"\xff\xfe", `"code":-32700`},
		{strings.Repeat("x", 100<<10), `"code":-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `initialization`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"protocolVersion"`},
		{`{"jsonrpc":"2.0","id":3,"method":"no/such"}`, `"code":-32601`},
		{`[{"jsonrpc":"2.0","id":4,"method":"ping"}]`, `"id":4`},
	} {
		r.send(c.line)
		if got := r.line(); !strings.Contains(got, c.want) {
			t.Errorf("%.60q: %.200s; want %s", c.line, got, c.want)
		}
	}
	go func() { // more than a message may have
		chunk := strings.Repeat("y", 1<<20)
		for range maxMessage>>20 + 1 {
			_, _ = r.in.Write([]byte(chunk))
		}
		_, _ = r.in.Write([]byte("\n{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\n"))
	}()
	contains(t, r.line(), "-32600", "more than")
	contains(t, r.line(), `"id":5`)
}

func TestFiveServers(t *testing.T) {
	w := newWorld(t)
	w.allow("curl")
	var wg sync.WaitGroup
	for i := range 5 {
		s := w.connect()
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range 3 {
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
				defer cancel()
				res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "run", Arguments: args{"code": fmt.Sprintf("initcmds curl\ncurl %d-%d", i, j)}})
				if err != nil || structured(res).Stdout != fmt.Sprintf("fake curl %d-%d\n", i, j) {
					t.Errorf("%d-%d: %v %s", i, j, err, textOf(res))
				}
			}
			// Ids are never given twice.
		}()
	}
	wg.Wait()
	left, _ := filepath.Glob(w.home + "/.safeshell/mcp/*/*")
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func BenchmarkPermitCheck(b *testing.B) {
	s := newWorld(b).connect()
	ctx := context.Background()
	for b.Loop() {
		res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "permit_check", Arguments: args{"commands": []string{"cat", "grep", "wc"}}})
		if err != nil || res.IsError {
			b.Fatal(err)
		}
	}
}

// Where a human watches, he is asked there, out of the agent's reach.
func TestMonitor(t *testing.T) {
	w := newWorld(t)
	sp, err := spool.Open(w.home + "/.safeshell/spool")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sp.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	answers := make(chan spool.Choice, 9)
	shown := make(chan string, 9)
	go func() {
		done := map[string]bool{}
		for range m.Changes() {
			list, _ := sp.Pending()
			for _, p := range list {
				if !p.Late && !done[p.ID] {
					done[p.ID] = true
					shown <- p.Reason
					_, _ = sp.Answer(p.ID, <-answers, "my reason", spool.ByMonitor)
				}
			}
		}
	}()
	s := w.connect()
	script := args{"code": "initcmds curl\ncurl >ran"}
	answers <- spool.Refuse
	res, text, _ := call(t, s, "run", script)
	if !res.IsError || exists(w.proj+"/ran") {
		t.Fatal(text)
	}
	contains(t, text, "USER DENIED", "my reason")
	contains(t, <-shown, "curl")
	// The agent cannot choose for the human.
	id, err := permit.OpenRetries(pathsOf(t, w)).Put(permit.Retry{
		Kind: permit.Shell, Commands: []string{"curl"}, Script: []byte("initcmds curl\ncurl >ran"), Dir: w.proj, Environ: w.env, Context: "ai",
	})
	if err != nil {
		t.Fatal(err)
	}
	answers <- spool.Refuse
	res, text, _ = call(t, s, "run", args{"retry_id": id, "userChoice": 3})
	if !res.IsError || exists(w.proj+"/ran") {
		t.Fatal(text)
	}
	contains(t, <-shown, "the agent says that you chose 3, always")
	// Nor by way of commands alone.
	res, _, _ = call(t, s, "permit_check", args{"commands": []string{"curl"}})
	answers <- spool.Refuse
	if res, text, _ = call(t, s, "run", args{"retry_id": retryID(t, res), "userChoice": 3}); !res.IsError {
		t.Fatal(text)
	}
	<-shown
	// What is not found is not asked about.
	res, _, _ = call(t, s, "run", args{"code": "initcmds curl ./nope.sh\ncurl"})
	id = retryID(t, res)
	if res, _, _ = call(t, s, "run", args{"retry_id": id, "userChoice": 1}); retryID(t, res) != id {
		t.Fatal(textOf(res))
	}
	answers <- spool.Session
	if res, text, _ = call(t, s, "run", script); res.IsError || !exists(w.proj+"/ran") {
		t.Fatal(text)
	}
	if res, text, _ = call(t, s, "run", script); res.IsError || len(shown) != 1 {
		t.Fatal("asked again: " + text)
	}
}

func pathsOf(t *testing.T, w *world) config.Paths {
	t.Helper()
	p, err := config.Locate(func(n string) string { return map[string]string{"HOME": w.home}[n] })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTypeScript(t *testing.T) {
	deno := denotest.Path(t)
	w := newWorld(t)
	if err := os.Symlink(deno, w.bin+"/deno"); err != nil {
		t.Fatal(err)
	}
	s := w.connect()
	script := args{"language": "typescript", "code": `const [curl, cargo, build] = await initCmds(["curl", "cargo", "./scripts/build.sh"]);
console.log((await curl("-s", "https://example.org")).stdout + await cargo("test").text() + " " + await build("x").text());
console.log(Deno.cwd(), Deno.args, Deno.env.get("A"));`, "args": []string{"one"}, "env": args{"A": "b c"}}
	res, text, _ := call(t, s, "run", script)
	contains(t, text, "3 command(s) not allowed")
	_, text, r := call(t, s, "run", args{"retry_id": retryID(t, res), "userChoice": 2})
	if want := "fake curl -s https://example.org\nfake cargo test built x\n" + w.proj + " [ \"one\" ] b c\n"; r.Stdout != want {
		t.Fatalf("%s\nwant %q", text, want)
	}
	// What Deno starts ends with it.
	_, text, r = call(t, s, "run", args{"language": "ts", "timeout": 6, "code": `const [build] = await initCmds(["./scripts/build.sh"]); Deno.writeTextFileSync("started", "x");
for (;;) await build();`})
	if r.Ended != endedByLimit || !exists(w.proj+"/started") {
		t.Fatal(text)
	}
}
