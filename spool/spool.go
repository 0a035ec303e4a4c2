// Package spool is how a guarded command asks and a human answers, without a
// daemon: requests, decisions, remembered grants, the monitor's liveness and
// the journal. Files, flock, rename and link only.
//
// Its promises: a command runs only after a complete, matching allow; each
// request gets at most one decision, which never changes; no wait is without
// end; every doubt is a denial.
package spool

import (
	"context"
	"errors"
	"time"
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

// Request is what is asked. The command in it is for display only and has its
// secrets masked; ArgvSHA binds the answer to the real one.
type Request struct {
	V          int       `json:"v"`
	ID         string    `json:"id"`
	Nonce      string    `json:"nonce"`
	UID        int       `json:"uid"`
	Session    string    `json:"session"`         // agent's session or terminal session
	Agent      string    `json:"agent,omitempty"` // claude-code, codex, ...; empty for a person
	Context    string    `json:"context"`         // ai, human
	Layer      string    `json:"layer"`           // shim, wrapper, exec, hook, mcp, permit
	PID        int       `json:"pid"`
	StartTicks uint64    `json:"start_ticks"`
	BootID     string    `json:"boot_id"`
	TTY        string    `json:"tty,omitempty"`
	Dir        string    `json:"dir"`
	Exe        string    `json:"exe,omitempty"` // resolved executable; empty for a whole line
	Argv       []string  `json:"argv,omitempty"`
	Line       string    `json:"line,omitempty"` // the text, when a line is judged (Argv is empty then)
	ArgvSHA    string    `json:"argv_sha256"`
	Rule       string    `json:"rule"`
	Reason     string    `json:"reason"`
	Suggest    string    `json:"suggest,omitempty"`
	Loss       string    `json:"loss,omitempty"` // what would be lost, where known
	Created    time.Time `json:"created_wall"`
	NotAfter   time.Time `json:"not_after_wall"` // display only
	TimeoutS   float64   `json:"timeout_s"`
	End        bool      `json:"end"`
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
	End       bool      `json:"end"`
}

// Errors of Answer; callers tell them apart.
var (
	ErrDecided = errors.New("already decided")
	ErrGone    = errors.New("the request is gone")
)

// Pending is a request that waits, or one that gave up less than ten minutes
// ago and may still be answered for its next try (Late).
type Pending struct {
	Request
	Late     bool
	Decision *Decision // set for late and history entries
}

// AskOptions bound a wait.
type AskOptions struct {
	Timeout time.Duration // own deadline, by CLOCK_BOOTTIME
	// NoMonitorGrace: how long a vanished monitor is hoped for while waiting
	// (default 5 s).
	NoMonitorGrace time.Duration
	// WaitForMonitor: how long to hope for a first monitor before NoMonitor.
	WaitForMonitor time.Duration
	// Waiting is called once, when the request is published and waits.
	Waiting func(Request)
}

// API sketch, to be implemented in this package:
//
//	func Open(dir string) (*Spool, error)              creates 0700 and checks owner, mode, symlink, VERSION
//	func (s *Spool) Dir() string
//	func (s *Spool) MonitorAlive() bool
//	func (s *Spool) Ask(ctx context.Context, r Request, o AskOptions) (Decision, error)
//	func (s *Spool) Pending() ([]Pending, error)       oldest first; live ones, then late ones
//	func (s *Spool) Answer(id string, c Choice, reason, by string) (Decision, error)
//	func (s *Spool) Watch(ctx context.Context) (*Monitor, error)   holds LOCK_SH for life
//	func (m *Monitor) Changes() <-chan struct{}        a hint: rescan with Pending (also each second)
//	func (m *Monitor) Warnings() <-chan string
//	func (m *Monitor) Close() error
//	func (s *Spool) GC(now time.Time) error
//	func (s *Spool) SelfTest() error                   flock works here (spool.md section 10)
//	func (s *Spool) TakeLateAnswer(key Key) (Decision, bool)       single use
//	func (s *Spool) PutPass(key Key, rule string, ttl time.Duration) error   hook/wrapper -> shim, single use
//	func (s *Spool) TakePass(key Key) (rule string, ok bool)
//	func OpenGrants(dir string) (*Grants, error)       remembered session and always answers
//	func (g *Grants) Find(rule string, key Key) (*Grant, error)
//	func (g *Grants) Add(Grant) error; List() ([]Grant, error); Revoke(id string) error
//	func OpenJournal(path string) *Journal; Append(Entry) error; Read/Follow
//	func Mask(s string) string; func MaskArgv([]string) []string
var _ = context.Background
