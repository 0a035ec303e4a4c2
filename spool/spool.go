// Package spool is how a guarded command asks and a human answers, without a
// daemon: requests, decisions, remembered grants, the monitor's liveness and
// the journal. Files, flock, rename and link only.
//
// Its promises: a command runs only after a complete, matching allow; each
// request gets at most one decision, which never changes; no wait is without
// end; every doubt is a denial.
//
// In the directory of a spool, all 0700 and 0600:
//
//	VERSION              "1"
//	monitor.lock         monitors hold it shared for life; never deleted
//	tmp/                 what is not complete yet
//	req/<id>/request     one that waits; its requester holds the lock for life
//	req/<id>/decision    made only by link, at most once, never changed
//	req/<id>/wake        a FIFO where the requester got no file watch; who decides
//	                     writes a byte, which says only: look
//	done/<id>/           retired; with late and used for a late answer
//	grant/<key>          a late answer for the next try
//	pass/<key>/<id>      what a layer asked for the layer below
//	done/<id>.grant .pass  those that were taken
//
// Nobody deletes but GC, and nothing in req/. Life is proven by locks, never by
// a pid; age by the clock since boot, never by the wall.
package spool

import (
	"errors"
	"time"
)

// Version is the layout that this package reads and writes (S/VERSION).
const Version = "1"

// Times and sizes of the protocol (docs/approval.md).
const (
	DefaultTimeout = 5 * time.Minute // of a request without one
	DefaultGrace   = 5 * time.Second // a vanished monitor is hoped for this long
	// Keep is how long a retired request stays in done/ and a late answer
	// can be given and then used.
	Keep       = 10 * time.Minute
	keepStaged = 60 * time.Second // litter in tmp/ of a killed process

	maxRecord = 64 << 10 // bytes of a request or decision
	maxReason = 4 << 10  // bytes of a human's reason, a rule's text
)

// Who decided, in Decision.By.
const (
	ByMonitor   = "monitor"
	ByCLI       = "cli"
	ByTTY       = "tty"
	ByRequester = "requester"
	ByLate      = "late-answer"
)

// Choice is a human's answer; everywhere the same numbers.
type Choice int

// The choices.
const (
	Once    Choice = 1
	Session Choice = 2
	Always  Choice = 3
	Refuse  Choice = 4
)

// String returns the choice in a word: once, session, always, deny.
func (c Choice) String() string {
	switch c {
	case Once:
		return "once"
	case Session:
		return "session"
	case Always:
		return "always"
	case Refuse:
		return "deny"
	}
	return "none"
}

// valid reports whether c is one of the four answers.
func (c Choice) valid() bool { return c >= Once && c <= Refuse }

// Request is what is asked. The command in it is for display only and has its
// secrets masked; ArgvSHA binds the answer to the real one.
//
// The asker fills Session to Rule and below; Ask fills V, ID, Nonce, UID, the
// process, the times and End, computes ArgvSHA from Argv or Line when it is
// empty, masks secrets and cuts what does not fit into 64 KiB.
type Request struct {
	V          int      `json:"v"`
	ID         string   `json:"id"`
	Nonce      string   `json:"nonce,omitempty"` // only in the record: `pending --json` is without
	UID        int      `json:"uid"`
	Session    string   `json:"session"`         // agent's session or terminal session
	Agent      string   `json:"agent,omitempty"` // claude-code, codex, ...; empty for a person
	Context    string   `json:"context"`         // ai, human
	Layer      string   `json:"layer"`           // shim, wrapper, exec, hook, mcp, permit
	PID        int      `json:"pid"`
	StartTicks uint64   `json:"start_ticks"`
	BootID     string   `json:"boot_id"`
	PIDNS      string   `json:"pidns,omitempty"` // pid namespace, as the kernel names it
	SID        int      `json:"sid,omitempty"`   // session leader's pid, in that namespace
	TTY        string   `json:"tty,omitempty"`
	Dir        string   `json:"dir"`
	Exe        string   `json:"exe,omitempty"` // resolved executable; empty for a whole line
	Argv       []string `json:"argv,omitempty"`
	Line       string   `json:"line,omitempty"` // the text, when a line is judged (Argv is empty then)
	ArgvSHA    string   `json:"argv_sha256"`
	KeySHA     string   `json:"key"`           // Key.Hash, for late answers
	Cut        int      `json:"cut,omitempty"` // bytes of Argv or Line left out of the display
	Rule       string   `json:"rule"`
	Reason     string   `json:"reason"`
	Suggest    string   `json:"suggest,omitempty"`
	Loss       string   `json:"loss,omitempty"` // what would be lost, where known
	// Parts are all rules that stop the request, each beside its part; the
	// fields above are those of the strictest. Older askers send none.
	Parts    []Part    `json:"parts,omitempty"`
	Created  time.Time `json:"created_wall"`
	NotAfter time.Time `json:"not_after_wall"` // display only
	TimeoutS float64   `json:"timeout_s"`
	// B64 names the fields that are stored in base64 because they are not
	// UTF-8 (each element for argv). Readers of this package see the bytes.
	B64 []string `json:"b64,omitempty"`
	End bool     `json:"end"`
}

