package gate

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/eval"
)

// A marker is an environment variable by which an agent's commands can be
// told. Markers tighten and attribute; they never relax, because anyone can
// set them (reference: agents' hooks and shells, "Who is calling").
type marker struct {
	agent   string
	name    string
	value   string // exact value wanted; empty: any value but ""
	session string // variable that holds the session's id
	// and with andValue must hold too where name alone proves nothing.
	and, andValue string
}

// markers, the most telling first.
var markers = []marker{
	{agent: "claude-code", name: "CLAUDECODE", session: "CLAUDE_CODE_SESSION_ID"},
	{agent: "claude-code", name: "CLAUDE_CODE_CHILD_SESSION", session: "CLAUDE_CODE_SESSION_ID"},
	{agent: "codex", name: "CODEX_CI", session: "CODEX_SESSION_ID"},
	{agent: "codex", name: "CODEX_THREAD_ID", session: "CODEX_SESSION_ID"},
	{agent: "codex", name: "CODEX_SANDBOX", session: "CODEX_SESSION_ID"},
	{agent: "codex", name: "CODEX_SESSION_ID", session: "CODEX_SESSION_ID"},
	{agent: "copilot", name: "COPILOT_CLI", session: "COPILOT_AGENT_SESSION_ID"},
	{agent: "copilot", name: "COPILOT_AGENT_SESSION_ID", session: "COPILOT_AGENT_SESSION_ID"},
	{agent: "cursor", name: "CURSOR_AGENT", session: "CURSOR_TRACE_ID"},
	{agent: "qwen", name: "QWEN_CODE", session: "QWEN_CODE_SESSION_ID"},
	{agent: "gemini", name: "GEMINI_CLI"},
	{agent: "opencode", name: "OPENCODE"},
	{agent: "opencode", name: "OPENCODE_PID"},
	{agent: "crush", name: "CRUSH"},
	{agent: "cline-vscode", name: "CLINE_ACTIVE"},
	{agent: "cline", name: "CLINE_CONNECTOR_CLI_LAUNCH"},
	{agent: "amp", name: "AMP_CURRENT_THREAD_ID", session: "AMP_CURRENT_THREAD_ID"},
	{agent: "pi", name: "PI_CODING_AGENT"},
	{agent: "goose", name: "GOOSE_TERMINAL"},
	{agent: "antigravity", name: "ANTIGRAVITY_AGENT"},
	{agent: "augment", name: "AUGMENT_AGENT"},
	{agent: "warp", name: "WARP_AI_AGENT"},
	{agent: "replit", name: "REPL_ID"},
	{agent: "windsurf", name: "CODEIUM_EDITOR_APP_ROOT"},
	{agent: "vscode", name: "GIT_PAGER", value: "cat", and: "TERM_PROGRAM", andValue: "vscode"},
	{agent: "zed", name: "PAGER", value: "cat", and: "TERM_PROGRAM", andValue: "zed"},
	{name: "AI_AGENT"},
	{name: "AGENT"},
}

// holds reports whether the marker is in an environment.
func (m marker) holds(getenv func(string) string) bool {
	v := getenv(m.name)
	return v != "" && (m.value == "" || v == m.value) && (m.and == "" || getenv(m.and) == m.andValue)
}

// AgentOf returns the agent that an environment's markers name, "" for none,
// and its session if the environment tells it.
func AgentOf(getenv func(string) string) (agent, session string) {
	f := newCallerFinder(getenv)
	f.proc = "" // the environment alone
	return f.Agent(), f.session
}

// agentPrograms are process names by which agents without a marker are found
// among the ancestors.
var agentPrograms = map[string]string{
	"aider": "aider", "cline": "cline", "cn": "continue", "goose": "goose",
	"goosed": "goose", "amp": "amp", "claude": "claude-code", "codex": "codex",
	"gemini": "gemini", "qwen": "qwen", "opencode": "opencode", "crush": "crush",
	"copilot": "copilot", "cursor-agent": "cursor", "kiro-cli": "kiro-cli",
	"qchat": "amazon-q", "droid": "droid", "auggie": "augment", "devin": "devin",
}

// Caller is who runs a command.
type Caller struct {
	Context eval.Context
	Agent   string // empty for a person
	Session string // agent's session, else the terminal session
}

