// Package spool is how a guarded command asks and a human answers, without a
// daemon: requests, decisions, remembered grants, the monitor's liveness and
// the journal. Files, flock, rename and link only.
package spool
