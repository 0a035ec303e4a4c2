package eval

import (
	"strings"

	"safeshell/script"
)

// neighbour returns the name of a command that the output reaches (or that the
// input comes from), directly or through others, whose name is one of names.
// Shells and interpreters count as reached only when they would run their
// input.
func (v *view) neighbour(names []string, down bool) string {
	n := len(v.a.Commands)
	seen := make([]bool, n)
	queue := []int{v.i}
	seen[v.i] = true
	for len(queue) > 0 {
		c := &v.a.Commands[queue[0]]
		queue = queue[1:]
		next := c.FedBy
		if down {
			next = c.FeedsTo
		}
		for _, k := range next {
			if k < 0 || k >= n || seen[k] {
				continue
			}
			seen[k] = true
			queue = append(queue, k)
			if name := v.named(k, names, down); name != "" {
				return name
			}
			// A wrapper hands its input to the command inside it.
			for inner := range v.a.Commands {
				if v.a.Commands[inner].TailOf == k && inner != k && !seen[inner] {
					seen[inner] = true
					queue = append(queue, inner)
					if name := v.named(inner, names, down); name != "" {
						return name
					}
				}
			}
		}
	}
	return ""
}

func (v *view) named(k int, names []string, down bool) string {
	c := &v.a.Commands[k]
	if len(c.Argv) == 0 {
		return ""
	}
	s, ok := c.Argv[0].Text()
	if !ok {
		return ""
	}
	name := baseName(s)
	for _, want := range names {
		if want == name || want == canonicalName(name) {
			if down && !readsCode(c) {
				return ""
			}
			return name
		}
	}
	return ""
}

// readsCode says that a command would execute what it reads from its standard
// input: a shell or interpreter without a script of its own. Other programs
// simply read it.
func readsCode(c *script.Command) bool {
	var line cmdline
	line.read(c.Argv)
	switch {
	case isShell(line.name):
		if line.flag("-c") {
			return false
		}
		if line.flag("-s") {
			return true
		}
	case hasWord(interpreters, line.name):
		for _, f := range [...]string{"-c", "-e", "-m", "-E", "-p", "--eval", "--print", "-r"} {
			if line.tool.values != "" && line.flag(f) && !(f == "-r" && line.name != "php") && !(f == "-m" && !strings.HasPrefix(line.name, "py")) {
				return false
			}
		}
	case line.name == "eval", line.name == "xargs", line.name == "parallel":
		return true
	default:
		return true
	}
	own := false
	line.operands(0, func(i int) bool {
		s, ok := line.words[i].Text()
		own = !ok || s != "-" && s != "/dev/stdin" && s != "/dev/fd/0" && s != "/proc/self/fd/0"
		// bash <(...): the operand is the producer's output.
		for _, p := range line.words[i].Parts {
			if p.Kind == script.Output {
				own = false
			}
		}
		return false
	})
	return !own
}

const interpreters = "python python2 python3 pypy pypy3 perl ruby node nodejs php lua deno bun osascript tclsh Rscript"