const procDir = "/proc"

// callerFinder finds the caller at most once, as late as possible: the walk
// over the ancestors is only done when something depends on it.
type callerFinder struct {
	getenv func(string) string
	proc   string // /proc; "" to go by the environment alone

	ctxOnce  sync.Once
	context  eval.Context
	agent    string
	session  string // as the environment tells it
	via      string // how it was found, where that is not this process's environment
	unseen   string // why it cannot be seen who calls: then it is no person
	idOnce   sync.Once
	fullSess string
}

func newCallerFinder(getenv func(string) string) *callerFinder {
	return &callerFinder{getenv: getenv, proc: procDir}
}

// Context returns ai or human.
func (f *callerFinder) Context() eval.Context {
	f.ctxOnce.Do(f.find)
	return f.context
}

// Agent returns the agent's name, empty for a person.
func (f *callerFinder) Agent() string {
	f.ctxOnce.Do(f.find)
	return f.agent
}

func (f *callerFinder) find() {
	f.context = eval.Human
	if f.agent, f.session = markOf(f.getenv); f.agent != "" {
		f.context = eval.AI
		return
	}
	if f.proc == "" || runtime.GOOS != "linux" {
		return
	}
	if f.proc == procDir {
		f.unseen = ownView(f.proc)
	}
	var chain []process
	if f.unseen == "" {
		// Init counts, too: it is the agent in a container made for one.
		if chain, f.unseen = climb(f.proc, os.Getppid()); f.unseen != "" {
			chain, f.unseen = lineage(f.proc, os.Getppid())
		}
	}
	for _, p := range chain {
		name := p.agent()
		if name == "" {
			if name, f.session = markOf(environOf(f.proc, p.pid)); name == "" {
				continue
			}
			f.via = fmt.Sprintf(", whose mark process %d (%s) carries", p.pid, p.comm)
		} else {
			f.session = name + ":" + strconv.Itoa(p.pid) + "-" + strconv.FormatUint(p.start, 10)
		}
		f.context, f.agent = eval.AI, name
		return
	}
	if f.unseen != "" {
		f.context, f.agent = eval.AI, "unknown"
	}
}

// markOf returns the agent that an environment's marks name, "" for none, and
// its session if the environment tells it.
func markOf(getenv func(string) string) (agent, session string) {
	for _, m := range markers {
		if !m.holds(getenv) {
			continue
		}
		if agent = m.agent; agent == "" {
			agent = agentName(getenv(m.name))
		}
		if id := getenv(sessionVar(agent)); id != "" {
			session = agent + ":" + id
		}
		return agent, session
	}
	if getenv("SAFESHELL_CONTEXT") == "ai" {
		return "agent", ""
	}
	return "", ""
}

// agentName makes a name of AI_AGENT's value: claude-code_2-1-329_agent.
func agentName(v string) string {
	v, _, _ = strings.Cut(v, "_")
	if v == "" || v == "1" || len(v) > 40 {
		return "agent"
	}
	return v
}

// Session returns what "for this session" means: the agent's own session where
// it tells one, else the outermost process that carries the agent's marker (or
// its parent, which is the agent), else the terminal session.
func (f *callerFinder) Session() string {
	f.idOnce.Do(func() {
		f.ctxOnce.Do(f.find)
		if f.session != "" {
			f.fullSess = f.session
			return
		}
		if s := f.getenv("SAFESHELL_SESSION"); s != "" && f.context == eval.AI {
			f.fullSess = f.agent + ":" + s
			return
		}
		if f.context == eval.AI {
			if s := f.markedAncestor(); s != "" {
				f.fullSess = s
				return
			}
		}
		sid, err := unix.Getsid(0)
		if err != nil || sid <= 0 {
			sid = os.Getpid()
		}
		start := uint64(0)
		if p, err := readProc(f.proc, sid); err == nil {
			start = p.start
		}
		f.fullSess = "sid:" + strconv.Itoa(sid) + "-" + strconv.FormatUint(start, 10)
	})
	return f.fullSess
}