// Verdict is the outcome of a request.
type Verdict string

// The verdicts. Only Allowed runs anything.
const (
	Allowed   Verdict = "allow"
	Denied    Verdict = "deny"
	TimedOut  Verdict = "timeout"
	NoMonitor Verdict = "nomonitor"
	Cancelled Verdict = "cancelled"
)

// Decision is the one answer to a request.
type Decision struct {
	V         int       `json:"v"`
	ID        string    `json:"id"`
	Nonce     string    `json:"nonce"`
	ReqSHA    string    `json:"req_sha256"`
	Verdict   Verdict   `json:"verdict"`
	Choice    Choice    `json:"choice,omitempty"`
	Reason    string    `json:"reason,omitempty"` // the human's words
	By        string    `json:"by"`               // monitor, cli, tty, requester, late-answer
	MonitorID string    `json:"monitor_id,omitempty"`
	At        time.Time `json:"at"`
	// Again: the requester gave up. A human may still answer, for the next
	// try of the same command.
	Again bool `json:"again,omitempty"`
	// Late: such an answer. It runs nothing by itself.
	Late   bool   `json:"late,omitempty"`
	Key    string `json:"key,omitempty"`     // of a late answer: Key.Hash
	BootID string `json:"boot_id,omitempty"` // of Again and Late: their age counts
	BootNS int64  `json:"boot_ns,omitempty"` // by CLOCK_BOOTTIME, not by the wall
	End    bool   `json:"end"`
}

// Errors that callers tell apart (errors.Is).
var (
	// ErrDecided: Answer came second; the decision it returns is the first.
	ErrDecided = errors.New("already decided")
	// ErrGone: nobody waits for this request any more.
	ErrGone = errors.New("the request is gone")
	// ErrUnusable: nothing could be asked, because the spool cannot be used
	// (wrong owner, full disk, no descriptors). Only this one may fail open.
	ErrUnusable = errors.New("the approval spool cannot be used")
	// ErrTampered: a decision is there but does not fit its request.
	ErrTampered = errors.New("the decision does not fit the request")
)

// Pending is a request that waits, or one that gave up less than ten minutes
// ago and may still be answered for its next try (Late).
type Pending struct {
	Request
	Late     bool      `json:"late"`
	Decision *Decision `json:"decision,omitempty"` // set for late and history entries
}

// AskOptions bound a wait.
type AskOptions struct {
	// Timeout is the own deadline, by CLOCK_BOOTTIME (default 5 min). It must
	// lie below the limit of the tool call that waits for the command.
	Timeout time.Duration
	// NoMonitorGrace: how long a vanished monitor is hoped for while waiting
	// (default 5 s).
	NoMonitorGrace time.Duration
	// WaitForMonitor: how long to hope for a first monitor before NoMonitor.
	// 0: without a monitor nothing is published.
	WaitForMonitor time.Duration
	// Waiting is called once, when the request is published and waits.
	Waiting func(Request)
}
