// Package faulttest kills and fails programs that work on the trash, and looks
// at what they leave. Tests of package trash do it to the package in a process
// of its own, chaos to the real program.
//
// A supervised process stops at each system call that has to do with files
// (seccomp's user notifications), whichever of its threads or children makes
// the call and whatever program it has become; the supervisor lets it pass,
// fails it, or kills the process before it. That needs no other program and no
// privilege. Nothing outside the scratch directories can be changed by a
// supervised process, whatever it is up to.
package faulttest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
)

// Job is what a supervised process does.
type Job struct {
	// Text is what Begin returns in the process, which is another one of this
	// program. With Path it becomes that program instead.
	Text string
	Path string
	Argv []string // of Path; the first is its name
	Env  []string // the whole environment
	Dir  string   // the working directory
}

// Call is one stopped system call.
type Call struct {
	N     int // among those below the roots, from 1
	Nr    int32
	Args  [6]uint64
	Paths []string // what it is about, as far as that can be told
}

func (c Call) String() string {
	return fmt.Sprintf("%d: %s %s", c.N, c.name(), strings.Join(c.Paths, " "))
}

// Verdict says what happens to a call: 0 it passes; Dies; else the error.
type Verdict func(c Call) syscall.Errno

// Dies as a verdict kills the process before the call is made.
const Dies = syscall.Errno(0x7fff)

// Result is what became of a job.
type Result struct {
	Calls          int
	Killed         bool
	Code           int
	Stdout, Stderr string
	Hung           bool // it was killed after a minute
}

// ErrUnsupported: the kernel, or what surrounds this process, forbids it.
var ErrUnsupported = errors.New("seccomp user notifications (Linux 5.19 or later) are not to be had")

// notCoverage are the complaints of a program built with -cover, whose own
// files a fault can hit, too.
var notCoverage = regexp.MustCompile(`(?m)^(error: coverage|warning: GOCOVERDIR|error: setting GOCOVERDIR).*\n`)

// WithoutCoverage takes these complaints out of what a program has printed.
func WithoutCoverage(out string) string { return notCoverage.ReplaceAllString(out, "") }
