package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var protocolRow = row{
	name: "protocol", weight: 3,
	what: "the spool package in processes: timeouts from 40 ms on, wrong and stepped clocks, suspend",
	run: func(r *run) error {
		profile := max(r.duration/3, time.Second)
		return r.goTest(`(?m)^chaos: (\w+): (\d+) outcomes`, "invariant", []string{
			"SAFESHELL_CHAOS=" + profile.String(), fmt.Sprint("SAFESHELL_CHAOS_SEED=", r.seed),
		}, "./spool", "-run", "^TestChaos$")
	},
}

var killPointsRow = row{
	name: "kill-points",
	what: "requester, monitor and late answer killed at each system call",
	run: func(r *run) error {
		return r.goTest(`(?m)(killed at) (\d+) points`, "_test.go", nil, "./spool", "-run", "KilledAtEachCall")
	},
}

var trashFaultsRow = row{
	name: "trash", sweep: true,
	what: "put, restore and purge killed at, and failed with each error in, each system call",
	run: func(r *run) error {
		return r.sweepTest("^TestFaults$")
	},
}

var trashMountsRow = row{
	name: "trash-mounts", sweep: true,
	what: "the same with the trash or the files on overlayfs, of a container's image and not, and on bind mounts",
	run: func(r *run) error {
		if os.Geteuid() != 0 {
			r.note("not tried: needs root to mount")
			return nil
		}
		return r.sweepTest("^TestFaultsMounted$")
	},
}

var trashLoadRow = row{
	name: "trash-load",
	what: "one name put by many at once; a huge tree put, restored and purged",
	run: func(r *run) error {
		size := "-trash.full"
		if r.short {
			size = "-trash.full=false"
		}
		return r.goTest(`(?m)^load: (.*?): (\d+) tried`, "_test.go", nil,
			"./trash", "-run", "^(TestParallelPutsOfOneName|TestHugeTree)$", size)
	},
}

// sweepTest runs a test that hits each system call of some operations with each
// fault: every point, or as many as fit into the time.
func (r *run) sweepTest(name string) error {
	how := "-trash.full"
	if r.each > 0 {
		how = "-trash.for=" + r.each.String()
	}
	return r.goTest(`(?m)^faults: (.*?) +\d+ calls, +(\d+) points tried`, "_test.go", nil,
		"./trash", "-run", name, how, fmt.Sprint("-trash.seed=", r.seed))
}

// goTest runs tests of this module. counts finds a name and a number in their
// output; a line of a failed test that holds bad is a violation.
func (r *run) goTest(counts, bad string, env []string, args ...string) error {
	args = append([]string{"test", "-count=1", "-v", "-timeout", (r.duration*2 + 4*time.Hour).String()}, args...)
	c := exec.CommandContext(r.ctx, "go", args...)
	c.Env = append(os.Environ(), env...)
	// Interrupted, the program that it runs ends too.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	pipe, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		return err
	}
	var out []byte
	found := regexp.MustCompile(counts)
	for lines := bufio.NewReader(pipe); ; {
		l, readErr := lines.ReadBytes('\n')
		out = append(out, l...)
		if m := found.FindSubmatch(l); m != nil {
			n, _ := strconv.Atoi(string(m[2]))
			r.try(n)
			r.count(string(m[1]), n)
		}
		if readErr != nil {
			break
		}
	}
	err = c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	if r.ctx.Err() != nil {
		return nil
	}
	if err == nil {
		if bytes.Contains(out, []byte("--- SKIP")) {
			r.note("skipped in part: %s", firstLine(out, "--- SKIP", 1))
		}
		return nil
	}
	before := r.violations
	for l := range strings.Lines(string(out)) {
		if strings.Contains(l, bad) && !strings.Contains(l, "seed ") {
			r.violate("%s", strings.TrimSpace(l))
		}
	}
	if r.violations == before {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
	return nil
}

// firstLine is the line that holds s, or one some lines further on.
func firstLine(out []byte, s string, further int) string {
	all := strings.Split(string(out), "\n")
	for i, l := range all {
		if strings.Contains(l, s) {
			return strings.TrimSpace(all[min(i+further, len(all)-1)])
		}
	}
	return ""
}
