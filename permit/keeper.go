package permit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"safeshell/config"
	"safeshell/gate"
	"safeshell/shims"
)

// keeper stands beside a script, outside of its confinement: it judges what the
// script's commands ask, permits what it declares later, ends it at its time
// limit and removes its directory. It has no input and no output of its own,
// and the script does not depend on it for anything else.
type keeper struct {
	run string
	m   Manifest
	mu  sync.Mutex // what follows, and the links
	set map[string]bool
	// said are warnings that the user has seen in this run: initcmds says those
	// of its start no second time.
	said map[string]bool
}

// Descriptors that Start hands to the keeper.
const (
	keeperSocket = 3
	keeperLock   = 4
	keeperErrors = 5 // the run's standard error if that is a file, else the null device
)

// Keep is the keeper's life: `safeshell run --keeper R`, started by Start alone.
// It returns when the script and all that it left running are gone.
func Keep(run string) error {
	// What ends the script must not end its keeper first.
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE)
	closeInherited()
	m, err := loadManifest(run)
	if err != nil {
		return err
	}
	l, err := listenOn(keeperSocket)
	if err != nil {
		return fmt.Errorf("--keeper is for safeshell's own use: %w", err)
	}
	k := &keeper{run: run, m: m, set: map[string]bool{}, said: map[string]bool{}}
	for _, w := range m.Said {
		k.said[string(w)] = true
	}
	for _, c := range m.Once {
		k.set[string(c)] = true
	}
	go k.serve(l)
	k.watch()
	k.putBack()
	l.close()
	removeRun(run)
	return nil
}

// putBack undoes what the run has changed of what git runs, and says so.
func (k *keeper) putBack() {
	changed := putBack(k.m.Kept, held(k.run))
	before := toStrings(k.m.Repositories)
	for _, g := range gitDirsBelow(string(k.m.Root)) {
		if fi, err := os.Lstat(g); err == nil && fi.IsDir() && !slices.Contains(before, g) {
			changed = append(changed, defuse(g)...) // git init: what runs nothing stays
		}
	}
	if len(changed) > 0 {
		k.say(fmt.Sprintf("[SafeShell] SET ASIDE\nReason: the script changed what git, agents or safeshell would run or obey outside of its confinement: %s. It is as it was before; what the script wrote has names that end in %s.\nRule: %s\n", Show(strings.Join(changed, ", ")), aside, Rule))
	}
}

// closeInherited closes what the caller had open: nobody shall wait for the
// keeper to let go of a pipe.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= keeperErrors {
			continue
		}
		// Not what the runtime itself has opened (epoll, eventfd), nor the list
		// just read, which is closed already.
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && !strings.HasPrefix(to, "anon_inode:") {
			_ = unix.Close(fd)
		}
	}
}

// watch returns when the script's shell and all that belongs to the run are
// gone.
func (k *keeper) watch() {
	var limit <-chan time.Time
	if k.m.LimitNS > 0 {
		t := time.NewTimer(time.Duration(k.m.LimitNS))
		defer t.Stop()
		limit = t.C
	}
	gone := make(chan struct{})
	go func() {
		waitGone(k.m.PID, k.m.Start)
		close(gone)
	}()
	ended, pause := false, 100*time.Millisecond
	for {
		var tick <-chan time.Time
		if ended {
			// What the script left running may still call its commands.
			tick = time.After(pause)
			pause = min(2*pause, 2*time.Second)
		}
		select {
		case <-gone:
			ended, gone = true, nil
			k.putBack() // at once, and again when what it left running has ended
		case <-tick:
		case <-limit:
			limit = nil
			k.end()
		}
		if ended && len(belonging(k.m.ID, 0, k.m.Start, os.Getpid())) == 0 {
			return
		}
	}
}

// waitGone returns when the process is gone.
//
// A process that execs from another thread than its first looks dead for a
// moment, so an end is looked at twice.
func waitGone(pid int, start uint64) {
	for {
		if !waitPidfd(pid, start) {
			for startOf(pid) == start && start != 0 {
				time.Sleep(500 * time.Millisecond)
			}
		}
		time.Sleep(100 * time.Millisecond)
		if start == 0 || startOf(pid) != start {
			return
		}
	}
}

