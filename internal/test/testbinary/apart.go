package testbinary

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"safeshell/eval"
	"safeshell/gate"
	"safeshell/internal/test/testdir"
)

// apartVar tells the processes in between which one they are.
const apartVar = "SAFESHELL_TEST_APART"

// Apart runs the tests and returns their exit code. Where an agent runs them,
// what stands for a person in them would not be taken for one: they run in a
// process that neither the agent's marks nor its processes stand above.
func Apart(run func() int) int {
	syscall.Umask(0o022) // modes are compared, whoever runs the tests
	testdir.DefaultSignals()
	switch os.Getenv(apartVar) {
	case "between": // its end makes the next one an orphan
		c := self("tests", os.Environ())
		c.ExtraFiles = []*os.File{os.NewFile(3, "code"), os.NewFile(4, "life")}
		if err := c.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	case "tests":
		_ = os.Unsetenv(apartVar)
		syscall.CloseOnExec(3)
		syscall.CloseOnExec(4)
		go func() { // it ends with who wants the answer
			_, _ = os.NewFile(4, "life").Read(make([]byte, 1))
			os.Exit(1)
		}()
		code := run()
		fmt.Fprintln(os.NewFile(3, "code"), code)
		return code
	}
	agent := gate.New(gate.Env{Environ: os.Environ()}).Caller()
	if agent.Context != eval.AI {
		return run()
	}
	code, err := orphan()
	if err != nil {
		fmt.Fprintf(os.Stderr, "the tests cannot run apart from %s, and need a person's terminal: run make test in one (%v)\n", agent.Agent, err)
		return 1
	}
	return code
}

// orphan runs the tests in a process of its own session that nobody is the
// parent of, and waits for their exit code.
func orphan() (code int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	life, hold, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer hold.Close()
	between := self("between", unmarked(os.Environ()))
	between.ExtraFiles = []*os.File{w, life}
	err = between.Run()
	w.Close()
	life.Close()
	if err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err == io.EOF {
		return 1, nil // it has said why
	}
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(line, &code)
	return code, err
}

// self is this test program once more, in a session of its own.
func self(role string, environ []string) *exec.Cmd {
	c := exec.Command(os.Args[0], os.Args[1:]...)
	c.Env = append(environ, apartVar+"="+role)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}

// unmarked is an environment without the variables that name an agent.
func unmarked(environ []string) []string {
	named := func(environ []string) string {
		agent, session := gate.AgentOf(gate.Env{Environ: environ}.Getenv)
		return agent + session
	}
	environ = slices.Clone(environ)
	for left := -1; left != len(environ) && named(environ) != ""; {
		left = len(environ)
		for _, kv := range slices.Clone(environ) {
			less := slices.DeleteFunc(slices.Clone(environ), func(o string) bool { return o == kv })
			if named(less) != named(environ) || named([]string{kv}) != "" {
				environ = less
			}
		}
	}
	return slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, apartVar+"=") })
}
