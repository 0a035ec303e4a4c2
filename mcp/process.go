package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"safeshell/mcp/supervise"
)

// How long to wait for what should come at once.
const (
	drainWait = 300 * time.Millisecond          // output behind the end of a script
	endWait   = supervise.Grace + 4*time.Second // a supervisor that was told to end its tree
)

// Why a process was ended by the server.
const (
	endedByLimit  = "time limit"
	endedByClient = "cancelled"
	endedByKill   = "killed"
	endedByClose  = "server ended"
)

// process is a script that runs below its supervisor.
type process struct {
	stdout, stderr output
	started        time.Time

	cmd     *exec.Cmd
	orders  *os.File
	orderMu sync.Mutex
	readers []*os.File
	drained chan struct{} // closed when both streams have ended
	done    chan struct{} // closed when all below is final

	endOnce sync.Once
	ended   string // why the server ended it; final once done is closed
	// Final once done is closed.
	exit  supervise.Report
	took  time.Duration
	notes []string
}

// start runs argv in dir below a supervisor. Standard input is empty.
func start(self string, argv, env []string, dir string) (*process, error) {
	p := &process{started: time.Now(), drained: make(chan struct{}), done: make(chan struct{})}
	var theirs []*os.File
	closeAll := func(fs []*os.File) {
		for _, f := range fs {
			f.Close()
		}
	}
	pipe := func(read bool) (mine *os.File, err error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if read {
			theirs = append(theirs, w)
			return r, nil
		}
		theirs = append(theirs, r)
		return w, nil
	}
	var mine []*os.File
	for _, read := range []bool{true, true, false, true} { // stdout, stderr, orders, report
		f, err := pipe(read)
		if err != nil {
			closeAll(mine)
			closeAll(theirs)
			return nil, fmt.Errorf("no script can be started: %w", err)
		}
		mine = append(mine, f)
	}
	p.orders = mine[2]
	// The file, not this very program: that may be the large one, run from memory.
	p.cmd = exec.Command(self, append([]string{"mcp", "--supervise", "--"}, argv...)...)
	p.cmd.Args[0] = "safeshell"
	p.cmd.Env, p.cmd.Dir = env, dir
	p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1]
	p.cmd.ExtraFiles = []*os.File{theirs[2], theirs[3]}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err := p.cmd.Start()
	closeAll(theirs)
	if err != nil {
		closeAll(mine)
		return nil, fmt.Errorf("no script can be started: %w", err)
	}
	p.readers = mine[:2]
	var streams sync.WaitGroup
	for i, o := range []*output{&p.stdout, &p.stderr} {
		streams.Add(1)
		go func() {
			defer streams.Done()
			_, _ = io.Copy(o, onlyReader{mine[i]})
			mine[i].Close()
			o.close()
		}()
	}
	go func() { streams.Wait(); close(p.drained) }()
	go p.watch(mine[3])
	return p, nil
}

// onlyReader hides a file's other methods, which would read in larger pieces
// than output likes.
type onlyReader struct{ io.Reader }

// watch sees the script to its end.
func (p *process) watch(reports *os.File) {
	defer close(p.done)
	defer p.orders.Close()
	defer reports.Close()
	err := json.NewDecoder(io.LimitReader(reports, 1<<20)).Decode(&p.exit)
	if err != nil {
		p.exit = supervise.Report{Code: 137, Error: "the script's supervisor died"}
	}
	p.took = time.Since(p.started)
	if !p.wait(p.drained, drainWait) {
		p.order(supervise.OrderHolders)
		if p.wait(p.drained, endWait) {
			p.notes = append(p.notes, "processes that the script left behind still had its output open and were ended; to keep a server running, start it with background: true")
		} else {
			p.notes = append(p.notes, "a process that cannot be ended still has the script's output open; what it writes from now on is lost")
			for _, r := range p.readers {
				_ = r.SetReadDeadline(time.Now())
			}
			<-p.drained
		}
	}
	p.endOnce.Do(func() { p.order(supervise.OrderLeave) })
	gone := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(gone) }()
	if !p.wait(gone, endWait) {
		_ = p.cmd.Process.Kill()
		<-gone
	}
}

func (p *process) wait(c <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

func (p *process) order(o byte) {
	p.orderMu.Lock()
	defer p.orderMu.Unlock()
	_, _ = p.orders.Write([]byte{o})
}

// end ends the script and all that it started. It returns at once; done is
// closed when that has happened.
func (p *process) end(why string) {
	p.endOnce.Do(func() {
		p.ended = why
		p.order(supervise.OrderEnd)
		// A supervisor that does not obey is ended itself: its pipe breaks.
		go func() {
			if !p.wait(p.done, 2*endWait) {
				_ = p.cmd.Process.Kill()
			}
		}()
	})
}

// running reports whether the script has not ended yet.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// errEnded is why a tool call has no result.
var errEnded = errors.New("the server ends")