// end stops the run at its time limit: it says so where the script's messages
// go, asks every process to end, and kills what is left two seconds later.
func (k *keeper) end() {
	k.say(fmt.Sprintf("[SafeShell] TIME LIMIT\nReason: the script ran longer than %s and was ended.\nRule: %s\n", time.Duration(k.m.LimitNS), Rule))
	send := func(sig syscall.Signal) (left bool) {
		// The script first: looking for the others takes time on a busy system.
		if startOf(k.m.PID) == k.m.Start {
			_ = syscall.Kill(k.m.PID, sig)
			_ = syscall.Kill(k.m.PID, syscall.SIGCONT)
		}
		list := belonging(k.m.ID, k.m.PID, k.m.Start, os.Getpid())
		for _, pid := range list {
			if pid != k.m.PID {
				_ = syscall.Kill(pid, sig)
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		}
		return len(list) > 0
	}
	// Asked once, killed two seconds later, and again what was started meanwhile.
	if !send(syscall.SIGTERM) {
		return
	}
	for patience := time.Now().Add(2 * time.Second); time.Now().Before(patience); time.Sleep(100 * time.Millisecond) {
		if len(belonging(k.m.ID, k.m.PID, k.m.Start, os.Getpid())) == 0 {
			return
		}
	}
	for range 50 {
		if !send(syscall.SIGKILL) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// say writes to the script's standard error, if that can be had without waiting.
// A file is written through the descriptor of the run itself: opened anew it would
// have a place of its own in it, and who writes next would write over this.
func (k *keeper) say(text string) {
	var st unix.Stat_t
	if unix.Fstat(keeperErrors, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
		_, _ = unix.Write(keeperErrors, []byte(text))
		return
	}
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", k.m.PID), os.O_WRONLY|os.O_APPEND|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	_ = f.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(f, text)
}

func (k *keeper) serve(l *listener) {
	for {
		c, err := l.accept()
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(50 * time.Millisecond) // out of descriptors, for now
			continue
		}
		go k.answer(c)
	}
}

// answer handles one question. The asker's end of the connection is its proof of
// life: when it goes, what is waited for is taken back.
func (k *keeper) answer(c *os.File) {
	defer func() { _ = c.Close() }()
	out := &replies{enc: json.NewEncoder(c)}
	defer func() {
		if r := recover(); r != nil { // one question must not end the others
			out.send(shims.KeeperReply{Done: true, Kind: gate.Stop, Code: shims.CodeStopped, Text: fmt.Appendf(nil, "safeshell: judging failed: %v\n", r)})
		}
	}()
	dec := json.NewDecoder(io.LimitReader(c, maxRetry))
	var q shims.KeeperRequest
	if err := dec.Decode(&q); err != nil {
		out.send(shims.KeeperReply{Done: true, Kind: gate.Stop, Code: shims.CodeStopped, Text: fmt.Appendf(nil, "safeshell: the question to the run's keeper cannot be read: %v\n", err)})
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		var b [1]byte
		_, _ = c.Read(b[:]) // nothing more is said; this returns when the asker is gone
		cancel()
	}()
	switch {
	case q.IsDecl:
		code := k.declare(ctx, q, out)
		out.send(shims.KeeperReply{Done: true, Code: code})
	case q.Trashed != nil:
		k.gate(q, io.Discard).JournalTrash(q.Trashed.Group, q.Trashed.Moved)
		out.send(shims.KeeperReply{Done: true})
	default:
		out.send(k.judge(ctx, q, out))
	}
}

// replies writes lines of an answer, whole.
type replies struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func (r *replies) send(x shims.KeeperReply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.enc.Encode(x) // an asker that is gone needs no answer
}

// Write shows text at once.
func (r *replies) Write(b []byte) (int, error) {
	r.send(shims.KeeperReply{Stderr: b})
	return len(b), nil
}

// defaultPath is searched when the caller had no PATH, as execvp does.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

func (k *keeper) gate(q shims.KeeperRequest, stderr io.Writer) *gate.Gate {
	// Conditions of rules look their programs up as they would outside: the
	// run's PATH holds only what the script declared.
	env := []string{"PATH=" + defaultPath}
	for _, kv := range k.m.Environ {
		if strings.HasPrefix(string(kv), "PATH=") {
			env[0] = string(kv)
		}
	}
	for _, kv := range q.Env {
		name, _, _ := strings.Cut(string(kv), "=")
		if name != "PATH" && name != "BASH_ENV" && name != "ZDOTDIR" {
			env = append(env, string(kv))
		}
	}
	return gate.New(gate.Env{Environ: env, Paths: k.m.Paths, Binary: k.m.Binary, Stderr: stderr, Now: time.Now, PID: q.PID})
}

// judge answers for the shims of the run.
func (k *keeper) judge(ctx context.Context, q shims.KeeperRequest, out *replies) shims.KeeperReply {
	v := k.gate(q, out).Judge(ctx, gate.Request{
		Layer: gate.Shim, Argv: shims.Strings(q.Argv), Dir: string(q.Dir), Exe: string(q.Exe),
		Agent: k.m.Caller.Agent, Session: k.m.Caller.Session, Context: k.m.Caller.Context,
	})
	r := shims.KeeperReply{
		Done: true, Kind: v.Kind, Rule: v.Rule, Source: v.Source, Text: []byte(v.Text),
		Argv: shims.Bytes(v.Argv), Trash: v.Trash, Warnings: v.Warnings,
	}
	if v.Kind == gate.AskAgent {
		r.Kind = gate.Stop
	}
	return r
}

// declare permits further commands for a running script, asking where they are
// not permitted yet. It returns the exit code of initcmds.
func (k *keeper) declare(ctx context.Context, q shims.KeeperRequest, out *replies) int {
	commands := shims.Strings(q.Declare)
	cfg, err := config.Load(k.m.Paths.Config)
	if err != nil {
		k.warn(out, k.m.Paths.Unreadable(err))
	}
	env := Env{Paths: k.m.Paths, Config: cfg.Permissions, Environ: toStrings(k.m.Environ), Dir: string(q.Dir), Session: k.m.Caller.Session}
	set, err := Load(env)
	if err != nil {
		fmt.Fprintf(out, "safeshell: %s: %v\n", InitCommand, err)
		return shims.CodeStopped
	}
	for _, w := range set.Warnings {
		k.warn(out, w)
	}
	k.mu.Lock()
	set.Permit(sortedKeys(k.set)...)
	k.mu.Unlock()
	r := set.Check(commands)
	if code := k.unreachable(r, out); code != 0 {
		return code
	}
	q2 := Question{Paths: k.m.Paths, Approval: cfg.Approval, Caller: k.m.Caller, Dir: env.Dir, File: string(k.m.File), Stderr: out, PID: q.PID}
	o := Settle(ctx, set, r, q2, k.retry(commands), AskHuman)
	for _, w := range o.Warnings {
		fmt.Fprintf(out, "safeshell: %s\n", w)
	}
	if !o.OK {
		fmt.Fprint(out, o.Text)
		return o.Code
	}
	r = o.Result
	k.mu.Lock()
	defer k.mu.Unlock()
	d := &runDir{path: k.run}
	for name, exe := range linkNames(r) {
		if _, err := os.Lstat(filepath.Join(k.run, "bin", name)); err == nil {
			if old, _ := os.Readlink(filepath.Join(k.run, "real", name)); old != exe {
				fmt.Fprintf(out, "safeshell: %s: %s is declared already, as %s; call the other one by its path\n", InitCommand, Show(name), Show(old))
			}
			continue
		}
		if err := d.link(name, exe, k.m.Binary); err != nil {
			fmt.Fprintf(out, "safeshell: %s: %s cannot be put into the script's PATH: %v\n", InitCommand, Show(name), err)
			return shims.CodeStopped
		}
	}
	for _, x := range r {
		if x.Scope == Once {
			k.set[x.Key] = true
		}
	}
	return 0
}

// warn prints a warning, once in a run.
func (k *keeper) warn(out io.Writer, w string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.said[w] {
		k.said[w] = true
		fmt.Fprintf(out, "safeshell: %s\n", w)
	}
}

// unreachable refuses what the kernel would not let run anyway, before anybody
// is asked.
func (k *keeper) unreachable(r Result, out io.Writer) int {
	if !k.m.Confined || len(k.m.Exec) == 0 {
		return 0
	}
	exec := toStrings(k.m.Exec)
	for _, d := range r {
		if d.Path == "" || d.Status == NotFound {
			continue
		}
		if real, err := filepath.EvalSymlinks(d.Path); err == nil && !slices.Contains(exec, real) {
			fmt.Fprintf(out, "safeshell: %s: what this script may execute was fixed when it started, and %s is not in it; declare it by name in the script itself, in %s: %s %s\n",
				InitCommand, Show(d.Command), Show(string(k.m.File)), InitCommand, Show(d.Command))
			return shims.CodeStopped
		}
	}
	return 0
}

// retry is the whole script again, with what it wanted to declare now.
func (k *keeper) retry(commands []string) Retry {
	all := toStrings(k.m.First)
	for _, c := range commands {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return Retry{
		Kind: Shell, Commands: all, Script: k.m.Script, File: string(k.m.File), Args: toStrings(k.m.Args), Dir: string(k.m.Dir),
		Environ: toStrings(k.m.Environ), Limit: time.Duration(k.m.LimitNS), Session: k.m.Caller.Session, Agent: k.m.Caller.Agent,
		Context: string(k.m.Caller.Context),
	}
}

// blockedCode is the exit code for what may not run: 127 when all that is wrong
// is that commands were not found.
func blockedCode(r Result) int {
	if len(r.Permittable()) == 0 {
		return shims.CodeNotFound
	}
	return shims.CodeStopped
}
