package command

import "testing"

// Every name leads to its own stanza.
func TestOf(t *testing.T) {
	for _, e := range index {
		if s := Of(e.name); !Has(s.Names, e.name) {
			t.Errorf("%s leads to the stanza of %q", e.name, s.Names)
		}
	}
	if s := Of("no-such-program"); s.Names != "" || s.Runs != nil {
		t.Errorf("a program that nobody knows has the stanza of %q", s.Names)
	}
	if n := testing.AllocsPerRun(100, func() { Of("sudo") }); n > 0 {
		t.Errorf("looking a program up allocates %v times", n)
	}
}

// A subcommand has what its own line says, or that of the others.
func TestSub(t *testing.T) {
	docker := Of("docker")
	if s := docker.Sub("run"); s.Syntax != Stops || !Has(s.Options, "--entrypoint") {
		t.Errorf("docker run: %+v", s)
	}
	if s := docker.Sub("no-such"); s.Names != "*" {
		t.Errorf("docker no-such: %+v", s)
	}
}
