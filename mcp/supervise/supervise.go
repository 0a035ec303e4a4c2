// Package supervise is the process between the MCP server and one script, so that
// all that the script starts can be ended, whatever it does: the supervisor is the
// reaper of its descendants (PR_SET_CHILD_SUBREAPER), so nothing that forks,
// changes its process group or its session gets out of its tree; and it holds the
// end of a pipe that breaks when the server dies, however that dies. It is a
// package of its own, so that the lean program can be that process.
package supervise

import (
	"encoding/json"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of the supervisor beside the script's own three.
const (
	orderFD  = 3 // orders of the server; its end is the server's
	reportFD = 4 // what became of the script
)

// Orders, a byte each.
const (
	OrderEnd     = 'e' // end the whole tree: SIGTERM, and SIGKILL after the grace
	OrderHolders = 'h' // end what still holds the script's output open
	OrderLeave   = 'l' // leave what still runs alone, and exit
)

// Grace is how long SIGTERM may take before SIGKILL follows.
const Grace = 2 * time.Second

// Report is what the supervisor says of the script, one line of JSON.
type Report struct {
	Code   int    `json:"code"`             // exit code; 128+n for a signal
	Signal int    `json:"signal,omitempty"` // that ended it
	Error  string `json:"error,omitempty"`  // it could not be started
}

// reporter returns what tells the server, and keeps both descriptors from the
// script.
func reporter() func(Report) {
	out := os.NewFile(reportFD, "report")
	unix.CloseOnExec(orderFD)
	unix.CloseOnExec(reportFD)
	return func(r Report) {
		b, _ := json.Marshal(r)
		_, _ = out.Write(append(b, '\n'))
	}
}

// ended is the report of a script that has ended.
func ended(st syscall.WaitStatus) Report {
	r := Report{Code: st.ExitStatus()}
	if st.Signaled() {
		r.Signal = int(st.Signal())
		r.Code = 128 + r.Signal
	}
	return r
}