// markedAncestor names the process above the outermost ancestor whose
// environment holds a marker.
func (f *callerFinder) markedAncestor() string {
	chain, _ := lineage(f.proc, os.Getpid())
	for i := len(chain) - 2; i >= 0; i-- {
		if p := chain[i+1]; p.pid > 1 && marked(f.proc, chain[i].pid) {
			return f.agent + ":" + strconv.Itoa(p.pid) + "-" + strconv.FormatUint(p.start, 10)
		}
	}
	return ""
}

// environOf looks variables up in the environment that a process was started
// with.
func environOf(proc string, pid int) func(string) string {
	environ, _ := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/environ")
	return lookupIn(environ)
}

// lookupIn looks variables up in an environment as the kernel shows it.
func lookupIn(environ []byte) func(string) string {
	return func(name string) string {
		for rest := environ; len(rest) > 0; {
			var kv []byte
			kv, rest, _ = bytes.Cut(rest, []byte{0})
			if len(kv) > len(name) && kv[len(name)] == '=' && string(kv[:len(name)]) == name {
				return string(kv[len(name)+1:])
			}
		}
		return ""
	}
}

// process is what /proc tells of one process.
type process struct {
	pid, ppid, pgrp, sid, tty int
	start                     uint64 // clock ticks after boot
	comm                      string
	argv                      []string // the first words; what follows the third is not split
}

// readProc reads one process. Errors are those of the files.
func readProc(proc string, pid int) (process, error) {
	p := process{pid: pid}
	dir := proc + "/" + strconv.Itoa(pid)
	b, err := readSmall(dir + "/stat")
	if err != nil {
		return p, err
	}
	// The name is in parentheses and may hold any character, so cut at the last.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return p, os.ErrInvalid
	}
	p.comm = string(b[open+1 : end])
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) < 20 {
		return p, os.ErrInvalid
	}
	p.ppid, _ = strconv.Atoi(fields[1])
	p.pgrp, _ = strconv.Atoi(fields[2])
	p.sid, _ = strconv.Atoi(fields[3])
	p.tty, _ = strconv.Atoi(fields[4])
	p.start, _ = strconv.ParseUint(fields[19], 10, 64)
	if c, err := readSmall(dir + "/cmdline"); err == nil {
		p.argv = strings.SplitN(strings.TrimRight(string(c), "\x00"), "\x00", 4)
	}
	return p, nil
}

// readSmall returns the first 4 KiB of a file of /proc, with the three system
// calls that it takes: the walk over the ancestors reads two for each.
func readSmall(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}

// agent returns the agent that this process is, by its name or, for programs
// of an interpreter, by its script's name.
func (p process) agent() string {
	for i, a := range p.argv {
		if i > 2 {
			break
		}
		if i > 0 && (strings.HasPrefix(a, "-") || !isInterpreter(p.argv[0])) {
			continue
		}
		base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(a), ".js"), ".py")
		if name := agentPrograms[base]; name != "" {
			return name
		}
	}
	return agentPrograms[p.comm]
}

func isInterpreter(argv0 string) bool {
	b := filepath.Base(argv0)
	for _, p := range []string{"node", "python", "bun", "deno"} {
		if strings.HasPrefix(b, p) {
			return true
		}
	}
	return false
}

// patience is how long an agent's own command may wait for a human before the
// agent gives up on it: below Claude Code's 120 s, the shortest default of the
// agents measured.
const patience = 100 * time.Second

// cheap returns what is known without reading /proc: the markers, and what an
// earlier question has found.
func (f *callerFinder) cheap() (ctx, agent, session string) {
	if f.fullSess != "" || f.agent != "" {
		return string(f.context), f.agent, f.fullSess
	}
	for _, m := range markers {
		if m.holds(f.getenv) {
			f.ctxOnce.Do(f.find)
			return string(f.context), f.agent, f.session
		}
	}
	if f.context != "" {
		return string(f.context), f.agent, f.session
	}
	if f.getenv("SAFESHELL_CONTEXT") == "ai" {
		return string(eval.AI), "agent", ""
	}
	return string(eval.Human), "", ""
}

// carriesSession reports whether the agent's commands have a variable with the
// id of its session.
func carriesSession(agent string) bool { return sessionVar(agent) != "" }

// sessionVar is that variable; "" when there is none.
func sessionVar(agent string) string {
	for _, m := range markers {
		if m.agent == agent && m.session != "" {
			return m.session
		}
	}
	return ""
}
